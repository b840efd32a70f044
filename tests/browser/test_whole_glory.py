"""Four people play a whole match of Clans and Glory: by mouse, by keyboard alone, on a phone, and by writing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from house import House
from people import DESKTOP, PHONE, Person
from playwright.sync_api import Browser, expect

from engine.games.glory.cards import SPOTS
from server import log

pytestmark = pytest.mark.browser

RECORD = json.loads((Path(__file__).parent.parent / "records" / "glory-01.json").read_text())
BY_KEY = 1


def by_mouse(person: Person, card: str, spot: str, shield: bool) -> None:
    """Drag the card onto its spot, then put the shield by the button."""
    person.page.locator(f"#s-{spot}").scroll_into_view_if_needed()
    person.page.locator(f"#h-{card}").hover(position={"x": 10, "y": 20})
    person.page.mouse.down()
    person.page.mouse.move(*person.middle(person.page.locator(f"#s-{spot}")), steps=6)
    person.page.mouse.up()
    if shield:
        person.page.locator("#with-shield").click()


def by_keys(person: Person, card: str, spot: str, shield: bool) -> None:
    """Tab to the hand, type the card, type the spot."""
    person.tab_to("document.activeElement.dataset.card")
    for name in (card, spot):
        person.page.keyboard.type(name.lower())
        person.page.keyboard.press("Enter")
    expect(person.page.locator("#confirm-button")).to_be_enabled()
    if shield:
        person.tab_to("document.activeElement.id === 'with-shield'")
        person.page.keyboard.press("Enter")


def by_finger(person: Person, card: str, spot: str, shield: bool) -> None:
    """Tap the card, then its spot, then the button."""
    person.page.locator(f"#h-{card}").tap(position={"x": 10, "y": 20})
    person.page.touchscreen.tap(*person.middle(person.page.locator(f"#s-{spot}")))
    if shield:
        person.page.locator("#with-shield").tap()


def by_writing(person: Person, card: str, spot: str, shield: bool) -> None:
    """Write the move and look at it."""
    down = " down" if person.view()["moves"][0].split()[2:3] == ["down"] else ""
    person.page.locator("#write-move").fill(f"{card.lower()}@{spot.lower()}{down}{' +' if shield else ''}")
    person.page.get_by_role("button", name="Look").click()


WAYS = (by_mouse, by_keys, by_finger, by_writing)


# Every fifth move, of each player in turn, is made in the browser; in the long trials all are.
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.hardship)])
def test_four_people_play_a_recorded_match(
    village: House, browser: Browser, axe: str, people: dict[str, Person], every: int
) -> None:
    names = RECORD["players"]
    match = village.started(*names, setup=RECORD["setup"], game="glory", options=RECORD["options"])
    still = {**DESKTOP, "reduced_motion": "reduce"}
    for name, screen in zip(names, (still, {**still, "color_scheme": "dark"}, PHONE, still), strict=True):
        people[name] = Person(village, browser, axe, name, **screen)
        people[name].sign_in()
    for row in RECORD["log"]:
        if row["seq"] % every:
            village.move(match, row["text"])
            continue
        seat = row["seat"]
        mover = people[names[seat]]
        mover.open(match.id)
        the_page_equals_the_log(village, mover, match.id, seat)
        card, spot, *flags = row["text"].split()
        WAYS[seat](mover, card, spot, "shield" in flags)
        expect(mover.page.locator("#trial-text")).to_have_text(row["text"])
        if row["seq"] % 10 == 0:
            mover.check()
        mover.confirm(by_key=seat == BY_KEY)
        assert village.played(match).rows[-1].text == row["text"]
    for seat, name in enumerate(names):
        people[name].open(match.id)
        the_page_equals_the_log(village, people[name], match.id, seat)
        assert people[name].view()["outcome"] == RECORD["result"]
        people[name].check()
        people[name].page.goto("/rules/glory")
        people[name].check()


def the_page_equals_the_log(house: House, person: Person, match_id: int, seat: int) -> None:
    """Compare what the page shows of the position with the log replayed here, as this seat may see it."""
    played = house.played(log.get(match_id))
    view = json.loads(json.dumps(played.view(seat).as_plain()))
    assert person.view() == view
    shown = person.page.locator("#board .card").evaluate_all("all => all.map(card => card.dataset.spot)")
    assert sorted(shown) == sorted([*view["table"]["cards"], *view["table"]["down"]])
    assert set(shown) <= set(SPOTS)
    hand = person.page.locator("#hand [data-card]").evaluate_all("all => all.map(card => card.dataset.card)")
    if not view["outcome"]:
        assert hand == view["table"]["hand"]
    assert "undefined" not in (person.page.text_content("main") or "")

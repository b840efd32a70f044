"""Three people play a whole match of Clans: one with the mouse, one by the keyboard alone, one on a phone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from house import House
from people import DESKTOP, PHONE, Person, read
from playwright.sync_api import Browser, expect

from engine.games.clans import GAME
from engine.games.clans.pieces import title
from server import log

pytestmark = pytest.mark.browser

RECORD = json.loads((Path(__file__).parent.parent / "records" / "clans-06.json").read_text())


# Every fifth move, of each player in turn, is made in the browser; in the long trials all are.
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.hardship)])
def test_three_people_play_a_recorded_match(
    village: House, browser: Browser, axe: str, people: dict[str, Person], every: int
) -> None:
    names = RECORD["players"]
    match = village.started(*names, setup=RECORD["setup"])
    still = {**DESKTOP, "reduced_motion": "reduce"}
    screens = ({**still}, {**still, "color_scheme": "dark"}, PHONE)
    for name, screen in zip(names, screens, strict=True):
        people[name] = Person(village, browser, axe, name, **screen)
        people[name].sign_in()
    for row in RECORD["log"]:
        if row["seq"] % every:
            village.move(match, row["text"])
            continue
        mover = people[names[row["seat"]]]
        mover.open(match.id)
        expect(mover.page.locator("h1")).to_have_text("It is your turn.")
        source, target, order = read(row["text"])
        way = (mover.drag, mover.press, mover.tap)[row["seat"]]
        way(source, target, order[: len(order) - 1] if order else [])
        expect(mover.page.locator("#trial-text")).to_have_text(row["text"])
        expect(mover.page.locator("#confirm-button")).to_be_enabled()
        if row["seq"] % 15 == 0:
            mover.check()
        mover.confirm(by_key=row["seat"] == 1)
        assert village.played(match).rows[-1].text == row["text"]
        the_page_equals_the_log(village, mover, match.id, row["seat"])
    for seat, name in enumerate(names):
        person = people[name]
        person.open(match.id)
        the_page_equals_the_log(village, person, match.id, seat)
        assert person.view()["outcome"] == RECORD["result"]
        assert person.view()["table"]["clans"] == RECORD["setup"]["clans"]
        person.check()
        person.page.goto(f"/matches/{match.id}/replay")
        expect(person.page.locator('#match[data-ready="yes"]')).to_be_attached()
        for seq in range(1, 4):
            person.page.keyboard.press("ArrowRight")
            expect(person.page).to_have_url(f"{village.site}/matches/{match.id}/replay/{seq}")
        person.check()


def the_page_equals_the_log(house: House, person: Person, match_id: int, seat: int) -> None:
    """Compare all that the page shows of the position with the log replayed here."""
    played = house.played(log.get(match_id))
    view = played.view(seat).as_plain()
    assert person.view() == json.loads(json.dumps(view))
    villages = {village["territory"]: village for village in view["table"]["villages"]}
    shown = person.titles()
    assert shown == {name: title(name, view["table"]["huts"].get(name), villages.get(name)) for name in shown}
    assert len(shown) == 60
    rows = person.page.locator("#log [data-seq]").evaluate_all("all => all.map(row => +row.dataset.seq)")
    assert sorted(rows) == [row.seq for row in played.rows]
    if played.rows:
        last = played.rows[-1]
        assert last.text.split("-")[0] in (person.page.locator(f"#row-{last.seq}").text_content() or "")
    assert GAME.kind == played.match.game

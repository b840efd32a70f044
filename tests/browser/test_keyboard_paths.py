"""Both games by the keyboard alone, key by key, and both match pages as a screen reader is told of them.

What a page tells is kept in `aria/`. Where it has changed on purpose, the file that the failing test names takes the
place of the old one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from house import House
from people import DESKTOP, PHONE, Person
from playwright.sync_api import Browser, Page, expect

from server.models import Match

pytestmark = pytest.mark.browser

ARIA = Path(__file__).parent / "aria"
RECORDS = Path(__file__).parent.parent / "records"
STILL = {**DESKTOP, "reduced_motion": "reduce"}
JUNK = re.compile(r"^\s*- (text: )?[\"']?[?\d\s]+[\"']?$", re.MULTILINE)
FOCUSED = "[document.activeElement.id, document.activeElement.getAttribute('aria-label') || '']"
STOPS = "all => all.filter(one => one.tabIndex === 0).map(one => one.id)"
SMALLEST = """all => Math.min(...all.flatMap(one => {
    const box = one.getBoundingClientRect(); return [box.width, box.height]; }))"""
CHANGING = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\w{3} \d+ \w{3} \d{4}, \d\d:\d\d UTC"), "INSTANT"),
    (re.compile(r"\d+ hours?( \d+ minutes?)? left"), "SPAN left"),
)

Step = tuple[str, str, str]  # a key, the element that has the focus then, and how what it is called begins

CLANS: tuple[Step, ...] = (
    ("ArrowDown", "t-A3", "A3, grassland: 1 black hut; can move"),
    ("ArrowRight", "t-B1", "B1, grassland: 1 blue hut; can move"),
    ("ArrowUp", "t-B2", "B2, steppe: 1 red hut; can move"),
    ("b", "t-B1", "B1, grassland: 1 blue hut; can move"),
    ("3", "t-B3", "B3, grassland: 1 yellow hut; can move"),
    ("Enter", "t-B3", "B3, grassland: 1 yellow hut; picked up"),
    ("Escape", "t-B3", "B3, grassland: 1 yellow hut; can move"),
    ("Space", "t-B3", "B3, grassland: 1 yellow hut; picked up"),
    ("ArrowDown", "t-B4", "B4, mountain: 1 green hut; the huts of B3 can go here"),
)
GLORY: tuple[Step, ...] = (
    ("ArrowRight", "s-N2", "N2: white 4, there from the start."),
    ("ArrowDown", "p-1", "Place 1: first Dugald takes 8 (2 of strength 4). One more shield would take 8"),
    ("ArrowDown", "s-S2", "S2: white 8, laid by Ailsa. Marked 3."),
    ("End", "s-S18", "S18: free, next to red 6 on S17. What fits: any red card or any 6. Of yours: R3, R7, O6"),
    ("4", "p-4", "Place 4: first Bran takes 14 (2 of strength 7). One more shield would take nothing"),
    ("Tab", "h-R3", "Red 3 fits on N5, N12, N17, S4, S6, S13, S16 and S18."),
    ("End", "h-W6", "White 6 fits on N3, N17, S1, S3, S16 and S18."),
    ("Home", "h-R3", "Red 3 fits on"),
    ("ArrowRight", "h-R7", "Red 7 fits on"),
    ("ArrowRight", "h-O4", "Orange 4 fits on N3, N10, S1 and S9."),
    ("Enter", "s-N10", "N10: free, next to orange 7 on S10."),
    ("Escape", "h-O4", "Orange 4 fits on N3, N10, S1 and S9."),
    ("Space", "s-N10", "N10: free, next to orange 7 on S10."),
)
SIGHTS = (("clans-06", 9), ("glory-01", 4))


@pytest.fixture
def comes(village: House, browser: Browser, axe: str, people: dict[str, Person]) -> Any:
    """Let whoever is awaited after some moves of a record come in; return him and the match."""

    def come(record: str, moves: int, **screen: Any) -> tuple[Person, Match]:
        found = json.loads((RECORDS / f"{record}.json").read_text(encoding="utf-8"))
        names = found["players"]
        match = village.started(*names, setup=found["setup"], game=found["game"], options=found["options"])
        for row in found["log"][:moves]:
            village.move(match, row["text"])
        name = names[village.played(match).position.to_act[0]]
        people[name] = person = Person(village, browser, axe, name, **screen)
        person.sign_in()
        if screen.get("java_script_enabled", True):
            person.open(match.id)
        else:
            person.page.goto(f"/matches/{match.id}")
        return person, match

    return come


def walk(page: Page, steps: Iterable[Step]) -> None:
    """Press key after key, and look each time where the focus is."""
    for key, wanted, called in steps:
        page.keyboard.press(key)
        focused, label = page.evaluate(FOCUSED)
        assert (focused, label[: len(called)]) == (wanted, called), key


def confirmed(village: House, person: Person, match: Match, text: str) -> None:
    """Go on by the keyboard from the preview of a move to the row that it becomes."""
    page = person.page
    expect(page.locator("#trial-text")).to_have_text(text)
    expect(page.locator("#trial-text")).to_be_focused()
    page.keyboard.down("Enter")
    page.keyboard.down("Enter")  # held too long
    page.keyboard.up("Enter")
    assert text not in [row.text for row in village.played(match).rows]
    expect(page.locator("#confirm-button")).to_be_enabled()  # else the Tab key passes it by
    person.tab_to("document.activeElement.id === 'confirm-button'")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text(f"Your move {text} is made.")
    expect(page.locator("#notice")).to_be_focused()
    expect(page.locator("#live")).to_contain_text(f"Your move {text} is made.")
    assert village.played(match).rows[-1].text == text


def test_a_move_of_clans_key_by_key(village: House, comes: Any) -> None:
    person, match = comes("clans-06", 0, **STILL)
    page = person.page
    person.tab_to("document.activeElement.closest('#board')")
    assert page.evaluate(FOCUSED)[0] == "t-A1"
    walk(page, CLANS)
    expect(page.locator("#live")).to_have_text("B3 picked up. It can go to B2, B4 and B5.")
    page.keyboard.press("Enter")
    expect(page.locator("#confirm-button")).to_be_enabled()
    page.keyboard.press("Escape")
    expect(page.locator("#t-B3")).to_contain_class("picked")
    expect(page.locator("#trial")).to_be_hidden()
    expect(page.locator("#t-B4")).to_be_focused()
    page.keyboard.press("Enter")
    confirmed(village, person, match, "B3-B4")


def test_a_move_of_clans_and_glory_key_by_key(village: House, comes: Any) -> None:
    person, match = comes("glory-01", 4, **STILL)
    page = person.page
    person.tab_to("document.activeElement.closest('#board')")
    assert page.evaluate(FOCUSED)[0] == "s-N1"
    walk(page, GLORY)
    expect(page.locator("#live")).to_have_text("Picked. Orange 4 fits on N3, N10, S1 and S9.")
    page.keyboard.press("Enter")
    expect(page.locator("#trial-text")).to_have_text("O4 N10")
    expect(page.locator("#readout")).to_contain_text("Place 4: first Bran takes 4 (1 of strength 4)")
    expect(page.locator("#confirm-button")).to_be_enabled()
    person.tab_to("document.activeElement.id === 'with-shield'")
    page.keyboard.press("Enter")
    expect(page.locator("#readout")).to_contain_text("then Catrin takes 14 (2 of strength 7)")
    confirmed(village, person, match, "O4 N10 shield")


def test_villages_are_put_in_order_by_keys_and_escape_goes_back_one_step_at_a_time(village: House, comes: Any) -> None:
    person, match = comes("clans-06", 32, **STILL)
    page = person.page
    person.tab_to("document.activeElement.closest('#board')")
    for name in ("l1", "l4"):
        page.keyboard.type(name)
        page.keyboard.press("Enter")
    asked = "3 villages arise. Which is founded first? Choose on the map."
    expect(page.locator("#trial-text")).to_have_text(asked)
    expect(page.locator("#live")).to_have_text(asked)
    expect(page.locator("#board .question-mark")).to_have_count(3)
    assert "to be founded: choose it next" in page.evaluate(FOCUSED)[1]
    page.keyboard.type("i5")
    page.keyboard.press("Enter")
    expect(page.locator("#trial-text")).to_have_text("3 villages arise. Which is founded next? Choose on the map.")
    expect(page.locator("#t-I5")).to_have_attribute("aria-label", re.compile("number 1 in the order$"))
    page.keyboard.press("Escape")
    expect(page.locator("#trial-text")).to_have_text(asked)
    page.keyboard.press("Escape")
    expect(page.locator("#trial")).to_be_hidden()
    expect(page.locator("#t-L1")).to_contain_class("picked")
    page.keyboard.press("Escape")
    expect(page.locator("#board .picked")).to_have_count(0)
    expect(page.locator("#t-L1")).to_be_focused()
    for name in ("l1", "l4", "i5", "l4"):
        page.keyboard.type(name)
        page.keyboard.press("Enter")
    confirmed(village, person, match, "L1-L4 / I5 L4 L2")


@pytest.mark.parametrize("wish", ["no-preference", "reduce"])
def test_huts_walk_and_villages_rise_unless_stillness_is_wished(comes: Any, wish: str) -> None:
    person, _ = comes("clans-06", 32, **{**DESKTOP, "reduced_motion": wish})
    page = person.page
    page.evaluate("""() => { window.moved = new Set(); const real = Element.prototype.animate;
        Element.prototype.animate = function (...given) {
            window.moved.add(this.classList[0]); return real.apply(this, given); }; }""")
    person.tab_to("document.activeElement.closest('#board')")
    person.press("L1", "L4", ["I5", "L4"])
    expect(page.locator("#trial-text")).to_have_text("L1-L4 / I5 L4 L2")
    expect(page.locator("#confirm-button")).to_be_enabled()
    moved = page.evaluate("[...window.moved]")
    assert sorted(moved) == (["huts", "palisade"] if wish == "no-preference" else [])


@pytest.mark.parametrize(("record", "moves"), SIGHTS)
def test_board_and_hand_have_one_tab_stop_each_and_what_has_the_focus_is_seen(
    comes: Any, record: str, moves: int
) -> None:
    person, _ = comes(record, moves, **STILL)
    page = person.page
    for part in ("#board [tabindex]", "#hand [tabindex]"):
        if page.locator(part).count():
            assert len(page.locator(part).evaluate_all(STOPS)) == 1, part
    shape = page.locator("#board [tabindex='0'] .shape")
    looks = "one => { const look = getComputedStyle(one); return [look.stroke, look.strokeWidth]; }"
    before = shape.evaluate(looks)
    person.tab_to("document.activeElement.closest('#board')")
    assert shape.evaluate(looks) != before
    page.keyboard.press("ArrowRight")
    assert len(page.locator("#board [tabindex]").evaluate_all(STOPS)) == 1


@pytest.mark.parametrize(("record", "moves"), SIGHTS)
def test_on_a_phone_every_target_is_wide_enough_for_a_finger(comes: Any, record: str, moves: int) -> None:
    person, _ = comes(record, moves, **{**PHONE, "viewport": {"width": 360, "height": 740}})
    page = person.page
    assert page.locator("#board .territory .shape, #board .spot .shape, .hand-card").evaluate_all(SMALLEST) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    hand = page.locator("#hand")
    if page.locator(".hand-card").count():
        box = hand.bounding_box()
        assert box
        assert round(box["y"] + box["height"]) == 740
        last = page.locator(".hand-card").last.bounding_box()
        assert last
        assert last["x"] + last["width"] <= 360


@pytest.mark.parametrize(("record", "moves"), SIGHTS)
def test_what_a_screen_reader_is_told(comes: Any, tmp_path: Path, record: str, moves: int) -> None:
    person, _ = comes(record, moves, **STILL)
    found = person.page.locator("#match").aria_snapshot() + "\n"
    for pattern, word in CHANGING:
        found = pattern.sub(word, found)
    kept = ARIA / f"{record}.yml"
    fresh = tmp_path / kept.name
    fresh.write_text(found, encoding="utf-8")
    assert kept.is_file(), fresh
    assert found.splitlines() == kept.read_text(encoding="utf-8").splitlines(), f"{fresh} is what it tells now"


@pytest.mark.parametrize(("record", "moves"), SIGHTS)
@pytest.mark.parametrize("scripts", [True, False])
def test_a_board_is_read_as_its_places_and_nothing_else(comes: Any, record: str, moves: int, scripts: bool) -> None:
    person, match = comes(record, moves, **DESKTOP, java_script_enabled=scripts)
    seen = person.page.locator("#board").aria_snapshot()
    role, game = "option" if scripts else "img", match.game
    assert len(re.findall(rf"- '?{role} ", seen)) == {"clans": 60, "glory": 42}[game]
    assert len(seen.splitlines()) == {"clans": 60 + 2, "glory": 42 + 3}[game], seen
    assert not JUNK.search(seen)
    person.page.locator("#position summary").click()
    expect(person.page.locator("#position pre")).to_contain_text("To move: ")

"""The replay and the tale of a finished match, in both games: by itself, by keys, by links, with what was hidden."""

from __future__ import annotations

import pytest
from house import House
from people import DESKTOP, PHONE, Person
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("name", "screen"), [("clans-06", DESKTOP), ("glory-02", PHONE)])
def test_a_match_is_watched_step_by_step_and_by_itself(
    village: House, browser: Browser, axe: str, people: dict[str, Person], name: str, screen: dict
) -> None:
    match, found = village.recorded(name)
    who = found["players"][0]
    person = people[who] = Person(village, browser, axe, who, **screen, reduced_motion="reduce")
    person.sign_in()
    page, address = person.page, f"{village.site}/matches/{match.id}/replay"
    page.goto(f"{address}/0")
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(f"{address}/1")
    page.get_by_role("button", name="Play").click()
    expect(page).to_have_url(f"{address}/3", timeout=12_000)
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(f"{address}/2")
    expect(page.locator("#play")).to_have_text("Play")
    page.get_by_role("link", name="Show what was hidden").click()
    expect(page).to_have_url(f"{address}/2?open=1")
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    expect(page.locator("#opened")).to_contain_text("What was hidden is shown")
    page.keyboard.press("End")
    expect(page).to_have_url(f"{address}/{match.length}?open=1")
    person.check()
    page.goto(f"/matches/{match.id}")
    expect(page.locator("#tale-heading")).to_be_visible()
    for summary in page.locator("#tale summary").all():
        summary.click()
    person.check()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

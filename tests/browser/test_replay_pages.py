"""The replay and the tale of a finished match, in both games: by itself, by keys, by links, with what was hidden."""

from __future__ import annotations

import pytest
from expecting import STILL
from house import House
from people import DESKTOP, PHONE, Person, happened
from playwright.sync_api import Browser, Route, expect

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("name", "screen"), [("clans-06", DESKTOP), ("glory-02", PHONE)])
def test_a_match_is_watched_step_by_step_and_by_itself(
    village: House, browser: Browser, axe: str, people: dict[str, Person], name: str, screen: dict
) -> None:
    match, found = village.recorded(name)
    who = found["players"][0]
    person = people[who] = Person(village, browser, axe, who, **screen, reduced_motion="reduce")
    person.sign_in()
    person.page.clock.install()
    page, address = person.page, f"{village.site}/matches/{match.id}/replay"
    page.goto(f"{address}/0")
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(f"{address}/1")
    # From here on time passes only as it is told to; the minute is there so that it has not come yet.
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)
    page.get_by_role("button", name="Play").click()
    for number in (2, 3):
        page.clock.run_for(2500)
        expect(page).to_have_url(f"{address}/{number}")
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(f"{address}/2")
    expect(page.locator("#play")).to_have_text("Play")
    page.clock.resume()
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


def test_where_pages_come_slowly_no_steps_heap_up_while_it_plays(
    village: House, browser: Browser, axe: str, people: dict[str, Person]
) -> None:
    match, _found = village.recorded("clans-06")
    person = people["Ailsa"] = Person(village, browser, axe, "Ailsa", **STILL)
    page, address = person.page, f"{village.site}/matches/{match.id}/replay"
    page.clock.install()
    person.visit(f"/matches/{match.id}/replay/0")
    asked: list[Route] = []

    def hold_the_first(route: Route) -> None:
        asked.append(route)
        if len(asked) > 1:
            route.continue_()

    page.route("**/replay/*", hold_the_first)
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(10_000)
    happened(page, lambda: asked)
    page.get_by_role("button", name="Stop").click()
    page.keyboard.press("End")
    asked[0].continue_()
    expect(page).to_have_url(f"{address}/{match.length}")
    assert [route.request.url for route in asked] == [f"{address}/{number}" for number in (1, match.length)]

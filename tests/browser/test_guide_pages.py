"""A stranger learns a game: from the page of rules into a guided match, in which each turn has its lesson."""

from __future__ import annotations

import pytest
from house import House
from people import DESKTOP, PHONE, Person
from playwright.sync_api import Browser, Page, expect

from server import log
from server.models import Match

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("kind", "screen"), [("clans", PHONE), ("glory", {**DESKTOP, "color_scheme": "dark"})], ids=["clans", "glory"]
)
def test_a_stranger_learns_by_playing(
    village: House, browser: Browser, axe: str, people: dict[str, Person], kind: str, screen: dict[str, object]
) -> None:
    stranger = people["stranger"] = Person(village, browser, axe, "stranger", reduced_motion="reduce", **screen)
    page = stranger.page
    page.goto(f"/rules/{kind}")
    pictures = page.locator("img.example-icon, .example img")
    for number in range(pictures.count()):
        pictures.nth(number).scroll_into_view_if_needed()
        expect(pictures.nth(number)).not_to_have_js_property("naturalWidth", 0)
    stranger.check()
    page.get_by_role("button", name="Play a guided first match").click()
    expect(page.locator('#match[data-ready="yes"]')).to_be_attached()
    match = Match.select().order_by(Match.id.desc()).get()
    bot_moves(village, match)
    stranger.open(match.id)
    lesson = page.locator("#lesson")
    first = {"clans": "clan", "glory": "hand"}[kind]
    expect(lesson).to_have_attribute("data-key", first)
    the_board_is_free(page.locator("#guide").bounding_box(), page.locator("#board").bounding_box())
    stranger.check()
    page.locator("#write-move").fill(stranger.view()["moves"][0])
    page.get_by_role("button", name="Look").click()
    expect(page.locator("#confirm-button")).to_be_enabled()
    stranger.confirm()
    expect(page.locator("#guide")).to_contain_text("The guide goes on when it is your turn again")
    bot_moves(village, match)
    stranger.open(match.id)
    expect(lesson).to_have_attribute("data-key", {"clans": "becoming", "glory": "shields"}[kind])
    the_last_move_is_marked(page)
    lesson.click()
    expect(page.locator("#lesson-told .guide-text")).to_be_hidden()
    the_board_is_in_sight(page)
    lesson.click()
    page.get_by_text("What was told before").click()
    expect(page.locator("#guide-seen dt")).to_have_count(1)
    stranger.check()
    page.get_by_role("button", name="Leave the guide").click()
    expect(lesson).to_have_count(0)
    page.get_by_role("button", name="Show the guide").click()
    expect(lesson).to_be_visible()


def bot_moves(house: House, match: Match) -> None:
    """Let the bot make a first legal move if it is awaited."""
    played = house.played(match)
    if log.places(match)[played.position.to_act[0]].user.bot:
        house.move(match, via="bot")


def the_board_is_free(guide: dict[str, float] | None, board: dict[str, float] | None) -> None:
    assert guide
    assert board
    below = guide["y"] + guide["height"] <= board["y"]
    beside = board["x"] + board["width"] <= guide["x"]
    assert below or beside


def the_last_move_is_marked(page: Page) -> None:
    """Every place of the last move has its number on the board, beside those of the lesson."""
    touched = page.locator("#news .place").count()
    told = page.locator("#lesson-told .place").count()
    assert touched > 0
    drawn = page.locator("#board .mark-number").count()
    assert max(touched, told) <= drawn <= touched + told


def the_board_is_in_sight(page: Page) -> None:
    """With the lesson closed the whole board fits on the screen."""
    board, screen = page.locator("#board").bounding_box(), page.viewport_size
    assert board
    assert screen
    assert board["y"] + page.evaluate("scrollY") + board["height"] <= screen["height"]

"""Somebody passes by: plays a bot by one click, keeps the match by name and address, and plays on."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from house import House
from people import DESKTOP, PASSWORD, PHONE, Person, read
from playwright.sync_api import Browser, expect

from server import clock, letters, log, outbox
from server.models import User

pytestmark = pytest.mark.browser
AGAIN = 40_000  # milliseconds: without scripts a page waits eight seconds before it is loaded again


@pytest.fixture
def passer(village: House, browser: Browser, axe: str, people: dict[str, Person]) -> Person:
    """Somebody without an account."""
    people["Mairi"] = Person(village, browser, axe, "Mairi", **DESKTOP, reduced_motion="reduce")
    return people["Mairi"]


def bots(house: House) -> int:
    """Do what the scheduler does in a tick."""
    house.now = clock.now()
    return house.bots()


def deliver(house: House) -> None:
    """Send what is due to the local mailbox."""
    channel = outbox.open_channel(house.settings)
    assert channel
    outbox.deliver_due(channel, letters.writer(house.settings), clock.now)


def move(house: House, person: Person, number: int) -> str:
    """Make the first legal move by the mouse, when it is the person's turn; return it."""
    expect(person.page.locator("h1")).to_have_text("It is your turn.")
    text = person.view()["moves"][0]
    source, target, order = read(text)
    person.drag(source, target, order[: len(order) - 1] if order else [])
    expect(person.page.locator("#trial-text")).to_have_text(text)
    person.confirm()
    assert house.played(log.get(number)).rows[-1].text == text
    return text


def begin(house: House, person: Person, game: str) -> int:
    """Begin by the button of the front page; return the number of the match, in which it is the person's turn."""
    person.page.goto("/")
    person.page.get_by_role("button", name=f"Try {game} now").click()
    expect(person.page.locator('#match[data-ready="yes"]')).to_be_attached()
    bots(house)
    look_again(person)
    expect(person.page.locator("h1")).to_have_text("It is your turn.")
    return int(person.page.url.rpartition("/")[2])


def look_again(person: Person) -> None:
    """Let the page look for news now, as it does when somebody comes back to its tab."""
    person.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_a_passer_by_plays_keeps_the_match_and_plays_on(village: House, passer: Person) -> None:
    page = passer.page
    page.goto("/")
    passer.check()
    number = begin(village, passer, "Clans")
    passer.check()
    expect(page.locator("nav .count")).to_contain_text("(1 waiting for you)")
    move(village, passer, number)
    expect(page.locator("nav .count")).to_have_count(0)
    assert bots(village) == 1
    # The page sees by itself that the bot has answered.
    expect(page.locator("h1")).to_have_text("It is your turn.")
    expect(page.locator("nav .count")).to_contain_text("(1 waiting for you)")
    page.get_by_role("link", name="Keep it: name, mail address, password").click()
    passer.check()
    page.get_by_label("Name").fill("Mairi")
    page.get_by_label("Mail address").fill("mairi@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Keep my matches").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A letter is on its way")
    passer.check()
    deliver(village)
    page.get_by_role("link", name="Open the mailbox of this machine").click()
    page.get_by_role("link", name="Please confirm your address").click()
    href = page.locator("a[href*='/confirm/']").first.get_attribute("href")
    page.goto("/confirm/" + str(href).rpartition("/")[2])
    page.get_by_role("button", name="Yes, this is my address").click()
    expect(page.get_by_text("all that you played is yours")).to_be_visible()
    passer.open(number)
    expect(page.locator(".visitor")).to_have_count(0)
    move(village, passer, number)
    bots(village)
    look_again(passer)
    expect(page.locator("h1")).to_have_text("It is your turn.")
    assert User.get(User.name == "Mairi").visitor_until is None


def test_without_scripts_and_on_a_phone_it_is_one_tap_too(
    village: House, browser: Browser, axe: str, people: dict[str, Person]
) -> None:
    people["Una"] = una = Person(village, browser, axe, "Una", **PHONE, java_script_enabled=False)
    una.page.goto("/")
    una.page.get_by_role("button", name="Try Clans and Glory now").tap()
    expect(una.page.get_by_text("Playing as a visitor")).to_be_visible()
    expect(una.page.locator("#board svg")).to_be_visible()


def test_without_scripts_the_page_asks_by_itself_whether_the_bot_has_moved(
    village: House, browser: Browser, axe: str, people: dict[str, Person]
) -> None:
    people["Una"] = una = Person(village, browser, axe, "Una", **PHONE, java_script_enabled=False)
    una.page.goto("/")
    una.page.get_by_role("button", name="Try Clans now").tap()
    expect(una.page.locator("#board svg")).to_be_visible()
    bots(village)
    expect(una.page.locator("h1")).to_have_text("It is your turn.", timeout=AGAIN)
    expect(una.page.get_by_role("link", name="Look again")).to_have_count(0)
    number = int(una.page.url.rpartition("/")[2])
    played = village.played(log.get(number))
    text = played.view(played.position.to_act[0]).moves[0]
    una.page.goto(f"/matches/{number}?move={quote(text)}")
    una.page.get_by_role("button", name="Confirm").tap()
    expect(una.page.get_by_role("link", name="Look again")).to_be_visible()
    bots(village)
    expect(una.page.locator("h1")).to_have_text("It is your turn.", timeout=AGAIN)

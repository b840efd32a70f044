"""Clans and Glory by the keyboard: what is said where a card does not fit; how far the row goes on a phone."""

from __future__ import annotations

import pytest
from house import House
from people import DESKTOP, PHONE, Person
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser


def test_enter_on_a_spot_where_the_card_does_not_fit_says_why(
    village: House, browser: Browser, axe: str, people: dict[str, Person]
) -> None:
    match = village.started("Ailsa", "Bran", game="glory")
    view = village.played(match).view(village.played(match).position.to_act[0])
    name = ("Ailsa", "Bran")[view.viewer or 0]
    people[name] = person = Person(village, browser, axe, name, **DESKTOP)
    person.sign_in()
    person.open(match.id)
    card = next(card for card, spots in view.table["fits"].items() if spots)
    spots = person.page.locator("#board .spot.free").evaluate_all("all => all.map(one => one.dataset.spot)")
    unfit = next(spot for spot in spots if spot not in view.table["fits"][card])
    person.tab_to("document.activeElement.matches('.hand-card')")
    person.page.keyboard.type(card)
    person.page.keyboard.press("Enter")
    person.page.keyboard.type(unfit)
    person.page.keyboard.press("Enter")
    said = f"{card} does not fit on {unfit}. {unfit}: free"
    expect(person.page.locator("#live")).to_contain_text(said)
    expect(person.page.locator("#readout")).to_contain_text(said)
    taken = person.page.locator("#board .spot:not(.free)").first.get_attribute("data-spot")
    person.page.keyboard.type(str(taken))
    person.page.keyboard.press("Enter")
    expect(person.page.locator("#live")).to_contain_text(f"{taken} is taken")


def test_on_a_phone_the_row_fades_where_it_goes_on(
    village: House, browser: Browser, axe: str, people: dict[str, Person]
) -> None:
    match = village.started("Ailsa", "Bran", game="glory")
    people["Ailsa"] = person = Person(village, browser, axe, "Ailsa", **PHONE)
    person.sign_in()
    person.open(match.id)
    board = person.page.locator("#board")
    board.evaluate("it => it.scrollTo({left: 0, behavior: 'instant'})")
    expect(board).to_contain_class("more-after")
    expect(board).not_to_contain_class("more-before")
    board.evaluate("it => it.scrollTo({left: it.scrollWidth, behavior: 'instant'})")
    expect(board).to_contain_class("more-before")
    expect(board).not_to_contain_class("more-after")


def test_what_was_looked_at_leaves_no_field_marked_as_wrong(
    village: House, browser: Browser, axe: str, people: dict[str, Person]
) -> None:
    match = village.started("Ailsa", "Bran")
    view = village.played(match).view(village.played(match).position.to_act[0])
    name = ("Ailsa", "Bran")[view.viewer or 0]
    people[name] = person = Person(village, browser, axe, name, **DESKTOP)
    person.sign_in()
    person.open(match.id)
    field = person.page.locator("#write-move")
    width = field.evaluate("it => getComputedStyle(it).borderWidth")
    field.fill(view.moves[0])
    person.page.get_by_role("button", name="Look").click()
    expect(person.page.locator("#trial-sentences li").first).to_be_visible()
    expect(field).to_have_value("")
    assert field.evaluate("it => it.matches(':user-invalid')"), "else this says nothing"
    assert field.evaluate("it => getComputedStyle(it).borderWidth") == width

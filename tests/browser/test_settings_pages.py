"""What the settings page has to say is said, and looked at, where the form was sent."""

from __future__ import annotations

import pytest
from house import House
from people import DESKTOP, PHONE, Person
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_token_is_shown_where_it_was_made_and_a_refusal_beside_its_form(
    village: House, browser: Browser, people: dict[str, Person], axe: str, device: dict[str, object]
) -> None:
    ailsa = people.setdefault("Ailsa", Person(village, browser, axe, "Ailsa", **device))
    ailsa.refused(422)
    ailsa.sign_in()
    page = ailsa.page
    page.goto("/settings")
    page.get_by_label("Name of the program").fill("A bot")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_label("Copy this now and keep it")).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Tokens for programs that act for you")).to_be_in_viewport()
    expect(page.locator("#tokens-told")).to_be_focused()
    page.get_by_text("ntfy", exact=True).click()
    page.get_by_label("Address of the topic").fill("https://ntfy.sh/two/words")
    page.locator("details[open]").get_by_role("button", name="Store it and send a trial message").click()
    expect(page.get_by_role("alert")).to_be_in_viewport()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_label("Address of the topic")).to_be_in_viewport()
    ailsa.check()

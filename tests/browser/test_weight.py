"""How heavy pages are on their way: a first visit with nothing kept, and the next one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from house import House
from people import Person
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

FIRST, NEXT = 150_000, 30_000
"""Bytes at most, all files counted."""


def weight(person: Person, path: str, *, nothing_kept: bool) -> int:
    """Return the bytes that came over the line for a page."""
    line = person.page.context.new_cdp_session(person.page)
    line.send("Network.enable")
    if nothing_kept:
        line.send("Network.clearBrowserCache")
    came: list[float] = []
    line.on("Network.loadingFinished", lambda told: came.append(told["encodedDataLength"]))
    person.page.goto(path)
    person.page.wait_for_load_state("networkidle")
    line.detach()
    assert came
    return int(sum(came))


@pytest.fixture
def visitor(village: House, browser: Browser, axe: str, people: dict[str, Person]) -> Callable[[str], Person]:
    """Let somebody come in, signed in."""

    def come(name: str) -> Person:
        # What a worker fetches would not be counted.
        screen = {"viewport": {"width": 360, "height": 740}, "service_workers": "block"}
        people[name] = Person(village, browser, axe, name, **screen)
        people[name].forgive("Service Worker")
        people[name].sign_in()
        return people[name]

    return come


def test_no_page_is_heavy_on_a_first_visit_and_the_next_is_light(
    village: House, visitor: Callable[[str], Person]
) -> None:
    matches = [village.started("Ailsa", "Bran", game=game) for game in ("clans", "glory")]
    over = village.finish(village.started("Ailsa", "Bran"))
    village.table("Bran", seats=3)
    ailsa = visitor("Ailsa")
    pages = ("/", "/tables", "/archive", "/rules/clans", "/rules/glory", "/settings")
    for path in (*pages, *(f"/matches/{match.id}" for match in (*matches, over))):
        assert weight(ailsa, path, nothing_kept=True) < FIRST, path
        assert weight(ailsa, path, nothing_kept=False) < NEXT, path

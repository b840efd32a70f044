"""Words of others in a real browser: they are words, nothing of them runs, and the console stays empty."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from house import House
from people import Person

from server import keeping, notes, talk
from server.models import User

pytestmark = pytest.mark.browser
Enter = Callable[..., Person]
WICKED = "<img src=x onerror=document.title=1><svg onload=document.title=1>"


@pytest.fixture
def enter(village: House, browser: object, axe: str, people: dict[str, Person]) -> Enter:
    def come(name: str) -> Person:
        people[name] = Person(village, browser, axe, name)
        people[name].sign_in()
        return people[name]

    return come


def test_s10_nothing_of_what_others_write_runs(village: House, enter: Enter) -> None:
    match, over = village.started("Ailsa", "Bran"), village.finish(village.started("Ailsa", "Bran"))
    talk.say(match.id, village.people["Bran"], WICKED, expected=0, via="web", now=village.now)
    notes.write(match, village.people["Ailsa"], WICKED, village.now)
    keeping.freeze(match.id, village.person("Eimhir", admin=True), WICKED, village.now)
    ailsa = enter("Ailsa")
    User.update(name=WICKED[:40]).where(User.name == "Bran").execute()
    for path in ("/", f"/matches/{match.id}", f"/matches/{over.id}", f"/matches/{over.id}/replay/2", "/archive"):
        ailsa.visit(path)
        assert ailsa.page.title() != "1"
        assert ailsa.page.locator("img[src=x], svg[onload]").count() == 0
        assert "<img src=x" in (ailsa.page.locator("body").text_content() or ""), path

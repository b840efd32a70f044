"""Somebody at a screen: signs in, moves in his own way, and notes whatever should not have happened."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import argon2
from house import House
from playwright.sync_api import Browser, Locator, Page, expect

from server.models import User
from server.web.guard import POLICY
from tools import hosting

PASSWORD = "heather and peat"
HASHED = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


class Person:
    """One browser window of one person. `faults` is what nobody should see: console lines, wrong headers, barriers."""

    def __init__(self, house: House, browser: Browser, axe: str, name: str, **screen: Any) -> None:
        self.house, self.axe, self.name = house, axe, name
        self.faults: list[str] = []
        self.context = browser.new_context(base_url=house.site, locale="en-GB", **screen)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._read)
        self.page.on("pageerror", lambda fault: self.faults.append(f"script: {fault}"))
        self.page.on("response", self._look_at)

    def _read(self, line: Any) -> None:
        # A stream may break off at any time; the page asks for another.
        if not ("ERR_INCOMPLETE_CHUNKED" in line.text and line.location["url"].endswith("/stream")):
            self.faults.append(f"console: {line.text}")

    def _look_at(self, response: Any) -> None:
        if response.headers.get("content-security-policy") != POLICY:
            self.faults.append(f"no policy: {response.url}")
        if not response.url.startswith(self.house.site):
            self.faults.append(f"from elsewhere: {response.url}")

    def leave(self) -> None:
        """Close the window."""
        self.context.close()

    def sign_in(self) -> None:
        """Sign in by the form."""
        User.update(password=HASHED).where(User.name == self.name).execute()
        hosting.sign_in(self.page, self.house.site, self.name, PASSWORD)
        expect(self.page.get_by_role("button", name="Sign out")).to_be_attached()

    def check(self) -> None:
        """Look for barriers on the page as it stands."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(self.axe)
        found = self.page.evaluate("rules => axe.run({runOnly: {type: 'tag', values: rules}})", RULES)
        for barrier in found["violations"]:
            self.faults.append(f"{self.page.url}: {barrier['id']}: {barrier['nodes'][0]['html'][:200]}")

    def open(self, match: int) -> None:
        """Go to a match and wait until its scripts are ready."""
        self.page.goto(f"/matches/{match}")
        expect(self.page.locator('#match[data-ready="yes"]')).to_be_attached()

    def view(self) -> dict[str, Any]:
        """Return the view that the page shows."""
        return dict(json.loads(self.page.locator("#view").text_content() or ""))

    def titles(self) -> dict[str, str]:
        """Return what each territory of the map says of itself."""
        script = "all => Object.fromEntries(all.map(g => [g.dataset.territory, g.querySelector('title').textContent]))"
        return dict(self.page.locator("#board .territory").evaluate_all(script))

    def territory(self, name: str) -> Locator:
        """Return a territory of the map."""
        return self.page.locator(f"#board #t-{name}")

    def middle(self, place: Locator) -> tuple[float, float]:
        """Return where the middle of a place of the board is in the window."""
        script = """g => { const p = new DOMPoint(+g.dataset.x, +g.dataset.y).matrixTransform(
            g.ownerSVGElement.getScreenCTM()); return [p.x, p.y]; }"""
        place.scroll_into_view_if_needed()
        x, y = place.evaluate(script)
        return x, y

    def centre(self, name: str) -> tuple[float, float]:
        """Return where the middle of a territory is in the window."""
        return self.middle(self.territory(name))

    def drag(self, source: str, target: str, order: list[str]) -> None:
        """Move by the mouse: drag, then click the villages in their order."""
        self.territory(source).scroll_into_view_if_needed()
        self.page.mouse.move(*self.centre(source))
        self.page.mouse.down()
        self.page.mouse.move(*self.centre(target), steps=6)
        self.page.mouse.up()
        for village in order:
            self.page.mouse.click(*self.centre(village))

    def tap(self, source: str, target: str, order: list[str]) -> None:
        """Move by the finger: one tap on each."""
        for name in (source, target, *order):
            self.territory(name).scroll_into_view_if_needed()
            self.page.touchscreen.tap(*self.centre(name))

    def tab_to(self, script: str) -> None:
        """Press Tab until what has the focus satisfies the script."""
        for _ in range(80):
            if self.page.evaluate(script):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key never gets to {script}")

    def press(self, source: str, target: str, order: list[str]) -> None:
        """Move by the keyboard alone: Tab to the map, the arrow keys or a name to a territory, Enter."""
        self.tab_to("document.activeElement.dataset.territory")
        for name in (source, target, *order):
            self.page.keyboard.type(name.lower())
            self.page.keyboard.press("Enter")

    def confirm(self, by_key: bool = False) -> None:
        """Send the move and wait until the page has it."""
        before = self.page.locator("#facts").get_attribute("data-seq")
        if by_key:
            self.tab_to("document.activeElement.id === 'confirm-button'")
            self.page.keyboard.press("Enter")
        else:
            self.page.locator("#confirm-button").click()
        expect(self.page.locator("#facts")).not_to_have_attribute("data-seq", str(before))


def until(page: Page, script: str, right: Callable[[Any], bool]) -> None:
    """Wait until a script has the right result; unlike `wait_for_function`, this awaits what it promises."""
    late = time.monotonic() + 30
    while not right(found := page.evaluate(script)):
        assert time.monotonic() < late, found
        page.wait_for_timeout(50)


def read(text: str) -> tuple[str, str, list[str]]:
    """Return source, target and the villages of an order."""
    path, _, order = text.partition(" / ")
    source, target = re.split("-", path)
    return source, target, order.split()

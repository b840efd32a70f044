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
PATIENCE = 30  # seconds, as long as the browser's own waits
# The letters of a name count as typed together only if they come soon one after another, as from hands they do; from a
# test on a busy machine they come seconds apart. So to the page no event is more than a moment later than the last.
HANDS = """{
  const came = new WeakMap();
  let last = 1000;
  Object.defineProperty(KeyboardEvent.prototype, "timeStamp", { get() {
    if (!came.has(this)) came.set(this, (last += 50));
    return came.get(this);
  } });
}"""
FADING = """() => document.getAnimations().filter(
  one => one.playState === 'running' && one.effect.getComputedTiming().endTime !== Infinity).length"""


class Person:
    """One browser window of one person. `faults` is what nobody should see: console lines, wrong headers, barriers."""

    def __init__(self, house: House, browser: Browser, axe: str, name: str, **screen: Any) -> None:
        self.house, self.axe, self.name = house, axe, name
        self.faults: list[str] = []
        self._forgiven: list[str] = []
        self._moves = screen.get("reduced_motion") != "reduce"
        self.context = browser.new_context(base_url=house.site, locale="en-GB", **screen)
        self.context.add_init_script(HANDS)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._read)
        self.page.on("pageerror", lambda fault: self.faults.append(f"script: {fault}"))
        self.page.on("response", self._look_at)

    def _read(self, line: Any) -> None:
        # A stream may break off at any time; the page asks for another.
        broken_off = "ERR_INCOMPLETE_CHUNKED" in line.text and line.location["url"].endswith("/stream")
        if not broken_off and not any(words in line.text for words in self._forgiven):
            self.faults.append(f"console: {line.text}")

    def forgive(self, words: str) -> None:
        """Take no line with these words on the console for a fault; to be called before what causes it."""
        self._forgiven.append(words)

    def refused(self, status: int) -> None:
        """Let the server refuse something with this status: Chromium itself names each such request on the console."""
        self.forgive(f"responded with a status of {status} ")

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
        """Look for barriers on the page as it stands, when it has come whole and no colour is half-way to another."""
        self.page.wait_for_load_state()
        late = time.monotonic() + PATIENCE
        while self.page.evaluate(FADING) and time.monotonic() < late:
            self.page.wait_for_timeout(50)
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(self.axe)
        found = self.page.evaluate("rules => axe.run({runOnly: {type: 'tag', values: rules}})", RULES)
        for barrier in found["violations"]:
            self.faults.append(f"{self.page.url}: {barrier['id']}: {barrier['nodes'][0]['html'][:200]}")

    def open(self, match: int) -> None:
        """Go to a match and wait until its scripts are ready."""
        self.page.goto(f"/matches/{match}")
        self.ready()

    def ready(self) -> None:
        """Wait until the scripts of the page of a match are ready; one that is left first must be left by now."""
        expect(self.page.locator('#match[data-ready="yes"]')).to_be_attached()

    def visit(self, path: str) -> None:
        """Go to a page and, if it is one of a match, wait until its scripts are ready."""
        self.page.goto(path)
        if self.page.locator("#match").count():
            self.ready()

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
        if self._moves:
            self._come_to_rest(place)
        x, y = place.evaluate(script)
        return x, y

    def _come_to_rest(self, place: Locator) -> None:
        # The page may be about to scroll, a frame or two from now; a place that does not move meanwhile stays.
        handle = place.element_handle()
        for _ in range(3):
            handle.wait_for_element_state("stable")

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
        expect(self.page.locator("#confirm-button")).to_be_enabled()  # else the Tab key passes it by
        if by_key:
            self.tab_to("document.activeElement.id === 'confirm-button'")
            self.page.keyboard.press("Enter")
        else:
            self.page.locator("#confirm-button").click()
        expect(self.page.locator("#facts")).not_to_have_attribute("data-seq", str(before))


def until(page: Page, script: str, right: Callable[[Any], bool]) -> None:
    """Wait until a script has the right result; unlike `wait_for_function`, this awaits what it promises."""
    late = time.monotonic() + PATIENCE
    while not right(found := page.evaluate(script)):
        assert time.monotonic() < late, found
        page.wait_for_timeout(50)


def happened(page: Page, question: Callable[[], object]) -> None:
    """Wait until something has happened that the test itself is told, by the server or by events of the page."""
    late = time.monotonic() + PATIENCE
    while not question():
        assert time.monotonic() < late
        page.wait_for_timeout(50)


def read(text: str) -> tuple[str, str, list[str]]:
    """Return source, target and the villages of an order."""
    path, _, order = text.partition(" / ")
    source, target = re.split("-", path)
    return source, target, order.split()

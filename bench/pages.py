"""Prints what pages weigh and when their largest part is seen, on a first visit and on the next: the median of five.

Run from the root of the project: `python -m bench.pages`. The demo is served from an empty folder and looked at with
Chromium over a line of 1.6 Mbit/s down, 0.75 Mbit/s up and 150 ms of delay, as its "Slow 4G" has.
"""

from __future__ import annotations

import statistics
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tools import hosting
from tools.screenshots import PASSWORD, demo

PAGES = (
    ("front page", "/", ""),
    ("home", "/", "Ailsa"),
    ("match of Clans", "/matches/2", "Ailsa"),
    ("finished match of Clans", "/matches/1", "Ailsa"),
    ("match of Clans and Glory", "/matches/5", "Ailsa"),
    ("rules of Clans", "/rules/clans", ""),
    ("rules of Clans and Glory", "/rules/glory", ""),
)
ROUNDS = 5
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8}
SIZES: tuple[ViewportSize, ...] = ({"width": 1280, "height": 900}, {"width": 360, "height": 740})
LARGEST = """() => new Promise((done) => {
  new PerformanceObserver((list) => done(list.getEntries().at(-1)?.startTime ?? 0))
    .observe({ type: "largest-contentful-paint", buffered: true });
  setTimeout(() => done(0), 2000);
})"""


class Visit(NamedTuple):
    """One look at a page: bytes on the way, how many requests, and milliseconds until the largest part was seen."""

    weight: int
    requests: int
    largest: float


def visit(page: Page, line: Any, address: str) -> Visit:
    """Look at a page whose browser tells of its requests over `line`, a session of its debugging protocol."""
    weights: list[float] = []
    line.on("Network.loadingFinished", lambda told: weights.append(told["encodedDataLength"]))
    page.goto(address)
    page.wait_for_load_state("networkidle")
    largest = page.evaluate(LARGEST)
    return Visit(int(sum(weights)), len(weights), largest)


def look(browser: Browser, site: str, path: str, who: str, size: ViewportSize) -> tuple[Visit, Visit]:
    """Return a first visit with nothing kept, and the next one."""
    # A worker would ask for things over a line of its own, which is as fast as this machine.
    context = browser.new_context(viewport=size, locale="en-GB", service_workers="block")
    page = context.new_page()
    if who:
        hosting.sign_in(page, site, who, PASSWORD)
    found = []
    for first in (True, False):
        page = context.new_page()
        line = context.new_cdp_session(page)
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", SLOW)
        if first:
            line.send("Network.clearBrowserCache")
        found.append(visit(page, line, site + path))
        page.close()
    context.close()
    return found[0], found[1]


def main() -> None:
    """Look at each page `ROUNDS` times."""
    with demo() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, path, who in PAGES:
            for size in SIZES:
                looks = [look(browser, site, path, who, size) for _ in range(ROUNDS)]
                print(f"{name}, {size['width']} pixels wide:")
                for n, when in enumerate(("first visit", "next visit")):
                    weight, requests, largest = (statistics.median(one[n][part] for one in looks) for part in range(3))
                    print(f"  {when}: {weight / 1000:.0f} kB in {requests:.0f} requests, seen after {largest:.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()

"""Tells what pages weigh and when their largest part is seen, on a first visit and on the next: the median of five.

Run from the root of the project: `python -m bench.pages [--quick]`. The demo is served from an empty folder and looked
at with Chromium over a line of 1.6 Mbit/s down, 0.75 Mbit/s up and 150 ms of delay, as its "Slow 4G" has.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, ViewportSize

from bench import figures
from bench.figures import Figure
from tools import chromium, hosting
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
WEIGHTS = {"first visit": 150.0, "next visit": 30.0}
"""So many kilobytes may a visit weigh."""
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
    """Look as the command line says."""
    print(figures.table(measure(quick="--quick" in sys.argv)))


def measure(*, quick: bool = False) -> list[Figure]:
    """Return what pages weigh on a wide window and a narrow one, whichever is more, and when they are seen."""
    chosen, sizes, rounds = (PAGES[:1], SIZES[:1], 1) if quick else (PAGES, SIZES, ROUNDS)
    found = []
    with demo() as site, chromium.opened() as browser:
        for name, path, who in chosen:
            looks = [[look(browser, site, path, who, size) for _ in range(rounds)] for size in sizes]
            found += told(name, looks)
    return found


def told(name: str, looks: Sequence[Sequence[tuple[Visit, Visit]]]) -> list[Figure]:
    """Return the figures of a page, looked at several times in windows of each size: of the worse size."""
    found = []
    for n, (when, goal) in enumerate(WEIGHTS.items()):
        weights = [[pair[n].weight / 1000 for pair in some] for some in looks]
        moments = [[pair[n].largest for pair in some] for some in looks]
        found += [
            figures.median(f"{name}, {when}", max(weights, key=statistics.median), "kB", goal, most=True),
            figures.median("  its largest part is seen after", max(moments, key=statistics.median), "ms"),
        ]
    return found


if __name__ == "__main__":
    main()

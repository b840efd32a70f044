"""The site of the documentation in a browser: no barriers, as in the house itself, and a search that finds."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import barriers
import pytest
from playwright.sync_api import Browser, Page, Request

from tools.site.__main__ import build

pytestmark = pytest.mark.browser
# Lists, pictures, the widest tables and blocks, headings of all depths, and the one page that Sphinx writes.
PAGES = ("index", "playing", "safety", "deploying", "search")


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, built and served once."""
    folder: Path = tmp_path_factory.mktemp("docs")
    assert build(folder) == 0
    handler = functools.partial(Silent, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def lost(request: Request) -> list[str]:
    """The address that could not be had, unless it was the browser itself that gave up since it left the page."""
    return [] if request.failure == "net::ERR_ABORTED" else [f"{request.url}: {request.failure}"]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of somebody who wants no motion; whatever is wrong in its console fails the test."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("requestfailed", lambda request: faults.extend(lost(request)))
    yield page
    context.close()
    assert faults == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_barriers(page: Page, docs: str, axe: str, name: str) -> None:
    page.goto(f"{docs}/{name}.html")
    faults = [*barriers.of_rules(page, axe), *barriers.of_width(page), *barriers.of_wishes(page)]
    assert faults + barriers.of_keys(page) == []


def test_what_is_searched_for_is_found_with_the_words_around_it(page: Page, docs: str) -> None:
    page.goto(f"{docs}/index.html")
    page.get_by_role("searchbox").fill("synchronous_standby_names")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li").first
    found.wait_for()
    assert "deploying.html" in (found.locator("a").first.get_attribute("href") or "")
    found.locator(".context").wait_for()

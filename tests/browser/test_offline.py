"""Without a connection one page says so, in the reader's language; nothing else is kept, and it goes when it must."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import flask
import pytest
from house import House
from people import DESKTOP, PATIENCE, happened, until
from playwright.sync_api import Browser, BrowserContext, Page, expect

from server.errors import Refused
from server.web import homescreen

pytestmark = pytest.mark.browser

KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys())
    for (const request of await (await caches.open(name)).keys()) found.push(new URL(request.url).pathname);
  return found.sort();
}"""
NEXT = "async () => (await navigator.serviceWorker.getRegistration())?.waiting?.scriptURL ?? ''"
WORKER = "() => navigator.serviceWorker.controller?.scriptURL ?? ''"


@pytest.fixture
def context(village: House, browser: Browser) -> Iterator[BrowserContext]:
    """A window of a stranger."""
    window = browser.new_context(base_url=village.site, locale="en-GB", **DESKTOP)
    yield window
    window.close()


def opened(context: BrowserContext, path: str) -> Page:
    """Open a page and wait until the worker serves it."""
    page = context.new_page()
    page.goto(path)
    until(page, WORKER, bool)
    return page


def test_a_page_that_cannot_be_loaded_says_so_and_comes_back(village: House, context: BrowserContext) -> None:
    match = village.begun("Ailsa", "Bran")
    page = opened(context, "/")
    page.goto(f"/matches/{match.id}")
    page.goto("/rules/clans")
    context.set_offline(True)
    page.goto(f"/matches/{match.id}")
    expect(page.get_by_role("heading")).to_have_text("This page cannot be loaded just now")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(239, 230, 210)"
    with page.expect_navigation():
        page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading")).to_have_text("This page cannot be loaded just now")
    context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.locator("#match")).to_be_attached()
    assert page.url == f"{village.site}/matches/{match.id}"


def test_a_page_of_an_error_is_not_kept_in_its_place(
    village: House, context: BrowserContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def broken(_code: str) -> str:
        asked.append(flask.request.path)
        raise Refused("busy", "Not just now.")

    with monkeypatch.context() as patched:
        patched.setattr(homescreen, "_known", broken)
        page = context.new_page()
        page.goto("/")
        left = "async () => await navigator.serviceWorker.getRegistration() ? 'worker' : ''"
        happened(page, lambda: "/offline/en" in asked)
        until(page, left, lambda found: found == "")
        assert page.evaluate(KEPT) == []
    page.reload()
    until(page, KEPT, lambda kept: len(kept) == 2)


def test_only_that_page_and_its_sheet_are_kept(village: House, context: BrowserContext) -> None:
    match = village.begun("Ailsa", "Bran")
    page = opened(context, f"/matches/{match.id}")
    page.goto("/signin")
    page.goto(f"/matches/{match.id}")
    first, sheet = page.evaluate(KEPT)
    assert first == "/offline/en"
    assert sheet.endswith("/offline.css")


def test_another_language_brings_another_worker_when_no_page_is_open(village: House, context: BrowserContext) -> None:
    page = opened(context, "/")
    page.get_by_role("button", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    until(page, NEXT, lambda address: "language=de" in address)
    assert "language=en" in page.evaluate(WORKER)
    # The browser looks for pages of the worker before it in its own time: one opened at once may still be its.
    late = time.monotonic() + PATIENCE
    while "language=de" not in page.evaluate(WORKER):
        assert time.monotonic() < late
        page.close()
        page = opened(context, "/")
    until(page, KEPT, lambda kept: len(kept) == 2 and kept[0] == "/offline/de")
    context.set_offline(True)
    page.goto("/rules")
    assert page.locator("html").get_attribute("lang") == "de"


def test_the_worker_goes_when_the_server_no_longer_has_it(
    village: House, context: BrowserContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = opened(context, "/")
    monkeypatch.setattr(homescreen.files, "FOLDER", tmp_path / "nothing")
    page.goto("/rules")
    left = "async () => [await navigator.serviceWorker.getRegistration() ? 'worker' : '', ...await caches.keys()]"
    until(page, left, lambda found: found == [""])
    context.set_offline(True)
    with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
        page.goto("/rules")


def test_the_browser_finds_nothing_wrong_with_the_manifest(village: House, context: BrowserContext) -> None:
    page = opened(context, "/")
    chromium = context.new_cdp_session(page)
    found = chromium.send("Page.getAppManifest")
    assert found["errors"] == []
    assert found["url"] == f"{village.site}/manifest/en.webmanifest"
    missing = chromium.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # A window of a test is a private one, in which nothing is installed.
    assert {fault["errorId"] for fault in missing} <= {"in-incognito"}

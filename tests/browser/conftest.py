"""A real Chromium before a real server, in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import waitress
from axe_playwright_python.base import AXE_FILE_PATH
from house import House, house_settings
from people import Person
from playwright.sync_api import Browser, sync_playwright

from server import clock, create_app, db

CHROMIUM = "/usr/bin/chromium"
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script that looks for barriers."""
    return Path(AXE_FILE_PATH).read_text(encoding="utf-8")


@pytest.fixture
def village(sqlite: str, tmp_path: Path) -> Iterator[House]:
    """A house with a web server at `house.settings.public_url`; its clock is the real one."""
    with db.connected():
        house = House(house_settings(sqlite, tmp_path, DEVELOPMENT="1"))
        house.now = clock.now()
        server = waitress.create_server(create_app(house.settings), host="127.0.0.1", port=0, threads=6)
        house.site = f"http://127.0.0.1:{server.effective_port}"
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield house
        finally:
            server.close()
            server.task_dispatcher.shutdown()
            thread.join(10)


@pytest.fixture
def people(village: House, browser: Browser, axe: str) -> Iterator[dict[str, Person]]:
    """Those who have come in, by name; what each saw that nobody should see fails the test at its end."""
    found: dict[str, Person] = {}
    yield found
    for person in found.values():
        person.leave()
        assert person.faults == [], person.name

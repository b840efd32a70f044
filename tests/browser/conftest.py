"""A real Chromium before a real server, in this process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import expecting
import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from expecting import Stage
from house import House, house_settings
from people import Person
from playwright.sync_api import Browser, expect

from server import clock, create_app, db
from tools import chromium, hosting

# What is expected comes in milliseconds, but not on a machine that is busy with other tests.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    with chromium.opened() as browser:
        yield browser


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
        with hosting.served(create_app(house.settings)) as house.site:
            yield house


@pytest.fixture
def people(village: House, browser: Browser, axe: str) -> Iterator[dict[str, Person]]:
    """Those who have come in, by name; what each saw that nobody should see fails the test at its end."""
    found: dict[str, Person] = {}
    yield found
    for person in found.values():
        person.leave()
    assert {name: person.faults for name, person in found.items() if person.faults} == {}


@pytest.fixture(scope="module")
def hall(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser, axe: str
) -> Iterator[Stage]:
    """One house with one server for all tests of a file."""
    folder = tmp_path_factory.mktemp("hall")
    shutil.copy(sqlite_template, folder / "clachan.db")
    db.use(f"sqlite:///{folder / 'clachan.db'}")
    with db.connected(), expecting.opened(folder, browser, axe) as stage:
        yield stage
    db.database.close()


@pytest.fixture
def stage(hall: Stage) -> Iterator[Stage]:
    """The house of the file, to which people of this test's own come; what they saw that nobody should see fails it."""
    hall.house.now = clock.now()
    yield hall
    assert hall.leave() == []

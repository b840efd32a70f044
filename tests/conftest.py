"""What every test shares: both databases, three people, a clock that the test turns."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import dovecot
import pytest
from house import House, house_settings
from pagers import Pager
from postgresql import POSTGRES, Copies, Server, binaries

from server import db
from tools import chromium

pytest_plugins = ("diary",)


class Needed(NamedTuple):
    """What tests with a mark need: in words, and in which package of Debian it comes."""

    words: str
    package: str
    is_here: Callable[[], bool]


NEEDED: Final = {
    "postgres": Needed("on PostgreSQL", "postgresql", lambda: POSTGRES in os.environ),
    "browser": Needed("with a browser", "chromium", Path(chromium.PROGRAM).exists),
    "imap": Needed("on an IMAP server", "dovecot-imapd", dovecot.PROGRAM.exists),
    "machines": Needed("on many machines", "iproute2", lambda: shutil.which("ip") is not None),
    "nginx": Needed("behind nginx", "nginx-light", Path("/usr/sbin/nginx").exists),
    "caddy": Needed("behind Caddy", "caddy", Path("/usr/bin/caddy").exists),
}


def pytest_configure(config: pytest.Config) -> None:
    """Start PostgreSQL once for all workers; say what is left out, or refuse to leave anything out in CI."""
    if hasattr(config, "workerinput"):
        return
    if POSTGRES not in os.environ and binaries():
        config.postgres = Server(binaries())
        os.environ[POSTGRES] = config.postgres.url
    config.missing = [
        f"the tests {one.words} are left out (get them: apt-get install {one.package})"
        for one in NEEDED.values()
        if not one.is_here()
    ]
    if config.missing and os.environ.get("CI") == "true":
        raise pytest.UsageError("; ".join(config.missing))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what was started."""
    if hasattr(config, "postgres"):
        config.postgres.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in a line what was left out."""
    for sentence in getattr(config, "missing", ()):
        terminalreporter.write_line(f"NOTE: {sentence}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this machine cannot run, and the long trials unless they are asked for."""
    lacking = {mark for mark, one in NEEDED.items() if not one.is_here()}
    if "hardship" not in (config.option.markexpr or ""):
        lacking.add("hardship")
    out = [item for item in items if lacking & {mark.name for mark in item.iter_markers()}]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in set(out)]


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file to copy from."""
    path = tmp_path_factory.mktemp("template") / "clachan.db"
    db.use(f"sqlite:///{path}")
    db.migrate()
    with db.connected():
        # Into one file, without a log beside it, so that it can be copied.
        db.database.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        db.database.execute_sql("PRAGMA journal_mode = delete")
    return path


@pytest.fixture(scope="session")
def postgres_copies(worker_id: str) -> Copies:
    """Where a worker gets a migrated, empty PostgreSQL database from, again and again."""
    copies = Copies(os.environ[POSTGRES], worker_id)
    db.use(copies.template)
    db.migrate()
    db.part()
    return copies


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path, worker_id: str) -> Iterator[str]:
    """The address of a fresh database of the kind, in use by the models; each test runs once on each kind."""
    if request.param == "sqlite":
        template = request.getfixturevalue("sqlite_template")
        shutil.copy(template, tmp_path / "clachan.db")
        url = f"sqlite:///{tmp_path / 'clachan.db'}"
        db.use(url)
        yield url
        db.database.close()
        return
    url = request.getfixturevalue("postgres_copies").fresh()
    db.use(url)
    yield url
    db.database.close()


@pytest.fixture
def sqlite(sqlite_template: Path, tmp_path: Path) -> Iterator[str]:
    """As `database`, on SQLite only: for tests that are not about storing."""
    shutil.copy(sqlite_template, tmp_path / "clachan.db")
    url = f"sqlite:///{tmp_path / 'clachan.db'}"
    db.use(url)
    yield url
    db.database.close()


@pytest.fixture
def house(database: str, tmp_path: Path) -> Iterator[House]:
    """People and matches on a database of each kind."""
    with db.connected():
        yield House(house_settings(database, tmp_path))


@pytest.fixture
def cottage(sqlite: str, tmp_path: Path) -> Iterator[House]:
    """As `house`, on SQLite only."""
    with db.connected():
        yield House(house_settings(sqlite, tmp_path))


@pytest.fixture
def pager() -> Pager:
    """Hand out a service that notes what it is given, and fails as it is told to."""
    return Pager()

"""What every test shares: both databases, three people, a clock that the test turns."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import dovecot
import pytest
from house import House, house_settings
from pagers import Pager
from postgresql import POSTGRES, Copies, Server, binaries

from server import db

CHROMIUM = Path("/usr/bin/chromium")
pytest_plugins = ("diary",)


def pytest_configure(config: pytest.Config) -> None:
    """Start PostgreSQL once for all workers; say what is left out, or refuse to leave anything out in CI."""
    if hasattr(config, "workerinput"):
        return
    missing = []
    if POSTGRES not in os.environ:
        if binaries():
            config.postgres = Server(binaries())
            os.environ[POSTGRES] = config.postgres.url
        else:
            missing.append("the tests on PostgreSQL are left out (get them: apt-get install postgresql)")
    if not CHROMIUM.exists():
        missing.append("the browser tests are left out (get them: apt-get install chromium)")
    if not dovecot.PROGRAM.exists():
        missing.append("the tests on an IMAP server are left out (get them: apt-get install dovecot-imapd)")
    if not shutil.which("ip"):
        missing.append("the tests on many machines are left out (get them: apt-get install iproute2)")
    if missing and os.environ.get("CI") == "true":
        raise pytest.UsageError("; ".join(missing))
    config.missing = missing


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
    lacking = set()
    if POSTGRES not in os.environ:
        lacking.add("postgres")
    if not CHROMIUM.exists():
        lacking.add("browser")
    if not dovecot.PROGRAM.exists():
        lacking.add("imap")
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

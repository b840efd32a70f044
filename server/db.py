"""The only place that knows which database there is: connecting, transactions, locks, migrations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import peewee
from playhouse.migrations import Runner

database: Final = peewee.DatabaseProxy()

MIGRATIONS: Final = Path(__file__).parent / "migrations"

# How long a writer waits for another before it gives up; a move takes milliseconds.
BUSY_SECONDS: Final = 8

# What peewee raises when the database cannot take a write just now: locked, full, read-only, gone.
Unavailable: Final = (peewee.OperationalError, peewee.InterfaceError)
Duplicate: Final = peewee.IntegrityError
Broken: Final = peewee.DatabaseError  # and every fault besides, such as a file that is no database


class PendingMigration(Exception):
    """The database's schema is older than the program; `clachan db migrate` brings it up."""


def use(url: str) -> None:
    """Point every model at the database of `url` (sqlite:///path or postgresql://...); connects only when needed."""
    if url.startswith("sqlite:///"):
        path = Path(url.removeprefix("sqlite:///"))
        # The file holds secrets; those that SQLite puts beside it take its mode.
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
        database.initialize(_sqlite(path))
    else:
        database.initialize(_postgresql(url))


def _sqlite(path: Path) -> peewee.Database:
    # FULL, not NORMAL: an acknowledged move survives a power cut.
    pragmas = {"journal_mode": "wal", "synchronous": "full", "foreign_keys": 1}
    return peewee.SqliteDatabase(str(path), pragmas=pragmas, timeout=BUSY_SECONDS)


def _postgresql(url: str) -> peewee.Database:
    parts = urlsplit(url)
    return peewee.PostgresqlDatabase(
        unquote(parts.path.lstrip("/")),
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        host=parts.hostname,
        port=parts.port,
        options=f"-c lock_timeout={BUSY_SECONDS}s -c timezone=UTC",
        prefer_psycopg3=True,
    )


def on_sqlite() -> bool:
    """Whether the database is the embedded one."""
    return isinstance(database.obj, peewee.SqliteDatabase)


@contextmanager
def connected() -> Iterator[None]:
    """Hold a connection of this thread for the block."""
    if not database.is_closed():
        yield
        return
    database.connect()
    try:
        yield
    finally:
        database.close()


@contextmanager
def transaction() -> Iterator[None]:
    """All of the block or nothing of it.

    On SQLite the block begins IMMEDIATE: it waits for its turn to write at the start, because a reader that turns
    writer in the middle is told "database is locked" at once. A block inside another is part of it: if it fails it is
    undone by itself, and it is stored when the outer one is.
    """
    with database.atomic("IMMEDIATE") if on_sqlite() else database.atomic():
        yield


def locked(query: Any, *, skip: bool = False) -> Any:
    """Return the query so that its rows are held until the transaction ends; `skip` passes over rows held by others.

    On SQLite there is nothing to add: the transaction already is the only writer.
    """
    if on_sqlite():
        return query
    # Not FOR UPDATE: that also keeps out whoever only refers to the row, such as a mail queued for a person.
    return query.for_update("FOR NO KEY UPDATE SKIP LOCKED" if skip else "FOR NO KEY UPDATE")


def storable(text: str) -> str:
    """Return the text without what no database of ours holds: NUL, and halves of a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode()


def migrate() -> list[str]:
    """Bring the schema up to date, each migration whole or not at all; return the names of those applied."""
    with connected():
        return list(_runner().up())


def is_current() -> bool:
    """Whether the schema is that of this program."""
    return not _pending()


def require_current() -> None:
    """Raise `PendingMigration` unless the schema is that of this program."""
    if pending := _pending():
        raise PendingMigration(f"The database lacks {', '.join(pending)}: run `clachan db migrate`.")


def _pending() -> list[str]:
    with connected():
        return [step.name for step in _runner().status() if not step.applied]


def _runner() -> Runner:
    return Runner(database.obj, str(MIGRATIONS))


def lower(column: Any) -> Any:
    """Return the expression of a text column in lower case."""
    return peewee.fn.LOWER(column)


def count_all() -> Any:
    """Return the expression that counts the rows of a group."""
    return peewee.fn.COUNT(peewee.SQL("*"))


def at_random() -> Any:
    """Return the expression to order by for any order."""
    return peewee.fn.RANDOM()

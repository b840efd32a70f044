"""The only place that knows which database there is: connecting, transactions, locks, migrations."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import peewee
from playhouse.migrations import Runner

from server.connections import Postgresql, Sqlite
from server.line import Line

database: Final = peewee.DatabaseProxy()

MIGRATIONS: Final = Path(__file__).parent / "migrations"

# How long a writer waits for another before it gives up; a move takes milliseconds.
BUSY_SECONDS: Final = 8
# For so long when something is only noted in passing: a page is not to wait for what is not worth it.
PASSING_SECONDS: Final = 0.05
# After so many seconds without a word in the middle of a transaction a machine is taken to be cut off, and PostgreSQL
# lets go of what was held for it. Between two statements of ours lie milliseconds.
GONE_SECONDS: Final = 30

# Bytes of a page in a new file of SQLite: the first row of a log, about a thousand, must not need a page of its own.
PAGE: Final = 8192

# What peewee raises when the database cannot take a write just now: locked, full, read-only, gone.
Unavailable: Final = (peewee.OperationalError, peewee.InterfaceError)
Duplicate: Final = peewee.IntegrityError
Broken: Final = peewee.DatabaseError  # and every fault besides, such as a file that is no database

# How they say that they can be read only.
SQLITE_READONLY: Final = 8
POSTGRESQL_READONLY: Final = "25006"

# A table that is there as long as what fills the database has not come to its end.
UNFINISHED: Final = "unfinished"

_line: Final = Line()

# A `peewee.Database`, whose methods have no types.
Database: TypeAlias = Any


class ReadOnly(peewee.OperationalError):
    """The database can be read, and takes nothing."""


class PendingMigration(Exception):
    """The database's schema is older than the program; `clachan db migrate` brings it up."""


def use(url: str) -> None:
    """Point every model at the database of `url` (sqlite:///path or postgresql://...); connects only when needed."""
    before = database.obj
    _point_at(url)
    if before is not None:
        before.end()


def _point_at(url: str) -> None:
    if url.startswith("sqlite:///"):
        path = file(url)
        # The file holds secrets; those that SQLite puts beside it take its mode.
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            path.touch(mode=0o600, exist_ok=True)
    database.initialize(_opened(url, journal_mode="wal"))


def _opened(url: str, **pragmas: Any) -> Database:
    if not url.startswith("sqlite:///"):
        waits = f"-c lock_timeout={BUSY_SECONDS}s -c idle_in_transaction_session_timeout={GONE_SECONDS}s"
        return Postgresql(url, options=f"{waits} -c timezone=UTC")
    # FULL, not NORMAL: an acknowledged move survives a power cut.
    return Sqlite(
        file(url),
        pragmas={"page_size": PAGE, "synchronous": "full", "foreign_keys": 1, **pragmas},
        timeout=BUSY_SECONDS,
    )


def file(url: str) -> Path:
    """Return the file of an embedded database."""
    return Path(url.removeprefix("sqlite:///"))


def on_sqlite(there: Database | None = None) -> bool:
    """Whether the database, that of the models or another, is an embedded one."""
    return isinstance(there or database.obj, peewee.SqliteDatabase)


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


def part() -> None:
    """Close all connections that are not in use by another thread; whoever needs one gets a new one."""
    database.obj.let_go()


@contextmanager
def apart(url: str) -> Iterator[Database]:
    """Hold a connection beside those of the models for the block, to the same database or to another."""
    there = _opened(url)
    there.connect()
    try:
        yield there
    finally:
        there.end()


@contextmanager
def instead(url: str) -> Iterator[None]:
    """Point every model at another database for the block, with a connection held; for commands, not for threads."""
    before = database.obj
    _point_at(url)
    there = database.obj
    try:
        with connected():
            yield
    finally:
        database.initialize(before)
        there.end()


@contextmanager
def snapshot(there: Database) -> Iterator[None]:
    """See the database in the block as it is at one moment, whatever others write meanwhile; nobody waits for it."""
    there.execute_sql("BEGIN" if on_sqlite(there) else "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    try:
        yield
    finally:
        there.execute_sql("ROLLBACK")


@contextmanager
def _turn(seconds: float) -> Iterator[None]:
    """Wait for the turn of this thread to write, for so many seconds at most, and begin.

    SQLite has those who wait sleep, longer and longer; so threads and processes of ours stand in line here instead.
    """
    if database.in_transaction():
        with database.atomic():
            yield
        return
    until = time.monotonic() + seconds
    if not _line.enter(seconds):
        raise peewee.OperationalError("database is locked by another thread")
    try:
        with database.obj.peers.turn(until - time.monotonic()) as came:
            if not came:
                raise peewee.OperationalError("database is locked by another process")
            with _waiting(until - time.monotonic()), database.atomic("IMMEDIATE"):
                yield
    finally:
        _line.leave()


@contextmanager
def _waiting(seconds: float) -> Iterator[None]:
    """Have SQLite wait no longer than so many seconds for other processes in the block."""
    # Most find nobody in line; to say so takes a quarter as long as to begin and commit.
    if seconds > BUSY_SECONDS - PASSING_SECONDS:
        yield
        return
    link = database.connection()
    link.execute(f"PRAGMA busy_timeout = {max(0, round(seconds * 1000))}").close()
    try:
        yield
    finally:
        link.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}").close()


@contextmanager
def transaction() -> Iterator[None]:
    """All of the block or nothing of it.

    On SQLite the block begins IMMEDIATE: it waits for its turn to write at the start, because a reader that turns
    writer in the middle is told "database is locked" at once. A block inside another is part of it: if it fails it is
    undone by itself, and it is stored when the outer one is.
    """
    with _whole(BUSY_SECONDS):
        yield


@contextmanager
def _whole(seconds: float) -> Iterator[None]:
    try:
        with _turn(seconds) if on_sqlite() else database.atomic():
            yield
    except Broken as fault:
        if not is_refusal_to_write(fault):
            raise
        raise ReadOnly("the database takes no writes") from fault


@contextmanager
def passing(seconds: float | None = None) -> Iterator[None]:
    """All of the block or nothing of it, as `transaction`, but a power cut may take it back: nobody waits for the disk.

    For what is noted in passing, such as that somebody has looked at a page. It does not wait for others who write
    either, unless `seconds` are given, but ends with `Unavailable`. Inside a transaction it is part of that.
    """
    if database.in_transaction():
        with transaction():
            yield
        return
    patience = PASSING_SECONDS if seconds is None else seconds
    if on_sqlite():
        database.execute_sql("PRAGMA synchronous = NORMAL")
    try:
        with _whole(patience):
            if not on_sqlite():
                light = "set_config('synchronous_commit', 'off', true)"
                database.execute_sql(f"SELECT {light}, set_config('lock_timeout', '{round(patience * 1000)}ms', true)")
            yield
    finally:
        if on_sqlite():
            database.execute_sql("PRAGMA synchronous = FULL")


def is_refusal_to_write(fault: BaseException | None) -> bool:
    """Whether a fault, or one behind it, is that of a database that can be read only."""
    while fault is not None:
        own = fault.args[0] if isinstance(fault, Broken) and fault.args else fault
        refused = getattr(own, "sqlite_errorcode", 0) & 0xFF == SQLITE_READONLY
        if isinstance(fault, ReadOnly) or refused or getattr(own, "sqlstate", "") == POSTGRESQL_READONLY:
            return True
        fault = fault.__cause__ or fault.__context__
    return False


def is_read_only() -> bool:
    """Whether the database takes no writes just now, asked of itself."""
    if on_sqlite():
        asked = database.execute_sql("PRAGMA query_only").fetchone()[0]
        return bool(asked) or not os.access(database.obj.database, os.W_OK)
    return bool(database.execute_sql("SHOW transaction_read_only").fetchone()[0] == "on")


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
    """Whether the schema is that of this program, and all is there that is to be there."""
    return not pending() and not unfinished()


def require_current() -> None:
    """Raise `PendingMigration` unless the schema is that of this program and all is there that is to be there."""
    if unfinished():
        raise PendingMigration("A copy or a restore into this database has not come to its end: begin it again.")
    if names := pending():
        raise PendingMigration(f"The database lacks {', '.join(names)}: run `clachan db migrate`.")


def pending() -> list[str]:
    """Return the names of the migrations that have still to be applied."""
    with connected():
        return [step.name for step in _runner().status() if not step.applied]


def known_migrations() -> list[str]:
    """Return the names of the migrations of this program, in order."""
    return [step.name for step in _runner().migrations()]


def unfinished() -> bool:
    """Whether something began to fill the database and has not come to its end."""
    with connected():
        return bool(database.table_exists(UNFINISHED))


def has_table(model: Any) -> bool:
    """Whether the database has the table of a model."""
    return bool(model.table_exists())


def begin_filling() -> None:
    """Note that the database is not to be used before it has been filled."""
    database.execute_sql(f"CREATE TABLE IF NOT EXISTS {UNFINISHED} (id INTEGER)")


def end_filling() -> None:
    """Let the database be used."""
    database.execute_sql(f"DROP TABLE IF EXISTS {UNFINISHED}")


def clear() -> None:
    """Drop every table there is, and what belongs to them."""
    # No transaction: the switch does nothing inside one. Who clears has noted that the database is not to be used.
    if on_sqlite():
        database.execute_sql("PRAGMA foreign_keys = 0")
    for statement in clearing():
        database.execute_sql(statement)
    if on_sqlite():
        database.execute_sql("PRAGMA foreign_keys = 1")


def clearing() -> list[str]:
    """Return the statements that drop every table there is, and the functions of their triggers."""
    # What says that it is unfinished goes last.
    tables = sorted(set(database.get_tables()) - {"sqlite_sequence"}, key=lambda name: name == UNFINISHED)
    if on_sqlite():
        return [f'DROP TABLE "{name}"' for name in tables]
    functions = database.execute_sql(
        "SELECT DISTINCT t.tgfoid::regprocedure::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
        " WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace"
    )
    dropped = [f"DROP FUNCTION {name} CASCADE" for (name,) in functions.fetchall()]
    return dropped + [f'DROP TABLE "{name}" CASCADE' for name in tables]


def stream(there: Database, query: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query without ever holding them all; inside a transaction or `snapshot`."""
    if on_sqlite(there):
        yield from there.execute_sql(query)
        return
    there.execute_sql(f"DECLARE stream NO SCROLL CURSOR FOR {query}")
    while rows := there.execute_sql("FETCH 1000 FROM stream").fetchall():
        yield from rows
    there.execute_sql("CLOSE stream")


def insert_rows(table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows as they are stored, in the caller's transaction; of 30 columns no more than 1000 at once."""
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join([f"({', '.join([database.param] * len(columns))})"] * len(rows))
    values = [value for row in rows for value in row]
    database.execute_sql(f'INSERT INTO "{table}" ({names}) VALUES {marks}', values)  # noqa: S608


def count_on(table: str, key: str) -> None:
    """Have numbers that are given from now on follow the highest in the table."""
    if not on_sqlite():
        highest = f'SELECT max("{key}") FROM "{table}"'  # noqa: S608
        database.execute_sql(f"SELECT setval(pg_get_serial_sequence('\"{table}\"', '{key}'), ({highest}))")


def _runner() -> Runner:
    return Runner(database.obj, str(MIGRATIONS))


def triggers() -> set[str]:
    """Return the names of the triggers that the database has."""
    kept = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    asked = kept if on_sqlite() else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'"
    return {row[0] for row in database.execute_sql(asked).fetchall()}


def instant() -> datetime:
    """Return what the clock of the database says, to the second."""
    asked = "strftime('%s', 'now')" if on_sqlite() else "extract(epoch FROM clock_timestamp())"
    found = database.execute_sql(f"SELECT {asked}").fetchone()[0]
    return datetime.fromtimestamp(int(found), UTC)


def lower(column: Any) -> Any:
    """Return the expression of a text column in lower case."""
    return peewee.fn.LOWER(column)


def count_all() -> Any:
    """Return the expression that counts the rows of a group."""
    return peewee.fn.COUNT(peewee.SQL("*"))


def highest(column: Any) -> Any:
    """Return the expression of the highest value that a column has in a group."""
    return peewee.fn.MAX(column)


def together(*parts: Any) -> Any:
    """Return the expression of several columns or values that are compared one after the other."""
    return peewee.Tuple(*parts)

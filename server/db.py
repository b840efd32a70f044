"""The only place that knows which database there is: connecting, transactions, locks, migrations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias
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

# A table that is there as long as what fills the database has not come to its end.
UNFINISHED: Final = "unfinished"

# A `peewee.Database`, whose methods have no types.
Database: TypeAlias = Any


class PendingMigration(Exception):
    """The database's schema is older than the program; `clachan db migrate` brings it up."""


def use(url: str) -> None:
    """Point every model at the database of `url` (sqlite:///path or postgresql://...); connects only when needed."""
    if url.startswith("sqlite:///"):
        path = file(url)
        # The file holds secrets; those that SQLite puts beside it take its mode.
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
        database.initialize(_sqlite(path, journal_mode="wal"))
    else:
        database.initialize(_postgresql(url))


def _sqlite(path: Path, **more: Any) -> peewee.Database:
    # FULL, not NORMAL: an acknowledged move survives a power cut.
    pragmas = {"synchronous": "full", "foreign_keys": 1, **more}
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


@contextmanager
def apart(url: str) -> Iterator[Database]:
    """Hold a connection beside those of the models for the block, to the same database or to another."""
    there = _sqlite(file(url)) if url.startswith("sqlite:///") else _postgresql(url)
    there.connect()
    try:
        yield there
    finally:
        there.close()


@contextmanager
def instead(url: str) -> Iterator[None]:
    """Point every model at another database for the block, with a connection held; for commands, not for threads."""
    before = database.obj
    use(url)
    try:
        with connected():
            yield
    finally:
        database.initialize(before)


@contextmanager
def snapshot(there: Database) -> Iterator[None]:
    """See the database in the block as it is at one moment, whatever others write meanwhile; nobody waits for it."""
    there.execute_sql("BEGIN" if on_sqlite(there) else "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    try:
        yield
    finally:
        there.execute_sql("ROLLBACK")


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


def at_random() -> Any:
    """Return the expression to order by for any order."""
    return peewee.fn.RANDOM()

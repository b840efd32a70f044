"""What a database holds, in numbers and digests, so that two of them can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from server import audit, db
from server.models import TABLES

# Tables that tell of the database itself.
BOOKKEEPING: Final = frozenset({"schema_migration", "sqlite_sequence", db.UNFINISHED})


class Unfit(Exception):
    """A database, or a file made of one, cannot be used for what is asked; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The names of the migrations, the rows of each table, and the SHA-256 over the hashes of all rows of all logs."""

    migrations: list[str]
    counts: dict[str, int]
    logs: str


@dataclass(slots=True)
class Sum:
    """How many rows there are and the sum of their SHA-256, which does not depend on their order."""

    rows: int = 0
    total: int = 0

    def add(self, row: Iterable[Any]) -> None:
        """Count a row as either database gives it."""
        told = repr([_plain(value) for value in row]).encode()
        self.rows += 1
        self.total = (self.total + int.from_bytes(hashlib.sha256(told).digest(), "big")) % 2**256


@dataclass(slots=True)
class Verified:
    """How many matches were verified, and the faults of those that have any."""

    checked: int = 0
    faults: dict[int, list[str]] = field(default_factory=dict)


def of(there: db.Database) -> Contents:
    """Return what a database holds; the caller sees to it that it stands still, see `db.snapshot`."""
    tables = set(there.get_tables())
    names = there.execute_sql("SELECT name FROM schema_migration").fetchall() if "schema_migration" in tables else []
    return Contents(
        migrations=sorted(name for (name,) in names),
        counts={table: _count(there, table) for table in sorted(tables - BOOKKEEPING)},
        logs=_logs(there) if "log" in tables else "",
    )


def occupied(there: db.Database) -> bool:
    """Whether there is anything that must not be written over: people, or tables that are not ours."""
    tables = set(there.get_tables()) - BOOKKEEPING
    if tables - {model._meta.table_name for model in TABLES}:
        return True
    return "user" in tables and _count(there, "user") > 0


def verify() -> Verified:
    """Verify every match of the database in use."""
    found = Verified()
    for number in audit.running_or_over():
        found.checked += 1
        if faults := audit.verify(number):
            found.faults[number] = faults
    return found


def rows(there: db.Database, model: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a model's table as they are stored, in the order of its key."""
    columns = ", ".join(f'"{name}"' for name in columns_of(model))
    keys = ", ".join(f'"{key.column_name}"' for key in model._meta.get_primary_keys())
    return db.stream(there, f'SELECT {columns} FROM "{model._meta.table_name}" ORDER BY {keys}')  # noqa: S608


def columns_of(model: Any) -> list[str]:
    """Return the names of the columns of a model's table."""
    return [each.column_name for each in model._meta.sorted_fields]


def _count(there: db.Database, table: str) -> int:
    return int(there.execute_sql(f'SELECT count(*) FROM "{table}"').fetchone()[0])  # noqa: S608


def _logs(there: db.Database) -> str:
    digest = hashlib.sha256()
    for match, seq, stored in db.stream(there, "SELECT match_id, seq, hash FROM log ORDER BY match_id, seq"):
        digest.update(f"{match} {seq} {bytes(stored).hex()}\n".encode())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, memoryview | bytearray):
        return bytes(value)
    return int(value) if isinstance(value, bool) else value

"""Moving house: everything in one database copied into another, of whichever kind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Final

from server import backup, contents, db, dumps
from server.contents import Sum, Unfit, Verified
from server.models import TABLES
from server.settings import Settings

# Rows that are sent at once.
BATCH: Final = 500


def copy(settings: Settings, url: str, now: datetime) -> tuple[dict[str, int], Verified]:
    """Copy all tables of the database in use into the empty one of `url`, which is migrated if it needs that.

    Return how many rows each table has, and what the verification of all matches found. Each table is one transaction,
    and is compared row by row. What stopped in the middle is begun again from the start by another call; until one has
    come to its end the new database is not used by any program. Raises `Unfit` with what is in the way.
    """
    if dumps.kind(url) == dumps.SQLITE == dumps.kind(settings.database):
        same = db.file(url).resolve() == db.file(settings.database).resolve()
    else:
        same = url == settings.database
    if same:
        raise Unfit("That is the database in use; name the one to copy it to.")
    db.require_current()
    backup.require_rest(settings, now)
    try:
        with db.apart(settings.database) as source, db.instead(url):
            _make_ready()
            with db.snapshot(source):
                counts = {model._meta.table_name: _copied(source, model) for model in TABLES}
            verified = contents.verify()
            db.end_filling()
    except (*db.Unavailable, db.Broken) as fault:
        why = str(fault).strip().partition("\n")[0]
        raise Unfit(f"The copying has stopped: {why}. When that is mended, the same command begins again.") from None
    return counts, verified


def _make_ready() -> None:
    """Make empty tables in the database that is copied to, after clearing away what an earlier try has left there."""
    if db.unfinished():
        db.clear()
    elif contents.occupied(db.database.obj):
        raise Unfit("The database to copy to is not empty.")
    db.begin_filling()
    db.migrate()


def _copied(source: db.Database, model: Any) -> int:
    """Copy one table and compare; return how many rows it has."""
    table, columns = model._meta.table_name, contents.columns_of(model)
    flags = [number for number, field in enumerate(model._meta.sorted_fields) if field.field_type == "BOOL"]
    gone, come = Sum(), Sum()
    try:
        with db.transaction():
            # Migrations put a row into some.
            model.delete().execute()
            for batch in _batches(_told(contents.rows(source, model), flags, gone)):
                db.insert_rows(table, columns, batch)
            if model._meta.auto_increment and gone.rows:
                db.count_on(table, model._meta.primary_key.column_name)
            for row in contents.rows(db.database.obj, model):
                come.add(row)
    except (*db.Unavailable, db.Broken) as fault:
        raise db.Broken(f"table {table}: {fault}") from None
    if gone != come:
        raise Unfit(f"The rows of the table {table} are not the same after copying.")
    return gone.rows


def _told(rows: Iterator[tuple[Any, ...]], flags: list[int], count: Sum) -> Iterator[list[Any]]:
    """Yield rows as either database takes them, after counting each: one of them has no truth values of its own."""
    for row in rows:
        count.add(row)
        taken = list(row)
        for number in flags:
            taken[number] = None if taken[number] is None else bool(taken[number])
        yield taken


def _batches(rows: Iterator[list[Any]]) -> Iterator[list[list[Any]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch

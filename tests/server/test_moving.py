"""Moving house: all rows of one database in another, the same, in its right, and not used before it is whole."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from house import House
from postgresql import POSTGRES
from test_cli import run, variables

from server import backup, clock, contents, db, log, moving
from server.contents import Sum, Unfit
from server.models import TABLES, LogRow, Match, Talk, User, Watermark
from server.scheduler import Scheduler


@pytest.fixture
def other(database: str, tmp_path: Path, worker_id: str) -> Iterator[str]:
    """The address of an empty database of the other kind."""
    if POSTGRES not in os.environ:
        pytest.skip("there is no PostgreSQL server")
    if not database.startswith("sqlite:///"):
        yield f"sqlite:///{tmp_path / 'other' / 'clachan.db'}"
        return
    with psycopg.connect(os.environ[POSTGRES], autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS other_{worker_id} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE other_{worker_id}")
        yield f"{os.environ[POSTGRES].rpartition('/')[0]}/other_{worker_id}"
        connection.execute(f"DROP DATABASE other_{worker_id} WITH (FORCE)")


def sums() -> dict[str, Sum]:
    """Return number and sum of the rows of every table of the database in use."""
    found = {}
    with db.snapshot(db.database.obj):
        for model in TABLES:
            found[model._meta.table_name] = total = Sum()
            for row in contents.rows(db.database.obj, model):
                total.add(row)
    return found


def lived_in(house: House) -> Match:
    """Let a good deal happen in the house; return a match that goes on."""
    house.finish(house.started("Ailsa", "Bran"))
    house.finish(house.started("Catrin", "Ailsa", game="glory"))
    match = house.begun("Ailsa", "Bran", "Catrin", rated=True)
    with db.transaction():
        Talk.create(
            match=match, user=house.people["Bran"], text="Gu dearbh; 'tis “100 %s” – %(n)s ? {n}\n", at=house.now
        )
    house.mail()
    return match


def test_a_house_moves_with_all_that_is_in_it(house: House, other: str) -> None:
    match = lived_in(house)
    before, people = sums(), User.select().count()
    counts, verified = moving.copy(house.settings, other, house.now)
    assert counts == {table: total.rows for table, total in before.items()}
    assert (verified.checked, verified.faults) == (3, {})
    assert before["log"].rows > 50
    with db.instead(other):
        assert sums() == before
        db.require_current()
        newcomer = house.person("Eilidh")
        assert newcomer.id == people + 1
        house.move(log.get(match.id))
        with pytest.raises(db.Broken):
            LogRow.update(text="").execute()
        with pytest.raises(db.Broken):
            LogRow.delete().execute()


def test_and_comes_back_the_same(house: House, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "BATCH", 7)
    lived_in(house)
    before = sums()
    moving.copy(house.settings, other, house.now)
    back = f"sqlite:///{tmp_path / 'back.db'}"
    with db.instead(other):
        moving.copy(dataclasses.replace(house.settings, database=other), back, house.now)
    with db.instead(back):
        assert sums() == before
        assert Watermark.select().count() == 1


def test_what_stopped_in_the_middle_is_not_used_and_is_begun_again(
    house: House, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived_in(house)
    before, insert = sums(), db.insert_rows

    def broken(table: str, *given: object) -> None:
        if table == "log":
            raise db.Unavailable[0]("the line is cut")
        insert(table, *given)

    monkeypatch.setattr(db, "insert_rows", broken)
    with pytest.raises(Unfit, match=r"table log: the line is cut.*the same command begins again"):
        moving.copy(house.settings, other, house.now)
    with db.instead(other):
        assert User.select().count() == len(house.people), "a table is whole or empty"
        assert LogRow.select().count() == 0
        assert not db.is_current()
        with pytest.raises(db.PendingMigration, match="has not come to its end"):
            db.require_current()
        with pytest.raises(Unfit, match="nothing whole"):
            backup.make(house.settings, house.settings.backups / "no.zip", house.now)
    monkeypatch.undo()
    moving.copy(house.settings, other, house.now)
    with db.instead(other):
        assert sums() == before


def test_a_row_that_changes_on_the_way_is_found(house: House, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    house.begun("Ailsa", "Bran")
    insert = db.insert_rows

    def careless(table: str, columns: list[str], rows: list[list[object]]) -> None:
        if table == "seat":
            rows[-1][columns.index("seen")] = 77
        insert(table, columns, rows)

    monkeypatch.setattr(db, "insert_rows", careless)
    with pytest.raises(Unfit, match="rows of the table seat are not the same"):
        moving.copy(house.settings, other, house.now)


def test_nothing_is_copied_over_anything(house: House, other: str) -> None:
    with db.instead(other):
        db.migrate()
        house.person("Eilidh")
    with pytest.raises(Unfit, match="not empty"):
        moving.copy(house.settings, other, house.now)
    with pytest.raises(Unfit, match="in use"):
        moving.copy(house.settings, house.settings.database, house.now)


def test_tables_of_something_else_are_left_alone(house: House, other: str) -> None:
    with db.instead(other):
        db.database.execute_sql("CREATE TABLE theirs (id INTEGER)")
    with pytest.raises(Unfit, match="not empty"):
        moving.copy(house.settings, other, house.now)
    with db.instead(other):
        assert db.database.get_tables() == ["theirs"]


def test_nobody_moves_while_a_scheduler_is_at_work(
    cottage: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", lambda: cottage.now)
    Scheduler(cottage.settings).run("deadlines")
    to = f"sqlite:///{tmp_path / 'other.db'}"
    with pytest.raises(Unfit, match="stop the server"):
        moving.copy(cottage.settings, to, cottage.now)
    moving.copy(cottage.settings, to, cottage.now + timedelta(minutes=1))


def test_the_command_says_what_was_copied(cottage: House, tmp_path: Path) -> None:
    cottage.begun("Ailsa", "Bran")
    code, printed = run("db", "copy", f"sqlite:///{tmp_path / 'other.db'}", **variables(cottage))
    assert code == 0, printed
    lines = printed.splitlines()
    assert lines[0].endswith(f"rows in {len(TABLES)} tables are copied, and the same there")
    assert lines[1:] == [
        "Set CLACHAN_DATABASE to the new address before you start the server again.",
        "1 checked, 0 with faults",
    ]
    code, printed = run("db", "copy", "mysql://x/y", **variables(cottage))
    assert code == 2
    assert printed.endswith("Invalid value for 'URL': must start with sqlite:/// or postgresql://.\n")


def test_the_tables_are_in_an_order_in_which_they_can_be_filled() -> None:
    seen: set[object] = set()
    for model in TABLES:
        seen.add(model)
        assert {field.rel_model for field in model._meta.refs} <= seen, model

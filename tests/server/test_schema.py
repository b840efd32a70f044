"""The schema: models and migrations tell the same, and a migration happens whole or not at all."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import peewee
import psycopg
import pytest
from house import House
from psycopg import conninfo

from server import audit, create_app, db
from server.models import TABLES
from server.models.fields import InstantField

NEXT = '''
def up(_migrator, db):
    """Make a table, fill it, and change another; then {end}."""
    db.execute_sql("CREATE TABLE novelty (id INTEGER NOT NULL PRIMARY KEY)")
    db.execute_sql("INSERT INTO novelty (id) VALUES (7)")
    db.execute_sql('ALTER TABLE "user" ADD COLUMN novelty INTEGER')
    {act}
'''

# What a column is called in each database, by what its field is.
KINDS = {
    peewee.AutoField: {"INTEGER", "integer"},
    peewee.BooleanField: {"BOOLEAN", "boolean"},
    peewee.BlobField: {"BLOB", "bytea"},
    peewee.SmallIntegerField: {"SMALLINT", "smallint"},
    InstantField: {"BIGINT", "bigint"},
    peewee.BigIntegerField: {"BIGINT", "bigint"},
    peewee.IntegerField: {"INTEGER", "integer"},
    peewee.ForeignKeyField: {"INTEGER", "integer"},
    peewee.TextField: {"TEXT", "text"},
}


def kind(field: peewee.Field) -> set[str]:
    """Return what the column of a field may be called."""
    if isinstance(field, peewee.CharField):
        return {f"VARCHAR({field.max_length})", "character varying"}
    return next(names for cls, names in KINDS.items() if isinstance(field, cls))


def test_models_and_migrations_agree(house: House) -> None:
    for model in TABLES:
        table = model._meta.table_name
        columns = {column.name: column for column in db.database.get_columns(table)}
        fields = {field.column_name: field for field in model._meta.sorted_fields}
        assert sorted(columns) == sorted(fields)
        for name, field in fields.items():
            assert columns[name].null == bool(field.null), name
            assert columns[name].data_type in kind(field), name
        keys = [field.column_name for field in model._meta.get_primary_keys()]
        assert [name for name, column in columns.items() if column.primary_key] == keys


def wanted(model: type[peewee.Model]) -> set[tuple[tuple[str, ...], bool]]:
    """Return columns and uniqueness of the indexes that the model asks for."""
    found = {((field.column_name,), bool(field.unique)) for field in model._meta.sorted_fields if field.unique}
    found |= {
        ((field.column_name,), False)
        for field in model._meta.sorted_fields
        if field.index and not field.unique and not field.primary_key
    }
    columns = model._meta.fields
    for names, unique in (index for index in model._meta.indexes if isinstance(index, tuple)):
        found.add((tuple(columns[name].column_name for name in names), unique))
    for index in partial(model):
        found.add((tuple(field.column_name for field in index._expressions), bool(index._unique)))
    return found


def partial(model: type[peewee.Model]) -> list[peewee.ModelIndex]:
    """Return the indexes of a model that hold some of its rows only."""
    return [index for index in model._meta.indexes if isinstance(index, peewee.ModelIndex)]


def held() -> list[str]:
    """Return of each index that holds some rows only which they are."""
    if db.on_sqlite():
        asked = "SELECT substr(sql, instr(sql, ' WHERE ') + 7) FROM sqlite_master WHERE type = 'index'"
        asked += " AND sql LIKE '% WHERE %'"
    else:
        asked = "SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indpred IS NOT NULL"
        asked += " AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)"
    return sorted(row[0].strip("()") for row in db.database.execute_sql(asked).fetchall())


def test_indexes_of_some_rows_hold_those_that_the_models_say(house: House) -> None:
    wheres = [index._where for model in TABLES for index in partial(model)]
    plain = [where if isinstance(where, peewee.Field) else where.lhs for where in wheres]
    kinds = ["" if where is field else f" {where.op}" for where, field in zip(wheres, plain, strict=True)]
    empty = {" IS": " IS NULL", " IS NOT": " IS NOT NULL", "": ""}
    assert held() == sorted(f"{field.name}{empty[kind]}" for field, kind in zip(plain, kinds, strict=True))


def test_indexes_of_models_and_migrations_agree(house: House) -> None:
    for model in TABLES:
        keys = tuple(db.database.get_primary_keys(model._meta.table_name))
        found = {(tuple(index.columns), index.unique) for index in db.database.get_indexes(model._meta.table_name)}
        assert found - {(keys, True)} == wanted(model)


def test_what_refers_to_another_table_is_held_to_it_by_the_database(house: House) -> None:
    for model in TABLES:
        keys = {(key.column, key.dest_table) for key in db.database.get_foreign_keys(model._meta.table_name)}
        assert keys == {
            (field.column_name, field.rel_model._meta.table_name)
            for field in model._meta.sorted_fields
            if isinstance(field, peewee.ForeignKeyField)
        }


def test_there_is_no_table_without_a_model(house: House) -> None:
    tables = set(db.database.get_tables())
    assert tables - {"sqlite_sequence"} == {model._meta.table_name for model in TABLES} | {"schema_migration"}


def test_migrating_again_does_nothing(house: House) -> None:
    assert db.migrate() == []
    db.require_current()


@pytest.fixture
def another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a migration behind those there are; it ends as told."""
    folder = tmp_path / "migrations"
    shutil.copytree(db.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(db, "MIGRATIONS", folder)

    def put(end: str, act: str) -> None:
        (folder / "0999_novelty.py").write_text(NEXT.format(end=end, act=act))

    return put


def nothing_is_half(house: House, number: int) -> None:
    """Check that the schema is as before and that the house can be used once it is current."""
    assert "novelty" not in db.database.get_tables()
    assert "novelty" not in {column.name for column in db.database.get_columns("user")}
    with pytest.raises(db.PendingMigration, match="0999_novelty: run `clachan db migrate`"):
        db.require_current()
    assert audit.verify(number) == []


def test_nothing_starts_while_a_migration_is_pending(house: House, another) -> None:
    match = house.started("Ailsa", "Bran")
    another("ends", "pass")
    nothing_is_half(house, match.id)
    with pytest.raises(db.PendingMigration):
        create_app(house.settings)
    assert db.migrate() == ["0999_novelty"]
    db.require_current()
    house.move(match)


def test_a_migration_that_fails_in_the_middle_leaves_nothing(house: House, another) -> None:
    match = house.started("Ailsa", "Bran")
    another("fails", "raise ZeroDivisionError")
    with pytest.raises(ZeroDivisionError):
        db.migrate()
    nothing_is_half(house, match.id)
    another("ends", "pass")
    assert db.migrate() == ["0999_novelty"]
    house.move(match)


def test_a_migration_that_is_killed_in_the_middle_leaves_nothing(house: House, database: str, another) -> None:
    match = house.started("Ailsa", "Bran")
    another("dies", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    db.part()
    child = os.fork()
    if not child:
        try:
            db.use(database)
            db.migrate()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    db.database.connect()
    nothing_is_half(house, match.id)
    another("ends", "pass")
    assert db.migrate() == ["0999_novelty"]


def test_an_empty_database_is_pending(tmp_path: Path) -> None:
    db.use(f"sqlite:///{tmp_path}/deep/in/a/folder/clachan.db")
    with pytest.raises(db.PendingMigration, match="0001_first"):
        db.require_current()
    assert db.migrate()
    db.require_current()


def test_the_address_of_a_database_may_hold_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {}

    def refuse(**fields: object) -> None:
        given.update(fields)
        raise psycopg.OperationalError("nobody is there")

    monkeypatch.setattr(psycopg, "connect", refuse)
    monkeypatch.setattr(db, "database", peewee.DatabaseProxy())
    db.use("postgresql://clachan:p%40ss@db.example.org:5433/games")
    with pytest.raises(db.Unavailable):
        db.database.connect()
    told = conninfo.conninfo_to_dict(given["conninfo"])
    assert (told["dbname"], told["user"], told["password"]) == ("games", "clachan", "p@ss")
    assert (told["host"], told["port"]) == ("db.example.org", "5433")


def test_a_writer_waits_for_another_on_sqlite_as_on_postgresql(house: House, database: str) -> None:
    if db.on_sqlite():
        assert db.database.execute_sql("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.database.execute_sql("PRAGMA synchronous").fetchone() == (2,)
        assert db.database.execute_sql("PRAGMA foreign_keys").fetchone() == (1,)
        assert db.database.execute_sql("PRAGMA busy_timeout").fetchone() == (db.BUSY_SECONDS * 1000,)
    else:
        assert db.database.execute_sql("SHOW lock_timeout").fetchone() == (f"{db.BUSY_SECONDS}s",)
        assert db.database.execute_sql("SHOW timezone").fetchone() == ("UTC",)

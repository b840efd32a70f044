"""Connections are kept for the next who asks, and never used when the database is another one meanwhile."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from house import START, house_settings
from together import in_parallel

from server import connections, create_app, db
from server.models import Job


def opened() -> Any:
    """Return the connection that a block of this thread is given."""
    with db.connected():
        return db.database.connection()


def kept() -> int:
    return len(db.database.obj._kept)


def end_sessions() -> None:
    """End all other connections to the database, as a restart of PostgreSQL does."""
    with db.apart(url_of()) as there:
        there.execute_sql(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def url_of() -> str:
    return str(db.database.obj.database)


def test_a_connection_that_is_given_back_is_taken_by_the_next(database: str) -> None:
    first = opened()
    assert db.database.is_closed()
    assert opened() is first
    seen = []
    thread = threading.Thread(target=lambda: seen.append(opened()))
    thread.start()
    thread.join()
    assert seen == [first], "by another thread too"
    db.part()
    assert kept() == 0
    assert opened() is not first


def test_there_are_no_more_connections_than_threads_at_work(database: str) -> None:
    for _ in range(5):
        in_parallel(*[lambda: db.database.connection()] * 3)
    assert kept() <= 3


def test_a_block_in_a_block_holds_the_same_connection(database: str) -> None:
    with db.connected():
        outer = db.database.connection()
        with db.connected():
            assert db.database.connection() is outer
        assert not db.database.is_closed()


def test_connections_grow_old_and_tired(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened()
    monkeypatch.setattr(connections, "LIFE", 0.0)
    second = opened()
    assert second is not first
    monkeypatch.undo()
    monkeypatch.setattr(connections, "IDLE", 0.0)
    assert opened() is not second
    assert kept() <= 1


def test_all_that_are_tired_go_when_one_is_given_back(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Barrier(4)

    def held_together() -> None:
        db.database.connection()
        gate.wait(20)

    in_parallel(*[held_together] * 4)
    assert kept() == 4
    monkeypatch.setattr(connections, "IDLE", 0.05)
    with db.connected():
        time.sleep(0.1)
    assert kept() == 1


def test_a_process_leaves_the_connections_alone_that_it_was_born_with(database: str) -> None:
    """To close one, or to ask it anything, would end it for the parent too: it is the same socket, or the same file."""
    first = opened()
    with db.connected():
        db.database.execute_sql("SELECT 1")
        child = os.fork()
        if child == 0:
            # No test goes on in here, whatever happens.
            code = 1
            with suppress(BaseException):
                db.database.close()
                mine = opened()
                db.part()
                del mine
                code = 0 if opened() is not first and not first_is_closed(first) else 2
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert db.database.connection() is first
        assert Job.select().count() == 0
    assert opened() is first


def test_a_process_does_not_use_what_was_kept_before_it_was_born(database: str) -> None:
    first = opened()
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            code = 0 if opened() is not first and not first_is_closed(first) else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert opened() is first
    with db.connected():
        assert Job.select().count() == 0


def first_is_closed(connection: Any) -> bool:
    if not db.on_sqlite():
        return bool(connection.closed)
    try:
        return connection.total_changes < 0
    except sqlite3.ProgrammingError:
        return True


def test_an_application_begins_without_connections(database: str, tmp_path: Path) -> None:
    """Of a server that makes it and forks then each process opens its own."""
    create_app(house_settings(database, tmp_path))
    assert kept() == 0


def test_what_is_left_open_by_a_failure_is_not_kept(database: str) -> None:
    with db.connected():
        first = db.database.connection()
        db.database.execute_sql("BEGIN")
    assert kept() == 0
    assert opened() is not first


def test_models_that_turn_to_another_database_leave_no_connection_behind(database: str, tmp_path: Path) -> None:
    with db.connected():
        old = db.database.obj
    db.use(f"sqlite:///{tmp_path / 'other.db'}")
    assert len(old._kept) == 0
    with db.connected():
        assert db.database.get_tables() == []
    db.use(database)
    with db.instead(f"sqlite:///{tmp_path / 'other.db'}"):
        assert db.database.get_tables() == []
        other = db.database.obj
    assert (len(other._kept), url_of()) == (0, database if database.startswith("post") else str(db.file(database)))
    with db.connected():
        assert "job" in db.database.get_tables()


@pytest.mark.parametrize("how", ["another in its place", "none in its place"])
def test_of_a_file_that_is_replaced_the_new_one_is_read(sqlite: str, tmp_path: Path, how: str) -> None:
    file = db.file(sqlite)
    shutil.copy(file, tmp_path / "new.db")
    with db.connected():
        Job.create(name="old", began_at=START)
    for beside in ("", "-wal", "-shm"):
        Path(f"{file}{beside}").unlink(missing_ok=True)
    if how == "another in its place":
        os.replace(tmp_path / "new.db", file)
        with db.connected():
            assert Job.select().count() == 0
    else:
        with db.connected():
            assert db.database.get_tables() == []


def test_a_reader_who_does_not_read_to_the_end_keeps_nobody_in_the_past(sqlite: str) -> None:
    with db.connected():
        for name in "abc":
            Job.create(name=name, began_at=START)
        reading = iter(Job.select().order_by(Job.name).tuples().iterator())
        next(reading)
    other = threading.Thread(target=lambda: in_parallel(lambda: Job.create(name="d", began_at=START)))
    other.start()
    other.join()
    with db.connected():
        assert Job.select().count() == 4
    del reading


@pytest.mark.postgres
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_connections_that_the_server_ended_are_not_used_again(database: str) -> None:
    in_parallel(*[lambda: db.database.connection()] * 3)
    assert kept() >= 1
    end_sessions()
    with db.connected():
        assert Job.select().count() == 0


@pytest.mark.postgres
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_after_one_connection_has_broken_none_from_before_is_used(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with db.connected():
        first = db.database.connection()
        end_sessions()
        with pytest.raises(db.Unavailable):
            Job.select().count()
    assert first.closed
    assert kept() == 0
    # As when a machine dies and nothing comes from it.
    in_parallel(*[lambda: db.database.connection()] * 3)
    monkeypatch.setattr(db.database.obj, "_is_alive", lambda _: True)
    with db.connected():
        end_sessions()
        with pytest.raises(db.Unavailable):
            Job.select().count()
    with db.connected():
        assert Job.select().count() == 0


def test_the_tools_of_postgresql_are_told_of_all_machines() -> None:
    url = "postgresql://u:p%40ss@a:5433,b/name?target_session_attrs=read-write&sslmode=require"
    assert connections.told(url) == {
        "PGHOST": "a,b",
        "PGPORT": "5433,",
        "PGUSER": "u",
        "PGPASSWORD": "p@ss",
        "PGDATABASE": "name",
        "PGTARGETSESSIONATTRS": "read-write",
        "PGSSLMODE": "require",
    }

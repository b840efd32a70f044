"""Who writes waits in line; what is only noted in passing keeps nobody waiting."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from house import House
from visitor import Visitor, application

from server import db, presence
from server.line import Line, Peers
from server.models import User


@contextmanager
def held(database: str) -> Iterator[None]:
    """Write from elsewhere, as another process does, for the block."""
    with db.apart(database) as there:
        there.execute_sql("BEGIN IMMEDIATE" if db.on_sqlite() else "BEGIN")
        there.execute_sql('UPDATE "user" SET digest_hour = digest_hour')
        yield
        there.execute_sql("ROLLBACK")


def until(true: Callable[[], object]) -> None:
    """Wait for something that another thread does."""
    for _ in range(2000):
        if true():
            return
        time.sleep(0.005)
    raise AssertionError("it never came")


def started(work: Callable[[], None]) -> threading.Thread:
    """Start a thread that holds a connection for its work."""

    def run() -> None:
        with db.connected():
            work()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_threads_begin_to_write_one_after_the_other_in_the_order_they_came(
    cottage: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is not asked to begin while another thread writes: it would have them sleep, longer and longer."""
    begun: list[str] = []
    begin = db.database.obj.begin

    def noted(*given: object) -> None:
        begun.append(threading.current_thread().name)
        begin(*given)

    def write() -> None:
        with db.transaction():
            User.update(digest_hour=User.digest_hour + 1).execute()

    monkeypatch.setattr(db.database.obj, "begin", noted)
    monkeypatch.setattr(db, "_line", line := Line())
    before = cottage.people["Ailsa"].digest_hour
    threads: list[threading.Thread] = []
    with db.transaction():
        del begun[:]
        for waiting in range(1, 6):
            threads.append(started(write))
            until(lambda: line.length == waiting)  # noqa: B023 - called at once
        assert begun == []
    for thread in threads:
        thread.join()
    assert begun == [thread.name for thread in threads]
    assert User.get_by_id(cottage.people["Ailsa"].id).digest_hour == before + 5


def test_who_gives_up_leaves_the_line_and_holds_nobody_up() -> None:
    line = Line()
    assert line.enter(0)
    assert not line.enter(0.01)
    assert line.length == 0
    line.leave()
    assert line.enter(0)


def test_who_is_interrupted_leaves_the_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()

    def interrupted(*_given: object) -> None:
        raise KeyboardInterrupt

    assert line.enter(0)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Event, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            line.enter(1)
    line.leave()
    assert line.enter(0)


def test_a_writer_waits_no_longer_in_all_than_for_another(
    cottage: House, sqlite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is for the threads of its own process or for another process."""
    monkeypatch.setattr(db, "BUSY_SECONDS", 1)
    db.use(sqlite)
    waits: list[float] = []

    def write() -> None:
        since = time.monotonic()
        with pytest.raises(db.Unavailable), db.transaction():
            raise AssertionError("another process writes")
        waits.append(time.monotonic() - since)
        assert db.database.execute_sql("PRAGMA busy_timeout").fetchone() == (1000,)

    monkeypatch.setattr(db, "_line", line := Line())
    with held(sqlite):
        first = started(write)
        time.sleep(0.4)
        second = started(write)
        until(lambda: line.length == 1)
        first.join()
        second.join()
    # The second would wait for 0.6 seconds in line and then for another second.
    assert [0.8 < wait < 1.4 for wait in waits] == [True, True], waits


def test_a_page_is_not_kept_waiting_by_what_is_noted_in_passing(
    house: House, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = house.begun("Ailsa", "Bran")
    app = application(house, monkeypatch)
    reader = Visitor(app, house.people["Ailsa"])
    with held(database):
        since = time.monotonic()
        assert reader.get(f"/matches/{match.id}").status_code == 200
        assert time.monotonic() - since < 3, "a writer would wait for 8 seconds"
    assert User.get_by_id(house.people["Ailsa"].id).seen_at is None


def test_what_is_noted_in_passing_gives_up_at_once_and_what_follows_waits_again(house: House, database: str) -> None:
    asked = "PRAGMA busy_timeout" if db.on_sqlite() else "SHOW lock_timeout"
    before = db.database.execute_sql(asked).fetchone()
    with held(database):
        since = time.monotonic()
        with pytest.raises(db.Unavailable), db.passing():
            User.update(digest_hour=3).execute()
        assert time.monotonic() - since < 1
    assert db.database.execute_sql(asked).fetchone() == before
    with db.passing():
        User.update(digest_hour=4).execute()
    assert db.database.execute_sql(asked).fetchone() == before
    assert {user.digest_hour for user in User.select()} == {4}


def test_a_block_that_fails_lets_the_next_one_write(house: House) -> None:
    def fail() -> None:
        with db.transaction():
            User.update(digest_hour=3).execute()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with db.transaction():
        User.update(digest_hour=4).execute()
    assert {user.digest_hour for user in User.select()} == {4}


def test_what_is_noted_in_passing_does_not_wait_for_the_disk_and_all_else_does(house: House) -> None:
    asked = "PRAGMA synchronous" if db.on_sqlite() else "SHOW synchronous_commit"
    lasting, light = (2, 1) if db.on_sqlite() else ("on", "off")

    def told() -> object:
        return db.database.execute_sql(asked).fetchone()[0]

    assert told() == lasting
    with db.passing():
        assert told() == light
        presence.note(house.people["Ailsa"], house.now)
    assert told() == lasting
    assert User.get_by_id(house.people["Ailsa"].id).seen_at == house.now
    with db.transaction(), db.passing():
        assert told() == lasting
    with pytest.raises(ZeroDivisionError), db.passing():
        1 / 0  # noqa: B018
    assert told() == lasting


FORK = multiprocessing.get_context("fork")


def _write_on(path: str, told: Any, number: int, turns: int) -> None:
    """Have so many turns one right after the other, as a process does that always has somebody in its own line."""
    peers = Peers(path)
    for _ in range(turns):
        with peers.turn(5) as came:
            told.put((number, came))
            time.sleep(0.001)


def _hold(path: str, told: Any) -> None:
    with Peers(path).turn(5):
        told.put("in")
        signal.pause()


def test_processes_that_write_without_end_take_turns(tmp_path: Path) -> None:
    told = FORK.Queue()
    path = str(tmp_path / "line")
    children = [FORK.Process(target=_write_on, args=(path, told, number, 100)) for number in range(2)]
    for child in children:
        child.start()
    said = [told.get(timeout=20) for _ in range(200)]
    for child in children:
        child.join()
    assert all(came for _, came in said)
    changes = sum(one != other for (one, _), (other, _) in pairwise(said))
    assert changes > 20, "one of them had all its turns first"


def test_a_process_that_dies_in_its_turn_holds_nobody_up(tmp_path: Path) -> None:
    told = FORK.Queue()
    path = str(tmp_path / "line")
    child = FORK.Process(target=_hold, args=(path, told))
    child.start()
    assert told.get(timeout=10) == "in"
    with Peers(path).turn(0.05) as came:
        assert not came
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    with Peers(path).turn(0.05) as came:
        assert came


def test_a_writer_waits_for_a_process_in_its_turn_and_no_longer_than_for_others(
    cottage: House, sqlite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "BUSY_SECONDS", 0.3)
    told = FORK.Queue()
    child = FORK.Process(target=_hold, args=(f"{db.file(sqlite)}-line", told))
    child.start()
    try:
        assert told.get(timeout=10) == "in"
        since = time.monotonic()
        with pytest.raises(db.Unavailable, match="another process"), db.transaction():
            raise AssertionError("another process writes")
        assert 0.2 < time.monotonic() - since < 3
    finally:
        child.kill()
        child.join()
    with db.transaction():
        User.update(digest_hour=4).execute()
    assert {user.digest_hour for user in User.select()} == {4}


def test_where_no_file_can_be_put_beside_the_database_everybody_is_let_in(tmp_path: Path) -> None:
    peers = Peers(str(tmp_path / "nowhere" / "line"))
    with peers.turn(0) as came:
        assert came


def test_a_turn_of_a_parent_is_not_that_of_its_child(tmp_path: Path) -> None:
    told = FORK.Queue()
    peers = Peers(str(tmp_path / "line"))

    def ask() -> None:
        with peers.turn(0.05) as came:
            told.put(came)

    with peers.turn(1) as came:
        assert came
        child = FORK.Process(target=ask)
        child.start()
        assert told.get(timeout=10) is False
        child.join()


def test_processes_take_turns_again_when_their_file_was_removed(tmp_path: Path) -> None:
    told = FORK.Queue()
    path = tmp_path / "line"
    peers = Peers(str(path))
    with peers.turn(1) as came:
        assert came
    path.unlink()
    child = FORK.Process(target=_hold, args=(str(path), told))
    child.start()
    try:
        assert told.get(timeout=10) == "in"
        with peers.turn(0.05) as came:
            assert not came
    finally:
        child.kill()
        child.join()
    with peers.turn(0.05) as came:
        assert came


def test_a_file_that_is_removed_in_a_turn_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "line"
    peers = Peers(str(path))
    for _ in range(3):
        with peers.turn(0.05) as came:
            assert came
            path.unlink()


def test_where_no_file_can_be_held_everybody_is_let_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that knows no locks: SQLite alone decides, and says so if it cannot."""

    def unknown(*_given: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", unknown)
    since = time.monotonic()
    with Peers(str(tmp_path / "line")).turn(1) as came:
        assert came
    assert time.monotonic() - since < 0.5

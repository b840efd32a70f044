"""Who writes waits in line; what is only noted in passing keeps nobody waiting for the disk."""

from __future__ import annotations

import threading
import time

import pytest
from house import House

from server import db, presence
from server.models import User


def test_threads_that_write_at_once_wait_for_each_other_and_not_for_long(house: House) -> None:
    ailsa, waits = house.people["Ailsa"].id, []
    begun = threading.Barrier(8)

    def write() -> None:
        with db.connected():
            begun.wait()
            for _turn in range(20):
                since = time.perf_counter()
                with db.transaction():
                    User.update(digest_hour=User.digest_hour + 1).where(User.id == ailsa).execute()
                waits.append(time.perf_counter() - since)

    before = User.get_by_id(ailsa).digest_hour
    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert User.get_by_id(ailsa).digest_hour == before + 160
    # Asleep, as SQLite lets them wait, the unlucky ones would come last after a second and more.
    assert max(waits) < 20 * sorted(waits)[len(waits) // 2] + 1


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

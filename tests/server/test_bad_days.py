"""Bad days of the database, locked, restarted or read-only: pages are read when it can be, and all heals by itself."""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import flask
import pytest
from house import House
from test_web_guards import paths
from visitor import Visitor, application, error

from server import audit, clock, db, feeds, inbound, log, throttle
from server.models import Job, User
from server.scheduler import Scheduler


@pytest.fixture
def app(house: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(house, monkeypatch)


@contextmanager
def read_only() -> Iterator[None]:
    """Have the database take no writes for the block, as a standby or a file without the right to write does."""
    name = None if db.on_sqlite() else db.database.execute_sql("SELECT current_database()").fetchone()[0]

    def switch(on: bool) -> None:
        if name is None:
            db.database.obj.pragma("query_only", int(on), permanent=True)
        else:
            value = "on" if on else "off"
            with db.apart(str(db.database.obj.database)) as there:
                there.execute_sql("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE")
                there.execute_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = {value}")
        db.part()

    switch(True)
    try:
        yield
    finally:
        switch(False)


def test_r9_while_nothing_can_be_stored_all_pages_can_be_read(house: House, app: flask.Flask) -> None:
    house.begun("Ailsa", "Bran")
    house.finish(house.started("Ailsa", "Catrin"))
    calendar = f"/feeds/{feeds.make(house.people['Ailsa'], 'calendar', house.now)}/calendar.ics"
    visitors = [Visitor(app), Visitor(app, house.people["Ailsa"])]
    User.update(admin=True).where(User.id == house.people["Ailsa"].id).execute()
    asked = [path for path in [*paths(app, "GET"), "/matches/2", "/matches/2/replay", calendar] if path != "/readyz"]
    house.later(hours=1)
    before = [[visitor.get(path).status_code for path in asked] for visitor in visitors]
    house.later(hours=1)
    with read_only():
        found = [[visitor.get(path).status_code for path in asked] for visitor in visitors]
    changed = [path for path, *codes in zip(asked, *before, *found, strict=True) if codes[:2] != codes[2:]]
    assert changed == []
    assert max(map(max, found)) < 500


def test_r9_while_nothing_can_be_stored_a_move_is_refused_in_a_sentence(house: House, app: flask.Flask) -> None:
    match = house.begun("Ailsa", "Bran")
    played = house.played(match)
    seat = played.position.to_act[0]
    mover = Visitor(app, log.places(match)[seat].user)
    form = {"move": played.view(seat).moves[0], "expected": str(played.position.asked[seat])}
    mover.token()
    with read_only():
        answer = mover.post(f"/matches/{match.id}/moves", json=True, **form)
        assert (answer.status_code, error(answer)) == (503, "read-only")
        assert answer.headers["Retry-After"]
        page = mover.post(f"/matches/{match.id}/moves", **form)
        assert page.status_code == 503
        assert "Nothing can be stored just now, but all can be read." in page.text
        assert form["move"] in page.text, "what he was about to do is not lost"
    assert len(house.played(match).rows) == len(played.rows)
    assert mover.post(f"/matches/{match.id}/moves", **form).status_code == 302
    assert len(house.played(match).rows) > len(played.rows)
    assert audit.verify(match.id) == []


def test_r9_while_nothing_can_be_stored_the_house_says_that_it_is_not_ready(house: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    with read_only():
        answer = visitor.get("/readyz")
        assert (answer.status_code, answer.get_json()["checks"]["writable"]) == (503, False)
        assert visitor.get("/healthz").status_code == 200
    assert visitor.get("/readyz").get_json()["checks"]["writable"]


def test_r9_while_nothing_can_be_stored_the_scheduler_waits_and_says_so_once(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(clock, "now", lambda: house.now)
    house.started("Ailsa", "Bran")
    made = Scheduler(house.settings)
    made.channel, made.thinkers = house.post, house.thinkers
    names = [name for name in made.jobs if name not in {"analyses", "sweep"}]
    with read_only(), caplog.at_level(logging.WARNING):
        for _ in range(3):
            for name in names:
                made.run(name)
        assert [record.getMessage() for record in caplog.records] == [
            "the database takes no writes: all regular work waits"
        ]
        assert house.post.messages == []
    caplog.clear()
    for name in names:
        made.run(name)
    assert "the database takes writes again: regular work goes on" in caplog.text
    assert len(house.post.messages) == 2
    assert {job.fault for job in Job.select()} == {""}


def test_r9_a_mail_that_comes_while_nothing_can_be_stored_is_to_come_again(house: House) -> None:
    with read_only(), pytest.raises(db.Unavailable):
        inbound.receive(b"Subject: Hello\n\n", inbound.Envelope("smtp"), house.settings, lambda: house.now)


def test_r9_guessing_is_not_free_while_nothing_can_be_counted(house: House) -> None:
    with read_only():
        with pytest.raises(db.ReadOnly):
            throttle.count("sign-in from", "10.0.0.1", house.now)
        throttle.count("poster from", "10.0.0.1", house.now)


READER = """
import os, sys
from server import db
from server.models import Match
if os.getuid() == 0:
    os.setresuid(65534, 65534, 65534)
db.use(sys.argv[1])
with db.connected():
    print(Match.select().count(), db.is_read_only())
    try:
        with db.transaction():
            Match.update(status="x").execute()
    except db.ReadOnly:
        print("refused")
"""


@pytest.mark.parametrize("folder_mode", [0o777, 0o555])
def test_a_file_that_may_not_be_written_is_read(cottage: House, folder_mode: int) -> None:
    """Root may write any file, so another user looks."""
    cottage.begun("Ailsa", "Bran")
    with tempfile.TemporaryDirectory() as folder:
        with db.apart(cottage.settings.database) as there:
            there.execute_sql("VACUUM INTO ?", (f"{folder}/kept.db",))
        with db.apart(f"sqlite:///{folder}/kept.db") as there:
            there.execute_sql("PRAGMA journal_mode = wal")
        Path(folder).chmod(folder_mode)
        Path(f"{folder}/kept.db").chmod(0o444)
        done = subprocess.run(
            [sys.executable, "-c", READER, f"sqlite:///{folder}/kept.db"], capture_output=True, text=True, check=False
        )
    assert (done.stdout.split(), done.stderr) == (["1", "True", "refused"], "")


def test_r9_a_lock_of_half_a_minute_costs_a_busy_answer_and_no_move(
    house: House, database: str, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer waits for 8 seconds; here for three, so that all of it takes less."""
    monkeypatch.setattr(db, "BUSY_SECONDS", 3)
    db.use(database)
    match = house.begun("Ailsa", "Bran")
    played = house.played(match)
    seat = played.position.to_act[0]
    mover = Visitor(app, log.places(match)[seat].user)
    form = {"move": played.view(seat).moves[0], "expected": str(played.position.asked[seat])}
    with locked():
        began = time.monotonic()
        assert Visitor(app).get(f"/matches/{match.id}").status_code == 200
        assert time.monotonic() - began < 2.5, "readers do not wait for writers"
        began = time.monotonic()
        answer = mover.post(f"/matches/{match.id}/moves", json=True, **form)
        assert (answer.status_code, error(answer)) == (503, "busy")
        assert time.monotonic() - began > 2.5
    assert mover.post(f"/matches/{match.id}/moves", **form).status_code == 302
    assert len(house.played(match).rows) > len(played.rows)


@contextmanager
def locked() -> Iterator[None]:
    """Hold all rows of matches from elsewhere for the block."""
    with db.apart(address()) as there:
        there.execute_sql("BEGIN IMMEDIATE" if db.on_sqlite() else "BEGIN")
        there.execute_sql('UPDATE "match" SET status = status')
        yield
        there.execute_sql("ROLLBACK")


def address() -> str:
    name = str(db.database.obj.database)
    return f"sqlite:///{name}" if db.on_sqlite() else name

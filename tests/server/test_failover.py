"""A server of PostgreSQL that fails: all heals by itself when it comes back, and when its standby takes over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import flask
import psycopg
import pytest
from house import House, house_settings
from postgresql import Server, binaries
from together import in_parallel
from visitor import Visitor, application, error

from server import audit, clock, db, log
from server.models import Match
from server.scheduler import Scheduler

pytestmark = pytest.mark.postgres


class Pair:
    """A server and its standby behind one address."""

    def __init__(self, first: Server, second: Server) -> None:
        self.first, self.second = first, second
        self.url = f"postgresql://clachan@127.0.0.1:{first.port},127.0.0.1:{second.port}/postgres"

    def promote(self) -> None:
        """Let the standby take over."""
        with psycopg.connect(self.second.url, autocommit=True) as connection:
            assert connection.execute("SELECT pg_promote(true, 20)").fetchone() == (True,)


@pytest.fixture
def pair() -> Iterator[Pair]:
    programs = binaries()
    assert programs
    first = Server(programs, synchronous_standby_names="*")
    second = Server(programs, follows=first)
    yield Pair(first, second)
    second.stop()
    first.stop()


@pytest.fixture
def house(pair: Pair, tmp_path: Path) -> Iterator[House]:
    """A house on both, whose moves are on both before they are acknowledged."""
    chosen = house_settings(f"{pair.url}?target_session_attrs=read-write", tmp_path)
    db.use(chosen.database)
    db.migrate()
    with db.connected():
        yield House(chosen)
    db.use(f"sqlite:///{tmp_path / 'none.db'}")


@pytest.fixture
def app(house: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(house, monkeypatch)


def sent(house: House, app: flask.Flask, match: Match) -> tuple[int, str]:
    """Send the move that is awaited; return status and code of the answer."""
    played = house.played(match)
    seat = played.position.to_act[0]
    mover = Visitor(app, log.places(match)[seat].user)
    form = {"move": played.view(seat).moves[0], "expected": str(played.position.asked[seat])}
    answer = mover.post(f"/matches/{match.id}/moves", json=True, **form)
    return answer.status_code, error(answer) if answer.status_code >= 400 else ""


def test_r9_a_server_that_is_restarted_is_used_again(house: House, app: flask.Flask, pair: Pair) -> None:
    match = house.begun("Ailsa", "Bran")
    in_parallel(*[lambda: db.database.connection()] * 3)
    pair.second.crash()
    pair.first.crash()
    visitor = Visitor(app)
    answer = visitor.get(f"/matches/{match.id}", headers={"Accept": "application/json"})
    assert (answer.status_code, error(answer)) == (503, "busy")
    pair.first.start()
    pair.second.start()
    assert visitor.get(f"/matches/{match.id}").status_code == 200
    before = len(house.played(match).rows)
    assert sent(house, app, match)[0] < 400
    assert len(house.played(match).rows) > before
    assert audit.verify(match.id) == []


def test_r9_a_standby_lets_all_be_read_and_then_takes_over(
    house: House, app: flask.Flask, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", lambda: house.now)
    match = house.begun("Ailsa", "Bran")
    before = len(house.played(match).rows)
    made = Scheduler(house.settings)
    made.channel, made.thinkers = house.post, house.thinkers
    pair.first.crash()
    db.database.close()
    visitor = Visitor(app)
    answers = [visitor.get(f"/matches/{match.id}") for _ in range(3)]
    assert answers[-1].status_code == 200, "by the standby"
    assert visitor.get("/readyz").get_json()["checks"]["writable"] is False
    assert sent(house, app, match) == (503, "read-only")
    made.run("outbox")
    db.database.close()
    assert house.post.messages == []
    pair.promote()
    with psycopg.connect(pair.second.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
        connection.execute("SELECT pg_reload_conf()")
    time.sleep(0.2)
    assert sent(house, app, match)[0] < 400
    assert len(house.played(match).rows) > before
    assert visitor.get("/readyz").get_json()["checks"]["writable"]
    made.run("outbox")
    assert house.post.messages
    assert audit.verify(match.id) == []

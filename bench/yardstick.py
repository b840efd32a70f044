"""The plain version of what the house does, which its speed is compared with.

A small Flask and peewee application as one writes it in an afternoon: the same rules, a log that is replayed at each
move, its own tables in SQLite. It stores as safely as the house does (WAL, synchronous=FULL, BEGIN IMMEDIATE), and it
is neither slowed down nor tuned. Served by gunicorn: `gunicorn "bench.yardstick:create_app('/a/file.db')"`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import flask
import peewee

from bench.scripts import Script
from engine import games, replay
from engine.base import MoveError
from engine.replay import Row

PACE = timedelta(days=1)
database = peewee.SqliteDatabase(None)


class Base(peewee.Model):
    """What all tables share."""

    class Meta:
        database = database


class User(Base):
    """A person, who is signed in by a token."""

    name = peewee.CharField(unique=True)
    email = peewee.CharField(unique=True)
    token = peewee.CharField(unique=True)


class Match(Base):
    """A match; the columns from `to_act` on follow from the log."""

    id = peewee.AutoField()
    game = peewee.CharField()
    setup = peewee.TextField()
    options = peewee.TextField()
    seats = peewee.IntegerField()
    to_act = peewee.CharField(default="")
    length = peewee.IntegerField(default=0)
    deadline = peewee.DateTimeField(null=True, index=True)
    finished = peewee.BooleanField(default=False)


class Seat(Base):
    """A person's place in a match."""

    match = peewee.ForeignKeyField(Match)
    number = peewee.IntegerField()
    user = peewee.ForeignKeyField(User)

    class Meta:
        indexes = ((("match", "number"), True),)


class Log(Base):
    """A row of a match."""

    match = peewee.ForeignKeyField(Match)
    seq = peewee.IntegerField()
    seat = peewee.IntegerField()
    text = peewee.TextField()
    at = peewee.DateTimeField()

    class Meta:
        indexes = ((("match", "seq"), True),)


class Outbox(Base):
    """A mail to be sent."""

    user = peewee.ForeignKeyField(User)
    match = peewee.ForeignKeyField(Match)
    created = peewee.DateTimeField()
    sent = peewee.DateTimeField(null=True)


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title></head>
<body><h1>{{ title }}</h1>
<table><tr><th>Step</th><th>Seat</th><th>Move</th><th>When</th></tr>
{% for row in rows %}
<tr><td>{{ row.seq }}</td><td>{{ row.seat }}</td><td>{{ row.text }}</td>
<td>{{ row.at.strftime("%d %B %Y, %H:%M") }}</td></tr>
{% endfor %}
</table></body></html>
"""


def create_app(path: str) -> flask.Flask:
    """Return the application on a database file."""
    open_database(path)
    app = flask.Flask(__name__)

    @app.before_request
    def connect() -> None:
        database.connect()

    @app.teardown_request
    def close(_fault: BaseException | None) -> None:
        if not database.is_closed():
            database.close()

    @app.get("/matches/<int:number>")
    def show(number: int) -> str:
        rows = Log.select().where(Log.match == number).order_by(Log.seq)
        return flask.render_template_string(PAGE, title=f"Match {number}", rows=rows)

    @app.post("/matches/<int:number>/moves")
    def move(number: int) -> Any:
        user = User.get_or_none(User.token == flask.request.cookies.get("token", ""))
        if user is None:
            return flask.jsonify(error="not signed in"), 401
        with database.atomic("IMMEDIATE"):
            return play(number, user, flask.request.form["move"], int(flask.request.form["expected"]))

    return app


def play(number: int, user: User, text: str, expected: int) -> Any:
    """Make a move of the user, inside a transaction; return the answer."""
    match = Match.get_or_none(Match.id == number)
    if match is None:
        return flask.jsonify(error="no such match"), 404
    seats = list(Seat.select(Seat, User).join(User).where(Seat.match == match).order_by(Seat.number))
    seat = next((seat.number for seat in seats if seat.user == user), None)
    if seat is None:
        return flask.jsonify(error="not your match"), 403
    game = games.game(match.game)
    log = [
        Row(row.seq, row.seat, replay.MOVE, row.text)
        for row in Log.select().where(Log.match == match).order_by(Log.seq)
    ]
    position = replay.replay(game, json.loads(match.setup), match.seats, json.loads(match.options), log)
    if seat not in position.to_act or position.asked[seat] != expected:
        return flask.jsonify(error="not your turn"), 409
    try:
        text = game.format(position.state, seat, game.parse(position.state, seat, text))
    except MoveError as fault:
        return flask.jsonify(error=str(fault)), 400
    position = replay.advance(position, Row(position.seq + 1, seat, replay.MOVE, text))
    now = datetime.now(UTC)
    Log.create(match=match, seq=position.seq, seat=seat, text=text, at=now)
    match.length, match.finished = position.seq, position.outcome is not None
    match.to_act = ",".join(map(str, position.to_act))
    match.deadline = None if position.outcome else now + PACE
    match.save()
    for awaited in position.to_act[:1]:
        Outbox.create(user=seats[awaited].user, match=match, created=now)
    return flask.jsonify(match=number, seq=position.seq, text=text)


def open_database(path: str) -> None:
    """Use a database file, with its tables."""
    database.init(path, pragmas={"journal_mode": "wal", "synchronous": "full", "foreign_keys": 1}, timeout=8)
    with database:
        database.create_tables([User, Match, Seat, Log, Outbox])


def fill(path: str, scripts: Sequence[Script]) -> list[list[str]]:
    """Make a match of each script; return the tokens of their seats, match 1 first."""
    open_database(path)
    tokens = [[secrets.token_hex(16) for _seat in range(script.seats)] for script in scripts]
    with database, database.atomic():
        for script, own in zip(scripts, tokens, strict=True):
            match = Match.create(
                game=script.game, setup=json.dumps(script.setup), options=json.dumps(script.options), seats=script.seats
            )
            for number, token in enumerate(own):
                user = User.create(name=token, email=f"{token}@example.org", token=token)
                Seat.create(match=match, number=number, user=user)
            for seq, step in enumerate(script.steps[: script.made], start=1):
                Log.create(match=match, seq=seq, seat=step.seat, text=step.text, at=datetime.now(UTC))
    return tokens

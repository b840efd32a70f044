"""Who may ask the API for what: every operation against every role. An operation without an entry fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import flask
import pytest
from house import House
from programs import Program
from werkzeug.test import TestResponse

from server import tokens
from server.api.app import ROOMS
from server.api.rooms import Operation
from server.models import TABLES, Attempt, Token

# A stranger without a token, a player with a token for other scopes, somebody who only looks on, a player who is not
# awaited, and the host, who is; the match is running.
ROLES = ("stranger", "unscoped", "spectator", "player", "awaited")
OPERATIONS = {one.name: one for room in ROOMS for one in room.operations}
PUBLIC = (200, 403, 200, 200, 200)
OWN = (401, 403, 200, 200, 200)
MADE = (401, 403, 201, 201, 201)
EXPECTED: dict[str, tuple[int, ...]] = {
    "me.show": OWN,
    "me.pulse": OWN,
    "games.index": PUBLIC,
    "games.show": PUBLIC,
    "matches.index": OWN,  # without a token the public ones alone
    "matches.show": PUBLIC,
    "matches.pulse": PUBLIC,
    "matches.position": PUBLIC,
    "matches.clocks": PUBLIC,
    "matches.rows": PUBLIC,
    "matches.step": PUBLIC,
    "matches.seen": OWN,
    "moves.make": (401, 403, 403, 409, 200),
    "moves.preview": (401, 403, 403, 409, 200),
    "moves.suppose": OWN,
    "moves.take_back": (401, 403, 403, 409, 409),  # there is no move yet
    "moves.prepare": (401, 403, 403, 200, 422),  # it is his turn
    "moves.put_away": OWN,
    "affairs.resign": (401, 403, 403, 200, 200),
    "affairs.cancel": (401, 403, 403, 200, 200),
    "affairs.nudge": (401, 403, 403, 429, 429),  # they have just been told
    "affairs.come_back": (401, 403, 403, 403, 403),
    "affairs.offer": (401, 403, 403, 422, 422),
    "affairs.take": (401, 403, 409, 409, 409),
    "affairs.vote": (401, 403, 403, 200, 200),
    "asides.lines": PUBLIC,
    "asides.say": (401, 403, 403, 200, 200),
    "asides.note": OWN,
    "asides.write": OWN,
    "asides.switch": (401, 403, 403, 200, 200),
    "asides.another": (401, 403, 409, 409, 409),
    "files.as_record": (404, 403, 404, 404, 404),  # the match still runs
    "files.as_text": (404, 403, 404, 404, 404),
    "files.drawing": PUBLIC,
    "files.picture": PUBLIC,
    "tables.index": PUBLIC,
    "tables.create": MADE,
    "tables.show": PUBLIC,
    "tables.join": (401, 403, 409, 409, 409),
    "tables.leave": (401, 403, 409, 409, 409),
    "tables.start": (401, 403, 409, 409, 409),
    "tables.fill": (401, 403, 409, 409, 409),
    "tables.invite": (401, 403, 409, 409, 409),
    "tables.invited": (410, 403, 410, 410, 410),
    "tables.against_bots": OWN,
    "tables.bots": PUBLIC,
    "tables.free_seats": PUBLIC,
    "tournaments.index": PUBLIC,
    "tournaments.announce": MADE,
    "tournaments.show": (404, 403, 404, 404, 404),
    "tournaments.enter": (401, 403, 404, 404, 404),
    "tournaments.withdraw": (401, 403, 404, 404, 404),
    "tournaments.call_off": (401, 403, 404, 404, 404),
    "archive.index": PUBLIC,
    "archive.look_back": (404, 403, 404, 404, 404),
    "archive.proof": (404, 403, 404, 404, 404),
    "archive.look_up": PUBLIC,
    "people.show": PUBLIC,
    "people.finished": PUBLIC,
    "people.ladder": PUBLIC,
    "account.show": OWN,
    "account.change": OWN,
    "account.try_mail_again": OWN,
    "account.choose_letters": (401, 403, 403, 200, 200),
    "account.vacation": OWN,
    "account.announce_vacation": MADE,
    "account.end_vacation": (401, 403, 422, 422, 422),
    "account.made_feeds": OWN,
    "account.make_feed": MADE,
    "account.end_feed": OWN,
    "account.webhook": OWN,
    "account.give_webhook": MADE,
    "account.end_webhook": OWN,
    "ways.index": OWN,
    "ways.add": MADE,
    "ways.change": (401, 403, 404, 404, 404),  # nobody has such a way
    "ways.try_out": (401, 403, 404, 404, 404),
    "ways.remove": (401, 403, 404, 404, 404),
}
BODIES: dict[str, Any] = {
    "moves.make": {"move": "A1-A2", "expected": 0},
    "moves.take_back": {"row": 1},
    "moves.prepare": {"move": "A1-A2"},
    "affairs.vote": {"topic": "end"},
    "asides.say": {"text": "Well met"},
    "asides.write": {"text": "Mind the lakes"},
    "asides.switch": {"show": False},
    "tables.create": {"game": "clans", "seats": 2},
    "tables.join": {},
    "tables.fill": {"strength": "easy"},
    "tables.invite": {},
    "tables.against_bots": {},
    "tournaments.announce": {
        "name": "The cup",
        "game": "clans",
        "seats": 2,
        "form": "swiss",
        "rounds": 3,
        "least": 4,
        "most": 8,
        "starts_at": "2026-03-05T18:00:00Z",
    },
    "tournaments.enter": {},
    "account.change": {"zone": "Europe/Prague"},
    "account.choose_letters": {"turn_mail": "daily"},
    "account.announce_vacation": {"first": "2026-03-05", "last": "2026-03-09"},
    "account.make_feed": {"kind": "calendar"},
    "account.end_feed": {"kind": "calendar"},
    "account.give_webhook": {"url": "https://example.org/hook"},
    "ways.add": {"kind": "ntfy", "given": {"url": "a-topic-of-mine"}},
    "ways.change": {"news": ["turn"]},
}
QUERIES: dict[str, dict[str, Any]] = {
    "moves.preview": {"move": "A1-A2", "expected": 0},
    "archive.look_up": {"hash": "0" * 64},
}
GIVEN = {"match_id": 1, "seq": 0, "seat": 0, "kind": "clans", "which": 1, "name": "Ailsa", "token": "x", "way": 99}
RECORD = json.loads((Path(__file__).parent.parent / "records" / "clans-05.json").read_text())
SETUP = {**RECORD["setup"], "first": 0}


def program(app: flask.Flask, house: House, role: str, scope: str) -> Program:
    people = {"unscoped": "Ailsa", "spectator": "Dugald", "player": "Ailsa", "awaited": "Bran"}
    if role not in people:
        return Program(app)
    others = [other for other in tokens.SCOPES if other != scope]
    return Program(app, house.people[people[role]], *(others if role == "unscoped" else tokens.SCOPES))


def asked(app: flask.Flask, house: House, role: str, one: Operation) -> int:
    match = house.started("Bran", "Ailsa", "Catrin", setup=SETUP)
    return answered(app, program(app, house, role, one.scope), one, match.id).status_code


def answered(app: flask.Flask, asking: Program, one: Operation, match_id: int) -> TestResponse:
    given, addresses = {**GIVEN, "match_id": match_id}, app.extensions["below"].url_map
    rule = next(addresses.iter_rules(f"api.{one.name}"))
    path = addresses.bind("x").build(rule.endpoint, {name: given[name] for name in rule.arguments}, one.method)
    if one.method == "GET":
        return asking.get(path, **QUERIES.get(one.name, {}))
    return asking.post(path, BODIES.get(one.name))


def test_every_operation_has_an_entry() -> None:
    assert set(EXPECTED) == set(OPERATIONS)


@pytest.mark.parametrize("name", EXPECTED)
def test_roles_of_programs_in_a_running_match(cottage: House, app: flask.Flask, name: str) -> None:
    assert tuple(asked(app, cottage, role, OPERATIONS[name]) for role in ROLES) == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if "match_id" in one.path])
def test_a_table_for_others_alone_is_answered_as_one_that_is_not_there(
    cottage: House, app: flask.Flask, name: str
) -> None:
    hidden, one = cottage.table("Bran", seats=3, invited_only=True), OPERATIONS[name]
    for role in ("stranger", "spectator"):
        asking = program(app, cottage, role, one.scope)
        there, nowhere = (answered(app, asking, one, number) for number in (hidden.id, hidden.id + 1))
        assert there.status_code in ({404, 401} if role == "stranger" else {404})
        assert (there.status_code, there.text) == (nowhere.status_code, nowhere.text)


def stored() -> dict[str, list[str]]:
    """Return all that the database holds but the use of tokens and the counts of tries."""
    tables = set(TABLES) - {Token, Attempt}
    return {table.__name__: sorted(map(repr, table.select().tuples())) for table in tables}


def test_no_look_by_a_program_changes_anything(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Bran", "Ailsa", "Catrin", setup=SETUP)
    cottage.finish(cottage.started("Ailsa", "Bran"))
    asking, before = Program(app, cottage.people["Ailsa"]), stored()
    for one in OPERATIONS.values():
        if one.method == "GET":
            for number in (match.id, match.id + 1):
                assert answered(app, asking, one, number).status_code < 500, one.name
    assert stored() == before

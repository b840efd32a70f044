"""Who may ask for what: every address of the site against every role. An address without an entry fails."""

from __future__ import annotations

import json
from pathlib import Path

import flask
import pytest
from house import House
from visitor import Visitor, application

from server import links, lobby, visitors
from server.models import Match, User

ROLES = ("stranger", "member", "player", "opponent", "host")

# What each role is answered, in the order of ROLES, for a running match (of Bran, who plays seat 0 and is the host of
# it, and Ailsa) or, where the address is about tables, an open one for invited people. 200 shown, 302 done or sent on,
# 401 sign in first, 403 not yours, 404 hidden, 409 not now, 410 link spent, 422 badly filled in.
ANYBODY = (200,) * 5
SIGNED_IN = (302, 200, 200, 200, 200)
EXPECTED = {
    ("GET", "front.index"): ANYBODY,
    ("GET", "front.all_rules"): ANYBODY,
    ("GET", "front.rules"): ANYBODY,
    ("GET", "manual.show"): ANYBODY,
    ("GET", "examples.show"): ANYBODY,
    ("GET", "static"): ANYBODY,
    ("GET", "language.words"): ANYBODY,
    ("GET", "homescreen.manifest"): ANYBODY,
    ("GET", "homescreen.worker"): ANYBODY,
    ("GET", "homescreen.offline"): ANYBODY,
    ("GET", "share.house"): ANYBODY,
    ("GET", "share.game"): ANYBODY,
    ("GET", "share.match"): ANYBODY,
    ("POST", "language.choose"): (422,) * 5,
    ("GET", "health.alive"): ANYBODY,
    ("GET", "health.ready"): (503,) * 5,  # nobody ticks here
    ("GET", "health.metrics"): (404,) * 5,  # there is no token
    **{
        ("GET", f"admin.{name}"): (404,) * 5  # there are no such pages but for keepers
        for name in ("index", "matches", "match", "people", "person", "mail_out", "mail_in", "mail_read", "deeds")
    },
    **{
        ("POST", f"admin.{name}"): (404,) * 5
        for name in ("freeze", "unfreeze", "stop_mail", "end_sessions", "delete", "retry")
    },
    ("GET", "people.show"): ANYBODY,
    ("GET", "people.ladder"): ANYBODY,
    ("GET", "archive.index"): ANYBODY,
    ("GET", "archive.download"): (404,) * 5,  # the match still runs
    ("GET", "archive.text"): (404,) * 5,
    ("GET", "archive.mine"): SIGNED_IN,
    ("GET", "archive.verify"): ANYBODY,
    ("GET", "account.sign_up"): ANYBODY,
    ("POST", "account.sign_up_post"): (422,) * 5,
    ("GET", "account.sent"): ANYBODY,
    ("GET", "account.confirm"): (410,) * 5,
    ("POST", "account.confirm_post"): (410,) * 5,
    ("GET", "account.sign_in"): ANYBODY,
    ("POST", "account.sign_in_post"): (403,) * 5,
    ("POST", "account.sign_out"): (302,) * 5,
    ("GET", "account.forgot"): ANYBODY,
    ("POST", "account.forgot_post"): (422,) * 5,
    ("GET", "account.reset"): (410,) * 5,
    ("POST", "account.reset_post"): (422,) * 5,
    ("GET", "account.unsubscribe_page"): (410,) * 5,
    ("POST", "account.unsubscribe"): (410,) * 5,
    ("GET", "account.settings"): SIGNED_IN,
    ("POST", "account.settings_post"): (302,) * 5,
    ("POST", "telling.letters"): (302, 403, 302, 302, 302),
    ("POST", "telling.feed"): (302,) * 5,
    ("POST", "telling.webhook"): (302,) * 5,
    ("POST", "ways.add"): (302,) * 5,
    ("POST", "ways.act"): (302, 404, 404, 404, 404),  # nobody has such a way
    ("POST", "devices.store"): (302, 422, 422, 422, 422),
    ("POST", "tokens.make"): (302,) * 5,
    ("POST", "tokens.revoke"): (302, 404, 404, 404, 404),  # it is nobody's
    ("GET", "feeds.calendar"): (404,) * 5,  # a token is needed, and nothing else
    ("GET", "feeds.matches"): (404,) * 5,
    ("GET", "feeds.match"): ANYBODY,
    ("POST", "account.vacation_post"): (302,) * 5,
    ("POST", "account.password_post"): (302, 403, 403, 403, 403),
    ("POST", "account.sessions_post"): (302,) * 5,
    ("POST", "account.mail_post"): (302,) * 5,
    ("POST", "account.delete_post"): (302, 403, 403, 403, 403),
    ("GET", "tables.index"): ANYBODY,
    ("GET", "tables.new"): SIGNED_IN,
    ("POST", "tables.new_post"): (302,) * 5,
    ("GET", "tables.invited"): (410,) * 5,
    ("POST", "tables.join"): (302, 409, 409, 409, 409),
    ("POST", "tables.leave"): (302, 409, 409, 409, 409),
    ("POST", "tables.start"): (302, 409, 409, 409, 409),
    ("POST", "tables.fill"): (302, 409, 409, 409, 409),
    ("POST", "tables.invite"): (302, 409, 409, 409, 409),
    ("GET", "match.show"): ANYBODY,
    ("GET", "live.pulse"): ANYBODY,
    ("GET", "live.stream"): (204,) * 5,  # this server cannot hold any
    ("GET", "live.match_pulse"): ANYBODY,
    ("GET", "live.match_stream"): (204,) * 5,
    ("GET", "match.preview"): (302, 403, 409, 409, 200),
    ("POST", "match.move"): (302, 403, 409, 409, 302),
    ("POST", "match.say"): (302, 403, 302, 302, 302),
    ("POST", "affairs.resign"): (302, 403, 302, 302, 302),
    ("POST", "affairs.cancel"): (302, 403, 302, 302, 302),
    ("POST", "affairs.undo"): (302, 403, 409, 409, 409),  # there is no move yet
    ("POST", "affairs.nudge"): (302, 403, 429, 429, 429),  # they have just been told
    ("POST", "affairs.come_back"): (302, 403, 403, 403, 403),
    ("POST", "affairs.offer"): (302, 403, 422, 422, 422),
    ("POST", "affairs.take"): (302, 409, 409, 409, 409),
    ("POST", "affairs.vote"): (302, 403, 302, 302, 302),
    ("POST", "affairs.prepare"): (302, 403, 302, 302, 422),
    ("POST", "after.note"): (302,) * 5,
    ("POST", "guide.switch"): (302, 403, 302, 302, 302),
    ("POST", "after.another"): (302, 409, 409, 409, 409),
    ("POST", "visit.play"): (302,) * 5,
    ("GET", "visit.keep"): (302,) * 5,  # to the form that signs in, or to the settings
    ("POST", "visit.keep_post"): (302,) * 5,
    ("GET", "match.replay"): (302,) * 5,
    ("GET", "match.step"): ANYBODY,
    ("GET", "whatif.show"): SIGNED_IN,
    ("GET", "tournaments.index"): ANYBODY,
    ("GET", "tournaments.new"): SIGNED_IN,
    ("POST", "tournaments.new_post"): (302,) * 5,
    ("GET", "tournaments.show"): (404,) * 5,  # none has that number; test_web_tournaments.py tells of one that is there
    **{("POST", f"tournaments.{name}"): (302, 404, 404, 404, 404) for name in ("enter", "withdraw", "call_off")},
}
ON_A_HIDDEN_TABLE = {
    ("GET", "match.show"): (404, 404, 200, 404, 200),
    ("GET", "live.match_pulse"): (404, 404, 200, 404, 200),
    ("GET", "live.match_stream"): (404, 404, 204, 404, 204),
    ("GET", "whatif.show"): (302, 404, 302, 404, 302),  # nothing to try out yet
    ("GET", "share.match"): (404,) * 5,
    ("GET", "archive.verify"): (404,) * 5,  # nothing to check before the first move
    ("POST", "tables.join"): (302, 404, 409, 404, 409),
    ("POST", "tables.leave"): (302, 404, 302, 404, 302),
    ("POST", "tables.start"): (302, 404, 403, 404, 302),
    ("POST", "tables.fill"): (302, 404, 403, 404, 302),
    ("POST", "tables.invite"): (302, 404, 403, 404, 302),
    ("POST", "match.say"): (302, 404, 302, 404, 302),
    **{
        ("POST", f"affairs.{name}"): (302, 404, 409, 404, 409)
        for name in ("resign", "cancel", "undo", "nudge", "come_back", "offer", "take", "vote")
    },
    ("POST", "affairs.prepare"): (302, 404, 403, 404, 403),
    ("POST", "after.note"): (302, 404, 302, 404, 302),
    ("POST", "guide.switch"): (302, 404, 403, 404, 403),
    ("POST", "telling.letters"): (302, 404, 302, 404, 302),
    ("GET", "feeds.match"): (404,) * 5,
    ("POST", "after.another"): (302, 404, 409, 404, 409),
}
# Where a visitor is answered otherwise than a member, in a match of others: what takes an account is refused to him, or
# he is shown how he gets one.
TO_A_VISITOR = {
    ("GET", "account.sign_up"): 302,
    ("GET", "account.settings"): 302,
    ("GET", "tables.new"): 302,
    ("GET", "tournaments.new"): 302,
    ("GET", "visit.keep"): 200,
    ("POST", "visit.keep_post"): 422,
    ("POST", "affairs.take"): 403,
    ("POST", "after.note"): 403,
    **{
        ("POST", endpoint): 403
        for endpoint in (
            "account.settings_post",
            "telling.letters",
            "telling.feed",
            "telling.webhook",
            "ways.add",
            "ways.act",
            "devices.store",
            "tokens.make",
            "tokens.revoke",
            "account.vacation_post",
            "account.password_post",
            "account.mail_post",
            "account.delete_post",
            "tables.new_post",
            "tournaments.new_post",
        )
    },
}
# What he is answered in his own match, in which he is awaited.
IN_HIS_OWN_MATCH = {
    ("GET", "match.show"): 200,
    ("GET", "live.match_pulse"): 200,
    ("GET", "live.match_stream"): 204,
    ("POST", "match.say"): 302,
    ("POST", "affairs.resign"): 302,
    ("POST", "affairs.undo"): 409,
    ("POST", "affairs.nudge"): 429,  # a bot needs no reminding
    ("POST", "affairs.come_back"): 403,
    ("POST", "affairs.offer"): 422,
    ("POST", "affairs.take"): 403,
    ("POST", "affairs.vote"): 302,
    ("POST", "affairs.prepare"): 422,
    ("POST", "after.note"): 302,
    ("POST", "telling.letters"): 403,
    ("GET", "feeds.match"): 200,
    ("POST", "guide.switch"): 302,
    ("POST", "after.another"): 409,
    ("POST", "tables.join"): 409,
    ("POST", "tables.invite"): 409,
    ("GET", "match.replay"): 302,
    ("GET", "share.match"): 200,
    ("GET", "match.step"): 200,
    ("GET", "whatif.show"): 200,
    ("GET", "archive.verify"): 200,
    ("GET", "archive.mine"): 200,
    ("GET", "people.show"): 200,
}


# What a keeper of the house is answered who plays nowhere; 4 is the number of Dugald, another than he.
TO_A_KEEPER = {
    **{
        ("GET", f"admin.{name}"): 200
        for name in ("index", "matches", "match", "people", "person", "mail_out", "mail_in", "deeds")
    },
    ("GET", "admin.mail_read"): 404,  # none has come in
    ("POST", "admin.freeze"): 302,
    ("POST", "admin.unfreeze"): 409,  # nobody holds the match
    ("POST", "admin.stop_mail"): 302,
    ("POST", "admin.end_sessions"): 302,
    ("POST", "admin.delete"): 302,
    ("POST", "admin.retry"): 302,
}


# The forms, as they should be, of addresses where the right to do something is the question.
RECORD = json.loads((Path(__file__).parent.parent / "records" / "clans-05.json").read_text())
SETUP = {**RECORD["setup"], "first": 0}
MOVE = {"move": "A1-A2", "expected": "0"}
FORMS = {
    "match.preview": MOVE,
    "match.move": MOVE,
    "match.say": {"text": "Well met"},
    "after.note": {"text": "Mind the lakes"},
    "tables.new_post": {"game": "clans", "seats": "2", "move": "86400"},
    "tournaments.new_post": {
        "name": "The cup",
        "game": "clans",
        "seats": "2",
        "system": "swiss",
        "rounds": "3",
        "least": "4",
        "most": "8",
        "day": "2026-03-05",
        "hour": "18",
        "move": "86400",
    },
    "account.settings_post": {"zone": "UTC", "language": "en"},
    "telling.letters": {"turn_mail": "daily"},
    "telling.feed": {"kind": "calendar"},
    "telling.webhook": {"url": "https://example.org/hook"},
    "ways.add": {"kind": "ntfy", "url": "a-topic-of-mine"},
    "tokens.make": {"label": "A bot", "read": "yes"},
    "account.vacation_post": {"from": "2026-03-05", "until": "2026-03-09"},
    "tables.fill": {"strength": "steady"},
    "admin.freeze": {"why": "A fault is looked into"},
    "admin.stop_mail": {"why": "A wrong address"},
    "admin.delete": {"name": "Dugald"},
    "affairs.undo": {"row": "1"},
    "affairs.vote": {"topic": "end"},
    "affairs.prepare": {"move": "A1-A2"},
}


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def ask(app: flask.Flask, house: House, role: str, method: str, endpoint: str, match_id: int) -> int:
    people = {"member": "Dugald", "player": "Ailsa", "opponent": "Catrin", "host": "Bran"}
    visitor = Visitor(app, house.people[people[role]] if role in people else None)
    return answered(app, visitor, method, endpoint, match_id)


def answered(app: flask.Flask, visitor: Visitor, method: str, endpoint: str, match_id: int) -> int:
    given = {"match_id": match_id, "seq": 0, "seat": 0, "kind": "clans", "token": "x", "filename": "house.css"}
    given |= {"edition": "x", "code": "cs", "name": "Ailsa", "key": "lake", "who": 4, "mail": 1, "which": 1, "way": 1}
    rule = next(rule for rule in app.url_map.iter_rules(endpoint))
    with app.test_request_context():
        path = app.url_map.bind("localhost").build(endpoint, {name: given[name] for name in rule.arguments}, method)
    form = FORMS.get(endpoint, {})
    asked = visitor.get(path, query_string=form) if method == "GET" else visitor.post(path, **form)
    return asked.status_code


def test_every_address_has_an_entry(app: flask.Flask) -> None:
    known = {
        (method, rule.endpoint) for rule in app.url_map.iter_rules() for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert known == set(EXPECTED)


@pytest.mark.parametrize(("method", "endpoint"), EXPECTED, ids=lambda value: value)
def test_roles_in_a_running_match(cottage: House, app: flask.Flask, method: str, endpoint: str) -> None:
    answers = []
    for role in ROLES:
        match = cottage.started("Bran", "Ailsa", "Catrin", setup=SETUP)
        answers.append(ask(app, cottage, role, method, endpoint, match.id))
        for user in User.select():
            links.revoke("confirm", user)
    assert tuple(answers) == EXPECTED[(method, endpoint)]


@pytest.mark.parametrize(("method", "endpoint"), ON_A_HIDDEN_TABLE, ids=lambda value: value)
def test_roles_at_a_table_for_invited_people(cottage: House, app: flask.Flask, method: str, endpoint: str) -> None:
    answers = []
    for role in ROLES:
        match = cottage.table("Bran", seats=3, invited_only=True)
        token = lobby.invitation(match.id, cottage.people["Bran"], cottage.now)
        lobby.join(match.id, cottage.people["Ailsa"], now=cottage.now, invitation=token)
        answers.append(ask(app, cottage, role, method, endpoint, match.id))
    assert tuple(answers) == ON_A_HIDDEN_TABLE[(method, endpoint)]


@pytest.mark.parametrize(("method", "endpoint"), EXPECTED, ids=lambda value: value)
def test_a_keeper_of_the_house_is_answered_as_a_member_but_on_his_own_pages(
    cottage: House, app: flask.Flask, method: str, endpoint: str
) -> None:
    match = cottage.started("Bran", "Ailsa", "Catrin", setup=SETUP)
    keeper = cottage.person("Eimhir", admin=True)
    answer = answered(app, Visitor(app, keeper), method, endpoint, match.id)
    assert answer == TO_A_KEEPER.get((method, endpoint), EXPECTED[(method, endpoint)][1])


def a_visitor(house: House) -> tuple[User, Match]:
    """Return somebody without an account, and his match, in which it is his turn."""
    visitor, match = visitors.try_game("clans", by=None, key="x", source="192.0.2.7", now=house.now)
    house.bots()
    return visitor, match


@pytest.mark.parametrize(("method", "endpoint"), EXPECTED, ids=lambda value: value)
def test_a_visitor_is_answered_as_a_member_but_where_it_takes_an_account(
    cottage: House, app: flask.Flask, method: str, endpoint: str
) -> None:
    match = cottage.started("Bran", "Ailsa", "Catrin", setup=SETUP)
    visitor, _ = a_visitor(cottage)
    answer = answered(app, Visitor(app, visitor), method, endpoint, match.id)
    assert answer == TO_A_VISITOR.get((method, endpoint), EXPECTED[(method, endpoint)][1])


@pytest.mark.parametrize(("method", "endpoint"), IN_HIS_OWN_MATCH, ids=lambda value: value)
def test_a_visitor_in_his_own_match(cottage: House, app: flask.Flask, method: str, endpoint: str) -> None:
    visitor, match = a_visitor(cottage)
    answer = answered(app, Visitor(app, visitor), method, endpoint, match.id)
    assert answer == IN_HIS_OWN_MATCH[(method, endpoint)]

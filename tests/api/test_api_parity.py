"""What the pages can do a program can do too, and the document that says so is the one that is checked in."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flask
import pytest
import schemathesis
from house import House
from programs import Program

from server import tokens
from server.api import callers
from server.api.about import ALLOWED
from server.api.app import LARGEST_BODY, ROOMS, written
from server.play import LONGEST_KEY

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = ROOT / "docs" / "openapi.json"
SERVICES = {file.stem for file in (ROOT / "server").glob("*.py")} | {"tournaments", "archive"}

# Everything that a form of the pages does, by its endpoint there, and the operations that do it for a program.
DOES = {
    "account.mail_post": ("account.try_mail_again",),
    "account.settings_post": ("account.change",),
    "account.vacation_post": ("account.announce_vacation", "account.end_vacation"),
    "affairs.cancel": ("affairs.cancel",),
    "affairs.come_back": ("affairs.come_back",),
    "affairs.nudge": ("affairs.nudge",),
    "affairs.offer": ("affairs.offer",),
    "affairs.prepare": ("moves.prepare", "moves.put_away"),
    "affairs.resign": ("affairs.resign",),
    "affairs.take": ("affairs.take",),
    "affairs.undo": ("moves.take_back",),
    "affairs.vote": ("affairs.vote",),
    "after.another": ("asides.another",),
    "after.note": ("asides.write",),
    "guide.switch": ("asides.switch",),
    "language.choose": ("account.change",),
    "match.move": ("moves.make",),
    "match.say": ("asides.say",),
    "tables.fill": ("tables.fill",),
    "tables.invite": ("tables.invite",),
    "tables.join": ("tables.join",),
    "tables.leave": ("tables.leave",),
    "tables.new_post": ("tables.create",),
    "tables.start": ("tables.start",),
    "telling.feed": ("account.make_feed", "account.end_feed"),
    "telling.letters": ("account.choose_letters",),
    "telling.webhook": ("account.give_webhook", "account.end_webhook"),
    "tournaments.call_off": ("tournaments.call_off",),
    "tournaments.enter": ("tournaments.enter",),
    "tournaments.new_post": ("tournaments.announce",),
    "tournaments.withdraw": ("tournaments.withdraw",),
    "visit.play": ("tables.against_bots",),
    "ways.act": ("ways.change", "ways.remove", "ways.try_out"),
    "ways.add": ("ways.add",),
}
# What no token does, and why.
NEVER = {
    "account.confirm_post": "only who reads a letter confirms an address",
    "account.delete_post": "a stolen token must not end an account",
    "account.forgot_post": "accounts are recovered by mail",
    "account.password_post": "a stolen token must not change the password",
    "account.reset_post": "accounts are recovered by mail",
    "account.sessions_post": "it ends all tokens too, and a page must be there to go on with",
    "account.sign_in_post": "a program has a token in place of a session",
    "account.sign_out": "a program has a token in place of a session",
    "account.sign_up_post": "a person makes an account, and then tokens",
    "tokens.make": "a token must not make others, with other scopes",
    "tokens.revoke": "tokens are kept where they are made",
    "devices.store": "only a browser has a device that can be told",
    "account.unsubscribe": "it takes the link out of a letter",
    "visit.keep_post": "a visitor has no tokens, since he has no account",
}
# What a page alone names: a program's topic is made elsewhere, and the language is one of its settings.
OTHERWISE = {"affairs.vote": {"votes.pause_topic"}, "language.choose": {"preferences.speak"}}
# Blueprints that are nothing for programs of people.
NOT_FOR_PROGRAMS = {"admin": "for keepers of the house", "mailbox": "for who develops it"}


def test_every_form_of_a_page_has_an_operation_or_a_reason_to_have_none(app: flask.Flask) -> None:
    forms = {rule.endpoint for rule in app.url_map.iter_rules() if "POST" in rule.methods}
    forms = {endpoint for endpoint in forms if endpoint.partition(".")[0] not in NOT_FOR_PROGRAMS}
    assert forms == {*DOES, *NEVER}


def test_what_does_it_for_a_program_exists_and_nothing_else_is_done_by_one() -> None:
    acts = {one.name for room in ROOMS for one in room.operations if one.method != "GET"}
    told = {name for names in DOES.values() for name in names}
    # That a match was seen is noted by looking at its page.
    assert acts - told == {"matches.seen"}
    assert told - acts == set()


def named(view: Callable[..., Any]) -> set[str]:
    """Return the functions of services that a view names, as module and function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(view))))
    pairs = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in SERVICES
    }
    return {pair for pair in pairs if pair.partition(".")[0] not in {"clock", "wording", "languages"}}


@pytest.mark.parametrize("endpoint", DOES)
def test_both_call_the_same_services(app: flask.Flask, endpoint: str) -> None:
    views = {one.name: one.view for room in ROOMS for one in room.operations}
    page = named(app.view_functions[endpoint])
    program = set().union(*(named(views[name]) for name in DOES[endpoint]))
    assert page, "the form calls no service"
    assert page - program <= OTHERWISE.get(endpoint, set())


def test_the_document_is_checked_in() -> None:
    assert DOCUMENT.read_bytes() == written(), "write it anew with `make document`"


def test_the_document_is_valid_openapi() -> None:
    document = json.loads(written())
    assert document["openapi"].startswith("3.1.")
    schemathesis.openapi.from_dict(document).validate()


def test_a_program_is_given_the_document(cottage: House, app: flask.Flask) -> None:
    answer = Program(app).get("/openapi.json")
    assert (answer.mimetype, answer.data) == ("application/json", DOCUMENT.read_bytes())
    assert Program(app).get("/openapi.json", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_the_guide_for_authors_says_what_holds() -> None:
    guide = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z]+)` \| to ", guide, re.MULTILINE) == list(tokens.SCOPES) == list(ALLOWED)
    assert f"may read {callers.MOST} times a minute" in guide
    assert f"text of up to {LONGEST_KEY} characters" in guide
    assert f"A body has at most {LARGEST_BODY // 1024} kB" in guide
    paths = json.loads(written())["paths"]
    named = re.findall(r"`(GET|POST) (/[a-z/]+)", guide)
    assert named
    assert [(method, path) for method, path in named if method.lower() not in paths.get(path, {})] == []

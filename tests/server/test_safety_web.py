"""What holds whoever asks for whatever: rights, forged forms, guessing, links, headers, extra fields, keepers."""

from __future__ import annotations

import json
import random
import re
import secrets
from collections.abc import Callable
from email import message_from_bytes
from typing import Any

import flask
import forms
import pytest
from again import Again
from house import RECORDS, House
from postman import answer
from programs import Program
from test_secrets import Same
from test_web_guards import paths
from test_web_roles import EXPECTED, FORMS, ON_A_HIDDEN_TABLE, SETUP, answered
from together import quick_pictures
from visitor import Visitor, application, error

from server import accounts, archive, keeping, lobby, log, notes, raster, seating, talk, timeouts
from server.channels import Message, email
from server.models import TABLES, Attempt, Deed, Link, Match, Outbox, User

PASSWORD = "correct horse battery"
SENDER = email.Sender("Clachan", "clachan@localhost", "localhost")
# What a look at a page notes of who looks.
LOOKED = {"seen_at", "visited_at", "seen"}
POSTS = [endpoint for method, endpoint in EXPECTED if method == "POST"]
MORE = {"which": 1}
ADDRESS = re.compile(r"http://127\.0\.0\.1:8000(/\S+)")


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    quick_pictures(monkeypatch)
    monkeypatch.setattr(raster, "poster", lambda *_: b"a picture")
    return application(cottage, monkeypatch)


def stored() -> list[Any]:
    """Return all that is stored, but what is counted of tries and what a look notes."""
    return [
        (table.__name__, {name: value for name, value in row.items() if name not in LOOKED})
        for table in TABLES
        if table is not Attempt
        for row in table.select().dicts()
    ]


def replaced(house: House) -> tuple[Match, User]:
    """Return a running match, and somebody whose seat in it a bot took over and then another person."""
    match = house.started("Bran", "Ailsa", "Catrin", setup=SETUP, clock={"move": 86400, "missing": "at-once"})
    house.move(match)
    house.later(days=2)
    assert timeouts.time_out(match.id, now=house.now)
    seating.take(match.id, 1, house.people["Dugald"], "web", now=house.now)
    return log.get(match.id), house.people["Ailsa"]


# Where one who has lost his seat is answered otherwise than somebody who never sat there.
TO_AN_EX_PLAYER = {("POST", "match.say"): 302}


def test_s2_who_has_lost_his_seat_is_answered_as_a_member(cottage: House, sqlite: str, app: flask.Flask) -> None:
    match, ailsa = replaced(cottage)
    assert log.own_number(match, ailsa) is None
    member, again = cottage.person("Eimhir"), Again(sqlite)
    about_matches = {rule.endpoint for rule in app.url_map.iter_rules() if "match_id" in rule.arguments}
    assert len(about_matches) > 30
    for method, endpoint in [known for known in EXPECTED if known[1] in about_matches]:
        answers = []
        for user in (member, ailsa):
            with again.anew():
                answers.append(answered(app, Visitor(app, user), method, endpoint, match.id))
        assert answers[1] == TO_AN_EX_PLAYER.get((method, endpoint), answers[0]), (method, endpoint)


def test_s2_a_keeper_sees_no_hidden_table(cottage: House, sqlite: str, app: flask.Flask) -> None:
    match = cottage.table("Bran", seats=3, invited_only=True)
    keeper, again = cottage.person("Eimhir", admin=True), Again(sqlite)
    for (method, endpoint), known in ON_A_HIDDEN_TABLE.items():
        with again.anew():
            assert answered(app, Visitor(app, keeper), method, endpoint, match.id) == known[1], (method, endpoint)


def test_s2_who_is_no_keeper_any_more_finds_none_of_their_pages(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Bran", "Ailsa")
    user = cottage.person("Eimhir", admin=True)
    visitor = Visitor(app, user)
    User.update(admin=False).where(User.id == user.id).execute()
    asked = [(method, endpoint) for method, endpoint in EXPECTED if endpoint.startswith("admin.")]
    assert {answered(app, visitor, method, endpoint, match.id) for method, endpoint in asked} == {404}


def test_s3_no_forged_form_changes_anything_and_no_other_method_is_taken(cottage: House, app: flask.Flask) -> None:
    cottage.begun("Ailsa", "Bran")
    ailsa = Visitor(app, cottage.people["Ailsa"])
    token = ailsa.token()
    before, posts = stored(), [path for path in paths(app, "POST", **MORE) if not path.startswith("/unsubscribe")]
    assert len(posts) > 40
    for path in posts:
        for data, headers in (
            ({}, {}),
            ({"csrf_token": "wrong"}, {}),
            ({"csrf_token": token}, {"Origin": "https://evil.example"}),
            ({"csrf_token": token}, {"Origin": "null"}),
            ({"csrf_token": token}, {"Sec-Fetch-Site": "cross-site"}),
        ):
            told = ailsa.client.post(path, data=data, headers={"Accept": "application/json", **headers})
            assert error(told) == "forged", (path, headers)
        for method in ("PUT", "PATCH", "DELETE"):
            told = ailsa.client.open(path, method=method, headers={"Accept": "application/json"})
            assert told.status_code in {400, 405}, (method, path)
    assert stored() == before


def test_s3_no_look_at_any_address_changes_anything(cottage: House, app: flask.Flask) -> None:
    cottage.begun("Ailsa", "Bran")
    ailsa = Visitor(app, cottage.people["Ailsa"])
    ailsa.get("/matches/1")
    before = stored()
    for path in {*paths(app, "GET", **MORE), *paths(app, "POST", **MORE)}:
        for method in ("GET", "HEAD")[: 2 if "/matches/" in path else 1]:
            ailsa.client.open(path, method=method, buffered=True, query_string={"move": "A1-A2", "end": "1"})
    assert stored() == before


@pytest.fixture
def app_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[House], flask.Flask]:
    return lambda house: application(house, monkeypatch)


def link_in(mail: Message, word: str) -> str:
    """Return the path of the link with this word in a mail."""
    return next(path for path in ADDRESS.findall(mail.text) if word in path).rstrip(".")


def signed_up(house: House) -> str:
    given = {"zone": "UTC", "language": "en", "source": "x", "now": house.now}
    accounts.sign_up("Eimhir", "eimhir@example.org", PASSWORD, **given)
    return link_in(house.mail()[-1], "/confirm/")


def reset(house: House) -> str:
    accounts.forgot("ailsa@example.org", source="x", now=house.now)
    return link_in(house.mail()[-1], "/reset/")


def unsubscribing(house: House) -> str:
    house.started("Ailsa", "Bran")
    return next(link_in(mail, "/unsubscribe/") for mail in house.mail() if "/unsubscribe/" in mail.text)


def invited(house: House) -> str:
    table = house.table("Bran", seats=2, invited_only=True)
    lobby.invite(table.id, house.people["Bran"], "new@example.org", house.now)
    return link_in(house.mail()[-1], "/invit")


@pytest.mark.parametrize("made", [signed_up, reset, unsubscribing, invited], ids=lambda made: made.__name__)
def test_s7_a_mailed_link_acts_by_its_button_alone_once_and_not_for_ever(
    cottage: House, app: flask.Flask, caplog: pytest.LogCaptureFixture, made: Callable[[House], str]
) -> None:
    caplog.set_level("INFO")
    path = made(cottage)
    token = path.rpartition("/")[2]
    assert len(token) >= 20
    assert token not in repr(stored())
    stranger, before = Visitor(app), stored()
    for method in ("GET", "HEAD", "GET"):
        looked = stranger.client.open(path, method=method, buffered=True)
        assert looked.status_code in {200, 302}
        assert looked.headers["Referrer-Policy"] == "strict-origin"
        assert token not in looked.headers.get("Location", "")
    assert stored() == before
    others = [row for row in stored() if row[0] == "User" and row[1]["name"] not in {"Ailsa", "Eimhir"}]
    if made is not invited:
        assert stranger.post(path, password="another password").status_code in {200, 302}
        assert stored() != before
        assert [row for row in stored() if row[0] == "User" and row[1]["name"] not in {"Ailsa", "Eimhir"}] == others
    if made in {signed_up, reset}:
        assert stranger.post(path, password="a third password").status_code == 410
    late = made(cottage) if made is not signed_up else path
    cottage.later(days=400)
    assert stranger.get(late).status_code == 410
    assert stranger.post(late, password="much too late").status_code in {405, 410, 302}
    assert token not in caplog.text


def test_s8_no_field_puts_a_header_into_an_answer_or_a_mail(cottage: House, sqlite: str, app: flask.Flask) -> None:
    wicked = "Ailsa\r\nBcc: evil@example.org\r\nX-Evil: 1\r\n\r\nX"
    match = cottage.started("Bran", "Ailsa", "Catrin", setup=SETUP)
    cottage.mail()
    again, mails = Again(sqlite), 0
    for endpoint in POSTS:
        with app.test_request_context():
            given = {"match_id": match.id, "seat": 0, "kind": "clans", "token": "x", "who": 4}
            rule = next(rule for rule in app.url_map.iter_rules(endpoint) if "POST" in rule.methods)
            path = app.url_map.bind("x").build(endpoint, {name: given.get(name, 1) for name in rule.arguments}, "POST")
        for form in (dict.fromkeys(forms.FIELDS, wicked), {**FORMS.get(endpoint, {}), "text": wicked, "next": wicked}):
            with again.anew():
                told = Visitor(app, cottage.people["Bran"]).post(path, **form)
                assert told.status_code < 500, endpoint
                assert "X-Evil" not in told.headers
                assert "evil@" not in str(told.headers)
                for mail in cottage.mail():
                    mails += 1
                    whole(mail)
    assert mails > 2


def whole(mail: Message) -> None:
    """Check that a mail has the headers that it should have and no other."""
    read = message_from_bytes(email.compose(mail, SENDER))
    assert len(read.get_all("To")) == 1
    assert read["Bcc"] is None
    assert read["X-Evil"] is None


WRONG = {
    "clans": {"A1-A1": "i", "A1-L5": "i", "nonsense": "invalid-move", "A1-Z9": "i", "": "i"},
    "glory": {"R9 N1": "i", "R3 N99": "i", "nonsense": "invalid-move", "R3": "i"},
}


@pytest.mark.parametrize("game", WRONG)
def test_s14_a_wrong_move_is_one_refusal_and_no_change_by_page_program_and_mail(
    house: House, app_of: Callable[[House], flask.Flask], game: str
) -> None:
    match = house.started("Ailsa", "Bran", game=game)
    mail = next(mail for mail in house.mail() if mail.reply_to)
    seat = house.played(match).position.to_act[0]
    app, mover = app_of(house), log.places(match)[seat].user
    visitor, api = Visitor(app, mover), Program(app, mover)
    rows = house.played(match).rows
    for turn, (text, code) in enumerate(WRONG[game].items()):
        form = {"move": text, "expected": "0"}
        page = visitor.post(f"/matches/{match.id}/moves", **form)
        program = visitor.post(f"/matches/{match.id}/moves", json=True, **form)
        codes = {"illegal-move", "invalid-move"} if code == "i" else {code}
        called = api.post(f"/matches/{match.id}/moves", {"move": text, "expected": 0})
        assert page.status_code == program.status_code == called.status_code == 422
        assert error(called) == error(program)
        assert error(program) in codes
        if text:
            told = answer(house, mail, f"move {text}", Message_ID=f"<{turn}@example.org>")
            assert told == f"refused-{error(program)}"
        assert house.played(match).rows == rows
        assert log.get(match.id).length == 0


@pytest.mark.parametrize("who", ["Bran", pytest.param("Dugald", marks=pytest.mark.hardship)])
def test_s15_a_form_sets_nothing_but_what_its_fields_are_for(
    cottage: House, sqlite: str, app: flask.Flask, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """Sent with a field for every column there is, a form stores what it stores without them."""
    cottage.started("Bran", "Ailsa", "Catrin", setup=SETUP)
    User.update(admin=True).where(User.name == "Bran").execute()
    again = Again(sqlite)
    columns = {name for table in TABLES for name in (*table._meta.fields, *table._meta.columns)}
    usual = {**FORMS, "account.password_post": {"old": "wrong", "new": "another one"}}

    def sent(endpoint: str, extra: dict[str, str]) -> list[Any]:
        same = Same()
        for name in ("token_bytes", "token_hex", "token_urlsafe"):
            monkeypatch.setattr(secrets, name, getattr(same, name))
        monkeypatch.setattr(secrets, "randbelow", lambda bound: 7 % bound)
        monkeypatch.setattr(random, "SystemRandom", lambda: random.Random(1))
        with again.anew():
            monkeypatch.setitem(FORMS, endpoint, {**extra, **usual.get(endpoint, {})})
            answered(app, Visitor(app, cottage.people[who]), "POST", endpoint, 1)
            return stored()

    changed, nothing = 0, sent("account.forgot_post", {})
    for endpoint in POSTS:
        extra = dict.fromkeys(sorted(columns - forms.named_by(app, endpoint)), "1")
        assert len(extra) > 100
        plain = sent(endpoint, {})
        assert sent(endpoint, extra) == plain, endpoint
        changed += plain != nothing
    assert changed > 10, "and some store something"


def test_s24_whatever_a_keeper_does_is_noted(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Bran", "Ailsa", "Catrin", setup=SETUP)
    keeper = cottage.person("Eimhir", admin=True)
    mail = Outbox.select().first()
    Outbox.update(state="failed").where(Outbox.id == mail.id).execute()
    doing = ["admin.freeze", "admin.unfreeze", "admin.stop_mail", "admin.end_sessions", "admin.retry", "admin.delete"]
    assert sorted(doing) == sorted(endpoint for endpoint in POSTS if endpoint.startswith("admin."))
    for count, endpoint in enumerate(doing, 1):
        told = answered(app, Visitor(app, keeper), "POST", endpoint, match.id)
        assert told == 302, endpoint
        deeds = list(Deed.select().order_by(Deed.id))
        assert len(deeds) == count, endpoint
        assert deeds[-1].admin_id == keeper.id
        assert re.fullmatch(r"(match|person|mail) \d+", deeds[-1].thing)
    assert Link.select().where(Link.user == 4).count() == 0


def test_s10_words_of_others_are_words_on_every_page_and_in_every_mail(cottage: House, app: flask.Flask) -> None:
    """Also in places that a name is kept out of by its form: what is stored may be older than the form."""
    wicked = "<img src=x onerror=a()>\"'{{7*7}}</script>"
    match, over = cottage.begun("Ailsa", "Bran"), cottage.finish(cottage.begun("Ailsa", "Bran"))
    talk.say(match.id, cottage.people["Bran"], wicked, expected=0, via="web", now=cottage.now)
    notes.write(match, cottage.people["Ailsa"], wicked, cottage.now)
    keeping.freeze(match.id, cottage.person("Eimhir", admin=True), wicked, cottage.now)
    User.update(name=wicked[:40]).where(User.name == "Bran").execute()
    found = json.loads((RECORDS / "clans-05.json").read_text(encoding="utf-8"))
    rows = [{name: value for name, value in row.items() if name != "hash"} for row in found["log"]]
    bare = {name: value for name, value in found.items() if name not in {"setup_hash", "fairness", "match"}}
    named = {**bare, "log": rows, "players": [wicked[:32]] * len(found["players"])}
    record = archive.add(json.dumps(named).encode(), cottage.now)
    told = 0
    visitors = {name: Visitor(app, User.get(User.name == name)) for name in ("Ailsa", "Eimhir")}
    for number in (match.id, over.id, record.id):
        for path in paths(app, "GET", **{**MORE, "match_id": number, "who": 2, "name": wicked[:40]}):
            if number != match.id and f"/matches/{number}" not in path:
                continue
            page = visitors["Eimhir" if path.startswith("/admin") else "Ailsa"].get(path)
            if page.mimetype in {"text/html", "image/svg+xml", "application/atom+xml"}:
                assert "<img src=x" not in page.text, path
                assert "()>\"'49" not in page.text, path
                told += "&lt;img src=x" in page.text
    assert told > 10
    for mail in cottage.mail():
        assert "<img src=x" not in mail.html

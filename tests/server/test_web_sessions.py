"""Sessions: new at sign-in, ended when they must be, out of reach of others."""

from __future__ import annotations

import dataclasses

import flask
import pytest
from house import House, house_settings
from visitor import Visitor, application, error

from server import accounts, db, home, sessions
from server.models import Departure, User

PASSWORD = "heather and peat"


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.fixture
def ailsa(cottage: House) -> User:
    """Ailsa, with a password."""
    User.update(password=accounts._hasher.hash(PASSWORD)).where(User.name == "Ailsa").execute()
    return User.get(User.name == "Ailsa")


def sign_in(app: flask.Flask) -> Visitor:
    visitor = Visitor(app)
    assert visitor.post("/signin", name="Ailsa", password=PASSWORD).status_code == 302
    return visitor


def test_signing_in_begins_a_new_session(app: flask.Flask, ailsa: User) -> None:
    visitor = Visitor(app)
    with visitor.client.session_transaction() as session:
        session["planted"] = "by another"
    visitor.post("/signin", name="Ailsa", password=PASSWORD)
    with visitor.client.session_transaction() as session:
        assert "planted" not in session
    assert "Ailsa" in visitor.get("/settings").text


def test_ending_all_sessions_ends_them_everywhere(app: flask.Flask, ailsa: User) -> None:
    here, there = sign_in(app), sign_in(app)
    here.post("/settings/sessions")
    for visitor in (here, there):
        assert visitor.get("/settings").status_code == 302


def test_a_new_password_ends_the_other_sessions_only(app: flask.Flask, ailsa: User) -> None:
    here, there = sign_in(app), sign_in(app)
    here.post("/settings/password", old=PASSWORD, new="another good one")
    assert here.get("/settings").status_code == 200
    assert there.get("/settings").status_code == 302


def test_nobody_is_told_to_sign_in_because_the_database_breaks(
    app: flask.Flask, ailsa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = sign_in(app)

    def broken(_identity: str) -> User:
        raise db.Unavailable[0]("the connection is closed")

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "owner", broken)
        page, sent = visitor.get("/settings"), visitor.post("/settings")
        assert (page.status_code, sent.status_code) == (503, 503)
        assert visitor.get("/healthz").status_code == 200
    assert visitor.get("/settings").status_code == 200


def test_the_page_that_says_that_the_database_is_gone_does_not_ask_it(
    app: flask.Flask, ailsa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_user: User) -> int:
        raise db.Unavailable[0]("the connection is closed")

    visitor = sign_in(app)
    monkeypatch.setattr(home, "waiting", broken)
    page = visitor.get("/settings")
    assert page.status_code == 503
    assert "Ailsa" in page.text


def test_over_https_the_cookie_goes_over_https_only(
    cottage: House, sqlite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cottage.settings = house_settings(sqlite, cottage.settings.data, PUBLIC_URL="https://play.example.org")
    answer = Visitor(application(cottage, monkeypatch)).get("/signin?next=/tables")
    assert "Secure" in answer.headers["Set-Cookie"]
    assert answer.headers["Strict-Transport-Security"]


def test_an_invitation_survives_signing_in_without_standing_in_an_address(
    cottage: House, app: flask.Flask, ailsa: User
) -> None:
    from server import lobby

    match = cottage.table("Bran", seats=3, invited_only=True)
    token = lobby.invitation(match.id, cottage.people["Bran"], cottage.now)
    visitor = Visitor(app)
    page = visitor.get(f"/invite/{token}").text
    assert f"next=/invite/{token}" not in page.replace("%2F", "/")
    visitor.get("/signin")
    answer = visitor.post("/signin", name="Ailsa", password=PASSWORD)
    assert answer.headers["Location"] == f"/invite/{token}"


def test_forwarded_addresses_are_believed_only_from_a_proxy_of_ours(
    cottage: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The addresses of one IPv6 network have one owner.
    cases = ((0, "192.0.2.{}", "throttled"), (1, "192.0.2.{}", "bad-credentials"), (1, "2001:db8::{}", "throttled"))
    for trusted, address, last in cases:
        cottage.settings = dataclasses.replace(cottage.settings, trusted_proxies=trusted)
        visitor = Visitor(application(cottage, monkeypatch))
        token = visitor.token()
        for number in range(14):
            answer = visitor.client.post(
                "/signin",
                data={"csrf_token": token, "name": f"Nobody {trusted} {last}", "password": "x"},
                headers={"X-Forwarded-For": address.format(number), "Accept": "application/json"},
            )
        assert error(answer) == last


def cookie(visitor: Visitor) -> str:
    kept = visitor.client.get_cookie("clachan")
    assert kept
    return str(kept.value)


def test_an_answer_that_comes_late_brings_no_session_back(app: flask.Flask, ailsa: User, cottage: House) -> None:
    here, there = sign_in(app), sign_in(app)
    before = cookie(here)
    here.post("/signout")
    here.client.set_cookie("clachan", before)
    assert here.get("/settings").status_code == 302
    assert there.get("/settings").status_code == 200, "another session of the same person goes on"


def test_a_session_that_was_ended_does_not_come_back_with_the_years(
    app: flask.Flask, ailsa: User, cottage: House
) -> None:
    visitor = sign_in(app)
    before = cookie(visitor)
    visitor.post("/signout")
    visitor.client.set_cookie("clachan", before)
    for _ in range(3):
        cottage.later(days=30)
        visitor.post("/language", language="de")
    sessions.sweep(cottage.now)
    assert Departure.select().count() == 0
    assert visitor.get("/settings").status_code == 302


def test_what_pages_ask_for_by_themselves_sends_no_cookie(app: flask.Flask, ailsa: User, cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    visitor = sign_in(app)
    asked = ("/pulse", "/stream", "/worker.js", "/manifest/en.webmanifest", "/offline/en", "/words/de.json", "/healthz")
    asked += ("/share.png", f"/matches/{match.id}/feed.atom", f"/matches/{match.id}/pulse", "/static/x/words.js")
    with visitor.client.session_transaction() as session:
        session["_flashes"] = [("message", "The address is shown once.")]
    for path in (*asked, "/static/x/none.js", "/matches/99/pulse"):
        assert "Set-Cookie" not in visitor.get(path).headers, path
    assert "The address is shown once." in visitor.get("/").text


def test_a_page_sends_the_cookie_anew_once_a_day(app: flask.Flask, ailsa: User, cottage: House) -> None:
    visitor = sign_in(app)
    sent = []
    for _ in range(3):
        sent += ["Set-Cookie" in visitor.get("/settings").headers for _ in range(2)]
        cottage.later(days=1)
    assert sent[2:] == [True, False] * 2
    assert not sent[1]

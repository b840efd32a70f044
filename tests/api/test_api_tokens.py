"""Who may ask the API for what: tokens, scopes, what is open to everybody, and how often."""

from __future__ import annotations

import flask
import pytest
from house import House
from programs import Program, code
from visitor import Visitor

from server import accounts, tokens
from server.api import callers


def test_a_token_says_who_asks(cottage: House, app: flask.Flask) -> None:
    answer = Program(app, cottage.people["Ailsa"]).get("/me")
    assert answer.get_json() == {"id": 1, "name": "Ailsa", "language": "en", "zone": "UTC"}


def test_what_everybody_may_see_takes_no_token(cottage: House, app: flask.Flask) -> None:
    cottage.started("Ailsa", "Bran")
    stranger = Program(app)
    for path in ("/games", "/matches/1", "/matches/1/log", "/matches/1/position"):
        assert stranger.get(path).status_code == 200, path
    view = stranger.get("/matches/1").get_json()["view"]
    assert (view["viewer"], view["moves"]) == (None, [])


def test_what_is_somebodys_own_takes_a_token(cottage: House, app: flask.Flask) -> None:
    cottage.started("Ailsa", "Bran")
    stranger = Program(app)
    answers = [stranger.get("/me"), stranger.get("/matches"), stranger.post("/matches/1/resign")]
    for answer in answers:
        assert (answer.status_code, code(answer)) == (401, "not-signed-in")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_cookie_signs_nobody_in_here_and_a_token_nobody_on_pages(cottage: House, app: flask.Flask) -> None:
    assert Visitor(app, cottage.people["Ailsa"]).get("/api/v1/me").status_code == 401
    program = Program(app, cottage.people["Ailsa"])
    page = program.client.get("/settings", headers=program.headers())
    assert (page.status_code, page.location) == (302, "/signin?next=/settings")
    assert "Set-Cookie" not in program.get("/me").headers


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer x", "Basic QWlsc2E6eA==", "bearer clachan_", "Bearer clachan_ä"]
)
def test_what_is_no_token_is_refused(cottage: House, app: flask.Flask, given: str) -> None:
    answer = Program(app).get("/games", {"Authorization": given})
    assert (answer.status_code, code(answer)) == (401, "not-signed-in")


def test_guessing_tokens_is_slowed_down_and_a_good_one_goes_on(cottage: House, app: flask.Flask) -> None:
    program = Program(app, cottage.people["Ailsa"])
    for _ in range(60):
        assert Program(app).get("/me", {"Authorization": "Bearer clachan_x"}).status_code == 401
    answer = Program(app).get("/me", {"Authorization": "Bearer clachan_x"})
    assert (answer.status_code, code(answer)) == (429, "throttled")
    assert 0 < int(answer.headers["Retry-After"]) <= 600
    assert program.get("/me").status_code == 200


def test_a_token_may_do_what_its_scopes_say_and_nothing_else(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    ailsa = cottage.people["Ailsa"]
    read, play = Program(app, ailsa, "read"), Program(app, ailsa, "play")
    assert read.get("/matches/1").status_code == 200
    for answer in (read.post("/matches/1/resign"), play.get("/matches/1"), play.get("/games")):
        assert (answer.status_code, code(answer)) == (403, "out-of-scope")
    assert cottage.played(match).outcome is None
    assert play.post("/matches/1/resign").status_code == 200


def test_a_token_ends_with_the_sessions_of_its_owner(cottage: House, app: flask.Flask) -> None:
    program = Program(app, cottage.people["Ailsa"])
    accounts.sign_out_everywhere(cottage.people["Ailsa"])
    assert program.get("/me").status_code == 401


def test_a_program_asks_so_often_in_a_minute_and_then_waits(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers, "MOST", 3)
    program, other = Program(app, cottage.people["Ailsa"]), Program(app, cottage.people["Bran"])
    cottage.later(minutes=1, seconds=20)
    assert [program.get("/me").status_code for _ in range(4)] == [200, 200, 200, 429]
    answer = program.get("/me")
    assert (code(answer), answer.headers["Retry-After"]) == ("throttled", "40")
    assert other.get("/me").status_code == 200
    cottage.later(seconds=40)
    assert program.get("/me").status_code == 200


def test_tokens_are_made_and_taken_away_on_the_page_of_settings(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app, cottage.people["Ailsa"])
    page = visitor.post("/settings/tokens", follow=True, label="My bot", read="yes", days="30").text
    token = next(word for word in page.split('"') if word.startswith(tokens.PREFIX))
    assert "My bot" in page
    assert token not in visitor.get("/settings").text
    program = Program(app)
    program.token = token
    assert program.get("/me").get_json()["name"] == "Ailsa"
    visitor.post("/settings/tokens/1/away")
    assert program.get("/me").status_code == 401


def test_a_form_for_a_token_that_is_refused_is_shown_again(cottage: House, app: flask.Flask) -> None:
    page = Visitor(app, cottage.people["Ailsa"]).post("/settings/tokens", label="My bot")
    assert page.status_code == 422
    assert 'value="My bot"' in page.text

"""How the API answers, whatever it is asked: one shape of refusals, safe headers, languages, ETags."""

from __future__ import annotations

import re
from datetime import timedelta

import flask
import peewee
import pytest
from clockwork import awaited
from house import House
from programs import Program, code

from server import db
from server.api import games


@pytest.fixture
def program(cottage: House, app: flask.Flask) -> Program:
    return Program(app, awaited(cottage, cottage.started("Ailsa", "Bran"))[1])


def raw(program: Program, data: bytes, kind: str = "application/json") -> tuple[int, str]:
    path, headers = "/api/v1/matches/1/moves", program.headers()
    answer = program.client.post(path, headers=headers, data=data, content_type=kind, buffered=True)
    assert answer.mimetype == "application/json"
    assert set(answer.get_json()["error"]) == {"code", "sentence", "choices", "since"}
    return answer.status_code, code(answer)


def test_every_refusal_has_the_same_shape(program: Program) -> None:
    assert raw(program, b"{}") == (422, "bad-input")
    assert raw(program, b"{") == (422, "bad-input")
    assert raw(program, b"") == (422, "bad-input")
    assert raw(program, b'{"move": "A1-A2", "expected": 0, "more": 1}') == (422, "bad-input")
    assert raw(program, b'{"move": "A1-A2", "expected": "0"}') == (422, "bad-input")
    assert raw(program, b'{"move": "A1-A2", "expected": -1}') == (422, "bad-input")
    assert raw(program, b'{"move": "A1-A2", "expected": 1e400}') == (422, "bad-input")
    assert raw(program, b'{"move": "\xff", "expected": 0}') == (422, "bad-input")
    assert raw(program, b"[" * 20_000) == (422, "bad-input")
    assert raw(program, b"x" * 65_537) == (413, "too-large")
    assert raw(program, b"move=A1-A2&expected=0", "application/x-www-form-urlencoded") == (415, "not-json")
    assert raw(program, b'{"move": "nonsense", "expected": 0}') == (422, "invalid-move")


@pytest.mark.parametrize("path", ["/nowhere", "/games/", "/matches/x", f"/matches/{10**12}", "/matches/99"])
def test_what_is_not_there_is_not_found(program: Program, path: str) -> None:
    answer = program.get(path)
    assert (answer.status_code, code(answer)) == (404, "not-found")


def test_an_address_says_what_it_takes(program: Program) -> None:
    answer = program.post("/games", {})
    assert (answer.status_code, code(answer)) == (405, "method")
    assert "GET" in answer.headers["Allow"]
    assert program.client.options("/api/v1/games").status_code == 405
    assert program.client.head("/api/v1/games").status_code == 200


def test_a_query_that_does_not_fit_is_refused(program: Program) -> None:
    for query in ({"limit": 0}, {"limit": 101}, {"limit": "x"}, {"which": "all"}, {"more": 1}, {"cursor": "x" * 300}):
        answer = program.get("/matches", **query)
        assert (answer.status_code, code(answer)) == (422, "bad-input"), query


def test_a_fault_of_ours_is_a_refusal_too(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret words")

    monkeypatch.setattr(games.games, "games", fail)
    answer = program.get("/games")
    assert (answer.status_code, code(answer)) == (500, "internal")
    assert "secret words" not in answer.text


def test_what_can_only_be_read_says_so(program: Program) -> None:
    db.database.execute_sql("PRAGMA query_only = 1")
    answer = program.post("/matches/1/note", {"text": "x"})
    assert (answer.status_code, code(answer)) == (503, "read-only")
    assert int(answer.headers["Retry-After"]) > 0
    assert program.get("/matches/1").status_code == 200


def test_without_a_database_the_answer_says_so(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise peewee.OperationalError("gone")

    monkeypatch.setattr(db.database.obj, "connect", fail)
    for answer in (program.get("/games"), program.post("/matches/1/resign")):
        assert (answer.status_code, code(answer)) == (503, "busy")
    assert program.get("/openapi.json").status_code == 200


def test_answers_are_safe_and_private(program: Program) -> None:
    for answer in (program.get("/matches/1"), program.get("/nowhere"), program.post("/matches/1/undo", {"row": 1})):
        headers = answer.headers
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "private, no-cache"
        assert headers["Vary"] == "Authorization, Accept-Language"
        assert "Set-Cookie" not in headers


def test_a_drawing_may_be_drawn_and_nothing_else(program: Program) -> None:
    answer = program.get("/matches/1/picture.svg")
    assert answer.mimetype == "image/svg+xml"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert program.get("/matches/1/picture.png", width=320).data.startswith(b"\x89PNG")


def test_what_is_unchanged_is_not_sent_again(cottage: House, program: Program) -> None:
    first = program.get("/matches/1")
    tag = first.headers["ETag"]
    cottage.later(minutes=10)
    again = program.get("/matches/1", {"If-None-Match": tag})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
    cottage.move(cottage.started("Ailsa", "Bran"))  # another match
    assert program.get("/matches/1", {"If-None-Match": tag}).status_code == 304
    program.post("/matches/1/resign")
    assert program.get("/matches/1", {"If-None-Match": tag}).status_code == 200


def test_sentences_are_in_the_language_that_is_asked_for(program: Program) -> None:
    asked = {code: program.get("/games/clans", {"Accept-Language": code}).text for code in ("en", "cs", "de", "xx", "")}
    assert len({asked["en"], asked["cs"], asked["de"]}) == 3
    assert asked["en"] == asked["xx"] == asked[""] == program.get("/games/clans").text
    assert program.get("/games/x", {"Accept-Language": "de"}).text != program.get("/games/x").text


def test_a_body_of_which_nothing_is_needed_may_be_left_out(cottage: House, app: flask.Flask) -> None:
    ailsa = Program(app, cottage.people["Ailsa"])
    assert ailsa.post("/games/glory/try").status_code == 200
    assert code(ailsa.post("/webhook")) == "not-json"


def test_instants_are_whole_seconds(cottage: House, app: flask.Flask) -> None:
    cottage.now += timedelta(microseconds=123456)
    ailsa = Program(app, cottage.people["Ailsa"])
    table = ailsa.post("/tables", {"game": "clans", "seats": 2, "clock": {}})
    match = cottage.begun("Ailsa", "Bran")
    told = table.text + ailsa.get(f"/matches/{match.id}").text + ailsa.get(f"/matches/{match.id}/log").text
    assert re.findall(r"T\d\d:\d\d:\d\d[^\"]*", told)
    assert {moment[9:] for moment in re.findall(r"T\d\d:\d\d:\d\d[^\"]*", told)} == {"Z"}

"""What somebody tries who wants more of the API than his token, or nobody's, is for."""

from __future__ import annotations

import io
from datetime import timedelta

import flask
import pytest
from house import DAY, House
from programs import Program, code

from server import commands, talk, tournaments
from server.api import callers, cursors
from server.api.app import LARGEST_BODY
from server.api.asides import TAKES
from server.models import Attempt, User, Vacation


def test_a_word_in_the_talk_takes_the_scope_that_it_takes_elsewhere(cottage: House, app: flask.Flask) -> None:
    cottage.started("Ailsa", "Bran")
    cottage.table("Ailsa", seats=3)
    program = Program(app, cottage.people["Ailsa"], "play")
    said = {
        "/vacation until 2026-03-09": 1,
        "/Stop": 1,
        " /stop": 1,
        "/leave": 2,
        "/bots easy": 2,
        "/start": 2,
        "/join": 2,
        "/rematch": 1,
    }
    for text, match in said.items():
        answer = program.post(f"/matches/{match}/talk", {"text": text})
        assert (answer.status_code, code(answer)) == (403, "out-of-scope"), text
    assert Vacation.select().count() == 0
    assert User.get_by_id(cottage.people["Ailsa"].id).turn_mail != "off"
    assert program.post("/matches/1/talk", {"text": "/status"}).status_code == 200
    assert program.post("/matches/1/talk", {"text": "/say /stop"}).get_json()["kind"] == "talk"
    assert code(program.post("/matches/1/talk", {"text": "/dance"})) == "bad-input"


def test_a_token_with_the_scope_may_use_the_word(cottage: House, app: flask.Flask) -> None:
    cottage.started("Ailsa", "Bran")
    program = Program(app, cottage.people["Ailsa"], "play", "account")
    assert program.post("/matches/1/talk", {"text": "/vacation until 2026-03-09"}).status_code == 200


def test_every_word_takes_a_scope() -> None:
    assert set(TAKES) == set(commands.WORDS)


def test_a_keepers_token_has_no_power_of_a_keeper(cottage: House, app: flask.Flask) -> None:
    keeper = cottage.people["Bran"]
    User.update(admin=True).where(User.id == keeper.id).execute()
    plan = tournaments.Plan(
        name="The cup",
        game="clans",
        seats=2,
        clock={"move": DAY},
        options={},
        form="swiss",
        rounds=3,
        least=4,
        most=8,
        starts_at=cottage.now + timedelta(days=2),
    )
    cup = tournaments.announce(cottage.people["Ailsa"], plan, cottage.now)
    answer = Program(app, keeper).post(f"/tournaments/{cup.id}/call-off")
    assert (answer.status_code, code(answer)) == (403, "not-yours")
    assert Program(app, cottage.people["Ailsa"]).post(f"/tournaments/{cup.id}/call-off").status_code == 200


def test_a_forged_cursor_does_not_tell_a_hidden_table_from_none(cottage: House, app: flask.Flask) -> None:
    program = Program(app, cottage.people["Ailsa"])
    hidden = cottage.table("Bran", seats=3, invited_only=True)
    there, nowhere = (
        program.get("/matches", which="finished", cursor=cursors.write(number)) for number in (hidden.id, 99)
    )
    assert (there.status_code, there.text) == (nowhere.status_code, nowhere.text)
    assert code(there) == "bad-input"


def test_a_key_does_not_swallow_another_line(cottage: House, app: flask.Flask) -> None:
    first, second = cottage.started("Ailsa", "Bran"), cottage.started("Ailsa", "Bran")
    program, headers = Program(app, cottage.people["Ailsa"]), {"Idempotency-Key": "k"}
    assert program.post("/matches/1/talk", {"text": "Well met"}, headers).status_code == 200
    for match, text in ((1, "Good luck"), (2, "Well met")):
        answer = program.post(f"/matches/{match}/talk", {"text": text}, headers)
        assert (answer.status_code, code(answer)) == (422, "bad-input")
    assert program.post("/matches/1/talk", {"text": " Well met "}, headers).status_code == 200
    assert [line.text for match in (first, second) for line in talk.lines(match)] == ["Well met"]


def test_a_move_that_was_said_is_not_read_out_when_it_comes_again(cottage: House, app: flask.Flask) -> None:
    """Also when it was the last of the match, so that it reads as a move no more."""
    match = cottage.started("Ailsa", "Bran")
    programs = [Program(app, cottage.people[name]) for name in ("Ailsa", "Bran")]
    while not (played := cottage.played(match)).outcome:
        cottage.later(minutes=1)
        program, headers = programs[played.position.to_act[0]], {"Idempotency-Key": f"k{played.position.seq}"}
        shown = program.get("/matches/1").get_json()
        body = {"text": shown["view"]["moves"][0], "expected": shown["expected"]}
        first = program.post("/matches/1/talk", body, headers)
        assert first.get_json()["kind"] == "move", first.text
    again = program.post("/matches/1/talk", body, headers)
    assert (again.status_code, again.get_json()) == (200, first.get_json())
    assert talk.lines(match) == []


def test_tokens_that_are_none_are_not_counted_in_the_database_for_ever(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers, "MOST", 3)
    cottage.later(minutes=7)
    bad = {"Authorization": "Bearer clachan_x"}
    asked = [Program(app).get, *[Program(app).post] * 5]
    codes = [ask("/matches/1/resign", headers=bad).status_code for ask in asked]
    assert codes[-1] == 429
    assert sum(each.count for each in Attempt.select().where(Attempt.key.startswith("token from"))) == 3


def chunked(program: Program, stream: io.BytesIO) -> tuple[int, str]:
    answer = program.client.post(
        "/api/v1/matches/1/note",
        headers={**program.headers(), "Transfer-Encoding": "chunked", "Content-Type": "application/json"},
        input_stream=stream,
        environ_overrides={"wsgi.input_terminated": True},
        buffered=True,
    )
    return answer.status_code, code(answer) if answer.status_code != 200 else ""


def test_a_body_in_chunks_has_the_same_bound(cottage: House, app: flask.Flask) -> None:
    cottage.started("Ailsa", "Bran")
    program = Program(app, cottage.people["Ailsa"])
    body = b'{"text": "x"}'
    assert chunked(program, io.BytesIO(body)) == (200, "")
    assert chunked(program, io.BytesIO(body.ljust(LARGEST_BODY) + b"}")) == (413, "too-large")
    assert chunked(program, io.BytesIO(b"x" * 10 * LARGEST_BODY)) == (413, "too-large")


class Torn(io.BytesIO):
    """A body whose chunks are none."""

    def read(self, _size: int | None = -1, /) -> bytes:
        raise RuntimeError("Invalid chunk size")  # as a server has it, with an exception of its own

    readinto = read  # type: ignore[assignment]


def test_a_body_that_breaks_off_is_bad_input(cottage: House, app: flask.Flask) -> None:
    cottage.started("Ailsa", "Bran")
    assert chunked(Program(app, cottage.people["Ailsa"]), Torn()) == (422, "bad-input")


def test_a_form_that_breaks_off_is_no_fault_of_ours(
    cottage: House, app: flask.Flask, caplog: pytest.LogCaptureFixture
) -> None:
    answer = app.test_client().post(
        "/signin",
        headers={"Transfer-Encoding": "chunked", "Content-Type": "application/x-www-form-urlencoded"},
        input_stream=Torn(),
        environ_overrides={"wsgi.input_terminated": True},
        buffered=True,
    )
    assert 400 <= answer.status_code < 500
    assert [line.getMessage() for line in caplog.records if line.levelname == "ERROR"] == []

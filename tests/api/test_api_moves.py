"""Moves by the API: made once, tried out, taken back, had ready, supposed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import flask
import pytest
from house import House
from programs import Program, code

from server import log
from server.models import Match


class Table:
    """A match of two with a program for whoever is awaited (`mover`) and for the other."""

    def __init__(self, house: House, app: flask.Flask, match: Match) -> None:
        self.house = house
        self.match = match
        self.programs = [Program(app, place.user) for place in log.places(match)]

    @property
    def seat(self) -> int:
        return self.house.played(self.match).position.to_act[0]

    @property
    def mover(self) -> Program:
        return self.programs[self.seat]

    @property
    def other(self) -> Program:
        return self.programs[1 - self.seat]

    def shown(self, program: Program) -> Any:
        return program.get(f"/matches/{self.match.id}").get_json()

    def move(self, **headers: str) -> dict[str, Any]:
        program, shown = self.mover, self.shown(self.mover)
        body = {"move": shown["view"]["moves"][0], "expected": shown["expected"]}
        answer = program.post(f"/matches/{self.match.id}/moves", body, headers)
        assert answer.status_code == 200, answer.text
        return answer.get_json()


@pytest.fixture
def table(cottage: House, app: flask.Flask) -> Table:
    return Table(cottage, app, cottage.started("Ailsa", "Bran"))


def test_a_program_plays_a_match_to_its_end(table: Table) -> None:
    while table.shown(table.programs[0])["status"] == "running":
        table.house.later(minutes=1)
        table.move()
    shown = table.shown(table.programs[0])
    assert shown["outcome"]["scores"] == list(table.house.played(table.match).outcome.scores)
    assert (shown["to_act"], shown["my_turn"], shown["view"]["moves"]) == ([], False, [])
    record = table.programs[0].get("/matches/1/record.json").get_json()
    assert {row["via"] for row in record["log"]} == {"api"}


def test_a_move_is_told_as_it_stands_in_the_log(table: Table) -> None:
    made = table.move()
    row = table.other.get("/matches/1/log").get_json()["items"][-1]
    assert (made["match"], made["seq"], made["text"]) == (1, row["seq"], row["text"])
    assert made["sentences"] == row["sentences"] != []


def test_a_move_for_another_moment_is_stale(table: Table) -> None:
    mover, body = table.mover, {"move": table.shown(table.mover)["view"]["moves"][0], "expected": 0}
    table.move()
    table.move()
    answer = mover.post("/matches/1/moves", body)
    assert (answer.status_code, code(answer)) == (409, "stale")
    assert answer.get_json()["error"]["since"] != []
    assert table.house.played(table.match).position.seq == 2


def test_a_move_is_refused_to_whoever_is_not_awaited(table: Table, app: flask.Flask) -> None:
    body = {"move": "A1-A2", "expected": 0}
    assert code(table.other.post("/matches/1/moves", body)) == "not-your-turn"
    assert code(Program(app, table.house.people["Catrin"]).post("/matches/1/moves", body)) == "not-yours"
    assert code(table.mover.post("/matches/1/moves", {**body, "move": "nonsense"})) == "invalid-move"
    assert code(table.mover.post("/matches/1/moves", {**body, "move": "A1-L5"})) == "illegal-move"
    assert table.house.played(table.match).rows == []


def test_the_same_request_with_the_same_key_is_carried_out_once(table: Table) -> None:
    mover, shown = table.mover, table.shown(table.mover)
    body = {"move": shown["view"]["moves"][0], "expected": shown["expected"]}
    first, again = (mover.post("/matches/1/moves", body, {"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.get_json() == again.get_json()
    assert table.house.played(table.match).position.seq == 1
    other = {**body, "move": shown["view"]["moves"][1]}
    assert mover.post("/matches/1/moves", other, {"Idempotency-Key": "k"}).status_code == 409
    answer = mover.post("/matches/1/moves", body, {"Idempotency-Key": "k" * 65})
    assert code(answer) == "bad-input"


def test_a_line_of_talk_with_the_same_key_is_said_once(table: Table) -> None:
    for _ in range(2):
        table.mover.post("/matches/1/talk", {"text": "Well met"}, {"Idempotency-Key": "k"})
    for text in ("Hello", "there"):
        table.mover.post("/matches/1/talk", {"text": text}, {"Idempotency-Key": ""})
    answer = table.mover.post("/matches/1/talk", {"text": "Hm"}, {"Idempotency-Key": "k" * 65})
    assert code(answer) == "bad-input"
    lines = table.other.get("/matches/1/talk").get_json()["items"]
    assert [line["text"] for line in lines] == ["Well met", "Hello", "there"]


def test_a_move_may_be_said(table: Table) -> None:
    shown = table.shown(table.mover)
    said = table.mover.post(
        "/matches/1/talk", {"text": shown["view"]["moves"][0], "expected": shown["expected"]}
    ).get_json()
    assert (said["kind"], said["made"]["seq"]) == ("move", 1)


def test_a_preview_says_what_a_move_would_do_and_stores_nothing(table: Table) -> None:
    shown = table.shown(table.mover)
    asked = {"move": shown["view"]["moves"][0], "expected": shown["expected"]}
    trial = table.mover.get("/matches/1/preview", **asked).get_json()
    assert table.house.played(table.match).rows == []
    made = table.mover.post("/matches/1/moves", asked).get_json()
    assert (trial["text"], trial["sentences"]) == (made["text"], made["sentences"])
    assert code(table.mover.get("/matches/1/preview", **asked)) == "stale"
    assert code(table.other.get("/matches/1/preview", move="nonsense", expected=0)) == "stale"
    expected = table.shown(table.mover)["expected"]
    assert code(table.mover.get("/matches/1/preview", move="nonsense", expected=expected)) == "invalid-move"


def test_a_move_is_taken_back_by_its_row(table: Table) -> None:
    mover = table.mover
    table.move()
    assert table.shown(mover)["may"]["take_back"] == 1
    assert code(mover.post("/matches/1/undo", {"row": 7})) == "not-your-turn"
    assert mover.post("/matches/1/undo", {"row": 1}).get_json() == {"done": True, "sentences": []}
    assert table.shown(mover)["my_turn"]


def test_a_move_that_is_ready_is_made_by_itself(table: Table) -> None:
    waiting = table.other
    body = {"move": table.house.played(table.match).view(table.seat).moves[-1]}
    assert waiting.post("/matches/1/ahead", body).get_json() == {**body, "after": "", "dropped": ""}
    assert table.shown(waiting)["ready"]["move"] == body["move"]
    assert table.shown(table.mover)["ready"] is None
    table.move()
    assert [row.via for row in table.house.played(table.match).rows] == ["api", "auto"]
    assert table.shown(waiting)["ready"] is None


def test_a_move_that_is_ready_may_be_put_away(table: Table) -> None:
    table.other.post("/matches/1/ahead", {"move": "A1-A2"})
    assert table.other.post("/matches/1/ahead/away").status_code == 200
    table.move()
    assert len(table.house.played(table.match).rows) == 1


def test_moves_may_be_supposed(table: Table) -> None:
    moves = table.shown(table.mover)["view"]["moves"]
    line = table.mover.get("/matches/1/whatif", moves=f"{moves[0]}, nonsense").get_json()
    assert [step["text"] for step in line["steps"]] == [moves[0]]
    assert line["fault"]["code"] == "illegal-move"
    assert line["awaited"] == 1 - table.seat
    assert line["moves"] != []
    assert table.house.played(table.match).rows == []


def test_players_decide_together(table: Table) -> None:
    table.move()
    table.move()
    until = (table.house.now + timedelta(days=3)).isoformat()
    for program, decided in ((table.mover, False), (table.other, True)):
        assert program.post("/matches/1/votes", {"topic": "pause", "until": until}).get_json() == {"decided": decided}
    assert table.shown(table.mover)["paused"] == "2026-03-05T09:00:00Z"
    table.mover.post("/matches/1/votes", {"topic": "end"})
    assert [wish["topic"] for wish in table.shown(table.other)["proposals"]] == ["end"]
    table.mover.post("/matches/1/votes", {"topic": "nothing"})
    assert table.shown(table.other)["proposals"] == []
    for body in ({"topic": "pause"}, {"topic": "end", "seat": 1}, {"topic": "wait"}, {"topic": "all"}):
        assert code(table.mover.post("/matches/1/votes", body)) == "bad-input"


def test_a_note_is_private(table: Table) -> None:
    table.mover.post("/matches/1/note", {"text": "Mind the lakes"})
    assert table.mover.get("/matches/1/note").get_json() == {"text": "Mind the lakes"}
    assert table.other.get("/matches/1/note").get_json() == {"text": ""}


def test_who_may_not_see_a_match_is_told_that_there_is_none(cottage: House, app: flask.Flask) -> None:
    cottage.table("Ailsa", seats=2, invited_only=True)
    bran, ailsa = Program(app, cottage.people["Bran"]), Program(app, cottage.people["Ailsa"])
    for answer in (
        bran.get("/matches/1"),
        bran.post("/matches/1/moves", {"move": "A1-A2", "expected": 0}),
        bran.post("/matches/1/talk", {"text": "Hello"}),
        bran.post("/matches/1/resign"),
    ):
        assert (answer.status_code, code(answer)) == (404, "not-found")
    shown = ailsa.get("/matches/1").get_json()
    assert (shown["status"], shown["view"], shown["people"][0]["number"]) == ("open", None, None)
    assert code(ailsa.get("/matches/1/log")) == "not-running"

"""Lists of the API, page by page: each item once, in one order, whatever else happens."""

from __future__ import annotations

from typing import Any

import flask
import pytest
from house import House
from programs import Program, code

from server import beats, log, talk
from server.api import cursors
from server.errors import Refused


def walked(program: Program, path: str, limit: int, **query: Any) -> list[Any]:
    """Return all items of a list, asked for in pages."""
    found: list[Any] = []
    cursor = ""
    while True:
        page = program.get(path, limit=limit, cursor=cursor, **query).get_json()
        assert len(page["items"]) <= limit
        found += page["items"]
        if page["next"] is None:
            return found
        assert len(page["items"]) == limit
        cursor = page["next"]


def numbers(program: Program, which: str, limit: int = 2, **query: Any) -> list[int]:
    return [match["id"] for match in walked(program, "/matches", limit, which=which, **query)]


@pytest.fixture
def program(cottage: House, app: flask.Flask) -> Program:
    for _ in range(5):
        cottage.started("Ailsa", "Bran")
    cottage.started("Bran", "Catrin")
    for number in range(3):
        cottage.finish(cottage.started("Ailsa", "Catrin", pace=86400 * (number + 1)))
    cottage.table("Ailsa", seats=3)
    return Program(app, cottage.people["Ailsa"])


def test_lists_of_matches_come_in_pages(cottage: House, program: Program) -> None:
    assert numbers(program, "running") == [5, 4, 3, 2, 1]
    assert numbers(program, "public", 4) == [6, 5, 4, 3, 2, 1]
    assert numbers(program, "finished") == [9, 8, 7]
    assert numbers(program, "unseen", 1) == [9, 8, 7]
    assert numbers(program, "tables") == [10]
    assert numbers(program, "lost") == numbers(program, "invitations") == []
    assert numbers(program, "running", game="glory") == numbers(program, "finished", game="glory") == []


def test_what_waits_comes_in_the_order_of_the_time_left(cottage: House, app: flask.Flask) -> None:
    paces = [5 * 86400, 86400, 0, 3 * 86400, 86400]
    matches = [cottage.started("Ailsa", "Bran", clock={"move": pace}) for pace in paces]
    for match in matches:
        if cottage.played(match).position.to_act != (0,):
            cottage.move(match)
    program = Program(app, cottage.people["Ailsa"])
    assert numbers(program, "waiting") == numbers(program, "waiting", 100) == [2, 5, 4, 1, 3]


def test_a_page_goes_on_where_the_one_before_ended_also_when_something_is_new(cottage: House, program: Program) -> None:
    first = program.get("/matches", which="running", limit=2).get_json()
    cottage.started("Ailsa", "Bran")
    second = program.get("/matches", which="running", limit=2, cursor=first["next"]).get_json()
    assert [match["id"] for match in (*first["items"], *second["items"])] == [5, 4, 3, 2]


def test_the_log_comes_in_pages_and_from_a_row_on(cottage: House, program: Program) -> None:
    whole = walked(program, "/matches/9/log", 100)
    assert walked(program, "/matches/9/log", 7) == whole
    assert [row["seq"] for row in whole] == list(range(1, len(whole) + 1))
    assert walked(program, "/matches/9/log", 10, after=20) == whole[20:]


def test_a_cursor_of_something_else_is_refused(program: Program) -> None:
    for cursor in ("x", "%", "WzFd=", cursors.write("a"), cursors.write(1, 2), cursors.write(-1), cursors.write(2**70)):
        answer = program.get("/matches", which="running", cursor=cursor)
        assert (answer.status_code, code(answer)) == (422, "bad-input"), cursor
    for cursor in (cursors.write(1), cursors.write(99)):  # one that runs, one that is not there
        answer = program.get("/matches", which="finished", cursor=cursor)
        assert (answer.status_code, code(answer)) == (422, "bad-input"), cursor


def test_a_cursor_says_where_a_list_goes_on() -> None:
    assert cursors.read(cursors.write(17, "ä"), int, str) == (17, "ä")
    assert cursors.read("", int) is None
    with pytest.raises(Refused):
        cursors.read(cursors.write(True), int)


def test_how_a_match_stood_after_a_row_is_shown(cottage: House, program: Program) -> None:
    step = program.get("/matches/9/steps/3").get_json()
    assert (step["seq"], step["row"]["seq"]) == (3, 3)
    assert program.get("/matches/9/steps/0").get_json()["row"] is None
    opened = program.get("/matches/9/steps/3", opened="true").get_json()
    assert opened["view"] != step["view"]
    assert program.get("/matches/1/steps/0", opened="true").get_json()["view"]["outcome"] is None
    assert code(program.get("/matches/9/steps/999")) == "not-found"


def test_a_pulse_says_that_something_has_happened(cottage: House, program: Program) -> None:
    before = program.get("/matches/1/pulse").get_json(), program.get("/me/pulse").get_json()
    cottage.move(log.get(1))
    after = program.get("/matches/1/pulse").get_json(), program.get("/me/pulse").get_json()
    assert (before[0]["seq"], after[0]["seq"]) == (0, 1)
    assert after[1]["rows"] == before[1]["rows"] + 1


def test_the_numbers_for_one_are_those_for_many(cottage: House, program: Program) -> None:
    talk.say(1, cottage.people["Ailsa"], "Well met", expected=0, via="web", now=cottage.now)
    for name in ("Ailsa", "Bran", "Dugald"):
        for number in (None, 1, 6, 9, 10):
            match, user = log.get(number) if number else None, cottage.people[name]
            (many,) = beats.beats([beats.watch(match, user)]).values()
            assert beats.beat(match, user) == many


def test_an_end_is_news_until_it_has_been_seen(program: Program) -> None:
    assert program.get("/me/pulse").get_json()["waiting"] >= 3
    before = program.get("/me/pulse").get_json()["waiting"]
    program.get("/matches/9")
    assert program.get("/me/pulse").get_json()["waiting"] == before
    program.post("/matches/9/seen")
    assert program.get("/me/pulse").get_json()["waiting"] == before - 1

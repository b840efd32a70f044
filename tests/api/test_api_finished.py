"""Finished matches and people by the API: found, told, checked; profiles and ladders."""

from __future__ import annotations

from datetime import timedelta

import flask
import pytest
from contests import count, fought, with_contests
from house import START, House
from programs import Program, code

from server import analysis, archive, db, log, ratings
from server.models import Analysis, Match, User


@pytest.fixture(autouse=True)
def contests(monkeypatch: pytest.MonkeyPatch) -> None:
    with_contests(monkeypatch)


@pytest.fixture
def stranger(app: flask.Flask) -> Program:
    return Program(app)


def test_the_archive_is_searched_in_pages(cottage: House, stranger: Program) -> None:
    made = []
    for _number in range(3):
        cottage.later(days=1)
        made.append(fought(cottage, "AB", "go", "stay").id)
    first = stranger.get("/archive", limit=2, player="ailsa", result="won").get_json()
    second = stranger.get("/archive", limit=2, player="ailsa", result="won", cursor=first["next"]).get_json()
    assert [each["id"] for each in (*first["items"], *second["items"])] == made[::-1]
    assert second["next"] is None
    told = first["items"][0]
    assert told["players"] == [{"name": "Ailsa", "score": 2, "won": True}, {"name": "Bran", "score": 0, "won": False}]
    assert (told["reason"], told["kept"]) == ("points", False)
    assert stranger.get("/archive", opponent="Bran", game="clans").get_json()["items"] == []
    assert stranger.get("/archive", since="2026-03-06").get_json()["items"] == []
    assert len(stranger.get("/archive", until="2026-03-03", rated="true").get_json()["items"]) == 1


@pytest.mark.parametrize(
    "wrong", [{"result": "won"}, {"result": "lost badly"}, {"since": "yesterday"}, {"least": "-1"}, {"cursor": "W10"}]
)
def test_a_search_that_makes_no_sense_is_refused(stranger: Program, wrong: dict[str, str]) -> None:
    assert code(stranger.get("/archive", **wrong)) == "bad-input"


def test_lists_keep_back_how_a_match_ended_that_somebody_wants_to_watch(
    cottage: House, app: flask.Flask, stranger: Program
) -> None:
    User.update(keeps_results=True).where(User.name == "Ailsa").execute()
    match = fought(cottage, "AB", "go", "stay")
    ailsa = Program(app, cottage.people["Ailsa"])
    for path in ("/archive", "/people/Ailsa/matches"):
        kept = ailsa.get(path).get_json()["items"][0]
        assert (kept["id"], kept["kept"], kept["reason"], kept["players"][0]["won"]) == (match.id, True, None, None)
        assert stranger.get(path).get_json()["items"][0]["players"][0]["won"] is True


def test_a_finished_match_is_told_as_a_whole(cottage: House, stranger: Program) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran"))
    tale = stranger.get(f"/matches/{match.id}/tale").get_json()
    assert tale["charts"][0]["columns"] == ["Ailsa", "Bran"]
    assert tale["charts"][0]["rows"][0]["step"] == 0
    assert (tale["chances"], tale["thinking"]) == (None, True)
    assert [time["name"] for time in tale["times"]] == ["Ailsa", "Bran"]
    rows = [[0, 500, 500], [3, 731, 269], [match.length, 1000, 0]]
    with db.transaction():
        Analysis.insert(match=match, chances=rows, playouts=500, version=analysis.VERSION).execute()
    chances = stranger.get(f"/matches/{match.id}/tale").get_json()["chances"]
    assert chances["steps"] == [0, 3, match.length]
    assert chances["shares"][1] == [0.731, 0.269]
    assert chances["swings"][0]["step"] == 3


def test_before_the_end_nothing_is_told_that_is_told_after_it(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ailsa = Program(app, cottage.people["Ailsa"])
    for path in ("tale", "proof"):
        assert code(ailsa.get(f"/matches/{match.id}/{path}")) == "not-found"


def test_a_finished_match_is_checked_and_its_hashes_are_found(cottage: House, stranger: Program) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran"))
    proof = stranger.get(f"/matches/{match.id}/proof").get_json()
    assert all(finding["holds"] for finding in proof["findings"])
    assert len(proof["contributions"]) == 2
    rows = archive.stored(log.get(match.id))
    mine = bytes(rows[4].hash).hex()
    assert stranger.get(f"/matches/{match.id}/hash", hash=mine).get_json() == {"step": 4}
    assert stranger.get(f"/matches/{match.id}/hash", hash="0" * 64).get_json() == {"step": None}
    assert code(stranger.get(f"/matches/{match.id}/hash", hash="abc")) == "bad-input"
    table = cottage.table("Ailsa", seats=2)
    assert code(stranger.get(f"/matches/{table.id}/hash", hash=mine)) == "not-found"


def test_a_profile_tells_what_everybody_may_know(cottage: House, stranger: Program) -> None:
    fought(cottage, "AB", "go", "stay")
    fought(cottage, "AC", "look", "go")
    cottage.later(days=1)
    count(cottage)
    told = stranger.get("/people/ailsa").get_json()
    assert (told["name"], told["finished"], told["running"], told["gone"]) == ("Ailsa", 2, 0, False)
    record = told["records"][0]
    assert (record["game"], record["played"], record["won"], record["rated"]) == ("contest", 2, 1, 2)
    assert [step["rank"] for step in record["history"]] == [1, 2]
    assert {each["name"]: (each["won"], each["lost"]) for each in told["meetings"]} == {
        "Bran": (1, 0),
        "Catrin": (0, 1),
    }
    assert told["ever"]["moves"] == 2
    assert code(stranger.get("/people/nobody")) == "not-found"


def test_of_bots_and_of_who_has_left_there_is_the_name_alone(cottage: House, app: flask.Flask) -> None:
    ailsa = Program(app, cottage.people["Ailsa"])
    ailsa.post("/games/clans/try", {})
    bot = ailsa.get("/people/Bot Rowan").get_json()
    assert (bot["bot"], bot["records"], bot["finished"]) == ("steady", [], None)
    User.update(deleted_at=START).where(User.name == "Bran").execute()
    gone = ailsa.get("/people/Bran").get_json()
    assert (gone["gone"], gone["since"], gone["meetings"]) == (True, None, [])


def test_a_ladder_is_read_in_pages(cottage: House, stranger: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "ENOUGH", 1)
    fought(cottage, "ABC", "go", "look", "stay")
    cottage.later(days=1)
    count(cottage)
    first = stranger.get("/ladders/contest", limit=2).get_json()
    second = stranger.get("/ladders/contest", limit=2, cursor=first["next"]).get_json()
    rungs = [*first["items"], *second["items"]]
    assert [(rung["place"], rung["name"]) for rung in rungs] == [(1, "Ailsa"), (2, "Bran"), (3, "Catrin")]
    assert second["next"] is None
    assert code(stranger.get("/ladders/chess")) == "not-found"
    assert Match.get().finished_at < cottage.now - timedelta(hours=1)

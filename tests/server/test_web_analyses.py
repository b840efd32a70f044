"""Pages show how the bots judge a finished match, say while they still think, and tell nobody too early."""

from __future__ import annotations

import re

import flask
import pytest
from house import House
from visitor import Visitor, application

from engine import games
from server import analysis, db
from server.models import Analysis, Match, User


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def judge(match: Match) -> None:
    """Store chances as if the bots had judged the match: even, then 73 % for the first seat, then how it ended."""
    winners = [seat.won for seat in match.seat_set.order_by("number")]
    rows = [[0, 500, 500], [3, 731, 269], [match.length, *(1000 * won // sum(winners) for won in winners)]]
    with db.transaction():
        Analysis.insert(match=match, chances=rows, playouts=500, version=analysis.VERSION).execute()
        Match.update(judged=analysis.VERSION).where(Match.id == match.id).execute()


def over(house: House) -> Match:
    return house.finish(house.started("Ailsa", "Bran"))


def words(page: str) -> str:
    """Return a page as it is read, without tags and spaces."""
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


def test_a_judged_match_shows_its_chances_and_the_largest_swings(cottage: House, app: flask.Flask) -> None:
    match = over(cottage)
    judge(match)
    page = Visitor(app).get(f"/matches/{match.id}").text
    said = words(page)
    assert "Chances of winning, in per cent" in said
    mover, after = [("Ailsa", 73), ("Bran", 27)][cottage.played(match).rows[2].seat or 0]
    assert f"What changed the chances most Step 3: {mover} moved" in said
    assert f"The chances of {mover} went from 50 % to {after} %." in said
    assert "came 500 times to an end" in said
    assert "Steps that changed nothing are left out." in said
    assert page.count('class="legend"') == page.count('<svg class="chart"') == 4
    chart = page.partition('<svg class="chart"')[2].partition("</svg>")[0]
    assert chart.count("<polyline") == 2
    assert "line-1 seat-1" in chart
    assert "100 %" in chart
    assert "style=" not in page
    assert "still thinking" not in page


def test_a_move_that_changed_another_ones_chances_most_says_whose(cottage: House, app: flask.Flask) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran", "Catrin"))
    second = cottage.played(match).rows[1]
    mover, names = second.seat or 0, ("Ailsa", "Bran", "Catrin")
    loser = (mover + 1) % 3
    then = [200 if seat == loser else 380 if seat == mover else 420 for seat in range(3)]
    rows = [[0, *(400 if seat == loser else 300 for seat in range(3))], [2, *then]]
    with db.transaction():
        Analysis.insert(match=match, chances=rows, playouts=500, version=analysis.VERSION).execute()
    said = words(Visitor(app).get(f"/matches/{match.id}").text)
    assert f"Step 2: {names[mover]}’s {second.text} took {names[loser]} from 40 % to 20 %. {names[mover]} moved" in said


def test_until_it_is_judged_the_page_says_so_and_shows_none(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = over(cottage)
    monkeypatch.setattr(type(games.game("clans")), "mind", object())
    page = Visitor(app).get(f"/matches/{match.id}").text
    assert "The bots are still thinking about this match" in page
    assert "Chances" not in page
    Match.update(judged=analysis.VERSION).where(Match.id == match.id).execute()
    assert "still thinking" not in Visitor(app).get(f"/matches/{match.id}").text, "they have given it up"
    Match.update(judged=0).where(Match.id == match.id).execute()
    monkeypatch.setattr(type(games.game("clans")), "mind", None)
    assert "still thinking" not in Visitor(app).get(f"/matches/{match.id}").text, "they know nothing of this game"


def test_each_step_of_the_replay_says_the_chances(cottage: House, app: flask.Flask) -> None:
    match = over(cottage)
    stranger = Visitor(app)
    plain = stranger.get(f"/matches/{match.id}/replay/2").text
    assert "Chances" not in plain
    assert "tale.css" not in plain
    judge(match)
    for seq, ailsa in ((0, 50), (2, 50), (3, 73), (4, 73)):
        page = stranger.get(f"/matches/{match.id}/replay/{seq}").text
        assert f"Chances: Ailsa {ailsa} %, Bran {100 - ailsa} %" in words(page)
        bar = page.partition('<svg class="shares"')[2].partition("</svg>")[0]
        assert [float(width) for width in re.findall(r'width="([\d.]+)"', bar)] == pytest.approx(
            [ailsa, 100 - ailsa], abs=0.2
        )
        assert "tale.css" in page
        assert "style=" not in page


def test_while_a_match_runs_no_page_tells_any_chances(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    with db.transaction():
        Analysis.insert(match=match, chances=[[0, 731, 269]], playouts=500).execute()
    for visitor in (Visitor(app), Visitor(app, cottage.people["Ailsa"])):
        for path in (f"/matches/{match.id}", f"/matches/{match.id}/replay/1", f"/matches/{match.id}/replay/1?open=1"):
            page = visitor.get(path).text
            assert "Chances" not in page, path
            assert "still thinking" not in page, path


def test_who_keeps_the_result_back_is_told_no_chances_before_he_has_watched(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    cottage.move(match)
    ailsa = Visitor(app, cottage.people["Ailsa"])
    ailsa.get(f"/matches/{match.id}")
    with db.transaction():
        User.update(keeps_results=True).where(User.name == "Ailsa").execute()
    match = cottage.finish(match)
    judge(match)
    for path in ("", "/replay/1", "/replay/3", "/replay/3?open=1", f"/replay/{match.length - 1}", "/pulse"):
        page = ailsa.get(f"/matches/{match.id}{path}").text
        assert "Chances" not in page, path
        assert "73 %" not in page, path
    bran = Visitor(app, cottage.people["Bran"])
    assert "Chances" in bran.get(f"/matches/{match.id}").text
    ailsa.get(f"/matches/{match.id}/replay/{match.length}")
    assert "Chances" in ailsa.get(f"/matches/{match.id}").text
    assert "73 %" in ailsa.get(f"/matches/{match.id}/replay/3").text

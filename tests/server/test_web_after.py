"""Pages beside and after a match: its tale, private notes, rematches, results kept back, what was hidden."""

from __future__ import annotations

import flask
import pytest
from house import House
from visitor import Visitor, application

from server import db, home, log
from server.models import Match, User


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def at(app: flask.Flask, house: House, name: str) -> Visitor:
    return Visitor(app, house.people[name])


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_a_finished_match_tells_its_tale(cottage: House, app: flask.Flask, game: str) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran", game=game))
    page = Visitor(app).get(f"/matches/{match.id}").text
    for words in ("How it went", "Points of the players", "Time for each move", "As a table"):
        assert words in page
    assert ("Points of the clans" in page) == ("What changed the points most" in page) == (game == "clans")
    assert page.count('<svg class="chart"') == (3 if game == "clans" else 2)


def test_a_running_match_tells_nothing_of_the_kind(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    page = at(app, cottage, "Ailsa").get(f"/matches/{match.id}").text
    assert "How it went" not in page
    assert "Another match?" not in page


def test_a_note_is_shown_to_its_writer_alone(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ailsa = at(app, cottage, "Ailsa")
    ailsa.post(f"/matches/{match.id}/note", text="He <b>likes</b> forests")
    assert "He &lt;b&gt;likes&lt;/b&gt; forests" in ailsa.get(f"/matches/{match.id}").text
    for other in (at(app, cottage, "Bran"), Visitor(app)):
        assert "forests</textarea>" not in other.get(f"/matches/{match.id}").text
    assert ailsa.post(f"/matches/{match.id}/note", text="x" * 6000).status_code == 422


def test_two_clicks_on_two_pages_make_one_rematch(cottage: House, app: flask.Flask) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran"))
    ailsa, bran = at(app, cottage, "Ailsa"), at(app, cottage, "Bran")
    assert "Ask for a rematch" in ailsa.get(f"/matches/{match.id}").text
    assert "Another match?" not in at(app, cottage, "Catrin").get(f"/matches/{match.id}").text
    first = ailsa.post(f"/matches/{match.id}/rematch").location
    assert "Take a seat" in bran.get(f"/matches/{match.id}").text
    assert bran.post(f"/matches/{match.id}/rematch").location == first
    assert Match.select().count() == 2
    assert "The rematch has begun" in ailsa.get(f"/matches/{match.id}").text


def test_a_result_is_kept_back_until_it_is_watched(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    cottage.move(match)
    ailsa = at(app, cottage, "Ailsa")
    ailsa.get(f"/matches/{match.id}")
    with db.transaction():
        User.update(keeps_results=True).where(User.name == "Ailsa").execute()
    match = cottage.finish(match)
    page = ailsa.get(f"/matches/{match.id}").text
    assert "You have seen it up to step 1" in page
    assert "won" not in page
    watched = ailsa.get(f"/matches/{match.id}/replay/1").text
    assert "won:" not in watched
    assert f'id="row-{match.length}"' not in watched
    assert "open=1" not in watched
    assert home.is_kept(match, cottage.people["Ailsa"]) is False, "the person in hand has not the wish yet"
    ailsa.get(f"/matches/{match.id}/replay/{match.length}")
    assert "won:" in ailsa.get(f"/matches/{match.id}").text
    assert "won:" in at(app, cottage, "Bran").get(f"/matches/{match.id}").text


def test_who_cannot_wait_is_shown_the_result(cottage: House, app: flask.Flask) -> None:
    with db.transaction():
        User.update(keeps_results=True).where(User.name == "Ailsa").execute()
    match = cottage.finish(cottage.started("Ailsa", "Bran"))
    ailsa = at(app, cottage, "Ailsa")
    assert "Show me the result" in ailsa.get(f"/matches/{match.id}").text
    assert "won:" in ailsa.get(f"/matches/{match.id}?result=1").text
    assert "won:" in ailsa.get(f"/matches/{match.id}").text, "then it is known"


def test_after_the_end_every_step_can_show_what_was_hidden(cottage: House, app: flask.Flask) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran"))
    clans = cottage.played(match).setup["clans"]
    stranger = Visitor(app)
    plain, opened = (stranger.get(f"/matches/{match.id}/replay/3{more}").text for more in ("", "?open=1"))
    assert "Show what was hidden" in plain
    assert "What was hidden is shown" in opened
    assert f'"clans":["{clans[0]}","{clans[1]}"]' in opened.replace(" ", "")
    assert "open=1" in opened.partition('id="next"')[2][:200]
    running = cottage.begun("Ailsa", "Bran")
    page = stranger.get(f"/matches/{running.id}/replay/1?open=1").text
    assert page.replace("?open=1", "") == stranger.get(f"/matches/{running.id}/replay/1").text
    assert log.get(running.id).status == "running"

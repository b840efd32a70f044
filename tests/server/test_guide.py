"""The guide of a first match on its page: for whom it is, left and taken up again, with the sums at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import flask
import pytest
from house import House
from together import quick_pictures, refused
from visitor import Visitor, application

from engine import games
from server import guide, log, play, story, visitors
from server.guide import Guide
from server.models import Match, Seat, User

OUTSIDE = Path(__file__).parent.parent / "games"


@pytest.fixture(autouse=True)
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def begun(house: House, kind: str = "clans", guided: bool = True) -> Match:
    """Return a match of Ailsa against a bot, in which it is her turn for the first time."""
    by = house.people["Ailsa"]
    _, match = visitors.try_game(kind, by=by, key="k", source="192.0.2.7", now=house.now, guided=guided)
    on_turn(house, match)
    return log.get(match.id)


def on_turn(house: House, match: Match) -> None:
    """Make first legal moves for the bot until Ailsa is awaited."""
    while (played := house.played(match)).outcome is None and played.position.to_act != (seat_of(match),):
        house.move(match, via="bot")


def seat_of(match: Match) -> int:
    return log.seat_of(log.places(match), User.get(name="Ailsa"))


def shown(house: House, match: Match, name: str = "Ailsa") -> Guide | None:
    """Return what the guide tells somebody."""
    played, seats = house.played(match), log.places(match)
    return guide.read(played, seats, story.names(seats), log.own_number(match, house.people[name]))


def key(house: House, match: Match) -> str | None:
    found = shown(house, match)
    return found.lesson.key if found and found.lesson else None


def test_each_turn_brings_its_lesson_and_keeps_those_before(house: House) -> None:
    match = begun(house)
    assert key(house, match) == key(house, match) == "clan"
    house.move(match)
    waiting = shown(house, match)
    assert waiting
    assert (waiting.on, waiting.lesson, [told.key for told in waiting.seen]) == (True, None, ["clan"])
    on_turn(house, match)
    then = shown(house, match)
    assert then
    assert then.lesson
    assert (then.lesson.key, [told.key for told in then.seen]) == ("becoming", ["clan"])


def test_a_move_taken_back_is_followed_by_the_same_lesson(house: House) -> None:
    match = begun(house)
    house.move(match)
    play.take_back(match.id, house.people["Ailsa"], "web", now=house.now)
    found = shown(house, match)
    assert found
    assert key(house, match) == "clan"
    assert found.seen == ()


def test_the_guide_is_left_and_taken_up_again(house: House) -> None:
    match, ailsa = begun(house), house.people["Ailsa"]
    guide.switch(match, ailsa, on=False)
    assert shown(house, match) == Guide(on=False)
    guide.switch(match, ailsa, on=False)
    house.move(match)
    on_turn(house, match)
    guide.switch(match, ailsa, on=True)
    assert key(house, match) == "becoming"


def test_the_guide_is_for_the_own_seat_only(house: House) -> None:
    match = begun(house)
    assert shown(house, match, "Bran") is None
    with refused("not-yours"):
        guide.switch(match, house.people["Bran"], on=True)
    assert [seat.guided for seat in log.places(match)].count(True) == 1


def test_who_plays_against_bots_without_the_guide_may_have_it(house: House) -> None:
    match = begun(house, guided=False)
    assert shown(house, match) == Guide(on=False)
    guide.switch(match, house.people["Ailsa"], on=True)
    assert key(house, match) == "clan"


def test_among_people_there_is_no_guide(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    assert shown(house, match) is None
    with refused("bad-input"):
        guide.switch(match, house.people["Ailsa"], on=True)
    assert not Seat.select().where(Seat.guided).exists()


@pytest.mark.parametrize("guided", [False, True])
def test_a_game_that_has_no_lessons_offers_no_guide(cottage: House, outside: None, guided: bool) -> None:
    match = begun(cottage, "noughts", guided=guided)
    assert shown(cottage, match) is None
    with refused("bad-input"):
        guide.switch(match, cottage.people["Ailsa"], on=True)


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Noughts and crosses, found by its entry point as if it had been installed."""
    monkeypatch.syspath_prepend(str(OUTSIDE))
    games.games.cache_clear()
    yield
    games.games.cache_clear()


def test_the_page_tells_the_lesson_and_marks_its_places(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    ailsa, bran, stranger = Visitor(app, cottage.people["Ailsa"]), Visitor(app, cottage.people["Bran"]), Visitor(app)
    found = shown(cottage, match)
    assert found
    assert found.lesson
    page = unescape(ailsa.get(f"/matches/{match.id}").text)
    assert all(said in page for said in (found.lesson.title, *found.lesson.sentences))
    board = page.partition('id="board"')[2].partition("</svg>")[0]
    # The bot may have been first.
    lines = story.lines(cottage.played(match), ("Ailsa", "Bot"), None)
    last = lines[-1].touched if lines else ()
    assert set(re.findall(r'class="mark" data-territory="(\w+)"', board)) == {*found.lesson.places, *last}
    assert len(found.lesson.places) == 2
    for other in (bran, stranger):
        page = unescape(other.get(f"/matches/{match.id}").text)
        assert found.lesson.title not in page
        assert "the guide" not in page


def test_the_buttons_of_the_page_leave_the_guide_and_show_it_again(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    ailsa, place = Visitor(app, cottage.people["Ailsa"]), f"/matches/{match.id}"
    assert "Leave the guide" in ailsa.get(place).text
    page = ailsa.post(f"{place}/guide", follow=True, show="no").text
    assert "Your clan is" not in page.partition('id="guide"')[2].partition("</section>")[0]
    assert "Show the guide" in page
    assert "Leave the guide" in ailsa.post(f"{place}/guide", follow=True, show="yes").text


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_the_end_explains_the_sums_and_points_to_the_tables(cottage: House, app: flask.Flask, kind: str) -> None:
    match = cottage.finish(begun(cottage, kind))
    page = unescape(Visitor(app, cottage.people["Ailsa"]).get(f"/matches/{match.id}").text)
    told = page.partition('id="guide"')[2].partition("</section>")[0]
    assert "How the points came about" in told
    assert 'href="/tables"' in told
    score = cottage.played(match).outcome
    assert score
    assert str(score.scores[seat_of(match)]) in told

"""The pages of tournaments: who may do what, what the form asks for, what a page tells and what it keeps back."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import flask
import pytest
from clockwork import tick_at
from contests import say, with_contests
from house import DAY, House
from visitor import Visitor, application, error

from server import log, seating, tournaments
from server.models import Entry, Match, Pairing, Seat, Tournament, User

FORM = {
    "name": "The cup",
    "game": "clans",
    "seats": "2",
    "system": "swiss",
    "rounds": "3",
    "least": "3",
    "most": "8",
    "day": "2026-03-05",
    "hour": "18",
    "limit": "move",
    "move": str(DAY),
    "takeback": "yes",
}


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    with_contests(monkeypatch)
    return application(cottage, monkeypatch)


@pytest.fixture
def ailsa(cottage: House, app: flask.Flask) -> Visitor:
    return Visitor(app, cottage.people["Ailsa"])


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def announced(house: House, count: int = 4, **fields: Any) -> Tournament:
    """Return a tournament of Ailsa, which so many people have entered."""
    given = {"game": "contest", "seats": 2, "clock": {"move": DAY}, "options": {}, "form": "round-robin", "rounds": 0}
    given |= {"least": 3, "most": 8, "starts_at": house.now + timedelta(days=1)}
    made = tournaments.announce(house.people["Ailsa"], tournaments.Plan("The cup", **{**given, **fields}), house.now)
    for name in list(house.people)[:count]:
        tournaments.enter(made.id, house.people[name], house.now)
    return made


def started(house: House, **fields: Any) -> tuple[Tournament, list[Match]]:
    """Return a running tournament of four, and the matches of its first round."""
    made = announced(house, **fields)
    tick_at(house, made.starts_at)
    tournaments.run(house.now)
    pairings = Pairing.select(Pairing, Match).join(Match).where(Pairing.tournament == made).order_by(Pairing.place)
    return made, [each.match for each in pairings]


def test_a_tournament_is_announced_entered_and_withdrawn_from(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    page = ailsa.post("/tournaments/new", follow=True, **FORM).text
    made = Tournament.get()
    assert (made.name, made.form, made.rounds, made.seats) == ("The cup", "swiss", 3, 2)
    assert made.starts_at.isoformat() == "2026-03-05T18:00:00+00:00"
    assert made.clock == {"move": DAY}
    assert "0 of 8 have entered. It begins Thu 5 Mar 2026, 18:00 UTC by itself." in words(page)
    bran = Visitor(app, cottage.people["Bran"])
    told = bran.post(f"/tournaments/{made.id}/enter", follow=True, contribution="pebble").text
    assert "You take part" in words(told)
    assert Entry.get().contribution == "pebble"
    assert "1 of 8 has entered" in words(bran.get("/tournaments").text)
    bran.post(f"/tournaments/{made.id}/withdraw")
    assert "0 of 8 have entered" in words(bran.get("/tournaments").text)
    assert "no longer" not in words(bran.get(f"/tournaments/{made.id}").text)


def test_the_day_of_the_form_is_in_the_zone_of_who_fills_it_in(cottage: House, app: flask.Flask) -> None:
    User.update(zone="Europe/Prague").where(User.name == "Ailsa").execute()
    Visitor(app, cottage.people["Ailsa"]).post("/tournaments/new", **FORM)
    assert Tournament.get().starts_at.isoformat() == "2026-03-05T17:00:00+00:00"


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"name": " "}, "The name of a tournament has 3 to 60 letters."),
        ({"limit": "none"}, "A tournament needs a time limit, or it might never end."),
        ({"system": "knockout"}, "A tournament is a round robin or goes by the Swiss system."),
        ({"rounds": "40"}, "There are 2 to 12 rounds."),
        ({"system": "round-robin", "most": "20"}, "A tournament takes 3 to 16 players"),
        ({"day": "2026-03-01"}, "A tournament begins after an hour at the earliest, and within 60 days."),
        ({"day": "soon"}, "Write a date as year-month-day"),
        ({"hour": "24"}, "Choose an hour from 0 to 23."),
        ({"least": "few"}, "A number was expected."),
    ],
)
def test_a_refused_form_is_shown_again_with_what_was_filled_in(
    ailsa: Visitor, form: dict[str, str], sentence: str
) -> None:
    answer = ailsa.post("/tournaments/new", **{**FORM, **form})
    assert answer.status_code == 422
    assert sentence in words(answer.text)
    assert not Tournament.select().exists()
    if "name" not in form:
        assert 'value="The cup"' in answer.text


def test_who_may_do_what(cottage: House, app: flask.Flask) -> None:
    made = announced(cottage, 2)
    visitors = {name: Visitor(app, cottage.people[name]) for name in ("Ailsa", "Bran", "Catrin")}
    visitors["stranger"] = Visitor(app)
    asked = {
        name: [visitor.post(f"/tournaments/{made.id}/{what}", json=True) for what in ("call-off", "withdraw", "enter")]
        for name, visitor in reversed(visitors.items())
    }
    codes = {name: [answer.status_code for answer in answers] for name, answers in asked.items()}
    assert codes == {
        "stranger": [401, 401, 401],
        "Catrin": [403, 403, 302],
        "Bran": [403, 302, 302],
        "Ailsa": [302, 409, 409],
    }
    assert error(asked["Ailsa"][2]) == "not-open"


def test_buttons_are_there_for_whom_they_are(cottage: House, app: flask.Flask) -> None:
    made = announced(cottage, 2)
    path = f"/tournaments/{made.id}"

    def buttons(name: str | None) -> set[str]:
        page = Visitor(app, cottage.people[name] if name else None).get(path).text
        return set(re.findall(rf'action="{path}/([a-z-]+)"', page))

    assert buttons("Ailsa") == {"withdraw", "call-off"}
    assert buttons("Bran") == {"withdraw"}
    assert buttons("Catrin") == {"enter"}
    assert buttons(None) == set()
    cottage.now = made.starts_at
    assert buttons("Catrin") == set()


def test_the_page_tells_standing_rounds_and_the_own_match(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    made, (first, second) = started(cottage)
    path = f"/tournaments/{made.id}"
    own = next(match for match in (first, second) if any(seat.owner.name == "Ailsa" for seat in log.places(match)))
    page = words(ailsa.get(path).text)
    assert f"Your match of this tournament: Contest {own.id}" in page
    assert "Round 1 of 3 is being played." in page
    say(cottage, first, "go", "look")
    page = words(ailsa.get(path).text)
    assert "points" in page
    assert re.search(r"1 \w+( you)? 12 0 0 100 % 1 ", page)
    assert re.search(r"\w+ 2 won", page)
    stranger = words(Visitor(app).get(path).text)
    assert "Your match" not in stranger
    assert "How the standing comes about" in stranger


def test_the_match_page_and_the_own_page_name_the_tournament(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    made, _ = started(cottage, game="clans")
    seat = Seat.select().where(Seat.owner == cottage.people["Ailsa"]).get()
    page = ailsa.get(f"/matches/{seat.match_id}").text
    assert f'href="/tournaments/{made.id}">The cup, round 1</a>' in page
    assert "/cancel" not in page
    assert "The cup, round 1" in ailsa.get("/").text
    other = cottage.table("Ailsa", "Bran")
    page = ailsa.get(f"/matches/{other.id}").text
    assert "The cup" not in page
    assert "/cancel" in page


def test_a_result_that_somebody_wants_to_watch_is_on_no_page(cottage: House, app: flask.Flask) -> None:
    User.update(keeps_results=True).where(User.name == "Bran").execute()
    made, matches = started(cottage, game="clans")
    bran = User.get(User.name == "Bran")
    own = next(match for match in matches if any(seat.owner == bran for seat in log.places(match)))
    before = Visitor(app, bran).get(f"/tournaments/{made.id}").text
    seating.resign(own.id, log.places(own)[0].owner, "web", now=cottage.now)
    page = Visitor(app, bran).get(f"/tournaments/{made.id}").text
    table = re.compile(r"<tbody>.*?</tbody>", re.DOTALL)
    assert table.findall(page)[0] == table.findall(before)[0]
    assert "You wanted to watch it first" in page
    assert "1 match that you want to watch first is not counted here." in words(page)
    assert "12" in words(table.findall(Visitor(app).get(f"/tournaments/{made.id}").text)[0])
    Visitor(app, bran).get(f"/matches/{own.id}?result=1")
    assert "You wanted to watch it first" not in Visitor(app, bran).get(f"/tournaments/{made.id}").text


def test_what_is_called_in_a_strange_way_is_shown_as_it_is(app: flask.Flask, ailsa: Visitor) -> None:
    ailsa.post("/tournaments/new", **{**FORM, "name": "<b>Cup</b> & {{ 7 * 7 }} %(x)s"})
    for path in ("/tournaments", f"/tournaments/{Tournament.get().id}"):
        page = ailsa.get(path).text
        assert "&lt;b&gt;Cup&lt;/b&gt; &amp; {{ 7 * 7 }} %(x)s" in page
        assert "<b>Cup" not in page


@pytest.mark.parametrize("number", ["0", "99", "2147483648", "99999999999999999999"])
def test_a_number_that_no_tournament_has_is_not_found(ailsa: Visitor, number: str) -> None:
    assert ailsa.get(f"/tournaments/{number}").status_code == 404

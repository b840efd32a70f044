"""Feeds: read without a session, made of what everybody may know, the same until something happens."""

from __future__ import annotations

from datetime import datetime, timedelta
from xml.etree import ElementTree

import flask
import pytest
from clockwork import awaited, sitting, wish
from house import START, House
from icalendar import Calendar, Event
from together import damage, everything_stored, refused
from visitor import Visitor, application

from server import accounts, agenda, atom, feeds, home, lobby, log, seating, throttle, timeouts, vacations, visitors
from server.models import Feed, Match, Seat, User

ATOM = "{http://www.w3.org/2005/Atom}"
SOURCE = "192.0.2.7"


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def events(house: House, user: User) -> list[Event]:
    """Return the events of somebody's calendar."""
    text = agenda.calendar(User.get_by_id(user.id), house.settings)
    assert max(map(len, text.split(b"\r\n"))) <= 75, "long lines are folded"
    return list(Calendar.from_ical(text).walk("VEVENT"))


def entries(raw: bytes) -> list[dict[str, str]]:
    """Return the entries of a web feed, newest first, after a look at what every such feed has."""
    feed = ElementTree.fromstring(raw)
    assert feed.tag == f"{ATOM}feed"
    for name in ("id", "title", "updated"):
        assert feed.findtext(ATOM + name)
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    found = []
    for entry in feed.iter(f"{ATOM}entry"):
        told = {name: entry.findtext(ATOM + name) or "" for name in ("id", "title", "updated", "content")}
        link = entry.find(f"{ATOM}link")
        assert link is not None
        found.append({**told, "link": link.get("href", "")})
    assert len({entry["id"] for entry in found}) == len(found)
    times = [datetime.fromisoformat(entry["updated"]) for entry in found]
    assert times == sorted(times, reverse=True)
    return found


def mine(house: House, user: User) -> list[dict[str, str]]:
    return entries(atom.of_person(User.get_by_id(user.id), house.settings))


def test_the_calendar_has_an_event_for_each_deadline_of_mine(house: House) -> None:
    soon, late = house.begun("Ailsa", "Bran"), house.begun("Ailsa", "Bran", pace=3 * 86400)
    house.begun("Bran", "Catrin")
    house.begun("Ailsa", "Bran", clock={})
    for match in Match.select().where(Match.id.in_([1, 2, 4])):
        while awaited(house, match)[1].name != "Ailsa":
            house.move(match)
    found = events(house, house.people["Ailsa"])
    assert [str(event["SUMMARY"]) for event in found] == [
        f"Clans {match.id}: your time is up" for match in (soon, late)
    ]
    for event, match in zip(found, (soon, late), strict=True):
        assert event["DTSTART"].dt == log.get(match.id).deadline
        assert str(event["URL"]).endswith(f"/matches/{match.id}")
        assert event["TRANSP"] == "TRANSPARENT"
        assert not event.subcomponents, "nobody is woken"
    assert events(house, house.people["Catrin"]) == [] or awaited(house, log.get(3))[1].name == "Catrin"


def test_an_event_keeps_its_name_and_counts_up_when_its_deadline_moves(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=3 * 86400)
    _, user = awaited(house, match)
    (first,) = events(house, user)
    vacations.announce(user, house.now, house.now + timedelta(days=2), "web", now=house.later(hours=1))
    (moved,) = events(house, user)
    assert moved["UID"] == first["UID"]
    assert moved["DTSTART"].dt > first["DTSTART"].dt
    assert moved["SEQUENCE"] > first["SEQUENCE"]
    assert moved["DTSTAMP"].dt > first["DTSTAMP"].dt
    vacations.end(user, "web", now=house.later(hours=1))
    (back,) = events(house, user)
    assert (back["UID"], back["DTSTART"].dt < moved["DTSTART"].dt) == (first["UID"], True)
    assert back["SEQUENCE"] > moved["SEQUENCE"]
    house.move(match)
    assert events(house, user) == [], "the turn is taken"
    house.move(match)
    (following,) = events(house, user)
    assert following["UID"] != first["UID"]


def test_what_the_others_decide_about_is_no_deadline_of_mine(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": 86400, "missing": "vote"})
    _, user = awaited(house, match)
    assert len(events(house, user)) == 1
    assert timeouts.time_out(match.id, now=house.later(days=1))
    assert log.get(match.id).deadline is not None
    assert events(house, user) == []


def test_feeds_are_the_same_bytes_until_something_happens(house: House) -> None:
    match = house.begun("Ailsa", "Bran")

    def all_of_it() -> list[bytes]:
        user = User.get(User.name == "Ailsa")
        held = log.get(match.id)
        return [
            agenda.calendar(user, house.settings),
            atom.of_person(user, house.settings),
            atom.of_match(held, house.settings),
        ]

    before = all_of_it()
    house.later(hours=3)
    assert all_of_it() == before
    house.move(match)
    assert all(new != old for new, old in zip(all_of_it(), before, strict=True))


def test_my_feed_tells_of_turns_while_they_wait_and_of_ends(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    seat, user = awaited(house, match)
    other = sitting(match, 1 - seat)
    (turn,) = mine(house, user)
    assert turn["title"] == f"Clans {match.id}: it is your turn"
    assert turn["link"].endswith(f"/matches/{match.id}")
    assert other.name in turn["content"]
    assert "You have until" in turn["content"]
    assert mine(house, other) == []
    house.move(match)
    assert mine(house, user) == []
    house.finish(match)
    for each in (user, other):
        (end,) = mine(house, each)
        assert end["title"] == f"Clans {match.id} has ended"
        assert "won" in end["content"] or "share the win" in end["content"]


def test_who_wants_to_watch_an_end_first_is_not_told_it_by_his_feed(house: House) -> None:
    match = house.finish(house.begun("Ailsa", "Bran"))
    wish(house.people["Ailsa"], keeps_results=True)
    (end,) = mine(house, house.people["Ailsa"])
    assert (end["title"], end["content"]) == (f"Clans {match.id} has ended", "")


def test_the_feed_of_a_match_tells_each_step_as_a_spectator_reads_it(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    assert entries(atom.of_match(match, house.settings)) == []
    for _ in range(3):
        house.later(minutes=10)
        house.move(match)
    found = entries(atom.of_match(log.get(match.id), house.settings))
    assert [entry["link"].rpartition("/")[2] for entry in found] == ["3", "2", "1"]
    assert all(entry["title"] in entry["content"] for entry in found)
    house.finish(match)
    found = entries(atom.of_match(log.get(match.id), house.settings))
    assert found[0]["title"] == f"Clans {match.id} has ended" or found[1]["title"] == f"Clans {match.id} has ended"
    assert len(found) <= atom.STEPS + 1


def test_a_table_that_waits_has_an_empty_feed_and_a_hidden_one_none(cottage: House, app: flask.Flask) -> None:
    table = cottage.table("Ailsa", seats=2)
    answer = Visitor(app).get(f"/matches/{table.id}/feed.atom")
    assert entries(answer.data) == []
    hidden = cottage.table("Ailsa", seats=2, invited_only=True)
    for user in (None, cottage.people["Ailsa"]):
        assert Visitor(app, user).get(f"/matches/{hidden.id}/feed.atom").status_code == 404


def test_a_damaged_match_keeps_nobody_from_the_others(house: House) -> None:
    matches = [house.begun("Ailsa", "Bran") for _ in range(2)]
    for match in matches:
        while awaited(house, match)[1].name != "Ailsa":
            house.move(match)
    damage(matches[0])
    assert len(events(house, house.people["Ailsa"])) == 1
    assert len(mine(house, house.people["Ailsa"])) == 1


def test_an_address_is_made_renewed_and_taken_away(house: House) -> None:
    ailsa = house.people["Ailsa"]
    first = feeds.make(ailsa, "calendar", house.now)
    assert feeds.reader("calendar", first, source=SOURCE, now=house.now) == ailsa
    assert feeds.made(ailsa) == {"calendar": START}
    with refused("not-found"):
        feeds.reader("matches", first, source=SOURCE, now=house.now)
    second = feeds.make(ailsa, "calendar", house.later(days=1))
    with refused("not-found"):
        feeds.reader("calendar", first, source=SOURCE, now=house.now)
    assert feeds.reader("calendar", second, source=SOURCE, now=house.now) == ailsa
    feeds.revoke(ailsa, "calendar")
    with refused("not-found"):
        feeds.reader("calendar", second, source=SOURCE, now=house.now)
    for act in (lambda: feeds.make(ailsa, "hands", house.now), lambda: feeds.revoke(ailsa, "hands")):
        with refused("bad-input"):
            act()


def test_an_address_is_stored_so_that_nobody_can_read_it_there(house: House) -> None:
    token = feeds.make(house.people["Ailsa"], "matches", house.now)
    assert token.casefold() not in everything_stored()


def test_with_an_account_its_addresses_go(house: House) -> None:
    token = feeds.make(house.people["Ailsa"], "matches", house.now)
    accounts.forget(house.people["Ailsa"], house.now)
    assert Feed.select().count() == 0
    with refused("not-found"):
        feeds.reader("matches", token, source=SOURCE, now=house.now)


def test_who_reads_an_address_too_often_is_put_off_and_nobody_else(house: House) -> None:
    tokens = [feeds.make(house.people[name], "matches", house.now) for name in ("Ailsa", "Bran")]
    for _ in range(throttle.BOUNDS["feed of"].tries):
        feeds.reader("matches", tokens[0], source=SOURCE, now=house.now)
    with refused("throttled"):
        feeds.reader("matches", tokens[0], source=SOURCE, now=house.now)
    feeds.reader("matches", tokens[1], source=SOURCE, now=house.now)
    feeds.reader("matches", tokens[0], source=SOURCE, now=house.later(hours=1))


def test_who_guesses_addresses_is_put_off(cottage: House) -> None:
    for _ in range(throttle.BOUNDS["feed from"].tries):
        with refused("not-found"):
            feeds.reader("matches", "guess", source=SOURCE, now=cottage.now)
    with refused("throttled"):
        feeds.reader("matches", "guess", source=SOURCE, now=cottage.now)


def shown(page: str, path: str) -> str:
    """Return the path of the address that a page shows to copy."""
    start = page.index(path)
    return page[start : page.index('"', start)]


@pytest.mark.parametrize(
    ("kind", "file", "mimetype"),
    [("calendar", "calendar.ics", "text/calendar"), ("matches", "matches.atom", "application/atom+xml")],
)
def test_reading_a_feed_needs_no_session_and_is_no_visit(
    cottage: House, app: flask.Flask, kind: str, file: str, mimetype: str
) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ailsa, program = Visitor(app, cottage.people["Ailsa"]), Visitor(app)
    path = shown(ailsa.post("/settings/feeds", follow=True, kind=kind).text, "/feeds/")
    assert path.endswith(f"/{file}")
    assert path not in ailsa.get("/settings").text, "it is shown once"
    before = [(seat.seen, seat.visited_at) for seat in log.places(match)]
    seen = User.get(User.name == "Ailsa").seen_at
    cottage.later(hours=2)
    answers = [visitor.get(path) for visitor in (program, ailsa)]
    for answer in answers:
        assert (answer.status_code, answer.mimetype) == (200, mimetype)
        assert answer.headers["Referrer-Policy"] == "strict-origin"
    assert answers[0].data == answers[1].data
    assert "Set-Cookie" not in answers[0].headers
    assert [(seat.seen, seat.visited_at) for seat in log.places(match)] == before
    assert User.get(User.name == "Ailsa").seen_at == seen
    again = program.get(path, headers={"If-None-Match": answers[0].headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    ailsa.post("/settings/feeds", kind=kind, end="yes")
    assert program.get(path).status_code == 404


def test_the_feed_of_a_match_is_the_same_for_its_players_as_for_strangers(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    path = f"/matches/{match.id}/feed.atom"
    answers = [Visitor(app, user).get(path) for user in (None, *cottage.people.values())]
    assert len({answer.data for answer in answers}) == 1
    User.update(language="de").execute()
    assert Visitor(app, cottage.people["Ailsa"]).get(path).data == answers[0].data
    german = Visitor(app).get(path, headers={"Accept-Language": "de"})
    assert german.data != answers[0].data
    assert german.headers["Vary"] == "Accept-Language"
    assert Seat.select().where(Seat.visited_at.is_null(False) & (Seat.user == cottage.people["Bran"])).count() == 0


def test_a_feed_speaks_its_readers_language(cottage: House, app: flask.Flask) -> None:
    _, user = awaited(cottage, cottage.begun("Ailsa", "Bran"))
    token = feeds.make(user, "matches", cottage.now)
    wish(user, language="de")
    answer = Visitor(app).get(f"/feeds/{token}/matches.atom", headers={"Accept-Language": "cs"})
    assert "3. März 2026" in answer.text


def test_a_visitor_has_no_address(cottage: House, app: flask.Flask) -> None:
    visitor, _ = visitors.try_game("clans", by=None, key="x", source=SOURCE, now=cottage.now)
    assert Visitor(app, visitor).post("/settings/feeds", kind="matches").status_code == 403


def test_who_lost_his_seat_is_not_told_of_its_turns(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    _, user = awaited(house, match)
    assert len(events(house, user)) == len(mine(house, user)) == 1
    seating.resign(match.id, user, "web", now=house.now)
    assert events(house, user) == mine(house, user) == []
    assert home.awaiting(user) == []
    assert lobby.may_see(log.get(match.id), None)

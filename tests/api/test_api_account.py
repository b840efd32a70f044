"""What somebody wants of the house, by the API; and tournaments."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import flask
import pytest
from clockwork import tick_at
from contests import say, with_contests
from house import DAY, House
from programs import Program, code

from server import feeds, hooks, preferences, tournaments, vacations
from server.models import Seat, User

PLAN = {"name": "The cup", "game": "contest", "seats": 2, "form": "round-robin", "least": 3, "most": 8}


@pytest.fixture(autouse=True)
def contests(monkeypatch: pytest.MonkeyPatch) -> None:
    with_contests(monkeypatch)


@pytest.fixture
def ailsa(cottage: House, app: flask.Flask) -> Program:
    return Program(app, cottage.people["Ailsa"])


def test_only_what_is_sent_of_the_settings_changes(cottage: House, ailsa: Program) -> None:
    before = ailsa.get("/settings").get_json()
    assert (before["zone"], before["turn_mail"], before["mail_stopped"]) == ("UTC", "at-once", "")
    after = ailsa.post("/settings", {"zone": "Europe/Prague", "nights": "22:00-07:00"}).get_json()
    assert after == {**before, "zone": "Europe/Prague", "nights": "22:00-07:00"}
    assert ailsa.post("/settings", {"keeps_results": True, "reminders": "50, 80"}).get_json()["reminders"] == "50,80"
    assert User.get(User.name == "Ailsa").zone == "Europe/Prague"


@pytest.mark.parametrize(
    "wrong",
    [{"zone": "Moon/Base"}, {"language": "tlh"}, {"turn_mail": "never"}, {"digest_hour": 24}, {"nights": "late"}],
)
def test_settings_that_make_no_sense_are_refused(ailsa: Program, wrong: dict[str, Any]) -> None:
    before = ailsa.get("/settings").get_json()
    assert code(ailsa.post("/settings", wrong)) == "bad-input"
    assert ailsa.get("/settings").get_json() == before


def test_a_stopped_address_is_tried_again(cottage: House, ailsa: Program) -> None:
    User.update(mail_stopped="550 nobody here").where(User.name == "Ailsa").execute()
    assert ailsa.get("/settings").get_json()["mail_stopped"] == "550 nobody here"
    assert ailsa.post("/settings/mail").get_json()["mail_stopped"] == ""


def test_turns_of_one_match_are_told_otherwise(cottage: House, ailsa: Program) -> None:
    match = cottage.begun("Ailsa", "Bran")
    assert ailsa.post(f"/matches/{match.id}/letters", {"turn_mail": "off"}).get_json()["done"]
    assert Seat.get((Seat.match == match) & (Seat.user == cottage.people["Ailsa"])).turn_mail == "off"
    ailsa.post(f"/matches/{match.id}/letters", {"turn_mail": "", "silent": True})
    assert Seat.get((Seat.match == match) & (Seat.user == cottage.people["Ailsa"])).silent
    ailsa.post(f"/matches/{match.id}/letters", {"turn_mail": "daily"})
    ailsa.post(f"/matches/{match.id}/letters", {"silent": False})
    seat = Seat.get((Seat.match == match) & (Seat.user == cottage.people["Ailsa"]))
    assert (seat.turn_mail, seat.silent) == ("daily", False), "what is left out stays"
    assert code(ailsa.post(f"/matches/{match.id}/letters", {})) == "bad-input"
    other = cottage.begun("Bran", "Catrin")
    for choice in ({"turn_mail": "off"}, {"silent": True}):
        assert code(ailsa.post(f"/matches/{other.id}/letters", choice)) == "not-yours"
    assert {"", *preferences.TURN_MAILS} == {"", "at-once", "away", "daily", "off"}


def test_a_vacation_is_announced_seen_and_ended(cottage: House, ailsa: Program) -> None:
    assert ailsa.get("/vacation").get_json() == {"current": None, "days_left": vacations.DAYS_A_YEAR}
    told = ailsa.post("/vacation", {"first": "2026-03-05", "last": "2026-03-09"})
    assert told.status_code == 201
    assert told.get_json()["current"] == {"starts_at": "2026-03-05T00:00:00Z", "ends_at": "2026-03-10T00:00:00Z"}
    assert ailsa.get("/vacation").get_json()["days_left"] == vacations.DAYS_A_YEAR - 5
    assert code(ailsa.post("/vacation", {"first": "2026-04-05", "last": "2026-04-09"})) == "bad-input"
    assert ailsa.post("/vacation/end").get_json()["current"] is None
    assert code(ailsa.post("/vacation/end")) == "bad-input"
    assert code(ailsa.post("/vacation", {"first": "0001-01-01", "last": "9999-12-31"})) == "bad-input"


def test_a_feed_has_an_address_until_it_is_taken_away(cottage: House, app: flask.Flask, ailsa: Program) -> None:
    made = ailsa.post("/feeds", {"kind": "calendar"}).get_json()
    path = made["address"].removeprefix(cottage.settings.public_url)
    assert app.test_client().get(path).mimetype == "text/calendar"
    assert [feed["kind"] for feed in ailsa.get("/feeds").get_json()["items"]] == ["calendar"]
    second = ailsa.post("/feeds", {"kind": "matches"}).get_json()["address"]
    assert app.test_client().get(second.removeprefix(cottage.settings.public_url)).mimetype == "application/atom+xml"
    ailsa.post("/feeds/end", {"kind": "calendar"})
    assert app.test_client().get(path).status_code == 404
    assert list(feeds.made(cottage.people["Ailsa"])) == ["matches"]


def test_a_program_is_called_until_it_is_taken_away(cottage: House, ailsa: Program) -> None:
    assert ailsa.get("/webhook").get_json() == {"url": None, "stopped": "", "failing_since": None}
    assert code(ailsa.post("/webhook", {"url": "http://192.168.0.1/"})) == "bad-input"
    given = ailsa.post("/webhook", {"url": " https://example.org/hook "}).get_json()
    assert (given["url"], given["secret"][:6]) == ("https://example.org/hook", "whsec_")
    assert ailsa.get("/webhook").get_json()["url"] == "https://example.org/hook"
    ailsa.post("/webhook/end")
    assert hooks.of(cottage.people["Ailsa"]) is None


def test_a_way_is_added_tried_changed_and_removed(cottage: House, ailsa: Program) -> None:
    services = {each["kind"]: each for each in ailsa.get("/ways").get_json()["services"]}
    blank = services["ntfy"]["blanks"][0]["name"]
    assert code(ailsa.post("/ways", {"kind": "pigeon", "given": {}})) == "bad-input"
    assert code(ailsa.post("/ways", {"kind": "ntfy", "given": {blank: "no topic/at all?"}})) == "bad-input"
    added = ailsa.post("/ways", {"kind": "ntfy", "given": {blank: "a-topic-of-mine"}, "news": ["turn"]})
    way = added.get_json()
    assert (added.status_code, way["news"], way["stopped_at"]) == (201, ["turn"], None)
    changed = ailsa.post(f"/ways/{way['id']}", {"label": "My phone", "news": ["end", "turn"]}).get_json()
    assert (changed["label"], changed["news"]) == ("My phone", ["turn", "end"])
    assert ailsa.post(f"/ways/{way['id']}/trial").get_json()["done"]
    assert [each["label"] for each in ailsa.get("/ways").get_json()["items"]] == ["My phone"]
    assert ailsa.post(f"/ways/{way['id']}/remove").get_json()["done"]
    assert ailsa.get("/ways").get_json()["items"] == []
    assert code(ailsa.post(f"/ways/{way['id']}/remove")) == "not-found"


def announced(house: House, ailsa: Program, **more: Any) -> dict[str, Any]:
    """Return what is told of a tournament that Ailsa's program has announced."""
    starts = (house.now + timedelta(days=1)).isoformat()
    told = ailsa.post("/tournaments", {**PLAN, "starts_at": starts, "clock": {"move": DAY}, **more})
    assert told.status_code == 201, told.text
    return dict(told.get_json())


def test_a_tournament_is_announced_entered_played_and_told(cottage: House, app: flask.Flask, ailsa: Program) -> None:
    made = announced(cottage, ailsa)
    assert (made["status"], made["entered"], made["host"], made["mine"]) == ("open", 0, "Ailsa", False)
    for name in ("Ailsa", "Bran", "Catrin"):
        told = Program(app, cottage.people[name]).post(f"/tournaments/{made['id']}/enter", {"contribution": "luck"})
        assert told.get_json()["mine"]
    assert code(ailsa.post(f"/tournaments/{made['id']}/enter", {})) == "already-seated"
    tick_at(cottage, cottage.later(days=1))
    tournaments.run(cottage.now)
    running = ailsa.get(f"/tournaments/{made['id']}").get_json()
    assert (running["status"], running["round"], len(running["played"])) == ("running", 1, 1)
    match = running["played"][0]["matches"][0]
    assert match["players"][0]["score"] is None
    say(cottage, tournaments.page(made["id"], None).rounds[0].matches[0].match, "go", "stay")
    again = Program(app).get(f"/tournaments/{made['id']}").get_json()
    assert sorted(line["points"] for line in again["standing"]) == [0, 12, 12]
    assert sorted(seat["score"] for seat in again["played"][0]["matches"][0]["players"]) == [0, 2]


def test_one_withdraws_and_the_host_calls_it_off(cottage: House, app: flask.Flask, ailsa: Program) -> None:
    made = announced(cottage, ailsa, form="swiss", rounds=3)
    bran = Program(app, cottage.people["Bran"])
    assert code(bran.post(f"/tournaments/{made['id']}/withdraw")) == "not-yours"
    bran.post(f"/tournaments/{made['id']}/enter", {})
    assert bran.post(f"/tournaments/{made['id']}/withdraw").get_json()["entered"] == 0
    assert code(bran.post(f"/tournaments/{made['id']}/call-off")) == "not-yours"
    assert ailsa.post(f"/tournaments/{made['id']}/call-off").get_json()["status"] == "cancelled"
    assert code(ailsa.post(f"/tournaments/{made['id']}/call-off")) == "not-open"
    assert code(ailsa.post("/tournaments/99/call-off")) == "not-found"


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_an_instant_centuries_away_is_refused(cottage: House, ailsa: Program, at: str) -> None:
    match = cottage.begun("Ailsa", "Bran")
    assert code(ailsa.post("/tournaments", {**PLAN, "starts_at": at, "clock": {"move": DAY}})) == "bad-input"
    assert code(ailsa.post(f"/matches/{match.id}/votes", {"topic": "pause", "until": at})) == "bad-input"


def test_tournaments_are_listed_newest_first_by_how_they_stand(
    cottage: House, app: flask.Flask, ailsa: Program
) -> None:
    numbers = [announced(cottage, ailsa)["id"] for _number in range(3)]
    ailsa.post(f"/tournaments/{numbers[1]}/call-off")
    stranger = Program(app)
    first = stranger.get("/tournaments", limit=2).get_json()
    second = stranger.get("/tournaments", limit=2, cursor=first["next"]).get_json()
    assert [each["id"] for each in (*first["items"], *second["items"])] == numbers[::-1]
    assert [each["id"] for each in stranger.get("/tournaments", status="over").get_json()["items"]] == [numbers[1]]
    assert stranger.get("/tournaments", status="running").get_json()["items"] == []
    assert code(stranger.get("/tournaments", status="all")) == "bad-input"


@pytest.mark.parametrize(
    "wrong",
    [{"starts_at": "2026-03-02T09:10:00Z"}, {"starts_at": "soon"}, {"least": 1}, {"clock": {}}, {"form": "cup"}],
)
def test_a_plan_that_cannot_be_is_refused(cottage: House, ailsa: Program, wrong: dict[str, Any]) -> None:
    starts = (cottage.now + timedelta(days=1)).isoformat()
    told = ailsa.post("/tournaments", {**PLAN, "starts_at": starts, "clock": {"move": DAY}, **wrong})
    assert code(told) == "bad-input"

"""Tables by the API: found, opened, joined, filled, left, begun."""

from __future__ import annotations

import flask
import pytest
from clockwork import HOUR, awaited, tick, tick_at
from house import DAY, House
from programs import Program, code
from together import quick_pictures

from server import log
from server.models import Match

TERMS = {"game": "clans", "seats": 2, "clock": {"move": DAY}}


@pytest.fixture
def ailsa(cottage: House, app: flask.Flask) -> Program:
    return Program(app, cottage.people["Ailsa"])


@pytest.fixture
def bran(cottage: House, app: flask.Flask) -> Program:
    return Program(app, cottage.people["Bran"])


def test_a_table_is_opened_and_joined_and_then_the_match_begins(ailsa: Program, bran: Program) -> None:
    opened = ailsa.post("/tables", TERMS)
    table = opened.get_json()
    assert opened.status_code == 201
    assert (table["status"], table["free"], table["host"]) == ("open", 1, "Ailsa")
    assert table["players"] == [{"name": "Ailsa", "bot": "", "host": True, "you": True}]
    assert table["clock"]["move"] == DAY
    assert table["rule"].startswith("1 day for each move")
    joined = bran.post(f"/tables/{table['id']}/join", {"contribution": "luck"}).get_json()
    assert (joined["status"], joined["free"]) == ("running", 0)
    assert {player["name"]: player["you"] for player in joined["players"]} == {"Ailsa": False, "Bran": True}
    assert log.get(table["id"]).status == "running"


def test_what_cannot_be_agreed_is_refused_as_on_the_page(ailsa: Program) -> None:
    for wrong in (
        {"game": "chess"},
        {"seats": 7},
        {"options": {"pace": "fast"}},
        {"clock": {"move": 5}},
        {"clock": {"cap": DAY}},
        {"clock": {"moves": 5}},
        {"rated": "yes"},
        {"colour": "blue"},
    ):
        assert code(ailsa.post("/tables", {**TERMS, **wrong})) == "bad-input", wrong
    assert not Match.select().exists()


def test_tables_are_listed_in_pages_newest_first_and_by_game(cottage: House, ailsa: Program, app: flask.Flask) -> None:
    made = [cottage.table("Bran", seats=3, game=game).id for game in ("clans", "glory", "clans", "clans")]
    first = ailsa.get("/tables", limit=2).get_json()
    second = ailsa.get("/tables", limit=2, cursor=first["next"]).get_json()
    assert [each["id"] for each in (*first["items"], *second["items"])] == made[::-1]
    assert second["next"] is None
    stranger = Program(app)
    assert [each["id"] for each in stranger.get("/tables", game="glory").get_json()["items"]] == [made[1]]
    assert stranger.get("/tables", game="chess").get_json()["items"] == []
    assert stranger.get("/tables", which="mine").status_code == 401
    assert code(ailsa.get("/tables", cursor="nonsense!")) == "bad-input"
    assert code(ailsa.get("/tables", limit=101)) == "bad-input"


def test_whoever_sits_or_is_invited_finds_the_table(cottage: House, ailsa: Program, bran: Program) -> None:
    table = cottage.table("Ailsa", seats=3, invited_only=True)
    assert bran.get(f"/tables/{table.id}").status_code == 404
    assert code(bran.post(f"/tables/{table.id}/join", {})) == "not-found"
    assert ailsa.get("/tables").get_json()["items"] == []
    assert [each["id"] for each in ailsa.get("/tables", which="mine").get_json()["items"]] == [table.id]
    mailed = ailsa.post(f"/tables/{table.id}/invitations", {"email": "bran@example.org"}).get_json()
    assert mailed == {"email": "bran@example.org", "link": None}
    assert [each["id"] for each in bran.get("/tables", which="invited").get_json()["items"]] == [table.id]
    assert bran.post(f"/tables/{table.id}/join", {}).status_code == 200
    assert bran.get("/tables", which="invited").get_json()["items"] == []


def test_a_link_is_handed_on_and_opens_the_table_to_its_holder(cottage: House, ailsa: Program, bran: Program) -> None:
    table = cottage.table("Ailsa", seats=3, invited_only=True)
    link = ailsa.post(f"/tables/{table.id}/invitations", {}).get_json()["link"]
    token = link.rpartition("/")[2]
    assert link == f"{cottage.settings.public_url}/invite/{token}"
    assert bran.get(f"/invitations/{token}").get_json()["id"] == table.id
    assert bran.post(f"/tables/{table.id}/join", {"invitation": token}).get_json()["free"] == 1
    assert bran.get("/invitations/nothing").status_code == 410


def test_bots_fill_a_table_one_by_one_or_all_at_once(cottage: House, ailsa: Program, bran: Program) -> None:
    table = cottage.table("Ailsa", seats=4)
    assert code(bran.post(f"/tables/{table.id}/bots", {"strength": "easy"})) == "not-yours"
    assert code(ailsa.post(f"/tables/{table.id}/bots", {"strength": "clever"})) == "bad-input"
    one = ailsa.post(f"/tables/{table.id}/bots", {"strength": "easy", "count": 1}).get_json()
    assert (one["free"], one["players"][1]["bot"]) == (2, "easy")
    assert code(ailsa.post(f"/tables/{table.id}/bots", {"strength": "easy", "count": 3})) == "table-full"
    assert ailsa.post(f"/tables/{table.id}/bots", {"strength": "strong"}).get_json()["status"] == "running"
    assert [bot["strength"] for bot in ailsa.get("/bots").get_json()["items"]] == ["easy", "steady", "strong"]


def test_a_table_is_left_started_or_closed(cottage: House, ailsa: Program, bran: Program) -> None:
    table = cottage.table("Ailsa", "Bran", seats=4)
    assert code(bran.post(f"/tables/{table.id}/start")) == "not-yours"
    assert bran.post(f"/tables/{table.id}/leave").get_json()["free"] == 3
    assert code(bran.post(f"/tables/{table.id}/leave")) == "not-yours"
    assert code(ailsa.post(f"/tables/{table.id}/start")) == "bad-input"
    bran.post(f"/tables/{table.id}/join", {})
    begun = ailsa.post(f"/tables/{table.id}/start").get_json()
    assert (begun["status"], begun["seats"]) == ("running", 2)
    other = cottage.table("Ailsa", seats=2)
    assert ailsa.post(f"/tables/{other.id}/leave").get_json()["status"] == "cancelled"


def test_a_match_against_bots_begins_at_once_and_goes_on_when_asked_for_again(ailsa: Program) -> None:
    first = ailsa.post("/games/glory/try", {}).get_json()
    assert (first["status"], first["clock"]["move"]) == ("running", 0)
    assert ailsa.post("/games/glory/try", {"guided": True}).get_json()["id"] == first["id"]
    assert code(ailsa.post("/games/chess/try", {})) == "not-found"


def test_running_matches_with_a_free_seat_are_listed_to_anybody(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_pictures(monkeypatch)
    stranger = Program(app)
    terms = {"move": HOUR, "missing": "at-once"}
    matches = [cottage.started("Ailsa", "Bran", "Catrin", clock=terms) for _number in range(2)]
    assert stranger.get("/seats").get_json() == {"items": [], "next": None}
    late = [awaited(cottage, match) for match in matches]
    tick(cottage)
    tick_at(cottage, log.get(matches[0].id).deadline)
    first = stranger.get("/seats", limit=1).get_json()
    second = stranger.get("/seats", limit=1, cursor=first["next"]).get_json()
    told = [*second["items"], *first["items"]]
    assert [each["id"] for each in told] == [match.id for match in matches]
    assert [each["free"] for each in told] == [[{"seat": seat, "name": f"{user.name} (bot)"}] for seat, user in late]
    assert second["next"] is None
    Program(app, cottage.people["Dugald"]).post(f"/matches/{matches[0].id}/seats/{late[0][0]}/take")
    assert [each["id"] for each in stranger.get("/seats").get_json()["items"]] == [matches[1].id]


def test_a_spoilt_time_rule_hides_no_table(cottage: House, app: flask.Flask) -> None:
    table = cottage.table("Ailsa", seats=2)
    Match.update(clock={"move": -1}).where(Match.id == table.id).execute()
    told = Program(app).get("/tables").get_json()["items"][0]
    assert (told["id"], told["clock"], told["rule"]) == (table.id, None, "")

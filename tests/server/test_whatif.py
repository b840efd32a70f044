"""What if: moves of any seat tried out from what one viewer knows, with nothing stored."""

from __future__ import annotations

import re
from typing import Any

import flask
import pytest
from house import House
from together import refused
from visitor import Visitor, application

from server import ahead, log, seating, story, whatif
from server.models import LogRow, Match, Prepared, Seat, User
from server.whatif import Line


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def explored(house: House, match: Match, viewer: int | None, *texts: str) -> Line:
    """Try moves out as a seat, or a spectator, sees the match."""
    return whatif.explore(house.played(match), viewer, texts, story.names(log.places(match)))


def sitting(match: Match, seat: int) -> User:
    """Return who sits in a seat."""
    user: User = log.places(match)[seat].user
    return user


def page(app: flask.Flask, match: Match, user: User, query: str = "") -> str:
    """Return the page as somebody sees it."""
    answer = Visitor(app, user).get(f"/matches/{match.id}/whatif{query}")
    assert answer.status_code == 200
    return str(answer.text)


def test_a_line_of_clans_goes_on_from_seat_to_seat_as_the_match_would(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", "Catrin")
    played = cottage.played(match)
    seat = played.position.to_act[0]
    texts: list[str] = []
    while len(texts) < 6:
        line = explored(cottage, match, 0, *texts)
        texts.append(line.moves[0])
    assert [step.seat for step in line.steps] == [(seat + turn) % 3 for turn in range(5)]
    for text in texts:
        cottage.move(match, text)
    line = explored(cottage, match, 0)
    assert line.steps == ()
    assert line.view.table["huts"] == cottage.played(match).view(0).table["huts"]


def test_nothing_is_stored_and_nobody_is_told(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    cottage.mail()
    line = explored(cottage, match, 0)
    page(app, match, cottage.people["Ailsa"], f"?moves={line.moves[0]}")
    assert LogRow.select().where(LogRow.seq > 0).count() == 0
    assert Prepared.select().count() == 0
    assert cottage.mail() == []
    assert {seat.seen for seat in Seat.select()} == {0}


def test_a_move_may_be_written_freely_and_one_that_cannot_be_made_is_told_why(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    source, _, target = explored(cottage, match, 0).moves[0].partition(" / ")[0].partition("-")
    line = explored(cottage, match, 0, f"{source.lower()} to {target.lower()}", "A1-L5", "B1-B2")
    assert [step.text for step in line.steps] == [f"{source}-{target}"]
    assert line.fault
    assert line.fault.code == "illegal-move"


def test_in_glory_others_may_be_supposed_to_lay_any_card_that_was_not_seen(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", game="glory")
    state = cottage.played(match).position.state
    seat = state.to_act[0]
    viewer = 1 - seat
    line = explored(cottage, match, viewer)
    assert not line.playable
    assert line.view.moves == ()
    own = set(line.view.table["hand"])
    shown = set(line.view.table["cards"].values())
    supposed = {move.split()[0] for move in line.moves}
    assert not supposed & (own | shown)
    held = cottage.played(match).view(seat).moves
    assert set(held) <= set(line.moves)
    invented = next(move for move in line.moves if move not in held)
    after = explored(cottage, match, viewer, invented.lower())
    assert after.fault is None
    assert after.awaited == viewer
    assert after.playable
    assert set(after.view.table["hand"]) == own
    assert {move.split()[0] for move in after.view.moves} <= own


def test_in_glory_nobody_can_be_supposed_to_lay_what_the_viewer_holds(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", game="glory")
    seat = cottage.played(match).position.to_act[0]
    own = cottage.played(match).view(1 - seat).table["hand"][0]
    line = explored(cottage, match, 1 - seat, f"{own} N1")
    assert line.fault
    assert line.fault.sentence.startswith("For all you know, this is no move for ")


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_a_line_goes_to_the_end_of_a_match_and_tells_no_secret_there(cottage: House, game: str) -> None:
    match = cottage.started("Ailsa", "Bran", game=game)
    while True:
        line = explored(cottage, match, 0)
        texts: list[str] = []
        while line.awaited is not None and line.moves:
            texts.append(line.moves[-1])
            line = explored(cottage, match, 0, *texts)
        if line.awaited is None:
            break
        cottage.later(minutes=5)
        cottage.move(match)
    assert line.view.outcome is None
    assert line.view.table.get("clans") is None
    assert line.view.table.get("hands") is None
    assert explored(cottage, match, 0, *texts, "A1-A2").fault


def test_a_line_has_an_end(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    texts: list[str] = []
    while moves := explored(cottage, match, None, *texts).moves:
        texts.append(moves[-1])
    assert len(texts) == whatif.LONGEST
    line = explored(cottage, match, None, *texts, "A1-A2")
    assert line.fault
    assert line.fault.code == "bad-input"


def test_after_the_end_there_is_nothing_to_try_out(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    seating.resign(match.id, cottage.people["Ailsa"], "web", now=cottage.now)
    with refused("not-running"):
        explored(cottage, match, 0)
    answer = Visitor(app, cottage.people["Bran"]).get(f"/matches/{match.id}/whatif")
    assert answer.headers["Location"] == f"/matches/{match.id}"


def test_the_page_adds_goes_back_and_starts_over_by_links(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    ailsa = cottage.people["Ailsa"]
    head = explored(cottage, match, 0).moves[0].split("-")[0]
    shown = page(app, match, ailsa, f"?from={head}")
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="(/matches/\d+/whatif\?moves=[^"]+)"', shown)]
    longer = Visitor(app, ailsa).get(links[0]).text
    assert 'id="line"' in longer
    assert 'id="back"' in longer
    assert f'id="start-over" href="/matches/{match.id}/whatif?row=0"' in longer
    typed = page(app, match, ailsa, "?move=nonsense")
    assert "cannot be read as a move" in typed
    assert 'value="nonsense"' in typed


def test_who_began_a_line_before_the_match_moved_on_is_told(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    assert "moved on" not in page(app, match, cottage.people["Ailsa"], "?row=0")
    cottage.move(match)
    assert "moved on" in page(app, match, cottage.people["Ailsa"], "?row=0")


def test_an_answer_found_on_the_board_is_had_ready(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    seat = cottage.played(match).position.to_act[0]
    waiting = sitting(match, 1 - seat)
    before = explored(cottage, match, 1 - seat).moves[0]
    answer = explored(cottage, match, 1 - seat, before).moves[-1]
    shown = page(app, match, waiting, f"?moves={before},{answer}")
    assert f"Have {answer} ready in answer to {before}" in shown
    assert (
        "Have " not in page(app, match, sitting(match, seat), f"?moves={before},{answer}").split('id="have-ready"')[0]
    )
    sent: dict[str, Any] = {"move": answer, "after": before}
    Visitor(app, waiting).post(f"/matches/{match.id}/prepare", **sent)
    ready = ahead.ready(match, waiting)
    assert ready
    assert (ready.text, ready.after) == (answer, before)
    table = Visitor(app, waiting).get(f"/matches/{match.id}").text
    assert f'value="{answer}"' in table
    assert f'value="{before}"' in table
    cottage.move(match, before)
    assert [row.via for row in cottage.played(match).rows] == ["web", "auto"]


def test_whose_turn_it_is_goes_from_the_line_to_the_move(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    seat = cottage.played(match).position.to_act[0]
    text = explored(cottage, match, seat).moves[0]
    shown = page(app, match, sitting(match, seat), f"?moves={text}")
    assert f'id="make" href="/matches/{match.id}?move={text}"' in shown
    assert 'id="have-ready"' not in shown

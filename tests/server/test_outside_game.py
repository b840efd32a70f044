"""A game that is installed from outside and brings no page files is played all the same, on the pages for any game."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import flask
import pytest
from house import House
from visitor import Visitor, application

from engine import games, record
from server import archive, lobby, log

OUTSIDE = Path(__file__).parent.parent / "games"


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[flask.Flask]:
    """The site with noughts and crosses, found by its entry point as if it had been installed."""
    monkeypatch.syspath_prepend(str(OUTSIDE))
    games.games.cache_clear()
    yield application(cottage, monkeypatch)
    games.games.cache_clear()


def test_a_game_without_pages_is_played_from_table_to_archive(cottage: House, app: flask.Flask) -> None:
    ailsa, bran = Visitor(app, cottage.people["Ailsa"]), Visitor(app, cottage.people["Bran"])
    for path in ("/", "/rules", "/rules/noughts", "/tables/new"):
        assert ailsa.get(path).status_code == 200, path
    answer = ailsa.post("/tables/new", game="noughts", seats=2, move=86400, seating="join")
    place = answer.headers["Location"]
    bran.post(f"{place}/join")
    match = log.get(int(place.rpartition("/")[2]))
    players = [ailsa, bran]
    while not cottage.played(match).outcome:
        played = cottage.played(match)
        seat = played.position.to_act[0]
        page = players[seat].get(place)
        assert page.status_code == 200
        move = played.view(seat).moves[0]
        assert f"move={move}" in page.text
        assert players[seat].get(place, query_string={"move": move}).status_code == 200
        players[seat].post(f"{place}/moves", move=move, expected=played.position.asked[seat])
        assert len(cottage.played(match).rows) == len(played.rows) + 1
    for path in (place, f"{place}/replay/2", "/archive", f"{place}/record.json"):
        assert bran.get(path).status_code == 200, path
    record.check(archive.export(log.get(match.id)))
    assert lobby.open_tables() == []

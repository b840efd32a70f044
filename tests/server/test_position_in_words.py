"""The position of a match in plain text on its pages, and an example of a move that can be made."""

from __future__ import annotations

import html
import re

import flask
import pytest
from house import House
from visitor import Visitor, application

from engine import games
from server import log, story

TEXT = re.compile(r'<details id="position".*?<pre [^>]*>(.*?)</pre>', re.DOTALL)
PLACEHOLDER = re.compile(r'id="write-move"[^>]* placeholder="([^"]*)"')


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def told(page: str) -> str:
    """Return the position that a page tells in words."""
    found = TEXT.search(page)
    assert found
    return html.unescape(found.group(1))


@pytest.mark.parametrize("kind", sorted(games.games()))
def test_every_page_of_a_match_tells_the_position_of_its_board(app: flask.Flask, cottage: House, kind: str) -> None:
    match = cottage.started("Ailsa", "Bran", game=kind)
    played = cottage.played(match)
    seat = played.position.to_act[0]
    places = log.places(match)
    called, here = story.names(places), f"/matches/{match.id}"
    as_it_stands = played.game.text(played.view(seat), called)
    visitor = Visitor(app, places[seat].user)
    assert told(visitor.get(here).text) == as_it_stands
    assert told(visitor.get(f"{here}/replay/0").text) == as_it_stands
    assert told(visitor.get(f"{here}/whatif").text) != ""
    assert told(Visitor(app).get(here).text) == played.game.text(played.view(None), called)
    move = played.view(seat).moves[0]
    looked_at = told(visitor.get(f"{here}?move={move}").text)
    assert looked_at != as_it_stands
    cottage.move(match, move)
    assert looked_at == played.game.text(cottage.played(match).view(seat), called)


@pytest.mark.parametrize("kind", sorted(games.games()))
def test_the_move_given_as_an_example_can_be_made(app: flask.Flask, cottage: House, kind: str) -> None:
    match = cottage.started("Ailsa", "Bran", game=kind)
    for _ in range(6):
        played = cottage.played(match)
        seat = played.position.to_act[0]
        page = Visitor(app, log.places(match)[seat].user).get(f"/matches/{match.id}").text
        found = PLACEHOLDER.search(page)
        assert found
        assert found.group(1) in played.view(seat).moves
        assert f"such as {found.group(1)}, is made at once" in page
        cottage.move(match)

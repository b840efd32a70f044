"""The games that can be played here."""

from __future__ import annotations

from engine import games
from engine.base import Game as Rules
from engine.language import gettext as _
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.shapes import Answer
from server.errors import Refused

room = Room("games", "The games that can be played here.")


class Choice(Answer, frozen=True):
    """A value that a rule may have, and what it is called."""

    value: str
    label: str


class Option(Answer, frozen=True):
    """A rule that a table may choose; `default` is what a table has that does not."""

    name: str
    label: str
    default: str
    choices: list[Choice]


class Game(Answer, frozen=True):
    """A game. `rules` is the version of the rules that new matches get, `seats` how many may play, `example` a move as
    it is written, `address` the page with the rules and the notation of moves."""

    kind: str
    title: str
    rules: int
    seats: list[int]
    options: list[Option]
    example: str
    address: str


class Games(Answer, frozen=True):
    """All of them: there are few, so they come at once."""

    items: list[Game]


@room.get("/games", public=True)
def index(caller: Caller) -> Games:
    """List the games."""
    return Games([_told(game) for game in games.games().values()])


@room.get("/games/<kind>", public=True)
def show(caller: Caller, kind: str) -> Game:
    """Show a game: its seats, the rules that a table may choose, how a move is written."""
    found = games.games().get(kind)
    if found is None:
        raise Refused("not-found", _("There is no such game here."))
    return _told(found)


def _told(game: Rules) -> Game:
    options = [
        Option(option.name, option.label, option.default, [Choice(value, label) for value, label in option.choices])
        for option in game.options
    ]
    return Game(game.kind, game.title, game.rules, list(game.seat_counts), options, game.example, f"/rules/{game.kind}")

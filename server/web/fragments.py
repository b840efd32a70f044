"""Pieces of the pages of matches, kept in this process: what has been drawn once is not drawn again.

A piece is found by all that it is made of, first of all by whose eyes see it: a `Showing` holds the seat, and the hash
of the last row, which covers every row before. So nobody is given what was drawn for another seat, another language or
zone, or a match that has gone on since. The token against forged forms, which each session has its own of, is left out
of what is kept and put in again each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final, NamedTuple, TypeVar

import flask
from markupsafe import Markup

from engine.replay import Row
from server import chest, languages, story
from server.chest import Chest
from server.log import Played
from server.models import Seat, User
from server.story import Line
from server.web import packing
from server.web.addresses import token

Made = TypeVar("Made")

MOST_BYTES: Final = 6 * 2**20
"""So much is kept in a process; what was drawn for one viewer of one match takes about 0.1 MB."""
_LARGE: Final = 16_000
"""Texts of so many letters are kept packed too."""
_LINE: Final = 600
"""What a line takes beside its letters."""
_GAP: Final = "\0"
"""Stands where a token was; nothing that is stored holds this letter."""


class Showing(NamedTuple):
    """A match as one viewer sees it: number, last hash, his seat (None for a spectator), language, zone, and `people`:
    what pages say of those in the seats and of those who have left them, all in one text, which is compared quickly.
    `root` is the path that all addresses begin with, empty if the site is at the root of its host."""

    root: str
    match: int
    last_hash: str
    seat: int | None
    language: str
    zone: str
    people: str


def showing(played: Played, seats: Sequence[Seat], seat: int | None, user: User | None) -> Showing:
    """Return how the person in the seat, or a spectator, sees the match in the language spoken just now."""
    seated = tuple((each.name, each.bot, each.visiting) for place in seats for each in (place.user, place.owner))
    people = repr((seated, story.substitutes(played)))
    zone = user.zone if user else "UTC"
    root = flask.request.environ.get("SCRIPT_NAME", "")
    return Showing(root, played.match.id, played.last_hash, seat, languages.current(), zone, people)


class Keeper:
    """What is kept of one match for one viewer."""

    def __init__(self, showing: Showing) -> None:
        self._showing = showing
        self._fragments: Chest = flask.current_app.extensions["fragments"]
        self._token = token()

    def thing(self, name: str, make: Callable[[], Made], weigh: Callable[[Made], int], *more: Hashable) -> Made:
        """Return what `make` returns; `more` is what it depends on beside the showing, `weigh` tells its bytes."""
        return self._fragments.get((self._showing, name, more), make, weigh)

    def lines(self, played: Played, tell: Callable[[int], list[Line]]) -> list[Line]:
        """Return all lines of the match; `tell` returns those of the rows above a number.

        They are carried on from those of the same rows: what a row did depends on none that comes after it, but that
        the end of a match reveals secrets, and that whoever takes a seat over brings another name.
        """

        def told(before: tuple[Row, list[Row], list[Line]] | None) -> tuple[Row, list[Row], list[Line]]:
            setup, rows, lines = before or (played.setup_row, [], [])
            if setup != played.setup_row or rows != played.rows[: len(rows)]:
                rows, lines = [], []
            return played.setup_row, list(played.rows), lines + tell(len(rows))

        key = (self._showing._replace(last_hash=""), "lines", played.outcome is not None)
        return self._fragments.carry(key, told, lambda made: sum(map(_weight, made[2])))[2]

    def text(self, name: str, make: Callable[[], str], *more: Hashable) -> str:
        """Return the text that `make` returns, to stand in the page as it is."""
        text = self.thing(name, make, chest.size, *more)
        if len(text) >= _LARGE:
            packing.part(text, lambda: self.thing(f"{name}, packed", lambda: packing.chunk(text), len, *more))
        return text

    def block(self, name: str, *more: Hashable, caller: Callable[[], str]) -> Markup:
        """Return what a template's `call` block draws, which depends on nothing but the showing and `more`."""
        drawn = self.text(name, lambda: str(caller()).replace(self._token, _GAP), *more)
        return Markup(drawn.replace(_GAP, self._token))  # noqa: S704 - the template has escaped it


def install(app: flask.Flask) -> None:
    """Give the application room for what it has drawn."""
    app.extensions["fragments"] = Chest(MOST_BYTES)


def _weight(line: Line) -> int:
    """Return how many bytes a line takes."""
    return _LINE + sum(map(len, line.sentences))

"""Pieces of the pages of matches, kept in this process: what has been drawn once is not drawn again.

A piece is found by all that it is made of, first of all by whose eyes see it: a `Sight` holds the seat, and the hash of
the last row, which covers every row before. So nobody is given what was drawn for another seat, another language or
zone, or a match that has gone on since. The token against forged forms, which each session has its own of, is left out
of what is kept and put in again each time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import flask
from markupsafe import Markup

from engine.replay import Row
from server import languages, story
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
_LEAST: Final = 500
"""What a piece takes at least, with its key."""
_LINE: Final = 600
"""What a line takes beside its letters."""
_GAP: Final = "\0"
"""Stands where a token was; nothing that is stored holds this letter."""


class Sight(NamedTuple):
    """A match as one viewer sees it: number, last hash, his seat (None for a spectator), language, zone, and `people`:
    what pages say of those in the seats and of those who have left them."""

    match: int
    last_hash: str
    seat: int | None
    language: str
    zone: str
    people: Hashable


def sight(played: Played, seats: Sequence[Seat], seat: int | None, user: User | None) -> Sight:
    """Return how the person in the seat, or a spectator, sees the match in the language spoken just now."""
    seated = tuple((each.name, each.bot, each.visiting) for place in seats for each in (place.user, place.owner))
    people = (seated, tuple(story.substitutes(played).items()))
    zone = user.zone if user else "UTC"
    return Sight(played.match.id, played.last_hash, seat, languages.current(), zone, people)


class Fragments:
    """Things made for pages, those asked for last, up to a number of bytes in all."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.made = 0

    def get(self, key: Hashable, make: Callable[[], Made], weigh: Callable[[Made], int]) -> Made:
        """Return what is kept under the key; if nothing is, make it, and keep it if it takes a tenth of all at most."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: Made = self._kept[key][0]
                return kept
        made = make()
        self.made += 1
        self._keep(key, made, _LEAST + weigh(made))
        return made

    def carry(self, key: Hashable, make: Callable[[Made | None], Made], weigh: Callable[[Made], int]) -> Made:
        """Return what `make` returns, which is given what it returned the last time, None if that is not kept."""
        with self._lock:
            before: Made | None = self._kept.get(key, (None, 0))[0]
        made = make(before)
        self._keep(key, made, _LEAST + weigh(made))
        return made

    def _keep(self, key: Hashable, made: Any, weight: int) -> None:
        if weight > self._most // 10:
            return
        with self._lock:
            self._bytes += weight - self._kept.pop(key, (None, 0))[1]
            self._kept[key] = made, weight
            while self._bytes > self._most:
                self._bytes -= self._kept.popitem(last=False)[1][1]


class Keeper:
    """What is kept of one match for one viewer."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._fragments: Fragments = flask.current_app.extensions["fragments"]
        self._token = token()

    def thing(self, name: str, make: Callable[[], Made], weigh: Callable[[Made], int], *more: Hashable) -> Made:
        """Return what `make` returns; `more` is what it depends on beside the sight, `weigh` tells its bytes."""
        return self._fragments.get((self._sight, name, more), make, weigh)

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

        key = (self._sight._replace(last_hash=""), "lines", played.outcome is not None)
        return self._fragments.carry(key, told, lambda made: sum(map(_weight, made[2])))[2]

    def text(self, name: str, make: Callable[[], str], *more: Hashable) -> str:
        """Return the text that `make` returns, to stand in the page as it is."""
        text = self.thing(name, make, _size, *more)
        if len(text) >= _LARGE:
            packing.part(text, lambda: self.thing(f"{name}, packed", lambda: packing.chunk(text), len, *more))
        return text

    def block(self, name: str, *more: Hashable, caller: Callable[[], str]) -> Markup:
        """Return what a template's `call` block draws, which depends on nothing but the sight and `more`."""
        drawn = self.text(name, lambda: str(caller()).replace(self._token, _GAP), *more)
        return Markup(drawn.replace(_GAP, self._token))  # noqa: S704 - the template has escaped it


def install(app: flask.Flask) -> None:
    """Give the application room for what it has drawn."""
    app.extensions["fragments"] = Fragments()


def _weight(line: Line) -> int:
    """Return how many bytes a line takes."""
    return _LINE + sum(map(len, line.sentences))


def _size(text: str) -> int:
    """Return how many bytes a text takes: one for each letter, or two or four for all if one of them needs it."""
    return len(text) * (1 if text.isascii() else 2)

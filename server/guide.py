"""The guide of somebody's first match: what the game has to tell him at each step, read off his own views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from engine import games
from engine.base import Lesson, View
from engine.deal import stream_for
from engine.language import gettext as _
from server import companions, db, log, story
from server.errors import Refused
from server.log import Played
from server.models import Match, Seat, User


@dataclass(frozen=True, slots=True)
class Told:
    """A lesson in words, with the `places` of the board that it speaks of."""

    key: str
    title: str
    sentences: tuple[str, ...]
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guide:
    """What the guide shows: the `lesson` of now, None if there is nothing new, and those `seen` before, newest first.

    Whoever has left the guide is offered it again; then `on` is false and nothing is told.
    """

    on: bool
    lesson: Told | None = None
    seen: tuple[Told, ...] = ()


def read(played: Played, seats: Sequence[Seat], called: Sequence[str], seat: int | None) -> Guide | None:
    """Return what the guide shows to the person in the seat, None if there is no guide for him.

    `called` are the names in seat order. Who plays against bots alone may have the guide shown whenever he likes.
    """
    if seat is None or not exists(played.game.kind):
        return None
    if not seats[seat].guided:
        return Guide(on=False) if companions.alone(seats) else None
    lessons = played.game.lessons(own_views(played, seat))
    *before, now = [_told(lesson, called) if lesson else None for lesson in lessons]
    return Guide(on=True, lesson=now, seen=tuple(told for told in reversed(before) if told))


def switch(match: Match, user: User, on: bool) -> None:
    """Show the guide to the person, or no longer. Raises `Refused` (not-yours, bad-input)."""
    seats, seat = log.places(match), log.own_number(match, user)
    if seat is None:
        raise Refused("not-yours", _("You have no seat in this match."))
    if on and not (exists(match.game) and (seats[seat].guided or companions.alone(seats))):
        raise Refused("bad-input", _("There is no guide for this match."))
    with db.transaction():
        Seat.update(guided=on).where(Seat.id == seats[seat].id).execute()


@cache
def exists(kind: str) -> bool:
    """Whether a game has a guide: then it has a lesson for the first turn of any match."""
    game = games.game(kind)
    seats, options = game.seat_counts[0], {option.name: option.default for option in game.options}
    state = game.begin(game.deal(stream_for(b"", [""] * seats), seats, options), seats, options)
    return game.lessons([game.view(state, state.to_act[0], None)]) != (None,)


def own_views(played: Played, seat: int) -> list[View]:
    """Return what the seat saw at each of its turns, and what it sees now; moves taken back are left out."""
    gone = story.undone(played)
    turns = [
        before
        for row, before in zip(played.rows, played.positions, strict=False)
        if row.kind == "move" and row.seat == seat and row.seq not in gone
    ]
    return [played.view(seat, position) for position in (*turns, played.position)]


def _told(lesson: Lesson, called: Sequence[str]) -> Told:
    sentences = tuple(phrase.read(called) for phrase in lesson.text)
    return Told(lesson.key, lesson.title.read(called), sentences, lesson.places)

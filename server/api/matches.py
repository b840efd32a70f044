"""Matches: lists of them, and one as whoever asks may see it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec

from engine.language import gettext as _
from server import beats, dials, home, lobby, log, story
from server.api import cursors
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.seen import played_by, visible
from server.api.shapes import Answer, Body, Done, Listing, Number, Page, Plain
from server.api.told import Clock, Line, Listed, Match, clock, line, listed, whole
from server.errors import Refused
from server.models import Match as Stored
from server.models import User

room = Room("matches", "Matches: lists of them, and one as whoever asks may see it.")

Which = Literal["public", "running", "waiting", "tables", "invitations", "lost", "unseen", "finished"]
_KINDS: Final[dict[str, Callable[[User, datetime], Any]]] = {
    "running": lambda user, now: [item.match for item in home.items(user, now)],
    "tables": lambda user, now: home.tables(user),
    "invitations": lambda user, now: home.invitations(user),
    "lost": lambda user, now: home.lost(user),
    "unseen": lambda user, now: home.unseen(user),
}
"""Lists of somebody's that are short."""


class Asked(Listing, frozen=True):
    """Which matches are asked for."""

    which: Annotated[
        Which,
        msgspec.Meta(
            description=(
                "public: those that are played, of all; the others are the owner's own: running, those in which he is "
                "awaited (waiting, least time left first), open tables that he sits at (tables) or is invited to "
                "(invitations), those in which a bot plays his seat (lost), those whose end he has not seen (unseen), "
                "and all others that have ended (finished, newest first)."
            )
        ),
    ] = "running"
    game: Annotated[str, msgspec.Meta(max_length=32, description="A kind of game; empty for all.")] = ""


class Since(Listing, frozen=True):
    """Which rows are asked for."""

    after: Annotated[Number, msgspec.Meta(description="The number of a row; those after it are given.")] = 0


class MatchPulse(Answer, frozen=True):
    """The numbers by which a program sees that something has changed: `seq` is the last row of the match, `talk` the
    last line of talk; `waiting` and `rows` are as in /me/pulse."""

    waiting: int
    rows: int
    seq: int
    status: str
    talk: int


class Position(Answer, frozen=True):
    """How a match stands, in words and as plain text of at most 76 columns."""

    seq: int
    sentence: str
    text: str


class Clocks(Answer, frozen=True):
    """The clocks of all seats, in their order."""

    items: list[Clock]


class MatchStep(Answer, frozen=True):
    """The match after a row; `row` is null for the setup."""

    seq: int
    view: Plain
    row: Line | None


class Opened(Body, frozen=True):
    """How a step is to be shown."""

    opened: Annotated[bool, msgspec.Meta(description="Whether a finished match shows what was hidden then.")] = False


@room.get("/matches", public=True)
def index(caller: Caller, query: Asked) -> Page[Listed]:
    """List matches. What is not `public` takes a token."""
    if query.which == "public":
        key = cursors.read(query.cursor, int)
        return _page(lobby.running(query.limit + 1, key[0] if key else None, query.game), query, caller)
    if query.which == "finished":
        return _page(_finished(caller.me, query), query, caller)
    if query.which == "waiting":
        return _waiting(caller, query)
    found = sorted(_KINDS[query.which](caller.me, caller.now), key=lambda match: -match.id)
    key = cursors.read(query.cursor, int)
    chosen = [match for match in found if _asked_for(match, query) and (key is None or match.id < key[0])]
    return _page(chosen, query, caller)


def _finished(user: User, query: Asked) -> list[Stored]:
    key = cursors.read(query.cursor, int)
    before = Stored.get_or_none(Stored.over() & (Stored.id == key[0])) if key else None
    if key and before is None:
        raise Refused("bad-input", _("This is no cursor of this list."))
    which = Stored.over() & (Stored.game == query.game) if query.game else None
    return home.latest(user, query.limit + 1, which, before)


def _waiting(caller: Caller, query: Asked) -> Page[Listed]:
    key = cursors.read(query.cursor, int, int)
    found = [match for match in home.awaiting(caller.me) if _asked_for(match, query)]
    later = [match for match in found if key is None or _by_time(match) > key]
    return cursors.page(later, query.limit, _by_time, _lister(later, query, caller))


def _by_time(match: Stored) -> tuple[int, int]:
    until: datetime | None = match.deadline
    return (round(until.timestamp() * 1000) if until else 2**62, match.id)


def _asked_for(match: Stored, query: Asked) -> bool:
    return query.game in {"", match.game}


def _page(found: list[Stored], query: Asked, caller: Caller) -> Page[Listed]:
    return cursors.page(found, query.limit, lambda match: (match.id,), _lister(found, query, caller))


def _lister(found: list[Stored], query: Asked, caller: Caller) -> Callable[[Stored], Listed]:
    places = log.places_of(found[: query.limit])
    return lambda match: listed(match, places[match.id], caller.user)


@room.get("/matches/<int:match_id>", public=True, refuses=("damaged",))
def show(caller: Caller, match_id: int) -> Match:
    """Show a match or table: who plays, whose turn it is, the clocks, and what whoever asks may know of the position,
    his own legal moves among it.

    Whoever is asked for a move (`my_turn`) names `expected` with it. Of a match that has ended all is told, also to an
    owner who keeps results back from himself on his pages.
    """
    return whole(visible(caller, match_id), caller)


@room.get("/matches/<int:match_id>/pulse", public=True)
def pulse(caller: Caller, match_id: int) -> MatchPulse:
    """Say in a few bytes whether anything has changed; meant to be asked for again and again."""
    told = beats.beat(visible(caller, match_id), caller.user)
    return msgspec.convert(told, MatchPulse)


@room.get("/matches/<int:match_id>/position", public=True, refuses=("damaged", "not-running"))
def position(caller: Caller, match_id: int) -> Position:
    """Tell how a match stands in words."""
    look = played_by(caller, match_id)
    played = look.played
    text = played.game.text(played.view(look.seat), look.called)
    return Position(played.position.seq, story.standing(played, look.called, look.seat), text)


@room.get("/matches/<int:match_id>/clocks", public=True, refuses=("damaged", "not-running"))
def clocks(caller: Caller, match_id: int) -> Clocks:
    """Tell what the clocks show at this moment."""
    look = played_by(caller, match_id)
    return Clocks([clock(dial) for dial in dials.dials(look.played, look.seats, caller.now)])


@room.get("/matches/<int:match_id>/log", public=True, refuses=("damaged", "not-running"))
def rows(caller: Caller, match_id: int, query: Since) -> Page[Line]:
    """List the rows of a match, oldest first, as whoever asks may read them: in notation and in words."""
    look = played_by(caller, match_id)
    key = cursors.read(query.cursor, int)
    after = max(query.after, key[0] if key else 0)
    found = story.lines(look.played, look.called, look.seat, after, look.zone)[: query.limit + 1]
    return cursors.page(found, query.limit, lambda each: (each.seq,), line)


@room.get("/matches/<int:match_id>/steps/<int:seq>", public=True, refuses=("damaged", "not-running"))
def step(caller: Caller, match_id: int, seq: int, query: Opened) -> MatchStep:
    """Show the match after one of its rows."""
    look = played_by(caller, match_id)
    found = story.step(look.played, look.called, look.seat, seq, look.zone)
    if found is None:
        raise Refused("not-found", _("The match has no such step."))
    opened = query.opened and look.played.outcome is not None
    view = story.opened(look.played, look.seat, seq) if opened else found.view
    return MatchStep(seq, view.as_plain(), line(found.line) if found.line else None)


@room.post("/matches/<int:match_id>/seen", scope="play")
def seen(caller: Caller, match_id: int) -> Done:
    """Note that the owner has seen the match as it stands, as a visit to its page does; to ask for it notes nothing."""
    home.visit(visible(caller, match_id), caller.me, caller.now)
    return Done()

"""What somebody asks about, if he may see it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.language import gettext as _
from server import lobby, log, story
from server.api.callers import Caller
from server.errors import Refused
from server.log import Played
from server.models import Match, Seat


@dataclass(frozen=True, slots=True)
class Look:
    """A match that is or was played, as whoever asks sees it: from which seat, None if from none, and in which zone."""

    played: Played
    seats: list[Seat]
    called: list[str]
    seat: int | None
    zone: str


def visible(caller: Caller, match_id: int) -> Match:
    """Return the match. Raises `Refused` (not-found) if there is none for whoever asks."""
    match = log.get(match_id)
    if not lobby.may_see(match, caller.user):
        raise Refused("not-found", _("There is no such match."))
    return match


def own_seat(caller: Caller, match: Match) -> int:
    """Return the number of the caller's seat. Raises `Refused` (not-yours)."""
    seat = log.own_number(match, caller.me)
    if seat is None:
        raise Refused("not-yours", _("You have no seat in this match."))
    return seat


def played_by(caller: Caller, match_id: int) -> Look:
    """Return a match that is or was played. Raises `Refused` (not-found, not-running, damaged)."""
    match = visible(caller, match_id)
    if match.status not in {"running", "finished"}:
        raise Refused("not-running", _("This match is not running."))
    return look(match, caller)


def look(match: Match, caller: Caller) -> Look:
    """Return a match that has begun, columns and log of one moment. Raises `Refused` (damaged)."""
    played = log.read(match)
    if match.length != played.position.seq:
        played = log.current(match.id)
    seats, user = log.places(played.match), caller.user
    seat = next((number for number, place in enumerate(seats) if user and place.user_id == user.id), None)
    return Look(played, seats, story.names(seats), seat, user.zone if user else "UTC")

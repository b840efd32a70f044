"""What players of a match decide beside their moves: time, seats, the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from engine.language import gettext as _
from server import play, seating, votes
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.seen import visible
from server.api.shapes import Answer, Body, Done, Instant, Number
from server.errors import Refused
from server.http.days import instant

room = Room("affairs", "What players decide beside their moves: time, seats, the end.")

HELD: Final = ("damaged", "frozen", "not-running", "not-yours")


class Vote(Body, frozen=True):
    """Something to propose or to agree to: a pause `until` an instant, to `resume`, to `end` the match, to `wait` for a
    `seat` that is out of time or to `replace` it; `nothing` withdraws what the owner wants."""

    topic: Literal["pause", "resume", "end", "wait", "replace", "nothing"]
    until: Instant | None = None
    seat: Number | None = None


class Voted(Answer, frozen=True):
    """Whether it is decided by that."""

    decided: bool


@room.post("/matches/<int:match_id>/resign", scope="play", refuses=HELD)
def resign(caller: Caller, match_id: int) -> Done:
    """Give the match up."""
    return _done(caller, match_id, seating.resign)


@room.post("/matches/<int:match_id>/cancel", scope="play", refuses=HELD)
def cancel(caller: Caller, match_id: int) -> Done:
    """Call the match off before the first move."""
    return _done(caller, match_id, seating.cancel)


@room.post("/matches/<int:match_id>/nudge", scope="play", refuses=HELD)
def nudge(caller: Caller, match_id: int) -> Done:
    """Have those awaited told once more."""
    return _done(caller, match_id, play.nudge)


@room.post("/matches/<int:match_id>/back", scope="play", refuses=HELD)
def come_back(caller: Caller, match_id: int) -> Done:
    """Take the owner's seat back from the bot that took it over."""
    return _done(caller, match_id, seating.come_back)


@room.post("/matches/<int:match_id>/seats/<int:seat>/offer", scope="play", refuses=HELD)
def offer(caller: Caller, match_id: int, seat: int) -> Done:
    """Let anybody take over a seat that a bot plays."""
    visible(caller, match_id)
    seating.offer(match_id, seat, caller.me, "api", now=caller.now)
    return Done()


@room.post(
    "/matches/<int:match_id>/seats/<int:seat>/take",
    scope="tables",
    refuses=("already-seated", "damaged", "frozen", "not-open", "not-running", "unconfirmed"),
)
def take(caller: Caller, match_id: int, seat: int) -> Done:
    """Take over a free seat."""
    visible(caller, match_id)
    seating.take(match_id, seat, caller.me, "api", now=caller.now)
    return Done()


@room.post("/matches/<int:match_id>/votes", scope="play", refuses=HELD)
def vote(caller: Caller, match_id: int, body: Vote) -> Voted:
    """Propose something, or agree to it. Who wants one thing wants nothing else any more."""
    visible(caller, match_id)
    return Voted(votes.vote(match_id, caller.me, _topic(body), "api", now=caller.now))


def _topic(body: Vote) -> str:
    """Return what is proposed as the log has it. Raises `Refused` (bad-input)."""
    if (body.until is not None) != (body.topic == "pause"):
        raise Refused("bad-input", _("A pause needs the day it ends."))
    if (body.seat is not None) != (body.topic in votes.ABOUT_LATE):
        raise Refused("bad-input", _("There is nothing to decide about this seat."))
    if body.until is not None:
        return votes.pause_topic(instant(body.until))
    if body.seat is not None:
        return f"{body.topic} {body.seat}"
    return "" if body.topic == "nothing" else body.topic


def _done(caller: Caller, match_id: int, act: Callable[..., Any]) -> Done:
    visible(caller, match_id)
    act(match_id, caller.me, "api", now=caller.now)
    return Done()

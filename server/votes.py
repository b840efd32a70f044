"""What the players of a match decide together: pausing, going on, ending, and what becomes of who is out of time.

A vote is a row of the log; what is decided follows from the rows alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from engine.language import gettext as _
from server import columns, seating, throttle, wording
from server.desk import Desk, writing
from server.errors import Refused
from server.log import Played, instant, stamp
from server.models import Seat, User
from server.proposals import standing

LONGEST_PAUSE: Final = timedelta(days=60)
MOST_PAUSES: Final = 5
MOST_WAITS: Final = 3
# Whoever has lost his seat to a bot has so long to come back; only then may the others end the match without him.
GONE: Final = timedelta(days=3)
ABOUT_LATE: Final = ("wait", "replace")


def vote(match_id: int, by: User, topic: str, via: str, *, now: datetime) -> bool:
    """Propose something or agree to it; return whether it is decided by that. One person wants one thing at a time.

    `topic` is `pause` with an instant, `resume`, `end`, `wait` or `replace` with the number of a seat that is out of
    time, or "" to want nothing any more. Raises `Refused` (bad-input, not-yours, not-running, throttled).
    """
    throttle.count("affair by", f"{by.id} {match_id}", now)
    with writing(match_id, now) as desk:
        seat = desk.own_seat(by)
        desk.require_running()
        if topic:
            _check(desk, seat, topic, now)
        elif not any(seat in proposal.seats for proposal in standing(desk.played.rows, now)):
            raise Refused("bad-input", _("You propose nothing at the moment."))
        if topic:
            desk.require_room(seat)
        if not any(proposal.topic == topic and seat in proposal.seats for proposal in standing(desk.played.rows, now)):
            desk.put("vote", seat, topic, via)
        # Said a second time it may be decided: somebody else who had a say may have left.
        if not topic or not _decided(desk, topic, now):
            return False
        _carry_out(desk, seat, topic, via)
        return True


def pause_topic(until: datetime) -> str:
    """Return the topic of a pause until then, to whole minutes so that two who mean the same say the same."""
    return f"pause {stamp(until.astimezone(UTC).replace(second=0, microsecond=0))}"


def voters(seats: list[Seat], played: Played, topic: str) -> list[int]:
    """Return the seats of the people who have a say: all, or all but the one who is out of time."""
    word, _space, rest = topic.partition(" ")
    late = int(rest) if word in ABOUT_LATE else None
    return [number for number, seat in enumerate(seats) if not seat.user.bot and number != late]


def carried(topic: str, wanting: Collection[int], having: Sequence[int]) -> bool:
    """Whether the seats that want it are enough of those that have a say."""
    for_it = sum(seat in wanting for seat in having)
    # Of somebody who is not there the most decide; what touches all needs all.
    return 2 * for_it > len(having) if topic.split()[0] in ABOUT_LATE else for_it == len(having)


def pauses_left(played: Played) -> int:
    """Return how many more pauses the match may have."""
    return MOST_PAUSES - sum(row.kind == "pause" and row.via != "clock" for row in played.rows)


def waits_left(played: Played, late: int) -> int:
    """Return how many more times the seat may be waited for."""
    return MOST_WAITS - sum(row.kind == "wait" and row.seat == late for row in played.rows)


def _decided(desk: Desk, topic: str, now: datetime) -> bool:
    wanting = next(proposal.seats for proposal in standing(desk.played.rows, now) if proposal.topic == topic)
    return carried(topic, wanting, voters(desk.seats, desk.played, topic))


def _carry_out(desk: Desk, seat: int, topic: str, via: str) -> None:
    word, _space, rest = topic.partition(" ")
    if word == "replace":
        desk.hand_to_bot(int(rest), via)
        desk.put("offer", int(rest), "", via)
    elif word == "wait":
        desk.put("wait", int(rest), "", via)
    elif word == "pause":
        desk.put("pause", seat, rest, via)
    else:
        desk.put(word, seat, "", via)


def _check(desk: Desk, seat: int, topic: str, now: datetime) -> None:
    word, _space, rest = topic.partition(" ")
    if word == "pause":
        _check_pause(desk, rest, now)
    elif word == "resume" and not rest:
        if not desk.played.clocks.paused(now):
            raise Refused("bad-input", _("The match is not paused."))
    elif word in ABOUT_LATE and rest in map(str, range(len(desk.seats))):
        _check_late(desk, seat, word, int(rest))
    elif topic == "end":
        _check_end(desk, seat, now)
    else:
        raise Refused("bad-input", _("This cannot be proposed."))


def _check_pause(desk: Desk, rest: str, now: datetime) -> None:
    try:
        until = instant(rest)
        length = until - now
    except (ValueError, TypeError):
        raise Refused("bad-input", _("A pause needs the day it ends.")) from None
    if length <= timedelta(0):
        raise Refused("bad-input", _("A pause ends on a day to come."))
    if length > LONGEST_PAUSE or pause_topic(until) != f"pause {rest}":
        raise Refused("bad-input", _("A pause ends within {n} days.").format(n=LONGEST_PAUSE.days))
    if desk.played.clocks.rule.limitless:
        raise Refused("bad-input", _("There is no clock in this match to stop."))
    if not pauses_left(desk.played):
        raise Refused("bad-input", _("A match is paused {n} times at most.").format(n=MOST_PAUSES))


def _check_end(desk: Desk, by: int, now: datetime) -> None:
    for number, seat in enumerate(desk.seats):
        lost = next((row for row in reversed(desk.played.rows) if row.kind == "takeover" and row.seat == number), None)
        if lost and seating.own_lost_seat(desk.played, desk.seats, seat.owner) == number:
            until = desk.played.clocks.passed(instant(lost.at), GONE)
            if now < until:
                told = _("{name} may still come back. Without him the match can be ended from {when} on.")
                when = wording.when(until, desk.seats[by].user.zone)
                raise Refused("bad-input", told.format(name=seat.owner.name, when=when))


def _check_late(desk: Desk, seat: int, word: str, late: int) -> None:
    if seat == late or not columns.undecided(desk.played, late):
        raise Refused("bad-input", _("There is nothing to decide about this seat."))
    if word == "wait" and not waits_left(desk.played, late):
        raise Refused("bad-input", _("A seat is waited for {n} times at most.").format(n=MOST_WAITS))

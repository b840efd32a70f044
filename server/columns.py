"""What is remembered of a match beside its log: the columns that lists and sweeps look at."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from engine.counting import TICK
from server import outbox
from server.errors import Refused
from server.log import Played, get, instant, places, read
from server.models import Match, Seat, User
from server.models.statements import change

# How long the others may take to decide what becomes of somebody who is out of time; then a bot takes the seat. Neither
# pauses nor outages count.
DECIDING: Final = timedelta(days=3)

# A bot moves at once; should nothing let it, the clock does after this.
BOTS: Final = timedelta(hours=1)


# What `store` brings up to date.
_STORE: Final = change(
    Match,
    (
        "status",
        "started_at",
        "finished_at",
        "length",
        "last_hash",
        "to_act",
        "asked",
        "bot_acts",
        "deadline",
        "reason",
        "offers",
        "reminder_at",
        "leased_until",
    ),
)


def deadline(played: Played) -> datetime | None:
    """Return when the clock acts next: the first awaited seat is out of time, or the others have not decided."""
    found = (until for seat in played.position.to_act if (until := seat_deadline(played, seat)))
    return min(found, default=None)


def seat_deadline(played: Played, seat: int) -> datetime | None:
    """Return when the clock acts on a seat, None if it is not awaited or there is no limit."""
    late = undecided(played, seat)
    if late:
        return played.clocks.passed(late, DECIDING)
    until = played.clocks.deadline(seat)
    return until and max(until, _bots_time(played, seat) or until)


def _bots_time(played: Played, seat: int) -> datetime | None:
    """Return until when a bot that has just been seated may move, None for a seat that no bot has been given."""
    if seat not in played.position.taken_over:
        return None
    seated = next((row.at for row in reversed(played.rows) if row.seat == seat and row.kind == "takeover"), None)
    return instant(seated) + BOTS if seated else None


def undecided(played: Played, seat: int) -> datetime | None:
    """Return since when the others are to decide what becomes of a seat that is out of time; None if they are not."""
    position = played.position
    if played.clocks.rule.missing != "vote" or seat not in position.to_act:
        return None
    for row in reversed(played.rows[position.asked[seat] or 0 :]):
        if row.seat == seat and row.kind in {"timeout", "wait", "takeover"}:
            return instant(row.at) if row.kind == "timeout" else None
    return None


def asked(played: Played) -> int:
    """Return the number of the last row at which an awaited seat was asked; 0 when nobody is awaited."""
    position = played.position
    return max((position.asked[seat] or 0 for seat in position.to_act), default=0)


def cached(played: Played, seats: Sequence[Seat]) -> dict[str, Any]:
    """Return the columns of `Match` that the log decides."""
    outcome, position = played.outcome, played.position
    return {
        "status": "finished" if outcome else "running",
        "started_at": instant(played.setup_row.at),
        "finished_at": played.last_at if outcome else None,
        "length": position.seq,
        "last_hash": bytes.fromhex(played.last_hash),
        "to_act": ",".join(map(str, position.to_act)),
        "asked": asked(played),
        "bot_acts": any(seats[seat].user.bot for seat in position.to_act),
        "deadline": deadline(played),
        "reason": outcome.reason if outcome else "",
        "offers": bool(position.offered) and not outcome,
    }


def steps(user: User) -> list[int]:
    """Return at which percentages of the time a person wants reminders, ascending."""
    return sorted({int(step) for step in user.reminders.split(",") if step.isdecimal() and 0 < int(step) < 100})


def reminders(played: Played, seat: int, user: User) -> list[tuple[datetime, int]]:
    """Return when reminders of an awaited person are due, and at which percentage; none for a bot."""
    if user.bot or undecided(played, seat):
        return []
    moments = [(played.clocks.part(seat, _share(played, seat, step)), step) for step in steps(user)]
    return [(moment, step) for moment, step in moments if moment]


def _share(played: Played, seat: int, step: int) -> Fraction:
    """Return the share of the time at which a percentage of the seat's own time is used: after what outages gave."""
    given = played.clocks.given_back(seat)
    since = played.clocks.clock(seat).asked_at if given else None
    total = played.clocks.left(seat, since) if since else None
    before = Fraction(given // TICK, total // TICK) if total else 0
    return before + (1 - before) * Fraction(step, 100)


def next_reminder(played: Played, seats: Sequence[Seat], after: datetime) -> datetime | None:
    """Return the first instant after the given one at which a reminder of an awaited person is due."""
    due = (moment for seat in played.position.to_act for moment, _ in reminders(played, seat, seats[seat].user))
    return min((moment for moment in due if moment > after), default=None)


def _due(played: Played, seats: Sequence[Seat], after: datetime, now: datetime) -> datetime | None:
    """Return what `next_reminder` does; now if the clocks, as they stand now, are past it and nobody was told."""
    acting = played.position.to_act
    moments = [(moment, seat) for seat in acting for moment, _ in reminders(played, seat, seats[seat].user)]
    past = {seat for moment, seat in moments if moment <= after}
    if any(_untold(played, seat, seats[seat].user, now) for seat in past):
        return now
    return min((moment for moment, _ in moments if moment > after), default=None)


def _untold(played: Played, seat: int, user: User, now: datetime) -> bool:
    until = seat_deadline(played, seat)
    in_time = until is not None and until > now
    return in_time and not outbox.told("reminder", user, played.match, played.position.asked[seat] or 0)


def remind_anew(user: User, now: datetime) -> None:
    """Look again when reminders are due where the person is awaited; the caller holds a transaction."""
    for seat in Seat.select(Seat, Match).join(Match).where((Seat.user == user) & (Match.status == "running")):
        if seat.number in seat.match.awaited:
            with suppress(Refused):
                played = read(get(seat.match_id, hold=True))
                due = next_reminder(played, places(played.match), now)
                Match.update(reminder_at=due).where(Match.id == seat.match_id).execute()


def store(played: Played, seats: Sequence[Seat], now: datetime) -> None:
    """Bring the columns up to date after rows were appended, inside the caller's transaction."""
    match = played.match
    fields = cached(played, seats)
    # One that is due and has not been sent stays due.
    pending = match.reminder_at if match.reminder_at and match.reminder_at <= now else None
    due = _due(played, seats, pending - TICK if pending else now, now)
    fields |= {"reminder_at": due, "leased_until": None}
    for name, value in fields.items():
        setattr(match, name, value)
    _STORE.put(id=match.id, **fields)
    if played.outcome:
        for number, seat in enumerate(seats):
            won = number in played.outcome.winners
            Seat.update(score=played.outcome.scores[number], won=won).where(Seat.id == seat.id).execute()

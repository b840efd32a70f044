"""Deadlines and reminders: found by one query each, claimed with a lease, carried out by the write path."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from server import columns, db, log, notify, outages, timeouts
from server.errors import Refused
from server.models import Match

logger = logging.getLogger(__name__)

# A scheduler that dies in the middle holds nothing up for longer than this.
LEASE: Final = timedelta(minutes=2)


def run(now: Callable[[], datetime], limit: int = 100) -> int:
    """Time out whoever is over his deadline, oldest first; return how many matches moved on.

    Nobody is timed out while an outage has not been given back.
    """
    if outages.unsettled(now()):
        return 0
    moved = 0
    for match in due(now(), limit):
        if claim(match, now()):
            try:
                moved += timeouts.time_out(match.id, now=now())
            except Refused as fault:
                # A damaged match stays leased until the lease ends: it never blocks the others.
                logger.warning("match %s cannot be timed out: %s", match.id, fault.sentence)
            except Exception:
                logger.exception("match %s cannot be timed out", match.id)
    return moved


def due(now: datetime, limit: int) -> list[Match]:
    """Return the running matches whose deadline has passed and that no scheduler holds."""
    free = Match.leased_until.is_null() | (Match.leased_until <= now)
    query = Match.select().where(
        (Match.status == "running") & (Match.deadline <= now) & free & Match.frozen_at.is_null()
    )
    return list(query.order_by(Match.deadline).limit(limit))


def claim(match: Match, now: datetime) -> bool:
    """Take the match for one lease; return False if another scheduler was quicker."""
    unchanged = Match.leased_until.is_null() if match.leased_until is None else Match.leased_until == match.leased_until
    with db.transaction():
        mine = (
            Match.update(leased_until=now + LEASE)
            .where((Match.id == match.id) & (Match.deadline == match.deadline) & unchanged)
            .execute()
        )
    return bool(mine == 1)


def release(match_id: int) -> None:
    """Let go of a match with which nothing was done, so that it need not wait for the end of the lease."""
    with db.transaction():
        Match.update(leased_until=None).where(Match.id == match_id).execute()


def remind(now: datetime, limit: int = 200) -> int:
    """Queue the reminders that are due; return for how many matches."""
    # Whoever is out of time already, after an outage say, is not told that he still has some.
    in_time = (Match.status == "running") & (Match.reminder_at <= now) & (Match.deadline > now)
    due_now = Match.select().where(in_time & Match.frozen_at.is_null()).order_by(Match.reminder_at).limit(limit)
    count = 0
    for match in list(due_now) if not outages.unsettled(now) else ():
        try:
            count += _remind(match, now)
        except Refused as fault:
            logger.warning("match %s cannot be reminded of: %s", match.id, fault.sentence)
            with db.transaction():
                Match.update(reminder_at=None).where(Match.id == match.id).execute()
    return count


def _remind(match: Match, now: datetime) -> bool:
    with db.transaction():
        held = log.get(match.id, hold=True)
        if held.reminder_at != match.reminder_at or held.status != "running":
            return False
        played, seats = log.read(held), log.places(held)
        for number in played.position.to_act:
            steps = [step for moment, step in columns.reminders(played, number, seats[number].user) if moment <= now]
            until = columns.seat_deadline(played, number)
            if steps and until and until > now:
                notify.reminder(held, seats[number], played.position.asked[number] or 0, steps[-1], until, now)
        following = columns.next_reminder(played, seats, now)
        Match.update(reminder_at=following).where(Match.id == match.id).execute()
    return True

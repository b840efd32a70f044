"""Deadlines and reminders: found by one query each, claimed some at once for a lease, carried out by the write path."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from server import columns, db, log, notify, outages, timeouts
from server.errors import Refused
from server.models import Match
from server.models.statements import Statement

logger = logging.getLogger(__name__)

# A scheduler that dies in the middle holds nothing up for longer than this.
LEASE: Final = timedelta(minutes=2)
# So many matches are claimed at once, so many stored at once, and for so long a run goes on.
BATCH: Final = 100
TOGETHER: Final = 10
SPAN: Final = timedelta(seconds=10)


def run(now: Callable[[], datetime], limit: int = 5000) -> int:
    """Time out whoever is over his deadline, oldest first; return how many matches moved on.

    Nobody is timed out while an outage has not been given back. No more than `limit` matches are taken, and none after
    `SPAN`: the next tick goes on.
    """
    began = now()
    if outages.unsettled(began):
        return 0
    moved = taken = 0
    while taken < limit and now() - began <= SPAN and _LATE.tuples(now=now()):
        matches = claim(due(now(), min(limit - taken, BATCH)), now())
        if not matches:
            break
        taken += len(matches)
        moved += _together(matches, lambda match: _time_out(match, now()))
    return moved


def _together(matches: Sequence[Match], act: Callable[[Match], bool]) -> int:
    """Act on matches, some in each transaction, since to store takes longer than to act; return for how many it did.

    What fails in one of them is undone by itself: `act` raises nothing.
    """
    done = 0
    for first in range(0, len(matches), TOGETHER):
        # By number, as all do who hold several.
        some = sorted(matches[first : first + TOGETHER], key=lambda match: match.id)
        for match in some:
            log.fetch(match.id)
        with db.transaction():
            done += sum(act(match) for match in some)
    return done


def _time_out(match: Match, now: datetime) -> bool:
    try:
        return timeouts.time_out(match.id, now=now)
    except Refused as fault:
        # A damaged match stays leased until the lease ends: it never blocks the others.
        logger.warning("match %s cannot be timed out: %s", match.id, fault.sentence)
    except Exception:
        logger.exception("match %s cannot be timed out", match.id)
    return False


def due(now: datetime, limit: int) -> Any:
    """Return the query of the running matches whose deadline has passed and that no scheduler holds."""
    return Match.select().where(_is_late(now)).order_by(Match.deadline).limit(limit)


def _is_late(now: Any) -> Any:
    return (Match.status == "running") & (Match.deadline <= now) & free(now)


def free(now: Any) -> Any:
    """Return the condition that neither a scheduler nor a keeper holds a match."""
    return (Match.leased_until.is_null() | (Match.leased_until <= now)) & Match.frozen_at.is_null()


def claim(query: Any, now: datetime) -> list[Match]:
    """Take the matches that a query finds for one lease, but for those that another scheduler takes at this moment;
    return them. The query asks for `free` ones."""
    with db.transaction():
        taken = list(db.locked(query, skip=True))
        Match.update(leased_until=now + LEASE).where(Match.id.in_([match.id for match in taken])).execute()
    return taken


def release(match_id: int) -> None:
    """Let go of a match with which nothing was done, so that it need not wait for the end of the lease."""
    with db.transaction():
        Match.update(leased_until=None).where(Match.id == match_id).execute()


def remind(now: datetime, limit: int = 2000) -> int:
    """Queue the reminders that are due, in `limit` matches at most; return for how many."""
    count = taken = 0
    if outages.unsettled(now):
        return 0
    while taken < limit and _UNREMINDED.tuples(now=now):
        matches = claim(to_remind(now, min(limit - taken, BATCH)), now)
        if not matches:
            break
        taken += len(matches)
        count += _together(matches, lambda match: _reminded(match, now))
    return count


def to_remind(now: datetime, limit: int) -> Any:
    """Return the query of the running matches in which a reminder is due and that no scheduler holds."""
    return Match.select().where(_is_to_remind(now)).order_by(Match.reminder_at).limit(limit)


def _is_to_remind(now: Any) -> Any:
    # Whoever is out of time already, after an outage say, is not told that he still has some.
    return (Match.status == "running") & (Match.reminder_at <= now) & (Match.deadline > now) & free(now)


# Nothing is held where nothing is due, as nearly always; so these are looked for first.
_LATE: Final = Statement[Match](lambda now: Match.select(Match.id).where(_is_late(now)).limit(1))
_UNREMINDED: Final = Statement[Match](lambda now: Match.select(Match.id).where(_is_to_remind(now)).limit(1))


def _reminded(match: Match, now: datetime) -> bool:
    try:
        return _remind(match, now)
    except Refused as fault:
        logger.warning("match %s cannot be reminded of: %s", match.id, fault.sentence)
        with db.transaction():
            Match.update(reminder_at=None, leased_until=None).where(Match.id == match.id).execute()
    except Exception:
        logger.exception("match %s cannot be reminded of", match.id)
    return False


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
        Match.update(reminder_at=following, leased_until=None).where(Match.id == match.id).execute()
    return True

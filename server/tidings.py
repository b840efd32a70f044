"""Who must be told of what by other ways than mail, and how these briefs leave.

A brief is queued in the transaction of its cause like a mail, once for each way that takes such news, waits over its
reader's quiet hours, and is tried again like a mail; after long failure nothing more is tried that way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, Final

from server import db, failing, outbox, quiet
from server.channels import Brief, DeliveryError, Kind
from server.handing import Writer
from server.models import Match, Outbox, Seat, User, Way
from server.models.statements import Statement

# What a way may take, and what is sent to see whether it works.
NEWS: Final = ("turn", "reminder", "start", "end", "digest")
TRIAL: Final = "trial"

_LIVE: Final = Statement[Way](lambda user: Way.select().where((Way.user == user) & Way.stopped_at.is_null()))


def live(mail: Outbox) -> Way | None:
    """Return the way that a brief goes, None if it was taken away or nothing is sent there."""
    way = _way(mail)
    return way if way is not None and way.stopped_at is None else None


def takes(user: User, news: str) -> bool:
    """Whether any way of the person's takes such news."""
    return any(news in way.takes for way in _ways(user))


def turn(match: Match, seat: Seat, asked: int, due_at: datetime, now: datetime) -> None:
    """Queue what tells a seat that it is newly awaited; the caller holds a transaction, here and below."""
    _tell(match, seat, seat.user, "turn", f"{seat.number} {asked}", now, asked=asked, due_at=due_at)


def started(match: Match, seat: Seat, now: datetime, *, awaited: bool) -> None:
    """Queue what tells that a match has begun; a way that takes turns too is told of the first one and no more."""
    besides = "turn" if awaited else ""
    _tell(match, seat, seat.user, "start", "", now, besides=besides)


def reminder(match: Match, seat: Seat, cause: str, asked: int, now: datetime, facts: Mapping[str, Any]) -> None:
    """Queue a reminder of an awaited seat; `cause` tells it from others of the seat, `facts` say why it comes."""
    _tell(match, seat, seat.user, "reminder", f"{seat.number} {cause}", now, asked=asked, facts=facts)


def ended(match: Match, seats: Sequence[Seat], now: datetime) -> None:
    """Queue what tells that a match has ended, for all who ever had a seat in it."""
    told = {user.id: (seat, user) for seat in seats for user in (seat.owner, seat.user)}
    for seat, user in told.values():
        _tell(match, seat, user, "end", "", now)


def trial(way: Way, now: datetime) -> None:
    """Queue a trial message in place of one that waits, whatever the way takes and whatever the hour."""
    cause, trials = f"{now.timestamp():.3f}", f"way {way.id} {TRIAL} "
    others = Outbox.key.startswith(trials) & (Outbox.key != trials + cause)
    outbox.drop(_briefs(way) & (Outbox.state == "queued") & others, "another trial takes its place", now)
    _queue(way, TRIAL, cause, now, way.user)


def digest(user: User, day: str, now: datetime) -> None:
    """Queue the list of a day of what waits for the person."""
    for way in _ways(user):
        if "digest" in way.takes:
            _queue(way, "digest", day, now, user)


def _tell(
    match: Match,
    seat: Seat,
    user: User,
    news: str,
    cause: str,
    now: datetime,
    *,
    besides: str = "",
    asked: int | None = None,
    due_at: datetime | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    # Who has lost his seat cannot silence the match any more, and hears of its end alone.
    if seat.silent and seat.user_id == user.id:
        return
    for way in _ways(user):
        if news in way.takes and besides not in way.takes:
            about = f"{match.id} {cause}".rstrip()
            _queue(way, news, about, now, user, match=match, seat=seat.number, asked=asked, due_at=due_at, facts=facts)


def _queue(
    way: Way,
    news: str,
    cause: str,
    now: datetime,
    user: User,
    *,
    match: Match | None = None,
    seat: int | None = None,
    asked: int | None = None,
    due_at: datetime | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    due = due_at or now
    outbox.queue(
        way.kind,
        key=f"way {way.id} {news} {cause}"[:120],
        now=now,
        user=user,
        match=match,
        seat=seat,
        asked=asked,
        facts={"news": news, **(facts or {})},
        due_at=due if news == TRIAL else quiet.over(user, due),
        way=way.id,
    )


def run(channels: Mapping[str, Kind], write: Writer[Brief], now: Callable[[], datetime]) -> int:
    """Hand over the briefs that are due; return how many were taken.

    Kinds of ways do not wait for each other: each is worked on by a thread of its own, if there are several.
    """
    due = sorted(outbox.untold(now()) & set(channels))

    def work(kind: str) -> int:
        with db.connected():
            resting = failing.resting(Way, Way.id, Outbox.way, Outbox.kind == kind, now())
            return outbox.tell_due(kind, channels[kind], write, now, heard, resting)

    if len(due) < 2:
        return sum(map(work, due))
    with ThreadPoolExecutor(len(due)) as threads:
        return sum(threads.map(work, due))


def next_tries(user: User, now: datetime) -> dict[int, datetime]:
    """Return by number when each of the person's ways that failed is tried again, but for those nothing waits for.

    New messages wait with those that have failed, so these say when, or a trial message.
    """
    tried = (Outbox.attempts > 0) | Outbox.key.contains(f" {TRIAL} ")
    waiting = (Outbox.user == user) & Outbox.way.is_null(False) & Outbox.done_at.is_null() & (Outbox.state == "queued")
    rows = Outbox.select(Outbox.way, Outbox.due_at).where(waiting & tried).order_by(Outbox.due_at.desc())
    return {row.way: max(row.due_at, now) for row in rows if row.way is not None}


def forget(way: Way, now: datetime) -> None:
    """Forget a way, and what was to be told there; the caller holds a transaction."""
    outbox.drop(_briefs(way), "the way was taken away", now)
    Way.delete().where(Way.id == way.id).execute()
    others = Way.select().where(Way.user == way.user_id).exists()
    User.update(other_ways=others).where(User.id == way.user_id).execute()


def heard(mail: Outbox, fault: DeliveryError | None, now: datetime) -> None:
    """Note whether a brief was taken; after long failure send none there any more, and tell the person by mail.

    A way that its service knows no more is forgotten, as if its owner had taken it away.
    """
    way = _way(mail)
    if way is None:
        return
    if fault is not None and fault.gone:
        forget(way, now)
        return
    if fault is None:
        Way.update(told_at=now).where(Way.id == way.id).execute()
        if mail.facts["news"] == TRIAL:
            outbox.put_all_forward(_briefs(way), now)
    else:
        Way.update(fault=fault.said).where(Way.id == way.id).execute()
    if failing.heard(Way, Way.id == way.id, _briefs(way), fault, now) and fault is not None:
        _stop(way, mail, fault, now)


def _stop(way: Way, mail: Outbox, fault: DeliveryError, now: datetime) -> None:
    # What was in hand of another scheduler at that moment has failed as well.
    if not Way.update(stopped_at=now).where((Way.id == way.id) & Way.stopped_at.is_null()).execute():
        return
    outbox.drop(_briefs(way), f"the way was given up: {fault}"[:200], now)
    # Whoever has just asked for a trial looks at what becomes of it.
    if way.user.reachable and mail.facts["news"] != TRIAL:
        key, facts = f"untold {way.id} {now.timestamp():.0f}", {"label": way.label, "reason": fault.said}
        outbox.queue("untold", key=key, now=now, user=way.user, facts=facts)


def _way(mail: Outbox) -> Way | None:
    """Return the way that a brief was queued for; a database copied into another may give its number once more."""
    way: Way | None = Way.get_or_none((Way.id == mail.way) & (Way.user == mail.user_id))
    return way


def _briefs(way: Way) -> Any:
    return (Outbox.user == way.user_id) & (Outbox.way == way.id)


def _ways(user: User) -> list[Way]:
    """Return the ways by which the person may be told; nothing is asked about who has none, as most."""
    return _LIVE.rows(user=user.id) if user.other_ways else []

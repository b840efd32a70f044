"""Who must be told of what: queues mails in the transaction of their cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from engine.replay import Row
from server import links, outbox
from server.log import Played, places
from server.models import Match, Seat, User

# Somebody who has just looked at the match may be about to move: his mail waits this long and is then checked again.
PRESENT: Final = timedelta(minutes=2)
PRESENT_DELAY: Final = timedelta(minutes=3)


def started(played: Played, now: datetime) -> None:
    """Tell everybody that the match has begun; who is to move first is told so in the same mail."""
    seats = places(played.match)
    asked = _ask(played, seats, 0, now)
    for seat in seats:
        if seat.number not in asked and seat.user.reachable:
            _queue("start", played.match, seat, now, key=f"start {played.match.id} {seat.user_id}")


def advanced(played: Played, rows: Sequence[Row], now: datetime) -> None:
    """Tell of rows just appended: those newly awaited, all of the end, all of time-outs and takeovers."""
    match, last = played.match, rows[-1].seq
    if played.outcome:
        for user in everyone(match):
            outbox.queue("end", key=f"end {match.id} {user.id}", now=now, user=user, match=match)
        return
    seats = places(match)
    told = _ask(played, seats, rows[0].seq, now)
    news = [row.seq for row in rows if row.kind in {"timeout", "takeover", "resign"}]
    if news:
        by = {row.seat for row in rows if row.kind == "resign"}
        for seat in seats:
            if seat.number in told or seat.number in by:
                continue
            for user in {seat.user, seat.owner}:
                if user.reachable:
                    key = f"notice {match.id} {user.id} {last}"
                    facts = {"rows": news}
                    outbox.queue("notice", key=key, now=now, user=user, match=match, seat=seat.number, facts=facts)


def reminder(match: Match, seat: Seat, now: datetime) -> None:
    """Queue the reminder of an awaited seat, once for each deadline."""
    if seat.user.reachable and seat.user.turn_mail:
        due = int(match.deadline.timestamp()) if match.deadline else 0
        key = f"reminder {match.id} {seat.number} {seat.user_id} {due}"
        _queue("reminder", match, seat, now, key=key, asked=match.asked)


def catch_up(user: User, now: datetime) -> None:
    """Queue the turn mails owed to a person who could or would not be told before; the caller holds a transaction."""
    if not (user.reachable and user.turn_mail):
        return
    held = Seat.select(Seat, Match).join(Match).where((Seat.user == user) & (Match.status == "running"))
    for seat in held:
        match = seat.match
        if seat.number in match.awaited and not outbox.told("turn", user, match, match.asked):
            key = f"turn {match.id} {seat.number} {match.asked} {user.id} again {now.timestamp():.0f}"
            _queue("turn", match, seat, now, key=key, asked=match.asked)


def full(match: Match, now: datetime) -> None:
    """Tell the host that every seat is taken and the match waits for a start by hand."""
    if match.host.reachable:
        outbox.queue("full", key=f"full {match.id} {now.timestamp():.0f}", now=now, user=match.host, match=match)


def invited(match: Match, address: str, by: User, now: datetime) -> None:
    """Queue an invitation to a mail address, once a day for each table."""
    key = f"invite {match.id} {now:%Y%m%d} {links.digest(address.casefold()).hex()}"
    outbox.queue("invite", key=key, now=now, address=address, match=match, facts={"by": by.id})


def everyone(match: Match) -> set[User]:
    """Return the reachable people who ever had a seat in the match."""
    users = {user for seat in places(match) for user in (seat.user, seat.owner)}
    return {user for user in users if user.reachable}


def _ask(played: Played, seats: Iterable[Seat], since: int, now: datetime) -> set[int]:
    """Queue the turn mail of every seat that is awaited since row `since` or later; return the seats that get one."""
    position = played.position
    told = set()
    for number, seat in enumerate(seats):
        asked = position.asked[number]
        if number not in position.to_act or asked is None or asked < since:
            continue
        if seat.user.reachable and seat.user.turn_mail:
            present = seat.visited_at is not None and now - seat.visited_at < PRESENT
            _queue(
                "turn",
                played.match,
                seat,
                now + PRESENT_DELAY if present else now,
                key=f"turn {played.match.id} {number} {asked} {seat.user_id}",
                asked=asked,
                now=now,
            )
            told.add(number)
    return told


def _queue(
    kind: str,
    match: Match,
    seat: Seat,
    due_at: datetime,
    *,
    key: str,
    asked: int | None = None,
    now: datetime | None = None,
) -> None:
    outbox.queue(
        kind,
        key=key,
        now=now or due_at,
        user=seat.user,
        match=match,
        seat=seat.number,
        asked=asked,
        due_at=due_at,
    )

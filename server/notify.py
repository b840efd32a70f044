"""Who must be told of what: queues mails in the transaction of their cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from engine.replay import Row
from server import hooks, links, outbox, presence, tidings
from server.log import Played, places
from server.models import Match, Outage, Seat, Unwanted, User

# Somebody who has just looked at the match may be about to move: his mail waits this long and is then checked again.
PRESENT: Final = timedelta(minutes=2)
PRESENT_DELAY: Final = timedelta(minutes=3)
# The wishes of those who get a mail for each turn.
TOLD_EACH: Final = frozenset({"at-once", "away"})
# Rows that those are told of by mail who are not to move.
NEWS: Final = frozenset({"timeout", "takeover", "resign", "offer", "undo", "vote", "wait", "pause", "resume"})


def started(played: Played, now: datetime) -> None:
    """Tell everybody that the match has begun, but for who is there and sees it.

    Who is to move first is told so in the same mail.
    """
    seats = places(played.match)
    asked = _ask(played, seats, 0, now)
    for seat in seats:
        if seat.number not in asked and seat.user.reachable and not _present(seat, now):
            _queue("start", played.match, seat, now, key=f"start {played.match.id} {seat.user_id}")
        if not _present(seat, now):
            tidings.started(played.match, seat, now, awaited=seat.number in played.position.to_act)


def advanced(
    played: Played,
    seats: Sequence[Seat],
    rows: Sequence[Row],
    now: datetime,
    dropped: Mapping[int, str] = MappingProxyType({}),
) -> None:
    """Tell of rows just appended: those newly awaited, all of the end, all of what is not a move.

    `dropped` says, by seat, why a prepared move was not made; the turn mail tells its player.
    """
    match = played.match
    if played.outcome:
        hooks.ended(match, seats, now)
        tidings.ended(match, seats, now)
        for user in everyone(match):
            outbox.queue("end", key=f"end {match.id} {user.id}", now=now, user=user, match=match)
        return
    told = _ask(played, seats, rows[0].seq, now, dropped)
    # That somebody wants nothing any more, the page says.
    news = [row for row in rows if row.kind in NEWS and (row.kind != "vote" or row.text)]
    _tell(played, seats, news, told, now)
    if any(row.kind == "nudge" for row in rows):
        _nudge(played, seats, rows[-1], now)


def _tell(played: Played, seats: Sequence[Seat], news: Sequence[Row], told: set[int], now: datetime) -> None:
    """Queue one notice of what is not a move to everybody but who did it and who gets a turn mail."""
    match = played.match
    did_it = {row.seat for row in news if row.kind in {"resign", "undo", "vote"} and row.via != "clock"}
    undone = any(row.kind == "undo" for row in news)
    for seat in seats:
        if not news or seat.number in told or seat.number in did_it:
            continue
        for user in {seat.user, seat.owner}:
            # Who had not been told of his turn need not hear that it was none.
            if user.reachable and (not undone or outbox.has_left(user, match)):
                key = f"notice {match.id} {user.id} {_cause(news[-1], now)}"
                facts = {"rows": [row.seq for row in news]}
                outbox.queue("notice", key=key, now=now, user=user, match=match, seat=seat.number, facts=facts)


def _cause(row: Row, now: datetime) -> str:
    """Return what a notice is of: a row, or what a seat proposes on a day, however often it changes its mind."""
    if row.kind != "vote":
        return str(row.seq)
    # A pause of another length is no other proposal.
    topic = "pause" if row.text.startswith("pause") else row.text
    return f"seat {row.seat} {topic} {now:%Y%m%d}"


def _nudge(played: Played, seats: Sequence[Seat], row: Row, now: datetime) -> None:
    for number in played.position.to_act:
        seat, asked = seats[number], played.position.asked[number]
        tidings.reminder(played.match, seat, f"nudge {row.seq}", asked or 0, now, {"asker": row.seat})
        # Somebody asks in person: only who wants to hear nothing of this very match is left in peace.
        if seat.user.reachable and seat.turn_mail != "off":
            key = f"nudge {played.match.id} {number} {row.seq}"
            _queue("reminder", played.match, seat, now, key=key, asked=asked, facts={"asker": row.seat})


def reminder(match: Match, seat: Seat, asked: int, step: int, until: datetime, now: datetime) -> None:
    """Queue a reminder of an awaited seat, once for each turn, deadline and percentage of the time."""
    tidings.reminder(match, seat, f"{asked} {until.timestamp():.0f} {step}", asked, now, {"share": step})
    if seat.user.reachable and seat.wish != "off":
        key = f"reminder {match.id} {seat.number} {seat.user_id} {asked} {until.timestamp():.0f} {step}"
        _queue("reminder", match, seat, now, key=key, asked=asked, facts={"share": step})


def outage(outage: Outage, now: datetime, *, restored: bool = False) -> None:
    """Tell everybody whose deadlines have moved on, in one mail each; the caller holds a transaction.

    `restored`: what was done meanwhile is lost.
    """
    running = Seat.select(Seat.user).join(Match).where((Match.status == "running") & Match.deadline.is_null(False))
    for user in User.select().where(User.id.in_(running) & (User.bot == "")):
        if user.reachable and user.turn_mail != "off":
            facts = {"from": outage.began_at.timestamp(), "to": outage.ended_at.timestamp()}
            facts |= {"restored": True} if restored else {}
            outbox.queue("outage", key=f"outage {outage.id} {user.id}", now=now, user=user, facts=facts)


def catch_up(user: User, now: datetime) -> None:
    """Queue the turn mails owed to a person who could or would not be told before; the caller holds a transaction."""
    if not user.reachable:
        return
    held = Seat.select(Seat, Match).join(Match).where((Seat.user == user) & (Match.status == "running"))
    for seat in held:
        match = seat.match
        if seat.number not in match.awaited or seat.wish not in TOLD_EACH:
            continue
        due = _due(seat, now)
        if outbox.told("turn", user, match, match.asked):
            # It may wait for something that is no longer wished for.
            outbox.put_forward("turn", user, match, match.asked, now + PRESENT_DELAY if _present(seat, now) else due)
        else:
            key = f"turn {match.id} {seat.number} {match.asked} {user.id} again {now.timestamp():.0f}"
            _queue("turn", match, seat, due, key=key, asked=match.asked, now=now)


def full(match: Match, now: datetime) -> None:
    """Tell the host that every seat is taken and the match waits for a start by hand."""
    if match.host.reachable:
        # Somebody who sits down and leaves, again and again, is one mail.
        people = " ".join(str(seat.owner_id) for seat in sorted(places(match), key=lambda seat: seat.owner_id))
        key = f"full {match.id} {now:%Y%m%d} {people}"[:120]
        outbox.queue("full", key=key, now=now, user=match.host, match=match)


def invited(match: Match, address: str, by: User, now: datetime) -> bool:
    """Queue an invitation to a mail address, once a day for each table; return False if its owner wants none."""
    if Unwanted.select().where(Unwanted.hash == links.digest(address.casefold())).exists():
        return False
    key = f"invite {match.id} {now:%Y%m%d} {links.digest(address.casefold()).hex()}"
    # A stranger's language is not known; whoever invites him shares one with him, and often his own.
    facts = {"by": by.id, "language": by.language}
    outbox.queue("invite", key=key, now=now, address=address, match=match, facts=facts)
    return True


def rematch(table: Match, match: Match, by: User, others: Sequence[User], now: datetime) -> None:
    """Tell those who played a match that somebody has opened a table for another, once for each who does.

    The caller holds a transaction.
    """
    for user in others:
        if user.reachable:
            facts = {"by": by.id, "after": match.id}
            key = f"rematch {match.id} {by.id} {user.id}"
            outbox.queue("rematch", key=key, now=now, user=user, match=table, facts=facts)


def everyone(match: Match) -> set[User]:
    """Return the reachable people who ever had a seat in the match."""
    users = {user for seat in places(match) for user in (seat.user, seat.owner)}
    return {user for user in users if user.reachable}


def _ask(
    played: Played, seats: Iterable[Seat], since: int, now: datetime, dropped: Mapping[int, str] = MappingProxyType({})
) -> set[int]:
    """Queue the turn mail of every seat that is awaited since row `since` or later; return the seats that get one."""
    position = played.position
    told, awaited = set(), []
    undone = {row.seat for row in played.rows[max(0, since - 1) :] if row.kind == "undo"}
    for number, seat in enumerate(seats):
        asked = position.asked[number]
        # Who takes a move back is there to make another.
        if number not in position.to_act or asked is None or asked < since or number in undone:
            continue
        awaited.append(seat)
        tidings.turn(played.match, seat, asked, now + PRESENT_DELAY if _present(seat, now) else now, now)
        if seat.user.reachable and seat.wish in TOLD_EACH:
            _queue(
                "turn",
                played.match,
                seat,
                now + PRESENT_DELAY if _present(seat, now) else _due(seat, now),
                key=f"turn {played.match.id} {number} {asked} {seat.user_id}",
                asked=asked,
                now=now,
                facts={"dropped": dropped[number]} if number in dropped else None,
            )
            told.add(number)
    hooks.turn(played, awaited, now)
    return told


def _due(seat: Seat, now: datetime) -> datetime:
    """Return when the mail of a turn that comes now is to go out."""
    return presence.away_at(seat.user, now) if seat.wish == "away" else now


def _present(seat: Seat, now: datetime) -> bool:
    return seat.visited_at is not None and now - seat.visited_at < PRESENT


def _queue(
    kind: str,
    match: Match,
    seat: Seat,
    due_at: datetime,
    *,
    key: str,
    asked: int | None = None,
    now: datetime | None = None,
    facts: Mapping[str, Any] | None = None,
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
        facts=facts,
    )

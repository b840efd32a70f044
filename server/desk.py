"""A match held for writing: every row of a running match is put here, and what follows from it with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from engine.language import gettext as _
from engine.replay import Row
from server import ahead, columns, companions, db, foresight, log, meters, notify
from server.errors import Refused
from server.log import Played
from server.models import Match, Seat, User
from server.models.statements import Statement

# So many rows that are no moves has a player room for; votes and the like end there, and all else goes on.
MOST_AFFAIRS: Final = 200
AFFAIRS: Final = frozenset({"vote", "nudge"})
_WISHES: Final = Statement[Seat](
    lambda match: (
        Seat.select(
            Seat.number,
            Seat.user,
            Seat.owner,
            Seat.turn_mail,
            Seat.silent,
            User.confirmed_at,
            User.deleted_at,
            User.mail_stopped,
            User.turn_mail,
            User.reminders,
            User.forced,
        )
        .join(User, on=Seat.user)
        .where(Seat.match == match)
        .order_by(Seat.id)
    )
)


@dataclass(slots=True)
class Desk:
    """A match held for writing: rows put here are in the log when the block ends, with everything that follows.

    `dropped` tells, by seat, why a move that was ready is not made after all.
    """

    played: Played
    seats: list[Seat]
    now: datetime
    rows: list[Row] = field(default_factory=list)
    dropped: dict[int, str] = field(default_factory=dict)

    @property
    def match(self) -> Match:
        """The match."""
        return self.played.match

    def put(self, kind: str, seat: int | None, text: str, via: str) -> Row:
        """Append a row."""
        row = log.append(self.played, kind, seat, text, via, self.now)
        self.rows.append(row)
        return row

    def own_seat(self, user: User) -> int:
        """Return the number of the seat the person sits in. Raises `Refused` (not-yours)."""
        return log.seat_of(self.seats, user)

    def require_running(self) -> None:
        """Raise `Refused` (not-running) if the match has ended."""
        if self.played.outcome:
            raise Refused("not-running", _("This match has ended."))

    def require_room(self, seat: int) -> None:
        """Raise `Refused` (throttled) if the seat has filled the log with as much besides moves as one may."""
        if sum(row.kind in AFFAIRS and row.seat == seat for row in self.played.rows) >= MOST_AFFAIRS:
            told = _(
                "In one match a player proposes and asks {n} times at most. Moving, resigning and the clocks go on."
            )
            raise Refused("throttled", told.format(n=MOST_AFFAIRS))

    def hand_to_bot(self, seat: int, via: str) -> None:
        """Put a bot in the seat, with a row that says so, and a line of talk."""
        self.put("takeover", seat, "bot", via)
        gone = seat in self.played.position.resigned
        self._seat(seat, companions.take_over(self.match, self.seats[seat], self.now, for_good=gone))

    def hand_to(self, seat: int, user: User, via: str) -> None:
        """Put a person in the seat, with a row that says so; whoever sat there sees nothing of it any more."""
        self.put("takeover", seat, f"person:{user.id}", via)
        self._seat(seat, user)

    def _seat(self, seat: int, user: User) -> None:
        place = self.seats[seat]
        place.user, place.visited_at, place.turn_mail, place.silent = user, None, "", False
        Seat.update(user=user, visited_at=None, turn_mail="", silent=False).where(Seat.id == place.id).execute()
        ahead.forget(self.match, seat)


@contextmanager
def writing(match_id: int, now: datetime, *, frozen: bool = False) -> Iterator[Desk]:
    """Hold a running match, and at the end of the block store what follows from the rows put: all or nothing.

    A match that a keeper holds is given to him alone, who says `frozen`. Raises `Refused` (not-found, not-running,
    frozen, damaged).
    """
    log.fetch(match_id)
    with db.transaction():
        match = log.get(match_id, hold=True)
        _require_writable(match, frozen=frozen)
        desk = Desk(log.read(match), log.places(match), now)
        yield desk
        _follow(desk)
    _count(desk)


@contextmanager
def foreseeing(match_id: int, now: datetime) -> Iterator[Desk]:
    """As `writing`, but the match is held only while what has been put is stored, so that others wait for less.

    For rows that need nothing else stored. Raises `foresight.Overtaken`, with nothing stored, if there is more to
    store than that, or when something has happened in the match meanwhile: then it takes `writing`.
    """
    match = log.get(match_id)
    _require_writable(match)
    standing = _standing(match)
    desk = Desk(log.read(match), log.places(match), now)
    with foresight.foreseen(
        lambda: _standing(log.get(match_id, hold=True)) == standing and not ahead.has_any(desk),
    ):
        yield desk
        _follow(desk)
    _count(desk)


def _require_writable(match: Match, *, frozen: bool = False) -> None:
    if match.status in {"open", "cancelled"}:
        raise Refused("not-running", _("This match is not running."))
    if match.frozen_at and not frozen:
        raise log.frozen(match)


def _standing(match: Match) -> tuple[object, ...]:
    """Return what changes when anything does that a move is thought out from: rows, a keeper's hold, when somebody is
    to be reminded, and what those who play wish for."""
    return match.length, match.last_hash, match.frozen_at, match.reminder_at, _WISHES.tuples(match=match.id)


def _follow(desk: Desk) -> None:
    """Put and store what follows from the rows put."""
    if desk.rows:
        ahead.follow(desk)
        columns.store(desk.played, desk.seats, desk.now)
        notify.advanced(desk.played, desk.seats, desk.rows, desk.now, desk.dropped)


def _count(desk: Desk) -> None:
    for row in desk.rows:
        meters.ROWS.labels(row.kind).inc()

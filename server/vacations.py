"""Vacations: announced by a person from a day to a day, seen by all, and ending by themselves."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from engine.language import gettext as _
from engine.language import ngettext
from server import db, log, throttle
from server.desk import Desk, writing
from server.errors import Refused
from server.log import Played, stamp
from server.models import Match, Seat, User, Vacation
from server.models.statements import Statement

logger = logging.getLogger(__name__)

DAYS_A_YEAR: Final = 42
LONGEST: Final = timedelta(days=28)
# So far ahead may one be announced.
AHEAD: Final = timedelta(days=180)

# One that was called off before it began ends as it begins.
_COMING: Final = Statement[Vacation](
    lambda user, now: (
        Vacation.select()
        .where((Vacation.user == user) & (Vacation.ends_at > now) & (Vacation.ends_at > Vacation.starts_at))
        .order_by(Vacation.starts_at)
        .limit(1)
    )
)


def announce(user: User, starts_at: datetime, ends_at: datetime, via: str, *, now: datetime) -> Vacation:
    """Stop the person's clocks from an instant, or from now on if it is past, to another; one at a time.

    Every running match of his whose table lets vacations count is told by a row. Raises `Refused` (bad-input,
    throttled).
    """
    starts_at, ends_at = max(_whole(starts_at), _whole(now)), _whole(ends_at)
    with db.transaction():
        db.locked(User.select().where(User.id == user.id)).first()
        _check(user, starts_at, ends_at, now)
        throttle.count("vacation by", str(user.id), now)
        vacation: Vacation = Vacation.create(user=user, starts_at=starts_at, ends_at=ends_at)
        _tell(user, vacation, via, now)
    return vacation


def end(user: User, via: str, *, now: datetime) -> None:
    """Come back early, or not go. Raises `Refused` (bad-input) if there is no vacation."""
    with db.transaction():
        db.locked(User.select().where(User.id == user.id)).first()
        vacation = current(user, now)
        if vacation is None:
            raise Refused("bad-input", _("You have announced no vacation."))
        # What has passed of it stays; it counts for the year.
        vacation.ends_at = max(vacation.starts_at, now)
        Vacation.update(ends_at=vacation.ends_at).where(Vacation.id == vacation.id).execute()
        _tell(user, vacation, via, now)


def current(user: User, now: datetime) -> Vacation | None:
    """Return the vacation that the person is on or has announced, None if there is none."""
    return _COMING.first(user=user.id, now=now)


def days_left(user: User, year: int) -> int:
    """Return how many whole days of vacation the person still has in the calendar year (UTC)."""
    return max(0, DAYS_A_YEAR - -(-_taken(user, year) // timedelta(days=1)))


def note_at_start(played: Played, seats: list[Seat], via: str, now: datetime) -> None:
    """Write into the log of a match just begun who is on vacation, and what hours people have."""
    for number, seat in enumerate(seats):
        for kind, text in notes(played, seat.user, now):
            log.append(played, kind, number, text, via, now)


def notes(played: Played, user: User, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield kind and text of the rows by which the clocks of a match know a person who sits down."""
    rule = played.clocks.rule
    if (rule.weekend or rule.nights) and not user.bot:
        yield "hours", hours_text(user)
    vacation = current(user, now)
    if rule.vacations and vacation:
        yield "vacation", _text(vacation)


def note_hours(user: User, via: str, *, now: datetime) -> None:
    """Write changed zone or nightly hours of a person into his matches; they count from his next turn on.

    Raises `Refused` (throttled).
    """
    throttle.count("hours by", str(user.id), now)

    def tell(desk: Desk) -> None:
        rule = desk.played.clocks.rule
        if rule.weekend or rule.nights:
            desk.put("hours", desk.own_seat(user), hours_text(user), via)

    _everywhere(user, tell, now)


def hours_text(user: User) -> str:
    """Return a person's zone and nightly hours as a row holds them."""
    return f"{user.zone} {user.nights}".strip()


def _tell(user: User, vacation: Vacation, via: str, now: datetime) -> None:
    def tell(desk: Desk) -> None:
        if desk.played.clocks.rule.vacations:
            desk.put("vacation", desk.own_seat(user), _text(vacation), via)

    _everywhere(user, tell, now)


def _everywhere(user: User, tell: Callable[[Desk], None], now: datetime) -> None:
    """Tell each of the person's running matches something, in an order that all keep who hold several."""
    held = (Seat.user == user) & Seat.ended_at.is_null()
    query = Match.select().join(Seat).where(held & Match.status.in_(["open", "running"]))
    for match in list(query.order_by(Match.id)):
        # A table that waits is held as well: should it begin at this moment, that comes before or after.
        if log.get(match.id, hold=True).status == "open":
            continue
        try:
            with writing(match.id, now) as desk:
                if not desk.played.outcome:
                    tell(desk)
        except Refused as fault:
            # A damaged match is frozen anyway; it keeps nobody from going away.
            logger.warning("match %s is not told of its player: %s", match.id, fault.code)


def _text(vacation: Vacation) -> str:
    return f"{stamp(vacation.starts_at)}/{stamp(vacation.ends_at)}"


def _check(user: User, starts_at: datetime, ends_at: datetime, now: datetime) -> None:
    if ends_at <= starts_at:
        raise Refused("bad-input", _("A vacation ends after it has begun."))
    if ends_at - starts_at > LONGEST:
        raise Refused("bad-input", _("A vacation lasts {n} days at most.").format(n=LONGEST.days))
    if starts_at - now > AHEAD:
        raise Refused("bad-input", _("A vacation begins within {n} days.").format(n=AHEAD.days))
    if current(user, now):
        raise Refused("bad-input", _("You have announced a vacation already. End it first."))
    for year in {starts_at.year, ends_at.year}:
        taken = _taken(user, year) + _within(starts_at, ends_at, year)
        if taken > timedelta(days=DAYS_A_YEAR):
            left = days_left(user, year)
            told = ngettext(
                "Of {days} days a year you have {n} left in {year}.",
                "Of {days} days a year you have {n} left in {year}.",
                left,
            )
            raise Refused("bad-input", told.format(days=DAYS_A_YEAR, n=left, year=year))


def _taken(user: User, year: int) -> timedelta:
    spans = (_within(each.starts_at, each.ends_at, year) for each in Vacation.select().where(Vacation.user == user))
    return sum(spans, timedelta(0))


def _within(starts_at: datetime, ends_at: datetime, year: int) -> timedelta:
    first, last = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    return max(timedelta(0), min(ends_at, last) - max(starts_at, first))


def _whole(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)

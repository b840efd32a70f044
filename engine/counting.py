"""Which time counts: pauses, vacations, weekends and nightly hours stand still. Exact, in UTC, at clock changes too."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engine.language import gettext as _

NEVER = datetime.max.replace(tzinfo=UTC)
TICK = timedelta.resolution
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
LONGEST_STOP = timedelta(days=90)
"""No pause and no vacation is longer, so that every match ends."""
LONGEST_NIGHT = 12 * 60
"""In minutes."""
YEARS = range(1970, 9000)

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)
_NIGHT = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_DAILY = re.compile(r"([01]\d|2[0-3]):([0-5]\d) (\S+)", re.ASCII)
# The library looks for a name in folders and packages, one in another for each slash.
_ZONE = re.compile(r"UTC|[A-Za-z0-9_+-]{1,40}(?:/[A-Za-z0-9_+-]{1,40}){1,3}")


class Span(NamedTuple):
    """The time from `start` on until before `end`, aware instants in UTC."""

    start: datetime
    end: datetime


class Stop(NamedTuple):
    """A time that does not count, and why: pause or vacation."""

    start: datetime
    end: datetime
    why: str


class Hours(NamedTuple):
    """A person's zone, and his nightly hours in minutes after local midnight; two that are equal are none."""

    zone: str = "UTC"
    start: int = 0
    end: int = 0


class Daily(NamedTuple):
    """A time of every day in one zone, in minutes after local midnight."""

    minute: int
    zone: str


PLAIN = Hours()
"""The hours of who has named none."""


class Calendar:
    """When one seat's clock stands still: in the stops, and by habit on weekends and in nightly hours if they are on.

    Of stops that overlap, the first in the sequence is the reason given.
    """

    __slots__ = ("_night", "_stops", "_weekend", "_zone")

    def __init__(
        self, stops: Sequence[Stop], hours: Hours = PLAIN, *, weekend: bool = False, nights: bool = False
    ) -> None:
        start, end = hours.start, hours.end
        self._stops = stops
        self._weekend = weekend
        self._night = (timedelta(minutes=start), timedelta(minutes=end)) if nights and start != end else None
        self._zone: tzinfo = zone(hours.zone) if self._weekend or self._night else UTC

    def look(self, at: datetime) -> tuple[str, datetime]:
        """Return why the clock stands still at the instant, "" if it runs, and an instant until which that holds."""
        nearest = NEVER
        for start, end, why in self._stops:
            if start <= at < end:
                return why, end
            if at < start < nearest:
                nearest = start
        habit, until = self._habit(at)
        return habit, min(until, nearest)

    def counted(self, start: datetime, end: datetime) -> timedelta:
        """Return how much of the time from `start` to `end` counts; none if the end comes first."""
        total = timedelta(0)
        while start < end:
            why, until = self.look(start)
            until = min(until, end)
            if not why:
                total += until - start
            start = until
        return total

    def reached(self, start: datetime, need: timedelta) -> datetime:
        """Return the first instant at which `need` has been counted since `start`; for nothing, when the clock runs."""
        while True:
            why, until = self.look(start)
            if not why:
                if need <= until - start:
                    return start + need
                need -= until - start
            start = until

    def _habit(self, at: datetime) -> tuple[str, datetime]:
        """Do what `look` does for weekends and nightly hours alone."""
        if not self._weekend and self._night is None:
            return "", NEVER
        wall = at.astimezone(self._zone).replace(tzinfo=None)
        midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
        why, turns = "", []
        if self._night:
            clock, (dusk, dawn) = wall - midnight, self._night
            by_night = dusk <= clock < dawn if dusk < dawn else clock >= dusk or clock < dawn
            why = "night" if by_night else ""
            turns += [midnight + edge + (DAY if edge <= clock else timedelta(0)) for edge in self._night]
        if self._weekend:
            day = wall.weekday()
            why = "weekend" if day >= 5 else why
            turns.append(midnight + (7 - day if day >= 5 else 5 - day) * DAY)
        return why, self._steady(at, at + (min(turns) - wall))

    def _steady(self, at: datetime, until: datetime) -> datetime:
        """Return `until`, or the clock change before it: from there on the wall shows another time."""
        if at.astimezone(self._zone).utcoffset() == until.astimezone(self._zone).utcoffset():
            return until
        return _change(self._zone, at, until)


def _change(place: tzinfo, start: datetime, end: datetime) -> datetime:
    """Return the clock change after `start`, at `end` at the latest. In this century no zone has two within a week."""
    before = start.astimezone(place).utcoffset()
    whole = start.replace(microsecond=0)
    seconds = range((end - whole) // SECOND + 1)
    return whole + SECOND * bisect_left(
        seconds, True, key=lambda passed: (whole + SECOND * passed).astimezone(place).utcoffset() != before
    )


def strokes(daily: Daily, start: datetime) -> Iterator[datetime]:
    """Yield the instants on or after `start` at which it is that time of the day, for ever.

    A time that a clock change leaves out comes right after the gap; of one that comes twice the second counts.
    """
    place = zone(daily.zone)
    day = start.astimezone(place).date() - DAY
    while True:
        stroke = _stroke(place, day, time(*divmod(daily.minute, 60)))
        if stroke >= start:
            yield stroke
        day += DAY


def _stroke(place: tzinfo, day: date, clock: time) -> datetime:
    wall = datetime.combine(day, clock, place)
    first, second = wall.astimezone(UTC), wall.replace(fold=1).astimezone(UTC)
    # In a gap the two are the other way round, one on each side of the change.
    return second if first <= second else _change(place, second, first)


def zone(name: str) -> ZoneInfo:
    """Return the time zone of a name with a slash, or UTC: other names mean different things on different machines.

    Raises `ValueError`, one sentence.
    """
    known = _ZONE.fullmatch(name) and not name.startswith(("posix/", "right/"))
    try:
        return ZoneInfo(name if known else "")
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise ValueError(_("There is no time zone {name}.").format(name=repr(name[:40]))) from None


def instant(text: str) -> datetime:
    """Return the instant written as 2026-12-01T00:00:00Z, with or without a fraction. Raises `ValueError`."""
    if not _INSTANT.fullmatch(text):
        raise ValueError(
            _("{text} is no instant like {example}.").format(text=repr(text[:40]), example="2026-12-01T00:00:00Z")
        )
    found = datetime.fromisoformat(text)
    if found.year not in YEARS:
        raise ValueError(_("The year {year} is too far away.").format(year=found.year))
    return found


def instant_text(at: datetime) -> str:
    """Return the aware instant as `instant` reads it."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def span(text: str) -> Span:
    """Return the two instants of FROM/TO, not in the wrong order. Raises `ValueError`."""
    start, _slash, end = text.partition("/")
    found = Span(instant(start), instant(end))
    if found.end < found.start:
        raise ValueError(_("It ends before it begins."))
    return found


def span_text(start: datetime, end: datetime) -> str:
    """Return the text that `span` reads. Raises `ValueError` for the wrong order."""
    text = f"{instant_text(start)}/{instant_text(end)}"
    span(text)
    return text


def hours(text: str) -> Hours:
    """Return the zone and nightly hours of "Europe/Prague" or "Europe/Prague 22:00-07:00". Raises `ValueError`."""
    name, _space, night = text.partition(" ")
    zone(name)
    if name == text:
        return Hours(name)
    found = _NIGHT.fullmatch(night)
    if not found:
        raise ValueError(
            _("{text} are no nightly hours like {example}.").format(text=repr(night[:40]), example="22:00-07:00")
        )
    hour, minute, hour_after, minute_after = map(int, found.groups())
    start, end = 60 * hour + minute, 60 * hour_after + minute_after
    if not 0 < (end - start) % (24 * 60) <= LONGEST_NIGHT:
        raise ValueError(_("Nightly hours are at most {n} hours long.").format(n=LONGEST_NIGHT // 60))
    return Hours(name, start, end)


def hours_text(found: Hours) -> str:
    """Return the text that `hours` reads. Raises `ValueError` for hours that cannot be."""
    night = "" if found.start == found.end else f" {_clock(found.start)}-{_clock(found.end)}"
    hours(found.zone + night)
    return found.zone + night


def daily(text: str) -> Daily:
    """Return the time and zone of "18:00 Europe/Prague". Raises `ValueError`."""
    found = _DAILY.fullmatch(text)
    if not found:
        raise ValueError(
            _("{text} is no time of the day like {example}.").format(
                text=repr(text[:40]), example="18:00 Europe/Prague"
            )
        )
    hour, minute, name = found.groups()
    zone(name)
    return Daily(60 * int(hour) + int(minute), name)


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"

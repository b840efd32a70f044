"""Instants, spans and lists in words, for pages and mails alike."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel.dates import format_date, format_datetime
from babel.numbers import format_percent

from engine.base import listed
from engine.language import gettext as _
from engine.language import ngettext
from server import languages

# Without the day of the week in Czech, where it would need a case, and "po" is Monday as well as "after".
_PATTERNS: Final = {"en": "EEE d MMM y, HH:mm", "cs": "d. M. y, HH:mm", "de": "EEE, d. MMM y, HH:mm"}
_DAYS: Final = {"en": "d MMMM y", "cs": "d. MMMM y", "de": "d. MMMM y"}
_BRIEF_DAYS: Final = {"en": "d MMM y", "cs": "d. M. y", "de": "d. MMM y"}
_WEEKDAYS: Final = {"en": "EEE d MMM y", "cs": "d. MMMM y", "de": "EEE, d. MMM y"}
_PERCENT: Final = {"en": "#,##0 %"}

__all__ = [
    "brief_day",
    "counts",
    "day",
    "listed",
    "long_day",
    "morning",
    "o_clock",
    "percent",
    "span",
    "today",
    "until",
    "weekday",
    "when",
    "wrapped",
]


def when(instant: datetime, zone: str) -> str:
    """Return the instant in the reader's zone with its name and offset: Tue 1 Dec 2026, 14:05 CET (UTC+1)."""
    return _when(instant, zone, languages.current())


@lru_cache(maxsize=2048)
def _when(instant: datetime, zone: str, code: str) -> str:
    local = instant.astimezone(_zone(zone))
    return f"{format_datetime(local, _PATTERNS[code], locale=languages.locale())} {_label(local)}"


def until(instant: datetime, zone: str) -> str:
    """Return the instant up to which something lasts: as `when` does, but midnight as the end of a day, at 24:00."""
    local = instant.astimezone(_zone(zone))
    if local.time() != time.min:
        return when(instant, zone)
    pattern = _PATTERNS[languages.current()].replace("HH:mm", "'24:00'")
    day_before = local.date() - timedelta(days=1)
    return f"{format_date(day_before, pattern, locale=languages.locale())} {_label(local)}"


def _label(local: datetime) -> str:
    """Return the name of the zone of an instant with its offset."""
    offset = local.utcoffset() or timedelta(0)
    minutes = round(offset.total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    shift = f"UTC{'-' if minutes < 0 else '+'}{hours}{f':{rest:02d}' if rest else ''}" if minutes else "UTC"
    name = local.tzname() or ""
    # Many zones have no name but their offset (like +07), which the bracket says better.
    return shift if name == "UTC" or name[:1] in "+-" else f"{name} ({shift})"


def _zone(name: str) -> ZoneInfo:
    """Return the time zone, UTC if the name means nothing (any more)."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return ZoneInfo("UTC")


def today(now: datetime, zone: str) -> date:
    """Return which day it is in the zone."""
    return now.astimezone(_zone(zone)).date()


def day(text: str) -> date:
    """Return the date that a text like 2026-12-24 names. Raises `ValueError`, also for one that is centuries away."""
    found = date.fromisoformat(text)
    if not 2000 <= found.year < 2200:
        raise ValueError("a day centuries away")
    return found


def long_day(day: date) -> str:
    """Return a day with its month in words: 1 December 2026."""
    return _dated(day, _DAYS)


def brief_day(day: date) -> str:
    """Return a day with its month cut short: 1 Dec 2026."""
    return _dated(day, _BRIEF_DAYS)


def weekday(instant: datetime, zone: str) -> str:
    """Return which day it is in the zone, with its weekday: Tue 1 Dec 2026."""
    return _dated(today(instant, zone), _WEEKDAYS)


def _dated(day: date, patterns: Mapping[str, str]) -> str:
    return str(format_date(day, patterns[languages.current()], locale=languages.locale()))


def percent(hundredths: int) -> str:
    """Return a share: 57 %."""
    return str(format_percent(hundredths / 100, _PERCENT.get(languages.current()), locale=languages.locale()))


def morning(day: date, zone: str) -> datetime:
    """Return the instant at which a day begins in the zone."""
    return datetime.combine(day, time.min, _zone(zone)).astimezone(UTC)


def o_clock(day: date, hour: int, zone: str) -> datetime:
    """Return the instant at which an hour of a day begins in the zone; where clocks leap over it, soon after."""
    return datetime.combine(day, time(hour), _zone(zone)).astimezone(UTC)


def span(length: timedelta) -> str:
    """Return the two largest units of a length of time, rounded down: 2 days 3 hours."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 60:
        return _("less than a minute")
    days, hours, minutes = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60
    parts = (
        ngettext("{n} day", "{n} days", days).format(n=days) if days else "",
        ngettext("{n} hour", "{n} hours", hours).format(n=hours) if hours else "",
        ngettext("{n} minute", "{n} minutes", minutes).format(n=minutes) if minutes else "",
    )
    return " ".join([part for part in parts if part][:2])


def counts(numbers: Sequence[int]) -> str:
    """Return how many may play: 2, or 2 to 4."""
    if len(numbers) == 1:
        return str(numbers[0])
    return _("{least} to {most}").format(least=numbers[0], most=numbers[-1])


def wrapped(text: str, indent: str = "") -> str:
    """Return the text in lines of at most 72 characters, all but the first indented."""
    return textwrap.fill(text, 72, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

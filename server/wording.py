"""Instants, spans and lists in words, for pages and mails alike."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel.dates import format_datetime

from engine.base import listed
from server import languages

_PATTERNS: Final = {"en": "EEE d MMM y, HH:mm", "cs": "EEE d. M. y, HH:mm", "de": "EEE, d. MMM y, HH:mm"}

__all__ = ["counted", "counts", "day", "listed", "morning", "span", "today", "when", "wrapped"]


def when(instant: datetime, zone: str) -> str:
    """Return the instant in the reader's zone with its name and offset: Tue 1 Dec 2026, 14:05 CET (UTC+1)."""
    local = instant.astimezone(_zone(zone))
    offset = local.utcoffset() or timedelta(0)
    minutes = round(offset.total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    shift = f"UTC{'-' if minutes < 0 else '+'}{hours}{f':{rest:02d}' if rest else ''}" if minutes else "UTC"
    name = local.tzname() or ""
    # Many zones have no name but their offset (like +07), which the bracket says better.
    label = shift if name == "UTC" or name[:1] in "+-" else f"{name} ({shift})"
    return f"{format_datetime(local, _PATTERNS[languages.current()], locale=languages.locale())} {label}"


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


def morning(day: date, zone: str) -> datetime:
    """Return the instant at which a day begins in the zone."""
    return datetime.combine(day, time.min, _zone(zone)).astimezone(UTC)


def span(length: timedelta) -> str:
    """Return the two largest units of a length of time, rounded down: 2 days 3 hours."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 60:
        return "less than a minute"
    parts = []
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(counted(count, unit))
    return " ".join(parts[:2])


def counted(number: int, thing: str) -> str:
    """Return how many there are of a thing: 1 seat, or 3 seats."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def counts(numbers: Sequence[int]) -> str:
    """Return how many may play: 2, or 2 to 4."""
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])


def wrapped(text: str, indent: str = "") -> str:
    """Return the text in lines of at most 72 characters, all but the first indented."""
    return textwrap.fill(text, 72, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

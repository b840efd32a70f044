"""Days and instants that somebody names."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Final

from engine.language import gettext as _
from server import wording
from server.errors import Refused

FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
LAST: Final = datetime(2200, 1, 1, tzinfo=UTC)


def day(text: str) -> date:
    """Return a date from a form, an address or a body. Raises `Refused` (bad-input), also for one centuries away."""
    try:
        return wording.day(text)
    except ValueError:
        raise Refused("bad-input", _("Write a date as year-month-day, such as 2026-11-30.")) from None


def instant(at: datetime) -> datetime:
    """Return an instant in UTC; of one centuries away the nearest to reckon with, for a service to refuse."""
    return min(max(at, FIRST), LAST).astimezone(UTC)

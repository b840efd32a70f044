"""The hours of a person over which no message but mail reaches him: they wait until these hours are over."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from engine import counting
from engine.language import gettext as _
from server.errors import Refused
from server.models import User

_HOURS: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


def read(text: str) -> str:
    """Return quiet hours as they are stored, like "22:00-07:00", or "" for none. Raises `Refused` (bad-input)."""
    clean = "".join(text.split())
    if clean and _minutes(clean) is None:
        raise Refused("bad-input", _("Quiet hours are two times of the day, such as 22:00 and 07:00."))
    return clean


def over(user: User, at: datetime) -> datetime:
    """Return the first instant, `at` or later, that is not in the person's quiet hours, as the clocks of his zone
    show them."""
    found = _minutes(user.quiet)
    if found is None:
        return at
    try:
        calendar = counting.Calendar((), counting.Hours(user.zone, *found), nights=True)
    except ValueError:
        calendar = counting.Calendar((), counting.Hours("UTC", *found), nights=True)
    return calendar.reached(at, timedelta(0))


def _minutes(text: str) -> tuple[int, int] | None:
    """Return beginning and end in minutes after midnight, None for no hours and for such as would never end."""
    found = _HOURS.fullmatch(text)
    if not found:
        return None
    hour, minute, hour_after, minute_after = map(int, found.groups())
    start, end = 60 * hour + minute, 60 * hour_after + minute_after
    return (start, end) if start != end else None

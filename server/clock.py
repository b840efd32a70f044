"""The only clock of the house. Services take `now` as an argument; only the edges (web, cli, scheduler) ask here."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return this instant, aware, in UTC, to the millisecond: finer is neither stored nor shown."""
    instant = datetime.now(UTC)
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)

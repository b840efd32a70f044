"""What players propose to each other and have not decided yet, read off the rows of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from engine.replay import Row
from server.log import instant

# A proposal that not all have agreed to in this time is forgotten.
LIFETIME: Final = timedelta(days=7)
# What ends the life of earlier proposals of the same kind.
SETTLES: Final[Mapping[str, tuple[str, ...]]] = {
    "pause": ("pause", "resume"),
    "resume": ("pause", "resume"),
    "end": ("end",),
    "wait": ("wait", "takeover", "move"),
    "replace": ("wait", "takeover", "move"),
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that somebody wants and others may agree to: `topic` is its text in the log, `seats` who wants it."""

    topic: str
    seats: tuple[int, ...]


def standing(rows: Sequence[Row], now: datetime) -> list[Proposal]:
    """Return what is proposed at the moment, oldest first; `rows` are those of the log after the setup row."""
    found: dict[str, dict[int, None]] = {}
    for row in rows:
        for topic in list(found):
            if row.kind in SETTLES[topic.split()[0]]:
                del found[topic]
        if row.kind not in {"vote", "takeover"} or row.seat is None:
            continue
        # Who takes a seat over does not want what the last one in it wanted.
        for wanting in found.values():
            wanting.pop(row.seat, None)
        if row.kind == "vote" and row.text and instant(row.at) > now - LIFETIME:
            found.setdefault(row.text, {})[row.seat] = None
    return [Proposal(topic, tuple(wanting)) for topic, wanting in found.items() if wanting]

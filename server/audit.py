"""Whether what is remembered of a match is what its log says, and writing it again if not."""

from __future__ import annotations

from datetime import datetime

from server import columns, db, log
from server.errors import Refused
from server.log import Played
from server.models import LogRow, Match, Seat


def verify(match_id: int) -> list[str]:
    """Return what is wrong with a match, in sentences: its chain, its replay, its cached columns; [] if all is well."""
    # Held, or a move that comes in between two looks would seem a fault.
    with db.transaction():
        match = log.get(match_id, hold=True)
        try:
            return _faults(log.read(match), log.places(match))
        except Refused as fault:
            return [f"{fault.sentence} {fault.__cause__ or ''}".strip()]


def _faults(played: Played, seats: list[Seat]) -> list[str]:
    match = played.match
    wrong = [
        f"The column {name} says {getattr(match, name)!r}, the setup row {played.head[name]!r}."
        for name in ("game", "rules", "options", "seats")
        if getattr(match, name) != played.head[name]
    ]
    if [seat.owner_id for seat in seats] != played.head["people"]:
        wrong.append("The seats are not given to the people whom the setup row names.")
    wrong += [
        f"The column {name} says {getattr(match, name)!r}, the log {value!r}."
        for name, value in columns.cached(played, seats).items()
        if _plain(getattr(match, name)) != _plain(value)
    ]
    return wrong + [
        f"Seat {number} should be held by {who}, but user {seat.user_id} sits there."
        for number, (seat, who) in enumerate(zip(seats, _holders(played), strict=True))
        if who != ("a bot" if seat.user.bot else f"user {seat.user_id}")
    ]


def _holders(played: Played) -> list[str]:
    """Return who holds each seat as the log tells it."""
    holders = [f"user {number}" for number in played.head["people"]]
    for row in played.rows:
        if row.kind == "takeover" and row.seat is not None:
            person = row.text.removeprefix("person:")
            holders[row.seat] = "a bot" if person == row.text else f"user {person}"
    return holders


def rebuild(match_id: int, now: datetime) -> None:
    """Write the cached columns of a match again from its log."""
    with db.transaction():
        columns.store(log.read(log.get(match_id, hold=True)), now)


def running_or_over() -> list[int]:
    """Return the number of every match that has a log, oldest first."""
    begun = Match.select(Match.id).where(Match.id.in_(LogRow.select(LogRow.match).distinct()))
    return [match.id for match in begun.order_by(Match.id)]


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value

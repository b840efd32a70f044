"""Whether what is remembered of a match is what its log says, and writing it again if not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from server import columns, db, log
from server.errors import Refused
from server.log import Played
from server.models import LogRow, Match, Seat


def verify(match_id: int) -> list[str]:
    """Return what is wrong with a match, in sentences: its chain, its replay, its cached columns; [] if all is well."""
    # Held, or a move that comes in between two looks would seem a fault.
    with db.transaction():
        return faults(log.get(match_id, hold=True))


def faults(match: Match) -> list[str]:
    """Return the same of a match that nothing comes to any more, or that the caller holds."""
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
    if not match.imported_at and [seat.owner_id for seat in seats] != played.head["people"]:
        wrong.append("The seats are not given to the people whom the setup row names.")
    if bytes(match.secret).hex() != played.head["seed"]:
        wrong.append("The secret bytes of the deal are not those in the setup row.")
    wrong += [
        f"The column {name} says {getattr(match, name)!r}, the log {value!r}."
        for name, value in columns.cached(played, seats).items()
        if _plain(getattr(match, name)) != _plain(value)
    ]
    wrong += [
        f"Seat {number} is remembered with the result {seat.score, seat.won}, the log says {result}."
        for number, (seat, result) in enumerate(zip(seats, _results(played), strict=True))
        if (seat.score, seat.won) != result
    ]
    return wrong + [
        f"Seat {number} should be held by {who}, but user {seat.user_id} sits there."
        for number, (seat, who) in enumerate(zip(seats, _holders(played, seats), strict=True))
        if who != ("a bot" if seat.user.bot and seat.user_id != seat.owner_id else f"user {seat.user_id}")
    ]


def _results(played: Played) -> list[tuple[int | None, bool]]:
    """Return the score of each seat, None before the end, and whether it won."""
    outcome = played.outcome
    if outcome is None:
        return [(None, False)] * played.head["seats"]
    return [(score, seat in outcome.winners) for seat, score in enumerate(outcome.scores)]


def _holders(played: Played, seats: Sequence[Seat]) -> list[str]:
    """Return who holds each seat as the log tells it; in an imported one its numbers mean nobody here."""
    if played.match.imported_at:
        bots = played.position.taken_over
        return ["a bot" if number in bots else f"user {seat.owner_id}" for number, seat in enumerate(seats)]
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

"""Whether what is remembered of a match is what its log says, and writing it again if not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine.language import gettext as _
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
    told = _("The column {name} says {here}, the setup row {there}.")
    wrong = [
        told.format(name=name, here=repr(getattr(match, name)), there=repr(played.head[name]))
        for name in ("game", "rules", "options", "seats")
        if getattr(match, name) != played.head[name]
    ]
    if not match.imported_at and [seat.owner_id for seat in seats] != played.head["people"]:
        wrong.append(_("The seats are not given to the people whom the setup row names."))
    if bytes(match.secret).hex() != played.head["seed"]:
        wrong.append(_("The secret bytes of the deal are not those in the setup row."))
    told = _("The column {name} says {here}, the log {there}.")
    wrong += [
        told.format(name=name, here=repr(getattr(match, name)), there=repr(value))
        for name, value in columns.cached(played, seats).items()
        if _plain(getattr(match, name)) != _plain(value)
    ]
    told = _("Seat {number} is remembered with the result {here}, the log says {there}.")
    wrong += [
        told.format(number=number, here=(seat.score, seat.won), there=result)
        for number, (seat, result) in enumerate(zip(seats, _results(played), strict=True))
        if (seat.score, seat.won) != result
    ]
    for number, (seat, who) in enumerate(zip(seats, _holders(played, seats), strict=True)):
        if who == (None if seat.user.bot and seat.user_id != seat.owner_id else seat.user_id):
            continue
        by_bot = _("Seat {number} should be held by a bot, but user {here} sits there.")
        told = by_bot if who is None else _("Seat {number} should be held by user {who}, but user {here} sits there.")
        wrong.append(told.format(number=number, who=who, here=seat.user_id))
    return wrong


def _results(played: Played) -> list[tuple[int | None, bool]]:
    """Return the score of each seat, None before the end, and whether it won."""
    outcome = played.outcome
    if outcome is None:
        return [(None, False)] * played.head["seats"]
    return [(score, seat in outcome.winners) for seat, score in enumerate(outcome.scores)]


def _holders(played: Played, seats: Sequence[Seat]) -> list[int | None]:
    """Return the number of who holds each seat as the log tells it, None for a bot that has taken it over.

    In an imported one its numbers mean nobody here.
    """
    if played.match.imported_at:
        bots = played.position.taken_over
        return [None if number in bots else seat.owner_id for number, seat in enumerate(seats)]
    holders: list[int | None] = list(played.head["people"])
    for row in played.rows:
        if row.kind == "takeover" and row.seat is not None:
            person = row.text.removeprefix("person:")
            holders[row.seat] = None if person == row.text else int(person)
    return holders


def rebuild(match_id: int, now: datetime) -> None:
    """Write the cached columns of a match again from its log."""
    with db.transaction():
        match = log.get(match_id, hold=True)
        played = log.read(match)
        if played.outcome is None:
            # It runs after all, so it is on the lists of its players again.
            Seat.update(ended_at=None).where(Seat.match == match_id).execute()
        columns.store(played, log.places(match), now)


def running_or_over() -> list[int]:
    """Return the number of every match that has a log, oldest first."""
    begun = Match.select(Match.id).where(Match.id.in_(LogRow.select(LogRow.match).distinct()))
    return [match.id for match in begun.order_by(Match.id)]


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value

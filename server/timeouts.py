"""What becomes of who is out of time, as the table has chosen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from server import columns, seating
from server.desk import Desk, writing
from server.log import Played
from server.models import Seat


def time_out(match_id: int, *, now: datetime) -> bool:
    """Act for the clock on the awaited seats whose deadline has passed; return whether there was one."""
    with writing(match_id, now) as desk:
        if desk.match.status != "running":
            return False
        late = [seat for seat in desk.played.position.to_act if _late(desk, seat)]
        for seat in late:
            if not desk.played.outcome and seat in desk.played.position.to_act:
                _act(desk, seat)
        return bool(late)


def _late(desk: Desk, seat: int) -> bool:
    until = columns.seat_deadline(desk.played, seat)
    return until is not None and until <= desk.now


def _act(desk: Desk, seat: int) -> None:
    rule = desk.played.clocks.rule
    if desk.seats[seat].user.bot:
        _move(desk, seat)
        return
    undecided = columns.undecided(desk.played, seat)
    if not undecided:
        desk.put("timeout", seat, "", "clock")
    if never_moved(desk.played, seat):
        # Nobody loses anything by another's not coming: a bot plays until somebody wants the seat.
        desk.hand_to_bot(seat, "clock")
        desk.put("offer", seat, "", "clock")
    elif rule.missing == "loss":
        seating.leave_contest(desk, seat, "clock")
    elif rule.missing == "at-once" or undecided or (rule.missing == "vote" and not others(desk.seats, seat)):
        desk.hand_to_bot(seat, "clock")
    elif rule.missing == "bot":
        _move(desk, seat)
        if not desk.played.outcome and desk.played.position.misses[seat] >= rule.misses:
            desk.hand_to_bot(seat, "clock")


def _move(desk: Desk, seat: int) -> None:
    played, state = desk.played, desk.played.position.state
    desk.put("move", seat, played.game.format(state, seat, played.game.timeout_move(state, seat)), "clock")


def others(places: Sequence[Seat], seat: int) -> bool:
    """Whether there is another person to decide anything."""
    return any(number != seat and not place.user.bot for number, place in enumerate(places))


def never_moved(played: Played, seat: int) -> bool:
    """Whether the person in the seat has not made a single move in the match."""
    for row in reversed(played.rows):
        if row.seat == seat and row.kind == "takeover":
            return True
        if row.seat == seat and row.kind == "move" and row.via not in {"clock", "bot"}:
            return False
    return True

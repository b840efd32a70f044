"""What the clocks of a match show to people: time left, why a clock stands still, what happens when the time is up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine import counting
from engine.counting import Span
from engine.language import gettext as _
from server import columns, timeouts
from server.log import Played
from server.models import Seat

NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class Dial:
    """The clock of one seat at one instant.

    `until` is when the clock acts and `left` what counts of the time until then; None for a seat that is not awaited or
    has no limit, and for a bot. `still` says why the clock stands still, "" if it runs, `turns` when that changes.
    `bank` is what is left in the time bank, None if the table has none. `late` is for a seat out of time of which the
    others decide, `away` the vacation its person is on or has announced, `fate` what happens when the time is up.
    """

    seat: int
    until: datetime | None
    left: timedelta | None
    still: str
    turns: datetime | None
    bank: timedelta | None
    late: bool
    away: Span | None
    fate: str


def dials(played: Played, places: Sequence[Seat], now: datetime) -> list[Dial]:
    """Return the clocks of all seats, in seat order."""
    return [_dial(played, places, seat, now) for seat in range(len(places))]


def next_to_act(shown: Sequence[Dial]) -> Dial | None:
    """Return the clock that acts first, None if none does."""
    return min((dial for dial in shown if dial.until), key=lambda dial: dial.until or counting.NEVER, default=None)


def _dial(played: Played, places: Sequence[Seat], seat: int, now: datetime) -> Dial:
    bot = bool(places[seat].user.bot)
    rule, late = played.clocks.rule, bool(columns.undecided(played, seat))
    until = None if bot else columns.seat_deadline(played, seat)
    left, still, turns = None, "", None
    if until and late:
        # Deciding takes its time whatever clocks do.
        left = max(NOTHING, until - now)
    elif until:
        left = played.clocks.left(seat, now)
        still, turns = played.clocks.standing(seat, now), played.clocks.turns(seat, now)
    return Dial(
        seat=seat,
        until=until,
        left=left,
        still=still,
        turns=turns,
        bank=played.clocks.bank(seat, now) if (rule.bank or rule.increment) and not bot else None,
        late=late,
        away=None if bot else _away(played, seat, now),
        fate=_fate(played, places, seat) if until else "",
    )


def _away(played: Played, seat: int, now: datetime) -> Span | None:
    """Return the vacation that the person in the seat is on or has announced."""
    for row in reversed(played.rows if played.clocks.rule.vacations else ()):
        if row.seat == seat and row.kind == "takeover":
            return None
        if row.seat == seat and row.kind == "vacation":
            found = counting.span(row.text)
            return found if max(found.start, now) < found.end else None
    return None


def _fate(played: Played, places: Sequence[Seat], seat: int) -> str:
    """Return what `timeouts.time_out` will do to a person in the seat, to go on after "if the time runs out"."""
    rule = played.clocks.rule
    # Translators: these go on after "If the time runs out," and "Then"; a colon may stand before them.
    if columns.undecided(played, seat):
        return _("a bot takes the seat over")
    if timeouts.never_moved(played, seat):
        return _("a bot takes the seat over, because nobody has moved in it yet, and whoever wants may have it")
    if rule.missing == "loss":
        return _("that counts as resigning")
    if rule.missing == "vote" and timeouts.others(places, seat):
        return _("the others decide what becomes of the seat")
    if rule.missing != "bot":
        return _("a bot takes the seat over")
    taken = played.position.misses[seat] + 1 >= rule.misses
    return _("a simple move is made, and a bot takes the seat over") if taken else _("a simple move is made")

"""The clocks of a match as a function of its log and its table's time rule.

A row at an instant touches only what is counted after it, so the time that is used up at an instant stays what it was,
whatever rows come later. Whoever was out of time is, unless the server itself was down.

| kind | seat | text | what it does |
|---|---|---|---|
| `vacation` | whose | FROM/TO | his clock stands still in that time; replaces what was still to come of the last one |
| `pause` | any | UNTIL | all clocks stand still until then; pauses that overlap last as long as the longest |
| `resume` | any | nothing | ends what is left of every pause |
| `outage` | any | FROM/TO | who is awaited gets back what he had to think in that time, 7 days a turn at most |
| `wait` | whose | who is out of time begins his turn anew: the others decided to wait |
| `hours` | whose | zone, nightly hours | hold when the seat is asked the next time, or is being asked at this instant |

What an outage gives moves the deadline as it was shown, so a daily one by a whole day at least.

An undo gives back the clock as it was when the move taken back was made, but an hour to think at least. The first
other person in a seat gets a new clock: all the time for a move, and no less of a bank than at the start; whoever comes
after takes it as it stands, so that taking over in turn wins no time. Vacation and hours go with the person.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from engine import counting
from engine.counting import PLAIN, Calendar, Hours, Stop
from engine.language import gettext as _
from engine.replay import MOVE, TAKEOVER, UNDO, Position, Row
from engine.timerule import Rule, WrongRule, plain, rule, sentence

__all__ = ["Clock", "Rule", "Timekeeper", "TimingError", "WrongRule", "plain", "rule", "sentence"]

VACATION, PAUSE, RESUME, OUTAGE, HOURS, WAIT = "vacation", "pause", "resume", "outage", "hours", "wait"
MOST_GIVEN_BACK: Final = timedelta(days=7)
"""The most extra time that outages add to one turn."""
AGAIN: Final = timedelta(hours=1)
"""The least that a seat has after an undo."""

NOTHING: Final = timedelta(0)
MILLISECOND: Final = timedelta(milliseconds=1)

Read = TypeVar("Read")


class TimingError(Exception):
    """A row says something about clocks that cannot be: `seq` is its number; `why` one sentence."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"row {seq}: {why}")
        self.seq = seq
        self.why = why


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of one seat after the last row.

    For an awaited seat `asked_at` is the instant since which its time is counted, `allowance` what it has before the
    bank is charged, and `bank` what was in the bank at that instant; `deadline` is None without a limit. For any other
    seat both instants are None, `allowance` is nothing, and `bank` is what is in the bank.
    """

    deadline: datetime | None
    asked_at: datetime | None
    allowance: timedelta
    bank: timedelta


class _Turn(NamedTuple):
    """A time in which a seat is awaited. `given_back` is the part of the allowance that outages gave."""

    since: datetime
    allowance: timedelta
    bank: timedelta
    hours: Hours
    given_back: timedelta = NOTHING


class _Seat:
    """What the clock of one seat has come to."""

    __slots__ = ("bank", "hours", "past", "renewed", "turn", "vacations")

    def __init__(self, bank: timedelta) -> None:
        self.bank = bank
        self.hours = PLAIN
        self.past: list[tuple[_Turn, datetime]] = []
        self.renewed: int | None = None  # the row at which a person got a new clock
        self.turn: _Turn | None = None
        self.vacations: list[Stop] = []

    def copy(self) -> _Seat:
        """Return what the clock has come to, to go on from."""
        same = copy(self)
        same.past, same.vacations = list(self.past), list(self.vacations)
        return same


class Timekeeper:
    """The clocks of a match after its rows; `positions` are those after the setup row and after each of `rows`.

    An instant before that of an earlier row counts as that one: time does not run backwards. Raises `TimingError`.
    """

    def __init__(self, rule: Rule, positions: Sequence[Position], setup_row: Row, rows: Sequence[Row]) -> None:
        self.rule = rule
        self._move, self._bank = timedelta(seconds=rule.move), timedelta(seconds=rule.bank)
        self._banked = bool(rule.bank or rule.increment)
        self._seats = [_Seat(self._bank) for _ in positions[0].asked]
        self._pauses: list[Stop] = []
        self._outages: list[Stop] = []
        self._down_until: datetime | None = None
        self._before: dict[int, tuple[datetime, list[tuple[timedelta, _Turn | None]]]] = {}
        self._now = _read(setup_row, counting.instant, setup_row.at or "")
        self._move_on(positions[0], setup_row)
        for (_before, after), row in zip(pairwise(positions), rows, strict=True):
            self._take(after, row)

    def after(self, position: Position, row: Row) -> Timekeeper:
        """Return the clocks after one more row, after which the match stands at `position`; these stay as they are.

        Raises `TimingError`.
        """
        following = copy(self)
        following._seats = [seat.copy() for seat in self._seats]
        following._pauses, following._outages = list(self._pauses), list(self._outages)
        following._before = dict(self._before)
        following._take(position, row)
        return following

    def clock(self, seat: int) -> Clock:
        """Return the clock of a seat."""
        found = self._seats[seat]
        if found.turn is None:
            return Clock(None, None, NOTHING, found.bank)
        return Clock(self.deadline(seat), found.turn.since, found.turn.allowance, found.turn.bank)

    def deadline(self, seat: int) -> datetime | None:
        """Return the instant at which the seat is out of time; None if it is not awaited or there is no limit."""
        found = self._seats[seat]
        turn = found.turn
        if turn is None or self.rule.limitless:
            return None
        calendar = self._calendar(found, turn.hours)
        own = turn.allowance - turn.given_back + turn.bank
        end = self._stroke(calendar, calendar.reached(turn.since, own))
        # From the deadline that was shown: of a daily one an outage may take more than what the rule grants.
        return self._stroke(calendar, calendar.reached(end, turn.given_back)) if turn.given_back else end

    def _stroke(self, calendar: Calendar, at: datetime) -> datetime:
        """Return the next instant at which a deadline may be."""
        if not self.rule.daily:
            return at
        strokes = counting.strokes(counting.daily(self.rule.daily), at)
        return next(stroke for stroke in strokes if not calendar.look(stroke - counting.TICK)[0])

    def earliest(self) -> datetime | None:
        """Return the first deadline of the awaited seats, None if there is none."""
        return min(filter(None, map(self.deadline, range(len(self._seats)))), default=None)

    def left(self, seat: int, at: datetime) -> timedelta | None:
        """Return what is counted from the instant to the seat's deadline, None if it has none."""
        found, until = self._seats[seat], self.deadline(seat)
        if until is None or found.turn is None:
            return None
        return self._calendar(found, found.turn.hours).counted(max(at, found.turn.since), until)

    def part(self, seat: int, share: Fraction) -> datetime | None:
        """Return when this share of what counts until the deadline is used up, to the millisecond below, or None."""
        found, until = self._seats[seat], self.deadline(seat)
        if until is None or found.turn is None:
            return None
        calendar, since = self._calendar(found, found.turn.hours), found.turn.since
        used = calendar.counted(since, until) // counting.TICK * share.numerator // share.denominator
        return calendar.reached(since, counting.TICK * used // MILLISECOND * MILLISECOND)

    def given_back(self, seat: int) -> timedelta:
        """Return how much of what the seat has in its running turn outages gave."""
        turn = self._seats[seat].turn
        return turn.given_back if turn else NOTHING

    def used(self, seat: int, at: datetime) -> timedelta:
        """Return how long the seat has thought until the instant, in all its turns: what of them counted."""
        found = self._seats[seat]
        turns = [*found.past, (found.turn, at)] if found.turn else found.past
        return sum((self._spent(found, turn, min(end, at)) for turn, end in turns), NOTHING)

    def bank(self, seat: int, at: datetime) -> timedelta:
        """Return what is left in the seat's bank at the instant, in its running turn or after its last."""
        found = self._seats[seat]
        return self._rest(found, found.turn, at) if found.turn else found.bank

    def standing(self, seat: int, at: datetime) -> str:
        """Return why the seat's clock stands still at the instant: pause, vacation, weekend, night; "" if it runs."""
        found = self._seats[seat]
        return self._calendar(found, found.turn.hours if found.turn else found.hours).look(at)[0]

    def turns(self, seat: int, at: datetime) -> datetime | None:
        """Return when the seat's clock next stands still after the instant, or runs on if it stands; None if never."""
        found = self._seats[seat]
        calendar = self._calendar(found, found.turn.hours if found.turn else found.hours)
        still, until = calendar.look(at)
        while until < counting.NEVER:
            why, further = calendar.look(until)
            if bool(why) != bool(still):
                return until
            until = further
        return None

    def paused(self, at: datetime) -> datetime | None:
        """Return until when all clocks stand still by a pause that the instant lies in, None if it lies in none."""
        return max((stop.end for stop in self._pauses if stop.start <= at < stop.end), default=None)

    def passed(self, since: datetime, length: timedelta) -> datetime:
        """Return when so much time has passed for all together: neither pauses nor outages count."""
        return Calendar([*self._pauses, *self._outages]).reached(since, length)

    def _calendar(self, seat: _Seat, hours: Hours) -> Calendar:
        stops = [*self._pauses, *seat.vacations]
        return Calendar(stops, hours, weekend=self.rule.weekend, nights=self.rule.nights)

    def _spent(self, seat: _Seat, turn: _Turn, until: datetime) -> timedelta:
        return self._calendar(seat, turn.hours).counted(turn.since, until)

    def _rest(self, seat: _Seat, turn: _Turn, at: datetime) -> timedelta:
        """Return what a turn has left in the bank at the instant."""
        over = self._spent(seat, turn, at) - turn.allowance
        return max(NOTHING, turn.bank - max(NOTHING, over))

    def _take(self, after: Position, row: Row) -> None:
        """Let one row happen, after which the match stands as given."""
        self._now = max(self._now, _read(row, counting.instant, row.at or ""))
        if row.kind == UNDO:
            self._undo(after, int(row.text))
        elif row.kind == TAKEOVER:
            self._takeover(after, row)
        elif row.kind == OUTAGE:
            self._outage(row)
        elif row.kind == WAIT:
            self._wait(row)
        elif row.kind in (PAUSE, RESUME):
            self._pause(row)
        elif row.kind in (VACATION, HOURS):
            self._person(row)
        else:
            self._move_on(after, row)

    def _move_on(self, after: Position, row: Row) -> None:
        """Stop the clocks of the seats no longer awaited or asked anew, and start those of the seats asked."""
        if row.kind == MOVE:
            self._before[row.seq] = (self._now, [(seat.bank, seat.turn) for seat in self._seats])
        to_act = after.to_act
        for number, seat in enumerate(self._seats):
            if seat.turn and (number not in to_act or after.asked[number] == row.seq):
                self._charge(seat, seat.turn)
                if row.kind == MOVE and number == row.seat:
                    self._add(seat)
        for number in to_act:
            if self._seats[number].turn is None:
                self._start(self._seats[number])

    def _start(self, seat: _Seat) -> None:
        seat.turn = _Turn(self._now, self._move, seat.bank, seat.hours)

    def _stop(self, seat: _Seat, turn: _Turn) -> None:
        seat.past.append((turn, self._now))
        seat.turn = None

    def _charge(self, seat: _Seat, turn: _Turn) -> None:
        """Stop the clock; what went beyond the allowance goes off the bank."""
        self._stop(seat, turn)
        if self._banked:
            seat.bank = self._rest(seat, turn, self._now)

    def _add(self, seat: _Seat) -> None:
        """Let the bank grow after an own move."""
        seat.bank += timedelta(seconds=self.rule.increment)
        if self.rule.cap:
            seat.bank = min(seat.bank, timedelta(seconds=self.rule.cap))

    def _undo(self, after: Position, taken: int) -> None:
        """Give all clocks back as they were when the move of this row was made."""
        at, clocks = self._before[taken]
        for number, (seat, (bank, turn)) in enumerate(zip(self._seats, clocks, strict=True)):
            if seat.turn:
                self._stop(seat, seat.turn)
            renewed = seat.renewed is not None and seat.renewed > taken
            seat.bank = seat.bank if renewed else bank
            if number in after.to_act:
                self._start(seat)
                if turn and not renewed:
                    seat.turn = self._again(seat, turn, at)

    def _again(self, seat: _Seat, turn: _Turn, at: datetime) -> _Turn:
        """Return a turn from now on with what was left of another at the instant, or a little more."""
        bank = self._rest(seat, turn, at)
        allowance = max(turn.allowance - self._spent(seat, turn, at), AGAIN - bank, NOTHING)
        return _Turn(self._now, allowance, bank, seat.hours)

    def _takeover(self, after: Position, row: Row) -> None:
        """Forget what was of the person in the seat, and let the first other person begin with a new clock."""
        seat = self._seat(row)
        seat.vacations = self._cut(seat.vacations)
        seat.hours = PLAIN
        if row.seat in after.taken_over or seat.renewed is not None:
            return
        seat.renewed = row.seq
        turn = seat.turn
        if turn:
            self._charge(seat, turn)
        seat.bank = max(seat.bank, self._bank)
        if turn:
            self._start(seat)

    def _wait(self, row: Row) -> None:
        """Let a turn begin anew, with an hour to think at least."""
        seat = self._seat(row)
        if seat.turn:
            self._charge(seat, seat.turn)
            seat.turn = _Turn(self._now, max(self._move, AGAIN), seat.bank, seat.hours)

    def _outage(self, row: Row) -> None:
        """Give back what counted of a time in which the server was down; no time is given back twice."""
        start, end = _read(row, counting.span, row.text)
        start, end = max(start, self._down_until or start), min(end, self._now)
        for seat in self._seats:
            if seat.turn:
                lost = self._calendar(seat, seat.turn.hours).counted(max(start, seat.turn.since), end)
                given = min(lost, MOST_GIVEN_BACK - seat.turn.given_back)
                seat.turn = seat.turn._replace(
                    allowance=seat.turn.allowance + given, given_back=seat.turn.given_back + given
                )
        self._outages += [Stop(start, min(end, start + MOST_GIVEN_BACK), row.kind)] if start < end else []
        self._down_until = max(end, self._down_until or end)

    def _pause(self, row: Row) -> None:
        if row.kind == PAUSE:
            self._pauses += self._stops(row, self._now, _read(row, counting.instant, row.text))
        elif row.text:
            raise TimingError(row.seq, _("A resume has no text."))
        else:
            self._pauses = self._cut(self._pauses)

    def _person(self, row: Row) -> None:
        """Take in a vacation or the hours of the person in a seat."""
        seat = self._seat(row)
        if row.kind == HOURS:
            seat.hours = _read(row, counting.hours, row.text)
            if seat.turn and seat.turn.since == self._now:
                seat.turn = seat.turn._replace(hours=seat.hours)
            return
        start, end = _read(row, counting.span, row.text)
        stops = self._stops(row, max(start, self._now), end)
        if self.rule.vacations:
            seat.vacations = self._cut(seat.vacations) + stops

    def _stops(self, row: Row, start: datetime, end: datetime) -> list[Stop]:
        """Return the stop between two instants, if it is one."""
        if end - start > counting.LONGEST_STOP:
            most = counting.LONGEST_STOP.days
            said = (
                _("A pause is {n} days long at most.")
                if row.kind == PAUSE
                else _("A vacation is {n} days long at most.")
            )
            raise TimingError(row.seq, said.format(n=most))
        return [Stop(start, end, row.kind)] if start < end else []

    def _cut(self, stops: list[Stop]) -> list[Stop]:
        """Return the stops without what is still to come of them."""
        return [stop._replace(end=min(stop.end, self._now)) for stop in stops if stop.start < self._now]

    def _seat(self, row: Row) -> _Seat:
        if row.seat is None or not 0 <= row.seat < len(self._seats):
            raise TimingError(row.seq, _("There is no seat {seat}.").format(seat=row.seat))
        return self._seats[row.seat]


def _read(row: Row, reader: Callable[[str], Read], text: str) -> Read:
    """Return what a text of the row says. Raises `TimingError`."""
    try:
        return reader(text)
    except ValueError as error:
        raise TimingError(row.seq, str(error)) from error

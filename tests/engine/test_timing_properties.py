"""Any series of rows: used time stays used, stops never take time away, and a count minute by minute agrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from timing_helpers import DAY, HOUR, Table, utc

from engine import counting
from engine.replay import Row
from engine.timing import Rule

MINUTE = timedelta(minutes=1)
NOTHING = timedelta(0)
ZONES = ("UTC", "Europe/Prague", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia")
# Shortly before both clock changes of these zones, the day that Apia left out, and a quiet week.
STARTS = (
    "2026-03-06T20:00",
    "2026-03-27T09:00",
    "2026-04-03T11:00",
    "2026-10-01T23:00",
    "2026-10-24T05:00",
    "2026-10-30T18:00",
    "2011-12-28T15:00",
    "2026-06-10T12:00",
)
NIGHTS = ("", " 22:00-07:00", " 02:30-03:30", " 01:15-02:15", " 00:00-12:00", " 15:00-17:45")
STOPS = ("pause", "vacation", "outage")
QUIET = (*STOPS, "resume", "hours")


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    nights = draw(st.booleans())
    bank = draw(st.sampled_from((0, 12 * HOUR)))
    increment = draw(st.sampled_from((0, HOUR)))
    return Rule(
        move=draw(st.sampled_from((HOUR, 6 * HOUR, DAY) if not bank else (0, HOUR, 6 * HOUR))),
        bank=bank,
        increment=increment,
        cap=13 * HOUR if increment and draw(st.booleans()) else 0,
        weekend=draw(st.booleans()),
        nights=nights,
        daily="" if nights else draw(st.sampled_from(("", "02:30 Europe/Prague", "01:45 Australia/Lord_Howe"))),
        vacations=draw(st.booleans()),
    )


@st.composite
def tables(draw: st.DrawFn, kinds: tuple[str, ...], unit: timedelta = MINUTE, most: int = 12) -> Table:
    """Return a table with rows of these kinds; moves come beside them."""
    table = Table(seats=2, together=draw(st.booleans()), start=utc(draw(st.sampled_from(STARTS))))
    at = table.start
    for _ in range(draw(st.integers(0, most))):
        at += unit * draw(st.sampled_from((0, 1)) | st.integers(0, timedelta(days=1) // unit))
        kind = draw(st.sampled_from(("move", "move", *kinds)))
        seat = draw(st.sampled_from(table.position.to_act if kind == "move" else (0, 1)))
        add(table, at, kind, seat, draw, unit)
    return table


def add(table: Table, at: datetime, kind: str, seat: int, draw: st.DrawFn, unit: timedelta = MINUTE) -> None:
    """Add one row of the kind with whatever it may say, if it can stand now."""
    text = ""
    if kind == "move":
        text = "x"
    elif kind == "pause":
        text = counting.instant_text(at + unit * draw(st.integers(0, timedelta(days=3) // unit)))
    elif kind == "vacation":
        start = at + unit * draw(st.integers(-timedelta(hours=9) // unit, timedelta(days=2) // unit))
        text = counting.span_text(start, start + unit * draw(st.integers(0, timedelta(days=4) // unit)))
    elif kind == "outage":
        end = at - unit * draw(st.integers(-5, timedelta(hours=5) // unit))
        text = counting.span_text(end - unit * draw(st.integers(0, timedelta(days=9) // unit)), end)
    elif kind == "hours":
        text = draw(st.sampled_from(ZONES)) + draw(st.sampled_from(NIGHTS))
    elif kind == "takeover":
        text = draw(st.sampled_from(("bot", "Catrin")))
        if text == "bot" and seat in table.position.taken_over:
            return
    elif kind == "undo":
        if table.position.trail is None:
            return
        text = str(table.position.trail[0])
    table.add(at, kind, seat, text)


@lru_cache(maxsize=200_000)
def wall(zone: str, at: datetime) -> datetime:
    return at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def instants(table: Table) -> list[datetime]:
    return [counting.instant(row.at or "") for row in table.rows]


@dataclass
class Minutes:
    """The clocks of a table once more, slow and plain: it looks at each minute by itself."""

    table: Table
    rule: Rule

    def stands(self, seat: int, asked: datetime, at: datetime) -> bool:
        rows = [row for row, when in zip(self.table.rows, instants(self.table), strict=True) if when <= at]
        return self.paused(rows, at) or self.away(seat, rows, at) or self.resting(seat, asked, at)

    def paused(self, rows: list[Row], at: datetime) -> bool:
        resumed = max((row.seq for row in rows if row.kind == "resume"), default=0)
        return any(row.kind == "pause" and row.seq > resumed and at < counting.instant(row.text) for row in rows)

    def away(self, seat: int, rows: list[Row], at: datetime) -> bool:
        named = [row for row in rows if row.kind == "vacation" and row.seat == seat]
        if not named or not self.rule.vacations:
            return False
        start, end = counting.span(named[-1].text)
        return start <= at < end

    def resting(self, seat: int, asked: datetime, at: datetime) -> bool:
        text = "UTC"
        for row, when in zip(self.table.rows, instants(self.table), strict=True):
            if row.kind == "hours" and row.seat == seat and when <= asked:
                text = row.text
        zone, _, night = text.partition(" ")
        local = wall(zone, at)
        if self.rule.weekend and local.strftime("%a") in ("Sat", "Sun"):
            return True
        if not self.rule.nights or not night:
            return False
        clock, (dusk, _, dawn) = local.strftime("%H:%M"), night.partition("-")
        return dusk <= clock < dawn if dusk < dawn else not dawn <= clock < dusk

    def counted(self, seat: int, asked: datetime, start: datetime, end: datetime) -> timedelta:
        total = NOTHING
        while start < end:
            total += NOTHING if self.stands(seat, asked, start) else MINUTE
            start += MINUTE
        return total

    def turns(self, seat: int) -> Iterator[tuple[datetime, int, datetime | None, int | None]]:
        """Yield the turns of the seat: when and by which row it was asked, when and by which row that ended."""
        at = [self.table.start, *instants(self.table)]
        asked: int | None = None
        for seq, position in enumerate(self.table.positions):
            now = position.asked[seat] if seat in position.to_act else None
            if now != asked:
                if asked is not None:
                    yield at[asked], asked, at[seq], seq
                asked = now
        if asked is not None:
            yield at[asked], asked, None, None

    def used(self, seat: int, until: datetime) -> timedelta:
        return sum(
            (self.counted(seat, start, start, min(end or until, until)) for start, _, end, _ in self.turns(seat)),
            NOTHING,
        )

    def given_back(self, seat: int, asked: datetime, first: int, last: int | None) -> timedelta:
        given, down = NOTHING, self.table.start
        for row, when in zip(self.table.rows, instants(self.table), strict=True):
            if row.kind == "outage" and (last is None or row.seq < last):
                start, end = counting.span(row.text)
                start, end = max(start, down), min(end, when)
                if row.seq > first:
                    given += self.counted(seat, asked, max(start, asked), end)
                down = max(down, end)
        return min(given, timedelta(days=7))

    def clock(self, seat: int) -> tuple[timedelta, timedelta, datetime | None]:
        """Return allowance, bank and deadline after the last row; undo and takeovers are not for this."""
        bank = timedelta(seconds=self.rule.bank)
        for start, first, end, last in self.turns(seat):
            given = self.given_back(seat, start, first, last)
            allowance = timedelta(seconds=self.rule.move) + given
            if end is None:
                return allowance, bank, self.deadline(seat, start, allowance - given + bank, given)
            bank -= max(NOTHING, self.counted(seat, start, start, end) - allowance)
            bank = max(NOTHING, bank) + timedelta(seconds=self.rule.increment)
            bank = min(bank, timedelta(seconds=self.rule.cap)) if self.rule.cap else bank
        return NOTHING, bank, None

    def deadline(self, seat: int, asked: datetime, budget: timedelta, given: timedelta) -> datetime:
        at = self.stroke(seat, asked, self.thought(seat, asked, asked, budget))
        return self.stroke(seat, asked, self.thought(seat, asked, at, given)) if given else at

    def thought(self, seat: int, asked: datetime, at: datetime, budget: timedelta) -> datetime:
        while budget or self.stands(seat, asked, at):
            budget -= NOTHING if self.stands(seat, asked, at) else MINUTE
            at += MINUTE
            if not budget and not self.stands(seat, asked, at - MINUTE):
                break
        return at

    def stroke(self, seat: int, asked: datetime, at: datetime) -> datetime:
        while self.rule.daily and not (self.strikes(at) and not self.stands(seat, asked, at - MINUTE)):
            at += MINUTE
        return at

    def strikes(self, at: datetime) -> bool:
        """Whether it is the daily time, for the last time on that day, or has just been left out."""
        clock, _, zone = self.rule.daily.partition(" ")
        before, now = wall(zone, at - MINUTE), wall(zone, at)
        if now.strftime("%H:%M") == clock:
            return all(wall(zone, at + MINUTE * later) != now for later in range(1, 181))
        passed = before + MINUTE
        while passed < now:
            if passed.strftime("%H:%M") == clock:
                return True
            passed += MINUTE
        return False


@given(tables(QUIET, most=7), rules())
def test_a_count_minute_by_minute_comes_to_the_same(table: Table, rule: Rule) -> None:
    keeper, minutes = table.keeper(rule), Minutes(table, rule)
    for seat in range(2):
        allowance, bank, deadline = minutes.clock(seat)
        clock = keeper.clock(seat)
        assert (clock.allowance, clock.bank, clock.deadline) == (allowance, bank, deadline)
    until = max([table.start, *instants(table)]) + timedelta(days=1)
    assert keeper.used(0, until) == minutes.used(0, until)


@given(tables((*QUIET, "undo"), most=8), rules())
def test_used_time_with_undo_is_counted_minute_by_minute_too(table: Table, rule: Rule) -> None:
    until = max([table.start, *instants(table)]) + timedelta(hours=9)
    for seat in range(2):
        assert table.keeper(rule).used(seat, until) == Minutes(table, rule).used(seat, until)


ALL = (*QUIET, "undo", "takeover")
MILLISECONDS = timedelta(milliseconds=1)
exactly = tables(ALL, MILLISECONDS, 20)


def sampled(table: Table, data: Any, count: int = 8) -> list[datetime]:
    """Return instants of the match and a week after it, among them those of the rows."""
    last = max([table.start, *instants(table)]) + timedelta(days=7)
    drawn = st.integers(0, (last - table.start) // MILLISECONDS).map(lambda passed: table.start + MILLISECONDS * passed)
    return sorted(data.draw(st.lists(drawn | st.sampled_from([table.start, *instants(table)]), min_size=count)))


@given(exactly, rules(), st.data())
def test_what_was_used_at_an_instant_stays_used_whatever_rows_come_later(table: Table, rule: Rule, data: Any) -> None:
    whole, moments = table.keeper(rule), sampled(table, data)
    for count, at in enumerate(instants(table)):
        until_then = table.keeper(rule, count)
        for moment in (moment for moment in [*moments, at] if moment <= at):
            for seat in range(2):
                assert until_then.used(seat, moment) == whole.used(seat, moment)


@given(exactly, rules(), st.data())
def test_used_time_never_falls_and_never_runs_faster_than_time(table: Table, rule: Rule, data: Any) -> None:
    keeper, moments = table.keeper(rule), sampled(table, data)
    for earlier, later in pairwise(moments):
        for seat in range(2):
            assert NOTHING <= keeper.used(seat, later) - keeper.used(seat, earlier) <= later - earlier


@given(exactly, rules(), st.data())
def test_what_is_shown_as_left_is_nothing_at_the_deadline_and_not_before(table: Table, rule: Rule, data: Any) -> None:
    keeper, moments = table.keeper(rule), sampled(table, data)
    for seat in table.position.to_act:
        clock = keeper.clock(seat)
        assert clock.deadline
        assert clock.asked_at
        assert keeper.left(seat, clock.deadline) == NOTHING
        if clock.allowance + clock.bank:
            assert keeper.left(seat, clock.deadline - MILLISECONDS) == MILLISECONDS
        total = keeper.left(seat, clock.asked_at)
        assert total is not None
        for moment in moments:
            left = keeper.left(seat, moment)
            assert left is not None
            assert (left == NOTHING) == (moment >= clock.deadline) or not clock.allowance + clock.bank
            if clock.asked_at <= moment <= clock.deadline:
                assert left == total - (keeper.used(seat, moment) - keeper.used(seat, clock.asked_at))


@given(exactly, rules())
def test_the_deadline_is_when_all_that_a_seat_has_is_used(table: Table, rule: Rule) -> None:
    keeper = table.keeper(rule)
    for seat in table.position.to_act:
        clock = keeper.clock(seat)
        total = keeper.left(seat, clock.asked_at or table.start)
        assert total is not None
        assert total >= clock.allowance + clock.bank
        if not rule.daily:
            assert total == clock.allowance + clock.bank


@given(exactly, rules(), st.data())
def test_a_stop_never_takes_time_away(table: Table, rule: Rule, data: Any) -> None:
    before = table.keeper(rule)
    at = max([table.start, *instants(table)]) + timedelta(hours=data.draw(st.integers(0, 30)))
    kind = data.draw(st.sampled_from(STOPS))
    named = [row.kind for row in table.rows]
    if kind == "vacation" and kind in named:
        kind = "pause"
    add(table, at, kind, data.draw(st.sampled_from((0, 1))), data.draw, MILLISECONDS)
    after = table.keeper(rule)
    for seat in table.position.to_act:
        earlier, later = before.deadline(seat), after.deadline(seat)
        assert earlier
        assert later
        assert later >= earlier
        if earlier <= at and kind != "outage":
            assert later == earlier


@given(exactly, rules())
def test_every_deadline_comes(table: Table, rule: Rule) -> None:
    keeper = table.keeper(rule)
    for seat in table.position.to_act:
        clock = keeper.clock(seat)
        assert clock.deadline
        assert clock.asked_at
        stops = sum(row.kind in ("pause", "vacation") for row in table.rows) * timedelta(days=4)
        # Five days of a week count, and twelve hours of each at least.
        assert clock.deadline - clock.asked_at <= 3 * (clock.allowance + clock.bank) + stops + timedelta(days=7)


@given(exactly, rules(), st.integers(1, 99))
def test_a_share_of_the_time_is_used_at_its_instant(table: Table, rule: Rule, percent: int) -> None:
    keeper = table.keeper(rule)
    for seat in table.position.to_act:
        clock = keeper.clock(seat)
        at = keeper.part(seat, Fraction(percent, 100))
        assert clock.deadline
        assert clock.asked_at
        assert at
        assert clock.asked_at <= at <= clock.deadline
        total = keeper.left(seat, clock.asked_at) or NOTHING
        used = keeper.used(seat, at) - keeper.used(seat, clock.asked_at)
        assert NOTHING <= total * percent / 100 - used < MILLISECONDS + timedelta.resolution


@given(exactly, rules())
def test_the_bank_is_never_less_than_nothing_nor_more_than_its_most(table: Table, rule: Rule) -> None:
    keeper = table.keeper(rule)
    for seat in range(2):
        assert keeper.clock(seat).bank >= NOTHING
        assert not rule.cap or keeper.clock(seat).bank <= timedelta(seconds=rule.cap)


@given(exactly, rules())
def test_a_clock_stands_still_exactly_when_nothing_is_used(table: Table, rule: Rule) -> None:
    keeper = table.keeper(rule)
    for seat in table.position.to_act:
        at = max([table.start, *instants(table)])
        for _ in range(50):
            at += timedelta(hours=1, milliseconds=1)
            ran = keeper.used(seat, at + timedelta.resolution) - keeper.used(seat, at)
            assert (ran == NOTHING) == bool(keeper.standing(seat, at))

"""What the tests of clocks share: a game without rules, and a table whose log is written row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from engine import counting, replay
from engine.base import Outcome
from engine.replay import Position, Row
from engine.timing import Rule, Timekeeper

HOUR, DAY = 3600, 86400
MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""Noon of a Monday in winter."""


@dataclass(frozen=True)
class Rounds:
    """A state of a game without rules: seats move in turn, or all in each round; `last` moves are made."""

    seats: int
    waiting: tuple[int, ...]
    together: bool
    left: int

    @property
    def to_act(self) -> tuple[int, ...]:
        return self.waiting if self.left else ()

    def apply(self, seat: int, move: str) -> Rounds:
        others = tuple(other for other in self.waiting if other != seat)
        anew = tuple(range(self.seats)) if self.together else ((seat + 1) % self.seats,)
        return replace(self, waiting=others or anew, left=self.left - 1)

    def outcome(self) -> Outcome | None:
        return None if self.left else Outcome("over", (0,) * self.seats, (0,), {})

    def tally(self) -> tuple[tuple[int, ...], dict[str, Any]]:
        return (0,) * self.seats, {}


class Game:
    """Just enough of a game for a replay."""

    def begin(self, setup: Any, seats: int, options: Any) -> Rounds:
        return Rounds(seats, tuple(range(seats)) if setup["together"] else (0,), setup["together"], setup["last"])

    def parse(self, state: Rounds, seat: int, text: str) -> str:
        return text


class Table:
    """A match being played at given instants, its log written row by row."""

    def __init__(self, seats: int = 2, together: bool = False, last: int = 999, start: datetime = MONDAY) -> None:
        first = replay.start(Game(), {"together": together, "last": last}, seats, {})
        self.start = start
        self.setup = Row(0, None, "setup", "", counting.instant_text(start))
        self.rows: list[Row] = []
        self.positions: list[Position] = [first]

    @property
    def position(self) -> Position:
        return self.positions[-1]

    def add(self, at: datetime, kind: str, seat: int | None = None, text: str = "", via: str = "web") -> Table:
        row = Row(len(self.rows) + 1, seat, kind, text, counting.instant_text(at), via)
        noted = row.kind in replay.NOTED
        moved = replace(self.position, seq=row.seq) if noted else replay.advance(self.position, row)
        self.rows.append(row)
        self.positions.append(moved)
        return self

    def after(self, hours: float, kind: str, seat: int | None = None, text: str = "", via: str = "web") -> Table:
        return self.add(self.start + timedelta(hours=hours), kind, seat, text, via)

    def move(self, hours: float, via: str = "web") -> Table:
        return self.after(hours, "move", self.position.to_act[0], "x", via)

    def keeper(self, rule: Rule, rows: int | None = None) -> Timekeeper:
        count = len(self.rows) if rows is None else rows
        return Timekeeper(rule, self.positions[: count + 1], self.setup, self.rows[:count])

    def deadline(self, rule: Rule, seat: int = 0) -> float | None:
        """Return the hours from the start to the seat's deadline."""
        found = self.keeper(rule).deadline(seat)
        return None if found is None else (found - self.start) / timedelta(hours=1)


def hours(count: float, start: datetime = MONDAY) -> datetime:
    return start + timedelta(hours=count)


def span(first: float, last: float, start: datetime = MONDAY) -> str:
    return counting.span_text(hours(first, start), hours(last, start))


def until(count: float) -> str:
    return counting.instant_text(hours(count))


def utc(text: str) -> datetime:
    return counting.instant(f"{text}:00Z")


def asked_in(zone: str, at: str, rule: Rule, night: str = "") -> datetime:
    """Return the deadline of a seat in the zone that is asked at the instant."""
    start = utc(at)
    table = Table(start=start).add(start, "hours", 0, f"{zone} {night}".strip())
    found = table.keeper(rule).deadline(0)
    assert found
    return found

"""Figures as they are told: what, how much, the goal, whether it is met, and how far the rounds lie apart."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from bench import machine

HEADS = ("what", "reached", "goal", "met", "apart")


class Figure(NamedTuple):
    """One line of the table. `goal` is the least that is good, or the most if `most`; None where there is none.

    `apart` says by how much the rounds differ, in hundredths of the median: a figure is no more exact than that.
    """

    what: str
    reached: float
    unit: str = ""
    goal: float | None = None
    most: bool = False
    apart: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached, None without one."""
        if self.goal is None:
            return None
        return self.reached <= self.goal if self.most else self.reached >= self.goal


def median(
    what: str, rounds: Sequence[float], unit: str = "", goal: float | None = None, *, most: bool = False
) -> Figure:
    """Return the figure of the median of the rounds."""
    apart = machine.spread(rounds) if len(rounds) > 1 else None
    return Figure(what, statistics.median(rounds), unit, goal, most, apart)


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as lines of columns."""
    lines = [HEADS, *map(_cells, figures)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(HEADS))]
    return "\n".join(
        "  ".join(cell.ljust(width) if n == 0 else cell.rjust(width) for n, (cell, width) in enumerate(pairs)).rstrip()
        for pairs in (list(zip(line, widths, strict=True)) for line in lines)
    )


def _cells(one: Figure) -> tuple[str, ...]:
    goal = (
        "" if one.goal is None else f"{'at most' if one.most else 'at least'} {_number(one.goal)} {one.unit}".rstrip()
    )
    met = {None: "", True: "yes", False: "NO"}[one.met]
    apart = "" if one.apart is None else f"{one.apart:.0f} %"
    return one.what, f"{_number(one.reached)} {one.unit}".rstrip(), goal, met, apart


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"

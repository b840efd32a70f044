"""A finished match as a whole: how the points went, what turned it, how long everybody thought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Final

from engine.base import Figure
from server import charts, story, wording
from server.charts import Series
from server.log import Played, instant

TURNING_POINTS: Final = 3


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing and the same numbers as a table: what its columns are called, and rows of the number of a step with its
    values as text."""

    title: str
    drawing: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A move that changed much: its row, what it did in words, and by how much each seat's lead changed."""

    seq: int
    sentences: tuple[str, ...]
    changes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Tale:
    """What a finished match looks like from its end."""

    charts: tuple[Chart, ...]
    turns: tuple[Turn, ...]
    times: tuple[tuple[str, str, str], ...]  # name, median and longest time for a move


def tell(played: Played, called: Sequence[str]) -> Tale | None:
    """Return the tale of a finished match; None while it runs, because its points are secrets until the end."""
    steps = _steps(played)
    if not played.outcome or len(steps) < 2:
        return None
    points = [played.positions[seq].state.tally().scores for seq in steps]
    drawn = [
        _chart("Points of the players, secrets revealed", steps, list(called), list(zip(*points, strict=True)), "seat")
    ]
    drawn += _figures(played, steps)
    times = _times(played)
    if times:
        drawn.append(_time_chart(times, called))
    return Tale(tuple(drawn), _turns(played, steps, points, called), _medians(times, called))


def _steps(played: Played) -> list[int]:
    """Return the numbers of the rows that changed the board, from the setup on."""
    return [0, *(row.seq for row in played.rows if row.kind in {"move", "undo"})]


def _chart(
    title: str, steps: Sequence[int], labels: Sequence[str], values: Sequence[Sequence[int]], look: str
) -> Chart:
    series = [
        Series(label, value, f"{look}-{number if look == 'seat' else label}")
        for number, (label, value) in enumerate(zip(labels, values, strict=True))
    ]
    rows = [
        (seq, tuple(str(value[place]) for value in values))
        for place, seq in enumerate(steps)
        if not place or any(value[place] != value[place - 1] for value in values)
    ]
    return Chart(title, charts.lines(title, series, steps), tuple(labels), tuple(rows))


def _figures(played: Played, steps: Sequence[int]) -> list[Chart]:
    """Return a chart for each group of figures that the game wants followed."""
    told: list[Sequence[Figure]] = [played.game.figures(played.view(None, played.positions[seq])) for seq in steps]
    groups = dict.fromkeys(figure.group for figure in told[0])
    found = []
    for group in groups:
        labels = [figure.label for figure in told[0] if figure.group == group]
        values = [[figure.value for figure in step if figure.group == group] for step in told]
        found.append(_chart(group, steps, labels, list(zip(*values, strict=True)), "figure"))
    return found


def _turns(
    played: Played, steps: Sequence[int], points: Sequence[Sequence[int]], called: Sequence[str]
) -> tuple[Turn, ...]:
    """Return the moves that changed the leads most, in the order they were made."""
    leads = [_leads(scores) for scores in points]
    swings = [
        (sum(abs(new - old) for new, old in zip(after, before, strict=True)), place)
        for place, (before, after) in enumerate(pairwise(leads), 1)
    ]
    largest = sorted(
        sorted(swings, key=lambda swing: (-swing[0], swing[1]))[:TURNING_POINTS], key=lambda swing: swing[1]
    )
    lines = {line.seq: line for line in story.lines(played, called, None)}
    found = []
    for size, place in largest:
        if size:
            changes = [
                (called[seat], new - old)
                for seat, (new, old) in enumerate(zip(leads[place], leads[place - 1], strict=True))
            ]
            found.append(
                Turn(steps[place], lines[steps[place]].sentences, tuple(change for change in changes if change[1]))
            )
    return tuple(found)


def _leads(scores: Sequence[int]) -> list[int]:
    """Return by how much each seat is ahead of the best of the others."""
    return [
        score - max([other for place, other in enumerate(scores) if place != seat], default=0)
        for seat, score in enumerate(scores)
    ]


def _times(played: Played) -> list[tuple[int, int, timedelta]]:
    """Return of each move that a person made the row, the seat and the time since the seat was asked."""
    found = []
    for row, before in zip(played.rows, played.positions, strict=False):
        if row.kind == "move" and row.seat is not None and row.via not in {"clock", "bot", "auto"}:
            asked = before.asked[row.seat] or 0
            since = played.rows[asked - 1].at if asked else played.setup_row.at
            found.append((row.seq, row.seat, instant(row.at) - instant(since)))
    return found


def _time_chart(times: Sequence[tuple[int, int, timedelta]], called: Sequence[str]) -> Chart:
    title = "Time for each move, in hours"
    hours = [(seq, round(span.total_seconds() / 3600, 2), f"seat-{seat}") for seq, seat, span in times]
    rows = tuple((seq, (called[seat], wording.span(span))) for seq, seat, span in times)
    return Chart(title, charts.bars(title, hours, " h"), ("Player", "Time"), rows)


def _medians(times: Sequence[tuple[int, int, timedelta]], called: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    found = []
    for seat, name in enumerate(called):
        mine = sorted(span for _, other, span in times if other == seat)
        if mine:
            found.append((name, wording.span(mine[(len(mine) - 1) // 2]), wording.span(mine[-1])))
    return tuple(found)

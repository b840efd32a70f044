"""A finished match as a whole: how the points and the chances went, what turned it, how long everybody thought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from engine.base import Figure
from engine.language import gettext as _
from engine.language import pgettext
from server import analysis, charts, languages, story, wording
from server.analysis import Judgement
from server.charts import Series
from server.log import Played, instant
from server.story import Line

TURNING_POINTS: Final = 3
# In percentage points; below this a swing may be nothing but the chance in the judging.
LEAST_SWING: Final = 10
# Of what a move did, so much tells which it was; the step itself tells the rest.
SENTENCES: Final = 2
UNITS: Final = {"hours": timedelta(hours=1), "minutes": timedelta(minutes=1)}


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing and the same numbers as a table: what its columns are called, and rows of the number of a step with its
    values as text; `left_out` if steps that changed nothing have none. The `legend` pairs samples of what is drawn with
    names."""

    title: str
    drawing: str
    legend: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    left_out: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """A move that changed much: its row, what it did in words, and whose points changed, from what to what."""

    seq: int
    sentences: tuple[str, ...]
    changes: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Swing:
    """A move that changed somebody's chances much: its row, who made it, its text, what it did in short; the name of
    whose chances changed most, his mover's if nobody's did more, and what they were, in per cent."""

    seq: int
    mover: str
    move: str
    name: str
    sentences: tuple[str, ...]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Chances:
    """How the chances went, as the bots judge it, with the largest swings in the order they were made."""

    chart: Chart
    swings: tuple[Swing, ...]
    playouts: int


class Standing(NamedTuple):
    """The chances after one step: a thin bar, and each name with its per cent."""

    bar: str
    shares: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Tale:
    """What a finished match looks like from its end; `thinking` while the bots have still to judge it."""

    charts: tuple[Chart, ...]
    turns: tuple[Turn, ...]
    times: tuple[tuple[str, str, str], ...]  # name, median and longest time for a move
    chances: Chances | None
    thinking: bool


def tell(played: Played, called: Sequence[str]) -> Tale | None:
    """Return the tale of a finished match; None while it runs, because its points are secrets until the end."""
    steps = _steps(played)
    if not played.outcome or len(steps) < 2:
        return None
    points = [played.positions[seq].state.tally().scores for seq in steps]
    values = list(zip(*points, strict=True))
    drawn = [_chart(_("Points of the players, secrets revealed"), steps, list(called), values, _seat_looks(called))]
    drawn += _figures(played, steps)
    times = _times(played)
    if times and (unit := _unit(max(span for _seq, _seat, span in times))):
        drawn.append(_time_chart(times, called, unit))
    judgement = analysis.find(played.match)
    return Tale(
        charts=tuple(drawn),
        turns=_turns(played, steps, points, called),
        times=_medians(times, called),
        chances=_chances(played, judgement, called) if judgement else None,
        thinking=judgement is None and analysis.awaited(played.match),
    )


def chances_at(played: Played, called: Sequence[str], seq: int) -> Standing | None:
    """Return the chances after row `seq` of a finished match, None if the bots have not judged it."""
    judgement = analysis.find(played.match) if played.outcome else None
    if judgement is None:
        return None
    shares = judgement.after(seq)
    bar = charts.shares([(share, f"seat-{seat}") for seat, share in enumerate(shares)])
    return Standing(bar, tuple(zip(called, percents(shares), strict=True)))


def percents(shares: Sequence[float]) -> tuple[int, ...]:
    """Return shares that are 1 in sum as whole per cents that are 100 in sum."""
    found = [int(share * 100) for share in shares]
    order = sorted(range(len(shares)), key=lambda seat: (found[seat] - shares[seat] * 100, seat))
    for seat in order[: 100 - sum(found)]:
        found[seat] += 1
    return tuple(found)


def _chances(played: Played, judgement: Judgement, called: Sequence[str]) -> Chances:
    shown = [percents(shares) for shares in judgement.chances]
    values = list(zip(*shown, strict=True))
    title = _("Chances of winning, in per cent")
    chart = _chart(title, judgement.steps, list(called), values, _seat_looks(called), " %")
    return Chances(chart, _swings(played, judgement, called), judgement.playouts)


def _swings(played: Played, judgement: Judgement, called: Sequence[str]) -> tuple[Swing, ...]:
    """Return the moves that changed the chances of any seat most, in the order they were made.

    Moves that were taken back are left out.
    """
    gone = story.undone(played)
    found = [
        _swing(judgement, line, line.seat, called)
        for line in story.lines(played, called, None)
        if line.kind == "move" and line.seat is not None and line.seq not in gone
    ]
    largest = sorted(found, key=lambda swing: (-abs(swing.after - swing.before), swing.seq))[:TURNING_POINTS]
    kept = [swing for swing in largest if abs(swing.after - swing.before) >= LEAST_SWING]
    return tuple(sorted(kept, key=lambda swing: swing.seq))


def _swing(judgement: Judgement, line: Line, mover: int, called: Sequence[str]) -> Swing:
    before, after = (percents(judgement.after(seq)) for seq in (line.seq - 1, line.seq))
    most = max(range(len(before)), key=lambda seat: (abs(after[seat] - before[seat]), seat == mover, -seat))
    told = (called[mover], line.text, called[most], line.sentences[:SENTENCES])
    return Swing(line.seq, *told, before[most], after[most])


def _steps(played: Played) -> list[int]:
    """Return the numbers of the rows that changed the board, from the setup on."""
    return [0, *(row.seq for row in played.rows if row.kind in {"move", "undo"})]


def _seat_looks(called: Sequence[str]) -> list[str]:
    return [f"seat-{seat}" for seat in range(len(called))]


def _chart(
    title: str,
    steps: Sequence[int],
    labels: Sequence[str],
    values: Sequence[Sequence[int]],
    looks: Sequence[str],
    unit: str = "",
) -> Chart:
    series = [Series(*one) for one in zip(labels, values, looks, strict=True)]
    rows = [
        (seq, tuple(f"{value[place]}{unit}" for value in values))
        for place, seq in enumerate(steps)
        if not place or any(value[place] != value[place - 1] for value in values)
    ]
    legend = tuple((charts.sample(number, one.look), one.label) for number, one in enumerate(series))
    return Chart(
        title,
        charts.lines(title, series, steps, unit),
        legend,
        tuple(labels),
        tuple(rows),
        len(rows) <= steps[-1] - steps[0],
    )


def _figures(played: Played, steps: Sequence[int]) -> list[Chart]:
    """Return a chart for each group of figures that the game wants followed."""
    told: list[Sequence[Figure]] = [played.game.figures(played.view(None, played.positions[seq])) for seq in steps]
    # Style sheets know a figure by its English name.
    with languages.speaking("en"):
        named = played.game.figures(played.view(None, played.positions[0]))
    groups = dict.fromkeys(figure.group for figure in told[0])
    found = []
    for group in groups:
        labels = [figure.label for figure in told[0] if figure.group == group]
        looks = [f"figure-{name.label}" for name, figure in zip(named, told[0], strict=True) if figure.group == group]
        values = [[figure.value for figure in step if figure.group == group] for step in told]
        found.append(_chart(group, steps, labels, list(zip(*values, strict=True)), looks))
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
            changes = zip(called, points[place - 1], points[place], strict=True)
            changed = tuple((name, old, new) for name, old, new in changes if old != new)
            found.append(Turn(steps[place], lines[steps[place]].sentences, changed))
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


def _unit(longest: timedelta) -> str:
    """Return what to measure the times in of which this is the longest; "" if they are too short for a drawing."""
    return next((unit for unit, size in UNITS.items() if longest >= 2 * size), "")


def _time_chart(times: Sequence[tuple[int, int, timedelta]], called: Sequence[str], unit: str) -> Chart:
    hours = unit == "hours"
    title = _("Time for each move, in hours") if hours else _("Time for each move, in minutes")
    spans = [(seq, round(span / UNITS[unit], 2), f"seat-{seat}") for seq, seat, span in times]
    rows = tuple((seq, (called[seat], wording.span(span))) for seq, seat, span in times)
    seats = sorted({seat for _seq, seat, _span in times})
    legend = tuple((charts.patch(f"seat-{seat}"), called[seat]) for seat in seats)
    return Chart(
        title,
        charts.bars(title, spans, " " + (pgettext("hours", "h") if hours else pgettext("minutes", "min"))),
        legend,
        (_("Player"), _("Time")),
        rows,
        left_out=False,
    )


def _medians(times: Sequence[tuple[int, int, timedelta]], called: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    found = []
    for seat, name in enumerate(called):
        mine = sorted(span for _, other, span in times if other == seat)
        if mine:
            found.append((name, wording.span(mine[(len(mine) - 1) // 2]), wording.span(mine[-1])))
    return tuple(found)

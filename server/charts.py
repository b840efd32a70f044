"""Line charts and bars as SVG, drawn by code: attributes and classes only, so that any page may hold them.

Lines are told apart by their dashes and marks as well as by colour; the page names them in a legend made of `sample`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from markupsafe import escape

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 60, 14, 14, 30
# Numbers at the left edge; more of them would crowd.
STEPS: Final = 5
# Each line bears so many marks, not at the places where the others have theirs.
MARKS: Final = 5
SHAPES: Final = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-6 6 5H-6z",
    "M0-6.5 6.5 0 0 6.5-6.5 0z",
    "M-6-5H6L0 6z",
)


Scale = Callable[[float], float]


class Series(NamedTuple):
    """One line: its label, its value at each place from the first on, and a class that gives it its colour."""

    label: str
    values: Sequence[float]
    look: str


def lines(title: str, series: Sequence[Series], places: Sequence[int], unit: str = "") -> str:
    """Return a chart of lines over `places`, ascending numbers of rows say; `unit` follows the numbers at the edge.

    `title` is what a screen reader hears.
    """
    low, high = _range([value for one in series for value in one.values])
    across = _scale(places[0], max(places[-1], places[0] + 1), LEFT, WIDTH - RIGHT)
    down = _scale(low, high, HEIGHT - BOTTOM, TOP)
    drawn = [_grid(low, high, down, unit), _feet(places, across)]
    for number, one in enumerate(series):
        points = [(across(place), down(value)) for place, value in zip(places, one.values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        drawn.append(f'<polyline class="line line-{number} {escape(one.look)}" points="{path}"/>')
        drawn += [_mark(number, one.look, *points[place]) for place in _marked(points, number, len(series))]
    return _document(title, drawn)


def sample(number: int, look: str) -> str:
    """Return a short piece of the line of this number, for a legend."""
    line = f'<path class="line line-{number} {escape(look)}" d="M0 8h44"/>'
    return f'<svg class="specimen" viewBox="0 0 44 16" aria-hidden="true">{line}{_mark(number, look, 22, 8)}</svg>'


def patch(look: str) -> str:
    """Return a small bar of this look, for a legend."""
    return (
        '<svg class="specimen" viewBox="0 0 16 16" aria-hidden="true">'
        f'<rect class="bar {escape(look)}" width="16" height="16"/></svg>'
    )


def shares(parts: Sequence[tuple[float, str]]) -> str:
    """Return a thin bar of parts of a whole, each with its share from 0 to 1 and its class; the page names them."""
    drawn, start = "", 0.0
    for share, look in parts:
        drawn += f'<rect class="bar {escape(look)}" x="{start:.1f}" y="0" width="{share * 100:.1f}" height="4"/>'
        start += share * 100
    return f'<svg class="shares" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'


def bars(title: str, series: Sequence[tuple[int, float, str]], unit: str = "") -> str:
    """Return a chart of bars, each with its place, value and class; `unit` follows the numbers at the edge."""
    low, high = _range([0.0, *(value for _, value, _ in series)])
    first, last = series[0][0], max(series[-1][0], series[0][0] + 1)
    across = _scale(first, last, LEFT + 6, WIDTH - 12)
    down = _scale(low, high, HEIGHT - BOTTOM, TOP)
    wide = max(2.0, min(18.0, (WIDTH - LEFT - 18) / max(1, last - first + 1) - 2))
    drawn = [_grid(low, high, down, unit), _feet([place for place, _, _ in series], across)]
    drawn += [
        f'<rect class="bar {escape(look)}" x="{across(place) - wide / 2:.1f}" y="{down(value):.1f}" '
        f'width="{wide:.1f}" height="{max(1.0, down(0) - down(value)):.1f}"/>'
        for place, value, look in series
    ]
    return _document(title, drawn)


def _document(title: str, drawn: Sequence[str]) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(drawn)}</svg>"
    )


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return round numbers that hold all the values between them."""
    low, high = min([0.0, *values]), max([1.0, *values])
    step = _step(high - low)
    return -(-low // -step) * -step if low < 0 else 0.0, -(-high // step) * step


def _step(span: float) -> float:
    """Return the round distance of numbers at the edge."""
    rough = span / STEPS
    size = 10.0 ** len(str(int(rough))) / 10 if rough >= 1 else 1.0
    return next((size * factor for factor in (1, 2, 5) if size * factor >= rough), size * 10)


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    return lambda value: start + (value - low) * (end - start) / (high - low)


def _grid(low: float, high: float, down: Scale, unit: str) -> str:
    step, value, drawn = _step(high - low), low, []
    while value <= high + step / 100:
        y = down(value)
        drawn.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 12}" y1="{y:.1f}" y2="{y:.1f}"/>')
        drawn.append(f'<text class="edge" x="{LEFT - 8}" y="{y + 4:.1f}">{value:g}{escape(unit)}</text>')
        value += step
    return "".join(drawn)


def _feet(places: Sequence[int], across: Scale) -> str:
    span = max(1, places[-1] - places[0])
    step = max(1, int(_step(span)))
    shown = [place for place in range(places[0], places[-1] + 1) if place % step == 0]
    return "".join(f'<text class="foot" x="{across(place):.1f}" y="{HEIGHT - 8}">{place}</text>' for place in shown)


def _marked(points: Sequence[tuple[float, float]], number: int, count: int) -> list[int]:
    """Return the places at which a line bears its marks: those nearest to evenly spread ones of its own."""
    wide = WIDTH - RIGHT - LEFT
    wanted = [LEFT + wide * (mark + (number + 0.5) / count) / MARKS for mark in range(MARKS)]
    return sorted({min(range(len(points)), key=lambda place: abs(points[place][0] - x)) for x in wanted})


def _mark(number: int, look: str, x: float, y: float) -> str:
    shape = SHAPES[number % len(SHAPES)]
    return f'<path class="mark {escape(look)}" transform="translate({x:.1f} {y:.1f})" d="{shape}"/>'

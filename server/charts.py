"""Line charts and bars as SVG, drawn by code: attributes and classes only, so that any page may hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from markupsafe import escape

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 44, 110, 12, 28
# Numbers at the left edge; more of them would crowd.
STEPS: Final = 5
# Labels at the right edge are moved apart by this.
APART: Final = 15


Scale = Callable[[float], float]


class Series(NamedTuple):
    """One line: its label, its value at each place from the first on, and a class that gives it its colour."""

    label: str
    values: Sequence[float]
    look: str


def lines(title: str, series: Sequence[Series], places: Sequence[int], unit: str = "") -> str:
    """Return a chart of lines over `places`, ascending numbers of rows say; each line is named at its end.

    Lines differ in dashes as well as in colour (classes line-0 and so on). `title` is what a screen reader hears.
    """
    low, high = _range([value for one in series for value in one.values])
    across = _scale(places[0], max(places[-1], places[0] + 1), LEFT, WIDTH - RIGHT)
    down = _scale(low, high, HEIGHT - BOTTOM, TOP)
    drawn = [_grid(low, high, down, unit), _feet(places, across)]
    ends = _apart([down(one.values[-1]) for one in series])
    for number, (one, end) in enumerate(zip(series, ends, strict=True)):
        points = " ".join(
            f"{across(place):.1f},{down(value):.1f}" for place, value in zip(places, one.values, strict=True)
        )
        drawn.append(f'<polyline class="line line-{number} {escape(one.look)}" points="{points}"/>')
        drawn.append(
            f'<text class="end {escape(one.look)}" x="{WIDTH - RIGHT + 8}" y="{end + 4:.1f}">{escape(one.label)}</text>'
        )
    return _document(title, drawn)


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


def _apart(heights: Sequence[float]) -> list[float]:
    """Return the heights of labels moved so far that none covers another, in the order given."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    moved, last = list(heights), float(TOP - APART)
    for number in order:
        moved[number] = last = max(heights[number], last + APART)
    over = max(0.0, last - (HEIGHT - BOTTOM))
    return [height - over for height in moved]

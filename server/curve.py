"""Numbers laid out as a line in a picture: where its points and the levels behind them go. No words, no colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WIDTH, HEIGHT = 440, 190
LEFT, RIGHT, TOP, BOTTOM = 46, 20, 16, 26
# The lines behind the chart are one of these apart, so that there are at most four gaps between them.
GAPS: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
MOST_GAPS: Final = 4


@dataclass(frozen=True, slots=True)
class Chart:
    """A line in a picture of `WIDTH` by `HEIGHT`. `points` are where its numbers lie, `levels` the heights of the lines
    behind it with what they stand for."""

    points: tuple[tuple[float, float], ...]
    levels: tuple[tuple[float, int], ...]

    @property
    def line(self) -> str:
        """The points as SVG writes them."""
        return " ".join(f"{x:g},{y:g}" for x, y in self.points)


def line(numbers: Sequence[int]) -> Chart:
    """Return the chart of at least one number, from left to right."""
    gap = next(gap for gap in GAPS if _gaps(numbers, gap) <= MOST_GAPS or gap == GAPS[-1])
    low = min(numbers) // gap
    high = max(low + 1, -(-max(numbers) // gap))
    span = (high - low) * gap
    apart = (WIDTH - LEFT - RIGHT) / max(1, len(numbers) - 1)

    def height(number: int) -> float:
        return round(HEIGHT - BOTTOM - (number - low * gap) / span * (HEIGHT - TOP - BOTTOM), 1)

    points = tuple((round(LEFT + apart * place, 1), height(number)) for place, number in enumerate(numbers))
    return Chart(points, tuple((height(level * gap), level * gap) for level in range(low, high + 1)))


def _gaps(numbers: Sequence[int], gap: int) -> int:
    return -(-max(numbers) // gap) - min(numbers) // gap

"""The map of Clans as shapes: territories, lakes, coast, rivers and borders, in the units of the picture.

`layout` has found where the corners lie and what fits where (`shapes`); here the lines are drawn and put together, once
for the process. Two neighbours share one line, so that no gap and no overlap can arise between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from engine.games.clans import shapes
from engine.games.clans.board import LAKES, NEIGHBOURS
from engine.games.clans.curves import Line, Point, is_river, lines, outline
from engine.games.clans.layout import HEIGHT, WIDTH
from engine.games.clans.mesh import SEA, mesh
from engine.games.clans.room import Room, Slots

SIZE = (WIDTH, HEIGHT)
"""Width and height of the picture."""


class Shape(NamedTuple):
    """A closed shape: the data of an SVG path, and the same outline as points, clockwise, the first not repeated."""

    path: str
    points: Line


class River(NamedTuple):
    """A river between two regions: its course, and half its width at each point of the course."""

    course: Line
    reach: tuple[float, ...]


def number(value: float) -> str:
    """Write a number with at most one decimal."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def path(points: Iterable[Point], closed: bool = False) -> str:
    """Return SVG path data for a line: the first point, then steps from point to point."""
    spots = list(points)
    steps = [f"{number(b[0] - a[0])} {number(b[1] - a[1])}".replace(" -", "-") for a, b in pairwise(spots)]
    return (
        f"M{number(spots[0][0])} {number(spots[0][1])}l" + " ".join(steps).replace(" -", "-") + ("z" if closed else "")
    )


def _shape(face: int) -> Shape:
    points = outline(face, _LINES)
    return Shape(path(points, closed=True), points)


def _river(edge: int) -> River:
    """Let a river swell towards lake and sea; where three territories meet it is narrow."""
    ends = [mesh().corners[corner] for corner in (mesh().edges[edge].start, mesh().edges[edge].end)]
    widths = [8.5 if SEA in end else 6.0 if max(end) >= len(NEIGHBOURS) else NARROW for end in ends]
    course = _LINES[edge]
    lengths = [sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) for a, b in pairwise(course)]
    reach, gone, whole = [], 0.0, sum(lengths)
    for step in (*lengths, 0.0):
        from_start, from_end = min(1.0, gone / whole / 0.6), min(1.0, (1 - gone / whole) / 0.6)
        swell = (widths[0] - NARROW) * (1 - from_start) ** 2 + (widths[1] - NARROW) * (1 - from_end) ** 2
        reach.append(round(NARROW + swell, 2))
        gone += step
    return River(course, tuple(reach))


def banks(river: River) -> str:
    """Return SVG path data of the water of a river."""
    left, right = [], []
    last = len(river.course) - 1
    for n, ((x, y), reach) in enumerate(zip(river.course, river.reach, strict=True)):
        a, b = river.course[max(n - 2, 0)], river.course[min(n + 2, last)]
        length = sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2)
        across, down = reach * (b[1] - a[1]) / length, reach * (b[0] - a[0]) / length
        left.append((round(x + across, 1), round(y - down, 1)))
        right.append((round(x - across, 1), round(y + down, 1)))
    return path([*left, *reversed(right)], closed=True)


NARROW = 3.2
_LINES = lines(shapes.CORNERS)

SHAPES = tuple(_shape(face) for face in range(len(NEIGHBOURS)))
"""The shape of each territory."""

LAKE_SHAPES = tuple(_shape(len(NEIGHBOURS) + lake) for lake in range(len(LAKES)))
LAKE_PATHS = tuple(shape.path for shape in LAKE_SHAPES)
COAST = _shape(SEA)
COAST_PATH = COAST.path

RIVERS = tuple(_river(n) for n, edge in enumerate(mesh().edges) if is_river(edge))
"""The borders between different regions."""

BORDERS = tuple(
    _LINES[n] for n, edge in enumerate(mesh().edges) if 0 <= edge.other < len(NEIGHBOURS) and not is_river(edge)
)
"""The borders inside a region."""

ROOMS = tuple(
    Room(centre, name, board, *(tuple(Slots(*found) for found in fits) for fits in (huts, village)))
    for centre, name, board, huts, village in shapes.ROOMS
)
"""What fits where in each territory."""

CENTRE = tuple(room.centre for room in ROOMS)
"""The middle of each territory: the point farthest from its border."""

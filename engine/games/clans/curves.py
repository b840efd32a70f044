"""Turns the corners of the map of Clans into lines as a hand would draw them: winding, never quite straight.

Each line is drawn once and used by the faces on both its sides. The winding is drawn from the line's own number, so the
same corners always give the same map.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

from engine.games.clans.board import NEIGHBOURS, TERRITORIES
from engine.games.clans.mesh import SEA, Edge, mesh

Point = tuple[float, float]
Line = tuple[Point, ...]

CLOSE_ENOUGH = 0.3  # how far, in units of the picture, a line may stray when points are left out


def chance(*keys: int) -> float:
    """Return a number from -1 to 1 that looks random and is the same for the same keys, always and everywhere."""
    mixed = 0x9E3779B9
    for key in keys:
        mixed = ((mixed ^ (key + 0x7F4A7C15)) * 0x85EBCA6B) & 0xFFFFFFFF
        mixed = ((mixed ^ (mixed >> 15)) * 0xC2B2AE35) & 0xFFFFFFFF
        mixed ^= mixed >> 13
    return mixed / 0x7FFFFFFF - 1


def lines(corners: Sequence[Point]) -> tuple[Line, ...]:
    """Return the line of every edge of the mesh, from its start to its end."""
    return tuple(_line(number, edge, corners) for number, edge in enumerate(mesh().edges))


def outline(face: int, drawn: Sequence[Line]) -> Line:
    """Return the closed outline of a face, clockwise on the page, its first point not repeated."""
    points: list[Point] = []
    for edge, forward in mesh().rings[face]:
        line = drawn[edge] if forward else drawn[edge][::-1]
        points += line[:-1]
    return tuple(points) if area(points) > 0 else tuple(reversed(points))


def area(ring: Sequence[Point]) -> float:
    """Return the area of a closed ring in square units, positive if it runs clockwise on the page."""
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, (*ring[1:], ring[0]), strict=True)) / 2


def is_river(edge: Edge) -> bool:
    """Tell whether an edge parts two regions: such borders are rivers."""
    return 0 <= edge.face < edge.other < len(NEIGHBOURS) and TERRITORIES[edge.face][0] != TERRITORIES[edge.other][0]


def _line(number: int, edge: Edge, corners: Sequence[Point]) -> Line:
    """Draw one edge."""
    start, end = corners[edge.start], corners[edge.end]
    if edge.face == SEA or edge.other == SEA:
        bulge = _outward(edge, start, end, corners) * (0.13 + 0.06 * chance(number, 9))
        points = _wind([start, end], number, bulge, (0.18, 0.19, 0.2, 0.16))
    elif edge.other >= len(NEIGHBOURS):
        bulge = -_outward(edge, start, end, corners) * 0.1
        points = _wind([start, end], number, bulge, (0.05, 0.09, 0.08))
    elif is_river(edge):
        points = _wind([start, end], number, 0.1 * chance(number, 17), (0.08, 0.13, 0.1))
    else:
        points = _wind([start, end], number, 0.11 * chance(number, 7), (0.04, 0.07, 0.05))
    return _thin(_round_off(points, 2))


def _outward(edge: Edge, start: Point, end: Point, corners: Sequence[Point]) -> int:
    """Return 1 if the left of the line, seen on the page, is away from its territory, else -1."""
    land = edge.face if edge.face >= 0 and edge.face < len(NEIGHBOURS) else edge.other
    ring = [corners[n] for n, faces in enumerate(mesh().corners) if land in faces]
    x, y = sum(p[0] for p in ring) / len(ring), sum(p[1] for p in ring) / len(ring)
    side = (end[0] - start[0]) * (y - start[1]) - (end[1] - start[1]) * (x - start[0])
    return -1 if side > 0 else 1


def _wind(points: list[Point], number: int, bulge: float, amounts: Sequence[float]) -> list[Point]:
    """Halve every piece again and again and shift the middles aside, by `amounts` of the piece's length."""
    for depth, amount in enumerate(amounts):
        finer = [points[0]]
        for n, (a, b) in enumerate(pairwise(points)):
            shift = amount * chance(number, depth, n) + (bulge if depth == 0 else bulge * 0.9 if depth == 1 else 0)
            finer += [((a[0] + b[0]) / 2 - shift * (b[1] - a[1]), (a[1] + b[1]) / 2 + shift * (b[0] - a[0])), b]
        points = finer
    return points


def _round_off(points: Sequence[Point], parts: int) -> list[Point]:
    """Draw a smooth curve through the points (Catmull-Rom), with `parts` pieces between each two of them."""
    curve = [points[0]]
    for n in range(len(points) - 1):
        before, a, b, after = points[max(n - 1, 0)], points[n], points[n + 1], points[min(n + 2, len(points) - 1)]
        for part in range(1, parts + 1):
            t = part / parts
            weights = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, t**3 - t**2)
            spots = (before, a, b, after)
            curve.append(
                (
                    sum(w * p[0] for w, p in zip(weights, spots, strict=True)) / 2,
                    sum(w * p[1] for w, p in zip(weights, spots, strict=True)) / 2,
                )
            )
    return curve


def _thin(points: Sequence[Point]) -> Line:
    """Round to one decimal and leave out points that the eye does not miss (Ramer, Douglas and Peucker)."""
    rounded = [(round(x, 1), round(y, 1)) for x, y in points]
    return tuple(_thinned(rounded))


def _thinned(points: list[Point]) -> list[Point]:
    first, last = points[0], points[-1]
    across, down = last[0] - first[0], last[1] - first[1]
    length = sqrt(across**2 + down**2) or 1.0
    worst, at = 0.0, 0
    for n, point in enumerate(points[1:-1], 1):
        stray = abs(across * (point[1] - first[1]) - down * (point[0] - first[0])) / length
        if stray > worst:
            worst, at = stray, n
    if worst <= CLOSE_ENOUGH:
        return [first, last]
    return _thinned(points[: at + 1])[:-1] + _thinned(points[at:])

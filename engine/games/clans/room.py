"""Finds the room inside each territory of the map of Clans: where its name, its huts and a village's board stand.

Everything is measured on a grid of small squares over the territory, so that whether a box fits is four look-ups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from math import sqrt
from typing import NamedTuple

from engine.games.clans.curves import Line

Box = tuple[float, float, float, float]  # left, top, right, bottom
Spot = tuple[float, float]

GRID = 3.0
NAME_BOX = (30.0, 19.0)
BOARD_BOX = (46.0, 14.0)  # its lower half: the upper one may hang over the border, beyond which no hut can stand
SNUG = 0.8  # the part of a hut's box that must lie inside: huts have narrow gables
LARGEST = (72.0, 54.0, 50.0, 46.0, 44.0)
SLOPES = (0, -0.4, 0.4, -0.8, 0.8)
COLUMNS = (
    ((1,),),
    ((1, 1), (2,)),
    ((1, 1, 1), (1, 2), (2, 1), (3,)),
    ((2, 2), (1, 2, 1), (2, 1, 1), (1, 1, 2)),
    ((2, 1, 2), (1, 2, 2), (2, 2, 1), (2, 3), (3, 2), (1, 3, 1)),
)
"""For 1 to 5 huts, how many stand above each other in each column; the columns may rise or fall by a slope."""


class Slots(NamedTuple):
    """Where `n` huts stand: the size of each in units and their middles."""

    size: float
    places: tuple[Spot, ...]


class Room(NamedTuple):
    """What fits where: the middle of a territory, its name, a village's board, and huts without and with that board."""

    centre: Spot
    name: Spot
    board: Spot
    huts: tuple[Slots, ...]
    village: tuple[Slots, ...]


class Ground:
    """The squares inside an outline, and how many of them lie in any box."""

    def __init__(self, outline: Line) -> None:
        xs, ys = [p[0] for p in outline], [p[1] for p in outline]
        self.left, self.top = min(xs) - GRID, min(ys) - GRID
        self.columns = int((max(xs) - self.left) / GRID) + 2
        self.rows = int((max(ys) - self.top) / GRID) + 2
        self.inside = [self._row(outline, self.top + (row + 0.5) * GRID) for row in range(self.rows)]
        self._sum_up()

    def _row(self, outline: Line, y: float) -> list[int]:
        """Return a 1 for each square of a row that lies inside the outline."""
        cuts = sorted(
            a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
            for a, b in zip(outline, (*outline[1:], outline[0]), strict=True)
            if (a[1] <= y) != (b[1] <= y)
        )
        row = [0] * self.columns
        for start, end in zip(cuts[::2], cuts[1::2], strict=True):
            for column in range(int((start - self.left) / GRID + 0.5), int((end - self.left) / GRID + 0.5)):
                row[column] = 1
        return row

    def _sum_up(self) -> None:
        self.sums = [[0] * (self.columns + 1)]
        for row in self.inside:
            across = accumulate(row, initial=0)
            self.sums.append([above + here for above, here in zip(self.sums[-1], across, strict=True)])

    def take(self, box: Box) -> None:
        """Make the squares of a box count as outside."""
        left, top, right, bottom = self._squares(box)
        for row in self.inside[top:bottom]:
            row[left:right] = [0] * len(row[left:right])
        self._sum_up()

    def fits(self, box: Box) -> bool:
        """Tell whether a box lies wholly inside."""
        left, top, right, bottom = self._squares(box)
        if left < 0 or top < 0 or right > self.columns or bottom > self.rows:
            return False
        sums = self.sums
        found = sums[bottom][right] - sums[top][right] - sums[bottom][left] + sums[top][left]
        return found == (right - left) * (bottom - top)

    def _squares(self, box: Box) -> tuple[int, int, int, int]:
        left, top = int((box[0] - self.left) / GRID), int((box[1] - self.top) / GRID)
        return left, top, int((box[2] - self.left) / GRID + 0.999), int((box[3] - self.top) / GRID + 0.999)

    def spots(self, step: int) -> Iterable[Spot]:
        """Yield the middles of every `step`-th square inside."""
        for row in range(0, self.rows, step):
            for column in range(0, self.columns, step):
                if self.inside[row][column]:
                    yield self.left + (column + 0.5) * GRID, self.top + (row + 0.5) * GRID


def name_place(outline: Line) -> Spot:
    """Return where the name of a territory stands: in a niche, rather below its middle."""
    ground = Ground(outline)
    return _niche(ground, NAME_BOX, _centre(ground, outline), 1, ())


def room(outline: Line, name: Spot, names: Sequence[Spot]) -> Room:
    """Return what fits where inside a closed outline; `names` are the places of all names of the map, its own too."""
    ground = Ground(outline)
    centre = _centre(ground, outline)
    ground.take(_box(name, *NAME_BOX))
    huts = tuple(_slots(ground, centre, n) for n in range(1, 6))
    board = _niche(ground, BOARD_BOX, centre, -1, names)
    ground.take(_box(board, *BOARD_BOX))
    village = tuple(_slots(ground, centre, n) for n in range(1, 6))
    return Room(centre, name, board, huts, village)


def _box(middle: Spot, width: float, height: float) -> Box:
    x, y = middle
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _centre(ground: Ground, outline: Line) -> Spot:
    """Return the point farthest from the outline (the pole of inaccessibility), to the unit."""
    between = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in zip(outline, (*outline[1:], outline[0]), strict=True)]
    shore = [*outline, *between]

    def reach(spot: Spot) -> float:
        return min((p[0] - spot[0]) ** 2 + (p[1] - spot[1]) ** 2 for p in shore)

    rough = max(ground.spots(3), key=reach)
    around = [(rough[0] + dx, rough[1] + dy) for dx in range(-6, 7, 2) for dy in range(-6, 7, 2)]
    centre = max(around, key=reach)
    return round(centre[0]), round(centre[1])


def _niche(ground: Ground, size: Spot, centre: Spot, down: int, avoided: Sequence[Spot]) -> Spot:
    """Return where a box fits that leaves the middle free: far from the centre, rather below (1) or above (-1) it.

    It lies clear of the `avoided` places, as a village's board, which hangs over the border, has to.
    """

    def worth(spot: Spot) -> float:
        across, below = spot[0] - centre[0], spot[1] - centre[1]
        return sqrt(across**2 + below**2) + down * 0.8 * below - 0.5 * abs(across)

    margin = 5.0
    while True:
        fitting = [
            (x, y)
            for x, y in ground.spots(1)
            if ground.fits(_box((x, y), size[0] + margin, size[1] + margin))
            and all(abs(x - a) > 46 or abs(y - 5 - b) > 23 for a, b in avoided)
        ]
        if fitting:
            x, y = max(fitting, key=worth)
            return round(x), round(y)
        margin -= 2.0


def _slots(ground: Ground, centre: Spot, count: int) -> Slots:
    """Return the arrangement of `count` square boxes that lets them be largest, and as near the centre as may be."""
    best, found = 12.0, None
    near = sorted(ground.spots(2), key=lambda spot: (spot[0] - centre[0]) ** 2 + (spot[1] - centre[1]) ** 2)[:100]
    for arrangement in _arrangements(count):
        for x, y in near:
            while best < LARGEST[count - 1] and _all_fit(ground, arrangement, x, y, best + 1):
                best, found = best + 1, (arrangement, x, y)
    if found is None:
        raise ValueError(f"{count} huts do not fit around {centre}")
    arrangement, x, y = found
    return Slots(best, tuple((round(x + dx * best), round(y + dy * best)) for dx, dy in arrangement))


@cache
def _arrangements(count: int) -> tuple[tuple[Spot, ...], ...]:
    """Return the ways in which `count` huts may stand, as offsets from their middle in sizes of a hut; rows first."""
    rows: list[tuple[Spot, ...]] = [((-0.5, -0.5), (0.5, -0.5), (-1, 0.5), (0, 0.5), (1, 0.5))] if count == 5 else []
    rows += [((0, -0.5), (-0.5, 0.5), (0.5, 0.5)), ((-0.5, -0.5), (0.5, -0.5), (0, 0.5))] if count == 3 else []
    for columns in COLUMNS[count - 1]:
        for slope in SLOPES if len(columns) > 1 else (0,):
            rows.append(
                tuple(
                    (column - (len(columns) - 1) / 2, row - (high - 1) / 2 + slope * (column - (len(columns) - 1) / 2))
                    for column, high in enumerate(columns)
                    for row in range(high)
                )
            )
    return tuple(rows)


def _all_fit(ground: Ground, arrangement: Sequence[Spot], x: float, y: float, size: float) -> bool:
    width, height = SNUG * size, (SNUG + 0.06) * size
    return all(ground.fits(_box((x + dx * size, y + dy * size), width, height)) for dx, dy in arrangement)

"""The land of the Clans map as it lies before anybody has lived there: sea, coast, terrain, water, names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import sqrt

from engine.games.clans import geometry
from engine.games.clans.board import LAKES, TERRAIN, TERRITORIES
from engine.games.clans.curves import chance
from engine.games.clans.geometry import SIZE, number
from engine.games.clans.glyphs import INK, PAPER, PREFIX, scenery, symbols
from engine.games.clans.room import GRID, NAME_BOX, Ground
from engine.games.clans.textures import SEA, WATER, WATER_INK, patterns

_GROWTH: dict[str, tuple[tuple[str, int, int, int], ...]] = {  # name, width, height, how many at most
    "forest": (("pine", 15, 25, 9), ("oak", 18, 22, 5), ("pine", 15, 25, 9)),
    "mountain": (("peak", 44, 33, 4), ("crag", 26, 20, 5), ("stones", 16, 6, 3)),
    "steppe": (("dune", 30, 7, 3), ("tuft", 17, 11, 6), ("stones", 18, 6, 2), ("tuft", 17, 11, 4)),
    "grassland": (("sheep", 22, 12, 1), ("flower", 12, 11, 4), ("grass", 12, 9, 9), ("flower", 12, 11, 2)),
}
_COMPASS = (60, 62)
_SKERRIES = (
    *((944, 70, 15), (914, 44, 8), (970, 108, 7), (368, 44, 8), (388, 30, 4), (652, 62, 7), (966, 372, 8)),
    *((392, 1014, 9), (372, 1030, 5), (36, 386, 7)),
)


@cache
def land() -> str:
    """Return the layers of the picture that never change; they need the `definitions`."""
    width, height = SIZE
    return "".join(
        (
            '<g class="land" pointer-events="none" aria-hidden="true">',
            f'<rect width="{width}" height="{height}" fill="{SEA}"/>',
            f'<rect width="{width}" height="{height}" fill="url(#{PREFIX}waves)"/>',
            _rhumbs(),
            _shallows(),
            *(_skerry(*place) for place in _SKERRIES),
            *(_wash(n) for n in range(len(TERRITORIES))),
            f'<use href="#{PREFIX}coast" fill="url(#{PREFIX}grain)"/>',
            _beach(),
            _borders(),
            _regions(),
            _waters(),
            f'<use href="#{PREFIX}coast" fill="none" stroke="{INK}" stroke-width="3.4" stroke-linejoin="round"/>',
            _mouths(),
            *(drawing for _, drawing in sorted(_growth())),
            _ripples(),
            _names(),
            _ornaments(),
            "</g>",
        )
    )


def _use(name: str, x: float, y: float, scale: float = 1.0) -> str:
    if scale == 1.0:
        return f'<use href="#{PREFIX}{name}" x="{number(x)}" y="{number(y)}"/>'
    return f'<use href="#{PREFIX}{name}" transform="translate({number(x)} {number(y)}) scale({scale:.2g})"/>'


@cache
def definitions() -> str:
    """Return what all layers refer to."""
    return f'<defs aria-hidden="true">{ground_definitions()}{shapes()}{symbols()}</defs>'


@cache
def ground_definitions() -> str:
    """Return what the land alone refers to: washes, coast, water, and the drawings that nothing else uses."""
    water = "".join(map(geometry.banks, geometry.RIVERS)) + "".join(geometry.LAKE_PATHS)
    return (
        f'{patterns()}<path id="{PREFIX}coast" d="{geometry.COAST_PATH}"/>'
        f'<clipPath id="{PREFIX}ashore"><use href="#{PREFIX}coast"/></clipPath>'
        f'<path id="{PREFIX}water" d="{water}"/>{scenery()}'
    )


@cache
def shapes() -> str:
    """Return the outline of each territory as a definition."""
    return "".join(
        f'<path id="{PREFIX}shape-{name}" d="{shape.path}"/>'
        for name, shape in zip(TERRITORIES, geometry.SHAPES, strict=True)
    )


def _shallows() -> str:
    """Return lines that follow the coast out to sea, fainter and fainter, and the shadow of the land."""
    coast = f'<use href="#{PREFIX}coast" fill="none" stroke-linejoin="round"'
    rings = ((76, "#9ec7ce", 1.2), (52, "#a6ced4", 1.5), (31, "#afd5da", 1.8), (14, WATER, 2.0))
    return (
        "".join(
            f'{coast} stroke="#5d8f9b" stroke-opacity=".75" stroke-width="{wide}"/>{coast} stroke="{tint}" '
            f'stroke-width="{number(wide - 2 * line)}"/>'
            for wide, tint, line in rings
        )
        + f'<use href="#{PREFIX}coast" y="5" fill="#28484f" fill-opacity=".45"/>'
    )


def _skerry(x: float, y: float, size: float) -> str:
    """Return a rock in the sea where nobody lives, with the shallows around it."""
    spokes = ((1, 0), (0.8, 0.6), (0, 0.8), (-0.8, 0.5), (-1, -0.1), (-0.6, -0.7), (0.1, -0.8), (0.7, -0.5))
    points = [
        (x + size * dx * (1 + 0.3 * chance(n, int(x))), y + size * dy * (1 + 0.3 * chance(n, int(y))))
        for n, (dx, dy) in enumerate(spokes)
    ]
    data = geometry.path(points, closed=True)
    return (
        f'<path d="{data}" fill="none" stroke="#5d8f9b" stroke-width="14" stroke-linejoin="round"/><path d="{data}" '
        f'fill="#cdbfae" stroke="{WATER}" stroke-width="11" stroke-linejoin="round"/><path d="{data}" fill="#c9c6a0" '
        f'stroke="{INK}" stroke-width="2.2" stroke-linejoin="round"/>'
    )


def _wash(territory: int) -> str:
    shape, terrain = f'<use href="#{PREFIX}shape-{TERRITORIES[territory]}"', TERRAIN[territory]
    return f'{shape} fill="url(#{PREFIX}{terrain})"/>{shape} fill="url(#{PREFIX}on-{terrain})"/>'


def _beach() -> str:
    """Return a strip of sand along the coast, on its landward side."""
    coast = f'<use href="#{PREFIX}coast" fill="none" stroke-linejoin="round"'
    return (
        f'<g clip-path="url(#{PREFIX}ashore)">{coast} stroke="#a98d55" stroke-opacity=".45" stroke-width="21"/>'
        f'{coast} stroke="#f5e6bd" stroke-width="16"/></g>'
    )


def _rhumbs() -> str:
    """Return the lines that run out from the compass over the sea, as on old charts."""
    width, height = SIZE
    x, y = _COMPASS
    ends = ((width, 0.2), (width, 0.55), (width, 1), (0.75 * width, 1), (0.4 * width, 1), (0.15 * width, 1))
    data = "".join(f"M{x} {y}L{number(a)} {number(b * height)}" for a, b in ends)
    return f'<path d="{data}M{x} {y}H{width}M{x} {y}V{height}" stroke="#4b7f8c" stroke-opacity=".3"/>'


def _borders() -> str:
    data = "".join(geometry.path(line) for line in geometry.BORDERS)
    return (
        f'<path d="{data}" fill="none" stroke="{PAPER}" stroke-opacity=".6" stroke-width="5"/>'
        f'<path d="{data}" fill="none" stroke="{INK}" stroke-width="2" stroke-dasharray="1 5.5" '
        'stroke-linecap="round"/>'
    )


def _regions() -> str:
    """Return the letters of the regions, large and faint, beneath everything that stands on the land."""
    letters = []
    for first in range(0, len(TERRITORIES), 5):
        spots = [geometry.CENTRE[n] for n in range(first, first + 5)]
        x, y = sum(s[0] for s in spots) / 5, sum(s[1] for s in spots) / 5
        letters.append(f'<text x="{number(x)}" y="{number(y + 40)}">{TERRITORIES[first][0]}</text>')
    return (
        '<g font-size="120" text-anchor="middle" fill="#6b4a22" fill-opacity=".2" aria-hidden="true">'
        f"{''.join(letters)}</g>"
    )


def _waters() -> str:
    """Return rivers and lakes: their shores in ink, their water with its current, the deep amid the lakes."""
    water = f'<use href="#{PREFIX}water"'
    current = "".join(geometry.path(river.course) for river in geometry.RIVERS)
    return (
        f'{water} fill="{WATER_INK}" stroke="{WATER_INK}" stroke-width="4.4" stroke-linejoin="round"/>'
        f'{water} fill="{WATER}" stroke="{WATER}" stroke-width="1" stroke-linejoin="round"/>'
        f'<path d="{current}" fill="none" stroke="#f0faf8" stroke-width="1.4" stroke-opacity=".85" '
        f'stroke-dasharray="9 15 4 19" stroke-linecap="round"/>{"".join(map(_lake, range(len(LAKES))))}'
    )


def _lake(lake: int) -> str:
    """Return the water of a lake: the deep, and a line of light that follows the shore."""
    (x, y), inner = _middle_of(lake), 0.8
    return (
        f'<path d="{geometry.LAKE_PATHS[lake]}" fill="url(#{PREFIX}deep)"/><path d="{geometry.LAKE_PATHS[lake]}" '
        f'transform="translate({number(x * (1 - inner))} {number(y * (1 - inner))}) scale({inner})" fill="none" '
        'stroke="#e2f3f2" stroke-width="1.6" stroke-opacity=".7" stroke-dasharray="26 9 12 14"/>'
    )


def _middle_of(lake: int) -> tuple[float, float]:
    points = geometry.LAKE_SHAPES[lake].points
    return sum(p[0] for p in points) / len(points), sum(p[1] for p in points) / len(points)


def _mouths() -> str:
    """Return the river mouths, which open the line of the coast."""
    mouths = []
    for river in geometry.RIVERS:
        for n, inland in ((0, len(river.course) // 3), (-1, -1 - len(river.course) // 3)):
            if river.reach[n] > 8:
                (x, y), (a, b) = river.course[n], river.course[inland]
                length = sqrt((x - a) ** 2 + (y - b) ** 2)
                across, down = (x - a) / length, (y - b) / length
                start, end = (x - 5 * across, y - 5 * down), (x + 3.5 * across, y + 3.5 * down)
                mouths.append(geometry.path((start, end)))
    return f'<path d="{"".join(mouths)}" stroke="{WATER}" stroke-width="13.5"/>'


def _growth() -> Iterator[tuple[float, str]]:
    """Yield trees, peaks, tufts and flowers as their foot's height on the page and their drawing.

    They are scattered as if by hand, clear of the borders and of the names; the first of a kind take the best places.
    """
    for territory, terrain in enumerate(TERRAIN):
        ground = Ground(geometry.SHAPES[territory].points)
        x, y = geometry.ROOMS[territory].name
        ground.take((x - NAME_BOX[0] / 2, y - 12, x + NAME_BOX[0] / 2, y + 12))
        for kind, (name, wide, high, most) in enumerate(_GROWTH[terrain]):
            grown = 0
            for attempt in range(110):
                x = ground.left + ground.columns * GRID / 2 * (1 + chance(territory, attempt, kind))
                y = ground.top + ground.rows * GRID / 2 * (1 + chance(territory, kind, attempt, 2))
                if ground.fits((x - wide / 2 - 2, y - high, x + wide / 2 + 2, y + 5)):
                    ground.take((x - wide * 0.42, y - high * 0.5, x + wide * 0.42, y + 2))
                    yield y, _use(name, x, y)
                    grown += 1
                    if grown == most:
                        break


def _ripples() -> str:
    """Return what is seen on each lake: ripples, reeds at the shore, on some a boat or a heron's rock."""
    drawn = []
    for lake in range(len(LAKES)):
        x, y = _middle_of(lake)
        spots = ((-9, -9), (8, 3), (-5, 13))
        drawn += [_use("ripple", x + dx + 3 * chance(lake, n), y + dy) for n, (dx, dy) in enumerate(spots)]
        lowest = max(geometry.LAKE_SHAPES[lake].points, key=lambda point: point[1] + 0.3 * chance(lake, 5) * point[0])
        drawn.append(_use("reeds", lowest[0] + 0.2 * (x - lowest[0]), lowest[1] - 3))
        if lake % 3 == 1:
            drawn.append(_use("boat", x + 4, y - 1))
    return "".join(drawn)


def _names() -> str:
    names = "".join(
        f'<text x="{number(room.name[0])}" y="{number(room.name[1] + 7.5)}">{name}</text>'
        for name, room in zip(TERRITORIES, geometry.ROOMS, strict=True)
    )
    return (
        f'<g class="names" font-size="23" text-anchor="middle" fill="{INK}" stroke="{PAPER}" stroke-opacity=".8" '
        f'stroke-width="4" stroke-linejoin="round" paint-order="stroke" aria-hidden="true">{names}</g>'
    )


def _ornaments() -> str:
    """Return what fills the corners of the sea, and the frame of the map."""
    width, height = SIZE
    frame = "".join(
        f'<rect x="{inset}" y="{inset}" width="{width - 2 * inset}" height="{height - 2 * inset}" fill="none" '
        f'stroke="{colour}" stroke-width="{stroke}"/>'
        for inset, colour, stroke in ((4.5, "#e9d6a6", 9), (9, INK, 1.5), (1, INK, 2))
    )
    scale = (
        f'<rect x="5" y="5" width="{width - 10}" height="{height - 10}" fill="none" stroke="#6b4a22" '
        'stroke-width="3.4" stroke-dasharray="33 33"/>'
    )
    return (
        frame
        + scale
        + _use("compass", *_COMPASS)
        + _use("ship", 58, height - 40, 0.9)
        + _use("serpent", width - 76, height - 32, 0.85)
    )

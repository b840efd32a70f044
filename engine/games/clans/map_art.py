"""The land of the Clans map as it lies before anybody has lived there: sea, coast, terrain, water, names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import sqrt

from engine.games.clans import geometry
from engine.games.clans.board import LAKES, TERRAIN, TERRITORIES
from engine.games.clans.curves import chance
from engine.games.clans.geometry import SIZE, number
from engine.games.clans.glyphs import INK, PAPER, PREFIX, symbols
from engine.games.clans.room import GRID, NAME_BOX, Ground

# The wash of each terrain, in its middle and at its rim, and what grows there.
_WASHES = {
    "forest": ("#c3d0a0", "#93ab74"),
    "mountain": ("#d9cfc0", "#b1a496"),
    "steppe": ("#f2e2b4", "#dec282"),
    "grassland": ("#dfe8ae", "#bdd080"),
}
_GROWTH: dict[str, tuple[tuple[str, int, int, int], ...]] = {  # name, width, height, how many at most
    "forest": (("pine", 15, 25, 9), ("oak", 18, 22, 5), ("pine", 15, 25, 9)),
    "mountain": (("peak", 44, 33, 4), ("crag", 26, 20, 5), ("stones", 16, 6, 3)),
    "steppe": (("dune", 30, 7, 3), ("tuft", 17, 11, 6), ("stones", 18, 6, 2), ("tuft", 17, 11, 4)),
    "grassland": (("sheep", 22, 12, 1), ("flower", 12, 11, 4), ("grass", 12, 9, 9), ("flower", 12, 11, 2)),
}
_SKERRIES = (
    *((944, 70, 15), (914, 44, 8), (970, 108, 7), (368, 44, 8), (388, 30, 4), (652, 62, 7), (966, 372, 8)),
    *((392, 1014, 9), (372, 1030, 5), (36, 386, 7)),
)
_SEA, _WATER, _DEEP, _WATER_INK = "#98c1c9", "#b9dde0", "#8fc0cc", "#33606d"


@cache
def land() -> str:
    """Return the layers of the picture that never change; they need the `definitions`."""
    width, height = SIZE
    return "".join(
        (
            '<g class="land" pointer-events="none">',
            f'<rect width="{width}" height="{height}" fill="{_SEA}"/>',
            f'<rect width="{width}" height="{height}" fill="url(#{PREFIX}waves)"/>',
            _shallows(),
            *(_skerry(*place) for place in _SKERRIES),
            *(_wash(n) for n in range(len(TERRITORIES))),
            f'<use href="#{PREFIX}coast" fill="url(#{PREFIX}grain)"/>',
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
    """Return what the layers refer to: washes, shapes, drawings."""
    washes = "".join(
        f'<radialGradient id="{PREFIX}{terrain}" r=".62"><stop offset=".35" stop-color="{middle}"/>'
        f'<stop offset="1" stop-color="{rim}"/></radialGradient>'
        for terrain, (middle, rim) in _WASHES.items()
    )
    shapes = "".join(
        f'<path id="{PREFIX}shape-{name}" d="{shape.path}"/>'
        for name, shape in zip(TERRITORIES, geometry.SHAPES, strict=True)
    )
    water = "".join(map(geometry.banks, geometry.RIVERS)) + "".join(geometry.LAKE_PATHS)
    deep = (
        f'<radialGradient id="{PREFIX}deep" r=".55"><stop offset=".45" stop-color="{_DEEP}"/>'
        f'<stop offset="1" stop-color="{_WATER}"/></radialGradient>'
    )
    return (
        f"<defs>{washes}{deep}{_waves()}{_grain()}{shapes}"
        f'<path id="{PREFIX}coast" d="{geometry.COAST_PATH}"/><path id="{PREFIX}water" d="{water}"/>{symbols()}</defs>'
    )


def _waves() -> str:
    return (
        f'<pattern id="{PREFIX}waves" width="120" height="60" patternUnits="userSpaceOnUse">'
        '<path d="M8 14q6-6 12 0t12 0 12 0M70 44q6-6 12 0t12 0 12 0" fill="none" stroke="#79a6b0" stroke-width="1.5" '
        'stroke-linecap="round"/></pattern>'
    )


def _grain() -> str:
    """Return a pattern of faint flecks, as of hand-made paper."""
    flecks = "".join(
        f"M{number(80 + 80 * chance(n, 31))} {number(80 + 80 * chance(n, 32))}l{number(3 * chance(n, 33))} "
        f"{number(2 * chance(n, 34))}"
        for n in range(60)
    )
    return (
        f'<pattern id="{PREFIX}grain" width="160" height="160" patternUnits="userSpaceOnUse">'
        f'<path d="{flecks}" stroke="#6b5430" stroke-opacity=".22" stroke-width="1.3" stroke-linecap="round"/>'
        "</pattern>"
    )


def _shallows() -> str:
    """Return lines that follow the coast out to sea, fainter and fainter, and the shadow of the land."""
    coast = f'<use href="#{PREFIX}coast" fill="none" stroke-linejoin="round"'
    rings = ((76, "#9ec7ce", 1.2), (52, "#a6ced4", 1.5), (31, "#afd5da", 1.8), (14, _WATER, 2.0))
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
        f'fill="#cdbfae" stroke="{_WATER}" stroke-width="11" stroke-linejoin="round"/><path d="{data}" fill="#c9c6a0" '
        f'stroke="{INK}" stroke-width="2.2" stroke-linejoin="round"/>'
    )


def _wash(territory: int) -> str:
    return f'<use href="#{PREFIX}shape-{TERRITORIES[territory]}" fill="url(#{PREFIX}{TERRAIN[territory]})"/>'


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
    """Return rivers and lakes: their shores in ink, their water, and the deeper water amid the lakes."""
    water = f'<use href="#{PREFIX}water"'
    lakes = "".join(f'<path d="{lake}" fill="url(#{PREFIX}deep)"/>' for lake in geometry.LAKE_PATHS)
    return (
        f'{water} fill="{_WATER_INK}" stroke="{_WATER_INK}" stroke-width="4.4" stroke-linejoin="round"/>'
        f'{water} fill="{_WATER}" stroke="{_WATER}" stroke-width="1" stroke-linejoin="round"/>{lakes}'
    )


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
    return f'<path d="{"".join(mouths)}" stroke="{_WATER}" stroke-width="13.5"/>'


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
    """Return a few ripples on each lake."""
    ripples = []
    for lake in range(len(LAKES)):
        points = geometry.LAKE_SHAPES[lake].points
        x, y = sum(p[0] for p in points) / len(points), sum(p[1] for p in points) / len(points)
        for n, (dx, dy) in enumerate(((-8, -9), (7, 2), (-6, 13))):
            ripples.append(_use("ripple", x + dx + 3 * chance(lake, n), y + dy))
    return "".join(ripples)


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
    return (
        frame
        + _use("compass", 60, 62)
        + _use("ship", 58, height - 40, 0.9)
        + _use("serpent", width - 76, height - 32, 0.85)
    )

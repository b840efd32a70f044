"""What the land and the water of the Clans map are painted with: washes, what they are strewn with, waves, flecks.

Each pattern is a tile in which the same stroke stands again and again, strewn as if by hand, so that no rows are seen.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.games.clans.curves import chance
from engine.games.clans.glyphs import PREFIX

SEA, WATER, DEEP, WATER_INK = "#98c1c9", "#b9dde0", "#84b8c6", "#33606d"


class Terrain(NamedTuple):
    """A wash, in its middle and at its rim, and one stroke as SVG path data, how often it stands in a tile, its ink."""

    middle: str
    rim: str
    stroke: str
    often: int
    ink: str


TERRAINS = {
    # Treetops beneath the trees that are drawn, scree, ripples of sand, blades of grass.
    "forest": Terrain("#c0cf9c", "#8ca86c", "q3-6 6 0q3-6 6 0", 20, "#4f6f3f"),
    "mountain": Terrain("#dbd1c3", "#aa9d8f", "l6-5m2 3l4-4", 17, "#5f5447"),
    "steppe": Terrain("#f4e4b6", "#dabb76", "q6-4 12 0t11-1", 15, "#a87d36"),
    "grassland": Terrain("#e2ebb1", "#b5cb76", "l-2-5m3 5l1-6m2 6l3-4", 19, "#628636"),
}
_TILE = (112, 96)


def patterns() -> str:
    """Return the washes and patterns as definitions."""
    return (
        "".join(_wash(name, one) + _strewn(name, one, n) for n, (name, one) in enumerate(TERRAINS.items()))
        + _depth()
        + _waves()
        + _grain()
    )


def _wash(name: str, terrain: Terrain) -> str:
    return (
        f'<radialGradient id="{PREFIX}{name}" r=".62"><stop offset=".35" stop-color="{terrain.middle}"/>'
        f'<stop offset="1" stop-color="{terrain.rim}"/></radialGradient>'
    )


def _strewn(name: str, terrain: Terrain, seed: int) -> str:
    wide, high = _TILE
    columns = 5
    data = ""
    for n in range(terrain.often):
        # One in each square of a grid, moved about in it; odd rows are shifted, as bricks are.
        row, column = divmod(n, columns)
        x = (column + 0.5 * (row % 2) + 0.3 + 0.25 * chance(n, seed, 51)) * wide / columns
        y = (row + 0.6 + 0.3 * chance(n, seed, 52)) * high / (terrain.often / columns)
        data += f"M{x % (wide - 22):.0f} {min(max(y, 7), high - 2):.0f}{terrain.stroke}"
    return (
        f'<pattern id="{PREFIX}on-{name}" width="{wide}" height="{high}" patternUnits="userSpaceOnUse">'
        f'<path d="{data}" fill="none" stroke="{terrain.ink}" stroke-opacity=".3" stroke-width="1.3" '
        'stroke-linecap="round"/></pattern>'
    )


def _depth() -> str:
    return (
        f'<radialGradient id="{PREFIX}deep" r=".58"><stop offset=".3" stop-color="{DEEP}"/>'
        f'<stop offset="1" stop-color="{WATER}"/></radialGradient>'
    )


def _waves() -> str:
    return (
        f'<pattern id="{PREFIX}waves" width="120" height="60" patternUnits="userSpaceOnUse">'
        '<path d="M8 14q6-6 12 0t12 0 12 0M70 44q6-6 12 0t12 0 12 0" fill="none" stroke="#79a6b0" stroke-width="1.5" '
        'stroke-linecap="round"/></pattern>'
    )


def _grain() -> str:
    """Return faint flecks, as of hand-made paper."""
    flecks = "".join(
        f"M{80 + 80 * chance(n, 31):.0f} {80 + 80 * chance(n, 32):.0f}l{3 * chance(n, 33):.0f} {2 * chance(n, 34):.0f}"
        for n in range(30)
    )
    return (
        f'<pattern id="{PREFIX}grain" width="160" height="160" patternUnits="userSpaceOnUse">'
        f'<path d="{flecks}" stroke="#6b5430" stroke-opacity=".26" stroke-width="1.3" stroke-linecap="round"/>'
        "</pattern>"
    )

"""The moor on which the places of Clans and Glory lie: hills, track, heather, and the old stone of each place."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from engine.games.glory.cards import COLUMNS, SPOTS, WIDE
from engine.games.glory.glyphs import BOX, INK, PAPER, PREFIX, number, use
from engine.games.glory.layout import (
    APART,
    HEIGHT,
    MIDDLE,
    NORTH,
    PLACE_WIDTH,
    SKY,
    SOUTH,
    middle,
    place_left,
    width,
)

_MOOR_TOP, _MOOR, _CLEARING = "#dcdcae", "#cfd39c", "#edeacb"


@cache
def moor(places: int, walls: bool) -> str:
    """Return the layers that never change; with `walls` a dry-stone dyke parts the places."""
    wide = width(places)
    return "".join(
        (
            '<g class="land" pointer-events="none" aria-hidden="true">',
            f'<rect width="{number(wide)}" height="{number(HEIGHT)}" fill="#f4ecd2"/>',
            _hills(wide),
            f'<path d="{_ridge(wide, SKY, 7, 90, 5)}V{number(HEIGHT)}H0Z" fill="url(#{PREFIX}moor)"/>',
            *(_clearing(place) for place in range(places)),
            _growth(wide, places),
            _track(places),
            *(_dyke(place) for place in range(1, places) if walls),
            *(_stone(place) for place in range(places)),
            _beds(places),
            _labels(places),
            _frame(wide),
            "</g>",
        )
    )


def definitions() -> str:
    """Return the wash of the moor."""
    return (
        f'<linearGradient id="{PREFIX}moor" x2="0" y2="1"><stop offset="0" stop-color="{_MOOR_TOP}"/>'
        f'<stop offset=".35" stop-color="{_MOOR}"/><stop offset="1" stop-color="#c3c98d"/></linearGradient>'
        f'<radialGradient id="{PREFIX}clearing" r=".62"><stop offset=".5" stop-color="{_CLEARING}"/>'
        f'<stop offset="1" stop-color="#dcdcae"/></radialGradient>{_turf()}'
    )


def _turf() -> str:
    """Return a pattern of short grass."""
    blades = "".join(
        f"M{number(60 + 56 * _chance(n, 41))} {number(40 + 36 * _chance(n, 42))}l{number(2 * _chance(n, 43))}-5"
        for n in range(34)
    )
    return (
        f'<pattern id="{PREFIX}turf" width="120" height="80" patternUnits="userSpaceOnUse">'
        f'<path d="{blades}" stroke="#8c9457" stroke-opacity=".38" stroke-width="1.3" stroke-linecap="round"/>'
        "</pattern>"
    )


def _chance(*seeds: int) -> float:
    """Return a number from -1 to 1 that looks random but is always the same for the same seeds."""
    mixed = 17
    for seed in seeds:
        mixed = (mixed * 31 + seed * 7919 + 101) * 2654435761 % 4294967296
        mixed ^= mixed >> 13
    return mixed % 20001 / 10000 - 1


def _ridge(wide: float, height: float, rise: float, step: int, seed: int) -> str:
    """Return SVG path data of a skyline from the left edge to the right one."""
    count = int(wide / step) + 2
    points = [(n * step, height + rise * _chance(n, seed)) for n in range(count)]
    data = f"M0 {number(points[0][1])}"
    for (ax, ay), (bx, by) in pairwise(points):
        half = number((ax + bx) / 2)
        data += f"C{half} {number(ay)} {half} {number(by)} {number(bx)} {number(by)}"
    return data + f"H{number(wide)}"


def _hills(wide: float) -> str:
    """Return three ranges of hills, the farther the paler, with birds above and pines on the nearest."""
    ranges = (
        (_ridge(wide, 38, 19, 150, 1), "#d3d6d6", "#a8aaa9"),
        (_ridge(wide, 52, 15, 110, 2), "#c8bccb", "#9d8d9f"),
        (_ridge(wide, 68, 9, 130, 3), "#bcc5a0", "#8f9b72"),
    )
    far, middle_range, near = (
        f'<path d="{data}V120H0Z" fill="{fill}" stroke="{line}" stroke-width="1.6"/>' for data, fill, line in ranges
    )
    sun = f'<circle cx="{number(wide * 0.81)}" cy="34" r="19" fill="#f3cf83" fill-opacity=".8"/>'
    keep = use("keep", wide * 0.335, 57)
    drawn = sun + far + middle_range + keep + _loch(wide * 0.6) + near
    birds = "".join(use("bird", 140 + 431 * n, 24 + 5 * _chance(n, 8)) for n in range(int(wide / 431)))
    pines = "".join(
        use("pine", x, 77 + 3 * _chance(n, 5))
        for n in range(int(wide / 38))
        if _chance(n, 4) > 0.15 and (x := 20 + 38 * n + 14 * _chance(n, 6)) < wide - 20
    )
    return drawn + birds + pines


def _loch(x: float) -> str:
    """Return a strip of water between the hills."""
    return (
        f'<ellipse cx="{number(x)}" cy="70" rx="135" ry="10" fill="#b9dde0" stroke="#6f9aa3" stroke-width="1.4"/>'
        f'<path d="M{number(x - 60)} 64h34M{number(x + 20)} 63h46M{number(x - 10)} 68h28" stroke="#f2fafa" '
        'stroke-width="1.6" stroke-linecap="round"/>'
    )


def _growth(wide: float, places: int) -> str:
    """Return what grows in the strips that no card covers: along the top and the bottom."""
    kinds = ("heather", "grass", "heather", "grass", "grass", "heather", "rock", "grass")
    drawn = [(HEIGHT - 14, use("thistle", place_left(place) - APART / 2, HEIGHT - 14)) for place in range(1, places)]
    for strip, (height, step) in enumerate(((SKY + 5, 46), (HEIGHT - 17, 27))):
        for n in range(int(wide / step)):
            x, y = 20 + step * n + 10 * _chance(n, 21, strip), height + 3 * _chance(n, 22, strip)
            if x < wide - 20 and (strip or _chance(n, 24) < 0.2):
                kind = kinds[int((4 if strip else 2) * (1 + _chance(n, 23, strip))) % 8]
                kind = "sheep" if strip and _chance(n, 25) > 0.85 else kind
                drawn.append((y, use(kind, x, y)))
    return "".join(drawing for _, drawing in sorted(drawn))


def _clearing(place: int) -> str:
    """Return the trodden ground of a place, ringed with small stones."""
    left, top = place_left(place) - 7, NORTH - 65 - 31
    wide, high = PLACE_WIDTH + 14, SOUTH - NORTH + 130 + 62
    box = f'x="{number(left)}" y="{number(top)}" width="{number(wide)}" height="{number(high)}" rx="26"'
    return (
        f'<rect {box} fill="url(#{PREFIX}clearing)" stroke="#a9a67a" stroke-width="2.2"/>'
        f'<rect {box} fill="none" stroke="#fbf6e2" stroke-opacity=".8" stroke-width="4.5" stroke-dasharray="1 11" '
        f'stroke-linecap="round"/><rect {box} fill="url(#{PREFIX}turf)"/>'
    )


def _track(places: int) -> str:
    """Return the track that joins all places: the row is one."""
    start, end = place_left(0) - 30, place_left(places - 1) + PLACE_WIDTH + 30
    data, x, n = f"M{number(start)} {number(MIDDLE + 16)}", start, 0
    while x < end:
        data += f"q38 {number(5 * (-1) ** n)} 76 0"
        x, n = x + 76, n + 1
    return (
        f'<path d="{data}" fill="none" stroke="#b9a778" stroke-width="38" stroke-opacity=".55"/>'
        f'<path d="{data}" fill="none" stroke="#e3d5aa" stroke-width="34"/>'
        f'<path d="{data}" fill="none" stroke="#b9a778" stroke-width="1.6" stroke-dasharray="9 13" stroke-opacity=".8" '
        'transform="translate(0 -7)"/>'
        f'<path d="{data}" fill="none" stroke="#b9a778" stroke-width="1.6" stroke-dasharray="9 13" stroke-opacity=".8" '
        'transform="translate(0 7)"/>'
    )


def _dyke(place: int) -> str:
    """Return a wall before a place."""
    x, top, bottom = place_left(place) - APART / 2, NORTH - 70, SOUTH + 70
    stones = "".join(
        f"M{number(x - 6)} {number(y)}q0-6 6-6t6 6q0 6-6 6t-6-6Z" for y in range(int(top), int(bottom), 11)
    )
    return f'<path class="dyke" d="{stones}" fill="#b9b3a3" stroke="#3c352b" stroke-width="1.4"/>'


def _stone(place: int) -> str:
    """Return the old stone of a place, its number on a disc at its foot."""
    x, y = place_left(place) + 32, MIDDLE + 44
    return (
        f'<ellipse cx="{number(x)}" cy="{number(y)}" rx="34" ry="7" fill="#6f6a3a" fill-opacity=".35"/>'
        f"{use(f'stone-{place + 1}', x, y)}"
        f'<g transform="translate({number(x)} {number(y + 4)})"><circle r="15" fill="{INK}" stroke="{PAPER}" '
        f'stroke-width="2.5"/><text y="8" font-size="25" text-anchor="middle" fill="{PAPER}">{place + 1}</text></g>'
    )


def _beds(places: int) -> str:
    """Return a faint bed on each spot, which shows while no card lies on it."""
    beds = "".join(
        f'<rect {BOX} transform="translate({number(x)} {number(y)})"/>'
        for side in (0, COLUMNS)
        for x, y in map(middle, range(side, side + WIDE * places))
    )
    return (
        f'<g class="beds" fill="#d8d3a0" fill-opacity=".55" stroke="#8f8a5c" stroke-width="1.8" '
        f'stroke-dasharray="6 5">{beds}</g>'
    )


def _labels(places: int) -> str:
    """Return the name of each spot beyond its card."""
    drawn = []
    for side in (0, COLUMNS):
        for spot in range(side, side + WIDE * places):
            x, y = middle(spot)
            drawn.append(f'<text x="{number(x)}" y="{number(y - 71 if side == 0 else y + 88)}">{SPOTS[spot]}</text>')
    return (
        f'<g font-size="24" text-anchor="middle" fill="{INK}" stroke="{PAPER}" stroke-opacity=".7" stroke-width="4" '
        f'stroke-linejoin="round" paint-order="stroke" aria-hidden="true">{"".join(drawn)}</g>'
    )


def _frame(wide: float) -> str:
    return "".join(
        f'<rect x="{inset}" y="{inset}" width="{number(wide - 2 * inset)}" height="{number(HEIGHT - 2 * inset)}" '
        f'fill="none" stroke="{colour}" stroke-width="{stroke}"/>'
        for inset, colour, stroke in ((4.5, "#e9d6a6", 9), (9, INK, 1.5), (1, INK, 2))
    )

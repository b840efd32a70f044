"""The drawings of Clans and Glory, each the content of an SVG definition around its own origin, and the inks they use.

A card is 90 by 130 units around its middle. A round shield is 56 units wide. The six old stones that mark the places
stand on their origin and are up to 100 units high.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, radians, sin
from typing import NamedTuple

from engine.games.glory.cards import CARDS, STRENGTH

INK = "#2b2118"
PAPER = "#fbf4e0"
GOLD = "#d9a93a"
PREFIX = "glory-"
"""Begins every id of the definitions, so that none clashes with an id of the page around the picture."""

CARD_WIDTH, CARD_HEIGHT, CORNER = 90, 130, 9
SHIELD = 28
"""The radius of a shield."""


class Cloth(NamedTuple):
    """A tartan: its ground, the ink that goes with it, and the sett, which alone tells the seven apart.

    `bands` are (start, width, colour, opacity) along a repeat of `size` units, woven both ways; `turn` is in degrees.
    """

    ground: str
    ink: str
    size: float
    bands: tuple[tuple[float, float, str, float], ...]
    turn: int = 0


_WINE, _SOOT, _PINE, _MILK = "#3a0c1d", "#2f260d", "#0b2f20", "#fff0cf"
CLOTHS = {
    # Broad dark bands with a fine light line amid each.
    "R": Cloth("#c4242f", "#7d0f1c", 42, ((6, 18, _WINE, 0.62), (14, 2.2, _MILK, 0.9), (33, 2.4, "#ffd86b", 0.85))),
    # Double panes, nothing else.
    "O": Cloth("#ec9332", "#7d3a05", 30, ((6, 2.8, "#6d2c06", 0.9), (12, 2.8, "#6d2c06", 0.9))),
    # Great squares, half of them dark.
    "Y": Cloth("#f9d648", "#5e4500", 27.3, ((0, 13.6, _SOOT, 0.36),)),
    # Three stripes side by side.
    "G": Cloth(
        "#479c62",
        "#0d4426",
        41,
        ((3, 4.6, _PINE, 0.75), (11, 4.6, _PINE, 0.75), (19, 4.6, _PINE, 0.75), (32, 2, _MILK, 0.75)),
    ),
    # A small dense check.
    "B": Cloth("#3f7fc4", "#10366b", 13.7, ((0, 6.2, "#0c2350", 0.62), (9.6, 1.3, "#d9efff", 0.8))),
    # Diamonds on their points.
    "P": Cloth("#9663b3", "#4a1f66", 29, ((0, 14.5, "#3d1a58", 0.52), (21, 1.8, "#f4dcf7", 0.95)), 45),
    # Few thin lines, far apart, on bleached wool.
    "W": Cloth(
        "#f4efe2", "#39424c", 41, ((8, 1.8, "#4c5966", 0.95), (12, 1.8, "#4c5966", 0.95), (31, 5, "#9aa5af", 0.6))
    ),
}


def number(value: float) -> str:
    """Write a number with at most one decimal."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def use(name: str, x: float = 0, y: float = 0, more: str = "") -> str:
    """Return a definition drawn at a place."""
    at = f' x="{number(x)}" y="{number(y)}"' if x or y else ""
    return f'<use href="#{PREFIX}{name}"{at}{more}/>'


def _face(inset: float = 0) -> str:
    """Return the attributes of a rectangle of the size of a card, or a little smaller."""
    wide, high = CARD_WIDTH - 2 * inset, CARD_HEIGHT - 2 * inset
    return (
        f'x="{number(-wide / 2)}" y="{number(-high / 2)}" width="{number(wide)}" height="{number(high)}" '
        f'rx="{number(max(CORNER - inset, 2))}"'
    )


BOX = _face()
"""The outline of a card, for whatever has its size."""


def _tartan(letter: str, cloth: Cloth) -> str:
    """Return the pattern of a cloth: the bands across and down, darker where they cross."""
    size = cloth.size
    bands = "".join(
        f'<path d="M{start} 0h{width}v{size}h-{width}ZM0 {start}v{width}h{size}v-{width}Z" fill="{colour}" '
        f'fill-opacity="{opacity}"/>'
        if opacity > 0.7
        else f'<path d="M{start} 0h{width}v{size}h-{width}Z" fill="{colour}" fill-opacity="{opacity}"/>'
        f'<path d="M0 {start}v{width}h{size}v-{width}Z" fill="{colour}" fill-opacity="{opacity}"/>'
        for start, width, colour, opacity in cloth.bands
    )
    turned = f' patternTransform="rotate({cloth.turn})"' if cloth.turn else ""
    return (
        f'<pattern id="{PREFIX}tartan-{letter}" width="{size}" height="{size}" patternUnits="userSpaceOnUse"{turned}>'
        f'<rect width="{size}" height="{size}" fill="{cloth.ground}"/>{bands}</pattern>'
    )


def _twill() -> str:
    """Return the fine slanting ribs of woven wool, laid over every cloth."""
    return (
        f'<pattern id="{PREFIX}twill" width="4" height="4" patternUnits="userSpaceOnUse">'
        '<path d="M0 4L4 0M-1 1L1-1M3 5L5 3" stroke="#000" stroke-opacity=".16" stroke-width=".9"/>'
        '<path d="M-1 3L3-1M1 5L5 1" stroke="#fff" stroke-opacity=".14" stroke-width=".8"/></pattern>'
    )


def _cloth(letter: str, cloth: Cloth) -> str:
    """Return a card of this colour without its strength: the cloth in its border, and the crest badge to write on."""
    return (
        f'<rect {_face()} fill="{PAPER}" stroke="{INK}" stroke-width="1.6"/>'
        f'<rect {_face(4)} fill="url(#{PREFIX}tartan-{letter})"/><rect {_face(4)} fill="url(#{PREFIX}twill)"/>'
        f'<rect {_face(4)} fill="none" stroke="{cloth.ink}" stroke-width="1.6"/>'
        f'<circle cy="5" r="35" fill="{cloth.ink}"/><circle cy="5" r="33.2" fill="{GOLD}"/>'
        f'<circle cy="5" r="30.6" fill="{PAPER}" stroke="{cloth.ink}" stroke-width="1.6"/>'
        f'<path d="M-41-37V-54Q-41-61-34-61H-1L-6-49-1-37Z" fill="{PAPER}" stroke="{cloth.ink}" stroke-width="1.6"/>'
    )


def card(number_: int) -> str:
    """Return a card face up: cloth, name in the corner and in the badge, and as many studs as its strength."""
    name, strength = CARDS[number_], STRENGTH[number_]
    ink = CLOTHS[name[0]].ink
    first = -4.5 * (strength - 1)
    studs = "".join(f'<circle cx="{number(first + 9 * n)}" cy="52" r="3.1"/>' for n in range(strength))
    size = 42 if name[0] == "W" else 50
    return (
        f'{use(f"cloth-{name[0]}")}<g fill="{ink}" text-anchor="middle">'
        f'<text y="{number(5 + size / 3)}" font-size="{size}">{name}</text>'
        f'<text x="-23.5" y="-40.5" font-size="{0.54 * size:.1f}">{name}</text></g>'
        f'<g fill="{GOLD}" stroke="{INK}" stroke-width="1.4">{studs}</g>'
    )


def _loop(lean: int, start: int, end: int) -> str:
    """Return SVG path data of part of a long loop that leans to one side; angles in degrees."""
    points = []
    for angle in range(start, end + 1, 10):
        across, along, turn = 15 * cos(radians(angle)), 43 * sin(radians(angle)), radians(lean)
        x, y = across * cos(turn) - along * sin(turn), across * sin(turn) + along * cos(turn)
        points.append(f"{number(x)} {number(y)}")
    return "M" + "L".join(points)


def _back() -> str:
    """Return a card face down: two loops in each other, over and under by turns, on tooled leather."""
    # Where the loops cross the one drawn last lies above; so the first is drawn again at two of the four crossings.
    parts = (_loop(33, 0, 360), _loop(-33, 0, 360), _loop(33, 50, 100), _loop(33, 230, 280))
    strands = "".join(
        f'<path d="{part}" fill="none" stroke="#2a1a10" stroke-width="11"/>'
        f'<path d="{part}" fill="none" stroke="#d8b36a" stroke-width="7"/>'
        f'<path d="{part}" fill="none" stroke="#8a6327" stroke-width="1.2"/>'
        for part in parts
    )
    corners = "".join(
        f'<path d="M-33-53q9 1 10 10-9 0-10-10ZM-33-53q0 8 4 12M-33-53q8 0 12 4" transform="scale({x} {y})"/>'
        for x in (1, -1)
        for y in (1, -1)
    )
    return (
        f'<rect {_face()} fill="{PAPER}" stroke="{INK}" stroke-width="1.6"/><rect {_face(4)} fill="#5a3d28"/>'
        f'<rect {_face(4)} fill="url(#{PREFIX}twill)"/>'
        f'<rect {_face(8)} fill="none" stroke="#d8b36a" stroke-width="1.6"/>'
        f'<rect {_face(11)} fill="none" stroke="#d8b36a" stroke-width="1" stroke-dasharray="2 3"/>'
        f'<g fill="none" stroke="#d8b36a" stroke-width="1.4">{corners}</g>{strands}'
        '<path d="M0-9L6 0 0 9-6 0Z" fill="#d8b36a"/>'
    )


SEATS = (
    ("#8e2a23", "#cf6353", "#fff"),
    ("#1f4673", "#4f80b5", "#fff"),
    ("#2c6246", "#5f9c78", "#fff"),
    ("#d8a536", "#f2d27e", "#2b1a00"),
)
"""The colour of each seat's shields: rim, field, and what is written on them."""
# The tooling of each seat's shields, so that they differ without colour: rings, cross, whorl, saltire.
_TOOLING = (
    '<circle r="21.5"/><circle r="17.5"/>',
    '<path d="M-4-23V-12M4-23V-12M-4 12V23M4 12V23M-23-4H-12M-23 4H-12M12-4H23M12 4H23"/>',
    '<path d="M0-15Q13-25 21-8M13 7.5Q14.3 23.3-3.6 22.2M-13 7.5Q-27.3.7-17.4-14.2"/>',
    '<path d="M-18-13L-7-7M-13-18L-7-7M18-13L7-7M13-18L7-7M-18 13L-7 7M-13 18L-7 7M18 13L7 7M13 18L7 7"/>',
)


def shield(seat: int) -> str:
    """Return the round shield of a seat: rim, studs, tooling of its own, and the number of the player on the boss."""
    rim, field, ink = SEATS[seat]
    studs = "".join(
        f'<circle cx="{x}" cy="{y}" r="1.7"/>'
        for x, y in ((0, -25), (17.7, -17.7), (25, 0), (17.7, 17.7), (0, 25), (-17.7, 17.7), (-25, 0), (-17.7, -17.7))
    )
    return (
        f'<circle r="{SHIELD}" fill="{rim}" stroke="{INK}" stroke-width="2"/>'
        f'<circle r="21.5" fill="{field}"/><g fill="none" stroke="{rim}" stroke-width="2">{_TOOLING[seat]}</g>'
        f'<g fill="#f3dc9a" stroke="{INK}" stroke-width=".5">{studs}</g>'
        f'<circle r="14.5" fill="{rim}" stroke="#f3dc9a" stroke-width="1.8"/>'
        f'<text y="9.3" font-size="28" text-anchor="middle" fill="{ink}">{seat + 1}</text>'
    )


_STONE = 'fill="#b9b3a3" stroke="#3c352b" stroke-width="2" stroke-linejoin="round"'
_SHADE = 'fill="#8d8677"'
STONES = (
    # A standing stone with a whorl cut into it.
    f'<path d="M-17 0L-19-40-12-82-2-95 12-86 18-44 17 0Z" {_STONE}/><path d="M12-86L18-44 17 0H6L9-44Z" {_SHADE}/>'
    '<path d="M-1-52a5 5 0 1 1-5 5 9 9 0 1 1 9 9 13 13 0 0 1-13-13" fill="none" stroke="#5b5345" stroke-width="2.2" '
    'stroke-linecap="round"/>',
    # A cairn.
    f'<g {_STONE} transform="scale(1.16 1.3)">'
    '<path d="M-27 0Q-29-13-17-15T-4 0ZM-8 0Q-8-15 4-15T15 0ZM11 0Q12-13 20-13T28 0Z"/>'
    '<path d="M-21-14Q-21-29-9-29T4-14ZM1-14Q2-28 11-28T22-13Z"/><path d="M-14-28Q-14-43-3-43T9-28Z"/>'
    '<path d="M2-28Q5-41 11-39T17-27Z"/><path d="M-9-42Q-8-57 1-57T9-41Z"/><path d="M-5-56Q-3-70 2-70T6-56Z"/></g>',
    # A hearth.
    '<path d="M0-10C-26-18-20-38-11-50-10-40-2-40-3-50-4-62 4-70 6-76 8-62 24-48 22-30 20-16 10-12 0-10Z" '
    'fill="#e2742b" '
    'stroke="#7a2c10" stroke-width="2" stroke-linejoin="round"/>'
    '<path d="M1-12C-12-18-8-30-3-37-1-30 5-32 6-41 15-28 15-17 1-12Z" fill="#ffd76a"/>'
    '<path d="M-22-6L20-16M-20-16L22-6" stroke="#4d3320" stroke-width="6.5" stroke-linecap="round"/>'
    f'<g {_STONE}><path d="M-30 2Q-32-10-22-11T-12 2ZM-12 4Q-12-8-2-8T8 4ZM8 3Q8-9 18-10T29 2Z"/></g>',
    # A dolmen.
    f'<g {_STONE}><path d="M-22 0L-24-54-11-56-9 0ZM10 0L12-56 24-53 22 0Z"/><path d="M-4 0L-5-48 4-50 4 0Z"/>'
    '<path d="M-30-55L-26-75 6-82 28-69 30-56 10-53-12-56Z"/></g>'
    f'<path d="M-27-65L6-71 27-63 30-56 10-53-12-56-30-55Z" {_SHADE}/>',
    # A high cross.
    f'<path d="M0-94A22 22 0 1 1 0-46 22 22 0 1 1 0-94ZM0-82A12 12 0 1 0 0-58 12 12 0 1 0 0-82Z" {_STONE} '
    'fill-rule="evenodd"/>'
    f'<path d="M-7 0L-5-63H-29V-77H-6V-100H6V-77H29V-63H5L7 0Z" {_STONE}/><path d="M-20 2L-16-12H16L20 2Z" {_STONE}/>'
    '<path d="M0-90V-18M-23-70H23" stroke="#5b5345" stroke-width="2" stroke-dasharray="3 2.5"/>',
    # A broch.
    f'<path d="M-29 0Q-20-40-22-80L-15-85-9-80-4-86 3-80 9-85 15-79 22-76Q20-40 29 0Z" {_STONE}/>'
    f'<path d="M9-84L15-79 22-76Q20-40 29 0H13Q8-40 9-84Z" {_SHADE}/>'
    '<path d="M-7 0V-14Q-7-22 0-22T7-14V0Z" fill="#2b2118"/>'
    '<path d="M-20-24h9M-3-34h10M-19-48h8M-6-60h9M-20-68h7M9-24h9M8-50h8" stroke="#5b5345" stroke-width="2"/>'
    '<path d="M-4-44v-6h5v6Z" fill="#2b2118"/>',
)
"""What marks each place, from left to right."""

GROWTH = {
    "heather": '<path d="M-8 1Q-7-6-10-11M-2 1Q-2-8-3-15M3 1Q4-7 6-13M7 1Q9-4 12-8" fill="none" stroke="#6d7a45" '
    'stroke-width="1.6" stroke-linecap="round"/><path d="M-10-11v-5M-3-15v-6M6-13v-6M12-8v-5M-7-7l-2-3M5-8l3-3" '
    'fill="none" stroke="#a0629c" stroke-width="3.6" stroke-linecap="round"/>',
    "thistle": '<path d="M0 1V-15M0-4Q-8-5-11-12-4-12 0-6M0-3Q8-5 10-11 4-10 0-5" fill="#7f9a5e" stroke="#4f6a37" '
    'stroke-width="1.5" stroke-linejoin="round"/><path d="M-6-24Q-7-15 0-14T6-24Z" fill="#6f8f55" stroke="#3f5a2b" '
    'stroke-width="1.3"/><path d="M-6-24L-8-32-3-28 0-34 3-28 8-32 6-24Z" fill="#a7559f" stroke="#6b2f68" '
    'stroke-width="1.2" stroke-linejoin="round"/>',
    "grass": '<path d="M-7-7Q-4-3-3 1M-2-11Q-1-5-1 1M3-10Q1-5 1 1M8-7Q4-3 3 1" fill="none" stroke="#7e9150" '
    'stroke-width="1.6" stroke-linecap="round"/>',
    "rock": '<path d="M-10 2Q-9-7-2-8T10 2Z" fill="#cfc8b6" stroke="#6f6654" stroke-width="1.4"/>'
    '<path d="M-1-8Q5-6 10 2H3Q4-4-1-8Z" fill="#a59d8b"/>',
    "pine": '<path d="M0 1V-5" stroke="#4a3724" stroke-width="2.4"/>'
    '<path d="M0-30L7-18H4L10-9H6L11-3H-11L-6-9H-10L-4-18H-7Z" '
    'fill="#55734a" stroke="#26331f" stroke-width="1.3" stroke-linejoin="round"/>',
    "sheep": '<path d="M-6 4V-1M4 4V-1" stroke="#2b2118" stroke-width="1.8"/>'
    '<path d="M-10-1C-13-7-7-11-4-8-1-12 6-10 6-7 11-5 9 1 5 1H-6Q-9 1-10-1Z" '
    'fill="#fffaf0" stroke="#4b4030" stroke-width="1.3"/><path d="M7-8Q14-9 13-5L9-3Q6-5 '
    '7-8Z" fill="#2b2118"/>',
    "keep": '<path d="M-16 2V-22H-11V-26H-6V-22H-1V-34H4V-38H9V-34H14V-14H20V2Z" fill="#b3a7ad" stroke="#6d6470" '
    'stroke-width="1.4" stroke-linejoin="round"/><path d="M5-28V-23M-9-14V-9M-1 2V-5Q2-9 5-5V2" fill="#6d6470" '
    'stroke="#6d6470" stroke-width="1.8"/>'
    '<path d="M6-38V-47L16-44 6-41" fill="#b8524a" stroke="#6d6470" stroke-width="1.2"/>',
    "bird": '<path d="M-9-3Q-5-8 0-2 5-8 9-3" fill="none" stroke="#5a5548" stroke-width="1.6" stroke-linecap="round"/>',
}


def patterns() -> str:
    """Return the cloths that cards are filled with."""
    return "".join(_tartan(letter, cloth) for letter, cloth in CLOTHS.items()) + _twill()


def card_symbols(cards: Iterable[int]) -> str:
    """Return the seven cloths, the back and each of the cards as definitions."""
    drawings = {f"cloth-{letter}": _cloth(letter, cloth) for letter, cloth in CLOTHS.items()}
    drawings["back"] = _back()
    drawings |= {f"card-{CARDS[one]}": card(one) for one in cards}
    return _defined(drawings)


def table_symbols(seats: int, places: int) -> str:
    """Return shields, stones and what grows around them as definitions."""
    drawings = {f"shield-{seat + 1}": shield(seat) for seat in range(seats)}
    drawings |= {f"stone-{place + 1}": STONES[place] for place in range(places)}
    return _defined(drawings | GROWTH)


def _defined(drawings: dict[str, str]) -> str:
    return "".join(f'<g id="{PREFIX}{name}">{drawing}</g>' for name, drawing in drawings.items())

"""How far apart colours look, also to those who lack one of the three kinds of cones.

What they see is told after Machado, Oliveira and Fernandes (2009), at full severity; the distance is CIEDE2000 (Sharma,
Wu and Dalal, 2005): about 2 is the least that anybody sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt
from typing import Final

Three = tuple[float, float, float]

SIGHTS: Final[Mapping[str, tuple[Three, Three, Three]]] = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no long": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no medium": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no short": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
_TO_XYZ: Final = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
_WHITE: Final = (0.95047, 1.0, 1.08883)


def nearest(colours: Mapping[str, str], sight: str) -> tuple[float, tuple[str, str]]:
    """Return how far apart the two colours are that look most alike, and which they are; colours are "#rrggbb"."""
    seen = {name: _lab(_product(SIGHTS[sight], _light(colour))) for name, colour in colours.items()}
    return min((distance(seen[one], seen[other]), (one, other)) for one, other in combinations(seen, 2))


def brightness(colour: Three) -> float:
    """Return how bright a colour of three values from 0 to 255 is, from 0 to 1."""
    red, green, blue = (value / 255 for value in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _light(colour: str) -> Three:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _product(rows: tuple[Three, Three, Three], column: Three) -> Three:
    first, second, third = (sum(a * b for a, b in zip(row, column, strict=True)) for row in rows)
    return first, second, third


def _lab(light: Three) -> Three:
    kept = tuple(min(max(value, 0.0), 1.0) for value in light)
    xyz = _product(_TO_XYZ, (kept[0], kept[1], kept[2]))
    x, y, z = (_root(value / white) for value, white in zip(xyz, _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(value: float) -> float:
    return float(value ** (1 / 3)) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116


def distance(one: Three, other: Three) -> float:
    """Return the CIEDE2000 distance of two colours in CIELAB."""
    mean = ((hypot(*one[1:]) + hypot(*other[1:])) / 2) ** 7
    grey = 1.5 - 0.5 * sqrt(mean / (mean + 25**7))
    (light, chroma, hue), (light2, chroma2, hue2) = (
        (colour[0], hypot(colour[1] * grey, colour[2]), degrees(atan2(colour[2], colour[1] * grey)) % 360)
        for colour in (one, other)
    )
    turn = 0.0 if not chroma * chroma2 else (hue2 - hue + 180) % 360 - 180
    middle = (light + light2) / 2, (chroma + chroma2) / 2, (hue + turn / 2) % 360 if chroma * chroma2 else hue + hue2
    tone = 2 * sqrt(chroma * chroma2) * sin(radians(turn / 2))
    weight = (
        1
        - 0.17 * cos(radians(middle[2] - 30))
        + 0.24 * cos(radians(2 * middle[2]))
        + 0.32 * cos(radians(3 * middle[2] + 6))
        - 0.20 * cos(radians(4 * middle[2] - 63))
    )
    scales = (
        1 + 0.015 * (middle[0] - 50) ** 2 / sqrt(20 + (middle[0] - 50) ** 2),
        1 + 0.045 * middle[1],
        1 + 0.015 * middle[1] * weight,
    )
    bend = -2 * sqrt(middle[1] ** 7 / (middle[1] ** 7 + 25**7))
    bend *= sin(radians(60 * exp(-(((middle[2] - 275) / 25) ** 2))))
    parts = tuple(part / scale for part, scale in zip((light2 - light, chroma2 - chroma, tone), scales, strict=True))
    return sqrt(sum(part * part for part in parts) + bend * parts[1] * parts[2])

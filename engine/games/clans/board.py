"""The board of Clans: bare facts, and the tables that the rules, the notation and the picture share.

A territory is an int from 0 to 59, the place of its name in `TERRITORIES`; a set of territories is an int with bit *t*
set for territory *t*. Source of the facts: the rule sheet, section Material.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.language import later


class Epoch(NamedTuple):
    """A stretch of the epoch track: how many chips lie there, and what the terrain of a village founded then counts.

    `favourable` lists the terrains that add `bonus` to the value, `hostile` those that make it 0.
    """

    chips: int
    favourable: tuple[str, ...]
    hostile: tuple[str, ...]
    bonus: int


CLANS = (later("red"), later("blue"), later("green"), later("yellow"), later("black"))
REGIONS = "ABCDEFGHIJKL"
TERRAINS = (later("forest"), later("mountain"), later("steppe"), later("grassland"))

EPOCHS = (
    Epoch(4, ("forest",), ("mountain",), 1),
    Epoch(3, ("mountain",), ("grassland",), 2),
    Epoch(2, ("steppe",), ("forest",), 3),
    Epoch(2, ("grassland",), ("steppe",), 4),
    Epoch(1, TERRAINS, (), 5),
)
NUMERALS = ("I", "II", "III", "IV", "V")
"""What the epochs are called."""
CHIPS = sum(epoch.chips for epoch in EPOCHS)
EPOCH_OF_CHIP = tuple(index for index, epoch in enumerate(EPOCHS) for _ in range(epoch.chips))
"""For each of the twelve chips in the order they are taken, the index in `EPOCHS` of its epoch."""

_TERRAIN = """
A steppe mountain grassland mountain forest
B grassland steppe grassland mountain forest
C forest grassland mountain steppe forest
D grassland steppe mountain forest steppe
E steppe forest grassland grassland mountain
F mountain grassland forest steppe mountain
G mountain steppe grassland mountain forest
H steppe grassland forest mountain steppe
I steppe forest grassland forest mountain
J grassland mountain steppe forest grassland
K grassland steppe forest mountain forest
L grassland steppe forest steppe mountain
"""

# Every border once, from the territory that comes first; a river is crossed, a lake is not.
_BORDERS = """
A1: A2 A3 A4; A2: A3 A5 B1; A3: A4 A5; A4: A5 D1; A5: B1 D1 E1
B1: B2 B5 E1; B2: B3 B5; B3: B4 B5; B4: B5 C1 C4 F2; B5: E3 F1
C1: C2 C3 C4; C2: C3 C5; C3: C4 C5; C4: C5 F2 G1; C5: G1
D1: D2 D3 E1; D2: D3 D4; D3: D4 D5 E4 H1; D4: D5; D5: H3 J1 J2
E1: E2 E4; E2: E3 E4 E5; E3: E5 F1; E4: E5 H1; E5: F3 H2
F1: F2 F3 F4; F2: F4 F5 G1; F3: F4 H2 I1; F4: F5; F5: G2 I2
G1: G2 G3; G2: G3 G4 G5 I2; G3: G4; G4: G5; G5: I5 L1 L2
H1: H2 H3 H4; H2: H4 H5 I1; H3: H4 H5 J2 K2; H4: H5; H5: I4 K1
I1: I2 I3 I4; I2: I3 I5; I3: I4 I5; I4: I5 K1; I5: K5 L1
J1: J2 J3 J4; J2: J3 J5 K2; J3: J4 J5; J4: J5; J5: K2
K1: K2 K3 K4 K5; K2: K3; K3: K4; K4: K5; K5: L1 L4
L1: L2 L3 L4; L2: L3 L5; L3: L4 L5; L4: L5
"""

_LAKES = """
B1 B5 E3 E2 E1
B4 B5 F1 F2
D1 D3 E4 E1
E3 E5 F3 F1
F2 G1 G2 F5
F3 F4 F5 I2 I1
E4 E5 H2 H1
D3 D5 H3 H1
H2 I1 I4 H5
G2 G5 I5 I2
H3 H5 K1 K2
I4 I5 K5 K1
"""

_COAST = """
A1 A2 B1 B2 B3 B4 C1 C2 C5 G1 G3 G4 G5 L2
L5 L4 K5 K4 K3 K2 J5 J4 J1 D5 D4 D2 D1 A4
"""

_LABEL = """
A 6,5 20,6 12,13 6,24 17,22
B 31,10 43,6 56,7 68,10 54,17
C 79,5 94,6 87,13 82,20 95,22
D 10,34 6,43 17,48 5,54 7,63
E 27,28 37,36 45,28 29,45 43,43
F 58,28 75,26 56,40 67,35 75,44
G 93,33 85,46 95,46 94,56 89,65
H 30,59 43,55 25,72 35,67 44,72
I 57,55 74,55 64,61 55,68 71,68
J 5,75 17,75 11,85 6,94 19,93
K 51,84 30,90 43,95 58,95 68,88
L 76,80 93,76 88,86 79,94 96,94
"""

TERRITORIES = tuple(f"{region}{number}" for region in REGIONS for number in range(1, 6))
INDEX = {name: index for index, name in enumerate(TERRITORIES)}


def _by_region(text: str) -> tuple[str, ...]:
    """Return the words of a table that has one line a region, in territory order."""
    return tuple(word for line in text.split("\n") for word in line.split()[1:])


def _rings(text: str) -> tuple[tuple[int, ...], ...]:
    """Return each line of names as a ring of territories."""
    return tuple(tuple(INDEX[name] for name in line.split()) for line in text.strip().split("\n"))


def _neighbours(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the neighbours of each territory, ascending."""
    found: list[set[int]] = [set() for _ in TERRITORIES]
    for entry in text.replace("\n", ";").split(";"):
        name, _, others = entry.partition(":")
        for other in others.split():
            here, there = INDEX[name.strip()], INDEX[other]
            found[here].add(there)
            found[there].add(here)
    return tuple(tuple(sorted(some)) for some in found)


def _point(text: str) -> tuple[int, int]:
    x, y = text.split(",")
    return int(x), int(y)


TERRAIN = _by_region(_TERRAIN)
NEIGHBOURS = _neighbours(_BORDERS)
BIT = tuple(1 << index for index in range(len(TERRITORIES)))
LAND = sum(BIT)
"""All territories as a set."""
MASK = tuple(sum(BIT[other] for other in some) for some in NEIGHBOURS)
"""The neighbours of each territory as a set."""
AROUND = tuple(tuple((near, BIT[near], MASK[near]) for near in some) for some in NEIGHBOURS)
"""For each territory its neighbours, ascending, each with itself and with its own neighbours as sets."""
LAKES = _rings(_LAKES)
"""The territories around each lake, in ring order."""
COAST = tuple(index for ring in _rings(_COAST) for index in ring)
"""The outer ring, clockwise from the top left."""
LABEL = tuple(_point(word) for word in _by_region(_LABEL))
"""A rough centre of each territory in percent of a square map: x to the right, y down."""

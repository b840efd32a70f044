"""The pictures that explain the rules of Clans: moments of one match that was played by the rules."""

from __future__ import annotations

from functools import cache

from engine.base import Example, Game
from engine.games.clans.board import CLANS, TERRITORIES
from engine.language import later
from engine.moments import Match, Moment, drawn

LETTERS = dict(zip("rbgyk", CLANS, strict=True))
HUTS = "rybgkbkyrgrybgkrybkgkgrybrykgbgrkybygbrkrygbkykgrbygrbkygbrk"
MOVES = (
    *("L1-I5", "H1-H4", "F1-F3", "E3-B5", "E5-E4", "K4-K3", "A3-A5", "G5-G2", "L4-L3", "G3-G1", "G2-G1", "D5-J1"),
    *("L5-L2", "L3-L2", "F3-H2", "K2-K1", "K1-K3", "E1-B1", "I5-I4", "A2-B1", "D2-D3", "C1-C3", "B4-C4", "A4-D1"),
    *("A5-D1", "E4-D3", "D3-D4 / D4 D1", "H2-H5", "J2-J5", "B5-B3", "B2-B3 / B1 B3", "F2-G1", "I4-H5", "F5-I2"),
    *("C4-G1", "J5-J4", "I2-I1", "C3-C2", "C5-C2 / G1"),
)
ORDERED = MOVES.index("B2-B3 / B1 B3")
SETUP = {
    "huts": {name: LETTERS[letter] for name, letter in zip(TERRITORIES, HUTS, strict=True)},
    "clans": ["yellow", "black"],
    "first": 0,
}
PLAYED = Match(SETUP, 2, {}, MOVES)
OTHERWISE = Match(SETUP, 2, {}, (*MOVES[:ORDERED], "B2-B3 / B3 B1"))
"""The same match up to the move that founds two villages, which it does in the other order."""

MOMENTS = (
    *(
        Moment(terrain, PLAYED, len(MOVES), (), (*corner, 72, 54), caption, alt)
        for terrain, corner, caption, alt in (
            ("forest", (462, 200), later("Forest"), later("Land of forest")),
            ("mountain", (240, 62), later("Mountain"), later("Land of mountain")),
            ("steppe", (428, 62), later("Steppe"), later("Land of steppe")),
            ("grassland", (428, 296), later("Grassland"), later("Land of grassland")),
        )
    ),
    Moment(
        "lake",
        PLAYED,
        0,
        (),
        (349, 61, 499, 374),
        later(
            "B5 and F2 face each other over a lake, as B4 and F1 do: they are no neighbours. B5 and F1 are, for a river"
            " between them is crossed."
        ),
        later(
            "A lake amid B4, B5, F1 and F2. A river leaves it on either side, with one hut on each territory around."
        ),
    ),
    Moment(
        "moving",
        PLAYED,
        16,
        ("K1", "K3"),
        (261, 747, 361, 271),
        later(
            "Before the move: the green and the yellow hut of K1 may go to K3, where red and blue stand. K2 and K4 are"
            " empty, so nobody can go there."
        ),
        later("K1 holds a green and a yellow hut, K3 below it a red and a blue one. K2 and K4 to its sides are empty."),
    ),
    Moment(
        "village",
        PLAYED,
        17,
        ("K1",),
        (261, 747, 361, 271),
        later(
            "After K1-K3: around K3 all land is empty, so it is a village. It was founded in epoch I and is worth 5:"
            " four huts, and 1 because forest is favourable then. Red, blue, green and yellow score 5 each."
        ),
        later("K1 is empty. K3 is fenced and holds a red, a blue, a green and a yellow hut; its sign says I and 5."),
    ),
    Moment(
        "hostile",
        PLAYED,
        34,
        (),
        (466, 318, 333, 250),
        later("Hostile terrain: F4 is steppe and was founded in epoch IV, so it is worth 0, and green scores nothing."),
        later("F4, a fenced steppe with one green hut; its sign says IV and 0."),
    ),
    Moment(
        "order",
        PLAYED,
        30,
        ("B2",),
        (307, 10, 339, 254),
        later("One chip is left in epoch III. If the black hut of B2 goes to B3, both B1 and B3 stand alone."),
        later(
            "B1 holds a blue, a yellow and a black hut, B3 a red, a green and a yellow one. Between them B2 has one"
            " black."
        ),
    ),
    Moment(
        "order-one",
        PLAYED,
        31,
        (),
        (307, 10, 339, 254),
        later(
            "B2-B3 / B1 B3: B1 takes the last chip of epoch III and is worth its 3 huts. B3 follows in epoch IV, in"
            " which grassland adds 4: 8 points."
        ),
        later("B2 is empty. The sign of the village B1 says III and 3, that of B3 says IV and 8."),
    ),
    Moment(
        "order-other",
        OTHERWISE,
        31,
        (),
        (307, 10, 339, 254),
        later("B2-B3 / B3 B1: now B3 is worth its 4 huts only, and B1, grassland too, gets the bonus: 7 points."),
        later("The same villages in the other order: the sign of B3 says III and 4, that of B1 says IV and 7."),
    ),
    Moment(
        "seven",
        PLAYED,
        34,
        ("H5",),
        (191, 561, 340, 255),
        later("H5 holds seven huts. H3 and H4 hold fewer, so H5 stays where it is; H3 or H4 may still move there."),
        later(
            "H5 holds one red, one blue, one green, one yellow and three black huts. H4 holds a red and a yellow one,"
            " H3 a blue one."
        ),
    ),
    Moment(
        "strife-before",
        PLAYED,
        38,
        ("G1",),
        (668, 236, 320, 240),
        later("All five clans have met on G1: two huts each of red and green, one each of blue, yellow and black."),
        later("G1 holds two red, one blue, two green, one yellow and one black hut. C5 above it has one black."),
    ),
    Moment(
        "strife",
        PLAYED,
        39,
        (),
        (668, 236, 320, 240),
        later(
            "C5 was emptied, so G1 became a village, and strife drove out the single huts. Four huts remain, epoch V"
            " adds 5: 9 points each for red and green."
        ),
        later("G1 is fenced and holds two red and two green huts; its sign says V and 9. C5 is empty."),
    ),
)


@cache
def examples(game: Game) -> tuple[Example, ...]:
    """Return the pictures in the order of the rules page."""
    return drawn(game, MOMENTS)

"""The pictures that explain the rules of Clans and Glory: a few moves of a match between two, and two special cases."""

from __future__ import annotations

from functools import cache

from engine.base import Example, Game, Plain
from engine.games.glory.cards import CONTINUOUS, SEPARATE
from engine.games.glory.layout import HEIGHT, width
from engine.language import later
from engine.moments import Match, Moment, drawn

DEALT: Plain = {
    "start_cards": {"N2": "R5", "S5": "G4", "N8": "B3", "S11": "W6"},
    "hands": [
        ["R3", "R4", "R6", "O3", "O4", "Y3", "Y4", "Y5", "P5"],
        ["G3", "B4", "B5", "B6", "P3", "P4", "P6", "W3"],
    ],
    "first": 0,
}
MOVES = ("R3 N1", "B5 S2 shield", "Y3 S1 shield", "B6 S12", "R4 N3")
PLAYED = Match(DEALT, 2, {"row": CONTINUOUS}, MOVES)
WALLED = Match(DEALT, 2, {"row": SEPARATE}, MOVES)
STUCK: Plain = {
    "start_cards": {"N2": "R3", "S5": "O3", "N8": "Y3", "S11": "G3"},
    "hands": [
        ["B4", "B5", "B6", "P4", "P5", "P6", "W4", "W5", "W6"],
        ["R4", "R5", "O4", "O5", "Y4", "Y5", "G4", "G5"],
    ],
    "first": 0,
}
UNLUCKY = Match(STUCK, 2, {"row": CONTINUOUS}, ("B4 N1 down",))
PLACE = (14.0, 66.0, 307.0, 498.0)
"""The first place as a part of the picture."""
PLACES = (14.0, 66.0, 619.0, 498.0)
"""The first two places."""
TABLE = (0.0, 0.0, width(len(DEALT["start_cards"])), HEIGHT)
"""The whole picture."""


MOMENTS = (
    Moment(
        "beside",
        PLAYED,
        1,
        ("N1",),
        PLACE,
        later("R3 N1: red 3 lies beside red 5, which has the same colour."),
        later(
            "Place 1: red 5 in the middle of the north side, red 3 to the left of it. The other four spots are free."
        ),
    ),
    Moment(
        "opposite",
        PLAYED,
        2,
        ("S2",),
        PLACE,
        later(
            "B5 S2 shield: blue 5 lies opposite red 5, which has the same strength. A shield follows; as the first it"
            " takes the lowest strength, one card of 3."
        ),
        later(
            "Blue 5 lies below red 5 on the south side. Between them lies the first shield of player 2, with 3 beneath"
            " it."
        ),
    ),
    Moment(
        "before",
        PLAYED,
        4,
        (),
        PLACE,
        later(
            "Before R4 N3: the shield that came first takes both threes, 6. The second takes the next strength, both"
            " fives: 10."
        ),
        later(
            "Red 3 and red 5 in the north, yellow 3 and blue 5 in the south. Beneath the first shield stands 6,"
            " beneath the second 10."
        ),
    ),
    Moment(
        "between",
        PLAYED,
        5,
        ("N3",),
        PLACE,
        later(
            "After R4 N3: a four lies there now, so the second shield takes the four only. The fives wait for a third."
        ),
        later("Red 4 has been laid to the right of red 5. Beneath the first shield stands 6, beneath the second 4."),
    ),
    Moment(
        "row",
        PLAYED,
        5,
        ("N3",),
        PLACES,
        later("The row goes on: N4 at place 2 lies beside N3 at place 1. Any red card fits there, and any 4."),
        later("Places 1 and 2 side by side. Red 4 lies on N3, the last spot of place 1; N4 beside it is free."),
    ),
    Moment(
        "example",
        PLAYED,
        5,
        (),
        TABLE,
        later("The table after five moves."),
        later("Four places. Place 1 has five cards and two shields, places 2 and 3 one card each, place 4 two."),
    ),
    Moment(
        "wall",
        WALLED,
        5,
        ("N3",),
        PLACES,
        later("At a table where the row ends at each place a wall parts N3 and N4: they are no neighbours."),
        later("Places 1 and 2 with a wall of stones between them."),
    ),
    Moment(
        "down",
        UNLUCKY,
        1,
        ("N1",),
        PLACE,
        later(
            "Neither colour nor strength of any card in hand was to be had, so one was laid face down on N1. It matches"
            " nothing, and only its owner knows it."
        ),
        later("Place 1: a card face down to the left of red 3."),
    ),
)


@cache
def examples(game: Game) -> tuple[Example, ...]:
    """Return the pictures in the order of the rules page."""
    return drawn(game, MOMENTS)

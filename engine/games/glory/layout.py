"""Where everything lies on the table of Clans and Glory, in the units of the picture.

A card is 90 units wide and the row of six places 1835, so that a card has 44 pixels on a picture 900 pixels wide.
"""

from __future__ import annotations

from engine.games.glory.cards import COLUMNS, WIDE
from engine.games.glory.glyphs import CARD_HEIGHT, CARD_WIDTH

MARGIN = 23
GAP = 7
"""Between two cards of a place."""
APART = 17
"""Between two places."""
PLACE_WIDTH = WIDE * CARD_WIDTH + (WIDE - 1) * GAP

SKY = 80
NORTH = SKY + 32 + CARD_HEIGHT / 2
"""The middle of the cards on the north side."""
STRIP = 124
"""How high the ground between the two sides is."""
MIDDLE = NORTH + CARD_HEIGHT / 2 + 8 + STRIP / 2
SOUTH = MIDDLE + STRIP / 2 + 8 + CARD_HEIGHT / 2
HEIGHT = SOUTH + CARD_HEIGHT / 2 + 70


def width(places: int) -> float:
    """Return how wide the picture of so many places is."""
    return 2 * MARGIN + places * PLACE_WIDTH + (places - 1) * APART


def place_left(place: int) -> float:
    """Return where a place, counted from 0, begins."""
    return MARGIN + place * (PLACE_WIDTH + APART)


def middle(spot: int) -> tuple[float, float]:
    """Return the middle of a spot."""
    place, column = divmod(spot % COLUMNS, WIDE)
    return place_left(place) + CARD_WIDTH / 2 + column * (CARD_WIDTH + GAP), NORTH if spot < COLUMNS else SOUTH


def shield_middle(place: int, index: int, count: int) -> tuple[float, float]:
    """Return the middle of one of the shields of a place: in order from left to right, closer the more there are."""
    first, last = place_left(place) + 102, place_left(place) + PLACE_WIDTH - 32
    step = min(54.0, (last - first) / max(count - 1, 1))
    return first + step * index, MIDDLE - 10

"""The cards and spots of Clans and Glory: bare facts, and the tables that rules, notation and picture share.

A card is an int from 1 to 42, the place of its name in `CARDS`; a set of cards is an int with bit *c* set for card *c*.
A spot is an int from 0 to 35: N1 to N18, then S1 to S18, whatever the number of players; a table with fewer places has
only the first columns of each side. Source of the facts: the rule sheet, section Material.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.language import pgettext


class Deck(NamedTuple):
    """What a table of so many players needs: the highest strength in use, places, and hand sizes in turn order."""

    highest: int
    places: int
    hands: tuple[int, ...]


COLOURS = "ROYGBPW"
LOWEST, HIGHEST = 3, 8
SHIELDS = 5
"""How many shields each player has."""
WIDE = 3
"""How many columns a gathering place has: so many spots on its north side, so many on its south side."""
MOST_PLACES = 6

# The printed rules leave open what follows; everything here is inferred, and nowhere else.
# Which of the hand sizes below is whose: the last player in turn order holds the small hand.
DECKS = {
    2: Deck(6, 4, (9, 8)),
    3: Deck(7, 5, (9, 9, 8)),
    4: Deck(8, 6, (8, 8, 8, 7)),
}
# Where the start cards lie: amid the north side of the odd places, amid the south side of the even ones.
START_COLUMN = 2
START_SIDES = "NS"
# Whether neighbours reach across places: the row is one, but its two ends are not joined. A table may choose otherwise.
CONTINUOUS = "continuous"
SEPARATE = "separate"
# What a face-down card scores: nothing, and it matches nothing. Equal points share the win. Both are in rules.py, where
# nobody looks at a face-down card when places are scored, and where all with the most points are winners.

CARDS = ("", *(f"{colour}{strength}" for colour in COLOURS for strength in range(LOWEST, HIGHEST + 1)))
"""The name of each card; card 0 is none."""
CARD = {name: card for card, name in enumerate(CARDS) if card}
STRENGTH = tuple(int(name[1]) if name else 0 for name in CARDS)
MATCH = tuple(
    sum(1 << other for name, other in CARD.items() if name != CARDS[card] and set(name) & set(CARDS[card]))
    for card in range(len(CARDS))
)
"""For each card, those that share its colour or its strength."""

COLUMNS = WIDE * MOST_PLACES
SPOTS = tuple(f"{side}{column}" for side in "NS" for column in range(1, COLUMNS + 1))
SPOT = {name: spot for spot, name in enumerate(SPOTS)}
NOWHERE = len(SPOTS)
"""Stands in the place of a neighbour that does not exist; nothing ever lies there."""
PLACE = tuple(spot % COLUMNS // WIDE for spot in range(len(SPOTS)))
"""The place of each spot, counted from 0."""
PLACE_SPOTS = tuple(tuple(spot for spot in range(len(SPOTS)) if PLACE[spot] == place) for place in range(MOST_PLACES))
"""The six spots of each place, north before south."""


def _spots(places: int) -> tuple[int, ...]:
    """Return the spots of a table with so many places: the north side, then the south side, from left to right."""
    wide = WIDE * places
    return (*range(wide), *range(COLUMNS, COLUMNS + wide))


def _start_spots(places: int) -> tuple[int, ...]:
    return tuple(SPOT[f"{START_SIDES[place % 2]}{WIDE * place + START_COLUMN}"] for place in range(places))


IN_PLAY = {
    seats: tuple(card for card in CARD.values() if STRENGTH[card] <= deck.highest) for seats, deck in DECKS.items()
}
"""The cards that so many players use, ascending."""
NAMED = {seats: {CARDS[card]: card for card in cards} for seats, cards in IN_PLAY.items()}
"""The same cards by their names."""
WHOLE = {seats: sum(1 << card for card in cards) for seats, cards in IN_PLAY.items()}
"""The same cards as a set."""
SPOTS_IN_PLAY = {seats: _spots(deck.places) for seats, deck in DECKS.items()}
START_SPOTS = {seats: _start_spots(deck.places) for seats, deck in DECKS.items()}
"""The spots of the start cards, by place."""


def colour_word(letter: str) -> str:
    """Return the colour of a card in words."""
    words = {
        "R": pgettext("card", "red"),
        "O": pgettext("card", "orange"),
        "Y": pgettext("card", "yellow"),
        "G": pgettext("card", "green"),
        "B": pgettext("card", "blue"),
        "P": pgettext("card", "purple"),
        "W": pgettext("card", "white"),
    }
    return words[letter]


def card_words(card: str) -> str:
    """Return a card in words: `red 5`."""
    return f"{colour_word(card[0])} {card[1]}"


def _near(spot: int, row: str) -> tuple[int, int, int]:
    """Return the spot opposite and the two beside, `NOWHERE` for those that do not exist."""
    column = spot % COLUMNS
    left, right = (
        spot + step
        if 0 <= column + step < COLUMNS and (row == CONTINUOUS or PLACE[spot] == PLACE[spot + step])
        else NOWHERE
        for step in (-1, 1)
    )
    return (spot + COLUMNS) % (2 * COLUMNS), left, right


NEAR = {row: tuple(_near(spot, row) for spot in range(len(SPOTS))) for row in (CONTINUOUS, SEPARATE)}
"""The neighbours of each spot, by what the row is. Columns that a table does not have never hold a card."""

"""What moves tell of hands in Clans and Glory: whoever had held a card that looked better would have laid that one."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Final, NamedTuple

from engine.games.glory.cards import WHOLE
from engine.games.glory.foresight import Foresight
from engine.games.glory.rules import DOWN, Move, State, fitting_spots

KEENNESS: Final = 0.2
"""So many points make a card 2.7 times as likely to be laid."""
MOST: Final = 20.0
"""A card that looks better by so many times the keenness is as unlikely to be in the hand as can be."""
DOUBT: Final = 0.02
"""How often a seat lays any card of its hand instead."""


class Clue(NamedTuple):
    """A card that another seat laid face up, and what would have drawn the seat to each card instead.

    `pulls` are by card, 1 for the card laid and 0 for those that fitted nowhere; `known` is the sum for those cards
    that the seat is known to have held, `held` how many cards it held.
    """

    pulls: dict[int, float]
    known: float
    held: int


def likelihood(clues: Sequence[Clue], sums: Sequence[float]) -> float:
    """Return how likely the moves of a seat were, by the sum of the pulls of all cards it held at each."""
    product = 1.0
    for clue, pull in zip(clues, sums, strict=True):
        product *= (1 - DOUBT) / pull + DOUBT / clue.held
    return product


def clue(state: State, seat: int, laid: Sequence[int], hands: Sequence[int], cards: Sequence[int]) -> Clue:
    """Return what a move of the seat tells.

    `laid` are the cards that it laid then and later, that of the move last; `hands` some that it may have held, as sets
    of cards; `cards` those that it may hold still.
    """
    worths: dict[int, dict[int, float]] = {}
    foresight = Foresight(state, seat)
    tried = [(card, spot) for card in {*cards, *laid} for spot in fitting_spots(state, card)]
    shields = (False, True) if state.shields[seat] else (False,)
    for hand in hands:
        foresight.suppose(hand, _unseen(state, hand))
        for card, spot in tried:
            foresight.sketch.hands[seat] = hand | 1 << card
            worth = max(foresight.worth(Move(card, spot, shield)) for shield in shields)
            at_spots = worths.setdefault(card, {})
            at_spots[spot] = at_spots.get(spot, 0.0) + worth / len(hands)
    best = {card: max(at_spots.values()) for card, at_spots in worths.items()}
    pulls = {card: exp(min(MOST, (worth - best[laid[-1]]) / KEENNESS)) for card, worth in best.items()}
    return Clue(pulls, sum(pulls.get(card, 0.0) for card in laid), state.hands[seat].bit_count())


def _unseen(state: State, hand: int) -> int:
    """Return the set of cards that whoever holds this hand cannot see."""
    shown = sum(1 << value for value in state.board if 0 < value < DOWN)
    return WHOLE[state.seats] & ~shown & ~hand

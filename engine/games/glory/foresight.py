"""How good a move of Clans and Glory looks one move ahead, to a seat that sees its own hand and the table.

A move is worth what the shields of all take in the mean after it, those of others counting in part and against it,
less what a shield put down might still have brought elsewhere. What comes next at a place depends on what fits there:
the seat itself lays the best it holds, each other seat one of the cards not seen that it likes.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.games.glory.cards import LOWEST, MATCH, PLACE, STRENGTH
from engine.games.glory.prospects import FREE_SPOT, KINDS, STEP
from engine.games.glory.rules import DOWN, NO_SPOT, Move, State, owner_and_card
from engine.games.glory.sketch import KIND_CARDS, STACKS, Sketch, shielded


def rate(state: State, seat: int, moves: Sequence[Move]) -> list[float]:
    """Return how good legal moves of the seat look, in points.

    Of the cards that the seat cannot see it only matters which they are, not where they lie.
    """
    foresight = Foresight(state, seat)
    return [foresight.worth(move) for move in moves]


def unseen(state: State, seat: int) -> int:
    """Return the set of cards that the seat cannot see."""
    cards = state.table.undealt
    for other, hand in enumerate(state.hands):
        if other != seat:
            cards |= hand
    for value in state.board:
        if DOWN <= value < NO_SPOT:
            owner, card = owner_and_card(value)
            if owner != seat:
                cards |= 1 << card
    return cards


class Foresight:
    """A position as the seat to move looks ahead from it; what is found out for one move serves for the next."""

    def __init__(self, state: State, seat: int) -> None:
        self.seat = seat
        self.sketch = sketch = Sketch(state)
        self.unseen = unseen(state, seat)
        self.price = sketch.price()
        self.turns = sketch.turns - 1
        self.empty = sketch.empty - 1
        self.looks = sketch.looks[sketch.level(2)]
        self.still = sketch.looks[0][seat]
        self.outlooks: dict[tuple[int, int, int], float] = {}
        self.elsewhere: dict[tuple[int, int, int], float] = {}
        self.masks: dict[tuple[int, int, bool], int] = {}

    def suppose(self, hand: int, unseen: int) -> None:
        """Look ahead as if the seat held this hand, and could not see these cards."""
        self.sketch.hands[self.seat] = hand
        self.unseen = unseen
        self.elsewhere.clear()

    def worth(self, move: Move) -> float:
        """Return how good the move looks, in points."""
        card, spot, shield, down = move
        sketch, place = self.sketch, PLACE[spot]
        hand = sketch.hands[self.seat] ^ 1 << card
        key = sketch.keys[place] + STEP[KINDS if down else STRENGTH[card] - LOWEST]
        worth = 0.0
        if shield:
            key = shielded(key, self.seat)
            worth -= self.price
        worth += self._outlook(key, self._mask(place, card, spot, down), hand)
        return worth + self._others(place, card, spot, down, hand)

    def _others(self, place: int, card: int, spot: int, down: bool, hand: int) -> float:
        """Return what the other places are worth after the move."""
        name = card, spot, down
        if name not in self.elsewhere:
            keys, masks = self.sketch.keys, list(self.sketch.masks)
            if not down:
                for other in self.sketch.near[spot]:
                    if self.sketch.open[other]:
                        masks[PLACE[other]] |= MATCH[card]
            self.elsewhere[name] = sum(
                self._outlook(key, masks[each], hand) for each, key in enumerate(keys) if each != place
            )
        return self.elsewhere[name]

    def _mask(self, place: int, card: int, spot: int, down: bool) -> int:
        """Return the cards that fit at the place after the move."""
        name = card, spot, down
        if name not in self.masks:
            sketch, found = self.sketch, 0
            for other in sketch.free[place]:
                if other != spot:
                    found |= sketch.fit[other]
                    if not down and other in sketch.near[spot]:
                        found |= MATCH[card]
            self.masks[name] = found
        return self.masks[name]

    def _outlook(self, key: int, mask: int, hand: int) -> float:
        """Return what a place is worth to the seat if cards of the mask fit there and it holds this hand."""
        if key < STACKS:
            return 0.0
        name = key, mask & hand, mask & self.unseen
        if name not in self.outlooks:
            self.outlooks[name] = self._worked_out(*name)
        return self.outlooks[name]

    def _worked_out(self, key: int, mine: int, theirs: int) -> float:
        stay = self.still[key].now
        free = key % STACKS // FREE_SPOT
        if not free or not self.turns:
            return stay
        own = self.looks[self.seat][key]
        counts = [(kind, (theirs & cards).bit_count()) for kind, cards in KIND_CARDS if theirs & cards]
        gains = []
        if mine:
            gains.append(max(own.gains[KINDS], *(own.gains[kind] for kind, cards in KIND_CARDS if mine & cards)))
        for other, look in enumerate(self.looks):
            if other != self.seat:
                gains.append(_likely(own.gains, look[key].pulls, counts) if counts else stay - own.now)
        filled = own.now + sum(gains) / len(gains)
        filling = 1 - max(0.0, 1 - self.turns / self.empty) ** free
        return filling * filled + (1 - filling) * stay


def _likely(gains: Sequence[float], pulls: Sequence[float], counts: Sequence[tuple[int, int]]) -> float:
    """Return what is gained in the mean if somebody lays one of so many cards of each kind, each as it pulls him."""
    total = weight = 0.0
    for kind, count in counts:
        pull = count * pulls[kind]
        total += pull * gains[kind]
        weight += pull
    return total / weight

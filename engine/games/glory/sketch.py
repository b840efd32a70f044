"""A position of Clans and Glory for quick thinking: lists that change in place, and each place folded into one int.

The key of a place is its code, and above it a digit to the base 5 for each shield, the latest lowest. All that a seat
can gain or lose there follows from the key, and how likely free spots are to be filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp
from typing import Final, NamedTuple

from engine.bots.mind import Chance
from engine.games.glory.cards import LOWEST, MATCH, PLACE, PLACE_SPOTS, STRENGTH
from engine.games.glory.prospects import (
    FREE_SPOT,
    KINDS,
    LEVELS,
    STEP,
    Prospects,
    place_code,
    price,
    prospects,
    worths,
)
from engine.games.glory.rules import DOWN, State, fitting_by_spot
from engine.games.glory.view import turns_left

ENVY: Final = {2: 1.0, 3: 0.5, 4: 0.33}
"""By how many play: what a point that another seat takes counts to the mover, as a part of a point of his own."""
JITTER: Final = 2.0
"""By so many points a move may look better than it is: quick players are not all alike."""
TEMPER: Final = 1.5
"""So many points make a card 2.7 times as likely to be laid."""
STACKS: Final[int] = 7 * FREE_SPOT
"""What the stack of a place counts in its key."""
KIND_CARDS: Final = tuple(
    (kind, sum(1 << card for card, strength in enumerate(STRENGTH) if strength == LOWEST + kind))
    for kind in range(KINDS)
)
"""Each kind with the set of its cards."""
FEW: Final = 1500
"""So many looks are kept at most for one seat and level."""


class Look(NamedTuple):
    """What a place is worth to a seat, and by the kind of a card laid there: what that gains, what a shield then takes.

    `pulls` are how likely the seat is to lay each, none in particular being 1.
    """

    now: float
    gains: tuple[float, ...]
    takes: tuple[float, ...]
    pulls: tuple[float, ...]


class Looks(dict[int, Look]):
    """By the key of a place, what one seat sees there; worked out when first asked for."""

    def __init__(self, table: Prospects, weights: Sequence[float]) -> None:
        super().__init__()
        self.table = table
        self.weights = weights

    def __missing__(self, key: int) -> Look:
        if len(self) >= FEW:
            self.clear()
        table, code = self.table, key % STACKS
        weights = [self.weights[seat] for seat in stack_of(key)]
        now = sum(map(float.__mul__, weights, table[code]))
        steps = (*table.steps, *(STEP[KINDS],) * (KINDS + 1 - len(table.steps)))
        after = [table[code + step] for step in steps] if code >= FREE_SPOT else [table[code]] * len(steps)
        gains = tuple(sum(map(float.__mul__, weights, taken)) - now for taken in after)
        height = len(weights)
        takes = tuple(taken[height] if height < KINDS else 0.0 for taken in after)
        found = self[key] = Look(now, gains, takes, tuple(exp(gain / TEMPER) for gain in gains))
        return found


def stack_of(key: int) -> list[int]:
    """Return the seats of the shields of a place, first placed first."""
    stack, found = key // STACKS, []
    while stack:
        stack, digit = divmod(stack, 5)
        found.append(digit - 1)
    return found[::-1]


def shielded(key: int, seat: int) -> int:
    """Return the key of a place after the seat has put a shield there."""
    stack, code = divmod(key, STACKS)
    return (stack * 5 + seat + 1) * STACKS + code


@cache
def looks(seats: int) -> tuple[tuple[Looks, ...], ...]:
    """Return what each seat of such a table sees, by the level of how likely a free spot is to be filled."""
    weights = [[1.0 if other == seat else -ENVY[seats] for other in range(seats)] for seat in range(seats)]
    return tuple(tuple(Looks(table, each) for each in weights) for table in prospects(seats))


class Sketch:
    """A position that changes as cards are laid.

    `seat` is to move, `turns` moves are left, `empty` spots are free: `free` are those of each place. `fit` holds for
    each spot the set of cards that fit there, `masks` the same for each place, `keys` the key of each place.
    """

    def __init__(self, state: State) -> None:
        table, board = state.table, state.board
        self.seats, self.near = table.seats, table.near
        self.hands = list(state.hands)
        self.shields = list(state.shields)
        self.seat = state.to_act[0] if state.to_act else 0
        self.turns = turns_left(state) if state.to_act else 0
        self.open = [not value for value in board]
        self.free = [[spot for spot in PLACE_SPOTS[place] if self.open[spot]] for place in range(table.places)]
        self.empty = sum(map(len, self.free))
        self.fit = [0] * len(board)
        for spot, cards in fitting_by_spot(state):
            self.fit[spot] = cards
        self.masks = [self._fitting(place) for place in range(table.places)]
        self.keys = [self._key(state, place) for place in range(table.places)]
        self.looks = looks(self.seats)

    def _key(self, state: State, place: int) -> int:
        values = [state.board[spot] for spot in PLACE_SPOTS[place]]
        key = place_code([STRENGTH[value] - LOWEST for value in values if 0 < value < DOWN], len(self.free[place]))
        for seat in state.stacks[place]:
            key = shielded(key, seat)
        return key

    def _fitting(self, place: int) -> int:
        found, fit = 0, self.fit
        for spot in self.free[place]:
            found |= fit[spot]
        return found

    def level(self, moves: int = 1) -> int:
        """Return, as a level, how likely a spot still free after so many moves is to be filled later."""
        return max(0, self.turns - moves) * LEVELS // max(1, self.empty - moves)

    def price(self) -> float:
        """Return what putting a shield down in this move costs."""
        return price((self.turns - 1) // self.seats, self.shields[self.seat])

    def lay(self, card: int, spot: int, shield: bool, down: bool) -> None:
        """Lay a card of the seat to move, which may be laid there, and put a shield on the place or not."""
        seat, place = self.seat, PLACE[spot]
        self.hands[seat] ^= 1 << card
        self.free[place].remove(spot)
        self.open[spot] = False
        self.keys[place] += STEP[KINDS if down else STRENGTH[card] - LOWEST]
        if not down:
            matching, opened, fit, masks = MATCH[card], self.open, self.fit, self.masks
            for other in self.near[spot]:
                if opened[other]:
                    fit[other] |= matching
                    masks[PLACE[other]] |= matching
        self.masks[place] = self._fitting(place)
        self.empty -= 1
        self.turns -= 1
        if shield:
            self.keys[place] = shielded(self.keys[place], seat)
            self.shields[seat] -= 1
        self.seat = (seat + 1) % self.seats

    def play(self, chance: Chance, moves: int) -> None:
        """Play so many moves, or to the end: each the best of the moment, give or take the jitter."""
        for _ in range(min(moves, self.turns)):
            hand, cost = self.hands[self.seat], self.price()
            look = self.looks[self.level()][self.seat]
            best, where, which, put = -1e9, -1, 0, False
            for place, mask in enumerate(self.masks):
                here = mask & hand
                if here:
                    _, gains, takes, _ = look[self.keys[place]]
                    for kind, cards in KIND_CARDS:
                        if here & cards:
                            bonus = takes[kind] - cost
                            gain = gains[kind] + JITTER * chance()
                            if bonus > 0:
                                gain += bonus
                            if gain > best:
                                best, where, which, put = gain, place, here & cards, bonus > 0
            if where < 0:
                self._hide(look, cost)
            else:
                card = which.bit_length() - 1
                spots = [spot for spot in self.free[where] if self.fit[spot] >> card & 1]
                self.lay(card, spots[int(chance() * len(spots))], put, False)

    def _hide(self, look: Looks, cost: float) -> None:
        """Lay a card face down where that is best, some low one."""
        rated = []
        for place, spots in enumerate(self.free):
            if spots:
                _, gains, takes, _ = look[self.keys[place]]
                bonus = takes[KINDS] - cost
                rated.append((gains[KINDS] + max(0.0, bonus), place, bonus > 0))
        _, place, put = max(rated)
        hand = self.hands[self.seat]
        self.lay((hand & -hand).bit_length() - 1, self.free[place][0], put, True)

    def scores(self) -> list[float]:
        """Return by seat what its shields on places take in the mean, and what those in hand are worth."""
        table = prospects(self.seats)[self.level(0)]
        scores = []
        for seat in range(self.seats):
            turns = (self.turns + self.seats - 1 - (seat - self.seat) % self.seats) // self.seats
            scores.append(worths(turns)[self.shields[seat]])
        for key in self.keys:
            for seat, taken in zip(stack_of(key), table[key % STACKS], strict=False):
                scores[seat] += taken
        return scores

"""What a shield may come to take at a place that is still filling up, and what a shield in hand is worth.

A place is a code, one int: a digit to the base 7 for how many face-up cards of each strength lie there, and above them
how many of its spots are free. So laying a card is adding its `STEP`, whatever lies there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from engine.games.glory.cards import DECKS, HIGHEST, LOWEST, SHIELDS

BASE: Final = 7
"""More than the most cards a place holds."""
KINDS: Final = HIGHEST - LOWEST + 1
"""How many strengths there are; a kind is a strength counted from 0, and this number stands for any card face down."""
FREE_SPOT: Final[int] = BASE**KINDS
"""What a free spot counts in a code."""
STEP: Final[tuple[int, ...]] = (*(BASE**kind - FREE_SPOT for kind in range(KINDS)), -FREE_SPOT)
"""By kind, what the code of a place changes by when a card is laid there."""
LEVELS: Final = 10
"""So finely is told how likely a free spot is to be filled."""
YIELDS: Final = (2, 4, 5, 6, 7, 8, 9, 10, 11, 13)
"""What a shield takes that is put on the best place of a turn, each as likely as the others."""


def place_code(kinds: Sequence[int], free: int) -> int:
    """Return the code of a place where cards of these kinds lie face up and so many spots are free."""
    return free * FREE_SPOT + sum(STEP[kind] + FREE_SPOT for kind in kinds)


class Prospects(dict[int, tuple[float, ...]]):
    """By the code of a place, what its first, second ... shield takes in the mean; worked out when first asked for.

    Each free spot is filled with the chance `filling`, by a card of any of the strengths in use.
    """

    def __init__(self, kinds: int, filling: float) -> None:
        super().__init__()
        self.steps = STEP[:kinds]
        self.filling = filling

    def __missing__(self, code: int) -> tuple[float, ...]:
        if code < FREE_SPOT or not self.filling:
            found = _takings(code % FREE_SPOT)
        else:
            share = self.filling / len(self.steps)
            filled = zip(*(self[code + step] for step in self.steps), strict=True)
            empty = self[code - FREE_SPOT]
            found = tuple(
                (1 - self.filling) * none + share * sum(each) for none, each in zip(empty, filled, strict=True)
            )
        self[code] = found
        return found


def _takings(code: int) -> tuple[float, ...]:
    """Return what each shield takes at a place that gets no more cards, 0 for those that get nothing."""
    found = []
    for strength in range(LOWEST, HIGHEST + 1):
        code, count = divmod(code, BASE)
        if count:
            found.append(float(strength * count))
    return (*found, *(0.0,) * (KINDS - len(found)))


@cache
def prospects(seats: int) -> tuple[Prospects, ...]:
    """Return the prospects at a table of so many players, by the level of how likely a free spot is to be filled."""
    kinds = DECKS[seats].highest - LOWEST + 1
    return tuple(Prospects(kinds, level / LEVELS) for level in range(LEVELS + 1))


@cache
def worths(turns: int) -> tuple[float, ...]:
    """Return what 0, 1, 2 ... shields in hand are worth in the mean to whoever has so many turns to come.

    Each turn offers one place, which yields what chance will have it, and is taken or left as is best.
    """
    if not turns:
        return (0.0,) * (SHIELDS + 1)
    later = worths(turns - 1)
    best = [
        sum(max(each + later[left - 1], later[left]) for each in YIELDS) / len(YIELDS) for left in range(1, SHIELDS + 1)
    ]
    return (0.0, *best)


@cache
def price(turns: int, left: int) -> float:
    """Return what putting down one of so many shields costs whoever has so many turns to come; inf if there is none."""
    return worths(turns)[left] - worths(turns)[left - 1] if left else float("inf")

"""How good moves of Clans look one move ahead, to the holder of each clan: what steady, priors and beliefs rest on.

Worths are in points. A clan's *prospects* are the points that villages still to come may bring it: they grow with the
number of piles that it would score in, its *footholds*, each further one adding less.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

from engine.games.clans.board import BIT, CHIPS, CLANS, EPOCH_OF_CHIP, MASK, NEIGHBOURS
from engine.games.clans.rules import (
    Founding,
    Move,
    State,
    found,
    present,
    settle,
    value_of,
)

RIVAL = 0.3
"""How much a point of any other clan weighs against a point of the own one: another player may or may not hold it."""
LAST = 15.0
"""What it is worth to end the match as its winner rather than as one of many who might be."""
FUTURE = (0.0, 10.0, 10.0, 9.0, 8.0, 7.0, 6.5, 6.0, 5.5, 5.0, 5.0, 5.0, 5.0)
"""What a village still to be founded brings on average, by the number of chips left."""
EXPOSED = (0.0, 0.0, 1.5, 1.1, 0.8)
"""What it costs, by the number of seats, to leave a pile with but one neighbour: others may found a village there."""
RIPE = 0.4
"""How much a village that others may found counts, against one that is founded."""
MOST = 12
"""No clan has more huts than this, so none has more footholds."""

PROSPECT = tuple(
    tuple(FUTURE[left] * left * (1 - (1 - 1 / left) ** piles) if left else 0.0 for piles in range(MOST + 1))
    for left in range(CHIPS + 1)
)
"""The points still to come for a clan, by chips left and footholds: villages take piles as if each drew lots."""

SINGLE = tuple(1 << 4 * clan for clan in range(len(CLANS)))
"""The set that holds one clan, by clan, as `present` writes sets."""
SETS = tuple(sum(SINGLE[clan] for clan in range(len(CLANS)) if some >> clan & 1) for some in range(1 << len(CLANS)))
"""Every set of clans; the place of a set with clan c has bit c set."""
SLOPE = tuple((PROSPECT[left][7] - PROSPECT[left][3]) / 4 for left in range(CHIPS + 1))
"""What a foothold is worth, roughly, by chips left."""
LIKING = tuple(
    {
        some: sum((1.0 if other == clan else -RIVAL) for other, single in enumerate(SINGLE) if some & single)
        for some in SETS
    }
    for clan in range(len(CLANS))
)
"""By clan: how much its holder likes a point for each clan of a set."""


class Gain(NamedTuple):
    """What a move that founds villages changes.

    `clans` holds what each clan gains in points and prospects, `chips` what the mover takes, `points` those that each
    clan has then; `ends` tells whether the match is over.
    """

    clans: tuple[float, ...]
    chips: int
    points: tuple[int, ...]
    ends: bool


class Ripe(NamedTuple):
    """A pile with one neighbour, which can be made a village: a sign, +1 for becoming so and -1 for the contrary.

    `some` are the clans that would score `value`, what a foothold is worth taken off.
    """

    territory: int
    sign: int
    some: int
    value: float


class Survey:
    """The moves of a seat in one position and what they change; it can be asked for the holder of each clan in turn.

    `moves` are in the order of `legal_moves`, `gains` by place in it for those that found villages.
    """

    def __init__(self, state: State, seat: int) -> None:
        self.state = state
        self.seat = seat
        self.moves: list[Move] = list(state.legal_moves(seat))
        option = state.table.five_singles
        huts = state.huts
        self.footed = [footing(pile, option) for pile in huts]
        self.counts = footholds(state)
        rows = PROSPECT[state.open]
        self.losses = [rows[count] - rows[count - 1] if count else 0.0 for count in self.counts]
        self.merged = [footing(huts[source] + huts[target], option) for source, target, _ in self.moves]
        self.gains: dict[int, Gain] = {}
        self.ripe: list[list[Ripe]] = []
        last = -1
        for number, move in enumerate(self.moves):
            if move.source != last:
                last = move.source
                born, laid, plain = self._left(last)
            if born:
                self.gains[number] = self._gain(move, born)
            self.ripe.append(self._joined(plain, move) if move.target in laid else plain)

    def worths(self, clan: int) -> list[float]:
        """Return how good each move looks to the mover if he holds the clan."""
        weights = [-RIVAL * loss for loss in self.losses]
        weights[clan] = self.losses[clan]
        at = dict.fromkeys(SETS, 0.0)
        for some, single in enumerate(SETS):
            at[single] = sum(weight for other, weight in enumerate(weights) if some >> other & 1)
        exposed = EXPOSED[self.state.seats]
        footed, gains, liking = self.footed, self.gains, LIKING[clan]
        found: list[float] = []
        for number, (move, both) in enumerate(zip(self.moves, self.merged, strict=True)):
            gain = gains.get(number)
            if gain:
                found.append(self._founded(gain, clan))
            else:
                found.append(at[both] - at[footed[move.source]] - at[footed[move.target]])
            for _, sign, some, value in self.ripe[number]:
                found[-1] += sign * (RIPE * liking[some] * value - exposed)
        return found

    def _left(self, source: int) -> tuple[list[int], list[int], list[Ripe]]:
        """Return what follows when a territory is left: villages, piles that keep but one neighbour, what both mean.

        The third list says of the piles, as they stand now, what it means that they are ripe, and that the pile that
        leaves, if it was, is so no longer.
        """
        state = self.state
        occupied = state.occupied ^ BIT[source]
        born, laid = [], []
        for near in NEIGHBOURS[source]:
            if occupied & BIT[near]:
                around = occupied & MASK[near]
                if not around:
                    born.append(near)
                elif not around & around - 1:
                    laid.append(near)
        ripe = [Ripe(near, 1, *self._village(near, state.huts[near])) for near in laid]
        around = state.occupied & MASK[source]
        if not around & around - 1:
            ripe.append(Ripe(source, -1, *self._village(source, state.huts[source])))
        return born, laid, ripe

    def _joined(self, plain: list[Ripe], move: Move) -> list[Ripe]:
        """Return the same for a move that adds the pile to one of those that keep but one neighbour."""
        pile = self.state.huts[move.source] + self.state.huts[move.target]
        more = Ripe(move.target, 1, *self._village(move.target, pile))
        return [more if one.territory == move.target else one for one in plain]

    def _village(self, territory: int, pile: int) -> tuple[int, float]:
        """Return who would score in a village founded now, and what more than the foothold is worth."""
        state = self.state
        stays, _ = settle(pile, state.table.five_singles)
        value = value_of(territory, EPOCH_OF_CHIP[len(state.villages)], stays)
        return present(stays), value - SLOPE[state.open]

    def _founded(self, gain: Gain, clan: int) -> float:
        """Return the worth of a move that founds villages to the holder of a clan."""
        others = sum(gain.clans) - gain.clans[clan]
        worth = gain.clans[clan] + gain.chips - RIVAL * others
        if gain.ends:
            worth += LAST * (self._win(gain, clan) - 1 / self.state.seats)
        return worth

    def _win(self, gain: Gain, clan: int) -> float:
        """Return how likely the mover wins if the match ends so, the others holding any of the other clans."""
        chips = list(self.state.chips)
        chips[self.seat] += gain.chips
        own = gain.points[clan] + chips.pop(self.seat)
        held = list(permutations([points for other, points in enumerate(gain.points) if other != clan], len(chips)))
        scores = [[points + more for points, more in zip(deal, chips, strict=True)] for deal in held]
        return sum(1 / (1 + deal.count(own)) for deal in scores if max(deal) <= own) / len(held)

    def _gain(self, move: Move, born: Sequence[int]) -> Gain:
        """Return what a move changes that makes villages of the territories in `born`."""
        state, option = self.state, self.state.table.five_singles
        source, target, order = move
        huts = list(state.huts)
        huts[target] += huts[source]
        made: list[Founding] = found(state, self.seat, huts, order or born)
        points = list(state.points)
        counts = list(self.counts)
        for village, pile, _ in made:
            for clan, single in enumerate(SINGLE):
                if present(pile) & single:
                    points[clan] += village.value
        lost = [self.footed[source], self.footed[target]]
        lost += [self.footed[territory] for territory in born if territory != target]
        won = 0 if target in born else footing(huts[target], option)
        for clan, single in enumerate(SINGLE):
            counts[clan] += bool(won & single) - sum(bool(some & single) for some in lost)
        left = state.open - len(made)
        rest = (state.occupied ^ BIT[source]) & ~state.settled & ~sum(BIT[territory] for territory in born)
        running = left and rest
        before, after = PROSPECT[state.open], PROSPECT[left if running else 0]
        clans = tuple(
            points[clan] - state.points[clan] + after[counts[clan]] - before[self.counts[clan]]
            for clan in range(len(CLANS))
        )
        return Gain(clans, len(made), tuple(points), not running)


@lru_cache(1 << 16)
def footing(pile: int, five_singles: str) -> int:
    """Return the set of clans that would score in a village of the pile."""
    return present(settle(pile, five_singles)[0])


def footholds(state: State) -> list[int]:
    """Return, by clan, in how many piles outside villages it would score."""
    counts = [0] * len(CLANS)
    for territory, pile in enumerate(state.huts):
        if pile and not state.settled >> territory & 1:
            some = footing(pile, state.table.five_singles)
            for clan, single in enumerate(SINGLE):
                counts[clan] += bool(some & single)
    return counts

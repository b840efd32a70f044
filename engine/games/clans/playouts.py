"""Matches of Clans played on quickly, for the search of a bot: lists and ints that change in place instead of a State.

Each seat plays by a rough measure of its own clan: of the moves that found villages all are weighed, of the many quiet
ones only some drawn by lot. The seat is taken to know the clans of the others when it decides whether to end the match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from engine.games.clans.board import BIT, CHIPS, EPOCH_OF_CHIP, EPOCHS, MASK, NEIGHBOURS, TERRAIN
from engine.games.clans.prospects import LAST, LIKING, SINGLE, SLOPE, footing
from engine.games.clans.rules import SEVEN, SIZE, State, settle

DRAWN: Final = 3
"""How many quiet moves a seat weighs."""
TRIES: Final = 12
"""How many draws it makes at most to find them."""
HOSTILE: Final = -99

BONUS = tuple(
    tuple(
        HOSTILE
        if terrain in EPOCHS[epoch].hostile
        else EPOCHS[epoch].bonus
        if terrain in EPOCHS[epoch].favourable
        else 0
        for terrain in TERRAIN
    )
    for epoch in EPOCH_OF_CHIP
)
"""By chip and territory: what the terrain adds to a village; `HOSTILE` where it makes it worthless."""

Draw = Callable[[], float]
Step = tuple[int, int, list[int]]
"""A move: from, to, and the villages that arise in founding order, those without a chip too."""
Choice = tuple[float, Step]


class Board:
    """A position that changes in place.

    `open` are the territories with huts that are no villages, `degrees` how many neighbours with huts each territory
    has, `leaves` those in `open` that have one only (and some that were so before).
    """

    __slots__ = (
        "chips",
        "clans",
        "degrees",
        "five_singles",
        "huts",
        "leaves",
        "mover",
        "occupied",
        "open",
        "points",
        "taken",
    )

    def __init__(self, state: State) -> None:
        self.clans = state.table.clans
        self.five_singles = state.table.five_singles
        self.huts = list(state.huts)
        self.occupied = occupied = state.occupied
        self.points = list(state.points)
        self.chips = list(state.chips)
        self.taken = len(state.villages)
        self.mover = state.to_act[0] if state.to_act else 0
        self.degrees = [(occupied & mask).bit_count() for mask in MASK]
        self.open = [one for one, pile in enumerate(self.huts) if pile and self.degrees[one]]
        self.leaves = [one for one in self.open if self.degrees[one] == 1]

    def finish(self, draw: Draw) -> list[int]:
        """Play to the end and return the score of each seat."""
        while self.open and self.taken < CHIPS:
            self.make(*self.choose(draw))
        return [self.points[clan] + chips for clan, chips in zip(self.clans, self.chips, strict=True)]

    def choose(self, draw: Draw) -> Step:
        """Return a move that looks good to the mover."""
        liking = LIKING[self.clans[self.mover]]
        slope = SLOPE[CHIPS - self.taken]
        springs = self._springs()
        choices = [
            choice for source, born in springs.items() if (choice := self._founding(source, born, liking, slope))
        ]
        best = max(choices) if choices else None
        for source, target in self._quiet(springs, draw):
            pile, there = self.huts[source], self.huts[target]
            worth = slope * self._joining(pile, there, liking)
            if best is None or worth > best[0]:
                best = worth, (source, target, [])
        return best[1] if best else self._any()

    def make(self, source: int, target: int, born: list[int]) -> None:
        """Make a move of the seat whose turn it is."""
        huts, degrees = self.huts, self.degrees
        huts[target] += huts[source]
        huts[source] = 0
        self.occupied ^= BIT[source]
        self.open.remove(source)
        for near in NEIGHBOURS[source]:
            left = degrees[near] - 1
            degrees[near] = left
            if left == 1 and huts[near]:
                self.leaves.append(near)
        for village in born:
            self.open.remove(village)
            if self.taken < CHIPS:
                self._found(village)
        self.mover = (self.mover + 1) % len(self.chips)

    def _springs(self) -> dict[int, list[int]]:
        """Return the villages that would arise, by the territory that must be left for it."""
        huts, degrees, occupied = self.huts, self.degrees, self.occupied
        self.leaves = [one for one in self.leaves if huts[one] and degrees[one] == 1]
        found: dict[int, list[int]] = {}
        for one in self.leaves:
            found.setdefault((occupied & MASK[one]).bit_length() - 1, []).append(one)
        return found

    def _quiet(self, springs: Mapping[int, list[int]], draw: Draw) -> Iterator[tuple[int, int]]:
        """Yield some moves, drawn by lot, that found no village."""
        huts, sources = self.huts, self.open
        count, drawn = len(sources), 0
        for _ in range(TRIES):
            source = sources[int(draw() * count)]
            if source in springs:
                continue
            near = NEIGHBOURS[source]
            target = near[int(draw() * len(near))]
            pile, there = huts[source], huts[target]
            if there and (pile < SEVEN or pile >> SIZE <= there >> SIZE):
                yield source, target
                drawn += 1
                if drawn == DRAWN:
                    return

    def _joining(self, pile: int, there: int, liking: Mapping[int, float]) -> float:
        """Return how the mover likes what two piles lose in footholds when they become one."""
        option = self.five_singles
        return liking[footing(pile + there, option)] - liking[footing(pile, option)] - liking[footing(there, option)]

    def _founding(self, source: int, born: list[int], liking: Mapping[int, float], slope: float) -> Choice | None:
        """Return the best move that leaves the source and so makes villages; None if its huts must stay."""
        huts = self.huts
        pile = huts[source]
        best: Choice | None = None
        apart: float | None = None
        for target in NEIGHBOURS[source]:
            there = huts[target]
            if not there or (pile >= SEVEN and pile >> SIZE > there >> SIZE):
                continue
            if target in born:
                worth = self._gain(born, target, pile, liking, slope)
                worth -= slope * liking[footing(pile, self.five_singles)]
            else:
                if apart is None:
                    apart = self._gain(born, -1, 0, liking, slope)
                worth = apart + slope * self._joining(pile, there, liking)
            if best is None or worth > best[0]:
                best = worth, (source, target, born)
        if best and len(born) >= CHIPS - self.taken:
            return best[0] + self._ending(best[1]), best[1]
        return best

    def _gain(self, born: list[int], target: int, pile: int, liking: Mapping[int, float], slope: float) -> float:
        """Return what the villages bring the mover, the pile having gone to the target."""
        huts, option = self.huts, self.five_singles
        gained = 0.0
        for chip, village in enumerate(born[: CHIPS - self.taken], self.taken):
            there = huts[village]
            stays = there + pile if village == target else there
            gained += 1 + liking[footing(stays, option)] * self._value(village, chip, stays)
            gained -= slope * liking[footing(there, option)]
        return gained

    def _value(self, village: int, chip: int, pile: int) -> int:
        """Return the value of a village of the pile, which strife has not settled yet."""
        bonus = BONUS[chip][village]
        stays, _ = settle(pile, self.five_singles)
        return (stays >> SIZE) + bonus if stays and bonus != HOSTILE else 0

    def _ending(self, step: Step) -> float:
        """Return what it is worth to the mover that this move ends the match."""
        source, target, born = step
        points, chips = self.points.copy(), self.chips.copy()
        for chip, village in enumerate(born[: CHIPS - self.taken], self.taken):
            pile = self.huts[village] + (self.huts[source] if village == target else 0)
            self._score(points, pile, self._value(village, chip, pile))
            chips[self.mover] += 1
        scores = [points[clan] + more for clan, more in zip(self.clans, chips, strict=True)]
        return LAST if scores[self.mover] == max(scores) else -LAST

    def _score(self, points: list[int], pile: int, value: int) -> None:
        """Add the value to the points of each clan that scores in a village of the pile."""
        some = footing(pile, self.five_singles)
        for clan, single in enumerate(SINGLE):
            if some & single:
                points[clan] += value

    def _found(self, village: int) -> None:
        """Let the mover take the next chip for a village."""
        pile = self.huts[village]
        self._score(self.points, pile, self._value(village, self.taken, pile))
        self.huts[village], _ = settle(pile, self.five_singles)
        if not self.huts[village]:
            self.occupied ^= BIT[village]
        self.taken += 1
        self.chips[self.mover] += 1

    def _any(self) -> Step:
        """Return the first legal move there is; some neighbours with huts always have one."""
        huts = self.huts
        return next(
            (source, target, self._springs().get(source, []))
            for source in self.open
            for target in NEIGHBOURS[source]
            if huts[target] and (huts[source] < SEVEN or huts[source] >> SIZE <= huts[target] >> SIZE)
        )

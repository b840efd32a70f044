"""What bots know of Clans and Glory beyond its rules: the `Mind` of the game."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any, Final

from engine.base import View
from engine.bots.mind import Chance, Sight, shares
from engine.games.glory import worlds as imagined
from engine.games.glory.foresight import rate
from engine.games.glory.notation import PLAIN
from engine.games.glory.rules import Move, State
from engine.games.glory.sketch import Sketch

# The contract hands every mind any `State`; this one is only ever given its own.
Own = Any

BREADTH: Final = 20
"""So many moves of a position are worth trying."""
WARMTH: Final = 1.5
"""So many points make a move 2.7 times as promising."""
DEPTH: Final = 8
"""So many moves a playout goes on; then what the shields may take is reckoned in the mean."""
WIN: Final = 0.3
"""What leading counts in a playout; the rest goes by how far a seat is ahead or behind."""
SPREAD: Final = 40.0
"""Being ahead by so many points is as good as can be."""


class GloryMind:
    """How to weigh moves of Clans and Glory, and how to imagine what a seat cannot see."""

    def weigh(self, view: View) -> Sequence[float]:
        """Return how good each of `view.moves` looks one move ahead to the viewer, in points."""
        if view.viewer is None:
            return []
        return rate(imagined.any_world(view), view.viewer, [PLAIN[text] for text in view.moves])

    def worlds(self, sight: Sight, count: int, chance: Chance) -> Sequence[State]:
        """Return so many positions that may be the true one, each as likely as the moves seen make it."""
        return imagined.worlds(sight, count, chance)

    def secret(self, state: Own, seat: int) -> Any:
        """Return the hand of the seat."""
        return state.hands[seat]

    def promise(self, state: Own, seat: int) -> Sequence[tuple[Move, float]]:
        """Return the moves worth trying with how promising each looks to the seat, the sum of all being 1."""
        moves = list(state.legal_moves(seat))
        rated = sorted(zip(rate(state, seat, moves), moves, strict=True), reverse=True)[:BREADTH]
        pulls = [exp((worth - rated[0][0]) / WARMTH) for worth, _ in rated]
        total = sum(pulls)
        return [(move, pull / total) for (_, move), pull in zip(rated, pulls, strict=True)]

    def playout(self, state: Own, chance: Chance) -> Sequence[float]:
        """Play quickly on for a while; return by seat how well it stands then, from 0 to 1."""
        sketch = Sketch(state)
        sketch.play(chance, DEPTH)
        scores = sketch.scores()
        return [WIN * share + (1 - WIN) * lead for share, lead in zip(shares(scores), leads(scores), strict=True)]

    def ending(self, state: Own, chance: Chance) -> Sequence[float]:
        """Play quickly on to the very end; return the scores."""
        sketch = Sketch(state)
        sketch.play(chance, sketch.turns)
        return sketch.scores()

    def suspect(self, sight: Sight, seat: int) -> None:
        """Return None: nobody is dealt a single secret that his moves give away."""


def leads(scores: Sequence[float]) -> list[float]:
    """Return by seat how far it is ahead of the best of the others, or behind: from 0 to 1."""
    best, second = sorted(scores, reverse=True)[:2]
    behind = [score - (second if score == best else best) for score in scores]
    return [min(1.0, max(0.0, 0.5 + each / (2 * SPREAD))) for each in behind]


MIND = GloryMind()

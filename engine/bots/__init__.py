"""Players that are handed a `Sight`, made of views and nothing else, and say a move.

easy draws among the moves that look sensible one move ahead; steady takes the one that looks best; strong searches
through worlds that agree with all it has seen.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from engine.base import Game
from engine.bots.mind import Chance, Discreet, Mind, Sight
from engine.bots.search import Thought, explore

__all__ = ["STRENGTHS", "THOUGHT", "Chance", "Mind", "Sight", "Thought", "choose"]

STRENGTHS: Final = ("easy", "steady", "strong")
THOUGHT: Final = Thought(2000)
TRUSTED: Final = 6
"""A move that was tried so many times less than the one tried most is not known well enough to be made."""
WORLDS: Final = 40
"""How many worlds the strong bot thinks through."""


def choose(strength: str, game: Game, sight: Sight, chance: Chance, thought: Thought = THOUGHT) -> str:
    """Return one of the viewer's legal moves in canonical notation; he must be awaited.

    `strength` is one of `STRENGTHS`; of a game that has no mind every bot takes any move. Raises `ValueError` for
    another strength.
    """
    if strength not in STRENGTHS:
        raise ValueError(f"there is no bot called {strength}")
    moves = sight.view.moves
    mind = game.mind
    if mind is None or len(moves) == 1:
        return moves[int(chance() * len(moves))]
    if strength == "easy":
        return easy(mind, sight, chance)
    if strength == "steady":
        return steady(mind, sight, chance)
    return strong(game, mind, sight, chance, thought)


def easy(mind: Mind, sight: Sight, chance: Chance) -> str:
    """Return any of the better half of the moves."""
    ranked = sorted(zip(mind.weigh(sight.view), sight.view.moves, strict=True), reverse=True)
    return ranked[int(chance() * ((len(ranked) + 1) // 2))][1]


def steady(mind: Mind, sight: Sight, chance: Chance) -> str:
    """Return the move that looks best one move ahead, any of those that look equally good."""
    worths = mind.weigh(sight.view)
    top = max(worths)
    equal = [move for move, worth in zip(sight.view.moves, worths, strict=True) if worth > top - 1e-9]
    return equal[int(chance() * len(equal))]


def strong(game: Game, mind: Mind, sight: Sight, chance: Chance, thought: Thought) -> str:
    """Return the move that was tried most in a search through worlds that may be the true one."""
    worlds = mind.worlds(sight, WORLDS, chance)
    costs = partial(mind.telltale, sight) if isinstance(mind, Discreet) else None
    edges = explore(mind, worlds, thought, chance, costs)
    chosen = max(edges, key=lambda edge: (edge.visits, edge.total))
    if costs:
        known = [edge for edge in edges if edge.visits and edge.visits * TRUSTED >= chosen.visits]
        chosen = max(known, key=lambda edge: edge.total / edge.visits - edge.cost)
    return game.format(worlds[0], worlds[0].to_act[0], chosen.move)

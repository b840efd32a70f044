"""Monte-Carlo tree search over worlds: what the strong bot does, whatever the game.

Each round takes one of the worlds that may be the true one (determinisation), walks down the tree that all rounds
share, now and then adds a position to it, plays on quickly from there and credits the result to the moves on the way.
Moves are chosen by the rule of PUCT. What a seat's move is remembered under holds what that seat knows in the world at
hand, so a seat may answer differently with another secret, while the root player, who has but one, never profits from
knowing more than he does. Sources: Cowling, Powley, Whitehouse, "Information Set Monte Carlo Tree Search" (2012);
Silver et al. (2017) for PUCT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, sqrt
from typing import Any, NamedTuple

from engine.base import State
from engine.bots.mind import Chance, Mind

CURIOSITY = 1.0
"""How much a promising move that has been tried little is preferred to one that has gone well."""
PATIENCE = 5
"""How often a move must have been tried before the moves that answer it are looked at: to look at them is dear."""
UNTRIED = 0.45
"""The share that a move is taken to bring before it has been tried."""

Costs = Callable[[Sequence[Any]], Sequence[float]]
Playout = Callable[[State, Chance], Sequence[float]]


class Thought(NamedTuple):
    """How long to think: at most so many playouts, and only while `more` says so."""

    playouts: int
    more: Callable[[], bool] | None = None


class Edge:
    """A move in the tree of a search: how promising it looked, how often it was tried, and what came of it in sum.

    `cost` is what it loses besides, in shares of a win.
    """

    __slots__ = ("cost", "move", "prior", "total", "visits")

    def __init__(self, move: Any, prior: float) -> None:
        self.move = move
        self.prior = prior
        self.cost = 0.0
        self.visits = 0
        self.total = 0.0


class Tree:
    """The moves tried so far, by the moves before them and by what the mover knows."""

    def __init__(self, mind: Mind, playout: Playout) -> None:
        self.mind = mind
        self.playout = playout
        self.nodes: dict[tuple[Any, ...], list[Edge]] = {}

    def open(self, line: tuple[Any, ...], state: State) -> list[Edge]:
        """Add the position after a line of moves, and return the moves that it holds."""
        seat = state.to_act[0]
        edges = [Edge(move, prior) for move, prior in self.mind.promise(state, seat)]
        self.nodes[line, seat, self.mind.secret(state, seat)] = edges
        return edges

    def grow(self, world: State, chance: Chance) -> None:
        """Walk down from the world, add a position if it is time, play on, and credit the result."""
        mind, state = self.mind, world
        line: tuple[Any, ...] = ()
        walked: list[tuple[Edge, int]] = []
        fresh = False
        while state.to_act and not fresh:
            seat = state.to_act[0]
            key = (line, seat, mind.secret(state, seat))
            edges = self.nodes.get(key)
            if edges is None:
                if walked and walked[-1][0].visits < PATIENCE:
                    break
                edges = self.open(line, state)
                fresh = True
            edge = best(edges)
            walked.append((edge, seat))
            state = state.apply(seat, edge.move)
            line = (*line, edge.move)
        shares = self.playout(state, chance)
        for edge, seat in walked:
            edge.visits += 1
            edge.total += shares[seat]


def best(edges: Sequence[Edge]) -> Edge:
    """Return the move to try next by the rule of PUCT."""
    tried = sqrt(1 + sum(edge.visits for edge in edges))
    chosen, most = edges[0], -inf
    for edge in edges:
        visits = edge.visits
        worth = (edge.total / visits if visits else UNTRIED) - edge.cost
        worth += CURIOSITY * edge.prior * tried / (1 + visits)
        if worth > most:
            chosen, most = edge, worth
    return chosen


def explore(
    mind: Mind,
    worlds: Sequence[State],
    thought: Thought,
    chance: Chance,
    costs: Costs | None = None,
    playout: Playout | None = None,
) -> Sequence[Edge]:
    """Think about the worlds, which all look alike to the seat to act; return its moves with what came of them.

    `costs` tells of the moves among which the seat chooses now what each loses besides, in shares of a win; `playout`
    stands in for that of the mind.
    """
    tree = Tree(mind, playout or mind.playout)
    root = tree.open((), worlds[0])
    if costs:
        for edge, cost in zip(root, costs([edge.move for edge in root]), strict=True):
            edge.cost = cost
    for number in range(max(1, thought.playouts)):
        if number and thought.more and not thought.more():
            break
        tree.grow(worlds[number % len(worlds)], chance)
    return root

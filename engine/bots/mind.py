"""What a bot is handed, and what a game tells bots beyond its rules.

A bot never sees a State: it is handed a `Sight`, which is made of views and public texts alone. A game may have a
`Mind`, one module of its folder, which knows how to weigh moves and how to imagine what the seat cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from engine.base import Game, State, View
from engine.replay import Position, Row

Chance = Callable[[], float]
"""Draws a number from 0 up to 1, as `random.Random().random` does; who calls a bot decides where chance comes from."""


class Glimpse(NamedTuple):
    """One move that counted: what the viewer saw before it, whose it was, its notation as the viewer may read it."""

    view: View
    seat: int
    text: str


@dataclass(frozen=True, slots=True)
class Sight:
    """All that one viewer has been shown of a match: what he sees now, and the moves that led there, oldest first."""

    view: View
    past: tuple[Glimpse, ...]


class Mind(Protocol):
    """What a game knows for its bots. Worths are floats without unit; results of a match are shares from 0 to 1."""

    def weigh(self, view: View) -> Sequence[float]:
        """Return how good each of `view.moves` looks one move ahead to the viewer, in points of the game."""
        ...

    def worlds(self, sight: Sight, count: int, chance: Chance) -> Sequence[State]:
        """Return so many positions that may be the true one, as likely as what the viewer has seen makes them.

        Each agrees with the view in all that the viewer may know; one that is likely may come more than once.
        """
        ...

    def secret(self, state: State, seat: int) -> Any:
        """Return, hashable, what a seat knows that decides how it plays: it may choose differently for each."""
        ...

    def promise(self, state: State, seat: int) -> Sequence[tuple[Any, float]]:
        """Return the moves worth trying with how promising each looks to the seat, the sum of all being 1."""
        ...

    def playout(self, state: State, chance: Chance) -> Sequence[float]:
        """Play quickly on from the position, to the end or as far as it makes sense; return the share of each seat."""
        ...

    def ending(self, state: State, chance: Chance) -> Sequence[float]:
        """Play quickly on from the position to the very end; return the score of each seat."""
        ...

    def suspect(self, sight: Sight, seat: int) -> Sequence[tuple[Any, float]] | None:
        """Return what another seat's secret may be and how likely each is; None if the game has no such secret."""
        ...


@runtime_checkable
class Discreet(Protocol):
    """What the mind of a game has besides, in which a seat does well to hide its secret. The strong bot asks for it."""

    def telltale(self, sight: Sight, moves: Sequence[Any]) -> Sequence[float]:
        """Return, for each move that the viewer may make now, how much it costs him that others learn from it.

        The costs are shares of a win; a move that tells more costs more, and the same move costs more early on.
        """
        ...


def shares(scores: Sequence[float], gone: Collection[int] = ()) -> list[float]:
    """Return by seat how the win is shared, in sum 1; equal scores share it, and seats that are `gone` cannot win."""
    best = max(score for seat, score in enumerate(scores) if seat not in gone)
    won = [seat not in gone and score == best for seat, score in enumerate(scores)]
    return [each / sum(won) for each in won]


def sight(game: Game, position: Position, rows: Iterable[Row], viewer: int | None) -> Sight:
    """Return all that the viewer has been shown on the way to the position; moves taken back leave no trace.

    `rows` are those of the log after the setup row.
    """
    by_number = {row.seq: row for row in rows}
    past: list[Glimpse] = []
    trail = position.trail
    while trail is not None:
        number, state, trail = trail
        row = by_number[number]
        seat = row.seat or 0
        text = game.public_text(state, seat, game.parse(state, seat, row.text), viewer)
        past.append(Glimpse(game.view(state, viewer, None), seat, text))
    return Sight(game.view(position.state, viewer, position.outcome), tuple(reversed(past)))

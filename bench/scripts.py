"""Matches as scripts: each move with the number by which it must be asked for, known before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from engine import games, replay
from engine.replay import Row

ROOT: Final = Path(__file__).parent.parent


class Step(NamedTuple):
    """A move to make: whose it is, its text, and the row since which he is awaited."""

    seat: int
    text: str
    expected: int


class Script(NamedTuple):
    """A match to be played: move n of its `steps` becomes row n + 1. The first `made` are made beforehand."""

    game: str
    setup: Any
    options: Mapping[str, str]
    seats: int
    steps: tuple[Step, ...]
    made: int


def write(kind: str, setup: Any, seats: int, number: int) -> Script:
    """Return a script of random legal moves from the setup, the same for the same number.

    The last move is left out: what the house does with finished matches, in the background, is not measured here. Of
    the others up to two thirds are made beforehand, so that many matches have logs of all lengths.
    """
    game, rng = games.game(kind), Random(number)  # noqa: S311 - no secret
    position, steps = replay.start(game, setup, seats, {}), []
    while position.to_act:
        seat = position.to_act[0]
        text = game.format(position.state, seat, rng.choice(list(position.state.legal_moves(seat))))
        steps.append(Step(seat, text, position.asked[seat] or 0))
        position = replay.advance(position, Row(position.seq + 1, seat, replay.MOVE, text))
    return Script(kind, setup, {}, seats, tuple(steps[:-1]), rng.randrange(2 * len(steps) // 3))

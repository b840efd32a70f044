"""Random legal matches, for tests and starter data. Chance is handed in by the caller."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from engine import record, replay
from engine.base import Game
from engine.deal import stream_for
from engine.replay import Row

NAMES = ("Ailsa", "Bran", "Catrin", "Dugald", "Eilidh", "Fergus", "Greer", "Hamish")


def play(game: Game, seats: int, rng: Random, options: Mapping[str, str]) -> dict[str, Any]:
    """Return the record of a finished match in which each awaited seat picks any of its legal moves."""
    seed = rng.randbytes(32)
    setup = game.deal(stream_for(seed, [""] * seats), seats, options)
    position = replay.start(game, setup, seats, options)
    rows: list[Row] = []
    while position.to_act:
        seat = position.to_act[0]
        move = rng.choice(list(position.state.legal_moves(seat)))
        row = Row(position.seq + 1, seat, replay.MOVE, game.format(position.state, seat, move))
        position = replay.advance(position, row)
        rows.append(row)
    return record.build(
        game=game.kind,
        rules=game.rules,
        options=options,
        players=NAMES[:seats],
        setup=setup,
        rows=rows,
        outcome=position.outcome,
        seed=seed.hex(),
        contributions=[""] * seats,
    )

"""A mind for noughts and crosses, as small as one can be: it plays on at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine import games
from engine.bots.mind import Chance, shares

OUTSIDE = Path(__file__).parent / "games"


class SmallMind:
    """Of a mind only what the judging of finished matches needs."""

    def secret(self, state: Any, seat: int) -> None:
        """Nothing is hidden."""

    def promise(self, state: Any, seat: int) -> Sequence[tuple[Any, float]]:
        """All moves look alike."""
        moves = list(state.legal_moves(seat))
        return [(move, 1 / len(moves)) for move in moves]

    def playout(self, state: Any, chance: Chance) -> Sequence[float]:
        """Make any moves to the end and return how the win is shared."""
        return shares(self.ending(state, chance))

    def ending(self, state: Any, chance: Chance) -> Sequence[float]:
        """Make any moves to the end; a full board is shared."""
        while state.to_act:
            seat = state.to_act[0]
            moves = list(state.legal_moves(seat))
            state = state.apply(seat, moves[int(chance() * len(moves))])
        return [float(seat in state.outcome().winners) for seat in range(state.seats)]


def noughts_with_a_mind(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Install noughts and crosses with that mind for a test; the other games have none meanwhile."""
    monkeypatch.syspath_prepend(str(OUTSIDE))
    games.games.cache_clear()
    for game in games.games().values():
        monkeypatch.setattr(type(game), "mind", SmallMind() if game.kind == "noughts" else None)
    yield games.game("noughts")
    games.games.cache_clear()

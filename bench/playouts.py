"""Prints how many playouts a second the search of the strong bot makes: the median of five runs, by game.

Run from the root of the project: `python -m bench.playouts`. A run searches from the middle of a recorded match, as a
bot does, so the figure holds all that a playout costs there; bare playouts from the same position are told beside it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from engine import games, record, replay
from engine.base import Game, State
from engine.bots.mind import Mind
from engine.bots.search import Thought, explore

RECORDS = Path(__file__).parent.parent / "tests" / "records"
PLAYOUTS = 500


def main() -> None:
    """Search five times from a position of each game that has a mind, and play on from it as often."""
    for game in games.games().values():
        states = [middle(game, path) for path in sorted(RECORDS.glob(f"{game.kind}-*.json"))[:1]]
        if game.mind and states:
            searched, bare = speed(search, game.mind, states[0]), speed(play, game.mind, states[0])
            print(f"{game.title}: {searched:,.0f} playouts/s in a search, {bare:,.0f} playouts/s bare (medians of 5).")


def middle(game: Game, path: Path) -> State:
    """Return the position a third of the way through a recorded match."""
    one = record.load(path.read_bytes())
    rows = [row for row in record.rows_of(one) if row.kind == replay.MOVE]
    return replay.replay(game, one["setup"], len(one["players"]), one["options"], rows[: len(rows) // 3]).state


def search(mind: Mind, state: State) -> None:
    """Search from the position as a bot does."""
    explore(mind, [state], Thought(PLAYOUTS), Random(1).random)  # noqa: S311


def play(mind: Mind, state: State) -> None:
    """Play on from the position again and again."""
    chance = Random(1).random  # noqa: S311
    for _ in range(PLAYOUTS):
        mind.playout(state, chance)


def speed(work: Callable[[Mind, State], None], mind: Mind, state: State) -> float:
    """Return how many playouts a second the work makes."""
    speeds = []
    for _ in range(5):
        began = time.perf_counter()
        work(mind, state)
        speeds.append(PLAYOUTS / (time.perf_counter() - began))
    return statistics.median(speeds)


if __name__ == "__main__":
    main()

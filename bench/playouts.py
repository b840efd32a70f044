"""Tells how many playouts a second the search of the strong bot makes: the median of five runs, by game.

Run from the root of the project: `python -m bench.playouts [--quick]`. A run searches from the middle of a recorded
match, as a bot does, so the figure holds all that a playout costs there; bare playouts from the same position are told
beside it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from bench import figures
from bench.figures import Figure
from engine import games, record, replay
from engine.base import Game, State
from engine.bots.mind import Mind
from engine.bots.search import Thought, explore

RECORDS = Path(__file__).parent.parent / "tests" / "records"
PLAYOUTS = 500


def main() -> None:
    """Search as the command line says."""
    print(figures.table(measure(quick="--quick" in sys.argv)))


def measure(*, quick: bool = False) -> list[Figure]:
    """Search five times from a position of each game that has a mind, and play on from it as often; return figures."""
    count, found = 20 if quick else PLAYOUTS, []
    for game in games.games().values():
        states = [middle(game, path) for path in sorted(RECORDS.glob(f"{game.kind}-*.json"))[:1]]
        if game.mind and states:
            searched, bare = speed(search, game.mind, states[0], count), speed(play, game.mind, states[0], count)
            found += [
                figures.median(f"playouts in a search, {game.title}", searched, "/s"),
                figures.median("  bare", bare, "/s"),
            ]
    return found


def middle(game: Game, path: Path) -> State:
    """Return the position a third of the way through a recorded match."""
    one = record.load(path.read_bytes())
    rows = [row for row in record.rows_of(one) if row.kind == replay.MOVE]
    return replay.replay(game, one["setup"], len(one["players"]), one["options"], rows[: len(rows) // 3]).state


def search(mind: Mind, state: State, count: int) -> None:
    """Search from the position as a bot does."""
    explore(mind, [state], Thought(count), Random(1).random)  # noqa: S311


def play(mind: Mind, state: State, count: int) -> None:
    """Play on from the position again and again."""
    chance = Random(1).random  # noqa: S311
    for _ in range(count):
        mind.playout(state, chance)


def speed(work: Callable[[Mind, State, int], None], mind: Mind, state: State, count: int) -> list[float]:
    """Return how many playouts the work makes in a second of processor time, five times."""
    speeds = []
    for _ in range(5):
        began = time.process_time()
        work(mind, state, count)
        speeds.append(count / (time.process_time() - began))
    return speeds


if __name__ == "__main__":
    main()

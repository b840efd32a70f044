"""Tells how fast logs are replayed, each move parsed and checked: medians of five runs, by game.

Run from the root of the project: `python -m bench.replay [--quick]`. Whole logs are replayed, the same with a position
after every row, as a page of a match needs them, and one row more, as a move makes it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench import figures
from bench.figures import Figure
from engine import games, record, replay
from engine.base import Game, Plain

RECORDS: Final = Path(__file__).parent.parent / "tests" / "records"
ROUNDS: Final = 5
TIMES: Final = 40
GOALS: Final = {"clans": 250_000.0, "glory": 150_000.0}
"""So many moves a second are to be replayed, by game."""

Log = tuple[Plain, int, dict[str, str], list[replay.Row]]


def main() -> None:
    """Replay as the command line says."""
    print(figures.table(measure(quick="--quick" in sys.argv)))


def measure(*, quick: bool = False) -> list[Figure]:
    """Return how fast every recorded match of every game is replayed."""
    found = []
    for game in games.games().values():
        records = [record.load(path.read_bytes()) for path in sorted(RECORDS.glob(f"{game.kind}-*.json"))]
        logs = [(one["setup"], len(one["players"]), one["options"], record.rows_of(one)) for one in records]
        if logs:
            found += told(game, logs, 1 if quick else TIMES)
    return found


def told(game: Game, logs: Sequence[Log], times: int) -> list[Figure]:
    """Return the figures of one game; a log is a setup, the number of seats, the options and the rows."""
    moves = sum(row.kind == replay.MOVE for *_, rows in logs for row in rows)

    def whole() -> None:
        for setup, seats, options, rows in logs:
            replay.replay(game, setup, seats, options, rows)

    def every() -> None:
        for setup, seats, options, rows in logs:
            list(replay.positions(game, setup, seats, options, rows))

    steps = [
        step
        for setup, seats, options, rows in logs
        for step in zip(replay.positions(game, setup, seats, options, rows), rows, strict=False)
    ]

    def single() -> None:
        for position, row in steps:
            replay.advance(position, row)

    return [
        figures.median(f"moves replayed, {game.title}", rates(whole, moves, times), "/s", GOALS.get(game.kind)),
        figures.median("  with a position after every row", rates(every, moves, times), "/s"),
        figures.median("  one by one", rates(single, len(steps), times), "/s"),
    ]


def rates(work: Callable[[], None], count: int, times: int) -> list[float]:
    """Return how many are done in a second of processor time, in each of five rounds, when the work does so many."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(times):
            work()
        found.append(count * times / (time.process_time() - began))
    return found


if __name__ == "__main__":
    main()

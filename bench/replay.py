"""Prints how many moves a second are replayed from a log, each parsed and checked: the median of five runs, by game.

Run from the root of the project: `python -m bench.replay`.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from engine import games, record, replay

RECORDS = Path(__file__).parent.parent / "tests" / "records"
ROUNDS = 40


def main() -> None:
    """Replay every recorded match of every game `ROUNDS` times, five times over."""
    for kind, game in games.games().items():
        records = [record.load(path.read_bytes()) for path in sorted(RECORDS.glob(f"{kind}-*.json"))]
        logs = [(one, record.rows_of(one)) for one in records]
        moves = ROUNDS * sum(row.kind == replay.MOVE for _, rows in logs for row in rows)
        speeds = []
        for _ in range(5):
            began = time.perf_counter()
            for _ in range(ROUNDS):
                for one, rows in logs:
                    replay.replay(game, one["setup"], len(one["players"]), one["options"], rows)
            speeds.append(moves / (time.perf_counter() - began))
        if moves:
            speed = statistics.median(speeds)
            print(f"{game.title}: {speed:,.0f} moves/s replayed with legality checked (median of 5).")


if __name__ == "__main__":
    main()

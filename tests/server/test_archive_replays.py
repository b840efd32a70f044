"""What was played under any version of the rules is told the same for ever: recorded logs lead to the same hashes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from engine import games, record, replay

FOLDER = Path(__file__).parent.parent / "records"
RECORDS = sorted(FOLDER.glob("*.json"))
KNOWN = dict(line.split(maxsplit=1) for line in (FOLDER / "replays.txt").read_text().splitlines())


def last_hash(found: dict[str, Any], name: str) -> str:
    """Return the last hash of the log; one that has none is given a chain as if its match were called like its file."""
    rows = record.rows_of(found)
    previous = found.get("setup_hash") or record.row_hash(
        "",
        record.setup_row(
            record.setup_text(
                name, found["game"], found["rules"], found["options"], len(found["players"]), found["setup"], ""
            ),
            None,
        ),
    )
    for row in rows:
        previous = record.row_hash(previous, row)
    return previous


def told(found: dict[str, Any]) -> str:
    """Return a hash of what the rules say after each row: who is awaited, what he may do, the points, and the end."""
    game, whole = games.game(found["game"]), hashlib.sha256()
    for position in replay.positions(
        game, found["setup"], len(found["players"]), found["options"], record.rows_of(found)
    ):
        state, outcome = position.state, position.outcome
        moves = [[game.format(state, seat, move) for move in state.legal_moves(seat)] for seat in position.to_act]
        said = [position.seq, position.to_act, moves, state.tally(), outcome.as_plain() if outcome else None]
        whole.update(f"{json.dumps(said, sort_keys=True)}\n".encode())
    return whole.hexdigest()


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_recorded_log_replays_to_the_same_hashes(path: Path) -> None:
    """A new record needs its line in replays.txt; a line that was there once is never changed."""
    found = record.load(path.read_bytes())
    assert KNOWN[path.stem] == f"{found['game']}-{found['rules']} {last_hash(found, path.stem)} {told(found)}"


def test_every_version_of_the_rules_of_every_game_has_such_a_log() -> None:
    recorded = {line.split()[0] for line in KNOWN.values()}
    wanted = {f"{game.kind}-{rules}" for game in games.games().values() for rules in range(1, game.rules + 1)}
    assert recorded >= wanted

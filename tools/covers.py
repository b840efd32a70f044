"""Draw the cover of each game, static/games/<kind>/cover.svg, from a recorded match at half-time."""

from __future__ import annotations

from pathlib import Path

from engine import games, record, replay
from engine.base import Game

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "tests" / "records"
COVERED = {"clans": "clans-09.json", "glory": "glory-01.json"}


def path(kind: str) -> Path:
    """Return where the cover of a game is."""
    return ROOT / "server" / "static" / "games" / kind / "cover.svg"


def cover(game: Game) -> str:
    """Return the drawing: what a spectator saw when half of the moves were made."""
    found = record.load((RECORDS / COVERED[game.kind]).read_bytes())
    rows = record.rows_of(found)
    half = rows[: len(rows) // 2]
    position = replay.replay(game, found["setup"], len(found["players"]), found["options"], half)
    return game.picture(game.view(position.state, None, None)) + "\n"


def main() -> None:
    """Draw them all."""
    for kind in COVERED:
        path(kind).write_text(cover(games.game(kind)), encoding="utf-8")


if __name__ == "__main__":
    main()

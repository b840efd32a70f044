"""The board of a match as its page holds it: where a game's ground is a file, only what stands on it.

The ground is a picture behind the board, which a browser keeps from page to page (see the game's `board.css`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from engine.base import Game, View
from server.web.files import FOLDER


def drawn(game: Game, view: View, marks: Sequence[str] = ()) -> str:
    """Return the SVG of the board; `marks` are touched places."""
    return game.picture(view, marks, "above" if _grounded(game.kind) else "whole")


@cache
def _grounded(kind: str) -> bool:
    return (FOLDER / "games" / kind / "ground.svg").is_file()

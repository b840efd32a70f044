"""Style sheets that are written apart and sent as one: a page asks for two or three files, not for nine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from engine import games

HOUSE: Final = ("tokens", "base", "parts", "forms", "lists", "modes")
"""What every page has, in this order."""
MATCH: Final = ("told", "match", "guide", "board/table")
"""What the pages of a match have besides; all sheets of the game's own folder come after them, by name."""


def joined(folder: Path, name: str) -> str | None:
    """Return the sheet `house.css`, or `games/<kind>/match.css` for the matches of a game; None for any other name.

    Each stands in the folder of those of its parts that refer to other files.
    """
    parts = name.split("/")
    if name == "house.css":
        return _read(folder / f"{part}.css" for part in HOUSE)
    if len(parts) == 3 and parts[0] == "games" and parts[2] == "match.css":
        if parts[1] not in games.games():
            return None
        own = sorted((folder / "games" / parts[1]).glob("*.css"))
        return _read((*(folder / f"{part}.css" for part in MATCH), *own))
    return None


def _read(files: Iterable[Path]) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in files)

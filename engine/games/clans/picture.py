"""Draws a position of Clans as one SVG document: the map of the isles, and on it huts, villages and marks.

Nothing secret is drawn, so the picture is the same for every viewer, except for the class that shows
which huts he may move.
Colours, sizes and places are attributes: a page may forbid all style in the document.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.base import Layer, View
from engine.games.clans.geometry import SIZE
from engine.games.clans.map_art import definitions, land
from engine.games.clans.pieces import pieces, territories

FONT = "Grenze"

__all__ = ["FONT", "definitions", "land", "picture", "pieces", "territories"]


def picture(view: View, marks: Sequence[str] = (), layer: Layer = "whole") -> str:
    """Return the SVG document; `marks` are the names of touched territories, numbered in this order."""
    width, height = SIZE
    drawn = {
        "whole": lambda: f"{definitions()}{land()}{territories(view)}{pieces(view, marks)}",
        "ground": lambda: f"{definitions()}{land()}",
        "pieces": lambda: f"{definitions()}{pieces(view, marks)}",
    }[layer]()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" role="group" aria-label="Map of Clans" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT}, Georgia, serif">'
        f"{drawn}</svg>"
    )

"""Draws a position of Clans as one SVG document: the map of the isles, and on it huts, villages and marks.

Nothing secret is drawn, so the picture is the same for every viewer, except for the class that shows
which huts he may move.
Colours, sizes and places are attributes: a page may forbid all style in the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape

from engine.base import Layer, View
from engine.games.clans.geometry import SIZE
from engine.games.clans.glyphs import symbols
from engine.games.clans.map_art import definitions, land, shapes
from engine.games.clans.pieces import pieces, territories
from engine.language import gettext as _

FONT = "Grenze"

__all__ = ["FONT", "definitions", "land", "picture", "pieces", "territories"]


def picture(view: View, marks: Sequence[str] = (), layer: Layer = "whole") -> str:
    """Return the SVG document; `marks` are the names of touched territories, numbered in this order."""
    label = escape(_("Map of Clans"))
    if layer == "ground":
        return _ground(label)
    drawn = {
        "whole": lambda: f"{definitions()}{land()}{territories(view)}{pieces(view, marks)}",
        "above": lambda: f"{_shared()}{territories(view)}{pieces(view, marks)}",
        "pieces": lambda: f"{_shared()}{pieces(view, marks)}",
    }[layer]()
    return _document(label, drawn)


@cache
def _ground(label: str) -> str:
    """Return the map without anything on it, the same object each time: it is long, and asked for with each mail."""
    return _document(label, f"{definitions()}{land()}")


def _document(label: str, drawn: str) -> str:
    width, height = SIZE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" role="group" aria-label="{label}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT}, Georgia, serif">'
        f"{drawn}</svg>"
    )


@cache
def _shared() -> str:
    """Return the definitions of what lies on the ground."""
    return f'<defs aria-hidden="true">{shapes()}{symbols()}</defs>'

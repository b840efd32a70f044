"""Draws a position of Clans and Glory as one SVG document: the places on the moor, cards, shields and marks.

No hand is drawn, only what lies on the table; but the definitions hold every card of the game, so that a page can show
a hand beside the picture by referring to `glory-card-R5`. Colours, sizes and places are attributes: a page may
forbid all style in the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape

from engine.base import Layer, View
from engine.games.glory.cards import CARD, IN_PLAY, SEPARATE, card_words
from engine.games.glory.glyphs import CARD_HEIGHT, CARD_WIDTH, PREFIX, card_symbols, number, patterns, table_symbols
from engine.games.glory.layout import HEIGHT, width
from engine.games.glory.moor_art import definitions, moor
from engine.games.glory.pieces import pieces, targets
from engine.language import gettext as _

FONT = "Grenze"

__all__ = ["FONT", "card_svg", "picture", "pieces", "targets"]


def picture(view: View, marks: Sequence[str] = (), layer: Layer = "whole") -> str:
    """Return the SVG document; `marks` are touched spots and places, numbered in this order."""
    places, walls = view.table["places"], view.table["options"]["row"] == SEPARATE
    label = escape(_("Table of Clans and Glory"))
    if layer == "ground":
        return _ground(label, view.seats, places, walls)
    drawn = {
        "whole": lambda: f"{moor(places, walls)}{targets(view)}{pieces(view, marks)}",
        "pieces": lambda: pieces(view, marks),
    }[layer]()
    return _document(label, view.seats, places, drawn)


@cache
def _ground(label: str, seats: int, places: int, walls: bool) -> str:
    """Return the table without anything on it, the same object each time: it is long, and asked for with each mail."""
    return _document(label, seats, places, moor(places, walls))


def _document(label: str, seats: int, places: int, drawn: str) -> str:
    wide, high = number(width(places)), number(HEIGHT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" role="group" aria-label="{label}" '
        f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" font-family="{FONT}, Georgia, serif">'
        f"{_symbols(seats, places)}{drawn}</svg>"
    )


def card_svg(card: str | None) -> str:
    """Return one card, None for a back, as a small SVG document of its own with the art of the table."""
    drawn = f"card-{card}" if card else "back"
    title = card_words(card) if card else _("face down")
    box = f"{-CARD_WIDTH // 2 - 2} {-CARD_HEIGHT // 2 - 2} {CARD_WIDTH + 4} {CARD_HEIGHT + 4}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="card" role="img" width="{CARD_WIDTH + 4}" '
        f'height="{CARD_HEIGHT + 4}" viewBox="{box}" font-family="{FONT}, Georgia, serif">'
        f"<title>{escape(title)}</title>"
        f"<defs>{patterns()}{card_symbols([CARD[card]] if card else ())}</defs>"
        f'<use href="#{PREFIX}{drawn}"/></svg>'
    )


@cache
def _symbols(seats: int, places: int) -> str:
    """Return the definitions of a table: the same whatever lies on it, for a hand must not show in them."""
    drawings = f"{definitions()}{patterns()}{card_symbols(IN_PLAY[seats])}{table_symbols(seats, places)}"
    return f'<defs aria-hidden="true">{drawings}</defs>'

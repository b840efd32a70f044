"""Posters: a match or a game as a picture for those who see only a link to it, 1200 by 630 pixels.

A poster shows what a spectator sees, and speaks English, because one picture is kept for everybody who gets the link.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import Final, NamedTuple

from markupsafe import escape

from engine.base import Game
from engine.language import gettext as _
from server import log, raster, story
from server.errors import Refused
from server.log import Played

WIDTH, HEIGHT = 1200, 630
MOST_AT_ONCE: Final = 2
"""So many posters a process draws at the same time: who answers requests has others to answer."""
_MARGIN: Final = 40
_GAP: Final = 36
# A board at least so many times as wide as high stands above the words, another beside them.
_WIDE: Final = 1.6
_TITLE, _LINE, _SMALLEST = 84, 42, 22
_GROUND: Final = (
    f'<path d="M0 0h{WIDTH}v{HEIGHT}H0z" fill="#efe6d2"/>'
    f'<path d="M0 {HEIGHT}v-60c140-60 300-40 430-16s300 40 420 0 230-56 350-30v106z" fill="#c9cfae"/>'
    f'<path d="M0 {HEIGHT}v-24c180-50 330-6 520-14s400-54 680-6v44z" fill="#a9b98a"/>'
)


_drawing = threading.BoundedSemaphore(MOST_AT_ONCE)


class Poster(NamedTuple):
    """What a poster is made of: a frame with the words, the layers of the board, and where they lie on it."""

    frame: str
    layers: tuple[str, ...]
    box: raster.Box

    @property
    def digest(self) -> str:
        """A short hash of all that is drawn."""
        return hashlib.sha256("\0".join((self.frame, *self.layers)).encode()).hexdigest()[:16]

    def png(self) -> bytes:
        """Draw it; the last ones drawn are remembered. Takes a tenth of a second, at first half a second.

        Raises `Refused` (busy) while as many as there may be are drawn.
        """
        if not _drawing.acquire(blocking=False):
            raise Refused("busy", _("Too many pictures are drawn just now. Please try again in a while."))
        try:
            return raster.poster(self.frame, self.layers, self.box)
        finally:
            _drawing.release()


def of_match(played: Played, called: Sequence[str], seq: int) -> Poster | None:
    """Return the match after row `seq` as a spectator sees it, None if there is no such row."""
    step = story.step(played, called, None, seq)
    if step is None:
        return None
    draw, marks = played.game.picture, step.line.touched if step.line else ()
    layers = (draw(step.view, (), "ground"), draw(step.view, marks, "pieces"))
    return _poster(log.title(played.match), _legible(called), layers)


def of_game(game: Game, cover: str) -> Poster:
    """Return the cover of a game with its title."""
    return _poster(game.title, [_("A slow board game, by mail")], (cover,))


def of_house(cover: str, titles: Sequence[str]) -> Poster:
    """Return the cover of a game with the name of the house and the titles of its games."""
    return _poster("Clachan", [_("Slow board games, by mail"), *titles], (cover,))


def _legible(called: Sequence[str]) -> list[str]:
    """Return the names, and for one in letters that the font has not the number of its seat."""
    return [name if raster.has_letters(name) else _("Player {n}").format(n=seat) for seat, name in enumerate(called, 1)]


def _poster(title: str, lines: Sequence[str], layers: tuple[str, ...]) -> Poster:
    width, height = raster.size(layers[0])
    if width >= _WIDE * height:
        shown = WIDTH - 2 * _MARGIN
        top = _MARGIN + round(shown * height / width) + _GAP
        words = [_words(title, _MARGIN, top + 60, shown, _TITLE), *_columns(lines, top + 118, shown)]
        return Poster(_frame(words), layers, (_MARGIN, _MARGIN, shown))
    shown = round((HEIGHT - 2 * _MARGIN) * width / height)
    left = WIDTH - _MARGIN - shown
    room = left - _MARGIN - _GAP
    words = [_words(title, _MARGIN, 170, room, _TITLE)]
    words += [_words(line, _MARGIN, 250 + 58 * place, room, _LINE) for place, line in enumerate(lines)]
    return Poster(_frame(words), layers, (left, _MARGIN, shown))


def _columns(lines: Sequence[str], top: int, width: int) -> list[str]:
    """Set lines in two columns, row by row."""
    half = (width - _GAP) // 2
    return [
        _words(line, _MARGIN + place % 2 * (half + _GAP), top + place // 2 * 48, half, _LINE - 4)
        for place, line in enumerate(lines)
    ]


def _words(text: str, left: int, base: int, room: int, height: int) -> str:
    """Set a text as large as the room lets it be, shortened if it must."""
    height = min(height, max(_SMALLEST, int(height * room / max(1.0, raster.text_width(text, height)))))
    while raster.text_width(text, height) > room:
        text = text.removesuffix("…")[:-1] + "…"
    return f'<text x="{left}" y="{base}" font-size="{height}">{escape(text)}</text>'


def _frame(words: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="Grenze" font-weight="600" fill="#2b2219">{_GROUND}{"".join(words)}</svg>'
    )

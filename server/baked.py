"""A board whose ground is a PNG already: where nothing lies, the picture of the ground is copied as it is compressed.

A PNG is a byte for each pixel and one more at the start of each row, compressed as one stream (RFC 2083, RFC 1951).
Here the ground is compressed in bands that do not refer to each other, and a picture is made of those that are
untouched and new ones between them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import dist
from typing import Any, Final

from isal import isal_zlib
from PIL import Image

Colour = tuple[int, int, int]
COLOURS: Final = 128
GROUND_COLOURS: Final = 40
PIECES_COLOURS: Final = 47
# Stands at the start of each row, where a PNG says how the row is filtered: colour 0, not at all. Nothing else has it.
_FILTER: Final = (255, 0, 254)
# How far apart two colours are that look alike.
_ALIKE: Final = 20
_ROWS: Final = 16
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
# The memory of pictures is kept for the next ones: to be given fresh memory takes longer than to draw on it.
_KEPT: Final = 4
_RAW: Final[Any] = {"method": zlib.DEFLATED, "wbits": -zlib.MAX_WBITS}
_START_OF_STREAM, _END_OF_STREAM = b"\x78\x01", b"\x03\x00"

Image.core.set_blocks_max(_KEPT)  # type: ignore[attr-defined]


class Ground:
    """The ground of a picture, and how it is coloured and compressed."""

    def __init__(self, ground: Image.Image, samples: Image.Image, named: Iterable[Colour] = ()) -> None:
        """Bake an RGB picture; `samples`, another, shows what may lie on it, and `named` are colours that may occur."""
        self._ground = Image.new("RGB", (ground.width + 1, ground.height), _FILTER)
        self._ground.paste(ground, (1, 0))
        shown = [_FILTER, *_colours(ground, GROUND_COLOURS), *_colours(samples, PIECES_COLOURS)]
        self._colours = _with(shown, named, COLOURS)
        self._palette = _palette(self._colours)
        self._known: dict[Colour, bool] = {}
        raw, self._size = _rows(self._ground, self._palette), _ROWS * self._ground.width
        self._bands = [
            _compressed(raw[at : at + self._size], zlib.compressobj(9, **_RAW)) for at in range(0, len(raw), self._size)
        ]

    def copy(self) -> Image.Image:
        """Return the ground to lay things on, as RGB, one pixel to the right of where they belong."""
        return self._ground.copy()

    def lacks(self, colour: Colour) -> bool:
        """Whether none of the colours of the board is like this one."""
        if colour not in self._known:
            self._known[colour] = any(dist(colour, other) <= _ALIKE for other in self._colours)
        return not self._known[colour]

    def png(self, picture: Image.Image, touched: Iterable[tuple[int, int]], more: Iterable[Colour] = ()) -> bytes:
        """Return a `copy` with things on it as a PNG.

        `touched` are the rows that they lie on, from and up to, and `more` their colours that the board lacks.
        """
        colours = _with(self._colours, more, 256) if more else self._colours
        palette = _palette(colours) if more else self._palette
        picture.paste(_FILTER, (0, 0, 1, picture.height))
        # With more colours than it was compressed with, the ground is shown by others.
        rows = [(0, picture.height)] if more else touched
        bands = {band for top, end in rows for band in range(max(top, 0) // _ROWS, -(-end // _ROWS))}
        raw = _rows(picture, palette)
        check = struct.pack(">I", isal_zlib.adler32(raw))
        stream = [_START_OF_STREAM, *self._compressed(raw, bands), _END_OF_STREAM, check]
        head = struct.pack(">IIBBBBB", picture.width - 1, picture.height, 8, 3, 0, 0, 0)
        chunks = (
            (b"IHDR", head),
            (b"PLTE", _bytes(colours)),
            (b"IDAT", b"".join(stream)),
            (b"IEND", b""),
        )
        return _SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks)

    def _compressed(self, raw: bytes, touched: set[int]) -> Iterator[bytes]:
        """Yield the rows of a picture compressed: those of touched bands anew."""
        for new, run in groupby(range(len(self._bands)), touched.__contains__):
            bands = list(run)
            if new:
                part = raw[bands[0] * self._size : (bands[-1] + 1) * self._size]
                # As small as zlib makes it at its fastest, in a quarter of the time.
                yield _compressed(part, isal_zlib.compressobj(2, **_RAW))
            else:
                yield from self._bands[bands[0] : bands[-1] + 1]


def _rows(picture: Image.Image, palette: Image.Image) -> bytes:
    """Return the rows of a picture as they stand in a PNG, each after its filter."""
    return picture.quantize(palette=palette, dither=Image.Dither.NONE).tobytes()


def _colours(picture: Image.Image, most: int) -> list[Colour]:
    """Return the colours by which a picture is shown best."""
    found = picture.quantize(most, Image.Quantize.MEDIANCUT, kmeans=2).getpalette() or []
    return [(found[at], found[at + 1], found[at + 2]) for at in range(0, min(len(found), 3 * most), 3)]


def _with(colours: Sequence[Colour], named: Iterable[Colour], most: int) -> tuple[Colour, ...]:
    """Return colours, and of those that are named those that no other is like, as far as there is room."""
    chosen = list(colours)
    for colour in named:
        if len(chosen) < most and all(dist(colour, other) > _ALIKE for other in chosen):
            chosen.append(colour)
    return tuple(chosen)


def _palette(colours: Sequence[Colour]) -> Image.Image:
    holder = Image.new("P", (1, 1))
    holder.putpalette(_bytes(colours))
    return holder


def _bytes(colours: Sequence[Colour]) -> bytes:
    return bytes(value for colour in colours for value in colour)


def _compressed(raw: bytes, compressor: Any) -> bytes:
    """Return a part of a stream that refers to nothing before it and ends at the end of a byte."""
    return bytes(compressor.compress(raw) + compressor.flush(zlib.Z_FULL_FLUSH))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(name)))

"""An SVG drawing as a PNG picture, because mail readers show no SVG."""

from __future__ import annotations

import functools
import io
import re
import struct
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.parsers import expat

import resvg_py
from PIL import Image, ImageColor, ImageFont

from server import sprites
from server.baked import Colour, Ground
from server.chest import Chest
from server.sprites import Apart, Paper

FONTS = Path(__file__).parent / "static" / "fonts"
_SVG = "http://www.w3.org/2000/svg svg"
_SIZE = re.compile(r'<svg [^>]*?\bwidth="(\d+)" height="(\d+)"')
_COLOUR = re.compile(r'"(#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3}))"')
_LABEL = re.compile(r' aria-label="[^"]*"')
_MEASURED = 100
# What a drawing has without naming it: that is black which says nothing of its colour.
_UNNAMED = ((0, 0, 0), (255, 255, 255))
# So far, in pixels, a piece is thought to reach from its place at first.
_REACH = 32
# By so much smaller a piece is drawn to find where it is.
_COARSE = 8
# So many bytes of pieces are kept; all those of a game at the width of mails take one to three megabytes.
_MOST: Final = 16 * 2**20
_sprites: Final = Chest(_MOST)
# The samples of what may lie on a board: how many units apart they stand, and how many pixels they take together.
_SAMPLE, _SAMPLES = 140.0, 640

Box = tuple[int, int, int]
"""Where a picture lies on another, in pixels: left, top and width."""


class Sprite(NamedTuple):
    """A piece as a picture: its colours, how much of each pixel it covers, its box on the board, colours it names."""

    colours: Any
    mask: Any
    box: tuple[int, int, int, int]
    named: tuple[Colour, ...]

    def moved(self, across: int, down: int) -> Sprite:
        """Return the same at another place."""
        left, top, right, bottom = self.box
        return self._replace(box=(left + across, top + down, right + across, bottom + down))


class RasterError(ValueError):
    """The drawing cannot be made into a picture."""


def png(svg: str, width: int) -> bytes:
    """Return the drawing as a PNG `width` pixels wide, 0 for its own, and as high as its proportions ask.

    Text is set in our own fonts, whatever family the drawing names: with the machine's fonts the picture would differ
    from house to house, and text without a font vanishes without a word. Nothing outside the drawing is loaded. Raises
    `RasterError` if it is no SVG, declares a document type, or refers to anything but its own parts.
    """
    _check(svg)
    files, family = _fonts()
    try:
        return resvg_py.svg_to_bytes(
            svg_string=svg,
            width=width or None,
            skip_system_fonts=True,
            font_files=list(files),
            font_family=family,
            serif_family=family,
            sans_serif_family=family,
            cursive_family=family,
            fantasy_family=family,
            monospace_family=family,
        )
    except ValueError as error:
        raise RasterError(f"not a drawing: {error}") from error


def board(ground: str, pieces: str, width: int) -> bytes:
    """Return two drawings of the same size, one laid over the other, as a PNG of 128 colours `width` pixels wide.

    The ground is kept as a picture, and so is each piece of the other (see `sprites`), which stands within a quarter of
    a pixel of its place. Raises `RasterError`.
    """
    parts = sprites.take_apart(pieces)
    if parts is None:
        return whole(ground, pieces, width)
    kept = _baked(ground, parts.paper, width)
    picture = kept.copy()
    laid = _lay(picture, parts, width / size(ground)[0], 1)
    lacking = dict.fromkeys(colour for sprite in laid for colour in sprite.named if kept.lacks(colour))
    return kept.png(picture, [(sprite.box[1], sprite.box[3]) for sprite in laid], lacking)


def whole(ground: str, pieces: str, width: int) -> bytes:
    """Return what `board` does, drawn as a whole, with the 128 colours that suit it best."""
    picture = _kept(ground, width).copy()
    picture.alpha_composite(_open(pieces, width))
    return _packed(picture)


@functools.lru_cache(maxsize=32)
def poster(frame: str, layers: tuple[str, ...], box: Box) -> bytes:
    """Return a drawing with others of one size laid over it, in a box of its pixels, as a PNG of 128 colours.

    The frame gives the size in pixels. Of the layers the first is the ground, as in `board`. Raises `RasterError`.
    """
    left, top, width = box
    sheet, board = _open(frame, 0), _kept(layers[0], width).copy()
    for layer in layers[1:]:
        board.alpha_composite(_open(layer, width))
    sheet.alpha_composite(board, (left, top))
    return _packed(sheet)


def size(svg: str) -> tuple[int, int]:
    """Return the width and height that a drawing names itself. Raises `RasterError`."""
    found = _SIZE.search(svg)
    if found is None:
        raise RasterError("a drawing without a size")
    return int(found[1]), int(found[2])


def text_width(text: str, height: int) -> float:
    """Return how many pixels wide a text is in our font of that height."""
    return float(_typeface().getlength(text)) * height / _MEASURED


def has_letters(text: str) -> bool:
    """Whether our font has every letter of the text, so that none is missing where it is drawn."""
    font = _typeface()
    unknown = bytes(font.getmask("\uffff"))
    return all(letter == " " or bytes(font.getmask(letter)) != unknown for letter in text)


@functools.lru_cache(maxsize=32)
def _baked(ground: str, paper: Paper, width: int) -> Ground:
    # What is said of a drawing to those who cannot see it makes no other picture.
    root, end, rest = ground.partition(">")
    return _baked_once(_LABEL.sub("", root) + end + rest, paper, width)


@functools.lru_cache(maxsize=16)
def _baked_once(ground: str, paper: Paper, width: int) -> Ground:
    drawn, seen = _open(ground, width), _open(sprites.samples(paper, _SAMPLE), _SAMPLES)
    shown = Image.new("RGB", seen.size, drawn.convert("RGB").resize((1, 1), Image.Resampling.BOX).getpixel((0, 0)))
    shown.paste(seen, (0, 0), seen)
    named = _named(ground + "".join(paper.by_id.values()))
    return Ground(drawn.convert("RGB"), shown, (*named, *_UNNAMED))


def _named(drawing: str) -> tuple[Colour, ...]:
    """Return the colours that a drawing names, each once."""
    return tuple(ImageColor.getrgb(colour)[:3] for colour in dict.fromkeys(_COLOUR.findall(drawing)))


def _lay(picture: Image.Image, parts: Apart, scale: float, shift: int) -> list[Sprite]:
    """Lay pieces on a picture, `shift` pixels to the right of where they belong; return them."""
    size, onto = (picture.width - shift, picture.height), picture.im
    found = (_sprite(parts.paper, text, scale, size) for text in parts.pieces)
    laid = [sprite for sprite in found if sprite]
    for sprite in laid:
        left, top, right, bottom = sprite.box
        # What `Image.paste` does once it has looked at everything, which takes longer than pasting something small.
        onto.paste(sprite.colours, (left + shift, top, right + shift, bottom), sprite.mask)
    return laid


def _sprite(paper: Paper, text: str, scale: float, size: tuple[int, int]) -> Sprite | None:
    """Return a part of a drawing as a picture at its place, None if nothing is to be seen of it."""
    piece = sprites.piece(text)
    if not piece.placed:
        key: Hashable = (paper, piece.text, scale, size)
        return _sprites.get(key, lambda: _fixed(paper, piece.text, scale, size), _weight)
    # In halves of a pixel: a piece that stands between two pixels is another picture.
    x, y = round(2 * piece.x * scale), round(2 * piece.y * scale)
    half, most = (x & 1, y & 1), max(size)
    key = (paper, piece.text, scale, half, most)
    drawn = _sprites.get(key, lambda: _placed(paper, piece.text, scale, half, most), _weight)
    return drawn and drawn.moved(x >> 1, y >> 1)


def _weight(sprite: Sprite | None) -> int:
    """Return how many bytes the pixels of a piece take: three colours and one left free, and how much is covered."""
    if sprite is None:
        return 0
    left, top, right, bottom = sprite.box
    return 5 * (right - left) * (bottom - top)


def _placed(paper: Paper, text: str, scale: float, half: tuple[int, int], most: int) -> Sprite | None:
    reach = _REACH
    while True:
        left, top = ((-reach - part / 2) / scale for part in half)
        drawn = _open(sprites.drawing(paper, text, (left, top, 2 * reach / scale, 2 * reach / scale)), 2 * reach)
        seen = drawn.getbbox()
        if reach >= most or (seen and min(seen[:2]) > 0 and max(seen[2:]) < 2 * reach):
            return _cut(text, drawn, seen, reach, reach) if seen else None
        reach *= 2


def _fixed(paper: Paper, text: str, scale: float, size: tuple[int, int]) -> Sprite | None:
    # First where it is, in a small picture: to draw a whole board for one piece takes long.
    small = _open(sprites.drawing(paper, text, (0, 0, size[0] / scale, size[1] / scale)), -(-size[0] // _COARSE))
    seen = small.getbbox()
    if seen is None:
        return None
    left, top, right, bottom = (_COARSE * (side + more) for side, more in zip(seen, (-1, -1, 1, 1), strict=True))
    box = (left / scale, top / scale, (right - left) / scale, (bottom - top) / scale)
    drawn = _open(sprites.drawing(paper, text, box), right - left)
    seen = drawn.getbbox()
    return _cut(text, drawn, seen, -left, -top) if seen else None


def _cut(text: str, drawn: Image.Image, seen: tuple[int, int, int, int], across: int, down: int) -> Sprite:
    """Return what is seen of a picture in which the place of the piece is so far across and down."""
    part = drawn.crop(seen)
    colours, mask = part.convert("RGB"), part.getchannel("A")
    return Sprite(colours.im, mask.im, (0, 0, *part.size), _named(text)).moved(seen[0] - across, seen[1] - down)


@functools.lru_cache(maxsize=8)
def _kept(svg: str, width: int) -> Image.Image:
    return _open(svg, width)


def _open(svg: str, width: int) -> Image.Image:
    return Image.open(io.BytesIO(png(svg, width))).convert("RGBA")


def _packed(picture: Image.Image) -> bytes:
    """Return the picture as a PNG of 128 colours."""
    out = io.BytesIO()
    picture.convert("RGB").quantize(128, Image.Quantize.FASTOCTREE).save(out, "PNG", compress_level=9)
    return out.getvalue()


def _check(svg: str) -> None:
    """Read through the drawing and raise `RasterError` at what may not be in it.

    The renderer loads a picture from any absolute path it is given, so references are refused here.
    """
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if depth == 0 and name != _SVG:
            raise RasterError("not a drawing: its outermost element is not svg")
        depth += 1
        for attribute, value in attributes.items():
            if attribute.rpartition(" ")[2] == "href" and not value.startswith("#"):
                raise RasterError("a drawing may refer to its own parts only")

    def doctype(*_: object) -> None:
        raise RasterError("a drawing may not declare a document type")

    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(svg.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise RasterError(f"not a drawing: {error}") from error


@functools.cache
def _typeface() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(_fonts()[0][0], _MEASURED)


@functools.cache
def _fonts() -> tuple[tuple[str, ...], str]:
    """Return the paths of the bundled fonts and the family name of the first."""
    files = sorted(FONTS.glob("*.ttf"))
    if not files:
        raise RasterError(f"no font in {FONTS}")
    return tuple(str(file) for file in files), family_name(files[0].read_bytes())


def family_name(font: bytes) -> str:
    """Return the family name a TrueType font bears (OpenType 1.9, tables "name" and directory)."""
    tables = struct.unpack_from(">H", font, 4)[0]
    entries = (struct.unpack_from(">4sIII", font, 12 + 16 * index) for index in range(tables))
    start = next((offset for tag, _, offset, _ in entries if tag == b"name"), None)
    if start is None:
        raise RasterError("a font without a name")
    _, count, strings = struct.unpack_from(">HHH", font, start)
    names: dict[int, str] = {}
    for index in range(count):
        platform, _, _, kind, length, offset = struct.unpack_from(">6H", font, start + 6 + 12 * index)
        if platform in (0, 3) and kind in (1, 16):  # Unicode and Windows, both UTF-16; 16 is the typographic family
            begin = start + strings + offset
            names.setdefault(kind, font[begin : begin + length].decode("utf-16-be"))
    family = names.get(16) or names.get(1)
    if not family:
        raise RasterError("a font without a name")
    return family

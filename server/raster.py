"""An SVG drawing as a PNG picture, because mail readers show no SVG."""

from __future__ import annotations

import functools
import io
import re
import struct
from pathlib import Path
from xml.parsers import expat

import resvg_py
from PIL import Image, ImageFont

FONTS = Path(__file__).parent / "static" / "fonts"
_SVG = "http://www.w3.org/2000/svg svg"
_SIZE = re.compile(r'<svg [^>]*?\bwidth="(\d+)" height="(\d+)"')
_MEASURED = 100

Box = tuple[int, int, int]
"""Where a picture lies on another, in pixels: left, top and width."""


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

    The ground is kept, because it is the same from mail to mail and takes most of the time. Raises `RasterError`.
    """
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

"""Drawings as pictures: the text is there, the size is right, and nothing from outside gets in."""

from __future__ import annotations

import http.server
import struct
import threading
from pathlib import Path

import pytest

from server import raster
from server.raster import RasterError, png

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 60 40">{}</svg>'
TEXT = '<text x="2" y="30" font-size="20"{}>A1</text>'
STYLES = (
    "<style>@import url({0});</style><text>A</text>",
    "<style>@font-face {{ font-family: X; src: url({0}) }}</style><text font-family='X'>A</text>",
    "<style>rect {{ fill: url({0}) none }}</style><rect width='60' height='40'/>",
    "<rect width='60' height='40' fill='url({0}) none' mask='url({0})'/>",
)
EMPTY = SVG.format("")


def size(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def test_the_picture_has_the_width_asked_for() -> None:
    assert size(png(EMPTY, 600)) == (600, 400)
    assert size(png(EMPTY, 90)) == (90, 60)


@pytest.mark.parametrize(
    "family", ["", "serif", "sans-serif", "monospace", "cursive", "fantasy", "Georgia, serif", "Nobody Has This"]
)
def test_text_appears_whatever_font_it_asks_for(family: str) -> None:
    text = TEXT.format(f' font-family="{family}"' if family else "")
    assert png(SVG.format(text), 600) == png(SVG.format(TEXT.format("")), 600) != png(EMPTY, 600)


def test_different_text_looks_different() -> None:
    text = SVG.format(TEXT.format(""))
    assert png(text, 600) != png(text.replace("A1", "B2"), 600)


def test_the_same_drawing_gives_the_same_picture() -> None:
    assert png(SVG.format(TEXT.format("")), 300) == png(SVG.format(TEXT.format("")), 300)


@pytest.mark.parametrize(
    "text",
    ["", "hello", "<html/>", "<svg/>", "<svg", '<!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg"/>',
     '<g><svg xmlns="http://www.w3.org/2000/svg"/></g>', "\ud800", EMPTY + EMPTY, "\x00"],
)  # fmt: skip
def test_what_is_no_drawing_is_refused_in_words(text: str) -> None:
    with pytest.raises(RasterError, match="drawing"):
        png(text, 100)


@pytest.fixture
def red(tmp_path: Path) -> Path:
    path = tmp_path / "red.png"
    path.write_bytes(png(SVG.format('<rect width="60" height="40" fill="red"/>'), 60))
    return path


@pytest.mark.parametrize("attribute", ["href", "xlink:href"])
def test_a_file_is_not_drawn(red: Path, attribute: str) -> None:
    for reference in (str(red), red.as_uri(), "red.png", f" {red}", "data:image/png;base64,AAAA"):
        with pytest.raises(RasterError, match="own parts"):
            png(SVG.format(f'<image {attribute}="{reference}" width="60" height="40"/>'), 60)


def test_a_prefix_of_its_own_does_not_hide_a_reference(red: Path) -> None:
    hidden = f'<image xmlns:z="http://www.w3.org/1999/xlink" z:href="{red}" width="60" height="40"/>'
    with pytest.raises(RasterError, match="own parts"):
        png(SVG.format(hidden), 60)


def test_nothing_is_fetched_through_styles(red: Path) -> None:
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/x.png"
        try:
            with pytest.raises(RasterError, match="own parts"):
                png(SVG.format(f'<image href="{address}" width="60" height="40"/>'), 60)
            for place in (address, red.as_uri(), str(red)):
                for style in STYLES:
                    assert png(SVG.format(style.format(place)), 60) == png(SVG.format(style.format("nowhere.png")), 60)
        finally:
            server.shutdown()
            thread.join()
    assert asked == []


def test_parts_of_the_drawing_itself_may_be_used() -> None:
    used = '<defs><rect id="r" width="9" height="9"/></defs><use {}="#r"/>'
    assert png(SVG.format(used.format("href")), 60) == png(SVG.format(used.format("xlink:href")), 60) != png(EMPTY, 60)


def test_the_font_is_ours_and_has_a_name() -> None:
    fonts = sorted(raster.FONTS.glob("*.ttf"))
    assert fonts
    assert all(raster.family_name(font.read_bytes()).isprintable() for font in fonts)


def test_a_house_without_its_font_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "FONTS", tmp_path)
    raster._fonts.cache_clear()
    with pytest.raises(RasterError, match="no font"):
        png(EMPTY, 60)
    raster._fonts.cache_clear()

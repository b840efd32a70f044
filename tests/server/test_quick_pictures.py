"""Pictures of boards made of kept pieces: they look as if drawn as a whole, and nothing else shows in them."""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from engine import games, record, replay
from engine.base import Game, View
from engine.language import speaking
from server import languages, raster, sprites
from server.chest import Chest

RECORDS = Path(__file__).parent.parent / "records"
WIDTH = 640
NAMED = 'xmlns="http://www.w3.org/2000/svg" width="60" height="40" viewBox="0 0 60 40" font-family="Grenze"'
GROUND = f'<svg {NAMED}><rect width="60" height="40" fill="#cde"/><path d="M0 30L60 10" stroke="#345"/></svg>'
DOT = '<g class="dot" data-n="{n}" transform="translate({x} {y})"><circle r="4" fill="#c00" stroke="#fff"/></g>'


def drawing(body: str, defined: str = "") -> str:
    return f"<svg {NAMED}><defs>{defined}</defs>{body}</svg>"


def opened(png: bytes) -> Image.Image:
    """Return the picture, after looking whether its rows and all sums over them are right."""
    data, at = b"", 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        part = png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + part)
        data += part if name == b"IDAT" else b""
        at += 12 + length
    zlib.decompress(data)
    picture = Image.open(io.BytesIO(png))
    picture.load()
    return picture.convert("RGB")


def apart(one: bytes, other: bytes) -> float:
    """Return how far two pictures are from each other as one sees them who stands a step back, from 0 to 255."""
    here, there = (opened(png).reduce(4) for png in (one, other))
    return max(ImageStat.Stat(ImageChops.difference(here, there)).rms)


def views(kind: str) -> Iterator[tuple[Game, View, tuple[str, ...]]]:
    """Yield positions of recorded matches with marks, as a spectator and the first player see them."""
    game = games.game(kind)
    for number, path in enumerate(sorted(RECORDS.glob(f"{kind}-*.json"))[::6]):
        kept = record.load(path.read_bytes())
        rows = record.rows_of(kept)
        positions = list(replay.positions(game, kept["setup"], len(kept["players"]), kept["options"], rows))
        for at in (0, len(rows) // 3, len(rows) * 3 // 4):
            before, row = positions[at], rows[at]
            marks = ()
            if row.kind == replay.MOVE and row.seat is not None:
                marks = game.touched(before.state, row.seat, game.parse(before.state, row.seat, row.text))
            after = positions[at + 1]
            yield game, game.view(after.state, number % 2 or None, after.outcome), marks


@pytest.mark.parametrize("kind", sorted(games.games()))
def test_a_picture_of_pieces_looks_like_one_drawn_as_a_whole(kind: str) -> None:
    for game, view, marks in views(kind):
        layers = game.picture(view, (), "ground"), game.picture(view, marks, "pieces")
        quick, whole = raster.board(*layers, WIDTH), raster.whole(*layers, WIDTH)
        assert opened(quick).size == opened(whole).size
        assert len(opened(quick).getcolors() or ()) <= 128
        assert apart(quick, whole) < 7
        assert len(quick) < 1.4 * len(whole)
        bare = raster.board(layers[0], drawing(""), WIDTH)
        assert apart(bare, whole) > 20, "pieces make so much of a difference"


def test_a_picture_does_not_depend_on_what_was_drawn_before() -> None:
    (game, view, marks), *others = views("glory")
    layers = game.picture(view, (), "ground"), game.picture(view, marks, "pieces")
    first = raster.board(*layers, WIDTH)
    raster._sprites.clear()
    for kept in (raster._baked, raster._baked_once):
        kept.cache_clear()
    for game, view, marks in others:
        raster.board(game.picture(view, (), "ground"), game.picture(view, marks, "pieces"), WIDTH)
    assert raster.board(*layers, WIDTH) == first


def test_large_pieces_that_never_come_again_take_no_more_room_than_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Chest(2_000_000)
    monkeypatch.setattr(raster, "_sprites", kept)
    for number in range(20):
        raster.board(GROUND, drawing(f'<circle cx="30" cy="20" r="15" fill="#0000{number:02}"/>'), WIDTH)
        raster.board(GROUND, drawing(DOT.format(n=0, x=30, y=20).replace("c00", f"c{number:02}")), WIDTH)
    assert kept._bytes <= 2_000_000
    assert 0 < sum(weight for _made, weight in kept._kept.values()) == kept._bytes
    held = [sprite for sprite, _weight in kept._kept.values()]
    assert sum(raster._weight(sprite) for sprite in held) <= kept._bytes


def test_a_ground_is_kept_once_for_all_languages() -> None:
    game, view, _ = next(views("clans"))
    raster._baked_once.cache_clear()
    for code in languages.LANGUAGES:
        with speaking(languages.translations(code)):
            raster.board(game.picture(view, (), "ground"), game.picture(view, (), "pieces"), 200)
    assert raster._baked_once.cache_info().currsize == 1


def test_a_piece_is_the_same_wherever_it_stands_and_whatever_it_is_called() -> None:
    body = "".join(DOT.format(n=n, x=x, y=y) for n, (x, y) in enumerate(((10, 10), (30, 20.5), (50, -3))))
    parts = sprites.take_apart(drawing(f'<g class="pieces" aria-hidden="true">{body}</g>'))
    pieces = [sprites.piece(text) for text in parts.pieces]
    assert [(piece.x, piece.y, piece.placed) for piece in pieces] == [(10, 10, True), (30, 20.5, True), (50, -3, True)]
    assert len({piece.text for piece in pieces}) == 1


def test_what_stands_between_pieces_keeps_its_place_and_its_turn() -> None:
    body = f'<path d="M1 1"/><g>{DOT.format(n=1, x=1, y=2)}<text>a</text><g fill="red"><path d="M2 2"/></g></g><rect/>'
    parts = sprites.take_apart(drawing(body))
    assert [text[:6] for text in parts.pieces] == ["<path ", "<g cla", "<text>", "<g fil", "<rect/"]
    assert [sprites.piece(text).placed for text in parts.pieces] == [False, True, False, False, False]


def test_a_group_that_colours_its_pieces_is_one_piece() -> None:
    body = f'<g fill="#00f">{DOT.format(n=1, x=9, y=9)}</g>'
    assert sprites.take_apart(drawing(body)).pieces == [body]


def test_a_piece_is_drawn_with_what_it_refers_to_and_no_more() -> None:
    defined = (
        '<g id="a"><use href="#b"/></g><pattern id="b"><rect fill="url(#c)"/></pattern><path id="c"/><path id="d"/>'
    )
    parts = sprites.take_apart(drawing('<g transform="translate(1 1)"><use href="#a"/></g>', defined))
    shown = sprites.drawing(parts.paper, sprites.piece(parts.pieces[0]).text, (0, 0, 1, 1))
    assert re.findall('id="(.)"', shown) == ["a", "b", "c"]


OTHERS = {
    "no pieces": '<circle cx="20" cy="20" r="9" fill="#c00"/><text x="9" y="30">A1</text>',
    "a mask": f'<mask id="m"><g transform="translate(9 9)"><rect width="20" height="20" fill="#fff"/></g></mask>'
    f'<g mask="url(#m)">{DOT.format(n=1, x=20, y=20)}</g>',
    "nothing": "",
    "turned": '<g transform="rotate(20)"><g transform="translate(20 5) scale(2)"><rect width="9" height="4"/></g></g>',
    "moved and turned": '<g transform="translate(30 20) rotate(45)"><rect width="9" height="9" fill="#080"/></g>',
    "beyond the edges": "".join(DOT.format(n=n, x=x, y=y) for n, (x, y) in enumerate(((0, 9), (60, 40), (-90, 0)))),
    "larger than the board": '<g transform="translate(30 20)"><circle r="90" fill="none" stroke="#a0a" '
    'stroke-width="150"/></g>',
    "an empty group": f'<g id="e"/>{DOT.format(n=1, x=20, y=20)}<g></g>',
}


@pytest.mark.parametrize("body", OTHERS.values(), ids=OTHERS)
def test_any_drawing_whatever_is_drawn(body: str) -> None:
    quick, whole = (draw(GROUND, drawing(body), 240) for draw in (raster.board, raster.whole))
    assert opened(quick).size == opened(whole).size == (240, 160)
    assert apart(quick, whole) < 6


def test_what_is_no_drawing_is_refused_as_ever() -> None:
    body = '<g transform="translate(9 9)"><path href="file:///etc/passwd"/></g>'
    with pytest.raises(raster.RasterError, match="own parts"):
        raster.board(GROUND, drawing(body), 240)

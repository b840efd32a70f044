"""What of a match can be taken away: its record and its picture."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from engine import record
from engine.base import View
from engine.language import gettext as _
from server import archive, raster, signs, story, throttle
from server.api.callers import Caller
from server.api.rooms import File, Room
from server.api.seen import Look, played_by, visible
from server.api.shapes import Body, Number
from server.errors import Refused
from server.http.origins import source

room = Room("files", "What of a match can be taken away: its record, its picture.")


class Drawn(Body, frozen=True):
    """Which picture is asked for."""

    seq: Annotated[Number | None, msgspec.Meta(description="After which row; the last without it.")] = None


class Sized(Drawn, frozen=True):
    """Which picture is asked for, and how wide."""

    width: Annotated[Literal[320, 640, 960, 1280], msgspec.Meta(description="In pixels.")] = 640


@room.get("/matches/<int:match_id>/record.json", public=True, refuses=("damaged",))
def as_record(caller: Caller, match_id: int) -> File:
    """Get the record of a finished match."""
    match = visible(caller, match_id)
    return File(record.dump(archive.export(match)).encode(), archive.file_name(match, ".json"))


@room.get("/matches/<int:match_id>/record.txt", public=True, kind="text/plain; charset=utf-8", refuses=("damaged",))
def as_text(caller: Caller, match_id: int) -> File:
    """Get a finished match as a text to read."""
    match = visible(caller, match_id)
    return File(archive.told(match).encode(), archive.file_name(match, ".txt"))


@room.get("/matches/<int:match_id>/picture.svg", public=True, kind="image/svg+xml", refuses=("damaged", "not-running"))
def drawing(caller: Caller, match_id: int, query: Drawn) -> File:
    """Get the board as a drawing that stands by itself, as whoever asks may see it."""
    look = played_by(caller, match_id)
    view, marks = _then(look, query.seq)
    game = look.played.game
    return File(signs.lettered(game.picture(view, marks), game.kind).encode())


@room.get("/matches/<int:match_id>/picture.png", public=True, kind="image/png", refuses=("damaged", "not-running"))
def picture(caller: Caller, match_id: int, query: Sized) -> File:
    """Get the board as a picture, as whoever asks may see it."""
    look = played_by(caller, match_id)
    view, marks = _then(look, query.seq)
    throttle.count("poster from", source(), caller.now)
    draw = look.played.game.picture
    return File(raster.board(draw(view, (), "ground"), draw(view, marks, "pieces"), query.width))


def _then(look: Look, seq: int | None) -> tuple[View, tuple[str, ...]]:
    """Return the view after a row, and the places that it touched. Raises `Refused` (not-found)."""
    at = look.played.position.seq if seq is None else seq
    step = story.step(look.played, look.called, look.seat, at)
    if step is None:
        raise Refused("not-found", _("The match has no such step."))
    return step.view, step.line.touched if step.line else ()

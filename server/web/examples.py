"""The pictures of the rules: each game's examples, drawn as it draws its board."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import flask

from engine import games
from engine.base import Example
from engine.cutout import cut
from engine.language import gettext as _
from engine.selfplay import NAMES
from server import languages
from server.errors import Refused
from server.signs import lettered

pages = flask.Blueprint("examples", __name__)
LETTERED: Final = 100
"""Pictures narrower than this show no sign that could be read."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An example as a page shows it: its address, its size in the units of the drawing, and what is said of it."""

    address: str
    width: float
    height: float
    caption: str
    alt: str


@pages.get("/rules/<kind>/<key>.svg")
def show(kind: str, key: str) -> Any:
    """Send one picture; under an address that holds the hash of its content it may be kept for long."""
    spoken = languages.current()
    response = flask.Response(_drawing(kind, key, spoken), mimetype="image/svg+xml")
    if flask.request.args.get("v") == _version(kind, key, spoken):
        response.headers["Cache-Control"] = "public, max-age=2592000, immutable"
    response.add_etag()
    return response.make_conditional(flask.request)


@pages.app_template_global("example")
def picture(kind: str, key: str) -> Picture:
    """Return an example of a game as a page shows it. Raises `Refused` (not-found) if there is none."""
    found = _example(kind, key)
    address = flask.url_for("examples.show", kind=kind, key=key, v=_version(kind, key, languages.current()))
    width, height = found.box[2:]
    return Picture(address, width, height, found.caption.read(NAMES), found.alt.read(NAMES))


def _example(kind: str, key: str) -> Example:
    found = games.games()[kind].examples() if kind in games.games() else ()
    for example in found:
        if example.key == key:
            return example
    raise Refused("not-found", _("There is no such picture."))


@cache
def _drawing(kind: str, key: str, _language: str) -> str:
    example = _example(kind, key)
    drawing = cut(games.game(kind).picture(example.view, example.marks), example.box)
    return lettered(drawing, kind) if example.box[2] >= LETTERED else drawing


@cache
def _version(kind: str, key: str, language: str) -> str:
    return hashlib.sha256(_drawing(kind, key, language).encode()).hexdigest()[:10]

"""The pictures of the rules: each game's examples, drawn as it draws its board."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import flask

from engine import games
from engine.base import Example
from engine.cutout import cut
from engine.selfplay import NAMES
from server.errors import Refused

pages = flask.Blueprint("examples", __name__)


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
    response = flask.Response(_drawing(kind, key), mimetype="image/svg+xml")
    if flask.request.args.get("v") == _version(kind, key):
        response.headers["Cache-Control"] = "public, max-age=2592000, immutable"
    response.add_etag()
    return response.make_conditional(flask.request)


@pages.app_template_global("example")
def picture(kind: str, key: str) -> Picture:
    """Return an example of a game as a page shows it. Raises `Refused` (not-found) if there is none."""
    found = _example(kind, key)
    address = flask.url_for("examples.show", kind=kind, key=key, v=_version(kind, key))
    _, _, width, height = found.box
    return Picture(address, width, height, found.caption.read(NAMES), found.alt.read(NAMES))


def _example(kind: str, key: str) -> Example:
    found = games.games()[kind].examples() if kind in games.games() else ()
    for example in found:
        if example.key == key:
            return example
    raise Refused("not-found", "There is no such picture.")


@cache
def _drawing(kind: str, key: str) -> str:
    example = _example(kind, key)
    return cut(games.game(kind).picture(example.view, example.marks), example.box)


@cache
def _version(kind: str, key: str) -> str:
    return hashlib.sha256(_drawing(kind, key).encode()).hexdigest()[:10]

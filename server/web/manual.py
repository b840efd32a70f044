"""The page for programs: all that may be asked of the API, made of the document that programs read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Final

import flask
from markupsafe import Markup, escape

from server import manual
from server.settings import Settings

pages = flask.Blueprint("manual", __name__)

_CODE: Final = re.compile("`([^`]+)`")


@pages.get("/api/v1/")
def show() -> str:
    """Show what the API can do."""
    settings: Settings = flask.current_app.config["SETTINGS"]
    return flask.render_template("manual.html", manual=_read(flask.current_app.config["DOCUMENT"], settings.public_url))


@cache
def _read(written: Callable[[], bytes], site: str) -> manual.Manual:
    """Return the document as the page shows it; it is what it is as long as the process lasts."""
    document = json.loads(written())
    return manual.read(document, site + document["servers"][0]["url"])


@pages.app_template_filter("marked")
def marked(text: str) -> Markup:
    """Return a text in which what stands between backquotes is code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before

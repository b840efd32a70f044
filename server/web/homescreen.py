"""What makes the site installable: the manifest, and a worker that shows one page while nothing can be loaded.

The worker keeps that page and its style sheet and no other: no page of a match, nothing of a person. Its address names
the language and the edition of the page, so a reader who changes the language, or a new release, brings another worker,
which replaces it as soon as no page of the site is open. When its address is answered with 404 it goes, with what it
kept.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, Final

import flask

from engine.language import gettext as _
from server import languages
from server.errors import Refused
from server.web import addresses, files

pages = flask.Blueprint("homescreen", __name__)

PAPERS: Final = {"light": "#fbf6ea", "dark": "#26211b"}
"""The ground of the head of every page by day and by night, `--paper` in tokens.css."""
ICONS: Final = (("192", "192x192", "any"), ("512", "512x512", "any"), ("maskable", "512x512", "maskable"))


@pages.get("/manifest/<code>.webmanifest")
def manifest(code: str) -> Any:
    """Say in a language how the site is installed. Browsers ask for it without cookies, so the address names it."""
    with languages.speaking(_known(code)):
        response = flask.jsonify(
            {
                "id": "/",
                "start_url": "/",
                "scope": "/",
                "name": "Clachan",
                "short_name": "Clachan",
                "description": _("Board games with a day to think, and a letter when it is your turn"),
                "lang": code,
                "dir": "ltr",
                "display": "standalone",
                "theme_color": PAPERS["light"],
                "background_color": PAPERS["light"],
                "categories": ["games"],
                "icons": [_icon(name, sizes, purpose) for name, sizes, purpose in ICONS],
                "shortcuts": [
                    {"name": _("Tables"), "url": flask.url_for("tables.index")},
                    {"name": _("Rules"), "url": flask.url_for("front.all_rules")},
                ],
            }
        )
    response.mimetype = "application/manifest+json"
    response.add_etag()
    return response.make_conditional(flask.request)


def _icon(name: str, sizes: str, purpose: str) -> dict[str, str]:
    address = flask.url_for("static", filename=f"icons/{name}.png")
    return {"src": address, "sizes": sizes, "type": "image/png", "purpose": purpose}


@pages.get("/worker.js")
def worker() -> Any:
    """Send the worker, from the root, because a worker serves the addresses beneath its own."""
    return flask.send_from_directory(files.FOLDER, "worker.js")


@pages.get("/offline/<code>")
def offline(code: str) -> str:
    """Show the page that the worker keeps."""
    return kept(_known(code))


@pages.app_context_processor
def papers() -> dict[str, Any]:
    """Give the colours to the heads of pages, where browsers look for those of their own frame."""
    return {"papers": PAPERS}


@pages.app_template_global("worker_address")
def address() -> str:
    """Return the address of the worker for the language spoken just now."""
    code = languages.current()
    return addresses.address("homescreen.worker", language=code, v=_edition(code))


@cache
def _edition(code: str) -> str:
    return hashlib.sha256(kept(code).encode()).hexdigest()[:10]


@cache
def kept(code: str) -> str:
    """Return the page that says in a language that there is no connection."""
    with languages.speaking(code):
        return flask.render_template("offline.html", code=code)


def _known(code: str) -> str:
    if code not in languages.LANGUAGES:
        raise Refused("not-found", _("There is no such page."))
    return code

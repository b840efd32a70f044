"""Posters for whoever is sent a link to this site; `templates/share.html` names them on the pages.

Only what a stranger may see has one. That of a match is of one row, which never changes, so it may be kept for long.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import flask

from engine import games
from engine.language import gettext as _
from server import clock, languages, lobby, log, posters, story, throttle
from server.errors import Refused
from server.http.origins import source
from server.posters import Poster
from server.settings import Settings
from server.web import files

pages = flask.Blueprint("share", __name__)

LIFE: Final = 7 * 86400
"""For how many seconds a poster may be kept; then a name on it that has changed since is asked for anew."""


@pages.get("/matches/<int:match_id>/share/<int:seq>.png")
def match(match_id: int, seq: int) -> Any:
    """Send the poster of a match after one of its rows."""
    found = log.get(match_id)
    if not lobby.may_see(found, None) or found.status not in {"running", "finished"}:
        raise Refused("not-found", _("There is no such picture."))
    with languages.speaking("en"):
        played = log.read(found)
        poster = posters.of_match(played, story.names(log.places(found)), seq)
    return _sent(poster)


@pages.get("/share/<kind>.png")
def game(kind: str) -> Any:
    """Send the poster of a game."""
    found = games.games().get(kind)
    with languages.speaking("en"):
        poster = posters.of_game(found, _cover(kind)) if found and _cover(kind) else None
    return _sent(poster)


@pages.get("/share.png")
def house() -> Any:
    """Send the poster of the house."""
    cover = next((cover for kind in games.games() if (cover := _cover(kind))), "")
    with languages.speaking("en"):
        poster = posters.of_house(cover, [game.title for game in games.games().values()]) if cover else None
    return _sent(poster)


def _sent(poster: Poster | None) -> Any:
    if poster is None:
        raise Refused("not-found", _("There is no such picture."))
    response = flask.Response(mimetype="image/png")
    response.set_etag(poster.digest)
    if poster.digest not in flask.request.if_none_match:
        throttle.count("poster from", source(), clock.now())
        response.set_data(poster.png())
    response.headers["Cache-Control"] = f"public, max-age={LIFE}"
    # Pages of other sites show it beside the link.
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response.make_conditional(flask.request)


@cache
def _cover(kind: str) -> str:
    file = files.FOLDER / "games" / kind / "cover.svg"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


@pages.app_context_processor
def site() -> dict[str, str]:
    """Give templates the address of the site, for what is read elsewhere."""
    settings: Settings = flask.current_app.config["SETTINGS"]
    return {"site": settings.public_url}

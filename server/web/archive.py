"""Pages of the archive: finished matches for ever."""

from __future__ import annotations

from typing import Any

import flask

from engine import games, record
from server import archive, log
from server.web.guard import day

pages = flask.Blueprint("archive", __name__)


@pages.get("/archive")
def index() -> str:
    """List finished matches by game, player and date."""
    asked = {name: flask.request.args.get(name, "").strip() for name in ("game", "player", "since", "until", "after")}
    page = archive.find(
        game=asked["game"],
        player=asked["player"],
        since=day(asked["since"]) if asked["since"] else None,
        until=day(asked["until"]) if asked["until"] else None,
        after=asked["after"],
    )
    rows = [(match, archive.result(log.places(match))) for match in page.matches]
    return flask.render_template("archive.html", rows=rows, more=page.more, asked=asked, games=games.games())


@pages.get("/matches/<int:match_id>/record.json")
def download(match_id: int) -> Any:
    """Send the record of a finished match."""
    match = log.get(match_id)
    text = record.dump(archive.export(match))
    name = f"{match.game}-{match.id}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return flask.Response(text, mimetype="application/json", headers=headers)

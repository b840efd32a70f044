"""Playing without an account: a match against a bot in one click, and how a visitor becomes a person."""

from __future__ import annotations

from typing import Any

import flask
import flask_login

from server import accounts, clock, languages, presence, visitors
from server.http.origins import source
from server.web import cookies, live
from server.web.account import IDENTITY, applied, enter, me, viewer
from server.web.guard import again, field, filled

pages = flask.Blueprint("visit", __name__)
pages.add_app_template_test(visitors.is_named, "named_visitor")


@pages.before_app_request
def stay() -> None:
    """Keep a visitor for longer, whatever he looks at, and note who is here."""
    if IDENTITY in flask.session and _is_visit():
        user = viewer()
        if user is not None:
            visitors.stay(user, clock.now())
            presence.note(user, clock.now())


def _is_visit() -> bool:
    """Whether somebody asks, and no program by itself; an open page says so when it is in sight."""
    if flask.request.blueprint == live.pages.name:
        return live.SEEN in flask.request.args
    return not cookies.is_quiet()


@pages.post("/try/<kind>")
def play(kind: str) -> Any:
    """Begin a match against a bot, or go back to it; a stranger becomes a visitor."""
    stranger = viewer() is None
    user, match = visitors.try_game(
        kind,
        by=viewer(),
        # Of a second click on the same page it is the same; nobody else knows it.
        key=flask.session["csrf_token"],
        source=source(),
        now=clock.now(),
        guided=bool(field("guided")),
        language=languages.current(),
        zone=field("zone"),
    )
    if stranger:
        enter(user)
    return flask.redirect(flask.url_for("match.show", match_id=match.id))


@pages.get("/keep")
@flask_login.login_required
def keep() -> Any:
    """Show a visitor the form that makes him a person, and whether a letter is on its way already."""
    user = me()
    if not user.visiting:
        return flask.redirect(flask.url_for("account.settings"))
    named = visitors.is_named(user)
    given = filled("visit.keep_post", zone=user.zone, name=user.name if named else "")
    return flask.render_template("visit/keep.html", zones=accounts.zones(), given=given, named=named)


@pages.post("/keep")
@flask_login.login_required
@again("visit.keep")
def keep_post() -> Any:
    """Give a visitor a name and send the letter; the answer is the same for an address that has an account."""
    if not me().visiting:
        return flask.redirect(flask.url_for("account.settings"))
    enter(visitors.keep(me(), **applied()))
    return flask.redirect(flask.url_for(".keep"))

"""Pages of the lobby: tables that wait for players."""

from __future__ import annotations

from typing import Any

import flask
import flask_login

from engine import games
from server import clock, lobby
from server.errors import Refused
from server.web.account import me
from server.web.guard import field, number
from server.web.present import table_cards, table_page

pages = flask.Blueprint("tables", __name__)


@pages.get("/tables")
def index() -> str:
    """List the tables that anybody may join."""
    return flask.render_template("tables/index.html", tables=table_cards(lobby.open_tables()))


@pages.get("/tables/new")
@flask_login.login_required
def new() -> str:
    """Show the form that opens a table."""
    return flask.render_template("tables/new.html", games=games.games(), paces=lobby.PACES)


@pages.post("/tables/new")
@flask_login.login_required
def new_post() -> Any:
    """Open a table."""
    kind = field("game")
    names = [option.name for option in games.games()[kind].options] if kind in games.games() else []
    terms = lobby.Terms(
        game=kind,
        seats=number(field("seats")),
        pace=number(field("pace")),
        options={name: field(f"option-{kind}-{name}") for name in names if field(f"option-{kind}-{name}")},
        seating=field("seating", "random"),
        autostart=field("start", "full") == "full",
        invited_only=field("entry", "open") == "invited",
    )
    match = lobby.open_table(me(), terms, clock.now())
    return flask.redirect(flask.url_for("match.show", match_id=match.id))


@pages.get("/invite/<token>")
def invited(token: str) -> str:
    """Show the table an invitation is for, with a button."""
    match = lobby.invited_to(token, clock.now())
    flask.session["target"] = flask.request.path
    user = flask_login.current_user
    facts = table_page(match, user.user if user.is_authenticated else None)
    return flask.render_template("tables/show.html", **facts, invitation=token)


@pages.post("/matches/<int:match_id>/join")
@flask_login.login_required
def join(match_id: int) -> Any:
    """Take a seat."""
    lobby.join(match_id, me(), now=clock.now(), contribution=field("contribution"), invitation=field("invitation"))
    return _back(match_id)


@pages.post("/matches/<int:match_id>/leave")
@flask_login.login_required
def leave(match_id: int) -> Any:
    """Give the seat up."""
    match = lobby.leave(match_id, me())
    flask.flash("The table is closed." if match.status == "cancelled" else "You have left the table.")
    return flask.redirect(flask.url_for(".index"))


@pages.post("/matches/<int:match_id>/start")
@flask_login.login_required
def start(match_id: int) -> Any:
    """Start with whoever sits there."""
    lobby.start(match_id, me(), clock.now())
    return _back(match_id)


@pages.post("/matches/<int:match_id>/invite")
@flask_login.login_required
def invite(match_id: int) -> Any:
    """Mail an invitation, or make a link to hand on."""
    now = clock.now()
    if field("email"):
        flask.flash(f"An invitation is on its way to {lobby.invite(match_id, me(), field('email'), now)}.")
    elif "email" in flask.request.form:
        raise Refused("bad-input", "Write the mail address of the person you invite.")
    else:
        site = flask.current_app.config["SETTINGS"].public_url
        flask.flash(f"{site}{flask.url_for('.invited', token=lobby.invitation(match_id, me(), now))}", "link")
    return _back(match_id)


def _back(match_id: int) -> Any:
    return flask.redirect(flask.url_for("match.show", match_id=match_id))

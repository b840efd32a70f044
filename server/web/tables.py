"""Pages of the lobby: tables that wait for players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import flask
import flask_login

from engine import games
from engine.language import gettext as _
from engine.language import later
from engine.timerule import DAY, HOUR, length
from server import accounts, clock, lobby
from server.errors import Refused
from server.web.account import account_required, me, viewer
from server.web.guard import again, field, filled, number
from server.web.present import free_cards, table_cards, table_page

pages = flask.Blueprint("tables", __name__)

# What the form offers, in hours; a table may have other lengths too.
OFFERED: Final[Mapping[str, Sequence[int]]] = {
    "move": (1, 2, 4, 8, 12, *(24 * days for days in (1, 2, 3, 4, 5, 7, 10, 14, 21, 30))),
    "bank": (6, 12, *(24 * days for days in (1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 90))),
    "increment": (0, 1, 2, 4, 8, 12, *(24 * days for days in (1, 2, 3))),
    "cap": (0, 12, *(24 * days for days in (1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 90))),
}
NONE: Final = {"increment": later("nothing"), "cap": later("no limit")}


@pages.get("/tables")
def index() -> str:
    """List the tables that anybody may join, and the running matches with a free seat."""
    return flask.render_template(
        "tables/index.html", tables=table_cards(lobby.open_tables()), running=free_cards(viewer(), clock.now())
    )


# Fields of the form that the page hides where they do not matter.
HIDDEN = ("move", "bank", "increment", "cap", "zone", "vacations", "missing", "misses")


def usual_rule() -> dict[str, Any]:
    """Return how the fields of the time rule, and of what goes with it, are filled in at first."""
    return {
        "limit": "move",
        "move": 3 * DAY,
        "bank": 7 * DAY,
        "increment": 0,
        "cap": 0,
        "zone": me().zone,
        "vacations": "yes",
        "missing": "bot",
        "misses": 2,
        "takeback": "yes",
        "rated": "yes",
    }


@pages.get("/tables/new")
@account_required
def new() -> str:
    """Show the form that opens a table."""
    usual = {
        "seats": 3,
        **usual_rule(),
    }
    return flask.render_template(
        "tables/new.html",
        games=games.games(),
        zones=accounts.zones(),
        lengths=lengths(),
        given=filled("tables.new_post", HIDDEN, **usual),
    )


@pages.post("/tables/new")
@account_required
@again("tables.new")
def new_post() -> Any:
    """Open a table."""
    kind = field("game")
    names = [option.name for option in games.games()[kind].options] if kind in games.games() else []
    terms = lobby.Terms(
        game=kind,
        seats=number(field("seats")),
        clock=time_rule(),
        options={name: field(f"option-{kind}-{name}") for name in names if field(f"option-{kind}-{name}")},
        seating=field("seating", "random"),
        autostart=field("start", "full") == "full",
        invited_only=field("entry", "open") == "invited",
        rated=field("rated", "yes") == "yes",
    )
    match = lobby.open_table(me(), terms, clock.now())
    return flask.redirect(flask.url_for("match.show", match_id=match.id))


def lengths() -> dict[str, list[tuple[int, str]]]:
    """Return what the form offers for each length of time, in seconds and in words."""
    return {
        name: [(hours * HOUR, length(hours * HOUR) or _(NONE[name])) for hours in OFFERED[name]] for name in OFFERED
    }


def time_rule() -> dict[str, Any]:
    """Return the time rule as the form has it, without the fields that do not matter to the kind of limit chosen.

    What does not fit together `lobby` refuses.
    """
    limit, missing = field("limit", "move"), field("missing", "bot")
    rule: dict[str, Any] = {"takeback": bool(field("takeback"))}
    if limit == "none":
        return rule
    rule |= {name: bool(field(name)) for name in ("weekend", "nights")}
    rule |= {"vacations": field("vacations", "yes") == "yes", "missing": missing}
    if limit != "bank":
        rule["move"] = number(field("move"))
    if limit != "move":
        rule |= {name: number(field(name, "0")) for name in ("bank", "increment", "cap")}
    if missing == "bot":
        rule["misses"] = number(field("misses", "2"))
    if field("daily"):
        rule["daily"] = f"{field('daily')} {field('zone', me().zone)}"
    return rule


@pages.get("/invite/<token>")
def invited(token: str) -> str:
    """Show the table an invitation is for, with a button."""
    match = lobby.invited_to(token, clock.now())
    flask.session["target"] = flask.request.path
    facts = table_page(match, viewer())
    return flask.render_template("tables/show.html", **facts, invitation=token, given={})


@pages.post("/matches/<int:match_id>/join")
@flask_login.login_required
@again("match.show")
def join(match_id: int) -> Any:
    """Take a seat."""
    lobby.join(match_id, me(), now=clock.now(), contribution=field("contribution"), invitation=field("invitation"))
    return _back(match_id)


@pages.post("/matches/<int:match_id>/leave")
@flask_login.login_required
@again("match.show")
def leave(match_id: int) -> Any:
    """Give the seat up."""
    match = lobby.leave(match_id, me())
    flask.flash(_("The table is closed.") if match.status == "cancelled" else _("You have left the table."))
    return flask.redirect(flask.url_for(".index"))


@pages.post("/matches/<int:match_id>/start")
@flask_login.login_required
@again("match.show")
def start(match_id: int) -> Any:
    """Start with whoever sits there."""
    lobby.start(match_id, me(), clock.now())
    return _back(match_id)


@pages.post("/matches/<int:match_id>/bots")
@flask_login.login_required
@again("match.show")
def fill(match_id: int) -> Any:
    """Let bots take one free seat, or all."""
    count = 1 if field("count") == "one" else None
    match = lobby.fill(match_id, me(), field("strength"), clock.now(), count)
    if match.status == "open":
        flask.flash(_("A bot has taken a seat.") if count else _("Bots have taken the free seats."))
    return _back(match_id)


@pages.post("/matches/<int:match_id>/invite")
@flask_login.login_required
@again("match.show")
def invite(match_id: int) -> Any:
    """Mail an invitation, or make a link to hand on."""
    now = clock.now()
    if field("email"):
        address = lobby.invite(match_id, me(), field("email"), now)
        flask.flash(_("An invitation is on its way to {address}.").format(address=address))
    elif "email" in flask.request.form:
        raise Refused("bad-input", _("Write the mail address of the person you invite."))
    else:
        site = flask.current_app.config["SETTINGS"].public_url
        flask.flash(f"{site}{flask.url_for('.invited', token=lobby.invitation(match_id, me(), now))}", "link")
    return _back(match_id)


def _back(match_id: int) -> Any:
    return flask.redirect(flask.url_for("match.show", match_id=match_id))

"""How a person has himself told of his matches: letters about one match, feeds, a program of his that is called."""

from __future__ import annotations

from typing import Any

import flask

from engine.language import gettext as _
from server import clock, feeds, hooks, preferences, ways
from server.web.account import account_required, me
from server.web.guard import again, field
from server.web.match import visible

pages = flask.Blueprint("telling", __name__)

# What a page shows once, in a field to copy: see the macro `flashes`.
COPY = "copy"


def told(place: str, sentence: str, kind: str = "message") -> Any:
    """Lead back to a section of the settings page, to be told there what has been done, or given a secret to copy."""
    flask.flash(sentence, f"{kind} {place}")
    return flask.redirect(flask.url_for("account.settings", _anchor=f"{place}-told"))


@pages.post("/matches/<int:match_id>/letters")
@account_required
@again("match.show")
def letters(match_id: int) -> Any:
    """Store how the person is told of his turns in the match."""
    match, user = visible(match_id)[0], me()
    preferences.choose(match, user, field("turn_mail"), clock.now())
    if user.other_ways:
        ways.silence(match, user, bool(field("silent")))
    flask.flash(_("Your choice is stored."))
    return flask.redirect(flask.url_for("match.show", match_id=match_id))


@pages.post("/settings/feeds")
@account_required
@again("account.settings", "feeds")
def feed() -> Any:
    """Make a feed's address, in place of one there may be, or take it away."""
    kind = field("kind")
    if field("end"):
        feeds.revoke(me(), kind)
        return told("feeds", _("The address is taken away; nothing can be read there any more."))
    token = feeds.make(me(), kind, clock.now())
    path = flask.url_for(f"feeds.{kind}", token=token)
    return told("feeds", flask.current_app.config["SETTINGS"].public_url + path, COPY)


@pages.post("/settings/webhook")
@account_required
@again("account.settings", "webhook")
def webhook() -> Any:
    """Store the address of the person's program and show the secret of its signatures, or take it away."""
    if field("end"):
        hooks.remove(me(), clock.now())
        return told("webhook", _("Your program is not called any more."))
    secret = hooks.give(me(), field("url").strip(), flask.current_app.config["SETTINGS"], clock.now())
    return told("webhook", secret, COPY)

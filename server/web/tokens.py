"""Tokens by which a person's programs act for him, made and taken away on his settings page."""

from __future__ import annotations

from typing import Any

import flask

from engine.language import gettext as _
from server import clock, tokens
from server.web.account import account_required, me
from server.web.guard import again, field, number
from server.web.telling import COPY

pages = flask.Blueprint("tokens", __name__, url_prefix="/settings/tokens")


@pages.post("")
@account_required
@again("account.settings")
def make() -> Any:
    """Make a token, and show it once."""
    chosen = [scope for scope in tokens.SCOPES if field(scope)]
    days = number(field("days")) if field("days") else None
    flask.flash(tokens.make(me(), field("label"), chosen, clock.now(), days=days), COPY)
    return flask.redirect(flask.url_for("account.settings", _anchor="tokens"))


@pages.post("/<int:which>/away")
@account_required
@again("account.settings")
def revoke(which: int) -> Any:
    """Take a token away."""
    tokens.revoke(me(), which)
    flask.flash(_("The token is taken away; nothing can be done with it any more."))
    return flask.redirect(flask.url_for("account.settings", _anchor="tokens"))

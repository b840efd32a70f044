"""Tokens by which a person's programs act for him, made and taken away on his settings page."""

from __future__ import annotations

from typing import Any

import flask

from engine.language import gettext as _
from server import clock, tokens
from server.web.account import account_required, me
from server.web.guard import again, field, number
from server.web.telling import COPY, told

pages = flask.Blueprint("tokens", __name__, url_prefix="/settings/tokens")


@pages.post("")
@account_required
@again("account.settings", "tokens")
def make() -> Any:
    """Make a token, and show it once."""
    chosen = [scope for scope in tokens.SCOPES if field(scope)]
    days = number(field("days")) if field("days") else None
    return told("tokens", tokens.make(me(), field("label"), chosen, clock.now(), days=days), COPY)


@pages.post("/<int:which>/away")
@account_required
@again("account.settings", "tokens")
def revoke(which: int) -> Any:
    """Take a token away."""
    tokens.revoke(me(), which)
    return told("tokens", _("The token is taken away; nothing can be done with it any more."))

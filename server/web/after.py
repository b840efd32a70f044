"""What a person does beside and after a match: private notes, a rematch."""

from __future__ import annotations

from typing import Any

import flask
import flask_login

from engine.language import gettext as _
from server import clock, notes, rematch
from server.web.account import me
from server.web.guard import field, form_of
from server.web.match import visible

pages = flask.Blueprint("after", __name__, url_prefix="/matches/<int:match_id>")


@pages.before_request
@flask_login.login_required
def signed_in() -> None:
    """Let only signed-in people in."""


@pages.post("/note")
@form_of("match.show")
def note(match_id: int) -> Any:
    """Keep a private note."""
    notes.write(visible(match_id)[0], me(), field("text"), clock.now())
    flask.flash(_("Your note is kept.") if field("text").strip() else _("Your note is gone."))
    return flask.redirect(flask.url_for("match.show", match_id=match_id, _anchor="note"))


@pages.post("/rematch")
@form_of("match.show")
def another(match_id: int) -> Any:
    """Ask for a rematch, or agree to it, and go to its table."""
    visible(match_id)
    table = rematch.ask(match_id, me(), now=clock.now())
    flask.flash(_("The others are told.") if table.status == "open" else _("The match has begun."))
    return flask.redirect(flask.url_for("match.show", match_id=table.id))

"""The guide of a first match: left and taken up again."""

from __future__ import annotations

from typing import Any

import flask
import flask_login

from server import guide
from server.web.account import me
from server.web.guard import field, form_of
from server.web.match import visible

pages = flask.Blueprint("guide", __name__, url_prefix="/matches/<int:match_id>")
pages.add_app_template_global(guide.exists, "has_guide")


@pages.post("/guide")
@flask_login.login_required
@form_of("match.show")
def switch(match_id: int) -> Any:
    """Show the guide with `show=yes`, or no longer."""
    guide.switch(visible(match_id)[0], me(), field("show") == "yes")
    return flask.redirect(flask.url_for("match.show", match_id=match_id, _anchor="guide"))

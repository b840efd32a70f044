"""The cookie of a session: who is signed in by it, and which answers send it anew.

A browser keeps the cookie of the answer that comes last, whenever its request was made. So an answer sends it only if
its own request changed something, a page once a day besides, and what open pages ask for by themselves never does.
"""

from __future__ import annotations

from typing import Any, Final

import flask
import flask_login
from flask.sessions import SecureCookieSessionInterface, SessionMixin

from engine.language import gettext as _
from server import clock, db, sessions
from server.errors import Refused
from server.web import guard
from server.web.account import IDENTITY, Person

RENEWED: Final = "renewed"
"""Under this name the session keeps on which day its cookie was last sent."""
QUIET_ROOMS: Final = frozenset({"feeds", "health", "homescreen", "live", "share"})
QUIET: Final = frozenset({"static", "language.words"})
"""What is asked for by open pages and by programs, and not by somebody; it sends no cookie."""


class Sessions(SecureCookieSessionInterface):
    """Sessions that only the answers to what somebody does himself send anew."""

    def save_session(self, app: flask.Flask, session: SessionMixin, response: flask.Response) -> None:
        """Send the cookie if its content has changed, and with a page if it has not been sent on this day."""
        if is_quiet() or response.cache_control.public:
            return
        signed_in = IDENTITY in session and flask_login.current_user.is_authenticated
        today = clock.now().date().isoformat()
        if signed_in and response.mimetype == "text/html" and session.get(RENEWED) != today:
            session[RENEWED] = today
        if session.modified and not signed_in and flask.g.get("ended"):
            # Sent anew it would outlive what is remembered of its end.
            session.pop(IDENTITY, None)
        super().save_session(app, session, response)


def is_quiet() -> bool:
    """Whether the request is one of an open page or a program by itself."""
    return flask.request.blueprint in QUIET_ROOMS or flask.request.endpoint in QUIET


def install(app: flask.Flask) -> None:
    """Let the application know who is signed in."""
    app.session_interface = Sessions()
    app.config.update(PERMANENT_SESSION_LIFETIME=sessions.LIFE, SESSION_REFRESH_EACH_REQUEST=False)
    manager = flask_login.LoginManager(app)
    manager.session_protection = None  # people change networks between two moves of a slow game

    @manager.user_loader
    def load(identity: str) -> Person | None:
        held = not db.database.is_closed()
        try:
            user = sessions.owner(identity)
        except (*db.Unavailable, db.Broken):
            # Whose session it is cannot be told, which is not that it is nobody's. But the page that says so must not
            # fail on the same fault, nor what needs no database.
            if held and "unavailable" not in flask.g:
                raise
            return None
        flask.g.ended = user is None
        return Person(user) if user else None

    @manager.unauthorized_handler
    def unauthorized() -> Any:
        if guard.wants_json():
            raise Refused("not-signed-in", _("Please sign in first."))
        return flask.redirect(flask.url_for("account.sign_in", next=guard.here()))

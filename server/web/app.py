"""The Flask application: sessions, guards, errors and blueprints put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flask
import flask_login
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import HTTPException

from engine.language import gettext as _
from server import clock, db, home, log, wording
from server.errors import Refused
from server.http import connecting, faults, watching
from server.models import User
from server.settings import Settings
from server.web import (
    account,
    addresses,
    admin,
    affairs,
    after,
    archive,
    continents,
    cookies,
    devices,
    examples,
    feeds,
    files,
    fragments,
    front,
    guard,
    guide,
    health,
    homescreen,
    language,
    live,
    mailbox,
    manual,
    match,
    packing,
    people,
    share,
    tables,
    telling,
    tokens,
    tournaments,
    visit,
    ways,
    whatif,
)

ROOT = Path(__file__).parent.parent.parent
LARGEST_FORM = 64 * 1024
csrf = CSRFProtect()


def build(settings: Settings) -> flask.Flask:
    """Return the application. Raises `db.PendingMigration`."""
    db.require_current()
    app = flask.Flask(__name__, template_folder=str(ROOT / "templates"), static_folder=None)
    app.config.update(
        SECRET_KEY=settings.secret_key,
        SETTINGS=settings,
        SESSION_COOKIE_NAME="clachan",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.secure,
        MAX_CONTENT_LENGTH=LARGEST_FORM,
        # A half-made move may wait in an open tab for days; the token lives as long as the session.
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=False,
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    watching.install(app)
    cookies.install(app)
    connecting.install(app, _needs_no_database)
    language.install(app)
    csrf.init_app(app)
    csrf.exempt(account.unsubscribe)
    guard.install(app)
    _errors(app)
    _words(app)
    files.install(app)
    fragments.install(app)
    addresses.install(app)
    packing.install(app)
    for module in (
        front,
        account,
        tables,
        match,
        affairs,
        after,
        archive,
        people,
        health,
        visit,
        guide,
        examples,
        language,
        live,
        whatif,
        homescreen,
        share,
        telling,
        ways,
        devices,
        tokens,
        feeds,
        tournaments,
        manual,
        admin,
    ):
        app.register_blueprint(module.pages)
    if settings.mailbox:
        app.register_blueprint(mailbox.pages)
    # Who makes an application may fork then, and each process needs connections of its own.
    db.part()
    return app


def _needs_no_database() -> bool:
    """Whether the request is for what is there while the database is not; so is the page that says there is no
    connection."""
    return flask.request.endpoint in {"static", "health.alive"} or flask.request.blueprint == "homescreen"


def _errors(app: flask.Flask) -> None:
    """Turn every fault into a page or a JSON body, here and nowhere else."""

    @app.errorhandler(Refused)
    def refused(fault: Refused) -> Any:
        return guard.refusal(fault)

    @app.errorhandler(CSRFError)
    def forged(_fault: CSRFError) -> Any:
        return guard.refusal(Refused("forged", _("This form has run out or came from elsewhere. Load the page again.")))

    @app.errorhandler(HTTPException)
    def http(fault: HTTPException) -> Any:
        if fault.code is None or fault.code < 400:
            return fault
        if fault.code == 405 and not guard.wants_json() and (page := guard.page_of_form()):
            return flask.redirect(page)
        return guard.refusal(faults.of_framework(fault))

    def unavailable(fault: Exception) -> Any:
        # The page that says so must not ask it again: it would fail on the same fault.
        flask.g.unavailable = True
        return guard.refusal(faults.of_database(fault))

    for kind in faults.OF_DATABASE:
        app.register_error_handler(kind, unavailable)

    @app.errorhandler(Exception)
    def internal(fault: Exception) -> Any:
        return guard.refusal(faults.of_ours(fault))


def _words(app: flask.Flask) -> None:
    """Give templates what every page needs."""

    @app.context_processor
    def shared() -> dict[str, Any]:
        settings: Settings = app.config["SETTINGS"]
        person = flask_login.current_user
        user: User | None = person.user if person.is_authenticated else None
        there = "unavailable" not in flask.g and not db.database.is_closed()
        return {
            "user": user,
            "waiting": home.waiting(user) if user and there else 0,
            "mailbox": settings.mailbox is not None,
            "mails": settings.mails,
            "answers": settings.answers,
            "zone": user.zone if user else "UTC",
            "now": clock.now(),
            "refused": guard.refused(),
            "refused_at": guard.refused_at(),
        }

    app.jinja_env.filters["counts"] = wording.counts
    app.jinja_env.filters["continents"] = continents.grouped
    app.jinja_env.filters["titled"] = log.title
    app.jinja_env.filters["when"] = wording.when
    app.jinja_env.filters["until"] = wording.until
    app.jinja_env.filters["span"] = wording.span
    app.jinja_env.filters["listed"] = wording.listed
    app.jinja_env.filters["stamp"] = lambda instant: instant.isoformat(timespec="seconds")

"""The Flask application: sessions, guards, errors and blueprints put together."""

from __future__ import annotations

import hashlib
import logging
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import flask
import flask_login
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from server import clock, db, home, log, wording
from server.errors import Refused
from server.models import User
from server.settings import Settings
from server.web import (
    account,
    affairs,
    after,
    archive,
    examples,
    front,
    guard,
    guide,
    health,
    language,
    mailbox,
    match,
    people,
    tables,
    visit,
)

logger = logging.getLogger(__name__)

ROOT = Path(__file__).parent.parent.parent
LARGEST_FORM = 64 * 1024
csrf = CSRFProtect()


def build(settings: Settings) -> flask.Flask:
    """Return the application. Raises `db.PendingMigration`."""
    db.require_current()
    app = flask.Flask(__name__, template_folder=str(ROOT / "templates"), static_folder=str(ROOT / "server" / "static"))
    app.config.update(
        SECRET_KEY=settings.secret_key,
        SETTINGS=settings,
        SESSION_COOKIE_NAME="clachan",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.secure,
        PERMANENT_SESSION_LIFETIME=timedelta(days=60),
        MAX_CONTENT_LENGTH=LARGEST_FORM,
        # A half-made move may wait in an open tab for days; the token lives as long as the session.
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=False,
        SEND_FILE_MAX_AGE_DEFAULT=timedelta(days=30),
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    if settings.trusted_proxies:
        count = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count)  # type: ignore[method-assign]
    _sign_in(app)
    _connections(app)
    language.install(app)
    csrf.init_app(app)
    csrf.exempt(account.unsubscribe)
    guard.install(app)
    _errors(app)
    _words(app)
    _versions(app)
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
    ):
        app.register_blueprint(module.pages)
    if settings.mailbox:
        app.register_blueprint(mailbox.pages)
    return app


def _sign_in(app: flask.Flask) -> None:
    manager = flask_login.LoginManager(app)
    manager.session_protection = None  # people change networks between two moves of a slow game

    @manager.user_loader
    def load(identity: str) -> account.Person | None:
        number, _, key = identity.partition(".")
        try:
            user = User.get_or_none(User.id == int(number)) if number.isdigit() else None
        except (*db.Unavailable, db.Broken):
            # The page that says so must not fail on the same fault.
            return None
        # The key changes when every session of the person must end.
        return account.Person(user) if user and not user.deleted_at and user.session_key == key else None

    @manager.unauthorized_handler
    def unauthorized() -> Any:
        if guard.wants_json():
            raise Refused("not-signed-in", "Please sign in first.")
        return flask.redirect(flask.url_for("account.sign_in", next=guard.here()))


def _connections(app: flask.Flask) -> None:
    @app.before_request
    def connect() -> None:
        if flask.request.endpoint not in {"static", "health.alive"}:
            db.database.connect(reuse_if_open=True)

    @app.teardown_request
    def close(_fault: BaseException | None) -> None:
        if not db.database.is_closed():
            db.database.close()


def _errors(app: flask.Flask) -> None:
    """Turn every fault into a page or a JSON body, here and nowhere else."""

    @app.errorhandler(Refused)
    def refused(fault: Refused) -> Any:
        return guard.refusal(fault)

    @app.errorhandler(CSRFError)
    def forged(_fault: CSRFError) -> Any:
        return guard.refusal(Refused("forged", "This form has run out or came from elsewhere. Load the page again."))

    @app.errorhandler(HTTPException)
    def http(fault: HTTPException) -> Any:
        codes = {401: "not-signed-in", 404: "not-found", 405: "method", 413: "too-large"}
        sentences = {404: "There is no such page.", 405: "This address does not take that.", 413: "That is too large."}
        if fault.code is None or fault.code < 400:
            return fault
        code = codes.get(fault.code, "bad-input")
        return guard.refusal(Refused(code, sentences.get(fault.code, "The request could not be understood.")))

    def unavailable(fault: Exception) -> Any:
        # What peewee raises may hide the database's own words behind a failed rollback.
        cause = fault.__context__ or fault
        logger.error("the database refused: %s", cause)
        return guard.refusal(Refused("busy", "The server cannot store anything just now. Please try again in a while."))

    for kind in (*db.Unavailable, db.Broken):
        app.register_error_handler(kind, unavailable)

    @app.errorhandler(Exception)
    def internal(fault: Exception) -> Any:
        logger.exception("a request failed", exc_info=fault)
        return guard.refusal(Refused("internal", "Something went wrong here. It has been noted."))


def _versions(app: flask.Flask) -> None:
    """Put a hash of its content into the address of each static file, so that it may be kept for long."""

    @cache
    def version(name: str) -> str:
        file = Path(str(app.static_folder)) / name
        return hashlib.sha256(file.read_bytes()).hexdigest()[:10] if file.is_file() else ""

    def game_file(kind: str, name: str) -> str:
        """Return the address of a file that a game brings, else of the one for all games, "" if there is neither."""
        found = [f"games/{folder}/{name}" for folder in (kind, "default") if version(f"games/{folder}/{name}")]
        return flask.url_for("static", filename=found[0]) if found else ""

    app.jinja_env.globals["game_file"] = game_file

    @app.url_defaults
    def add(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static" and "filename" in values:
            values["v"] = version(values["filename"])


def _words(app: flask.Flask) -> None:
    """Give templates what every page needs."""

    @app.context_processor
    def shared() -> dict[str, Any]:
        settings: Settings = app.config["SETTINGS"]
        person = flask_login.current_user
        user: User | None = person.user if person.is_authenticated else None
        return {
            "user": user,
            "waiting": home.waiting(user) if user and not db.database.is_closed() else 0,
            "mailbox": settings.mailbox is not None,
            "mails": settings.mails,
            "answers": settings.answers,
            "zone": user.zone if user else "UTC",
            "now": clock.now(),
            "refused": guard.refused(),
        }

    app.jinja_env.filters["counts"] = wording.counts
    app.jinja_env.filters["titled"] = log.title
    app.jinja_env.filters["when"] = wording.when
    app.jinja_env.filters["span"] = wording.span
    app.jinja_env.filters["listed"] = wording.listed
    app.jinja_env.filters["stamp"] = lambda instant: instant.isoformat(timespec="seconds")

"""Which language a page is in: the person's own, else what he chose here, else what his browser asks for."""

from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from functools import cache
from typing import Any, Final

import flask
import flask_babel
import flask_login

from engine import language
from server import languages, preferences, wording
from server.errors import Refused
from server.web import addresses
from server.web.guard import field, safe_target

pages = flask.Blueprint("language", __name__)

LIFE: Final = 30 * 86400
"""For how many seconds a browser keeps the words of the scripts; their address changes with them."""


def install(app: flask.Flask) -> None:
    """Have every request speak its reader's language, in templates and services alike."""
    # It chooses the language; templates take their words where services and mails do.
    flask_babel.Babel(app, configure_jinja=False, locale_selector=wanted)
    languages.teach(app.jinja_env)
    app.jinja_env.filters["day"] = wording.long_day
    app.jinja_env.filters["brief_day"] = wording.brief_day
    app.jinja_env.filters["weekday"] = wording.weekday
    app.jinja_env.filters["percent"] = wording.percent

    @app.before_request
    def speak() -> None:
        if flask.request.endpoint != "static":
            flask.g.speaking = ExitStack()
            flask.g.speaking.enter_context(languages.speaking(str(flask_babel.get_locale())))

    @app.teardown_request
    def fall_silent(_fault: BaseException | None) -> None:
        if "speaking" in flask.g:
            flask.g.pop("speaking").close()

    @app.context_processor
    def shared() -> dict[str, Any]:
        code = languages.current()
        return {"language": code, "languages": languages.LANGUAGES, "words": _words_address(code)}


def wanted() -> str:
    """Return the code of the language that the reader of this request is to be spoken to in."""
    person = flask_login.current_user
    if person.is_authenticated:
        return str(person.user.language)
    chosen = flask.session.get("language", "")
    return chosen if chosen in languages.LANGUAGES else languages.best(flask.request.accept_languages.values())


@pages.post("/language")
def choose() -> Any:
    """Keep the language that somebody chose at the foot of a page, and go back there."""
    code = field("language")
    if code not in languages.LANGUAGES:
        raise Refused("bad-input", language.gettext("Choose a language from the list."))
    flask.session["language"] = code
    if flask_login.current_user.is_authenticated:
        preferences.speak(flask_login.current_user.user, code)
    return flask.redirect(safe_target(field("next")))


@pages.get("/words/<code>.json")
def words(code: str) -> Any:
    """Give the scripts of the pages their sentences in a language."""
    if code not in languages.LANGUAGES:
        raise Refused("not-found", language.gettext("There is no such page."))
    response = flask.Response(_words(code), mimetype="application/json")
    response.cache_control.max_age = LIFE
    response.cache_control.public = True
    return response


@cache
def _words(code: str) -> str:
    return json.dumps(languages.script_words(code), ensure_ascii=False, separators=(",", ":"))


def _words_address(code: str) -> str:
    """Return where the sentences of the scripts are, "" for English, which they hold themselves."""
    if code == "en":
        return ""
    return addresses.address("language.words", code=code, v=_version(code))


@cache
def _version(code: str) -> str:
    return hashlib.sha256(_words(code).encode()).hexdigest()[:10]

"""The application of the API: no session, no cookie, no form; who asks is in the token of each request."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from typing import Any, Final

import flask
import msgspec
from flask.sessions import NullSession, SessionInterface
from werkzeug.exceptions import HTTPException
from werkzeug.routing import IntegerConverter

from server import languages
from server.api import (
    account,
    affairs,
    archive,
    asides,
    files,
    games,
    matches,
    me,
    moves,
    people,
    tables,
    tournaments,
    ways,
)
from server.api.document import document
from server.api.rooms import JSON, Room
from server.errors import Refused
from server.http import connecting, faults, heads, watching
from server.settings import Settings

BELOW: Final = "/api/v1"
"""The path below which it is."""
ROOMS: Final[tuple[Room, ...]] = (
    me.room,
    games.room,
    matches.room,
    moves.room,
    affairs.room,
    asides.room,
    files.room,
    tables.room,
    tournaments.room,
    archive.room,
    people.room,
    account.room,
    ways.room,
)
"""All operations, by theme, in the order in which the document has them."""
LARGEST_BODY: Final = 64 * 1024
POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
DRAWN: Final = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; frame-ancestors 'none'; sandbox"
"""What a drawing that is looked at by itself may do: be drawn."""


class Number(IntegerConverter):
    """A number in a path, so short that every database can hold it."""

    regex = r"[0-9]{1,9}"


class Nothing(SessionInterface):
    """Sessions that there are none of."""

    _none = NullSession()

    def open_session(self, app: flask.Flask, request: flask.Request) -> NullSession:
        """Return the session that holds nothing."""
        return self._none


def build(settings: Settings) -> flask.Flask:
    """Return the application, to be mounted at `BELOW`."""
    app = flask.Flask("server.api", static_folder=None, template_folder=None)
    app.session_interface = Nothing()
    app.config.update(SETTINGS=settings, MAX_CONTENT_LENGTH=LARGEST_BODY, PROPAGATE_EXCEPTIONS=False)
    app.url_map.converters["int"] = Number
    app.url_map.merge_slashes = False
    watching.install(app)
    connecting.install(app, lambda: flask.request.endpoint in {None, "api.document"})
    _languages(app)
    _heads(app, settings)
    _errors(app)
    app.add_url_rule("/openapi.json", "api.document", _document, provide_automatic_options=False)
    for room in ROOMS:
        for one in room.operations:
            app.add_url_rule(
                one.path, f"api.{one.name}", one.answer, methods=[one.method], provide_automatic_options=False
            )
    return app


def written() -> bytes:
    """Return the document of the API as a file."""
    return msgspec.json.format(msgspec.json.encode(document(ROOMS, BELOW)), indent=2) + b"\n"


@cache
def _written() -> bytes:
    return written()


def _document() -> flask.Response:
    response = flask.Response(_written(), content_type=JSON)
    response.add_etag()
    response.make_conditional(flask.request)
    return response


def _languages(app: flask.Flask) -> None:
    """Speak the language that the request asks for, English if it asks for none."""

    @app.before_request
    def speak() -> None:
        if "Accept-Language" not in flask.request.headers:
            return
        code = languages.best(flask.request.accept_languages.values())
        if code != "en":
            flask.g.speaking = ExitStack()
            flask.g.speaking.enter_context(languages.speaking(code))

    @app.teardown_request
    def fall_silent(_fault: BaseException | None) -> None:
        if "speaking" in flask.g:
            flask.g.pop("speaking").close()


def _heads(app: flask.Flask, settings: Settings) -> None:
    @app.after_request
    def headers(response: flask.Response) -> flask.Response:
        heads.protect(response, settings, DRAWN if response.mimetype == "image/svg+xml" else POLICY)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Vary"] = "Authorization, Accept-Language"
        return response


def _errors(app: flask.Flask) -> None:
    """Turn every fault into the one shape of a refusal."""

    def refusal(fault: Refused) -> flask.Response:
        response = flask.Response(msgspec.json.encode(faults.body(fault)), fault.status, content_type=JSON)
        response.headers.update(faults.headers(fault))
        if fault.status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def http(fault: HTTPException) -> Any:
        response = refusal(faults.of_framework(fault))
        if fault.code == 405:
            response.headers["Allow"] = fault.get_response().headers.get("Allow", "")
        return response

    app.register_error_handler(Refused, refusal)
    app.register_error_handler(HTTPException, http)
    for kind in faults.OF_DATABASE:
        app.register_error_handler(kind, lambda fault: refusal(faults.of_database(fault)))
    app.register_error_handler(Exception, lambda fault: refusal(faults.of_ours(fault)))

"""What open pages ask for by themselves, to see whether anything has changed: now and then, or by a stream."""

from __future__ import annotations

from typing import Any, Final

import flask

from server import beats
from server.http.origins import source
from server.models import Match, User
from server.web import streams
from server.web.account import IDENTITY, viewer
from server.web.match import visible
from server.web.streams import Promise, Streams

pages = flask.Blueprint("live", __name__)

SEEN: Final = "seen"
"""With this in the address a page says that it is in sight; what lies behind other pages is nobody's visit."""


@pages.get("/pulse")
def pulse() -> Any:
    """Say in a few bytes whether anything awaits the person."""
    return _numbers(None, viewer())


@pages.get("/matches/<int:match_id>/pulse")
def match_pulse(match_id: int) -> Any:
    """Say as well whether anything has changed in a match."""
    return _numbers(*visible(match_id))


@pages.get("/stream")
def stream() -> Any:
    """Tell an open page as it happens what `pulse` would say."""
    return _stream(None, viewer())


@pages.get("/matches/<int:match_id>/stream")
def match_stream(match_id: int) -> Any:
    """Tell the page of a match as it happens."""
    return _stream(*visible(match_id))


def _numbers(match: Match | None, user: User | None) -> Any:
    response = flask.jsonify(beats.beat(match, user))
    response.add_etag()
    return response.make_conditional(flask.request)


def _stream(match: Match | None, user: User | None) -> Any:
    """Promise a stream; without room for one, or under a server that cannot hold any, say that there is nothing."""
    offered: Streams | None = flask.request.environ.get(streams.OFFER)
    if offered is None or not offered.room or flask.request.method != "GET":
        return "", 204
    told = beats.beat(match, user)
    whose = f"user {user.id}" if user else f"from {source()}"
    opened = beats.watch(match, user, flask.session[IDENTITY] if user else "")
    flask.request.environ[streams.PROMISE] = Promise(opened, whose, told)
    # Without a length, so that it may go on; and no proxy is to wait for its end.
    response = flask.Response(iter([streams.opening(told)]), mimetype="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response

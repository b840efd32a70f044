"""Feeds for programs: no session, no visit; what is read there is what everybody may know."""

from __future__ import annotations

from typing import Any

import flask

from engine.language import gettext as _
from server import agenda, atom, clock, feeds, languages, lobby, log, throttle
from server.errors import Refused
from server.http.origins import source
from server.settings import Settings

pages = flask.Blueprint("feeds", __name__)


@pages.get("/feeds/<token>/calendar.ics")
def calendar(token: str) -> Any:
    """Give the deadlines of whoever made the address."""
    user = feeds.reader("calendar", token, source=source(), now=clock.now())
    with languages.speaking(user.language):
        return _answer(agenda.calendar(user, _settings()), "text/calendar")


@pages.get("/feeds/<token>/matches.atom")
def matches(token: str) -> Any:
    """Give the turns and ends of whoever made the address."""
    user = feeds.reader("matches", token, source=source(), now=clock.now())
    with languages.speaking(user.language):
        return _answer(atom.of_person(user, _settings()), "application/atom+xml")


@pages.get("/matches/<int:match_id>/feed.atom")
def match(match_id: int) -> Any:
    """Give what happens in a match, as a stranger may know it: in the language that the program asks for."""
    throttle.count("feed from", source(), clock.now())
    found = log.get(match_id)
    if not lobby.may_see(found, None):
        raise Refused("not-found", _("There is no such match."))
    with languages.speaking(languages.best(flask.request.accept_languages.values())):
        response = _answer(atom.of_match(found, _settings()), "application/atom+xml")
    response.cache_control.public = response.cache_control.no_cache = True
    response.vary.add("Accept-Language")
    return response


def _settings() -> Settings:
    settings: Settings = flask.current_app.config["SETTINGS"]
    return settings


def _answer(body: bytes, kind: str) -> Any:
    response = flask.Response(body, mimetype=kind)
    response.add_etag()
    return response.make_conditional(flask.request)

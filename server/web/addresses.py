"""The addresses that pages write: to make one takes longer than all the rest of a link, so they are remembered."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import flask
from flask_wtf.csrf import generate_csrf

MOST: Final = 4096
"""So many patterns of addresses are remembered; each takes about 600 bytes."""
_LONGEST: Final = 64
"""Of so many characters a word in an address may be at most: longer ones are strangers' more often than ours."""
_PLACE: Final = "70501090307"
"""What stands for a number, before its place among the values, while it is found out where in an address it belongs."""
_PLAIN: Final = frozenset({int, bool, type(None)})


def install(app: flask.Flask) -> None:
    """Give templates `url_for` and `csrf_token`, which do as those of Flask and Flask-WTF, but not the same twice."""
    app.extensions["addresses"] = _remembered()
    app.jinja_env.globals["url_for"] = address
    # Flask-WTF gives its own to each page, and as a global too.
    app.jinja_env.globals["csrf_token"] = token
    app.context_processor(lambda: {"csrf_token": token})


def address(endpoint: str, **values: Any) -> str:
    """Return the address of an endpoint on this site, from its root, which may be below a path of the host.

    The path of no address may depend on what number it holds, as it would with a default.
    """
    if not all(map(_is_plain, values.values())):
        return flask.url_for(endpoint, **values)
    parts = tuple((name, type(value), None if type(value) is int else value) for name, value in values.items())
    root = flask.request.environ.get("SCRIPT_NAME")
    pattern: str = flask.current_app.extensions["addresses"](root, endpoint, parts)
    return pattern % values


def _is_plain(value: object) -> bool:
    """Whether addresses with the value are remembered: for numbers, switches, and short words that are no numbers."""
    return type(value) in _PLAIN or (type(value) is str and len(value) <= _LONGEST and _PLACE not in value)


def token() -> str:
    """Return the token against forged forms, the same in all forms of a page."""
    return str(flask.g.get("csrf_token") or generate_csrf())


def _remembered() -> Callable[..., str]:
    @lru_cache(MOST)
    def made(_root: str | None, endpoint: str, parts: tuple[tuple[str, type, Any], ...]) -> str:
        """Return the pattern of all addresses that differ in their numbers alone, such as those of matches."""
        places = {name: f"{_PLACE}{at:02}" for at, (name, kind, _value) in enumerate(parts) if kind is int}
        given = {name: value for name, _kind, value in parts}
        found = flask.url_for(endpoint, **given | {name: int(place) for name, place in places.items()})
        found = found.replace("%", "%%")
        for name, place in places.items():
            found = found.replace(place, f"%({name})d")
        return found

    return made

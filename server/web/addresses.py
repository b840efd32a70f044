"""The addresses that pages write: to make one takes longer than all the rest of a link, so they are remembered."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import flask
from flask_wtf.csrf import generate_csrf

MOST: Final = 4096
"""So many addresses are remembered; each takes about 300 bytes."""
_PLACE: Final = 7_000_000_000_000_000
"""What stands for a number while it is found out where in an address it belongs."""


def install(app: flask.Flask) -> None:
    """Give templates `url_for` and `csrf_token`, which do as those of Flask and Flask-WTF, but not the same twice."""
    app.extensions["addresses"] = _remembered()
    app.jinja_env.globals["url_for"] = address
    # Flask-WTF gives its own to each page, and as a global too.
    app.jinja_env.globals["csrf_token"] = token
    app.context_processor(lambda: {"csrf_token": token})


def address(endpoint: str, **values: Any) -> str:
    """Return the address of an endpoint on this site, from its root, which may be below a path of the host."""
    names = tuple((name, int if type(value) is int else value) for name, value in values.items())
    root = flask.request.environ.get("SCRIPT_NAME")
    pattern: str = flask.current_app.extensions["addresses"](root, endpoint, names)
    return pattern % values


def token() -> str:
    """Return the token against forged forms, the same in all forms of a page."""
    return str(flask.g.get("csrf_token") or generate_csrf())


def _remembered() -> Callable[..., str]:
    @lru_cache(MOST, typed=True)
    def made(_root: str | None, endpoint: str, names: tuple[tuple[str, Any], ...]) -> str:
        """Return the pattern of all addresses that differ in their numbers alone, such as those of matches."""
        places = {name: _PLACE + at for at, (name, value) in enumerate(names) if value is int}
        found = flask.url_for(endpoint, **{**dict(names), **places}).replace("%", "%%")
        for name, number in places.items():
            found = found.replace(str(number), f"%({name})d")
        return found

    return made

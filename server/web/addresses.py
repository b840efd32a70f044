"""The addresses that pages write: to make one takes longer than all the rest of a link, so they are remembered."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import flask
from flask_wtf.csrf import generate_csrf

MOST: Final = 4096
"""So many addresses are remembered; each takes about 300 bytes."""


def install(app: flask.Flask) -> None:
    """Give templates `url_for` and `csrf_token`, which do as those of Flask and Flask-WTF, but not the same twice."""
    app.extensions["addresses"] = _remembered()
    app.jinja_env.globals["url_for"] = address
    # Flask-WTF gives its own to each page, and as a global too.
    app.jinja_env.globals["csrf_token"] = token
    app.context_processor(lambda: {"csrf_token": token})


def address(endpoint: str, **values: Any) -> str:
    """Return the address of an endpoint on this site, from its root, which may be below a path of the host."""
    found: str = flask.current_app.extensions["addresses"](flask.request.environ.get("SCRIPT_NAME"), endpoint, **values)
    return found


def token() -> str:
    """Return the token against forged forms, the same in all forms of a page."""
    return str(flask.g.get("csrf_token") or generate_csrf())


def _remembered() -> Callable[..., str]:
    @lru_cache(MOST, typed=True)
    def made(_root: str | None, endpoint: str, **values: Any) -> str:
        return flask.url_for(endpoint, **values)

    return made

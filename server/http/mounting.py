"""Two applications at one address: the pages, and the API below a path of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import flask
from werkzeug.middleware.proxy_fix import ProxyFix

from server.http import chunks
from server.settings import Settings

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def mount(site: flask.Flask, below: str, other: flask.Flask, settings: Settings) -> flask.Flask:
    """Return the site with another application below a path; both see the client as far as proxies are trusted.

    What stands at the path itself is the site's: a page about the other.
    """
    whole: Any = _joined(site.wsgi_app, below, other.wsgi_app)
    if settings.trusted_proxies:
        count = settings.trusted_proxies
        whole = ProxyFix(whole, x_for=count, x_proto=count)
    site.wsgi_app = whole  # type: ignore[method-assign]
    site.extensions["below"] = other
    return site


def _joined(site: Application, below: str, other: Application) -> Application:
    length = len(below)

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        chunks.guard(environ)
        path = environ["PATH_INFO"]
        if not path.startswith(f"{below}/") or path == f"{below}/":
            return site(environ, start_response)
        environ["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + below
        environ["PATH_INFO"] = path[length:]
        return other(environ, start_response)

    return application

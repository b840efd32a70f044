"""How requests are watched: each has a number, is counted and timed, and leaves a line in the log.

An endpoint is told, never an address: what is asked for may be a secret.
"""

from __future__ import annotations

import re
import time
import uuid
from typing import Any, Final

import flask

from server import journal, meters
from server.settings import Settings

NUMBER: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")


def install(app: flask.Flask) -> None:
    """Watch all requests; before everything else, so that what is refused by others is seen too."""
    settings: Settings = app.config["SETTINGS"]

    @app.before_request
    def begin() -> None:
        flask.g.began = time.perf_counter()
        flask.g.facts = facts(trusted=settings.trusted_proxies > 0)
        journal.enter(flask.g.facts)

    @app.after_request
    def end(response: flask.Response) -> flask.Response:
        if "began" in flask.g:
            told(response.status_code, time.perf_counter() - flask.g.began)
        return response

    @app.teardown_request
    def leave(_fault: BaseException | None) -> None:
        journal.enter({})


def facts(*, trusted: bool) -> dict[str, Any]:
    """Return what lines about this request tell: its number, method, endpoint and match.

    The number is that of the proxy in front if it is `trusted` to give one, else a new one.
    """
    given = flask.request.headers.get("X-Request-ID", "") if trusted else ""
    return {
        "request": given if NUMBER.fullmatch(given) else uuid.uuid4().hex,
        "method": flask.request.method if flask.request.method in {"GET", "HEAD", "POST", "OPTIONS"} else "other",
        "endpoint": flask.request.endpoint or "none",
        "match": (flask.request.view_args or {}).get("match_id"),
    }


def told(status: int, seconds: float) -> None:
    """Count the request that has been answered, and log it; what failed on our side is an error."""
    asked = flask.g.facts
    meters.REQUESTS.labels(asked["endpoint"], status).inc()
    meters.DURATIONS.labels(asked["endpoint"]).observe(seconds)
    facts = {**asked, "status": status, "ms": round(seconds * 1000, 1)}
    log = journal.requests.error if status >= 500 else journal.requests.info
    log("%s %s %s", asked["method"], asked["endpoint"], status, extra=facts)

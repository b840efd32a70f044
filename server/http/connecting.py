"""A connection to the database for as long as a request lasts."""

from __future__ import annotations

from collections.abc import Callable

import flask

from server import db


def install(app: flask.Flask, spared: Callable[[], bool]) -> None:
    """Give each request a connection, but those of which `spared` says that they need none."""

    @app.before_request
    def connect() -> None:
        if not spared():
            db.database.connect(reuse_if_open=True)

    @app.teardown_request
    def close(_fault: BaseException | None) -> None:
        if not db.database.is_closed():
            db.database.close()

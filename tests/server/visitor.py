"""A browser without a screen: Flask's test client that signs in, reads tokens out of forms and sends them."""

from __future__ import annotations

import re
from typing import Any

import flask
import jinja2
from flask.testing import FlaskClient
from house import House
from jinja2.bccache import Bucket
from werkzeug.test import TestResponse

from server import clock, create_app
from server.models import User
from server.web.account import Person

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


class Compiled(jinja2.BytecodeCache):
    """Templates compiled once for all applications of a run: they are what takes longest to begin with."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill in what is kept."""
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it."""
        self.kept[bucket.key] = bucket.bytecode_to_string()


COMPILED = Compiled()


def application(house: House, monkeypatch: Any) -> flask.Flask:
    """Return the web application of a house, its clock turned by the test."""
    monkeypatch.setattr(clock, "now", lambda: house.now)
    app = create_app(house.settings)
    app.testing = True
    app.jinja_env.bytecode_cache = COMPILED
    # An unexpected fault must fail the test, not become a page.
    app.config["PROPAGATE_EXCEPTIONS"] = False
    return app


class Visitor:
    """Somebody at a browser; `user` None is a stranger."""

    def __init__(self, app: flask.Flask, user: User | None = None) -> None:
        self.client: FlaskClient = app.test_client()
        self.user = user
        if user is not None:
            with self.client.session_transaction() as session:
                session["_user_id"] = Person(User.get_by_id(user.id)).get_id()
                session["_fresh"] = True

    def get(self, path: str, **more: Any) -> TestResponse:
        """Look at a page."""
        return self.client.get(path, buffered=True, **more)

    def token(self) -> str:
        """Return a token against forged forms, as any page with a form has it."""
        found = TOKEN.search(self.client.get("/forgot").text)
        assert found
        return found.group(1)

    def post(self, path: str, follow: bool = False, json: bool = False, **fields: Any) -> TestResponse:
        """Send a form with its token."""
        headers = {"Accept": "application/json"} if json else {}
        data = {"csrf_token": self.token(), **fields}
        return self.client.post(path, data=data, headers=headers, follow_redirects=follow)


def error(response: TestResponse) -> str:
    """Return the code of a refusal's JSON body."""
    return str(response.get_json()["error"]["code"])

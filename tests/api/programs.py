"""A program that asks the API: Flask's test client with a token."""

from __future__ import annotations

from typing import Any

import flask
from flask.testing import FlaskClient
from house import START
from werkzeug.test import TestResponse

from server import tokens
from server.models import User


class Program:
    """A program of somebody with a token for these scopes; without a `user` it has none."""

    def __init__(self, app: flask.Flask, user: User | None = None, *scopes: str) -> None:
        self.client: FlaskClient = app.test_client(use_cookies=False)
        self.token = tokens.make(User.get_by_id(user.id), "A program", scopes or tokens.SCOPES, START) if user else ""

    def headers(self, more: dict[str, str] | None = None) -> dict[str, str]:
        """Return the headers of its requests."""
        return {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **(more or {})}

    def get(self, path: str, headers: dict[str, str] | None = None, **query: Any) -> TestResponse:
        """Ask for something below `/api/v1`, which may be in the path already."""
        return self.client.get(
            f"/api/v1{path.removeprefix('/api/v1')}",
            headers=self.headers(headers),
            query_string=query or None,
            buffered=True,
        )

    def post(self, path: str, body: Any = None, headers: dict[str, str] | None = None) -> TestResponse:
        """Do something."""
        given = {} if body is None else {"json": body}
        return self.client.post(f"/api/v1{path}", headers=self.headers(headers), buffered=True, **given)


def code(answer: TestResponse) -> str:
    """Return the code of a refusal."""
    return str(answer.get_json()["error"]["code"])

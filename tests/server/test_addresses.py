"""Addresses that pages write are those that Flask would make."""

from __future__ import annotations

from typing import Any

import flask
import pytest
from house import House
from visitor import application

from server.web.addresses import address

ADDRESSES: list[tuple[str, dict[str, Any]]] = [
    ("match.show", {"match_id": 17}),
    ("match.show", {"match_id": 18, "_anchor": "talk", "step": 3, "none": None, "on": True, "off": False}),
    ("match.show", {"step": 4, "match_id": 2, "part": "100 % & more"}),
    ("match.show", {"match_id": -1}),
    ("match.show", {"match_id": 0, "step": "%(match_id)d"}),
    ("people.show", {"name": "50 %d Ailsa/é"}),
    ("static", {"filename": "site.css"}),
]


@pytest.mark.parametrize("root", ["", "/games"])
def test_addresses_with_numbers_are_those_of_flask(cottage: House, monkeypatch: pytest.MonkeyPatch, root: str) -> None:
    app = application(cottage, monkeypatch)
    known = {rule.endpoint for rule in app.url_map.iter_rules()}
    with app.test_request_context(environ_overrides={"SCRIPT_NAME": root}):
        for _twice in range(2):
            for endpoint, values in ADDRESSES:
                assert endpoint in known
                assert address(endpoint, **values) == flask.url_for(endpoint, **values)


def test_every_address_with_numbers_is_that_of_flask(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    app = application(cottage, monkeypatch)
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            for first in (1, 20):
                values = {name: first + at for at, name in enumerate(sorted(rule.arguments))}
                assert address(rule.endpoint, **values) == flask.url_for(rule.endpoint, **values)

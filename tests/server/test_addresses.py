"""Addresses that pages write are those that Flask would make."""

from __future__ import annotations

import enum
from typing import Any

import flask
import pytest
from house import House
from visitor import application

from server.web.addresses import address


class Word(enum.StrEnum):
    """A word that says something else of itself."""

    ONE = "one"


VALUES: list[dict[str, Any]] = [
    {},
    {"_anchor": "talk", "step": 3, "none": None, "on": True, "off": False},
    {"step": True},
    {"step": 1},
    {"step": 1.0},
    {"step": "1"},
    {"step": Word.ONE},
    {"step": "one"},
    {"step": ["a", "b"]},
    {"step": 4, "part": "100 % & more", "word": "%(match_id)d"},
    {"step": "7050109030700", "next": "/a?b=" + "c" * 5000},
]


@pytest.mark.parametrize("root", ["", "/games"])
def test_addresses_with_numbers_are_those_of_flask(cottage: House, monkeypatch: pytest.MonkeyPatch, root: str) -> None:
    app = application(cottage, monkeypatch)
    with app.test_request_context(environ_overrides={"SCRIPT_NAME": root}):
        for match in (17, 0, -1, 2**40):
            for values in VALUES:
                for given in ({"match_id": match, **values}, {**values, "match_id": match}):
                    assert address("match.show", **given) == flask.url_for("match.show", **given)
        for name in ("Ailsa", "50 %d Ailsa/é", "70501090307"):
            assert address("people.show", name=name) == flask.url_for("people.show", name=name)


def test_every_endpoint_has_the_address_of_flask(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    app = application(cottage, monkeypatch)
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            for first in (1, 20):
                values = {name: first + at for at, name in enumerate(sorted(rule.arguments))}
                assert address(rule.endpoint, **values) == flask.url_for(rule.endpoint, **values)


def test_what_strangers_write_is_not_remembered(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    app = application(cottage, monkeypatch)
    with app.test_request_context():
        for n in range(50):
            address("account.sign_in", next=f"/matches/1?x={n}" + "x" * 100)
        assert app.extensions["addresses"].cache_info().currsize == 0

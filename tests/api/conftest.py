"""The application of a small house, for the tests of the API."""

from __future__ import annotations

import flask
import pytest
from house import House
from visitor import application


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    """The site with the API of the cottage."""
    return application(cottage, monkeypatch)

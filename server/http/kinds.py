"""The kinds of ways by which this house can tell somebody something, for both doors."""

from __future__ import annotations

import flask

from server import outbox
from server.channels import Kind


def kinds() -> dict[str, Kind]:
    """Return the kinds of ways besides mail that the settings of the application open, by their words."""
    return outbox.open_ways(flask.current_app.config["SETTINGS"])

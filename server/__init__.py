"""The server: services over the log, and the doors to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from server.settings import Settings


def create_app(settings: Settings) -> Flask:
    """Return the web application; refuses to start while a migration is pending (`db.PendingMigration`)."""
    # Imported here, so that a service or a command that needs no web does not load it.
    from server.web.app import build

    return build(settings)

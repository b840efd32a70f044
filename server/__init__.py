"""The server: services over the log, and the doors to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from server.settings import Settings


def create_app(settings: Settings) -> Flask:
    """Return the web application: the pages, and the API below `/api/v1`.

    It refuses to start while a migration is pending (`db.PendingMigration`).
    """
    # Imported here, so that a service or a command that needs no web does not load it.
    from server.api.app import BELOW, written
    from server.api.app import build as build_api
    from server.http.mounting import mount
    from server.web.app import build as build_site

    site = build_site(settings)
    site.config["DOCUMENT"] = written
    return mount(site, BELOW, build_api(settings), settings)

"""The headers that keep every answer safe, whatever it is."""

from __future__ import annotations

import flask

from server.settings import Settings


def protect(response: flask.Response, settings: Settings, policy: str) -> None:
    """Add them, with this policy of what the content may load."""
    headers = response.headers
    headers["Content-Security-Policy"] = policy
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    if settings.secure:
        headers["Strict-Transport-Security"] = "max-age=31536000"

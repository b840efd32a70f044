"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import flask

from server import clock, db, inbound, outbox
from server.models import Job
from server.scheduler import LATE_TICKS

pages = flask.Blueprint("health", __name__)

# Mail that waits longer than this, to go out or to be read, means that nobody is at work.
OLDEST_MAIL: Final = timedelta(minutes=15)


@pages.get("/healthz")
def alive() -> Any:
    """Answer that the process lives, without touching the database."""
    return flask.jsonify(ok=True)


@pages.get("/readyz")
def ready() -> Any:
    """Say whether database, scheduler and outbox are in order; 503 when one is not."""
    settings, now = flask.current_app.config["SETTINGS"], clock.now()
    late_after = timedelta(seconds=settings.tick_seconds * LATE_TICKS)
    late = [
        job.name
        for job in Job.select().where(Job.name != "sweep").order_by(Job.name)
        if job.succeeded_at is None or now - job.succeeded_at > late_after
    ]
    checks = {
        "scheduler": not late and Job.select().exists(),
        "outbox": not settings.mails or outbox.oldest_due(now) < OLDEST_MAIL,
        "inbound": inbound.oldest(now) < OLDEST_MAIL,
        "schema": db.is_current(),
    }
    good = all(checks.values())
    return flask.jsonify(ok=good, checks=checks, late=late), 200 if good else 503

"""Whether the process lives, whether it can do its work, and how it does."""

from __future__ import annotations

import hmac
from datetime import timedelta
from typing import Any, Final

import flask
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from engine.language import gettext as _
from server import clock, db, gauges, inbound, meters, outbox
from server.errors import Refused
from server.web import streams

pages = flask.Blueprint("health", __name__)

# Mail that waits longer than this, to go out or to be read, means that nobody is at work.
OLDEST_MAIL: Final = timedelta(minutes=15)


@pages.get("/healthz")
def alive() -> Any:
    """Answer that the process lives, without touching the database."""
    return flask.jsonify(ok=True)


@pages.get("/readyz")
def ready() -> Any:
    """Say whether database, scheduler, deadlines and outbox are in order; 503 when one is not.

    `late` are the jobs that have not succeeded for long, `failing` those whose last run failed, and `overdue` counts
    them and the deadlines that nobody looks after.
    """
    settings, now = flask.current_app.config["SETTINGS"], clock.now()
    works = gauges.works(now, settings.tick_seconds)
    late = [work.name for work in works if work.late]
    overdue = gauges.overdue(now)
    checks = {
        "scheduler": not late and bool(works),
        "deadlines": not overdue,
        "outbox": not settings.mails or outbox.oldest_due(now) < OLDEST_MAIL,
        "inbound": inbound.oldest(now) < OLDEST_MAIL,
        "schema": db.is_current(),
        "writable": not db.is_read_only(),
    }
    good = all(checks.values())
    told = {
        "ok": good,
        "checks": checks,
        "late": late,
        "failing": [work.name for work in works if work.failing],
        "overdue": {"jobs": len(late), "deadlines": overdue},
    }
    return flask.jsonify(told), 200 if good else 503


@pages.get("/metrics")
def metrics() -> Any:
    """Tell Prometheus how the house does, in its text format: what this process counted and what the database knows.

    Only for the token of the settings; without one there is no such page. Raises `Refused` (not-found,
    bad-credentials).
    """
    token = flask.current_app.config["SETTINGS"].metrics_token
    if not token:
        raise Refused("not-found", _("There is no such page."))
    given = flask.request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise Refused("bad-credentials", _("This page is for programs that know its token."))
    facts, open_ones = CollectorRegistry(), flask.request.environ.get(streams.OFFER)
    facts.register(gauges.Collector(clock.now(), len(open_ones) if open_ones is not None else 0))
    return flask.Response(generate_latest(meters.REGISTRY) + generate_latest(facts), content_type=CONTENT_TYPE_LATEST)

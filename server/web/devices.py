"""Phones and desktops that a person has told of his matches: the form in which a browser says how it is reached."""

from __future__ import annotations

import hashlib
from typing import Any, Final, NamedTuple

import flask

from engine.language import gettext as _
from server import clock, outbox, ways
from server.http.kinds import kinds
from server.web.account import account_required, me
from server.web.guard import again, field
from server.web.telling import told

pages = flask.Blueprint("devices", __name__)

# What browsers and systems say of themselves, and what people call them; many claim to be those further down too.
BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "Mac"),
    ("Linux", "Linux"),
)


class Devices(NamedTuple):
    """What the script of the page needs: the key of the house, and marks of the devices that are told already."""

    key: str
    known: list[str]


@pages.app_template_global("devices")
def devices() -> Devices | None:
    """Return how a device of the reader may be told, None if this house tells none."""
    key = outbox.push_key(flask.current_app.config["SETTINGS"])
    return Devices(key, [mark(way.address["endpoint"]) for way in _own()]) if key else None


@pages.post("/settings/devices")
@account_required
@again("account.settings", "ways")
def store() -> Any:
    """Store how the browser of this device is reached, and send a trial message there; or tell it no more."""
    endpoint, now = field("endpoint").strip(), clock.now()
    if field("end"):
        for way in _own():
            if way.address["endpoint"] == endpoint:
                ways.remove(me(), way.id, now)
        return told("ways", _("This device is told no more."))
    given = {name: field(name) for name in ("endpoint", "p256dh", "auth")}
    ways.add(me(), "push", given, kinds(), now, label=named(flask.request.user_agent.string))
    return told("ways", _("A trial message is on its way to this device."))


def mark(endpoint: str) -> str:
    """Return what a device's address is recognised by, without telling it."""
    return hashlib.sha256(endpoint.encode()).hexdigest()[:16]


def named(agent: str) -> str:
    """Return what people call a browser and its machine, such as "Firefox, Android"; empty if they are not known."""
    found = (next((name for said, name in known if said in agent), "") for known in (BROWSERS, SYSTEMS))
    return ", ".join(name for name in found if name)


def _own() -> list[Any]:
    return [way for way in ways.of(me()) if way.kind == "push"]

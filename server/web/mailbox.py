"""The local mailbox of a newcomer's machine: what would have been mailed. Development and loopback only."""

from __future__ import annotations

import ipaddress
from typing import Any

import flask

from server.channels.email import LocalMailbox
from server.errors import Refused

pages = flask.Blueprint("mailbox", __name__, url_prefix="/mailbox")

OWN_NAMES = {"127.0.0.1", "localhost", "[::1]"}


def box() -> LocalMailbox:
    """Return the mailbox. Raises `Refused` (not-found) for anybody but this machine, under any other name."""
    address = ipaddress.ip_address(flask.request.remote_addr or "0.0.0.0")  # noqa: S104
    name = flask.request.host.rpartition(":")[0] if not flask.request.host.endswith("]") else flask.request.host
    if not address.is_loopback or (name or flask.request.host) not in OWN_NAMES:
        raise Refused("not-found", "There is no such page.")
    return LocalMailbox(flask.current_app.config["SETTINGS"].mailbox)


@pages.get("")
def index() -> str:
    """List the mails, newest first."""
    return flask.render_template("mailbox/index.html", mails=box().messages())


@pages.get("/<key>")
def show(key: str) -> str:
    """Show one mail: headers, text and picture."""
    return flask.render_template("mailbox/show.html", key=key, mail=_read(key))


@pages.get("/<key>/raw")
def raw(key: str) -> Any:
    """Send the mail as it would go out, for a real mail program to open."""
    headers = {"Content-Disposition": f'attachment; filename="{key}.eml"'}
    return flask.Response(_read(key).raw, mimetype="message/rfc822", headers=headers)


@pages.get("/<key>/picture")
def picture(key: str) -> Any:
    """Send the picture of a mail."""
    png = _read(key).picture
    if not png:
        raise Refused("not-found", "This mail has no picture.")
    return flask.Response(png, mimetype="image/png")


def _read(key: str) -> Any:
    try:
        return box().read(key)
    except LookupError:
        raise Refused("not-found", "There is no such mail.") from None

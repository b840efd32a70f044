"""The local mailbox of a newcomer's machine: what would have been mailed. Development and loopback only."""

from __future__ import annotations

import ipaddress
from email.message import EmailMessage
from email.utils import make_msgid
from typing import Any

import flask

from engine.language import gettext as _
from server import clock, inbound
from server.channels.email import LocalMailbox, OpenMail
from server.errors import Refused
from server.web.guard import field

pages = flask.Blueprint("mailbox", __name__, url_prefix="/mailbox")

OWN_NAMES = {"127.0.0.1", "localhost", "[::1]"}


def box() -> LocalMailbox:
    """Return the mailbox. Raises `Refused` (not-found) for anybody but this machine, under any other name."""
    address = ipaddress.ip_address(flask.request.remote_addr or "0.0.0.0")  # noqa: S104
    name = flask.request.host.rpartition(":")[0] if not flask.request.host.endswith("]") else flask.request.host
    if not address.is_loopback or (name or flask.request.host) not in OWN_NAMES:
        raise Refused("not-found", _("There is no such page."))
    return LocalMailbox(flask.current_app.config["SETTINGS"].mailbox)


@pages.get("")
def index() -> str:
    """List the mails, newest first."""
    return flask.render_template("mailbox/index.html", mails=box().messages())


@pages.get("/<key>")
def show(key: str) -> str:
    """Show one mail: headers, text and picture."""
    mail = _read(key)
    lines = [(line, _has_columns(line)) for line in mail.text.splitlines()]
    return flask.render_template("mailbox/show.html", key=key, mail=mail, lines=lines)


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
        raise Refused("not-found", _("This mail has no picture."))
    return flask.Response(png, mimetype="image/png")


@pages.post("/<key>/answer")
def answer(key: str) -> Any:
    """Answer a mail, as its reader's mail program would."""
    mail = _read(key)
    if not mail.header("Reply-To"):
        raise Refused("bad-input", _("This mail takes no answers."))
    raw = reply(mail, field("text"))
    settings = flask.current_app.config["SETTINGS"]
    inbound.receive(raw, inbound.Envelope("page", mail.header("To"), None), settings, clock.now)
    flask.flash(_("Your answer is sent. What became of it comes as a mail, in a few seconds."))
    return flask.redirect(flask.url_for(".index"))


def reply(mail: OpenMail, text: str) -> bytes:
    """Return the answer to a mail: its reader's words above, the mail quoted below."""
    written = EmailMessage()
    written["From"], written["To"] = mail.header("To"), mail.header("Reply-To")
    written["Subject"] = f"Re: {mail.header('Subject')}"
    written["Message-ID"] = make_msgid(domain="mailbox.localhost")
    written["In-Reply-To"] = mail.header("Message-ID")
    quoted = "\n".join(f"> {line}" for line in mail.text.splitlines())
    written.set_content(f"{text}\n\nOn {mail.header('Date')}, {mail.header('From')} wrote:\n{quoted}\n")
    return written.as_bytes()


def _has_columns(line: str) -> bool:
    """Whether a line stands in columns with those beside it, so that it must not be broken."""
    return "  " in line.strip() or line.startswith(" " * 5)


def _read(key: str) -> OpenMail:
    try:
        return box().read(key)
    except LookupError:
        raise Refused("not-found", _("There is no such mail.")) from None

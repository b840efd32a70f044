"""The door for mail: which addresses are ours, and keeping what comes before anything else is done with it."""

from __future__ import annotations

import hmac
import re
from datetime import datetime
from typing import Final, NamedTuple

from engine.language import gettext as _
from server import db, links
from server.errors import Refused
from server.models import Inbound, Outbox, ReplyToken
from server.settings import Settings

# Bytes of a whole mail; an answer is a few thousand, with a long quotation and two alternatives perhaps sixty thousand.
LARGEST: Final = 256 * 1024
SECRET: Final = re.compile(rb"(?i)\b(move|bounce)[+.][a-z0-9-]{1,64}")
KEEPERS: Final = ("postmaster", "abuse")


class Ours(NamedTuple):
    """An address of ours. `kind` is move, bounce, keeper or house; `token` belongs to the first two."""

    kind: str
    token: str = ""


class Envelope(NamedTuple):
    """How a mail came: `via` smtp, lmtp, imap, stdin or page; its sender ("" is the null path) and recipient, None if
    not known; and `place`, the mailbox and number it was fetched from, so that it is not taken twice."""

    via: str
    sender: str | None = None
    recipient: str | None = None
    place: str | None = None


def ours(address: str, settings: Settings) -> Ours | None:
    """Return what an address of ours is for, None if it is no address of ours; the token may still be unknown."""
    local, _at, domain = address.strip().casefold().rpartition("@")
    if domain != settings.mail_domain.casefold():
        return None
    for kind in ("move", "bounce"):
        # Some mail servers keep the plus for themselves.
        if local.startswith((f"{kind}+", f"{kind}.")):
            return Ours(kind, local[len(kind) + 1 :])
    if local in KEEPERS:
        return Ours("keeper")
    return Ours("house") if local == settings.mail_from.casefold().rpartition("@")[0] else None


def knows(address: str, settings: Settings) -> bool:
    """Whether mail to the address is taken; asked before any of it is sent."""
    found = ours(address, settings)
    if found is None:
        return False
    if found.kind == "move":
        return reply_token(found.token) is not None
    return bounced(found.token, settings) is not None if found.kind == "bounce" else True


def reply_token(token: str) -> ReplyToken | None:
    """Return what an answer's address is bound to, None if there is no such address (any more)."""
    found: ReplyToken | None = ReplyToken.get_or_none(
        (ReplyToken.hash == links.digest(token.casefold())) & ReplyToken.revoked_at.is_null()
    )
    return found


def bounced(token: str, settings: Settings) -> Outbox | None:
    """Return the mail that an address for bounces was made for, None if the address was made up."""
    number, _dash, seal = token.partition("-")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        return None
    mail: Outbox | None = Outbox.get_or_none(Outbox.id == int(number))
    if mail is None or not hmac.compare_digest(bounce_token(settings, mail).encode(), token.encode()):
        return None
    return mail if seal else None


def bounce_token(settings: Settings, mail: Outbox) -> str:
    """Return the token of the address that bounces of this mail go to; only a server that got the mail can know it."""
    seal = hmac.new(settings.secret_key.encode(), f"bounce {mail.message_id}".encode(), "sha256").hexdigest()[:24]
    return f"{mail.id}-{seal}"


def without_tokens(raw: bytes) -> bytes:
    """Return a mail without the secret parts of our addresses."""
    return SECRET.sub(rb"\1", raw)


def take(raw: bytes, envelope: Envelope, now: datetime) -> int:
    """Keep a mail as it came and return its number; one from the same place again is the first.

    It is kept when this returns. Raises `Refused` (too-large).
    """
    if len(raw) > LARGEST:
        raise Refused("too-large", _("A mail to us has at most {n} KB.").format(n=LARGEST // 1024))
    kept = Inbound.insert(
        via=envelope.via,
        place=envelope.place,
        received_at=now,
        sender=None if envelope.sender is None else envelope.sender[:254],
        recipient=(envelope.recipient or "")[:254],
        content=raw,
    )
    with db.transaction():
        if envelope.place is None:
            return int(kept.execute())
        kept.on_conflict_ignore().execute()
        return int(Inbound.get(Inbound.place == envelope.place).id)

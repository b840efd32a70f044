"""Mail that comes in: kept, read, judged, carried out and answered. docs/mail.md tells players and keepers of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from server import db
from server.inbound import door, work
from server.inbound.door import Envelope
from server.models import Inbound, MailKey
from server.settings import Settings

__all__ = ["Envelope", "receive", "sweep"]

logger = logging.getLogger(__name__)

RAW_KEPT: Final = timedelta(days=30)


def receive(raw: bytes, envelope: Envelope, settings: Settings, now: Callable[[], datetime]) -> int:
    """Keep a mail, then work on it; return its number. Every way in ends here.

    When this returns the mail is kept, whatever the work came to: the scheduler goes on with it. Raises `Refused`
    (too-large), or what the database raises, if it could not be kept.
    """
    number = door.take(raw, envelope, now())
    try:
        work.work(number, settings, now())
    except (*db.Unavailable, db.Broken) as fault:
        logger.warning("mail %s waits: %s", number, type(fault).__name__)
    return number


def oldest(now: datetime) -> timedelta:
    """Return how long the oldest mail has waited that nobody has worked on."""
    waiting = Inbound.select().where(Inbound.done_at.is_null()).order_by(Inbound.received_at).first()
    return now - waiting.received_at if waiting else timedelta(0)


def sweep(now: datetime, limit: int = 1000) -> None:
    """Forget what old mails said, all but their headers, and what made them the same as others."""
    with db.transaction():
        old = Inbound.state.in_(["done", "aside"]) & (Inbound.received_at < now - RAW_KEPT)
        for mail in list(Inbound.select().where(old).limit(limit)):
            head = _headers(bytes(mail.content or b""))
            Inbound.update(content=head, recipient="", state="old").where(Inbound.id == mail.id).execute()
        MailKey.delete().where(MailKey.expires_at <= now).execute()


def _headers(raw: bytes) -> bytes:
    """Return the headers of a mail, without the secret parts of our addresses."""
    head = min((raw.find(end) for end in (b"\r\n\r\n", b"\n\n") if end in raw), default=len(raw))
    return door.without_tokens(raw[:head])

"""One-time links out of mails: random, stored hashed, expiring, for one purpose and one person."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Final

from engine.language import gettext as _
from server import db
from server.errors import Refused
from server.models import Link, Match, User
from server.models.statements import insertion

# How long a link lives, by purpose.
LIFETIMES: Final = {
    "confirm": timedelta(days=3),
    "reset": timedelta(hours=2),
    "invite": timedelta(days=30),
    "unsubscribe": timedelta(days=365),
}

# Unsubscribing and following an invitation may be done again; the others act once.
LASTING: Final = frozenset({"invite", "unsubscribe"})

_LINK: Final = insertion(Link, "hash", "purpose", "user", "match", "expires_at")


def new_token() -> str:
    """Return a new token, which nothing is known by yet."""
    return secrets.token_urlsafe(24)


def mint(
    purpose: str, now: datetime, *, user: User | None = None, match: Match | None = None, token: str | None = None
) -> str:
    """Return a new token, or the one given, and store its hash."""
    minted = token or new_token()
    whose, about = user.id if user else None, match.id if match else None
    _LINK.run(hash=digest(minted), purpose=purpose, user=whose, match=about, expires_at=now + LIFETIMES[purpose])
    return minted


def find(purpose: str, token: str, now: datetime) -> Link:
    """Return the link without using it up. Raises `Refused` (link-spent)."""
    link = Link.get_or_none((Link.hash == digest(token)) & (Link.purpose == purpose))
    if link is None or link.used_at is not None or link.expires_at <= now:
        raise Refused("link-spent", _("This link has been used or is too old. Ask for a new one."))
    return link


def spend(purpose: str, token: str, now: datetime) -> Link:
    """Use the link up, inside the caller's transaction, and return it. Raises `Refused` (link-spent)."""
    link = find(purpose, token, now)
    if purpose in LASTING:
        return link
    mine = Link.update(used_at=now).where((Link.hash == link.hash) & Link.used_at.is_null()).execute()
    if mine != 1:
        raise Refused("link-spent", _("This link has just been used."))
    return link


def revoke(purpose: str, user: User) -> None:
    """Make every link of that purpose to that person useless."""
    Link.delete().where((Link.purpose == purpose) & (Link.user == user)).execute()


def sweep(now: datetime) -> int:
    """Forget links that have expired; return how many."""
    with db.transaction():
        return int(Link.delete().where(Link.expires_at <= now).execute())


def digest(token: str) -> bytes:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()

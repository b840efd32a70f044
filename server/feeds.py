"""Secret addresses under which programs read a person's feeds, without a session: he makes, renews and revokes them.

Who has such an address can read and do nothing else; it shows what everybody may know, and when its owner is awaited.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Final

from engine.language import gettext as _
from server import db, links, throttle
from server.errors import Refused
from server.models import Feed, User

# The deadlines as a calendar, and turns and ends as a web feed.
KINDS: Final = ("calendar", "matches")


def make(user: User, kind: str, now: datetime) -> str:
    """Return the token of a new address, the only time that it can be read; one that was made before ends.

    Raises `Refused` (bad-input).
    """
    _check(kind)
    token = secrets.token_urlsafe(24)
    with db.transaction():
        revoke(user, kind)
        Feed.insert(hash=links.digest(token), user=user, kind=kind, made_at=now).execute()
    return token


def revoke(user: User, kind: str) -> None:
    """Make the person's address of that kind useless. Raises `Refused` (bad-input)."""
    _check(kind)
    with db.transaction():
        Feed.delete().where((Feed.user == user) & (Feed.kind == kind)).execute()


def made(user: User) -> dict[str, datetime]:
    """Return since when the person has an address, by kind."""
    return {feed.kind: feed.made_at for feed in Feed.select().where(Feed.user == user)}


def reader(kind: str, token: str, *, source: str, now: datetime) -> User:
    """Return whose address it is; what asks too often is put off. Raises `Refused` (not-found, throttled)."""
    feed = Feed.get_or_none((Feed.hash == links.digest(token)) & (Feed.kind == kind))
    if feed is None or feed.user.deleted_at:
        throttle.count("feed from", source, now)
        raise Refused("not-found", _("There is no such feed, or its address has been changed."))
    throttle.count("feed of", bytes(feed.hash).hex()[:32], now)
    user: User = feed.user
    return user


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise Refused("bad-input", _("There is no such feed."))

"""Personal tokens: by one, a program of somebody does in his name what the token's scopes allow.

A token is shown once, when it is made, and known here by its SHA-256. It ends when its owner takes it away, when its
time is over, when all his sessions are ended, his password is changed or set anew, and with his account.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from engine.language import gettext as _
from server import accounts, db, links, throttle
from server.errors import Refused
from server.models import Token, User
from server.models.statements import Statement

SCOPES: Final = ("read", "play", "tables", "account")
"""What a token may be for: reading all that its owner may see; playing; tables and tournaments; his settings."""
PREFIX: Final = "clachan_"
"""What every token begins with, so that one that lies where it should not is known for what it is."""
MOST: Final = 20
LONGEST_LABEL: Final = 60
MOST_DAYS: Final = 3650
USES_APART: Final = timedelta(days=1)
"""A second use within this time is not worth a write."""

_HOLDER: Final = Statement[User](
    lambda hash, now: (  # noqa: A006
        User.select(User, Token.number, Token.scopes, Token.used_at)
        .join(Token, on=(Token.user == User.id) & (Token.key == User.session_key))
        .where(
            (Token.hash == hash) & User.deleted_at.is_null() & (Token.expires_at.is_null() | (Token.expires_at > now))
        )
    )
)


class Holder(NamedTuple):
    """Whose token it is, its number and its scopes."""

    user: User
    number: int
    scopes: frozenset[str]


def make(user: User, label: str, scopes: Collection[str], now: datetime, *, days: int | None = None) -> str:
    """Return a new token, the only time that it can be read. It is good for so many days, or until it is taken away.

    Raises `Refused` (bad-input, unconfirmed, throttled).
    """
    accounts.require_confirmed(user)
    called, chosen = " ".join(label.split()), [scope for scope in SCOPES if scope in scopes]
    if not 0 < len(called) <= LONGEST_LABEL:
        raise Refused("bad-input", _("The name of a token has 1 to {n} characters.").format(n=LONGEST_LABEL))
    if not chosen or len(chosen) < len(set(scopes)):
        raise Refused("bad-input", _("Choose what the token may be used for."))
    if days is not None and not 0 < days <= MOST_DAYS:
        raise Refused(
            "bad-input", _("A token is good for 1 to {n} days, or until you take it away.").format(n=MOST_DAYS)
        )
    throttle.count("token by", str(user.id), now)
    token = PREFIX + secrets.token_urlsafe(24)
    with db.transaction():
        # Held, so that two at once are counted one after the other.
        key = db.locked(User.select().where(User.id == user.id)).get().session_key
        Token.delete().where((Token.user == user) & (Token.key != key)).execute()
        if len(made(user, now)) >= MOST:
            raise Refused("bad-input", _("You have {n} tokens already. Take one away first.").format(n=MOST))
        Token.insert(
            hash=links.digest(token),
            user=user,
            key=key,
            label=called,
            scopes=" ".join(chosen),
            made_at=now,
            expires_at=now + timedelta(days=days) if days else None,
        ).execute()
    return token


def made(user: User, now: datetime) -> list[Token]:
    """Return the person's tokens that are good, oldest first."""
    good = Token.expires_at.is_null() | (Token.expires_at > now)
    query = Token.select().join(User).where((Token.user == user) & (Token.key == User.session_key) & good)
    return list(query.order_by(Token.number))


def revoke(user: User, number: int) -> None:
    """Take one of the person's tokens away. Raises `Refused` (not-found)."""
    if not 0 < number < 2**31:
        raise Refused("not-found", _("There is no such token any more."))
    with db.transaction():
        gone = Token.delete().where((Token.user == user) & (Token.number == number)).execute()
    if not gone:
        raise Refused("not-found", _("There is no such token any more."))


def holder(token: str, now: datetime) -> Holder | None:
    """Return whose token it is and what it is for, None if it is none or good no more; its use is noted in passing."""
    if not token.startswith(PREFIX):
        return None
    digest = links.digest(token)
    found = _HOLDER.first(hash=digest, now=now)
    if found is None:
        return None
    beside = found.__data__
    used = beside.pop("used_at")
    if used is None or now - used >= USES_APART:
        with suppress(*db.Unavailable), db.passing():
            Token.update(used_at=now).where(Token.hash == digest).execute()
    return Holder(found, beside.pop("number"), frozenset(beside.pop("scopes").split()))


def sweep(now: datetime) -> None:
    """Forget tokens whose time is over; those that ended with the sessions go when their owner makes another."""
    with db.transaction():
        Token.delete().where(Token.expires_at <= now).execute()

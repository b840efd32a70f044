"""Sessions: what the cookie of one says, whose it is, and how it ends for good.

A cookie that its owner has put away may still lie somewhere, or come back by an answer that was on its way. So those
that have been ended are remembered for as long as a cookie is good.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from server import db, links
from server.models import Departure, User
from server.models.statements import Statement, nothing

LIFE: Final = timedelta(days=60)
"""For so long a cookie is good after it was sent."""


_OWNER: Final = Statement[User](
    lambda number, hash: User.select().where(  # noqa: A006
        (User.id == number) & User.deleted_at.is_null() & nothing(Departure.select().where(Departure.hash == hash))
    )
)


def identity(user: User) -> str:
    """Return what a new session says of whose it is.

    That is the person, the key that ends all his sessions when it changes, and something that no other session has.
    """
    return f"{user.id}.{user.session_key}.{secrets.token_urlsafe(12)}"


def owner(identity: str) -> User | None:
    """Return whose session it is, None if it has ended."""
    number, _dot, rest = identity.partition(".")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        return None
    user = _OWNER.first(number=int(number), hash=links.digest(identity))
    return user if user and user.session_key == rest.partition(".")[0] else None


def ended(identities: Collection[str]) -> set[str]:
    """Return those of the sessions that their owners have ended, each by itself."""
    hashes = {links.digest(each): each for each in identities}
    gone = Departure.select().where(Departure.hash.in_(list(hashes)))
    return {hashes[bytes(each.hash)] for each in gone}


def end(identity: str, now: datetime) -> None:
    """End a session for good, also for whoever has kept its cookie."""
    # An answer that is on its way may send the cookie a moment later.
    until = now + LIFE + timedelta(days=1)
    with db.transaction():
        Departure.insert(hash=links.digest(identity), expires_at=until).on_conflict_ignore().execute()


def sweep(now: datetime) -> None:
    """Forget the sessions whose cookies are too old to be good."""
    with db.transaction():
        Departure.delete().where(Departure.expires_at <= now).execute()

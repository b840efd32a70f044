"""People whom only a record names. They stand in the archive with a star behind their name, and can never sign in."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from server import accounts
from server.models import User

STAR: Final = "*"
# Like the star a sign that no name of a person here has.
SIGN: Final = "@"
LONGEST: Final = 32
# So that a number and the sign in front still fit.
LONGEST_KEY: Final = accounts.LONGEST_KEY - 8


def guest_key(key: str) -> str:
    """Return under which `name_key` the guest is stored whose name, with or without its star, has this key."""
    return (SIGN + key.rstrip(f"{STAR} "))[: accounts.LONGEST_KEY]


def seated(names: Sequence[str], now: datetime) -> list[User]:
    """Return a guest for each seat of a record; one of the same name is the same guest in every record.

    Two seats of one record are two guests all the same. The caller holds a transaction.
    """
    guests: list[User] = []
    for name in names:
        shown, number = _shown(name), 1
        while (guest := _guest(f"{shown} {number}" if number > 1 else shown, now)) in guests:
            number += 1
        guests.append(guest)
    return guests


def _shown(name: str) -> str:
    """Return the name of a record without what could not be seen in it, or could turn the line around it."""
    signs = (sign if sign.isprintable() else " " for sign in unicodedata.normalize("NFC", name))
    shown = " ".join("".join(signs).replace(STAR, " ").split())[:LONGEST].rstrip()
    # A few signs are many when they are made comparable.
    while len(accounts.name_key(shown)) > LONGEST_KEY:
        shown = shown[:-1].rstrip()
    return shown or "Somebody"


def _guest(name: str, now: datetime) -> User:
    key = guest_key(accounts.name_key(name))
    # Marked as gone from the first: nobody signs in with it, nothing is sent to it, no sweep takes it away.
    User.insert(
        name=name + STAR, name_key=key, session_key="", turn_mail="off", created_at=now, deleted_at=now
    ).on_conflict_ignore().execute()
    guest: User = User.get(User.name_key == key)
    return guest

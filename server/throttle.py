"""Bounds on how often something may be tried, counted in the database so that they hold across processes."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from engine.language import gettext as _
from server import db, wording
from server.errors import Refused
from server.models import Attempt


class Bound(NamedTuple):
    """At most `tries` in each stretch of `seconds`."""

    tries: int
    seconds: int


BOUNDS: Final = {
    "sign-in from": Bound(40, 600),  # one network address
    "sign-in as": Bound(12, 600),  # one account from one network address, so that its owner elsewhere is not shut out
    "sign-up from": Bound(20, 3600),
    "reset from": Bound(20, 3600),
    "mail to": Bound(5, 3600),  # confirmations, resets and invitations to one mail address
    "invite by": Bound(40, 86400),
    "talk by": Bound(30, 60),
    "mail from": Bound(2000, 600),  # one mail server that hands us mail; it may speak for many people
    "stray from": Bound(60, 600),  # its mails to addresses that are none
    "keeper mail from": Bound(20, 3600),  # one mail server's mails to the keepers and the house itself
    "keeper mail to": Bound(200, 86400),  # these of all mail servers together
    "wrong by": Bound(20, 86400),  # answers that say what was wrong with one address's mails
    "mail by": Bound(60, 3600),  # one person's mails that we act upon
    "open by": Bound(30, 3600),
    "try from": Bound(20, 3600),  # strangers of one network address who begin to play
    "try in all": Bound(1000, 3600),  # strangers of all addresses together
    "try by": Bound(30, 3600),
    "keep by": Bound(10, 86400),  # how often one visitor gives a name and an address
    "affair by": Bound(20, 3600),  # what one person proposes, asks for and offers in one match
    "rematch by": Bound(6, 86400),  # after one match
    "tournament by": Bound(6, 86400),
    "enter by": Bound(30, 3600),  # how often one person enters tournaments, also after withdrawing
    "vacation by": Bound(4, 7 * 86400),  # also those that are called off at once
    "hours by": Bound(10, 7 * 86400),  # changes of zone or nightly hours, each of which every match is told
    "poster from": Bound(200, 600),  # posters that one network address has drawn
    "feed of": Bound(120, 3600),  # how often one secret address is read
    "feed from": Bound(600, 3600),  # feeds of matches, and addresses that are none, by one network address
    "token from": Bound(60, 600),  # tokens that are none, by one network address
    "token by": Bound(20, 86400),  # one person's new tokens
    "trial by": Bound(12, 3600),  # trial messages that one person sends to himself by other ways than mail
    "trial of": Bound(1, 60),  # those that he asks for by one way
    "bundle by": Bound(10, 3600),  # one person's ZIP files of all his matches
}

READING: Final = frozenset({"poster from", "feed of", "feed from", "bundle by", "token from"})
"""What only reads; it goes on, uncounted, while the database takes no writes."""


def count(kind: str, key: str, now: datetime) -> None:
    """Count one try. Raises `Refused` (throttled) beyond the bound."""
    with suppress(db.ReadOnly) if kind in READING else nullcontext():
        _count(kind, key, now)


def _count(kind: str, key: str, now: datetime) -> None:
    bound = BOUNDS[kind]
    stretch = int(now.timestamp()) // bound.seconds
    name = f"{kind} {key}"[:100]
    with db.transaction():
        expires = now + timedelta(seconds=bound.seconds)
        Attempt.insert(key=name, stretch=stretch, count=0, expires_at=expires).on_conflict_ignore().execute()
        mine = (Attempt.key == name) & (Attempt.stretch == stretch)
        Attempt.update(count=Attempt.count + 1).where(mine).execute()
        tries = Attempt.get(mine).count
    if tries > bound.tries:
        span = wording.span(timedelta(seconds=bound.seconds))
        told = _("Too many tries. Please wait {span} and try again.").format(span=span)
        raise Refused("throttled", told, again=bound.seconds - int(now.timestamp()) % bound.seconds)


def sweep(now: datetime) -> int:
    """Forget counts whose stretch is over; return how many."""
    with db.transaction():
        return int(Attempt.delete().where(Attempt.expires_at <= now).execute())

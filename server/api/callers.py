"""Who asks: read off the token of a request, with what the token is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import flask

from engine.language import gettext as _
from server import clock, play, throttle, tokens
from server.errors import Refused
from server.http.origins import source
from server.models import User

MOST: Final = 600
"""So often in a minute a token reads, or a network address without one, in each process. Doing is bound by services.
What comes with a token that is none counts for its network address, whatever it is."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, None for a stranger, at which instant, the key by which he would know his request again, and the scopes
    of his token."""

    user: User | None
    now: datetime
    key: str | None = None
    scopes: frozenset[str] = frozenset()

    @property
    def me(self) -> User:
        """The owner of the token; only where an operation needs one."""
        if self.user is None:
            raise Refused("not-signed-in", _("This takes a token."))
        return self.user

    def require(self, scope: str) -> None:
        """Raise `Refused` (out-of-scope) unless the token is for that."""
        if scope not in self.scopes:
            raise Refused("out-of-scope", _("This token is not for that: its owner gave it other scopes."))


class _Minute:
    """How often each has asked in this minute. It is forgotten with the process: what is bound is the work it does."""

    def __init__(self) -> None:
        self.number = 0
        self.counts: Counter[Hashable] = Counter()

    def count(self, who: Hashable, now: datetime) -> None:
        """Count a request. Raises `Refused` (throttled) beyond the bound."""
        second = int(now.timestamp())
        if second // 60 != self.number:
            self.number, self.counts = second // 60, Counter()
        self.counts[who] += 1
        if self.counts[who] > MOST:
            told = _("Too many requests. A program has {n} a minute.").format(n=MOST)
            raise Refused("throttled", told, again=60 - second % 60)


_minute: Final = _Minute()


def _count(who: Hashable, now: datetime) -> None:
    if flask.request.method in {"GET", "HEAD"}:
        _minute.count(who, now)


def asking(scope: str, *, public: bool) -> Caller:
    """Return who asks for something that takes this scope; `public` things a stranger may ask for too.

    Raises `Refused` (not-signed-in, out-of-scope, throttled, bad-input).
    """
    request, now = flask.request, clock.now()
    given, key = request.headers.get("Authorization"), request.headers.get("Idempotency-Key") or None
    if key and len(key) > play.LONGEST_KEY:
        raise Refused("bad-input", _("A request key has at most {n} characters.").format(n=play.LONGEST_KEY))
    if given is None:
        if not public:
            raise Refused("not-signed-in", _("This takes a token."))
        _count(source(), now)
        return Caller(None, now, key)
    kind, _space, token = given.partition(" ")
    holder = tokens.holder(token.strip(), now) if kind.lower() == "bearer" else None
    if holder is None:
        # Who goes on and on is to cost the database nothing.
        _minute.count(source(), now)
        throttle.count("token from", source(), now)
        raise Refused("not-signed-in", _("This token is none, or it has ended."))
    _count(holder.number, now)
    caller = Caller(holder.user, now, key, holder.scopes)
    caller.require(scope)
    return caller

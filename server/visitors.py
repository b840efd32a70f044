"""People who play against a bot without an account: how they come, how long they stay, how they are forgotten.

A visitor is a `User` with `visitor_until`. He has no confirmed address, so nobody meets him: no table takes him, no
mail goes to him, no list shows him or his matches. With `keep` and `accounts.confirm` he becomes a person.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from engine import games
from engine.language import gettext as _
from server import accounts, companions, db, languages, links, lobby, log, outbox, throttle
from server.desk import writing
from server.errors import Refused
from server.lobby import Terms
from server.models import Match, Seat, User

logger = logging.getLogger(__name__)

# So long a visitor is kept after he was here last.
STAY: Final = timedelta(days=7)
# A stay that has become shorter by less is not worth a write.
VISIT: Final = timedelta(hours=1)
# A click that comes twice comes in this time; after it a key opens nothing: it may have been planted.
TWICE: Final = timedelta(minutes=1)
# No key of a person's name begins so.
SIGN: Final = "*visitor "
CLOCK: Final = {"takeback": True}
STRENGTH: Final = "steady"


def try_game(
    kind: str,
    *,
    by: User | None,
    key: str,
    source: str,
    now: datetime,
    guided: bool = False,
    language: str = "en",
    zone: str = "",
) -> tuple[User, Match]:
    """Seat somebody against bots in a match without a clock; return who he is, and the match.

    A stranger, `by` None, becomes a visitor: one for each `key`, so that a request that comes twice is one. Who plays
    the game against bots already comes back to that match. In a `guided` one each step is explained. `source` is the
    network address, for the throttle, `language` what a stranger is spoken to in, and `zone` his time zone, UTC if that
    is none. Raises `Refused` (not-found, throttled, not-signed-in).
    """
    if kind not in games.games():
        raise Refused("not-found", _("There is no such game here."))
    if by is None:
        throttle.count("try from", source, now)
        throttle.count("try in all", "", now)
    else:
        throttle.count("try by", str(by.id), now)
    with db.transaction():
        # Held, so that of two requests the second finds the match of the first.
        user = _arrive(key, language, zone, now) if by is None else _hold(User.id == by.id)
        match = _playing(user, kind) or _deal(user, kind, now)
        if guided:
            Seat.update(guided=True).where((Seat.match == match) & (Seat.user == user)).execute()
    return user, match


def stay(user: User, now: datetime) -> None:
    """Keep a visitor for longer because he is here; of anybody else nothing is noted."""
    until = now + STAY
    if user.visitor_until is None or until - user.visitor_until < VISIT:
        return
    # Pages can still be read when the disk is full.
    with suppress(*db.Unavailable), db.transaction():
        # Not for a page that was on its way while he left.
        same = (User.id == user.id) & (User.session_key == user.session_key) & User.visitor_until.is_null(False)
        User.update(visitor_until=until).where(same).execute()


def leave(user: User, now: datetime) -> None:
    """Forget a visitor who wants to go, at once, or in the next sweep if a damaged match is in the way."""
    with db.transaction():
        gone = {"visitor_until": now, "session_key": secrets.token_hex(16)}
        User.update(**gone).where((User.id == user.id) & User.visitor_until.is_null(False)).execute()
    with suppress(Refused):
        _forget(user.id, now)


def keep(
    user: User,
    name: str,
    email: str,
    password: str,
    *,
    zone: str,
    language: str,
    source: str,
    now: datetime,
    house: str = "",
) -> User:
    """Give a visitor a name, and queue the mail that confirms his address; then he is a person. Return him.

    Until then he may do this again; what he chose before is worth nothing any more. His sessions end: others may have
    come to know them. Otherwise it is as in `accounts.sign_up`. Raises `Refused` (bad-input, throttled, not-yours).
    """
    settled = Refused("not-yours", _("You have an account already."))
    if not user.visiting:
        raise settled
    wanted = accounts.clean(name, email, password, zone, language, house)
    throttle.count("sign-up from", source, now)
    throttle.count("keep by", str(user.id), now)
    throttle.count("mail to", f"{wanted['email_key']} {source}", now)
    with accounts.claiming(accounts.hashed(wanted), now, own=user) as fields:
        links.revoke("confirm", user)
        still = (User.id == user.id) & User.visitor_until.is_null(False)
        if not User.update(mail_stopped="", session_key=secrets.token_hex(16), **fields).where(still).execute():
            raise settled
        if fields["email"] is not None:
            again = f"confirm {user.id} {secrets.token_hex(4)}"
            outbox.queue("confirm", now=now, user=user, address=fields["email"], key=again)
    named: User = User.get_by_id(user.id)
    return named


def is_named(user: User) -> bool:
    """Whether a visitor has chosen a name, and a letter waits for him to confirm his address."""
    return not user.name_key.startswith(SIGN)


def sweep(now: datetime, limit: int = 500) -> int:
    """Forget visitors who have not come back, those first who left first; return how many."""
    late = User.select(User.id).where(User.visitor_until <= now).order_by(User.visitor_until).limit(limit)
    gone = 0
    for user in list(late):
        try:
            gone += _forget(user.id, now)
        except Refused as fault:
            # A damaged match must not keep the others here: it is tried again when it may have been mended.
            logger.warning("visitor %s cannot be forgotten: %s", user.id, fault.sentence)
            _put_off(user.id, now)
        except Exception:
            logger.exception("visitor %s cannot be forgotten", user.id)
            _put_off(user.id, now)
    return gone


def _put_off(number: int, now: datetime) -> None:
    with db.transaction():
        User.update(visitor_until=now + STAY).where(User.id == number).execute()


def _arrive(key: str, language: str, zone: str, now: datetime) -> User:
    """Return the visitor of the key, made if there is none or the key is old, with his row held."""
    name_key = SIGN + links.digest(key).hex()[:32]
    with languages.speaking(language):
        name = _("Visitor {number}").format(number=1000 + secrets.randbelow(9000))
    User.insert(
        name=name,
        name_key=name_key,
        session_key=secrets.token_hex(16),
        language=language,
        zone=zone if zone in accounts.zones() else "UTC",
        created_at=now,
        visitor_until=now + STAY,
    ).on_conflict_ignore().execute()
    user = _hold(User.name_key == name_key)
    return user if now - user.created_at < TWICE else _arrive(secrets.token_hex(16), language, zone, now)


def _hold(whose: object) -> User:
    user: User | None = db.locked(User.select().where(whose)).first()
    if user is None or user.deleted_at:
        raise Refused("not-signed-in", _("Please sign in first."))
    return user


def _playing(user: User, kind: str) -> Match | None:
    """Return the running match of the game that the person plays against bots alone."""
    own = (Seat.user == user) & Seat.ended_at.is_null() & (Match.status == "running") & (Match.game == kind)
    for match in Match.select().join(Seat).where(own & (Match.host == user)).order_by(Match.id.desc()):
        if companions.alone(log.places(match)):
            return match
    return None


def _deal(user: User, kind: str, now: datetime) -> Match:
    seats = games.game(kind).seat_counts[0]
    terms = Terms(kind, seats, CLOCK, {}, invited_only=True, rated=False)
    return lobby.against_bots(user, terms, STRENGTH, now, unlisted=user.visiting)


def _forget(number: int, now: datetime) -> bool:
    """Make a visitor anonymous whose time is over, and end what he plays; return whether it still was over."""
    with db.transaction():
        over = (User.id == number) & (User.visitor_until <= now)
        user: User | None = db.locked(User.select().where(over)).first()
        if user is None:
            return False
        held = (Seat.user == user) & Seat.ended_at.is_null()
        for match in list(Match.select().join(Seat).where(held & (Match.status == "running"))):
            _end(match.id, user, now)
        accounts.forget(user, now)
    return True


def _end(match_id: int, user: User, now: datetime) -> None:
    """End a match as it stands because its only person has left it; before the first move nobody wins it."""
    with writing(match_id, now) as desk:
        if not desk.played.outcome:
            begun = any(row.kind == "move" for row in desk.played.rows)
            desk.put("end" if begun else "cancel", desk.own_seat(user), "", "clock")

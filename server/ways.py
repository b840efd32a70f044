"""A person's ways to be told of his matches besides by mail: channels of services, topics, devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from engine.language import gettext as _
from server import db, digests, throttle, tidings
from server.channels import DeliveryError, Kind
from server.errors import Refused
from server.models import Match, Seat, User, Way

# What a new way takes unless its owner chooses.
USUAL: Final = ("turn", "reminder", "start", "end")
MOST: Final = 10
LONGEST_LABEL: Final = 40


def add(
    user: User,
    kind: str,
    given: Mapping[str, str],
    channels: Mapping[str, Kind],
    now: datetime,
    *,
    label: str = "",
    news: Iterable[str] = USUAL,
) -> Way:
    """Store a way of the person's, and send a trial message there; one with the same address is that way, mended.

    `given` is what he filled into the blanks of the kind. Raises `Refused` (bad-input, throttled).
    """
    channel = channels.get(kind)
    if channel is None:
        raise Refused("bad-input", _("There is no such way to be told."))
    try:
        address = channel.read(given)
    except DeliveryError as fault:
        raise Refused("bad-input", _(str(fault))) from None
    said, words = _label(label) or channel.name, _news(news)
    with db.transaction():
        db.locked(User.select().where(User.id == user.id)).first()
        mine = of(user)
        way = next((one for one in mine if one.kind == kind and one.address == address), None)
        if way is None and len(mine) >= MOST:
            raise Refused("bad-input", _("You have {n} such ways already; remove one first.").format(n=MOST))
        if way is None:
            way = Way.create(user=user, kind=kind, label=said, address=address, news=words, made_at=now)
            User.update(other_ways=True).where(User.id == user.id).execute()
        else:
            Way.update(label=said, news=words).where(Way.id == way.id).execute()
        digests.plan(User.get_by_id(user.id), now)
        _try_out(way, now)
    return way


def change(user: User, number: int, label: str, news: Iterable[str], now: datetime) -> None:
    """Store what a way of the person's is called and which news it takes. Raises `Refused` (bad-input, not-found)."""
    way, said, words = own(user, number), _label(label), _news(news)
    with db.transaction():
        Way.update(label=said or way.label, news=words).where(Way.id == way.id).execute()
        digests.plan(User.get_by_id(user.id), now)


def remove(user: User, number: int, now: datetime) -> None:
    """Forget a way of the person's, and what was to be told there. Raises `Refused` (not-found)."""
    way = own(user, number)
    with db.transaction():
        tidings.forget(way, now)
        digests.plan(User.get_by_id(user.id), now)


def try_out(user: User, number: int, now: datetime) -> None:
    """Queue a trial message, and try a way again that was given up. Raises `Refused` (not-found, throttled)."""
    way = own(user, number)
    with db.transaction():
        throttle.count("trial of", str(way.id), now)
        _try_out(way, now)


def of(user: User) -> list[Way]:
    """Return the person's ways, oldest first."""
    return list(Way.select().where(Way.user == user).order_by(Way.id))


def own(user: User, number: int) -> Way:
    """Return one of the person's ways. Raises `Refused` (not-found)."""
    way: Way | None = Way.get_or_none((Way.id == number) & (Way.user == user))
    if way is None:
        raise Refused("not-found", _("You have no such way."))
    return way


def shown(way: Way, channels: Mapping[str, Kind]) -> tuple[str, str]:
    """Return the name of the service of a way, and what may be seen of its address."""
    channel = channels.get(way.kind)
    return (channel.name, channel.shown(way.address)) if channel else (way.kind, "")


def silence(match: Match, user: User, silent: bool) -> None:
    """Store whether these ways tell the person nothing of a match; the caller sees to it that he sits there."""
    with db.transaction():
        Seat.update(silent=silent).where((Seat.match == match) & (Seat.user == user)).execute()


def _try_out(way: Way, now: datetime) -> None:
    throttle.count("trial by", str(way.user_id), now)
    # Since when it fails is known until something is taken there.
    Way.update(stopped_at=None, failures=0).where(Way.id == way.id).execute()
    tidings.trial(way, now)


def _label(text: str) -> str:
    # It stands in subjects of mails too, and has to be seen where it is to be pressed.
    said = "".join(mark for mark in " ".join(text.split()) if mark.isprintable()).strip()
    if len(said) > LONGEST_LABEL:
        raise Refused("bad-input", _("Please choose a name of up to {n} letters.").format(n=LONGEST_LABEL))
    return said


def _news(words: Iterable[str]) -> str:
    chosen = set(words)
    return " ".join(word for word in tidings.NEWS if word in chosen)

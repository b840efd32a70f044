"""Calls of a person's own program: an https address that is told of his turns and of the ends of his matches.

A call is queued in the transaction of its cause like a mail, is tried again like one, and says what everybody may know.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from engine.language import gettext as _
from server import columns, db, failing, languages, log, outbox, story
from server.channels import Call, Carrier, DeliveryError
from server.errors import Refused
from server.log import Played
from server.models import Match, Outbox, Seat, User, Webhook
from server.models.statements import Statement
from server.settings import Settings

# An end is told so late and no later.
LIVES: Final = timedelta(days=3)


_LIVE: Final = Statement[Webhook](lambda user: Webhook.select().where((Webhook.user == user) & (Webhook.stopped == "")))


def give(user: User, url: str, settings: Settings, now: datetime) -> str:
    """Store the address to call and return the secret of its signatures, the only time that it can be read.

    Raises `Refused` (bad-input).
    """
    try:
        outbox.check_address(url, settings)
    except DeliveryError as fault:
        raise Refused("bad-input", _(str(fault))) from None
    secret = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
    with db.transaction():
        remove(user, now)
        Webhook.insert(user=user, url=url, secret=secret, made_at=now).execute()
    return secret


def remove(user: User, now: datetime) -> None:
    """Forget the person's address, and what was to be told there."""
    with db.transaction():
        Webhook.delete().where(Webhook.user == user).execute()
        outbox.drop(_calls(user), "the address was taken away", now)


def of(user: User) -> Webhook | None:
    """Return the person's address, None if he has none."""
    hook: Webhook | None = Webhook.get_or_none(Webhook.user == user)
    return hook


def turn(played: Played, seats: Iterable[Seat], now: datetime) -> None:
    """Queue the calls of those who are newly awaited in these seats; the caller holds a transaction."""
    match, awaited = played.match, {seat.user_id: seat for seat in seats}
    for hook in _live(awaited):
        seat = awaited[hook.user_id]
        asked = played.position.asked[seat.number or 0]
        key = f"call turn {match.id} {seat.number} {asked} {seat.user_id}"
        outbox.queue(outbox.CALL, key=key, now=now, user=seat.user, match=match, seat=seat.number, asked=asked)


def ended(match: Match, seats: Iterable[Seat], now: datetime) -> None:
    """Queue the calls of all who ever had a seat in a match that has ended; the caller holds a transaction."""
    people = {user.id: user for seat in seats for user in (seat.user, seat.owner)}
    for hook in _live(people):
        user = people[hook.user_id]
        outbox.queue(outbox.CALL, key=f"call end {match.id} {user.id}", now=now, user=user, match=match)


def run(settings: Settings, now: Callable[[], datetime], caller: Carrier[Call]) -> int:
    """Make the calls that are due; return how many were taken."""
    resting = failing.resting(Webhook, Webhook.user, Outbox.user, Outbox.kind == outbox.CALL, now())
    return outbox.call_due(caller, writer(settings), now, heard, resting)


def writer(settings: Settings) -> Callable[[Outbox, datetime], Call | str]:
    """Return the function that writes queued calls."""

    def write(mail: Outbox, now: datetime) -> Call | str:
        hook, match, user = of(mail.user) if mail.user else None, mail.match, mail.user
        if hook is None or hook.stopped or match is None or user is None:
            return "the address is not called any more"
        try:
            with languages.speaking(user.language):
                played = log.read(match)
                told = _turn(settings, mail, played) if mail.asked is not None else _end(settings, mail, played, now)
        except Refused as fault:
            raise DeliveryError(fault.sentence) from fault
        if isinstance(told, str):
            return told
        return Call(hook.url, hook.secret, mail.message_id, json.dumps(told, ensure_ascii=False))

    return write


def heard(mail: Outbox, fault: DeliveryError | None, now: datetime) -> None:
    """Note whether a call was taken; after long failure stop calling and tell the person by mail."""
    user = mail.user
    if user is None:
        return
    hook = failing.heard(Webhook, Webhook.user == user, _calls(user), fault, now)
    if hook is not None and fault is not None:
        _stop(hook, user, fault, now)


def _stop(hook: Webhook, user: User, fault: DeliveryError, now: datetime) -> None:
    Webhook.update(stopped=fault.said).where(Webhook.user == user).execute()
    outbox.drop(_calls(user), f"the address was given up: {fault}"[:200], now)
    if user.reachable:
        facts = {"host": urlsplit(hook.url).hostname or "", "reason": fault.said}
        outbox.queue("uncalled", key=f"uncalled {user.id} {now.timestamp():.0f}", now=now, user=user, facts=facts)


def _calls(user: User) -> Any:
    return (Outbox.user == user) & (Outbox.kind == outbox.CALL)


def _live(people: Iterable[int]) -> list[Webhook]:
    return [hook for person in people for hook in _LIVE.rows(user=person)]


def _turn(settings: Settings, mail: Outbox, played: Played) -> dict[str, Any] | str:
    """Return what a call about a turn says, or why it is no longer true."""
    position, seat = played.position, mail.seat
    if seat is None or seat not in position.to_act or position.asked[seat] != mail.asked:
        return "the turn was taken meanwhile"
    seats = log.places(played.match)
    if seats[seat].user_id != mail.user_id:
        return "somebody else sits in the seat now"
    until = columns.seat_deadline(played, seat)
    news = story.lines(played, story.names(seats), None, story.since_own(played, seat))
    told = {
        "match": _match(settings, played, seats),
        "seat": seat,
        "row": position.seq,
        "deadline": log.stamp(until) if until else None,
        "since": [sentence for line in news for sentence in line.sentences],
    }
    return {"type": "turn", "timestamp": log.stamp(mail.created_at), "data": told}


def _end(settings: Settings, mail: Outbox, played: Played, now: datetime) -> dict[str, Any] | str:
    """Return what a call about an end says, or why it is no longer true; no result to who wants to watch it first."""
    outcome, seats = played.outcome, log.places(played.match)
    if outcome is None:
        return "the match goes on"
    if mail.created_at + LIVES < now:
        return "too old to be of use"
    told: dict[str, Any] = {"match": _match(settings, played, seats)}
    if mail.user and not mail.user.keeps_results:
        said = story.standing(played, story.names(seats), None)
        told |= {"winners": list(outcome.winners), "scores": list(outcome.scores), "said": said}
    return {"type": "end", "timestamp": log.stamp(mail.created_at), "data": told}


def _match(settings: Settings, played: Played, seats: list[Seat]) -> dict[str, Any]:
    match = played.match
    return {
        "id": match.id,
        "game": match.game,
        "title": log.title(match),
        "players": story.names(seats),
        "url": f"{settings.public_url}/matches/{match.id}",
    }

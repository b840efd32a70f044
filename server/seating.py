"""Who sits where in a running match: giving up, being taken over, coming back, taking a free seat."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from engine.language import gettext as _
from server import accounts, throttle, vacations
from server.desk import Desk, writing
from server.errors import Refused
from server.log import Played
from server.models import Match, Pairing, Seat, User

# Each time the clock may begin anew: without an end nobody may hold up the others.
MOST_RETURNS: Final = 5


def resign(match_id: int, by: User, via: str, *, now: datetime) -> None:
    """Give up; a bot plays the seat on while at least two others contest. Raises `Refused`."""
    with writing(match_id, now) as desk:
        seat = desk.own_seat(by)
        desk.require_running()
        leave_contest(desk, seat, via)


def leave_contest(desk: Desk, seat: int, via: str) -> None:
    """Take a seat out of the contest, by its player's will or because he is out of time where that loses."""
    desk.put("resign", seat, "", via)
    if not desk.played.outcome:
        desk.hand_to_bot(seat, via)


def cancel(match_id: int, by: User, via: str, *, now: datetime) -> None:
    """Call the match off before anybody has moved. Raises `Refused` (not-yours, not-running)."""
    with writing(match_id, now) as desk:
        seat = desk.own_seat(by)
        desk.require_running()
        if Pairing.select().where(Pairing.match == desk.match).exists():
            told = _("A match of a tournament is not called off. Who does not want to play it resigns.")
            raise Refused("not-running", told)
        if any(row.kind == "move" for row in desk.played.rows):
            told = _("A match is called off only before the first move; later all must agree to end it.")
            raise Refused("not-running", told)
        desk.put("cancel", seat, "", via)


def come_back(match_id: int, by: User, via: str, *, now: datetime) -> None:
    """Take back the own seat from the bot that took it over. Raises `Refused` (not-yours, not-running)."""
    with writing(match_id, now) as desk:
        desk.require_running()
        seat = own_lost_seat(desk.played, desk.seats, by)
        if seat is None:
            told = _(
                "There is nothing to take back: no bot plays your seat, or you have resigned, "
                "or have come back {n} times."
            )
            raise Refused("not-yours", told.format(n=MOST_RETURNS))
        _sit_down(desk, seat, by, via)


def own_lost_seat(played: Played, seats: Sequence[Seat], user: User) -> int | None:
    """Return the number of the seat that was the person's and that a bot plays, if he may have it back."""
    for number, seat in enumerate(seats):
        if seat.owner_id == user.id and seat.user.bot and number not in played.position.resigned:
            return None if _too_often(played, number, user) else number
    return None


def _too_often(played: Played, seat: int, user: User) -> bool:
    """Whether the person has taken the seat over as often as anybody may."""
    return sum(row.text == f"person:{user.id}" and row.seat == seat for row in played.rows) >= MOST_RETURNS


def offer(match_id: int, seat: int, by: User, via: str, *, now: datetime) -> None:
    """Let anybody take over a seat that a bot plays; any player may say so. Raises `Refused`."""
    throttle.count("affair by", f"{by.id} {match_id}", now)
    with writing(match_id, now) as desk:
        desk.own_seat(by)
        desk.require_running()
        position = desk.played.position
        if not 0 <= seat < len(desk.seats) or seat not in position.taken_over or seat in position.resigned:
            told = _("Only a seat that a bot plays, and nobody has resigned from, can be offered.")
            raise Refused("bad-input", told)
        if seat in position.offered:
            raise Refused("bad-input", _("This seat is offered already."))
        desk.put("offer", seat, "", via)


def take(match_id: int, seat: int, by: User, via: str, *, now: datetime) -> None:
    """Take over a seat that is offered; who is about to be away cannot.

    Raises `Refused` (not-open, already-seated, unconfirmed, not-running, bad-input).
    """
    with writing(match_id, now) as desk:
        desk.require_running()
        accounts.require_confirmed(by)
        if knows_another(desk.played, by, seat):
            raise Refused("already-seated", _("You have played in this match already."))
        if seat not in desk.played.position.offered:
            raise Refused("not-open", _("This seat is not free any more."))
        if _too_often(desk.played, seat, by):
            raise Refused("not-open", _("You have had this seat {n} times.").format(n=MOST_RETURNS))
        _require_there(desk, by)
        _sit_down(desk, seat, by, via)


def _require_there(desk: Desk, user: User) -> None:
    """Refuse a free seat to somebody whose vacation would stop its clock before he has ever moved."""
    rule, vacation = desk.played.clocks.rule, vacations.current(user, desk.now)
    if vacation is None or rule.limitless or not rule.vacations:
        return
    if vacation.starts_at < desk.now + timedelta(seconds=rule.move or rule.bank):
        told = _(
            "You are on vacation, or leave before your first move here is due. End the vacation, or come when you "
            "are back."
        )
        raise Refused("bad-input", told)


def _sit_down(desk: Desk, seat: int, user: User, via: str) -> None:
    """Put a person in the seat, whose clock from now on knows his hours and his vacation."""
    desk.hand_to(seat, user, via)
    for kind, text in vacations.notes(desk.played, user, desk.now):
        desk.put(kind, seat, text, via)


def knows_another(played: Played, user: User, seat: int) -> bool:
    """Whether the person may know secrets of another seat, because he was there at the start or took one over."""
    taken = {row.seat for row in played.rows if row.kind == "takeover" and row.text == f"person:{user.id}"}
    return user.id in played.head["people"] or not taken <= {seat}


def offered(limit: int = 50) -> list[Match]:
    """Return the running matches with a seat that anybody may take over, newest first."""
    query = Match.select().where(Match.offers & (Match.status == "running"))
    return list(query.order_by(Match.id.desc()).limit(limit))

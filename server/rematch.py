"""The match after a match: asked for by one, told to the others, at one table however many ask, until it expires."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from engine.language import gettext as _
from server import db, lobby, log, notify, throttle
from server.errors import Refused
from server.lobby import Terms
from server.models import Match, Rematch, User

# An offer that nobody has taken up in this time is forgotten, and its table closed.
LIFETIME: Final = timedelta(days=7)


def ask(match_id: int, by: User, *, now: datetime) -> Match:
    """Ask for another match of the same people, or agree to it: take a seat at its table, and return that.

    The table has the terms of the match; the seats are drawn anew. Raises `Refused` (not-found, not-running, not-yours,
    throttled, and what `lobby.join` refuses with).
    """
    throttle.count("rematch by", f"{by.id} {match_id}", now)
    with db.transaction():
        match = log.get(match_id, hold=True)
        people = players(match)
        if match.status != "finished":
            raise Refused("not-running", _("A rematch is asked for when the match has ended."))
        if by.id not in {user.id for user in people}:
            raise Refused("not-yours", _("Only those who played ask for a rematch."))
        table = offered(match, now)
        if table is None:
            return _offer(match, by, people, now)
        if table.status == "open" and not any(seat.owner_id == by.id for seat in log.places(table)):
            return lobby.join(table.id, by, now=now)
        return table


def offered(match: Match, now: datetime) -> Match | None:
    """Return the table of the rematch, or the match it has become, None if none is asked for or it has expired."""
    found = Rematch.get_or_none(Rematch.match == match)
    if found is None:
        return None
    table: Match = found.table
    waiting = table.status == "open" and found.expires_at > now
    return table if waiting or table.status in {"running", "finished"} else None


def players(match: Match) -> list[User]:
    """Return the people who sat in a match at its end or its beginning, by seat, as far as they still have accounts."""
    found = {user.id: user for seat in log.places(match) for user in (seat.owner, seat.user)}
    return [user for user in found.values() if not user.bot and user.deleted_at is None]


def sweep(now: datetime) -> None:
    """Close the tables of rematches that have expired; one that has begun is nobody's offer any more either."""
    waiting = Rematch.select(Rematch, Match).join(Match, on=Rematch.table).where(Match.status == "open")
    for late in list(waiting.where(Rematch.expires_at <= now)):
        lobby.close(late.table_id)


def _offer(match: Match, by: User, people: list[User], now: datetime) -> Match:
    game = log.game_of(match)
    count = len(people) if len(people) in game.seat_counts else match.seats
    terms = Terms(match.game, count, match.clock, match.options or {}, "random", rated=match.rated, invited_only=True)
    table = lobby.open_table(by, terms, now)
    Rematch.delete().where(Rematch.match == match).execute()
    Rematch.insert(match=match, table=table, expires_at=now + LIFETIME).execute()
    others = [user for user in people if user.id != by.id]
    lobby.invite_people(table, others)
    notify.rematch(table, match, by, others, now)
    return table

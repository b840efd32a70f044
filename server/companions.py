"""Bots that sit down at a table or in a seat that somebody has left, and what they say when they do."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Final, NamedTuple

from server import accounts, log
from server.errors import Refused
from server.models import Match, Seat, Talk, User


class Strength(NamedTuple):
    """What people are told of a strength: how it plays, in a word for the form and one for the talk, and how it thinks,
    in two sentences."""

    choice: str
    line: str
    thinks: str


ABOUT: Final = {
    "easy": Strength(
        "makes moves that look sensible, but not always good ones",
        "for fun: not every move of mine is a good one",
        "It looks one move ahead and makes any of the better half of its moves. It does not ask what you are up to.",
    ),
    "steady": Strength(
        "makes the move that looks best at the moment",
        "steadily: I make the move that looks best to me",
        "It looks one move ahead and makes the move that brings it most. It does not think about your answer.",
    ),
    "strong": Strength(
        "thinks ahead, and about what you may be hiding",
        "to win: I think ahead, and about what others may be hiding",
        "It imagines what the others may be hiding, as what they have done makes it likely, and plays many matches on "
        "from there in its head. It makes the move with which most of them went well, and thinks for seconds only.",
    ),
}


def sit(match: Match, strength: str, count: int, now: datetime) -> list[User]:
    """Seat so many bots of a strength at an open table, inside the caller's transaction, which holds the match.

    Raises `Refused` (not-open, table-full, bad-input).
    """
    if match.status != "open":
        raise Refused("not-open", "This table is no longer open.")
    seated = log.places(match)
    if not 0 < count <= match.seats - len(seated):
        raise Refused("table-full", "There are not so many free seats at this table.")
    there = {seat.owner_id for seat in seated}
    free = [bot for bot in accounts.house_bots(strength, len(seated) + count, now) if bot.id not in there][:count]
    for bot in free:
        Seat.create(match=match, user=bot, owner=bot, contribution=secrets.token_hex(8), joined_at=now)
        _say(match, bot, f"Good day. I am a bot of this house and play {ABOUT[strength].line}.", now)
    return free


def take_over(match: Match, seat: Seat, now: datetime, *, for_good: bool) -> User:
    """Return the bot that is to play on in a seat, and let the table know; the caller holds a transaction.

    `for_good` is whether the person there cannot have the seat back.
    """
    bot = accounts.stand_in(now)
    # Without a name: talk stays, also when its subject has left for good.
    if for_good or seat.user_id != seat.owner_id:
        _say(match, bot, "Good day. I play on in this seat, so that the others can finish.", now)
    else:
        _say(match, bot, "Good day. I keep this seat for whoever sat here, who may have it back.", now)
    return bot


def _say(match: Match, bot: User, line: str, now: datetime) -> None:
    Talk.insert(match=match, user=bot, text=line, at=now).execute()

"""Bots that sit down at a table or in a seat that somebody has left, and what they say when they do."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from engine.language import gettext as _
from engine.language import later
from server import accounts, log
from server.errors import Refused
from server.models import Match, Seat, Talk, User


class Strength(NamedTuple):
    """What people are told of a strength: how it plays, in a sentence for the form; what it says when it sits down; and
    how it thinks."""

    choice: str
    line: str
    thinks: str


# Who plays on in seats that people have left.
STAND_IN: Final = "Bot"
# What the bots of each strength are called, after the word that only bots' names begin with.
BOTS: Final = {
    "easy": ("Bracken", "Clover", "Thistle", "Heather"),
    "steady": ("Rowan", "Alder", "Hazel", "Birch"),
    "strong": ("Granite", "Basalt", "Flint", "Slate"),
}
ABOUT: Final = {
    "easy": Strength(
        later("Makes moves that look sensible, but not always good ones."),
        later("Good day. I am a bot of this house and play for fun: not every move of mine is a good one."),
        later(
            "It looks one move ahead and makes any of the better half of its moves. It does not ask what you are up to."
        ),
    ),
    "steady": Strength(
        later("Makes the move that looks best at the moment."),
        later("Good day. I am a bot of this house and play steadily: I make the move that looks best to me."),
        later("It looks one move ahead and makes the move that brings it most. It does not think about your answer."),
    ),
    "strong": Strength(
        later("Thinks ahead, and about what you may be hiding."),
        later(
            "Good day. I am a bot of this house and play to win: I think ahead, and about what others may be hiding."
        ),
        later(
            "It imagines what the others may be hiding, as what they have done makes it likely, and plays many matches "
            "on from there in its head. It makes the move with which most of them went well, and thinks for seconds "
            "only."
        ),
    ),
}


def about() -> dict[str, Strength]:
    """Return what people are told of each strength, in the language spoken just now."""
    return {name: Strength(*map(_, told)) for name, told in ABOUT.items()}


def alone(seats: Sequence[Seat]) -> bool:
    """Whether one person plays, or has played, against bots."""
    return sum(not seat.owner.bot for seat in seats) == 1


def stand_in(now: datetime) -> User:
    """Return the bot that plays on in seats that people have left; the caller holds a transaction."""
    return _bots([STAND_IN], "steady", now)[0]


def is_stand_in(user: User) -> bool:
    """Whether it is the bot that plays on in seats that people have left."""
    return bool(user.name_key == _key(STAND_IN))


def house_bots(strength: str, count: int, now: datetime) -> list[User]:
    """Return so many bots of a strength, always the same first; the caller holds a transaction.

    They are made when they are first asked for. Raises `Refused` (bad-input) for a strength that no bot has.
    """
    if strength not in BOTS:
        raise Refused("bad-input", _("Bots are {strengths}.").format(strengths=", ".join(BOTS)))
    stems = BOTS[strength]
    rounds = [(stems[number % len(stems)], number // len(stems)) for number in range(count)]
    return _bots([f"Bot {stem} {lap + 1}" if lap else f"Bot {stem}" for stem, lap in rounds], strength, now)


def sit(match: Match, strength: str, count: int, now: datetime) -> list[User]:
    """Seat so many bots of a strength at an open table, inside the caller's transaction, which holds the match.

    Raises `Refused` (not-open, table-full, bad-input).
    """
    if match.status != "open":
        raise Refused("not-open", _("This table is no longer open."))
    seated = log.places(match)
    if not 0 < count <= match.seats - len(seated):
        raise Refused("table-full", _("There are not so many free seats at this table."))
    there = {seat.owner_id for seat in seated}
    free = [bot for bot in house_bots(strength, len(seated) + count, now) if bot.id not in there][:count]
    for bot in free:
        Seat.create(match=match, user=bot, owner=bot, contribution=secrets.token_hex(8), joined_at=now)
        _say(match, bot, ABOUT[strength].line, now)
    return free


def take_over(match: Match, seat: Seat, now: datetime, *, for_good: bool) -> User:
    """Return the bot that is to play on in a seat, and let the table know; the caller holds a transaction.

    `for_good` is whether the person there cannot have the seat back.
    """
    bot = stand_in(now)
    # Without a name: talk stays, also when its subject has left for good.
    if for_good or seat.user_id != seat.owner_id:
        _say(match, bot, later("Good day. I play on in this seat, so that the others can finish."), now)
    else:
        _say(match, bot, later("Good day. I keep this seat for whoever sat here, who may have it back."), now)
    return bot


def _bots(names: list[str], strength: str, now: datetime) -> list[User]:
    keys = [_key(name) for name in names]
    found = {user.name_key: user for user in User.select().where(User.name_key.in_(keys))}
    for name, key in zip(names, keys, strict=True):
        if key not in found:
            # Two may ask for the first time at once.
            User.insert(
                name=name, name_key=key, session_key="", bot=strength, created_at=now, turn_mail="off"
            ).on_conflict_ignore().execute()
            found[key] = User.get(User.name_key == key)
    return [found[key] for key in keys]


def _key(name: str) -> str:
    # It begins with a sign no person's name can have.
    return f"*{accounts.name_key(name)}"


def _say(match: Match, bot: User, line: str, now: datetime) -> None:
    # In English, for all who read it: `talk.lines` says it in their language.
    Talk.insert(match=match, user=bot, text=line, at=now).execute()

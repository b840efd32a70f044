"""Table talk, and the commands that may be typed into it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engine.base import InvalidMove, MoveError
from server import db, lobby, log, play, throttle
from server.errors import Refused
from server.models import Match, Seat, Talk, User

LONGEST: Final = 1000
COMMANDS: Final = ("/join", "/start", "/leave", "/resign", "/move")


@dataclass(frozen=True, slots=True)
class Said:
    """What became of a line: `kind` is talk, move, or the command; `done` is set for a move."""

    kind: str
    done: play.Done | None = None


def say(
    match_id: int, user: User, text: str, *, expected: int, via: str, now: datetime, key: str | None = None
) -> Said:
    """Take one line of table talk: a command, a move as text, or words for all at the table.

    `expected` is as in `play.submit`. Raises `Refused`; then nothing was said or done.
    """
    line = text.replace("\r\n", "\n").strip()
    if not line or len(line) > LONGEST or not _readable(line):
        raise Refused("bad-input", f"A line of talk has 1 to {LONGEST} characters.")
    throttle.count("talk by", str(user.id), now)
    match = log.get(match_id)
    if line.startswith("/"):
        return _command(match, user, line, expected, via, now, key)
    seat = log.own_number(match, user)
    # Also when it is not his turn: a move that comes late must be refused, not read by all.
    if match.status == "running" and seat is not None and _is_move(match, seat, line):
        return Said("move", play.submit(match_id, seat, line, expected, user, via, now=now, key=key))
    with db.transaction():
        if not Seat.select().where((Seat.match == match) & (Seat.owner == user)).exists():
            raise Refused("not-yours", "Only those at the table take part in its talk.")
        Talk.insert(match=match, user=user, text=line, key=key, at=now).on_conflict_ignore().execute()
    return Said("talk")


def lines(match: Match, last: int | None = None) -> list[Talk]:
    """Return the talk of a match, oldest first; with `last` only so many lines from the end."""
    newest = Talk.select(Talk, User).join(User).where(Talk.match == match).order_by(Talk.id.desc())
    return list(newest.limit(last))[::-1]


def newest(match: Match) -> int:
    """Return the number of the last line of talk, 0 if nobody has said anything."""
    return Talk.select(Talk.id).where(Talk.match == match).order_by(Talk.id.desc()).limit(1).scalar() or 0


def _command(match: Match, user: User, line: str, expected: int, via: str, now: datetime, key: str | None) -> Said:
    command, _, rest = line.partition(" ")
    command = command.lower()
    if command == "/join":
        lobby.join(match.id, user, now=now)
    elif command == "/start":
        lobby.start(match.id, user, now)
    elif command == "/leave":
        lobby.leave(match.id, user)
    elif command == "/resign":
        play.resign(match.id, user, via, now=now)
    elif command == "/move":
        seat = play.own_seat(log.places(match), user)
        return Said("move", play.submit(match.id, seat, rest, expected, user, via, now=now, key=key))
    else:
        raise Refused("bad-input", f"There is no command {command[:20]}. Known are {', '.join(COMMANDS)}.")
    return Said(command)


def _is_move(match: Match, seat: int, line: str) -> bool:
    """Whether the line reads as a move, be it a legal one or not: then it was meant as one."""
    played = log.read(match)
    try:
        played.game.parse(played.position.state, seat, line)
    except InvalidMove:
        return False
    except MoveError:
        return True
    return True


def _readable(line: str) -> bool:
    # Joiners show as nothing and yet belong to the writing of some languages and to some emoji.
    return all(mark.isprintable() or mark in "\n\t\u200c\u200d" for mark in line)

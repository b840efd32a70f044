"""Table talk, and what may be typed into it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engine.language import gettext as _
from server import commands, db, log, play, throttle
from server.commands import Asked
from server.errors import Refused
from server.models import Match, Seat, Talk, User
from server.models.statements import Statement

LONGEST: Final = 1000
ALL: Final = 2**31 - 1

_LATEST: Final = Statement[Talk](
    lambda match, most: Talk.select().where(Talk.match == match).order_by(Talk.id.desc()).limit(most)
)
_SPEAKERS: Final = Statement[User](
    lambda match: User.select().where(User.id.in_(Talk.select(Talk.user).where(Talk.match == match)))
)


@dataclass(frozen=True, slots=True)
class Said:
    """What became of a line: `kind` is talk, move, or the command; `done` is set for a move."""

    kind: str
    sentences: tuple[str, ...] = ()
    done: play.Done | None = None


def say(
    match_id: int, user: User, text: str, *, expected: int, via: str, now: datetime, key: str | None = None
) -> Said:
    """Take one line of table talk: a command behind a slash, a move as text, or words for all at the table.

    `expected` is as in `play.submit`. Raises `Refused`; then nothing was said or done.
    """
    line = _clean(text)
    throttle.count("talk by", str(user.id), now)
    match = log.get(match_id)
    asked = Asked(match_id, user, expected, via, now, key)
    if line.startswith("/"):
        rest = line.partition(" ")[2]
        if (command := word(line)) != "say":
            told = commands.run(command, rest, asked)
            return Said("move" if told.done else line.split()[0].lower(), told.sentences, told.done)
        line = _clean(rest)
    # Also when it is not his turn: a move that comes late, or again, must be refused or told, not read by all.
    elif play.was_made(user, key) or play.reads_as_move(match, log.own_number(match, user), line):
        told = commands.run("move", line, asked)
        return Said("move", told.sentences, told.done)
    _speak(match, user, line, now, key)
    return Said("talk")


def word(text: str) -> str:
    """Return the word behind the slash of a line that is a command, empty for any other line."""
    line = text.strip()
    return line[1:].partition(" ")[0].lower() if line.startswith("/") else ""


def speak(match: Match, user: User, text: str, now: datetime) -> None:
    """Say words to all at the table, whatever they look like. Raises `Refused` (bad-input, not-yours, throttled)."""
    line = _clean(text)
    throttle.count("talk by", str(user.id), now)
    _speak(match, user, line, now, None)


def lines(match: Match, last: int = ALL) -> list[Talk]:
    """Return the talk of a match, oldest first; with `last` only so many lines from the end.

    What bots say is in the language spoken just now.
    """
    found = _LATEST.rows(match=match.id, most=last)[::-1]
    speakers = {user.id: user for user in _SPEAKERS.rows(match=match.id)} if found else {}
    for line in found:
        line.user = speakers[line.user_id]
        if line.user.bot and line.text:
            line.text = _(line.text)
    return found


def _speak(match: Match, user: User, line: str, now: datetime, key: str | None) -> None:
    with db.transaction():
        theirs = (Seat.owner == user) | (Seat.user == user)
        if not Seat.select().where((Seat.match == match) & theirs).exists():
            raise Refused("not-yours", _("Only those at the table take part in its talk."))
        Talk.insert(match=match, user=user, text=line, key=key, at=now).on_conflict_ignore().execute()
        mine = (Talk.match == match) & (Talk.user == user) & (Talk.key == key) & (Talk.text == line)
        if key and not Talk.select().where(mine).exists():
            raise Refused("bad-input", _("This request key was used for another line."))


def _clean(text: str) -> str:
    line = text.replace("\r\n", "\n").strip()
    if not line or len(line) > LONGEST or not _readable(line):
        raise Refused("bad-input", _("A line of talk has 1 to {n} characters.").format(n=LONGEST))
    return line


def _readable(line: str) -> bool:
    # Joiners show as nothing and yet belong to the writing of some languages and to some emoji.
    return all(mark.isprintable() or mark in "\n\t\u200c\u200d" for mark in line)

"""Private notes: what a person writes down about a match, for nobody else."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from engine.language import gettext as _
from server import accounts, db, log
from server.errors import Refused
from server.models import Match, Note, User
from server.models.statements import Statement

LONGEST: Final = 5000

_NOTE: Final = Statement[Note](lambda match, user: Note.select().where((Note.match == match) & (Note.user == user)))
_NOTES: Final = Statement[Note](
    lambda user: Note.select().join(Match).where((Note.user == user) & (Match.status == "running"))
)


def write(match: Match, user: User, text: str, now: datetime) -> None:
    """Keep the note in place of what was noted before; an empty one is forgotten.

    Raises `Refused` (bad-input, unconfirmed): a visitor notes something in his own matches only.
    """
    if user.visiting and log.own_number(match, user) is None:
        accounts.require_confirmed(user)
    text = text.replace("\r\n", "\n").strip()
    if len(text) > LONGEST:
        raise Refused("bad-input", _("A note has at most {n} characters.").format(n=LONGEST))
    mine = (Note.match == match) & (Note.user == user)
    with db.transaction():
        Note.delete().where(mine).execute()
        if text:
            Note.insert(match=match, user=user, text=text, written_at=now).execute()


def read(match: Match, user: User | None) -> str:
    """Return what the person has noted, "" if nothing."""
    found = _NOTE.first(match=match.id, user=user.id) if user else None
    return found.text if found else ""


def first_lines(user: User) -> dict[int, str]:
    """Return the first line of each note of the person about a running match, by the number of the match."""
    return {note.match_id: note.text.partition("\n")[0] for note in _NOTES.rows(user=user.id)}

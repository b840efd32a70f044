"""Moves made without waiting for their player: one that he has ready, and the only one there is if he wants that."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from engine.base import InvalidMove, MoveError
from engine.language import gettext as _
from server import db, languages, log
from server.errors import Refused
from server.log import Played
from server.models import Match, Prepared, User
from server.models.statements import Statement

if TYPE_CHECKING:
    from server.desk import Desk

# A chain of moves that make themselves ends with the match; this ends it should a game never do.
MOST: Final = 1000

_READY: Final = Statement[Prepared](
    lambda match, seat: Prepared.select().where(
        (Prepared.match == match) & (Prepared.seat == seat) & (Prepared.dropped == "")
    )
)
_OF_PERSON: Final = Statement[Prepared](
    lambda match, user: Prepared.select().where((Prepared.match == match) & (Prepared.user == user))
)


def prepare(match_id: int, user: User, text: str, *, after: str = "", now: datetime) -> Prepared:
    """Have a move ready for the person's next turn, in place of one he has; nobody else sees it.

    It is made as soon as he is awaited, if it is legal then and, with `after`, only if that is the move right before
    it; otherwise it is dropped and he is told. Raises `Refused` (not-yours, not-running, invalid-move, bad-input).
    """
    with db.transaction():
        match = log.get(match_id, hold=True)
        seat = log.own_number(match, user)
        if seat is None:
            raise Refused("not-yours", _("You have no seat in this match."))
        if match.status != "running":
            raise Refused("not-running", _("This match is not running."))
        if seat in match.awaited:
            raise Refused("bad-input", _("It is your turn: there is nothing to prepare, make your move."))
        played = log.read(match)
        for written in (text, after) if after else (text,):
            _require_move(played, seat, written)
        text, after = (" ".join(written.split()) for written in (text, after))
        Prepared.delete().where((Prepared.match == match) & (Prepared.seat == seat)).execute()
        return Prepared.create(match=match, seat=seat, user=user, text=text, after=after, made_at=now)


def ready(match: Match, user: User | None) -> Prepared | None:
    """Return the move the person has ready, or one that was dropped and not yet put away, or None."""
    return None if user is None else _OF_PERSON.first(match=match.id, user=user.id)


def put_away(match_id: int, user: User) -> None:
    """Take the move that the person has ready away again, or the note that it was dropped."""
    with db.transaction():
        Prepared.delete().where((Prepared.match == match_id) & (Prepared.user == user)).execute()


def forget(match: Match, seat: int) -> None:
    """Forget what a seat has ready, because its player has left it; the caller holds a transaction."""
    Prepared.delete().where((Prepared.match == match) & (Prepared.seat == seat)).execute()


def follow(desk: Desk) -> None:
    """Make the moves that need no waiting, one after the other, at the caller's desk."""
    if any(row.kind == "undo" for row in desk.rows):
        _bring_back(desk)
    for _round in range(MOST):
        if not any(_made(desk, seat) for seat in desk.played.position.to_act):
            return


def has_any(desk: Desk) -> bool:
    """Whether anybody has a move ready who is awaited, or was and has been moved for."""
    moved = {row.seat for row in desk.rows if row.via == "auto" and row.seat is not None}
    asked = (seat for seat in (*moved, *desk.played.position.to_act) if not desk.seats[seat].user.bot)
    return any(_READY.first(match=desk.match.id, seat=seat) for seat in asked)


def _bring_back(desk: Desk) -> None:
    """Have ready again what was dropped because of a move that is taken back: its turn has not come yet."""
    played = desk.played
    dropped = Prepared.select().where((Prepared.match == desk.match) & (Prepared.dropped != ""))
    for found in list(dropped):
        # Whoever has moved since had his turn.
        since = (row for row in played.rows if row.seat == found.seat and log.instant(row.at) > found.made_at)
        if found.seat not in played.position.to_act and not any(row.kind == "move" for row in since):
            mine = (Prepared.match == desk.match) & (Prepared.seat == found.seat)
            Prepared.update(dropped="").where(mine).execute()


def _made(desk: Desk, seat: int) -> bool:
    """Make the move of an awaited seat if it is ready or the only one; return whether one was made."""
    user = desk.seats[seat].user
    # Who takes a move back is there to make another himself.
    if user.bot or any(row.kind == "undo" and row.seat == seat for row in desk.rows):
        return False
    played = desk.played
    text = _ready_text(desk, seat) or (_only_move(played, seat) if user.forced else "")
    if text:
        desk.put("move", seat, text, "auto")
    return bool(text)


def _ready_text(desk: Desk, seat: int) -> str:
    """Return the move that the seat has ready, in notation, if it fits; else drop it."""
    found = _READY.first(match=desk.match.id, seat=seat)
    if found is None:
        return ""
    mine = (Prepared.match == desk.match) & (Prepared.seat == seat) & (Prepared.dropped == "")
    # Whoever has just moved may speak another language.
    with languages.speaking(found.user.language):
        text, dropped = _fit(desk.played, seat, found)
    if dropped:
        desk.dropped[seat] = dropped
        Prepared.update(dropped=desk.dropped[seat][:300]).where(mine).execute()
    else:
        Prepared.delete().where(mine).execute()
    return text


def _fit(played: Played, seat: int, found: Prepared) -> tuple[str, str]:
    """Return the prepared move in notation, or a sentence that tells why it does not fit."""
    game, state = played.game, played.position.state
    if found.after and not _just_played(played, seat, found.after):
        told = _("Your prepared move {move} was not made: the move before it was not {before}.")
        return "", told.format(move=found.text, before=found.after)
    try:
        return game.format(state, seat, game.parse(state, seat, found.text)), ""
    except MoveError as error:
        return "", _("Your prepared move {move} was not made: {why}").format(move=found.text, why=error)


def _just_played(played: Played, viewer: int, text: str) -> bool:
    """Whether the last move is the one written, as far as the viewer can know."""
    last = next((row for row in reversed(played.rows) if row.kind == "move" and row.seat is not None), None)
    if last is None or last.seat is None:
        return False
    game, before = played.game, played.positions[last.seq - 1].state
    try:
        expected = game.format(before, last.seat, game.parse(before, last.seat, text))
    except MoveError:
        return False
    return expected == game.public_text(before, last.seat, game.parse(before, last.seat, last.text), viewer)


def _only_move(played: Played, seat: int) -> str:
    state = played.position.state
    moves = list(islice(state.legal_moves(seat), 2))
    return played.game.format(state, seat, moves[0]) if len(moves) == 1 else ""


def _require_move(played: Played, seat: int, text: str) -> None:
    """Refuse what can never be a move; whether it is legal is seen when the time comes."""
    if len(text) > 200:
        raise Refused("bad-input", _("A move has at most {n} characters.").format(n=200))
    try:
        played.game.parse(played.position.state, seat, text)
    except InvalidMove as error:
        raise Refused("invalid-move", str(error)) from None
    except MoveError:
        return

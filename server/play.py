"""Moves: made, tried out, taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from engine.base import AmbiguousMove, IllegalMove, InvalidMove, MoveError, View
from engine.language import gettext as _
from engine.replay import NOT_BY_THE_PERSON
from server import db, foresight, log, story, throttle
from server.desk import Desk, foreseeing, writing
from server.errors import Refused
from server.log import Played
from server.models import ClientKey, Match, Seat, User
from server.models.statements import Statement, insertion

LONGEST_KEY = 64
KEYS_KEPT = timedelta(days=30)
NUDGES_APART = timedelta(days=1)
# So often may one turn be taken back.
MOST_UNDOS = 3

_USED: Final = Statement[ClientKey](
    lambda user, key: ClientKey.select().where((ClientKey.user == user) & (ClientKey.key == key))
)
_USE: Final = insertion(ClientKey, "user", "key", "match", "seq", "at")


@dataclass(frozen=True, slots=True)
class Done:
    """What a move did, read back from the log."""

    match_id: int
    seq: int
    text: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a move would do: its notation, its consequences in words, the board after it, the places it touches."""

    text: str
    sentences: tuple[str, ...]
    view: View
    touched: tuple[str, ...]


def submit(
    match_id: int,
    seat: int | None,
    text: str,
    expected: int,
    by: User,
    via: str,
    *,
    now: datetime,
    key: str | None = None,
) -> Done:
    """Play a move.

    `seat` is the number of the seat, None for that of the sender. `expected` is the number of the row at which he was
    last asked, as his page or mail said. `by` is who sends it, `via` is web, email, api or bot. With a `key` of the
    client's a repeated request is given the same answer. Raises `Refused` with codes of docs/errors.md; then nothing
    has changed.
    """
    if key and len(key) > LONGEST_KEY:
        raise Refused("bad-input", _("A request key has at most {n} characters.").format(n=LONGEST_KEY))

    def put(hold: Callable[[int, datetime], AbstractContextManager[Desk]]) -> tuple[Desk, int]:
        with hold(match_id, now) as desk:
            return desk, _make(desk, seat, text, expected, by, via, key)

    try:
        made = None
        with suppress(foresight.Overtaken):
            made = put(foreseeing)
        desk, seq = made or put(writing)
    except Refused:
        # A request that comes again is too late for its own turn.
        told = _made_before(match_id, text, by, key)
        if told is None:
            raise
        return told
    except db.Duplicate:
        raise Refused("bad-input", _("This request key was used for another move.")) from None
    # Others may write while it is told.
    return _done(desk.played, desk.seats, seq)


def _make(desk: Desk, seat: int | None, text: str, expected: int, by: User, via: str, key: str | None) -> int:
    """Put the move into the log, and the key by which its request is known again; return the number of its row."""
    played = desk.played
    seat = desk.own_seat(by) if seat is None else seat
    _may_act(desk.seats, seat, by)
    _check_expected(played, desk.seats, seat, expected)
    move = _parse(played, seat, text)
    row = desk.put("move", seat, played.game.format(played.position.state, seat, move), via)
    if key:
        _USE.put(user=by.id, key=key, match=desk.match.id, seq=row.seq, at=desk.now)
    return row.seq


def was_made(by: User, key: str | None) -> bool:
    """Whether a request of the person's with this key has led to a move."""
    return bool(key) and _USED.first(user=by.id, key=key) is not None


def _made_before(match_id: int, text: str, by: User, key: str | None) -> Done | None:
    """Return what this very request was told when it came first; None if it never did, or its move was taken back.

    Raises `Refused` (bad-input) if the key was used in another match.
    """
    used = _USED.first(user=by.id, key=key) if key else None
    if used is None:
        return None
    if used.match_id != match_id:
        raise Refused("bad-input", _("This request key was used for another match.")) from None
    played = log.current(match_id)
    row, before = played.rows[used.seq - 1], played.positions[used.seq - 1].state
    seat = row.seat or 0
    with suppress(MoveError):
        same = played.game.format(before, seat, played.game.parse(before, seat, text)) == row.text
        if same and row.seq not in story.undone(played):
            return _done(played, log.places(played.match), row.seq)
    return None


def preview(match: Match, seat: int, text: str, expected: int, by: User) -> Trial:
    """Try a move out, with the checks of `submit`; nothing is stored. Raises `Refused`."""
    if match.status != "running":
        raise Refused("not-running", _("This match is not running."))
    played, seats = log.read(match), log.places(match)
    _may_act(seats, seat, by)
    _check_expected(played, seats, seat, expected)
    game, state = played.game, played.position.state
    move = _parse(played, seat, text)
    called = story.names(seats)
    return Trial(
        text=game.format(state, seat, move),
        sentences=tuple(phrase.read(called) for phrase in game.words(state, seat, move, seat)),
        # Without an outcome, even if the move would end the match: nothing secret is shown before it is made.
        view=game.view(state.apply(seat, move), seat, None),
        touched=game.touched(state, seat, move),
    )


def reads_as_move(match: Match, seat: int | None, text: str) -> str:
    """Return what a line says if it was meant as a move of the seat, legal or not: in notation, or as it stands; else
    an empty string."""
    return move_reader(match, seat)(text)


def move_reader(match: Match, seat: int | None, *, own: bool = True) -> Callable[[str], str]:
    """Return what `reads_as_move` does, for many lines with one replay.

    If the reader does not sit in the seat, not `own`, a move is returned as it stands, whether or not it is legal: what
    is legal depends on what is hidden from him.
    """
    if match.status != "running" or seat is None:
        return lambda _text: ""
    played = log.read(match)
    state = played.position.state

    def read(text: str) -> str:
        try:
            move = played.game.parse(state, seat, text)
        except InvalidMove:
            return ""
        except MoveError:
            return text
        return played.game.format(state, seat, move) if own else text

    return read


def take_back(match_id: int, by: User, via: str, *, row: int | None = None, now: datetime) -> None:
    """Take back the own last move, if the table allows that and nobody has moved since. Raises `Refused`.

    `row` is the number of the move, as his page said; without it the last own move is meant, whichever that is.
    Codes: not-yours, not-running, not-your-turn (it was not the last move, or it cannot be taken back).
    """
    with writing(match_id, now) as desk:
        seat = desk.own_seat(by)
        desk.require_running()
        last = last_own_move(desk.played, seat)
        if last is None or row not in {None, last}:
            told = _("There is no move of yours to take back: another has moved, or it is too late.")
            raise Refused("not-your-turn", told)
        desk.put("undo", seat, str(last), via)


def last_own_move(played: Played, seat: int) -> int | None:
    """Return the row of the move that the seat may take back, None if there is none."""
    trail = played.position.trail
    if played.outcome or trail is None or not played.clocks.rule.takeback:
        return None
    row, earlier = played.rows[trail[0] - 1], trail[2]
    if row.seat != seat or row.via in NOT_BY_THE_PERSON:
        return None
    since = played.rows[earlier[0] if earlier else 0 :]
    # Each time all clocks are given back: without an end nobody may hold up the others.
    if sum(each.kind == "undo" and each.seat == seat for each in since) >= MOST_UNDOS:
        return None
    move = played.game.parse(trail[1], seat, row.text)
    return None if played.game.uncovers(trail[1], seat, move) else row.seq


def nudge(match_id: int, by: User, via: str, *, now: datetime) -> None:
    """Have those who are awaited told once more, once a day for each match. Raises `Refused`."""
    throttle.count("affair by", f"{by.id} {match_id}", now)
    with writing(match_id, now) as desk:
        seat = desk.own_seat(by)
        desk.require_running()
        desk.require_room(seat)
        if not may_nudge(desk.played, desk.seats, seat, now):
            raise Refused("throttled", _("Those awaited have been told within the last day. Give them some time."))
        desk.put("nudge", seat, "", via)


def may_nudge(played: Played, seats: list[Seat], seat: int, now: datetime) -> bool:
    """Whether the person in the seat may have the others told once more."""
    awaited = [number for number in played.position.to_act if number != seat and not seats[number].user.bot]
    told = [row.at for row in played.rows if row.kind == "nudge"][-1:]
    asked = [played.clocks.clock(number).asked_at or now for number in awaited]
    return bool(awaited) and all(now - moment >= NUDGES_APART for moment in [*map(log.instant, told), min(asked)])


def sweep(now: datetime) -> None:
    """Forget old request keys; a repeated request is recognised for a month."""
    with db.transaction():
        ClientKey.delete().where(ClientKey.at < now - KEYS_KEPT).execute()


def _may_act(seats: list[Seat], seat: int, by: User) -> None:
    if not 0 <= seat < len(seats) or seats[seat].user_id != by.id:
        raise Refused("not-yours", _("This is not your seat."))


def _check_expected(played: Played, seats: list[Seat], seat: int, expected: int) -> None:
    position = played.position
    awaited = seat in position.to_act
    if awaited and position.asked[seat] == expected:
        return
    if expected == position.seq and not awaited and not position.outcome:
        raise Refused("not-your-turn", _("It is not your turn."))
    called = story.names(seats)
    since = [sentence for line in story.lines(played, called, seat, expected) for sentence in line.sentences]
    if position.outcome:
        raise Refused("not-running", _("This match has ended; nothing was changed."), since=since)
    now = _("It is your turn again.") if awaited else story.turn_of(called, position.to_act[:1])
    moved_on = _("The match has moved on; nothing was changed.")
    raise Refused("stale", f"{moved_on} {now}", since=since)


def _parse(played: Played, seat: int, text: str) -> object:
    try:
        return played.game.parse(played.position.state, seat, text)
    except MoveError as error:
        code = {AmbiguousMove: "ambiguous-move", IllegalMove: "illegal-move", InvalidMove: "invalid-move"}[type(error)]
        raise Refused(code, str(error), choices=getattr(error, "choices", ())) from None


def _done(played: Played, seats: Sequence[Seat], seq: int) -> Done:
    # To the mover, who may know all of it: it is his own row, also when his request comes again.
    line = story.lines(played, story.names(seats), played.rows[seq - 1].seat, seq - 1)[0]
    return Done(played.match.id, seq, line.text, line.sentences)

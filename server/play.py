"""The one write path of a running match: every move, resignation, time-out and takeover becomes rows here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engine.base import AmbiguousMove, IllegalMove, InvalidMove, MoveError, View
from engine.replay import Row
from server import accounts, db, log, notify, story
from server.errors import Refused
from server.log import Played
from server.models import ClientKey, LogRow, Match, Seat, User

LONGEST_KEY = 64
KEYS_KEPT = timedelta(days=30)
# A seat that runs out of time this often in a row is taken over by a bot.
MISSES = 2


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


@dataclass(slots=True)
class Desk:
    """A match held for writing: rows put here are in the log when the block ends, with everything that follows."""

    played: Played
    seats: list[Seat]
    now: datetime
    rows: list[Row] = field(default_factory=list)

    def put(self, kind: str, seat: int, text: str, via: str) -> Row:
        """Append a row."""
        row = log.append(self.played, kind, seat, text, via, self.now)
        self.rows.append(row)
        return row

    def hand_to_bot(self, seat: int, via: str) -> None:
        """Put a bot in the seat, with a row that says so."""
        place = self.seats[seat]
        self.put("takeover", seat, "bot", via)
        place.user = accounts.bot(self.now)
        Seat.update(user=place.user).where(Seat.id == place.id).execute()


@contextmanager
def writing(match_id: int, now: datetime) -> Iterator[Desk]:
    """Hold a running match, and at the end of the block store what follows from the rows put: all or nothing.

    Raises `Refused` (not-found, not-running, damaged).
    """
    with db.transaction():
        match = log.get(match_id, hold=True)
        if match.status in {"open", "cancelled"}:
            raise Refused("not-running", "This match is not running.")
        desk = Desk(log.read(match), log.places(match), now)
        yield desk
        if desk.rows:
            log.store(desk.played)
            notify.advanced(desk.played, desk.rows, now)


def submit(
    match_id: int,
    seat: int,
    text: str,
    expected: int,
    by: User,
    via: str,
    *,
    now: datetime,
    key: str | None = None,
) -> Done:
    """Play a move.

    `expected` is the number of the row at which the sender was last asked, as his page or mail said. `by` is who sends
    it, `via` is web, email, api or bot. With a `key` of the client's a repeated request is given the same answer.
    Raises `Refused` with codes of docs/errors.md; then nothing has changed.
    """
    if key and len(key) > LONGEST_KEY:
        raise Refused("bad-input", f"A request key has at most {LONGEST_KEY} characters.")
    with _one_use_of_a_key(), writing(match_id, now) as desk:
        repeated = key and ClientKey.get_or_none((ClientKey.user == by) & (ClientKey.key == key))
        if repeated:
            if repeated.match_id != match_id:
                raise _used_elsewhere()
            return _done(desk.played, repeated.seq)
        played = desk.played
        _may_act(desk.seats, seat, by)
        _check_expected(played, desk.seats, seat, expected)
        move = _parse(played, seat, text)
        row = desk.put("move", seat, played.game.format(played.position.state, seat, move), via)
        if key:
            ClientKey.insert(user=by, key=key, match=match_id, seq=row.seq, at=now).execute()
        return _done(played, row.seq)


@contextmanager
def _one_use_of_a_key() -> Iterator[None]:
    """Two requests with one key for two matches, at the same moment: the database lets one through."""
    try:
        yield
    except db.Duplicate:
        raise _used_elsewhere() from None


def _used_elsewhere() -> Refused:
    return Refused("bad-input", "This request key was used for another match.")


def preview(match: Match, seat: int, text: str, expected: int, by: User) -> Trial:
    """Try a move out, with the checks of `submit`; nothing is stored. Raises `Refused`."""
    if match.status != "running":
        raise Refused("not-running", "This match is not running.")
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


def resign(match_id: int, by: User, via: str, *, now: datetime) -> None:
    """Give up; a bot plays the seat on while at least two others contest. Raises `Refused`."""
    with writing(match_id, now) as desk:
        seat = own_seat(desk.seats, by)
        if desk.played.outcome:
            raise Refused("not-running", "This match has ended.")
        desk.put("resign", seat, "", via)
        if not desk.played.outcome:
            desk.hand_to_bot(seat, via)


def time_out(match_id: int, *, now: datetime) -> bool:
    """Move for the awaited seats if their deadline has passed; return whether it had."""
    with writing(match_id, now) as desk:
        played, match = desk.played, desk.played.match
        until = log.deadline(played)
        if match.status != "running" or until is None or until > now:
            return False
        for seat in played.position.to_act:
            if played.outcome:
                break
            state = played.position.state
            move = played.game.format(state, seat, played.game.timeout_move(state, seat))
            person = not desk.seats[seat].user.bot
            if person:
                desk.put("timeout", seat, "", "clock")
            desk.put("move", seat, move, "clock")
            if person and not played.outcome and played.position.misses[seat] >= MISSES:
                desk.hand_to_bot(seat, "clock")
        return True


def own_seat(seats: list[Seat], user: User) -> int:
    """Return the number of the seat the person sits in. Raises `Refused` (not-yours)."""
    for seat in seats:
        if seat.user_id == user.id and seat.number is not None:
            return int(seat.number)
    raise Refused("not-yours", "You have no seat in this match.")


def verify(match_id: int) -> list[str]:
    """Return what is wrong with a match, in sentences: its chain, its replay, its cached columns; [] if all is well."""
    # Held, or a move that comes in between two looks would seem a fault.
    with db.transaction():
        match = log.get(match_id, hold=True)
        try:
            return _faults(log.read(match), log.places(match))
        except Refused as fault:
            return [f"{fault.sentence} {fault.__cause__ or ''}".strip()]


def _faults(played: Played, seats: list[Seat]) -> list[str]:
    match = played.match
    wrong = [
        f"The column {name} says {getattr(match, name)!r}, the setup row {played.head[name]!r}."
        for name in ("game", "rules", "options", "seats")
        if getattr(match, name) != played.head[name]
    ]
    if [seat.owner_id for seat in seats] != played.head["people"]:
        wrong.append("The seats are not given to the people whom the setup row names.")
    wrong += [
        f"The column {name} says {getattr(match, name)!r}, the log {value!r}."
        for name, value in log.cached(played, log.bot_seats(seats)).items()
        if _plain(getattr(match, name)) != _plain(value)
    ]
    # Whose resignation ends a match keeps the seat; every other takeover has a row.
    taken = played.position.taken_over & {row.seat for row in played.rows if row.kind == "takeover"}
    gone = [seat for seat in sorted(taken) if not seats[seat].user.bot]
    return wrong + [f"Seat {seat} was taken over by a bot, but a person sits there." for seat in gone]


def rebuild(match_id: int) -> None:
    """Write the cached columns of a match again from its log."""
    with db.transaction():
        log.store(log.read(log.get(match_id, hold=True)))


def sweep(now: datetime) -> None:
    """Forget old request keys; a repeated request is recognised for a month."""
    with db.transaction():
        ClientKey.delete().where(ClientKey.at < now - KEYS_KEPT).execute()


def running_or_over() -> list[int]:
    """Return the number of every match that has a log, oldest first."""
    begun = Match.select(Match.id).where(Match.id.in_(LogRow.select(LogRow.match).distinct()))
    return [match.id for match in begun.order_by(Match.id)]


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value


def _may_act(seats: list[Seat], seat: int, by: User) -> None:
    if not 0 <= seat < len(seats) or seats[seat].user_id != by.id:
        raise Refused("not-yours", "This is not your seat.")


def _check_expected(played: Played, seats: list[Seat], seat: int, expected: int) -> None:
    position = played.position
    awaited = seat in position.to_act
    if awaited and position.asked[seat] == expected:
        return
    if expected == position.seq and not awaited and not position.outcome:
        raise Refused("not-your-turn", "It is not your turn.")
    called = story.names(seats)
    since = [sentence for line in story.lines(played, called, seat, expected) for sentence in line.sentences]
    if position.outcome:
        raise Refused("not-running", "This match has ended; nothing was changed.", since=since)
    now = "It is your turn again." if awaited else f"It is {called[position.to_act[0]]}'s turn."
    raise Refused("stale", f"The match has moved on; nothing was changed. {now}", since=since)


def _parse(played: Played, seat: int, text: str) -> object:
    try:
        return played.game.parse(played.position.state, seat, text)
    except MoveError as error:
        code = {AmbiguousMove: "ambiguous-move", IllegalMove: "illegal-move", InvalidMove: "invalid-move"}[type(error)]
        raise Refused(code, str(error), choices=getattr(error, "choices", ())) from None


def _done(played: Played, seq: int) -> Done:
    seats = log.places(played.match)
    # To the mover, who may know all of it: it is his own row, also when his request comes again.
    line = story.lines(played, story.names(seats), played.rows[seq - 1].seat, seq - 1)[0]
    return Done(played.match.id, seq, line.text, line.sentences)

"""Reading and appending the log of a match: the only truth about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from engine import games, record, replay, timing
from engine.base import Game, Outcome, View
from engine.language import gettext as _
from engine.replay import Position, ReplayError, Row
from engine.timing import Timekeeper, TimingError, WrongRule
from server import db, meters
from server.errors import Refused
from server.models import LogRow, Match, Seat, User
from server.models.statements import Sized, Statement, insertion
from server.shelf import Shelf, Stored

_MATCH: Final = Statement[Match](lambda number: Match.select().where(Match.id == number))
_HELD: Final = Statement[Match](lambda number: db.locked(Match.select().where(Match.id == number)))
_ROWS: Final = Statement[LogRow](
    lambda match: (
        LogRow.select(LogRow.seq, LogRow.seat, LogRow.kind, LogRow.text, LogRow.at, LogRow.via, LogRow.hash)
        .where(LogRow.match == match)
        .order_by(LogRow.seq)
    )
)
_INSERT: Final = insertion(LogRow, "match", "seq", "seat", "kind", "text", "at", "via", "hash")
_SEATS: Final = Sized[Seat](lambda matches: Seat.select().where(Seat.match.in_(matches)))
_USERS: Final = Sized[User](lambda numbers: User.select().where(User.id.in_(numbers)))
_OWN: Final = Statement[Seat](
    lambda match, user: Seat.select(Seat.number).where(
        (Seat.match == match) & (Seat.user == user) & Seat.number.is_null(False)
    )
)


@dataclass(slots=True)
class Played:
    """A match as its log tells it. `rows` are those after the setup row; `positions` holds
    where the match stood after the setup and after each of them; `append` adds to both.

    `head` is what the setup row holds: match, game, rules, options, seats, people, clock, setup, seed. `clocks` are
    those of the seats after the last row.
    """

    match: Match
    game: Game
    setup_row: Row
    head: dict[str, Any]
    rows: list[Row]
    positions: list[Position]
    last_hash: str
    clocks: Timekeeper

    @property
    def position(self) -> Position:
        """Where the match stands."""
        return self.positions[-1]

    def again(self, match: Match) -> Played:
        """Return the same, to go on from, with the columns of the match as they are now."""
        rows, positions = list(self.rows), list(self.positions)
        return Played(match, self.game, self.setup_row, self.head, rows, positions, self.last_hash, self.clocks)

    def view(self, viewer: int | None, position: Position | None = None) -> View:
        """Return what the viewer may know of the present, or of an earlier, position."""
        position = position or self.position
        return self.game.view(position.state, viewer, position.outcome)

    @property
    def setup(self) -> Any:
        """What chance decided."""
        return self.head["setup"]

    @property
    def last_at(self) -> datetime:
        """When the last thing happened, be it the deal."""
        return instant((self.rows[-1] if self.rows else self.setup_row).at)

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended, or None."""
        return self.position.outcome


_shelf: Final[Shelf[Played]] = Shelf()


def stamp(instant: datetime | None) -> str:
    """Return the instant as records write it: 2026-11-30T07:12:15.123Z. Raises `ValueError` if there is none."""
    if instant is None:
        raise ValueError("a row of this server has no time")
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def instant(text: str | None) -> datetime:
    """Return the aware datetime of a `stamp`."""
    if text is None:
        raise ValueError("a row of this server has no time")
    return datetime.fromisoformat(text)


def get(match_id: int, *, hold: bool = False) -> Match:
    """Return the match; `hold` locks its row until the transaction ends. Raises `Refused` (not-found)."""
    if not 0 < match_id < 2**31:
        raise Refused("not-found", _("There is no such match."))
    match = (_HELD if hold else _MATCH).first(number=match_id)
    if match is None:
        raise Refused("not-found", _("There is no such match."))
    return match


def frozen(match: Match) -> Refused:
    """Return the refusal of whatever is to happen in a match that a keeper holds."""
    told = _("The keeper of this site holds the match for now: no move is taken, and no time runs. The reason: {why}")
    return Refused("frozen", told.format(why=match.frozen_why))


def places(match: Match) -> list[Seat]:
    """Return the seats of a match: by number once it has started, before that in order of joining."""
    return places_of([match])[match.id]


def places_of(matches: Iterable[Match]) -> dict[int, list[Seat]]:
    """Return the `places` of each of the matches by its number, asked for at once."""
    found: dict[int, list[Seat]] = {match.id: [] for match in matches}
    seated = _SEATS.among(found)
    people = {user.id: user for user in _USERS.among({number for seat in seated for number in _people(seat)})}
    for seat in seated:
        seat.user, seat.owner = people[seat.user_id], people[seat.owner_id]
        found[seat.match_id].append(seat)
    for seats in found.values():
        seats.sort(key=_place)
    return found


def _people(seat: Seat) -> tuple[int, int]:
    return seat.user_id, seat.owner_id


def _place(seat: Seat) -> int:
    return int(seat.id if seat.number is None else seat.number)


def open_log(match: Match, setup: Any, now: datetime) -> Played:
    """Write row 0, the setup, and return the match as played so far: not at all."""
    people = [seat.owner_id for seat in places(match)]
    seed = bytes(match.secret).hex()
    text = record.setup_text(
        match.id, match.game, match.rules, match.options, match.seats, setup, seed, people, match.clock
    )
    row = record.setup_row(text, stamp(now))
    _insert(match.id, row, record.row_hash("", row), now)
    return read(match)


def fill(match: Match, rows: Sequence[Row]) -> Played:
    """Write a whole log at once, its rows as they are, the setup row first; return the match as played.

    The caller holds a transaction. Raises `Refused` (damaged) if the rows cannot be played.
    """
    previous = ""
    for row in rows:
        previous = record.row_hash(previous, row)
        _insert(match.id, row, previous, instant(row.at))
    return read(match)


def fetch(match_id: int) -> None:
    """Replay a match that is not kept, so that nobody waits for that while it is held; what is wrong is seen then."""
    if not _shelf.has(match_id):
        with suppress(Refused):
            match = get(match_id)
            if match.status == "running":
                read(match)


def current(match_id: int) -> Played:
    """Replay a match with columns and log of one moment, without holding it. Raises `Refused` (not-found, damaged)."""
    for _look in range(3):
        played = read(get(match_id))
        if played.match.length == played.position.seq:
            break
        # A row came in between the two looks.
    return played


def read(match: Match) -> Played:
    """Replay the log of a match, or carry on what is kept of it. Raises `Refused` (damaged) if it cannot be."""
    stored: list[Stored] = _ROWS.tuples(match=match.id)
    kept = _shelf.find(match.id, stored)
    try:
        if kept and _rules(kept.head):
            played = kept.again(match)
        else:
            with meters.REPLAYS.time():
                played = _replay(match, stored)
        for entry in stored[len(played.rows) + 1 :]:
            _follow(played, entry)
    except (ReplayError, TimingError, WrongRule, KeyError, IndexError, TypeError, ValueError, LookupError) as fault:
        # Why is for the keeper only (`verify` tells him): the text of a row may be a secret of the player who wrote it.
        if isinstance(fault, ReplayError | TimingError):
            told = _("Match {match} cannot be replayed, so it is frozen: step {step} does not fit.")
        else:
            told = _("Match {match} cannot be replayed, so it is frozen: its setup does not fit.")
        raise Refused("damaged", told.format(match=match.id, step=getattr(fault, "seq", 0))) from fault
    if kept is None or len(kept.rows) < len(played.rows):
        _shelf.keep(match.id, stored, played.again(match))
    return played


def _replay(match: Match, stored: Sequence[Stored]) -> Played:
    """Replay a whole log. Raises what `read` catches."""
    rows = [_row(entry) for entry in stored]
    head = json.loads(rows[0].text)
    game = _rules(head)
    positions = list(replay.positions(game, head["setup"], head["seats"], head["options"], rows[1:]))
    last_hash = ""
    for row, entry in zip(rows, stored, strict=True):
        last_hash = _chained(last_hash, row, entry)
    clocks = Timekeeper(timing.rule(head.get("clock", match.clock)), positions, rows[0], rows[1:])
    return Played(match, game, rows[0], head, rows[1:], positions, last_hash, clocks)


def _rules(head: dict[str, Any]) -> Game:
    """Return the rules that a match was begun under. Raises `ReplayError` if they are not installed."""
    game = games.game(head["game"])
    if head["rules"] != game.rules:
        raise ReplayError(0, f"it was begun under rules {head['rules']}, which are not installed")
    return game


def _follow(played: Played, entry: Stored) -> None:
    """Let one more stored row happen. Raises `ReplayError` or `TimingError`."""
    row = _row(entry)
    _advance(played, row, _chained(played.last_hash, row, entry))


def _advance(played: Played, row: Row, digest: str) -> None:
    position = replay.advance(played.position, row)
    played.clocks = played.clocks.after(position, row)
    played.positions.append(position)
    played.rows.append(row)
    played.last_hash = digest


def _row(entry: Stored) -> Row:
    seq, seat, kind, text, at, via, _hash = entry
    return Row(seq, seat, kind, text, stamp(LogRow.at.python_value(at)), via)


def _chained(previous: str, row: Row, entry: Stored) -> str:
    """Return the hash of a stored row, which follows from the one before. Raises `ReplayError`."""
    digest = record.row_hash(previous, row)
    if bytes.fromhex(digest) != entry[-1]:
        raise ReplayError(row.seq, "its hash does not follow from the row before")
    return digest


def raw(match: Match) -> list[LogRow]:
    """Return the stored rows after the setup row as they are, for a match that cannot be replayed."""
    return list(LogRow.select().where((LogRow.match == match) & (LogRow.seq > 0)).order_by(LogRow.seq))


def append(played: Played, kind: str, seat: int | None, text: str, via: str, now: datetime) -> Row:
    """Add one row inside the caller's transaction and move the position on. Raises `engine.replay.ReplayError`."""
    # A mail counts from when it came; the rows follow each other in time all the same.
    now = max(now, played.last_at)
    row = Row(played.position.seq + 1, seat, kind, text, stamp(now), via)
    digest = record.row_hash(played.last_hash, row)
    _advance(played, row, digest)
    _insert(played.match.id, row, digest, now)
    return row


def _insert(match_id: int, row: Row, digest: str, now: datetime) -> None:
    named = row._asdict() | {"match": match_id, "at": now, "hash": bytes.fromhex(digest)}
    _INSERT.put(**named)


def expected(played: Played, seat: int | None) -> int:
    """Return the number that a move of this seat must name: the row since which it is awaited."""
    position = played.position
    if seat is not None and seat in position.to_act:
        return position.asked[seat] or 0
    return position.seq


def game_of(match: Match) -> Game:
    """Return the rules a match is played by. Raises `Refused` (damaged) when they are not installed."""
    try:
        return games.game(match.game)
    except LookupError as fault:
        told = _("Match {match} needs a game that is not installed: {game}.")
        raise Refused("damaged", told.format(match=match.id, game=match.game)) from fault


def rule_sentence(match: Match) -> str:
    """Return the table's time rule in one sentence."""
    return timing.sentence(timing.rule(match.clock))


def title(match: Match) -> str:
    """Return what a match is called: Clans 17."""
    game = games.games().get(match.game)
    return f"{game.title if game else match.game} {match.id}"


def seat_of(seats: Sequence[Seat], user: User) -> int:
    """Return the number of the seat that the person sits in. Raises `Refused` (not-yours)."""
    for number, seat in enumerate(seats):
        if seat.user_id == user.id:
            return number
    raise Refused("not-yours", _("You have no seat in this match."))


def own_number(match: Match, user: User | None) -> int | None:
    """Return the number of the seat that the person sits in now, or None."""
    if user is None:
        return None
    seat = _OWN.first(match=match.id, user=user.id)
    return None if seat is None else seat.number

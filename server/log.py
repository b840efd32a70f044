"""Reading and appending the log of a match: the only truth about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine import games, record, replay, timing
from engine.base import Game, Outcome, View
from engine.language import gettext as _
from engine.replay import Position, ReplayError, Row
from engine.timing import Timekeeper, TimingError, WrongRule
from server import db, meters
from server.errors import Refused
from server.models import LogRow, Match, Seat, User


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


def stamp(instant: datetime | None) -> str:
    """Return the instant as records write it: 2026-11-30T07:12:15.123Z. Raises `ValueError` if there is none."""
    if instant is None:
        raise ValueError("a row of this server has no time")
    return instant.strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant.microsecond // 1000:03d}Z"


def instant(text: str | None) -> datetime:
    """Return the aware datetime of a `stamp`."""
    if text is None:
        raise ValueError("a row of this server has no time")
    return datetime.fromisoformat(text)


def get(match_id: int, *, hold: bool = False) -> Match:
    """Return the match; `hold` locks its row until the transaction ends. Raises `Refused` (not-found)."""
    if not 0 < match_id < 2**31:
        raise Refused("not-found", _("There is no such match."))
    query = Match.select().where(Match.id == match_id)
    match = (db.locked(query) if hold else query).first()
    if match is None:
        raise Refused("not-found", _("There is no such match."))
    return match  # type: ignore[no-any-return]


def frozen(match: Match) -> Refused:
    """Return the refusal of whatever is to happen in a match that a keeper holds."""
    told = _("The keeper of this site holds the match for now: no move is taken, and no time runs. The reason: {why}")
    return Refused("frozen", told.format(why=match.frozen_why))


def places(match: Match) -> list[Seat]:
    """Return the seats of a match: by number once it has started, before that in order of joining."""
    return places_of([match])[match.id]


def places_of(matches: Iterable[Match]) -> dict[int, list[Seat]]:
    """Return the `places` of each of the matches by its number, asked for at once."""
    owner = User.alias()
    with_people = Seat.select(Seat, User, owner).join(User, on=Seat.user).switch(Seat).join(owner, on=Seat.owner)
    found: dict[int, list[Seat]] = {match.id: [] for match in matches}
    for seat in with_people.where(Seat.match.in_(list(found))):
        found[seat.match_id].append(seat)
    for seats in found.values():
        seats.sort(key=lambda seat: seat.id if seat.number is None else seat.number)
    return found


def open_log(match: Match, setup: Any, now: datetime) -> Played:
    """Write row 0, the setup, and return the match as played so far: not at all."""
    people = [seat.owner_id for seat in places(match)]
    seed = bytes(match.secret).hex()
    text = record.setup_text(
        match.id, match.game, match.rules, match.options, match.seats, setup, seed, people, match.clock
    )
    row = record.setup_row(text, stamp(now))
    _insert(match.id, row, "", now)
    return read(match)


def fill(match: Match, rows: Sequence[Row]) -> Played:
    """Write a whole log at once, its rows as they are, the setup row first; return the match as played.

    The caller holds a transaction. Raises `Refused` (damaged) if the rows cannot be played.
    """
    previous = ""
    for row in rows:
        previous = _insert(match.id, row, previous, instant(row.at))
    return read(match)


def current(match_id: int) -> Played:
    """Replay a match with columns and log of one moment, without holding it. Raises `Refused` (not-found, damaged)."""
    for _look in range(3):
        played = read(get(match_id))
        if played.match.length == played.position.seq:
            break
        # A row came in between the two looks.
    return played


def read(match: Match) -> Played:
    """Replay the log of a match. Raises `Refused` (damaged) if it cannot be."""
    with meters.REPLAYS.time():
        return _read(match)


def _read(match: Match) -> Played:
    entries: list[Any] = list(LogRow.select().where(LogRow.match == match).order_by(LogRow.seq).tuples())
    try:
        rows = [Row(seq, seat, kind, text, stamp(at), via) for _id, seq, seat, kind, text, at, via, _hash in entries]
        head = json.loads(rows[0].text)
        game = games.game(head["game"])
        if head["rules"] != game.rules:
            raise ReplayError(0, f"it was begun under rules {head['rules']}, which are not installed")
        positions = list(replay.positions(game, head["setup"], head["seats"], head["options"], rows[1:]))
        last_hash = _chain(rows, [bytes(entry[-1]).hex() for entry in entries])
        clocks = Timekeeper(timing.rule(head.get("clock", match.clock)), positions, rows[0], rows[1:])
    except (ReplayError, TimingError, WrongRule, KeyError, IndexError, TypeError, ValueError, LookupError) as fault:
        # Why is for the keeper only (`verify` tells him): the text of a row may be a secret of the player who wrote it.
        if isinstance(fault, ReplayError | TimingError):
            told = _("Match {match} cannot be replayed, so it is frozen: step {step} does not fit.")
        else:
            told = _("Match {match} cannot be replayed, so it is frozen: its setup does not fit.")
        raise Refused("damaged", told.format(match=match.id, step=getattr(fault, "seq", 0))) from fault
    return Played(
        match=match,
        game=game,
        setup_row=rows[0],
        head=head,
        rows=rows[1:],
        positions=positions,
        last_hash=last_hash,
        clocks=clocks,
    )


def _chain(rows: Sequence[Row], hashes: Sequence[str]) -> str:
    """Return the last hash of a log whose every row has the hash that follows from the one before."""
    previous = ""
    for row, stored in zip(rows, hashes, strict=True):
        previous = record.row_hash(previous, row)
        if previous != stored:
            raise ReplayError(row.seq, "its hash does not follow from the row before")
    return previous


def raw(match: Match) -> list[LogRow]:
    """Return the stored rows after the setup row as they are, for a match that cannot be replayed."""
    return list(LogRow.select().where((LogRow.match == match) & (LogRow.seq > 0)).order_by(LogRow.seq))


def append(played: Played, kind: str, seat: int | None, text: str, via: str, now: datetime) -> Row:
    """Add one row inside the caller's transaction and move the position on. Raises `engine.replay.ReplayError`."""
    # A mail counts from when it came; the rows follow each other in time all the same.
    now = max(now, played.last_at)
    row = Row(played.position.seq + 1, seat, kind, text, stamp(now), via)
    played.positions.append(replay.advance(played.position, row))
    played.last_hash = _insert(played.match.id, row, played.last_hash, now)
    played.rows.append(row)
    played.clocks = Timekeeper(played.clocks.rule, played.positions, played.setup_row, played.rows)
    return row


def _insert(match_id: int, row: Row, previous: str, now: datetime) -> str:
    digest = record.row_hash(previous, row)
    LogRow.insert(
        match=match_id,
        seq=row.seq,
        seat=row.seat,
        kind=row.kind,
        text=row.text,
        at=now,
        via=row.via,
        hash=bytes.fromhex(digest),
    ).execute()
    return digest


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
    seat = Seat.get_or_none((Seat.match == match) & (Seat.user == user) & Seat.number.is_null(False))
    return None if seat is None else seat.number

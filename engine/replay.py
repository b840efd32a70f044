"""From the rows of a match log to the position they lead to. The log is the only truth; docs/records.md tells of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.base import Game, InvalidSetup, MoveError, Outcome, Plain, State
from engine.language import gettext as _
from engine.language import later

SETUP, MOVE, RESIGN, TIMEOUT, TAKEOVER, UNDO = "setup", "move", "resign", "timeout", "takeover", "undo"
END, CANCEL, OFFER = "end", "cancel", "offer"
RESIGNATION, CANCELLED, AGREEMENT = later("resignation"), later("cancelled"), later("agreement")
"""Why a match ended otherwise than by the rules of its game."""
NOTED = ("vacation", "pause", "resume", "outage", "hours", "wait", "vote", "nudge")
"""Rows that leave the position as it is; `engine.timing` reads most of them, the server's votes the rest."""
BOT = "bot"
"""A `takeover` row whose text is this word, or begins with it and a space or colon, puts a bot in the seat."""
NOT_BY_THE_PERSON = frozenset({"clock", BOT})
"""The values of `via` of moves that the person in the seat did not make."""

Trail = tuple[int, State, "Trail | None"]
"""The moves that can be taken back, last first: the number of its row, the state before it, the moves before it."""


class ReplayError(Exception):
    """A row cannot be what happened: `seq` is the number it has or should have, 0 the setup; `why` one sentence."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"row {seq}: {why}")
        self.seq = seq
        self.why = why


class Row(NamedTuple):
    """One entry of a match log.

    `kind` is setup (only row 0), move, resign, timeout, takeover, offer, undo, end, cancel, or one of `NOTED`; `text`
    the move in notation, whom a takeover seats, or the number of the row that an undo takes back. `at` is an instant in
    UTC as ISO 8601, `via` the way it came: web, email, api, bot, clock, auto.
    """

    seq: int
    seat: int | None
    kind: str
    text: str
    at: str | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """Where a match stands after row `seq`.

    `asked` holds, by seat, the number of the row at which it was last asked to act, None if it never was. `misses`
    counts, by seat, the time-outs since the person in it last moved. `resigned` seats have left the contest and are
    played by bots, as are all in `taken_over`; of these, anybody may take over the `offered`. `trail` is what undo
    needs.
    """

    game: Game
    state: State
    seq: int
    asked: tuple[int | None, ...]
    resigned: frozenset[int]
    misses: tuple[int, ...]
    taken_over: frozenset[int]
    offered: frozenset[int]
    outcome: Outcome | None
    # Neither compared nor shown: it is as deep as the match is long.
    trail: Trail | None = field(compare=False, repr=False)

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats awaited, ascending; nobody once there is an outcome."""
        return () if self.outcome else self.state.to_act


def start(game: Game, setup: Plain, seats: int, options: Mapping[str, str], seq: int = 0) -> Position:
    """Return the position before the first move, as row `seq` made it. Raises `ReplayError`, also for a bad setup."""
    try:
        state = game.begin(setup, seats, options)
    except InvalidSetup as error:
        raise ReplayError(seq, str(error)) from error
    asked = tuple(seq if seat in state.to_act else None for seat in range(seats))
    nobody: frozenset[int] = frozenset()
    return Position(game, state, seq, asked, nobody, (0,) * seats, nobody, nobody, state.outcome(), None)


def advance(position: Position, row: Row) -> Position:
    """Return the position after one more row. Raises `ReplayError`; nothing has changed then."""
    run = _Run(position)
    run.take(row)
    return run.position()


def replay(game: Game, setup: Plain, seats: int, options: Mapping[str, str], rows: Iterable[Row]) -> Position:
    """Return the position after all rows; `rows` begin after the setup row, with number 1. Raises `ReplayError`."""
    run = _Run(start(game, setup, seats, options))
    for row in rows:
        run.take(row)
    return run.position()


def positions(
    game: Game, setup: Plain, seats: int, options: Mapping[str, str], rows: Iterable[Row]
) -> Iterator[Position]:
    """Yield the first position and then the one after each row. Raises `ReplayError` where it comes to a bad row."""
    run = _Run(start(game, setup, seats, options))
    yield run.position()
    for row in rows:
        run.take(row)
        yield run.position()


class _Run:
    """A position being carried through rows: mutable, so that a long log does not copy what a row leaves alone."""

    __slots__ = ("asked", "game", "misses", "offered", "outcome", "resigned", "seq", "state", "taken_over", "trail")

    def __init__(self, position: Position) -> None:
        self.game = position.game
        self.state = position.state
        self.seq = position.seq
        self.asked = list(position.asked)
        self.resigned = position.resigned
        self.misses = list(position.misses)
        self.taken_over = position.taken_over
        self.offered = position.offered
        self.outcome = position.outcome
        self.trail = position.trail

    def position(self) -> Position:
        """Return the position as it stands now."""
        # Without the names of the fields, which would double what this costs.
        return Position(
            self.game,
            self.state,
            self.seq,
            tuple(self.asked),
            self.resigned,
            tuple(self.misses),
            self.taken_over,
            self.offered,
            self.outcome,
            self.trail,
        )

    def take(self, row: Row) -> None:
        """Let one row happen. Raises `ReplayError`, after which the run is of no more use."""
        seq, seat, kind, text, _at, via = row
        due = self.seq + 1
        if seq != due:
            raise ReplayError(
                due, _("Row {due} is missing: row {found} stands in its place.").format(due=due, found=seq)
            )
        if self.outcome:
            raise ReplayError(due, _("The match had ended ({reason}).").format(reason=_(self.outcome.reason)))
        if kind == MOVE:
            self._move(seq, seat, text, via)
        elif kind == UNDO:
            self._undo(row)
        else:
            self._event(row)
        self.seq = due

    def _move(self, seq: int, seat: int | None, text: str, via: str | None) -> None:
        before = self.state
        were_to_act = before.to_act
        if seat is None or seat not in were_to_act:
            raise ReplayError(seq, _("It was not the turn of seat {seat}.").format(seat=seat))
        try:
            after = before.apply(seat, self.game.parse(before, seat, text))
        except MoveError as error:
            why = _("{text} is no legal move: {why}").format(text=repr(text[:40]), why=error)
            raise ReplayError(seq, why) from error
        self.trail = (seq, before, self.trail)
        self.state = after
        if via not in NOT_BY_THE_PERSON:
            self.misses[seat] = 0
        to_act = after.to_act
        for awaited in to_act:
            if awaited == seat or awaited not in were_to_act:
                self.asked[awaited] = seq
        if not to_act:
            self.outcome = self._own_end()

    def _undo(self, row: Row) -> None:
        """Take back the last move that still counts; resignations, time-outs and takeovers stay as they are."""
        if row.seat is not None:
            self._known(row)
        if self.trail is None:
            raise ReplayError(row.seq, _("There is no move to take back."))
        taken, before, earlier = self.trail
        if row.text != str(taken):
            why = _("Only the last move, row {last}, can be taken back, not {text}.")
            raise ReplayError(row.seq, why.format(last=taken, text=repr(row.text[:20])))
        self.state, self.trail = before, earlier
        for awaited in before.to_act:
            self.asked[awaited] = row.seq

    def _event(self, row: Row) -> None:
        """Let something happen that leaves the state of the game as it is."""
        if row.kind in NOTED:
            if row.seat is not None:
                self._known(row)
            return
        if row.kind in (END, CANCEL):
            self._agreed(row)
            return
        if row.kind not in (RESIGN, TIMEOUT, TAKEOVER, OFFER):
            why = _("No row of the kind {kind} can stand here.").format(kind=repr(row.kind[:20]))
            raise ReplayError(row.seq, why)
        seat = self._known(row)
        if row.kind == RESIGN:
            self._resign(row, seat)
        elif row.kind == TAKEOVER:
            self._takeover(row, seat)
        elif row.kind == OFFER:
            self._offer(row, seat)
        elif seat in self.state.to_act:
            self.misses[seat] += 1
        else:
            why = _("Seat {seat} was not awaited, so it cannot be out of time.").format(seat=seat)
            raise ReplayError(row.seq, why)

    def _known(self, row: Row) -> int:
        if row.seat is None or not 0 <= row.seat < self.state.seats:
            raise ReplayError(row.seq, _("There is no seat {seat}.").format(seat=row.seat))
        return row.seat

    def _resign(self, row: Row, seat: int) -> None:
        """Take a seat out of the contest; a bot plays it on while at least two others are left."""
        if seat in self.resigned:
            raise ReplayError(row.seq, _("Seat {seat} had resigned before.").format(seat=seat))
        self.resigned |= {seat}
        self.taken_over |= {seat}
        self.offered -= {seat}
        left = tuple(other for other in range(self.state.seats) if other not in self.resigned)
        if len(left) == 1:
            scores, detail = self.state.tally()
            self.outcome = Outcome(RESIGNATION, scores, left, detail)

    def _takeover(self, row: Row, seat: int) -> None:
        """Seat a bot or another person. Whoever resigned stays out, so only bots sit there."""
        by_bot = row.text == BOT or row.text.startswith((f"{BOT}:", f"{BOT} "))
        if not row.text:
            raise ReplayError(row.seq, _("A takeover must say who takes the seat."))
        if not by_bot and seat in self.resigned:
            raise ReplayError(row.seq, _("Seat {seat} has resigned: only a bot may play it.").format(seat=seat))
        if by_bot and seat in self.taken_over and seat not in self.resigned:
            raise ReplayError(row.seq, _("A bot plays seat {seat} already.").format(seat=seat))
        if by_bot:
            self.taken_over |= {seat}
        else:
            self.taken_over -= {seat}
            self.offered -= {seat}
            self.misses[seat] = 0

    def _offer(self, row: Row, seat: int) -> None:
        """Let anybody take over a seat that a bot plays. Whoever resigned stays out, so his is never offered."""
        if seat not in self.taken_over or seat in self.resigned:
            why = _("Seat {seat} cannot be offered: no bot plays it, or it has resigned.").format(seat=seat)
            raise ReplayError(row.seq, why)
        self.offered |= {seat}

    def _agreed(self, row: Row) -> None:
        """End the match by the will of its players: as it stands, or, cancelled, without a winner."""
        if row.seat is not None:
            self._known(row)
        scores, detail = self.state.tally()
        if row.kind == CANCEL:
            self.outcome = Outcome(CANCELLED, (0,) * len(scores), (), detail)
        else:
            self.outcome = Outcome(AGREEMENT, scores, self._best(scores), detail)

    def _best(self, scores: Sequence[int]) -> tuple[int, ...]:
        """Return the seats with the highest score; those who resigned cannot win."""
        left = [seat for seat in range(len(scores)) if seat not in self.resigned]
        best = max(scores[seat] for seat in left)
        return tuple(seat for seat in left if scores[seat] == best)

    def _own_end(self) -> Outcome | None:
        """Return how the game ended by its own rules; those who resigned cannot win."""
        outcome = self.state.outcome()
        if outcome is None or not self.resigned:
            return outcome
        return Outcome(outcome.reason, outcome.scores, self._best(outcome.scores), outcome.detail)

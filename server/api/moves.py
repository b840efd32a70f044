"""Moves: made, tried out, taken back, had ready."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from server import ahead, play, whatif
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.seen import own_seat, played_by, visible
from server.api.shapes import Answer, Body, Number, Plain, Why
from server.api.shapes import Done as Told
from server.api.told import Ready
from server.errors import Refused

room = Room("moves", "Moves: made, tried out, taken back, had ready for later.")

LONGEST: Final = 200
Notation = Annotated[
    str,
    msgspec.Meta(max_length=LONGEST, description="A move as the game writes it, such as `A1-A2`.", examples=["A1-A2"]),
]
MADE: Final = (
    "ambiguous-move",
    "frozen",
    "illegal-move",
    "invalid-move",
    "not-running",
    "not-your-turn",
    "not-yours",
    "stale",
)
"""How a move may be refused."""
NOT_NOW: Final = ("not-running", "not-your-turn", "not-yours")


class Move(Body, frozen=True):
    """A move. `expected` is the number of the row since which the seat is awaited, as the match says it: a move for
    another moment is stale, and nothing happens."""

    move: Notation
    expected: Number


class Made(Answer, frozen=True):
    """A move as it stands in the log: `seq` is the number of its row, `text` its notation."""

    match: int
    seq: int
    text: str
    sentences: list[str]


class Trial(Answer, frozen=True):
    """What a move would do: its notation, what it does in words, the places that it touches, and the view after it."""

    text: str
    sentences: list[str]
    touched: list[str]
    view: Plain


class Tried(Body, frozen=True):
    """A move to try out."""

    move: Notation
    expected: Number


class Undo(Body, frozen=True):
    """Which move is taken back: the row that /matches/{match_id} names in `may.take_back`."""

    row: Number


class Ahead(Body, frozen=True):
    """A move for the next turn; with `after` it is made only if that is the move right before it."""

    move: Notation
    after: Notation = ""


class Supposed(Body, frozen=True):
    """Moves to suppose, of whoever is to move, one after the other."""

    moves: Annotated[str, msgspec.Meta(max_length=2000, description="Separated by commas.")] = ""


class SupposedMove(Answer, frozen=True):
    """A supposed move: whose it is and what it does, as whoever asks may know; `told` is whether the text says all of
    it."""

    seat: int
    text: str
    sentences: list[str]
    told: bool


class Supposition(Answer, frozen=True):
    """Where supposed moves lead. `awaited` is the seat that would be to move, null at the end, and `moves` all that it
    may do for all that whoever asks knows; `fault` says why the moves end before those asked for."""

    steps: list[SupposedMove]
    view: Plain
    touched: list[str]
    awaited: int | None
    moves: list[str]
    fault: Why | None


@room.post("/matches/<int:match_id>/moves", scope="play", keyed=True, refuses=(*MADE, "damaged"))
def make(caller: Caller, match_id: int, body: Move) -> Made:
    """Make a move; what was stored is read back from the log."""
    try:
        done = play.submit(match_id, None, body.move, body.expected, caller.me, "api", now=caller.now, key=caller.key)
    except Refused:
        visible(caller, match_id)  # who may not see it is told that there is none, and nothing else
        raise
    return made(done)


def made(done: play.Done) -> Made:
    """Return a move that was made as a program is told of it."""
    return Made(done.match_id, done.seq, done.text, list(done.sentences))


@room.get("/matches/<int:match_id>/preview", refuses=(*MADE, "damaged"))
def preview(caller: Caller, match_id: int, query: Tried) -> Trial:
    """Say what a move of the owner's would do. Nothing is stored."""
    match = visible(caller, match_id)
    trial = play.preview(match, own_seat(caller, match), query.move, query.expected, caller.me)
    return Trial(trial.text, list(trial.sentences), list(trial.touched), trial.view.as_plain())


@room.get("/matches/<int:match_id>/whatif", refuses=("damaged", "not-running"))
def suppose(caller: Caller, match_id: int, query: Supposed) -> Supposition:
    """Try moves of all seats out, from what the owner knows. Nothing is stored, and nobody learns of it."""
    look = played_by(caller, match_id)
    texts = [text.strip() for text in query.moves.split(",") if text.strip()]
    line, fault = whatif.explore(look.played, look.seat, texts, look.called), None
    if line.fault:
        fault = Why(line.fault.code, line.fault.sentence, list(line.fault.choices), list(line.fault.since))
    steps = [SupposedMove(each.seat, each.text, list(each.sentences), each.told) for each in line.steps]
    return Supposition(steps, line.view.as_plain(), list(line.touched), line.awaited, list(line.moves), fault)


@room.post("/matches/<int:match_id>/undo", scope="play", refuses=("damaged", "frozen", *NOT_NOW))
def take_back(caller: Caller, match_id: int, body: Undo) -> Told:
    """Take the owner's last move back, if the table allows that and nobody has moved since."""
    visible(caller, match_id)
    play.take_back(match_id, caller.me, "api", row=body.row, now=caller.now)
    return Told()


@room.post("/matches/<int:match_id>/ahead", scope="play", refuses=("damaged", "invalid-move", *NOT_NOW))
def prepare(caller: Caller, match_id: int, body: Ahead) -> Ready:
    """Have a move ready for the owner's next turn, in place of one that he has. Nobody else sees it."""
    visible(caller, match_id)
    found = ahead.prepare(match_id, caller.me, body.move, after=body.after, now=caller.now)
    return Ready(found.text, found.after, found.dropped)


@room.post("/matches/<int:match_id>/ahead/away", scope="play")
def put_away(caller: Caller, match_id: int) -> Told:
    """Put the move away that the owner has ready, or the note that it was not made."""
    visible(caller, match_id)
    ahead.put_away(match_id, caller.me)
    return Told()

"""What if: moves of any seat tried out from what one viewer knows. Nothing is stored, and nobody else learns of it.

The line starts from a position drawn at random that agrees with all the viewer knows (`Game.reshuffled`); chance comes
from the numbers of match and row alone, so what is hidden from him has no say in anything that he is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from engine.base import AmbiguousMove, Game, MoveError, State, Veiled, View
from engine.deal import Stream
from engine.language import gettext as _
from server.errors import Refused
from server.log import Played

LONGEST: Final = 24
"""So many moves has a line at most."""


@dataclass(frozen=True, slots=True)
class Supposed:
    """A move of a line: whose it is, its text and what it does, as the viewer may know; `told` is whether the text says
    all of the move, so that it could be made as it stands."""

    seat: int
    text: str
    sentences: tuple[str, ...]
    told: bool


@dataclass(frozen=True, slots=True)
class Line:
    """Moves tried out, and where they lead.

    `view` is what the viewer would see then, `touched` the places of the last move, `awaited` the seat that would be to
    move, None at the end of the match, `moves` all that it may do for all the viewer knows. `playable` is whether they
    may be made on the board, whose view then has them. `fault` says why the line ends before the moves asked for.
    """

    steps: tuple[Supposed, ...]
    view: View
    touched: tuple[str, ...]
    awaited: int | None
    moves: tuple[str, ...]
    playable: bool
    fault: Refused | None


def explore(played: Played, viewer: int | None, texts: Sequence[str], called: Sequence[str]) -> Line:
    """Try moves out, one after the other, as far as they can be made. Raises `Refused` (not-running)."""
    if played.outcome:
        raise Refused("not-running", _("This match has ended."))
    game, position = played.game, played.position
    root = sha256(f"what if {played.match.id} {position.seq}".encode()).digest()
    state = game.reshuffled(position.state, viewer, Stream(root))
    steps: list[Supposed] = []
    touched: tuple[str, ...] = ()
    fault = None
    for place, text in enumerate(texts):
        try:
            if place == LONGEST:
                raise Refused("bad-input", _("So many moves can be tried out at most: {n}.").format(n=LONGEST))
            seat = _awaited(state)
            world, move = _read(game, state, viewer, seat, text, called)
        except Refused as refused:
            fault = refused
            break
        steps.append(_told(game, world, viewer, seat, move, called))
        touched = game.touched(world, seat, move)
        state = world.apply(seat, move)
    return _line(game, state, viewer, tuple(steps), touched, fault)


def _line(
    game: Game,
    state: State,
    viewer: int | None,
    steps: tuple[Supposed, ...],
    touched: tuple[str, ...],
    fault: Refused | None,
) -> Line:
    awaited = state.to_act[0] if state.to_act else None
    moves: tuple[str, ...] = ()
    if awaited is not None and len(steps) < LONGEST:
        found = _conceivable(game, state, viewer, awaited)
        moves = tuple(dict.fromkeys(game.public_text(world, awaited, move, viewer) for world, move in found))
    # Never with an outcome: of the end only is told what is known before it.
    view = game.view(state, viewer, None)
    playable = bool(moves) and (awaited == viewer or not isinstance(game, Veiled))
    return Line(
        steps=steps,
        view=replace(view, moves=moves if playable else ()),
        touched=touched,
        awaited=awaited,
        moves=moves,
        playable=playable,
        fault=fault,
    )


def _awaited(state: State) -> int:
    if not state.to_act:
        raise Refused("illegal-move", _("The match would be over before this move."))
    return state.to_act[0]


def _conceivable(game: Game, state: State, viewer: int | None, seat: int) -> Iterator[tuple[State, Any]]:
    """Yield what a seat may do for all the viewer knows, each move with a position in which it may."""
    if isinstance(game, Veiled):
        yield from game.conceivable(state, viewer, seat)
    else:
        yield from ((state, move) for move in state.legal_moves(seat))


def _read(
    game: Game, state: State, viewer: int | None, seat: int, text: str, called: Sequence[str]
) -> tuple[State, Any]:
    """Return the move that a text stands for, with a position in which it may be made."""
    if seat == viewer or not isinstance(game, Veiled):
        try:
            return state, game.parse(state, seat, text)
        except MoveError as error:
            code = "ambiguous-move" if isinstance(error, AmbiguousMove) else "illegal-move"
            raise Refused(code, str(error), choices=getattr(error, "choices", ())) from None
    for world, move in game.conceivable(state, viewer, seat):
        if _plain(game.public_text(world, seat, move, viewer)) == _plain(text):
            return world, move
    sentence = _("For all you know, this is no move for {name} now: {text}").format(name=called[seat], text=text)
    raise Refused("illegal-move", sentence)


def _plain(text: str) -> str:
    return " ".join(text.upper().split())


def _told(game: Game, world: State, viewer: int | None, seat: int, move: Any, called: Sequence[str]) -> Supposed:
    text = game.public_text(world, seat, move, viewer)
    sentences = tuple(phrase.read(called) for phrase in game.words(world, seat, move, viewer))
    return Supposed(seat, text, sentences, told=text == game.format(world, seat, move))

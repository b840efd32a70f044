"""Noughts and crosses as an installed game: the smallest one that keeps the whole contract. It has no secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.base import (
    Example,
    Figure,
    IllegalMove,
    InvalidMove,
    InvalidSetup,
    Layer,
    Lesson,
    Names,
    Option,
    Outcome,
    Phrase,
    Stream,
    Tally,
    View,
    Who,
)

SQUARES = tuple(f"{column}{row}" for row in "123" for column in "abc")
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
SIGNS = "XO"


@dataclass(frozen=True, slots=True)
class State:
    """A position: the sign on each square, "." if none, and who moves."""

    squares: str
    to_act: tuple[int, ...]
    seats: int = 2

    def legal_moves(self, seat: int) -> Iterator[int]:
        """Yield the free squares; nothing if the seat is not awaited."""
        yield from (square for square in range(9) if seat in self.to_act and self.squares[square] == ".")

    def apply(self, seat: int, move: int) -> State:
        """Return the position with the sign on the square."""
        if move not in self.legal_moves(seat):
            raise IllegalMove("That square is taken." if seat in self.to_act else "It is not your turn.")
        after = State(self.squares[:move] + SIGNS[seat] + self.squares[move + 1 :], (1 - seat,))
        return State(after.squares, ()) if sum(after.tally().scores) or "." not in after.squares else after

    def outcome(self) -> Outcome | None:
        """Return the end: three in a row win, a full board is shared."""
        if self.to_act:
            return None
        scores = self.tally().scores
        return Outcome("three in a row" if sum(scores) else "board full", scores, winners(scores), {})

    def tally(self) -> Tally:
        """Return 1 for a seat with three in a row."""
        rows = ["".join(self.squares[square] for square in line) for line in LINES]
        return Tally(tuple(int(sign * 3 in rows) for sign in SIGNS), {})


def winners(scores: Sequence[int]) -> tuple[int, ...]:
    """Return the seats with most points."""
    return tuple(seat for seat, score in enumerate(scores) if score == max(scores))


class Noughts:
    """Every method is described by `engine.base.Game`."""

    kind, title, rules, example = "noughts", "Noughts and Crosses", 1, "b2"
    mind = None
    seat_counts = range(2, 3)
    options: tuple[Option, ...] = ()

    def deal(self, stream: Stream, seats: int, options: Mapping[str, str]) -> Any:
        return {"first": stream.below(2)}

    def begin(self, setup: Any, seats: int, options: Mapping[str, str]) -> State:
        if not isinstance(setup, dict) or list(setup) != ["first"] or setup["first"] not in (0, 1) or seats != 2:
            raise InvalidSetup("A setup of noughts and crosses is which of two seats is first.")
        if setup["first"] is True or setup["first"] is False or options:
            raise InvalidSetup("The first seat is a number, and there are no options.")
        return State("." * 9, (setup["first"],))

    def parse(self, state: Any, seat: int, text: str) -> int:
        if text.strip().lower() not in SQUARES:
            raise InvalidMove("That is no square. A move looks like b2.")
        move = SQUARES.index(text.strip().lower())
        state.apply(seat, move)  # raises IllegalMove
        return move

    def format(self, state: Any, seat: int, move: int) -> str:
        return SQUARES[move]

    def public_text(self, state: Any, seat: int, move: int, viewer: int | None) -> str:
        return SQUARES[move]

    def head(self, text: str) -> str:
        """Return the move: it is chosen at once."""
        return text

    def words(self, state: Any, seat: int, move: int, viewer: int | None) -> tuple[Phrase, ...]:
        return (Phrase("{who} took {square}.", {"who": Who(seat), "square": SQUARES[move]}),)

    def touched(self, state: Any, seat: int, move: int) -> tuple[str, ...]:
        return (SQUARES[move],)

    def place_name(self, place: str) -> str:
        return place

    def timeout_move(self, state: Any, seat: int) -> int:
        return next(state.legal_moves(seat))

    def uncovers(self, state: Any, seat: int, move: int) -> bool:
        return False

    def reshuffled(self, state: Any, viewer: int | None, stream: Stream) -> Any:
        return state

    def view(self, state: Any, viewer: int | None, outcome: Outcome | None) -> View:
        to_act = () if outcome else state.to_act
        moves = tuple(SQUARES[move] for move in state.legal_moves(viewer)) if viewer in to_act else ()
        return View(self.kind, 2, viewer, to_act, moves, outcome, {"squares": state.squares})

    def figures(self, view: View) -> tuple[Figure, ...]:
        return ()

    def text(self, view: View, names: Names) -> str:
        squares = view.table["squares"]
        return "\n".join(["  a b c", *(f"{row + 1} {' '.join(squares[3 * row : 3 * row + 3])}" for row in range(3))])

    def picture(self, view: View, marks: Sequence[str] = (), layer: Layer = "whole") -> str:
        signs = "".join(
            f'<text x="{20 * (n % 3) + 10}" y="{20 * (n // 3) + 15}" text-anchor="middle">{sign}</text>'
            for n, sign in enumerate(view.table["squares"])
            if sign != "."
        )
        grid = '<path d="M20 0v60M40 0v60M0 20h60M0 40h60" stroke="#000"/>'
        drawn = {"whole": grid + signs, "ground": grid, "pieces": signs}[layer]
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 60" width="60" height="60">{drawn}</svg>'

    def lessons(self, views: Sequence[View]) -> tuple[Lesson | None, ...]:
        return (None,) * len(views)

    def examples(self) -> tuple[Example, ...]:
        return ()


GAME = Noughts()

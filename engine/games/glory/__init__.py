"""Clans and Glory, by Gabriele Bubola and Leo Colovini (2024): the game as the rest of the house sees it.

The rules are docs/rules-glory.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.base import Example, Figure, Layer, Lesson, Names, Option, Outcome, Phrase, Plain, Stream, View
from engine.bots.mind import Mind
from engine.games.glory import examples, guide, notation, setup, suppositions, text, view
from engine.games.glory.mind import MIND
from engine.games.glory.rules import Move, State
from engine.language import pgettext

# The contract hands every game any `State`; a game is only ever given its own.
Own = Any


class Glory:
    """The game of Clans and Glory; every method is described by `engine.base.Game`."""

    kind = view.KIND
    rules = 1
    seat_counts = setup.SEAT_COUNTS
    example = notation.EXAMPLE
    mind: Mind | None = MIND

    @property
    def title(self) -> str:
        """Return the name players read."""
        return pgettext("game", "Clans and Glory")

    @property
    def options(self) -> tuple[Option, ...]:
        """Return the rules that a table may choose."""
        return setup.options()

    def deal(self, stream: Stream, seats: int, options: Mapping[str, str]) -> Plain:
        """Return a plain setup drawn from the stream; no option changes the deal."""
        return setup.deal(stream, seats)

    def begin(self, setup_: Plain, seats: int, options: Mapping[str, str]) -> State:
        """Return the first position. Raises `InvalidSetup`."""
        return setup.begin(setup_, seats, options)

    def parse(self, state: Own, seat: int, text: str) -> Move:
        """Read a move. Raises `InvalidMove` or `IllegalMove`; no text is ambiguous."""
        return notation.parse(state, seat, text)

    def format(self, state: Own, seat: int, move: Move) -> str:
        """Return the canonical notation of a legal move."""
        return notation.format(move)

    def public_text(self, state: Own, seat: int, move: Move, viewer: int | None) -> str:
        """Return the notation as the viewer may read it: a card face down is `?` for all but its owner."""
        return notation.format(move) if viewer == seat else notation.public(move)

    def head(self, text: str) -> str:
        """Return the card of a move."""
        return text.partition(" ")[0]

    def words(self, state: Own, seat: int, move: Move, viewer: int | None) -> tuple[Phrase, ...]:
        """Tell what a legal move does, as far as the viewer may know."""
        return view.words(state, seat, move, viewer)

    def touched(self, state: Own, seat: int, move: Move) -> tuple[str, ...]:
        """Return the spot and, with a shield, the place that a legal move touches."""
        return view.touched(move)

    def place_name(self, place: str) -> str:
        """Return what players call a spot or place."""
        return view.place_name(place)

    def timeout_move(self, state: Own, seat: int) -> Move:
        """Return a simple legal move for a seat that is out of time."""
        return view.timeout_move(state, seat)

    def uncovers(self, state: Own, seat: int, move: Move) -> bool:
        """Return that no move shows its player anything new."""
        return False

    def reshuffled(self, state: Own, viewer: int | None, stream: Stream) -> State:
        """Return a position that differs only in what the viewer must not know."""
        return view.reshuffled(state, viewer, stream)

    def view(self, state: Own, viewer: int | None, outcome: Outcome | None) -> View:
        """Return what the viewer may know."""
        return view.view(state, viewer, outcome)

    def conceivable(self, state: Own, viewer: int | None, seat: int) -> Iterator[tuple[State, Move]]:
        """Yield each move that the seat may make for all the viewer knows; see `engine.base.Veiled`."""
        return suppositions.conceivable(state, viewer, seat)

    def figures(self, view: View) -> tuple[Figure, ...]:
        """Return nothing: what shields will take is seen at the end only."""
        return ()

    def text(self, view: View, names: Names) -> str:
        """Draw the view as plain text."""
        return text.text(view, names)

    def picture(self, view: View, marks: Sequence[str] = (), layer: Layer = "whole") -> str:
        """Draw the view, or one layer of it, as SVG."""
        # Imported here: only servers draw.
        from engine.games.glory.picture import picture

        return picture(view, marks, layer)

    def lessons(self, views: Sequence[View]) -> tuple[Lesson | None, ...]:
        """Return what a newcomer is to be told at each of his views."""
        return guide.lessons(views)

    def examples(self) -> tuple[Example, ...]:
        """Return the pictures of the rules."""
        return examples.examples(self)


GAME = Glory()

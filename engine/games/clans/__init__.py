"""Clans, by Leo Colovini (2002): the game as the rest of the house sees it. The rules are docs/rules-clans.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.base import Example, Figure, Layer, Lesson, Names, Option, Outcome, Phrase, Plain, Stream, View
from engine.bots.mind import Mind
from engine.games.clans import examples, guide, notation, setup, text, view
from engine.games.clans.mind import MIND
from engine.games.clans.rules import Move, State
from engine.language import gettext as _
from engine.language import pgettext

# The contract hands every game any `State`; a game is only ever given its own.
Own = Any


class Clans:
    """The game of Clans; every method is described by `engine.base.Game`."""

    kind = view.KIND
    rules = 1
    seat_counts = setup.SEAT_COUNTS
    example = notation.EXAMPLE
    mind: Mind | None = MIND

    @property
    def title(self) -> str:
        """Return the name players read."""
        return pgettext("game", "Clans")

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
        """Read a move. Raises `InvalidMove`, `IllegalMove` or `AmbiguousMove`."""
        return notation.parse(state, seat, text)

    def format(self, state: Own, seat: int, move: Move) -> str:
        """Return the canonical notation of a legal move."""
        return notation.format(state, seat, move)

    def public_text(self, state: Own, seat: int, move: Move, viewer: int | None) -> str:
        """Return the canonical notation: every move is public."""
        return notation.format(state, seat, move)

    def head(self, text: str) -> str:
        """Return the territory that the huts of a move leave."""
        return text.partition("-")[0]

    def words(self, state: Own, seat: int, move: Move, viewer: int | None) -> tuple[Phrase, ...]:
        """Tell what a legal move does; all of it is public, so every viewer is told the same."""
        return view.words(state, seat, move)

    def touched(self, state: Own, seat: int, move: Move) -> tuple[str, ...]:
        """Return the territories that a legal move touches."""
        return view.touched(state, move)

    def place_name(self, place: str) -> str:
        """Return the name of a territory, which is the same in every language."""
        return place

    def timeout_move(self, state: Own, seat: int) -> Move:
        """Return a simple legal move for a seat that is out of time."""
        return view.timeout_move(state, seat)

    def uncovers(self, state: Own, seat: int, move: Move) -> bool:
        """Return that no move shows its player anything new."""
        return False

    def reshuffled(self, state: Own, viewer: int | None, stream: Stream) -> State:
        """Return a position that differs only in the clans of others."""
        return view.reshuffled(state, viewer, stream)

    def view(self, state: Own, viewer: int | None, outcome: Outcome | None) -> View:
        """Return what the viewer may know."""
        return view.view(state, viewer, outcome)

    def figures(self, view: View) -> tuple[Figure, ...]:
        """Return the points of the clans."""
        found = view.table["clan_points"].items()
        return tuple(Figure(_("Points of the clans"), _(clan), points) for clan, points in found)

    def text(self, view: View, names: Names) -> str:
        """Draw the view as plain text."""
        return text.text(view, names)

    def picture(self, view: View, marks: Sequence[str] = (), layer: Layer = "whole") -> str:
        """Draw the view, or one layer of it, as SVG."""
        # Imported here: only servers draw, and the map is computed when its module is read.
        from engine.games.clans.picture import picture

        return picture(view, marks, layer)

    def lessons(self, views: Sequence[View]) -> tuple[Lesson | None, ...]:
        """Return what a newcomer is to be told at each of his views."""
        return guide.lessons(views)

    def examples(self) -> tuple[Example, ...]:
        """Return the pictures of the rules."""
        return examples.examples(self)


GAME = Clans()

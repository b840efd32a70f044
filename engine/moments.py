"""Pictures of the rules as moments of matches that were played by the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.base import Example, Game, Phrase, Plain, State
from engine.cutout import Box


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """A match to draw moments of, from its first move on: `setup` and the texts of the moves as a record has them."""

    setup: Plain
    seats: int
    options: Mapping[str, str]
    moves: tuple[str, ...]


class Moment(NamedTuple):
    """One picture: of which match, after how many moves, what is marked, which part is shown, what is said of it."""

    key: str
    match: Match
    moves: int
    marks: tuple[str, ...]
    box: Box
    caption: str
    alt: str


def drawn(game: Game, moments: Sequence[Moment]) -> tuple[Example, ...]:
    """Return the moments as the game's examples, as a spectator sees them, in the same order."""
    states = {match: positions(game, match) for match in {moment.match for moment in moments}}
    return tuple(
        Example(
            key=moment.key,
            view=game.view(states[moment.match][moment.moves], None, None),
            marks=moment.marks,
            box=moment.box,
            caption=Phrase(moment.caption),
            alt=Phrase(moment.alt),
        )
        for moment in moments
    )


def positions(game: Game, match: Match) -> list[State]:
    """Return the positions of the match, before the first move and after each."""
    states = [game.begin(match.setup, match.seats, match.options)]
    for text in match.moves:
        seat = states[-1].to_act[0]
        states.append(states[-1].apply(seat, game.parse(states[-1], seat, text)))
    return states

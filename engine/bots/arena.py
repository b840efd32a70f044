"""Matches between bots, to see how strong they are and how much they give away. Chance is handed in by the caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any, Final

from engine import record, replay
from engine.base import Game
from engine.bots import THOUGHT, choose
from engine.bots.mind import sight
from engine.bots.search import Thought
from engine.deal import stream_for
from engine.replay import Row

WATCHED: Final = 10
"""After so many moves of its own an observer guesses a bot's secret."""


@dataclass(frozen=True, slots=True)
class Bout:
    """One finished match: its record, the place of each seat's bot in the list it was asked for with, who won.

    `guesses` holds, by seat, whether an observer who saw its first moves guessed its secret; None if nothing is to be
    guessed, or it made too few moves.
    """

    record: dict[str, Any]
    bots: tuple[int, ...]
    winners: tuple[int, ...]
    guesses: tuple[bool | None, ...]


def bout(game: Game, strengths: Sequence[str], seed: int, number: int, thought: Thought = THOUGHT) -> Bout:
    """Play match `number` of a series: each deal is played once for every way to shift the bots around the table."""
    seats = len(strengths)
    secret = _chance(f"deal {game.kind} {seed} {number // seats}").randbytes(32)
    contributions = [""] * seats
    setup = game.deal(stream_for(secret, contributions), seats, {})
    bots = tuple((seat + number) % seats for seat in range(seats))
    chance = _chance(f"moves {game.kind} {seed} {number}").random
    position = replay.start(game, setup, seats, {})
    rows: list[Row] = []
    guesses: list[bool | None] = [None] * seats
    while position.to_act:
        seat = position.to_act[0]
        text = choose(strengths[bots[seat]], game, sight(game, position, rows, seat), chance, thought)
        rows.append(Row(position.seq + 1, seat, replay.MOVE, text))
        position = replay.advance(position, rows[-1])
        if sum(row.seat == seat for row in rows) == WATCHED:
            guesses[seat] = _guessed(game, position, rows, seat)
    outcome = position.outcome
    if outcome is None:
        raise ValueError("nobody is awaited in a match that has not ended")
    names = [f"{strengths[bot]} {bot + 1}" for bot in bots]
    told = record.build(
        game=game.kind,
        rules=game.rules,
        options={},
        players=names,
        setup=setup,
        rows=rows,
        outcome=outcome,
        seed=secret.hex(),
        contributions=contributions,
    )
    return Bout(told, bots, outcome.winners, tuple(guesses))


def _chance(name: str) -> Random:
    """Return the chance that a name stands for; it is to be repeatable, not hard to foresee."""
    return Random(name)  # noqa: S311


def _guessed(game: Game, position: replay.Position, rows: Sequence[Row], seat: int) -> bool | None:
    """Return whether the likeliest secret of the seat, to a spectator, is the true one."""
    mind = game.mind
    found = mind.suspect(sight(game, position, rows, None), seat) if mind else None
    if mind is None or not found:
        return None
    return bool(max(found, key=lambda entry: entry[1])[0] == mind.secret(position.state, seat))


def interval(hits: float, tries: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's score; (0, 1) if nothing was tried."""
    if not tries:
        return 0.0, 1.0
    z, share = 1.96, hits / tries
    middle = share + z * z / (2 * tries)
    reach = z * sqrt(share * (1 - share) / tries + z * z / (4 * tries * tries))
    scale = 1 + z * z / tries
    return (middle - reach) / scale, (middle + reach) / scale


def summary(strengths: Sequence[str], bouts: Sequence[Bout]) -> list[str]:
    """Return in sentences how often each bot won, a shared win counting in part, and how often it was seen through."""
    told = []
    for bot, strength in enumerate(strengths):
        wins = sum(1 / len(each.winners) for each in bouts for winner in each.winners if each.bots[winner] == bot)
        low, high = interval(wins, len(bouts))
        told.append(
            f"{strength} {bot + 1}: {wins:g} of {len(bouts)} won, {wins / len(bouts):.1%} ({low:.1%} to {high:.1%})"
        )
        seen = [
            guess
            for each in bouts
            for seat, guess in enumerate(each.guesses)
            if each.bots[seat] == bot and guess is not None
        ]
        if seen:
            low, high = interval(sum(seen), len(seen))
            told.append(
                f"  its secret guessed after {WATCHED} moves: {sum(seen) / len(seen):.1%} ({low:.1%} to {high:.1%})"
            )
    return told

"""Whatever is written as a move is read, or refused by one of the three errors of a move."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest
from fuzzing import Effort, efforts, mutated, signs, texts, told
from house import RECORDS
from hypothesis import strategies as some

from engine import games, replay
from engine.base import AmbiguousMove, MoveError
from engine.record import rows_of

NUMBERS = {"clans": ("01", "09"), "glory": ("01", "face-down")}


@cache
def met(kind: str) -> tuple[list[tuple[Any, int]], list[str]]:
    """Return the positions of some records, each with the seat that moved there, and texts of moves."""
    game, places, said = games.game(kind), [], []
    for number in NUMBERS[kind]:
        found = json.loads((RECORDS / f"{kind}-{number}.json").read_text(encoding="utf-8"))
        rows = rows_of(found)
        walked = list(replay.positions(game, found["setup"], len(found["players"]), found["options"], rows))
        places += [(before.state, seat) for before in walked for seat in before.to_act]
        said += [row.text for row in rows if row.kind == "move"]
    return places, said


@pytest.mark.parametrize("kind", NUMBERS)
@efforts(150, 40)
def test_any_text_is_a_move_or_refused_as_one(kind: str, effort: Effort) -> None:
    game, (places, said) = games.game(kind), met(kind)
    letters = "".join(sorted({sign for text in said for sign in text}))
    alike = some.text(some.sampled_from(letters + letters.swapcase() + ":→–,") | signs, max_size=40)

    def read(place: tuple[Any, int], text: str, times: int) -> None:
        state, seat = place
        try:
            move = game.parse(state, seat, text * times)
        except AmbiguousMove as fault:
            for choice in fault.choices:
                state.apply(seat, game.parse(state, seat, choice))
        except MoveError as fault:
            told(fault)
        else:
            state.apply(seat, move)
            assert game.parse(state, seat, game.format(state, seat, move)) == move
            game.public_text(state, seat, move, None)
        assert isinstance(game.head(text * times), str)

    words = mutated(said) | alike | texts
    effort.of(read, place=some.sampled_from(places), text=words, times=some.sampled_from((1, 1, 1, 2, 3000)))


@pytest.mark.parametrize("kind", NUMBERS)
@efforts(40, 20)
def test_a_legal_move_in_any_dress_is_that_move(kind: str, effort: Effort) -> None:
    game, (places, _said) = games.game(kind), met(kind)

    def dressed(place: tuple[Any, int], chance: random.Random) -> None:
        state, seat = place
        legal = list(state.legal_moves(seat))
        move = chance.choice(legal)
        text = game.format(state, seat, move)
        dress = chance.choice((str.lower, str.upper, str.swapcase, lambda said: f"  {said.replace(' ', '   ')}\t"))
        assert game.parse(state, seat, dress(text)) == move

    effort.of(dressed, place=some.sampled_from(places), chance=some.randoms(use_true_random=False))

"""The chances over a finished match: shares of the win, as good as they are said to be, and in the end what came."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from random import Random
from statistics import mean, stdev
from typing import Any

import pytest
from smallmind import SmallMind, noughts_with_a_mind

from engine import games, replay
from engine.bots import analysis
from engine.deal import stream_for
from engine.replay import Position, Row

# Seat 0 wins in the top row; before its last move seat 1 could have stopped it.
WON = ("a1", "b2", "b1", "c3", "c1")


@pytest.fixture
def noughts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    yield from noughts_with_a_mind(monkeypatch)


def moves(*texts: str) -> list[Row]:
    return [Row(number, (number - 1) % 2, "move", text) for number, text in enumerate(texts, 1)]


def played(game: Any, rows: list[Row]) -> list[Position]:
    return list(replay.positions(game, {"first": 0}, 2, {}, rows))


def test_the_chances_are_shares_of_the_win_and_end_with_what_came(noughts: Any) -> None:
    found = [analysis.chances(each, 200, Random(1).random) for each in played(noughts, moves(*WON))]
    assert len(found) == 6
    assert all(sum(shares) == pytest.approx(1) and min(shares) >= 0 for shares in found)
    assert found[-1] == (1, 0)
    assert found[4][0] > 0.8, "two in a row, and it is the turn of whose they are"


def test_a_chance_is_as_exact_as_it_is_said_to_be(noughts: Any) -> None:
    """Judged again and again it is off by two or three percentage points."""
    (start,) = played(noughts, [])
    tries = [analysis.chances(start, analysis.PLAYOUTS, Random(seed).random)[0] for seed in range(12)]
    assert 0.5 < mean(tries) < 0.8, "it is good to be first"
    assert stdev(tries) < 0.03


def test_what_the_next_move_wins_is_seen(noughts: Any) -> None:
    before = played(noughts, moves(*WON[:-1]))[-1]
    bare = [noughts.mind.playout(before.state, Random(seed).random)[0] for seed in range(200)]
    judged = analysis.chances(before, 200, Random(1).random)[0]
    assert judged > 0.85 > mean(bare)


def test_a_mind_whose_playouts_say_something_else_is_asked_who_wins(
    noughts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Estimating(SmallMind):
        def playout(self, state: Any, chance: Any) -> tuple[float, ...]:
            return (0.5, 0.5)

    position = played(noughts, moves(*WON))[2]
    wanted = analysis.chances(position, 30, Random(7).random)
    monkeypatch.setattr(type(noughts), "mind", Estimating())
    assert analysis.chances(position, 30, Random(7).random) == wanted


def test_the_same_chance_judges_the_same(noughts: Any) -> None:
    position = played(noughts, moves(*WON))[1]
    first, second = (analysis.chances(position, 30, Random(7).random) for _ in range(2))
    assert first == second


def test_a_full_board_is_shared(noughts: Any) -> None:
    rows = moves("a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3")
    assert analysis.chances(played(noughts, rows)[-1], 20, Random(1).random) == (0.5, 0.5)


def test_a_match_that_was_resigned_ends_with_its_winner(noughts: Any) -> None:
    rows = [*moves("a1", "b2"), Row(3, 0, "resign", "")]
    assert analysis.chances(played(noughts, rows)[-1], 50, Random(1).random) == (0, 1)


def test_an_agreed_end_is_what_it_came_to(noughts: Any) -> None:
    rows = [*moves("a1", "b2"), Row(3, None, "end", "")]
    assert analysis.chances(played(noughts, rows)[-1], 50, Random(1).random) == (0.5, 0.5)


def test_after_calling_off_it_is_what_it_stood_at(noughts: Any) -> None:
    rows = [*moves("a1", "a2"), Row(3, None, "cancel", "")]
    shares = analysis.chances(played(noughts, rows)[-1], 200, Random(1).random)
    assert 0 < shares[1] < shares[0] < 1


def test_who_has_resigned_has_no_chance_however_well_the_seat_does() -> None:
    class Partial:
        def secret(self, state: Any, seat: int) -> None:
            """Nothing is hidden."""

        def promise(self, state: Any, seat: int) -> list[tuple[str, float]]:
            return [("on", 1.0)]

        def ending(self, state: Any, chance: Any) -> tuple[float, ...]:
            return (9, 5, 3) if state == "good" else (9, 2, 2)

    class Three:
        kind, mind = "three", Partial()

    class Named(str):
        seats, to_act = 3, (0,)

        def apply(self, seat: int, move: str) -> Named:
            return self

    def position(state: str) -> Position:
        gone = frozenset({0})
        return Position(Three(), Named(state), 4, (0, 0, 0), gone, (0, 0, 0), gone, frozenset(), None, None)  # type: ignore[arg-type]

    assert analysis.chances(position("good"), 4, Random(1).random) == (0, 1, 0)
    assert analysis.chances(position("level"), 4, Random(1).random) == (0, 0.5, 0.5)


def test_only_rows_that_change_something_are_steps(noughts: Any) -> None:
    rows = [
        *moves("a1", "b2"),
        Row(3, 0, "vacation", "2026-03-01 2026-03-02"),
        Row(4, 0, "move", "b1"),
        Row(5, 1, "undo", "4"),
        Row(6, 0, "timeout", ""),
        Row(7, 0, "resign", ""),
    ]
    assert analysis.steps(played(noughts, rows)) == [0, 1, 2, 4, 5, 7]


def test_what_is_handed_over_can_be_sent_and_stands_for_its_last_row(noughts: Any) -> None:
    positions = played(noughts, moves(*WON))
    for seq in (0, 2, 5):
        given = ("noughts", {"first": 0}, 2, {}, moves(*WON)[:seq], 40, Random(3).random)
        there = analysis.judge(*pickle.loads(pickle.dumps(given)))
        assert there == analysis.chances(positions[seq], 40, Random(3).random)


def test_a_game_without_a_mind_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    clans = games.game("clans")
    monkeypatch.setattr(type(clans), "mind", None)
    setup = clans.deal(stream_for(b"1", []), 2, {})
    with pytest.raises(ValueError, match="no mind for clans"):
        analysis.chances(replay.start(clans, setup, 2, {}), 1, Random(1).random)

"""What bots do whatever the game: they choose among the viewer's moves by what a sight and a mind tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
from smallmind import SmallMind, noughts_with_a_mind

from engine import bots, replay
from engine.base import View
from engine.bots import Sight, Thought
from engine.bots.mind import Chance, Discreet, Mind, sight
from engine.bots.search import Edge, best, explore
from engine.replay import Row

THOUGHT = Thought(400)


class WholeMind(SmallMind):
    """The rest of a mind: a square is the better the later it comes, and nothing is hidden."""

    def weigh(self, view: View) -> Sequence[float]:
        return [float(place) for place, _ in enumerate(view.moves)]

    def worlds(self, sight: Sight, count: int, chance: Chance) -> Sequence[Any]:
        return [rebuilt(sight.view)] * count

    def suspect(self, sight: Sight, seat: int) -> None:
        return None


class ShyMind(WholeMind):
    """A mind to which every square but the first tells something."""

    price = 0.3

    def telltale(self, sight: Sight, moves: Sequence[Any]) -> Sequence[float]:
        return [0.0 if move == min(moves) else self.price for move in moves]


def rebuilt(view: View) -> Any:
    from noughts import State

    return State(view.table["squares"], view.to_act)


@pytest.fixture
def noughts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for game in noughts_with_a_mind(monkeypatch):
        monkeypatch.setattr(type(game), "mind", WholeMind())
        yield game


def after(game: Any, *squares: str) -> tuple[replay.Position, list[Row]]:
    """Return a match that seat 0 began, after moves to these squares."""
    at = replay.start(game, {"first": 0}, 2, {})
    rows: list[Row] = []
    for square in squares:
        rows.append(Row(at.seq + 1, at.to_act[0], replay.MOVE, square))
        at = replay.advance(at, rows[-1])
    return at, rows


def chosen(game: Any, strength: str, *squares: str, seed: int = 1, thought: Thought = THOUGHT) -> str:
    at, rows = after(game, *squares)
    return bots.choose(strength, game, sight(game, at, rows, at.to_act[0]), Random(seed).random, thought)


def test_a_whole_mind_keeps_the_protocol() -> None:
    mind: Mind = WholeMind()
    assert not isinstance(mind, Discreet)
    assert isinstance(ShyMind(), Discreet)


def test_there_is_no_bot_of_another_strength(noughts: Any) -> None:
    with pytest.raises(ValueError, match="no bot called clever"):
        chosen(noughts, "clever")


def test_of_a_game_without_a_mind_every_bot_makes_any_move(noughts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(noughts), "mind", None)
    for strength in bots.STRENGTHS:
        made = Counter(chosen(noughts, strength, "a1", "b1", "c1", seed=seed) for seed in range(60))
        assert set(made) == {"a2", "b2", "c2", "a3", "b3", "c3"}


def test_the_only_move_is_made_without_a_thought(noughts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WholeMind, "worlds", None)
    monkeypatch.setattr(WholeMind, "weigh", None)
    for strength in bots.STRENGTHS:
        assert chosen(noughts, strength, "a1", "b1", "c1", "a2", "c2", "b2", "a3", "c3") == "b3"


def test_easy_takes_any_of_the_better_half_and_steady_the_best(noughts: Any) -> None:
    assert {chosen(noughts, "easy", seed=seed) for seed in range(60)} == {"b2", "c2", "a3", "b3", "c3"}
    assert {chosen(noughts, "steady", seed=seed) for seed in range(9)} == {"c3"}


def test_steady_takes_any_of_those_that_look_equally_good(noughts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WholeMind, "weigh", lambda self, view: [1.0 for _ in view.moves])
    assert len({chosen(noughts, "steady", seed=seed) for seed in range(60)}) == 9


def test_strong_wins_where_it_can_and_else_prevents_a_loss(noughts: Any) -> None:
    for seed in range(4):
        assert chosen(noughts, "strong", "a1", "a2", "b1", "b2", seed=seed) == "c1"
        assert chosen(noughts, "strong", "a1", "b2", "c3", "a3", seed=seed) == "c1"


def test_strong_takes_a_move_that_is_nearly_as_good_if_it_tells_less(
    noughts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chosen(noughts, "strong") == "b2"
    monkeypatch.setattr(type(noughts), "mind", ShyMind())
    assert chosen(noughts, "strong") == "a1"
    monkeypatch.setattr(ShyMind, "price", 0.1)
    assert chosen(noughts, "strong", "a3", "a1", "b3", "b1") == "c3", "a win is worth more than a secret"


def test_the_same_chance_and_equal_sights_give_the_same_move(noughts: Any) -> None:
    at, rows = after(noughts, "b2", "a1", "c3")
    first, again = (sight(noughts, at, rows, 1) for _ in range(2))
    assert first == again
    assert first is not again
    for strength in bots.STRENGTHS:
        made = {bots.choose(strength, noughts, seen, Random(3).random, Thought(50)) for seen in (first, again)}
        assert len(made) == 1


def test_moves_taken_back_leave_no_trace_in_a_sight(noughts: Any) -> None:
    at, rows = after(noughts, "b2", "a1")
    undone = [*rows, Row(3, 1, replay.UNDO, "2")]
    back = replay.advance(at, undone[-1])
    seen = sight(noughts, back, undone, 0)
    assert [glimpse.text for glimpse in seen.past] == ["b2"]
    assert (seen.view, seen.past) == (lambda one: (one.view, one.past))(sight(noughts, *after(noughts, "b2"), 0))


def test_a_search_stops_when_it_is_told_to_but_tries_one_move_at_least(noughts: Any) -> None:
    world = after(noughts)[0].state
    edges = explore(WholeMind(), [world], Thought(500, lambda: False), Random(1).random)
    assert sum(edge.visits for edge in edges) == 1
    edges = explore(WholeMind(), [world], Thought(500), Random(1).random)
    assert sum(edge.visits for edge in edges) == 500
    assert all(0 <= edge.total <= edge.visits for edge in edges)


def test_a_search_prefers_what_went_well_and_what_was_tried_little() -> None:
    good, bad, new = (Edge(name, 1 / 3) for name in ("good", "bad", "new"))
    good.visits, good.total = 50, 45.0
    bad.visits, bad.total = 50, 10.0
    assert best([good, bad, new]) is new
    new.visits, new.total = 60, 12.0
    assert best([good, bad, new]) is good

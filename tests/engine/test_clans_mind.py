"""What bots know of Clans: worlds and beliefs made of what was seen alone, quick playouts, sensible moves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from play_helpers import GAME, position, random_match

from engine import bots, record, replay
from engine.bots import Sight, Thought, arena
from engine.bots.mind import sight
from engine.deal import stream_for
from engine.games.clans import mind as minds
from engine.games.clans.board import CLANS
from engine.games.clans.playouts import Board
from engine.games.clans.prospects import Survey
from engine.games.clans.rules import Move, State
from engine.replay import Position, Row

MIND = GAME.mind
OPTIONS = ("all_leave", "all_stay")
QUICK = Thought(12)


def played(seats: int, moves: int, five_singles: str = "all_leave", seed: int = 1) -> tuple[Position, list[Row]]:
    """Return a match after so many moves, of which the even seats made steady's, the others any."""
    options = {"five_singles": five_singles}
    setup = GAME.deal(stream_for(seed.to_bytes(8, "big"), []), seats, options)
    at = replay.start(GAME, setup, seats, options)
    rng, rows = Random(seed), []
    for _ in range(moves):
        seat = at.to_act[0]
        worths = MIND.weigh(GAME.view(at.state, seat, None))
        legal = list(at.state.legal_moves(seat))
        move = rng.choice(legal) if seat % 2 else max(zip(worths, legal, strict=True))[1]
        rows.append(Row(at.seq + 1, seat, replay.MOVE, GAME.format(at.state, seat, move)))
        at = replay.advance(at, rows[-1])
    return at, rows


def seen_by(viewer: int | None, match: tuple[Position, list[Row]]) -> Sight:
    return sight(GAME, *match, viewer)


def seen_by_the_mover(match: tuple[Position, list[Row]]) -> Sight:
    return seen_by(match[0].to_act[0], match)


def lone(state: State, strength: str, thought: Thought = QUICK, seed: int = 1) -> str:
    """Return the move of the seat to act in a made-up position that has no past."""
    seat = state.to_act[0]
    return bots.choose(strength, GAME, Sight(GAME.view(state, seat, None), ()), Random(seed).random, thought)


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("five_singles", OPTIONS)
def test_bots_of_all_strengths_play_whole_matches(seats: int, five_singles: str) -> None:
    strengths = ("strong", "steady", "easy", "steady")[:seats]
    options = {"five_singles": five_singles}
    setup = GAME.deal(stream_for(bytes([seats]), []), seats, options)
    at, rows, rng = replay.start(GAME, setup, seats, options), [], Random(seats)
    while at.to_act:
        seat = at.to_act[0]
        text = bots.choose(strengths[seat], GAME, sight(GAME, at, rows, seat), rng.random, QUICK)
        rows.append(Row(at.seq + 1, seat, replay.MOVE, text))
        at = replay.advance(at, rows[-1])
    assert at.outcome is not None
    assert at.outcome.reason in {"twelfth village", "no move left"}


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("five_singles", OPTIONS)
def test_a_world_agrees_with_the_view_in_all_that_the_viewer_may_know(seats: int, five_singles: str) -> None:
    for moves in (0, 7, 24):
        match = played(seats, moves, five_singles)
        for viewer in range(seats):
            seen = seen_by(viewer, match)
            for world in MIND.worlds(seen, 9, Random(5).random):
                assert GAME.view(world, viewer, None) == seen.view
                assert len(set(world.table.clans)) == seats


def test_with_nothing_seen_every_deal_is_as_likely() -> None:
    seen = seen_by(0, played(3, 0))
    deals = minds.beliefs(seen)
    assert len(deals) == 12
    assert {round(likely, 12) for _, likely in deals} == {round(1 / 12, 12)}
    assert len({world.table.clans for world in MIND.worlds(seen, 12, Random(1).random)}) == 12


def test_beliefs_sum_to_one_for_players_and_spectators() -> None:
    match = played(4, 20)
    for viewer in (None, 0, 1, 2, 3):
        seen = seen_by(viewer, match)
        for seat in range(4):
            assert sum(likely for _, likely in MIND.suspect(seen, seat)) == pytest.approx(1)
        assert sum(likely for _, likely in minds.beliefs(seen)) == pytest.approx(1)


def test_the_belief_in_a_clan_rises_with_moves_that_are_obviously_for_it() -> None:
    matches = [played(2, moves) for moves in (0, 10, 24)]
    true = matches[0][0].state.table.clans[0]
    believed = [dict(MIND.suspect(seen_by(1, match), 0))[true] for match in matches]
    assert believed[0] == pytest.approx(0.2)
    assert believed[2] > 0.5
    assert believed[2] > believed[1]


def test_likely_deals_come_more_often_among_the_worlds() -> None:
    seen = seen_by(1, played(2, 14))
    likely = dict(minds.beliefs(seen))
    worlds = [world.table.clans for world in MIND.worlds(seen, 200, Random(3).random)]
    for clans, share in likely.items():
        assert abs(worlds.count(clans) - 200 * share) <= 1


def test_a_viewer_knows_what_spectators_suspect_of_him() -> None:
    match = played(3, 15)
    assert MIND.suspect(seen_by(0, match), 0) == MIND.suspect(seen_by(None, match), 0)


def test_the_same_chance_and_the_same_sight_give_the_same_move() -> None:
    match = played(3, 9)
    for strength in bots.STRENGTHS:
        first, again = (
            bots.choose(strength, GAME, seen_by_the_mover(match), Random(8).random, Thought(60)) for _ in range(2)
        )
        assert first == again


def test_clans_that_nobody_has_shown_change_no_move() -> None:
    at, rows = played(3, 9)
    seen = seen_by_the_mover((at, rows))
    for other in minds.MIND.worlds(seen, 30, Random(2).random):
        setup = _setup_with(other.table.clans)
        again = replay.replay(GAME, setup, 3, {"five_singles": "all_leave"}, rows)
        same = seen_by_the_mover((again, rows))
        assert same == seen
        texts = {bots.choose("strong", GAME, each, Random(4).random, QUICK) for each in (seen, same)}
        assert len(texts) == 1


def _setup_with(clans: Sequence[int]) -> dict[str, Any]:
    setup = GAME.deal(stream_for((1).to_bytes(8, "big"), []), 3, {})
    return {**setup, "clans": [CLANS[clan] for clan in clans]}


def test_a_playout_keeps_the_rules() -> None:
    for seed in range(12):
        options = {"five_singles": OPTIONS[seed % 2]}
        state = next(random_match(seed, 2 + seed % 3, options))[0]
        board, rng = Board(state), Random(seed)
        while state.to_act:
            source, target, born = board.choose(rng.random)
            named = tuple(born[: state.open]) if len(born) > 1 else ()
            state = state.apply(state.to_act[0], Move(source, target, named))
            board.make(source, target, born)
            assert (tuple(board.huts), board.occupied) == (state.huts, state.occupied)
            assert (tuple(board.points), tuple(board.chips)) == (state.points, state.chips)
        assert tuple(board.finish(rng.random)) == state.outcome().scores


def test_playouts_end_from_anywhere_with_shares_that_sum_to_one() -> None:
    for number, (_, _, _, state) in enumerate(random_match(3, 4)):
        assert sum(MIND.playout(state, Random(number).random)) == pytest.approx(1)


def test_the_survey_knows_every_move_and_what_it_wins() -> None:
    for state, seat, _, _ in random_match(9, 2):
        survey = Survey(state, seat)
        assert survey.moves == list(state.legal_moves(seat))
        for number, gain in survey.gains.items():
            after = state.apply(seat, survey.moves[number])
            assert (gain.points, gain.chips) == (after.points, after.chips[seat] - state.chips[seat])
            assert gain.ends == (not after.to_act)
        assert all(
            state.apply(seat, move).points == state.points
            for number, move in enumerate(survey.moves)
            if number not in survey.gains
        )


def test_what_the_search_tries_is_legal_and_its_promises_sum_to_one() -> None:
    state = played(3, 20)[0].state
    seat = state.to_act[0]
    promised = MIND.promise(state, seat)
    assert {move for move, _ in promised} <= set(state.legal_moves(seat))
    assert sum(prior for _, prior in promised) == pytest.approx(1)
    assert [prior for _, prior in promised] == sorted((prior for _, prior in promised), reverse=True)


@pytest.mark.parametrize("strength", ["steady", "strong"])
def test_the_last_village_is_founded_where_it_wins(strength: str) -> None:
    # Two pairs are left and one chip. Whoever founds decides: one village is all for the own clan, one for the others.
    state = position({"A1": "rr", "A2": "rr", "L4": "bgyk", "L5": "bgyk"}, taken=11)
    state = _held(state, (0, 1))
    assert lone(state, strength, Thought(60)) in {"A1-A2", "A2-A1"}


def _held(state: State, clans: tuple[int, ...]) -> State:
    return State(
        state.table._replace(clans=clans),
        *(getattr(state, name) for name in ("huts", "occupied", "settled", "points", "chips", "villages", "to_act")),
    )


def test_moves_that_tell_the_own_clan_cost_more() -> None:
    at, rows = played(2, 10)
    seat = at.to_act[0]
    seen = seen_by(seat, (at, rows))
    legal = list(at.state.legal_moves(seat))
    costs = minds.MIND.telltale(seen, legal)
    assert all(0 <= cost <= minds.COVER / 2 for cost in costs)
    told = []
    for move in (legal[costs.index(max(costs))], legal[costs.index(min(costs))]):
        row = Row(at.seq + 1, seat, replay.MOVE, GAME.format(at.state, seat, move))
        after = sight(GAME, replay.advance(at, row), [*rows, row], None)
        told.append(dict(MIND.suspect(after, seat))[at.state.table.clans[seat]])
    assert told[0] > told[1]


def test_a_strong_bot_beats_easy_ones_and_steady_beats_them_too() -> None:
    for strength, thought in (("steady", QUICK), ("strong", Thought(20))):
        bouts = [arena.bout(GAME, (strength, "easy"), 7, number, thought) for number in range(2)]
        won = sum(1 / len(each.winners) for each in bouts for seat in each.winners if each.bots[seat] == 0)
        assert won == 2
        for each in bouts:
            assert record.check(each.record).outcome is not None


def test_a_move_is_thought_about_no_longer_than_it_may_be() -> None:
    calls = iter(range(1000))
    seen = seen_by_the_mover(played(2, 6))
    began = time.perf_counter()
    bots.choose("strong", GAME, seen, Random(1).random, Thought(10**6, lambda: next(calls) < 20))
    assert next(calls) == 21
    assert time.perf_counter() - began < 5


def test_a_sight_holds_all_that_a_bot_is_told() -> None:
    seen = seen_by(0, played(2, 3))
    assert [glimpse.view.table["own_clan"] for glimpse in seen.past] == [seen.view.table["own_clan"]] * 3
    assert seen.view.table["clans"] is None

"""The rules of Clans, by hand-made positions and by random matches beside a second telling of the rule sheet."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from play_helpers import GAME, RECORDS, Plainly, beginning, counted, position, random_match, read, setup

from engine.base import IllegalMove, InvalidSetup
from engine.games.clans import board
from engine.games.clans.board import INDEX, TERRITORIES
from engine.games.clans.rules import Move, State, found, huts_of, order_matters, orders, settle

seeds = st.integers(0, 10_000)
counts = st.integers(2, 4)
singles = st.sampled_from(["all_leave", "all_stay"])


def play(state: State, text: str) -> State:
    seat = state.to_act[0]
    return state.apply(seat, GAME.parse(state, seat, text))


def legal(state: State) -> set[str]:
    return {GAME.format(state, 0, move) for move in state.legal_moves(0)}


def test_the_board_has_sixty_territories_and_135_borders() -> None:
    assert len(TERRITORIES) == 60
    assert TERRITORIES[0] == "A1"
    assert TERRITORIES[59] == "L5"
    assert sum(map(len, board.NEIGHBOURS)) == 2 * 135
    assert [board.TERRAIN.count(terrain) for terrain in board.TERRAINS] == [15] * 4


def test_every_border_is_one_from_both_sides() -> None:
    for here, some in enumerate(board.NEIGHBOURS):
        assert list(some) == sorted(set(some))
        assert here not in some
        assert all(here in board.NEIGHBOURS[near] for near in some)
        assert board.MASK[here] == sum(1 << near for near in some)


def test_no_territory_borders_another_across_a_lake() -> None:
    assert len(board.LAKES) == 12
    for ring in board.LAKES:
        for place, here in enumerate(ring):
            beside = {ring[place - 1], ring[(place + 1) % len(ring)]}
            assert beside <= set(board.NEIGHBOURS[here])


def test_the_coast_goes_round_from_neighbour_to_neighbour() -> None:
    for here, there in zip(board.COAST, (*board.COAST[1:], board.COAST[0]), strict=True):
        assert there in board.NEIGHBOURS[here]


def test_there_are_twelve_chips_in_five_epochs() -> None:
    assert [epoch.chips for epoch in board.EPOCHS] == [4, 3, 2, 2, 1]
    assert board.CHIPS == len(board.EPOCH_OF_CHIP) == 12


def test_six_huts_may_join_a_single_one() -> None:
    assert "A5-B1" in legal(position({"A5": "rrbbgg", "B1": "k"}))


def test_seven_huts_stay_put_beside_a_smaller_neighbour() -> None:
    state = position({"A5": "rrbbggy", "B1": "kkkkkk"})
    assert legal(state) == {"B1-A5"}
    with pytest.raises(IllegalMove, match=r"A5 has 7 huts: seven or more stay put .* B1 holds 6\."):
        play(state, "A5-B1")


def test_between_equally_large_neighbours_the_mover_chooses_the_direction() -> None:
    assert legal(position({"A5": "rrbbggy", "B1": "kkkkkkk"})) == {"A5-B1", "B1-A5"}


def test_huts_move_only_onto_huts() -> None:
    with pytest.raises(IllegalMove, match="B1 is empty: huts move only to a neighbour that holds huts"):
        play(position({"A5": "r", "A2": "b"}), "A5-B1")
    with pytest.raises(IllegalMove, match="B1 is empty: there are no huts to move"):
        play(position({"A5": "r", "A2": "b"}), "B1-A5")


def test_huts_move_only_to_a_neighbour() -> None:
    with pytest.raises(IllegalMove, match=r"A5 and C3 are not neighbours. A5 borders A2, A3, A4, B1, D1, E1\."):
        play(beginning(), "A5-C3")
    with pytest.raises(IllegalMove, match="A5 is both ends of this move"):
        play(beginning(), "A5-A5")


def test_a_lake_is_not_crossed_but_a_river_is() -> None:
    assert "B1-E1" in legal(position({"B1": "r", "E1": "b", "E3": "g"}))
    with pytest.raises(IllegalMove, match="B1 and E3 are not neighbours"):
        play(beginning(), "B1-E3")


def test_a_single_hut_can_become_a_village() -> None:
    state = position({"A1": "r", "A2": "b", "B1": "g", "L1": "y", "L2": "k"})
    after = play(state, "A2-B1 / A1 B1")
    assert [(TERRITORIES[v.territory], v.value, v.clans) for v in after.villages] == [
        ("A1", 1, ("red",)),
        ("B1", 2, ("blue", "green")),
    ]


def test_the_mover_founds_villages_whose_huts_he_did_not_touch() -> None:
    state = position({"A1": "r", "A3": "b", "A5": "g", "B1": "y"})
    after = play(state, "A3-A5")
    assert [TERRITORIES[v.territory] for v in after.villages] == ["A1"]
    assert after.villages[0].founder == 0
    assert after.chips == (1, 0)


def test_the_founder_takes_a_chip_even_when_the_village_scores_nothing() -> None:
    after = play(position({"A2": "r", "A1": "b", "L1": "y", "L2": "k"}), "A1-A2")
    assert after.villages[0].value == 0
    assert after.villages[0].clans == ("red", "blue")
    assert after.points == (0, 0, 0, 0, 0)
    assert after.chips == (1, 0)


def test_favourable_terrain_adds_the_bonus_of_the_epoch() -> None:
    after = play(position({"A5": "r", "A2": "bb", "L1": "y", "L2": "k"}), "A2-A5")
    assert after.villages[0].value == 3 + 1
    assert after.points == (4, 4, 0, 0, 0)


def test_in_the_fifth_epoch_every_terrain_is_favourable() -> None:
    after = play(position({"A2": "r", "A1": "b", "L1": "y", "L2": "k"}, taken=11), "A1-A2")
    assert after.villages[-1].value == 2 + 5
    assert after.to_act == ()


def test_strife_removes_single_huts_when_all_five_clans_meet() -> None:
    after = play(position({"A3": "rrbgyy", "A1": "k", "L1": "y", "L2": "k"}), "A1-A3")
    assert counted(after)["A3"] == {"red": 2, "yellow": 2}
    assert after.points == (4, 0, 0, 4, 0)


def test_there_is_no_strife_between_four_clans() -> None:
    after = play(position({"A3": "rbg", "A1": "k", "L1": "y", "L2": "k"}), "A1-A3")
    assert counted(after)["A3"] == {"red": 1, "blue": 1, "green": 1, "black": 1}


def test_five_single_huts_all_leave_and_nobody_scores_but_the_chip_is_taken() -> None:
    after = play(position({"A3": "rbgy", "A1": "k", "L1": "y", "L2": "k"}), "A1-A3")
    assert "A3" not in counted(after)
    assert after.points == (0,) * 5
    assert after.chips == (1, 0)
    assert (after.villages[0].value, after.villages[0].clans) == (0, ())


def test_five_single_huts_that_leave_are_worth_nothing_on_favourable_terrain_too() -> None:
    after = play(position({"A5": "rbgy", "A2": "k", "L1": "y", "L2": "k"}), "A2-A5")
    assert after.villages[0].value == 0


def test_a_table_may_let_five_single_huts_stay() -> None:
    after = play(position({"A3": "rbgy", "A1": "k", "L1": "y", "L2": "k"}, five_singles="all_stay"), "A1-A3")
    assert counted(after)["A3"] == dict.fromkeys(("red", "blue", "green", "yellow", "black"), 1)
    assert after.points == (5,) * 5


def test_letting_five_singles_stay_saves_no_single_hut_elsewhere() -> None:
    pile = position({"A3": "rrbgyk"}).huts[INDEX["A3"]]
    left, gone = settle(pile, "all_stay")
    assert huts_of(left) == [2, 0, 0, 0, 0]
    assert gone == ("blue", "green", "yellow", "black")


def test_an_epoch_can_change_between_two_villages_of_one_move() -> None:
    state = position({"A1": "r", "A2": "b", "B1": "g", "L1": "y", "L2": "k"}, taken=3)
    assert [v.epoch for v in play(state, "A2-B1 / A1 B1").villages[3:]] == [0, 1]


def test_villages_after_the_twelfth_chip_score_nothing_and_know_no_strife() -> None:
    state = position({"A1": "rbgyk", "A2": "b", "B1": "g"}, taken=11)
    after = play(state, "A2-B1 / B1")
    assert after.points == (0, 7, 7, 0, 0)
    assert counted(after)["A1"] == dict.fromkeys(("red", "blue", "green", "yellow", "black"), 1)
    outcome = after.outcome()
    assert outcome is not None
    assert outcome.reason == "twelfth village"
    assert after.chips[0] == 12


def test_the_order_decides_which_village_is_the_twelfth() -> None:
    state = position({"A1": "r", "A2": "b", "B1": "g"}, taken=11)
    assert orders(state, INDEX["A2"]) == ((INDEX["A1"],), (INDEX["B1"],))
    assert play(state, "A2-B1 / A1").points == (6, 0, 0, 0, 0)
    assert play(state, "A2-B1 / B1").points == (0, 7, 7, 0, 0)


def test_the_match_ends_at_once_when_no_legal_move_is_left() -> None:
    after = play(position({"A1": "r", "A2": "b"}), "A2-A1")
    outcome = after.outcome()
    assert outcome is not None
    assert outcome.reason == "no move left"
    assert list(after.legal_moves(1)) == []
    with pytest.raises(IllegalMove, match="The match is over"):
        after.apply(1, Move(0, 1))


def test_only_the_awaited_seat_may_move() -> None:
    state = beginning()
    other = (state.to_act[0] + 1) % 3
    assert list(state.legal_moves(other)) == []
    with pytest.raises(IllegalMove, match="not your turn"):
        state.apply(other, next(iter(state.legal_moves(state.to_act[0]))))


def test_equal_points_share_the_win() -> None:
    clans = beginning(1, 2).table.clans
    state = position({"A1": "rr", "A2": "bb", "L1": "rb", "L2": "g"})
    points = tuple(5 if clan in clans else 0 for clan in range(5))
    ended = state._replace(points=points, to_act=()).outcome()
    assert ended is not None
    assert ended.scores == (5, 5)
    assert ended.winners == (0, 1)


def test_a_move_with_an_order_it_does_not_have_is_refused() -> None:
    state = beginning()
    seat = state.to_act[0]
    with pytest.raises(IllegalMove, match="No village arises"):
        state.apply(seat, Move(INDEX["A5"], INDEX["B1"], (INDEX["B1"],)))
    alone = position({"A1": "r", "A2": "b", "L1": "y", "L2": "k"})
    with pytest.raises(IllegalMove, match="One village arises"):
        alone.apply(0, Move(INDEX["A2"], INDEX["A1"], (INDEX["A1"],)))
    two = position({"A1": "r", "A2": "b", "B1": "g", "L1": "y", "L2": "k"})
    for order in ((), (INDEX["A1"],), (INDEX["A1"], INDEX["A1"]), (INDEX["A1"], INDEX["L1"])):
        with pytest.raises(IllegalMove, match="makes villages of A1 and B1"):
            two.apply(0, Move(INDEX["A2"], INDEX["B1"], order))


def test_a_refused_move_changes_nothing() -> None:
    state = beginning()
    before = (state.huts, state.occupied, state.to_act)
    with pytest.raises(IllegalMove):
        state.apply(state.to_act[0], Move(INDEX["A5"], INDEX["L5"]))
    assert (state.huts, state.occupied, state.to_act) == before


def test_a_match_of_every_end_is_among_the_records() -> None:
    assert {read(path)["result"]["reason"] for path in RECORDS} == {"twelfth village", "no move left", "resignation"}


def test_both_choices_for_five_singles_have_a_record_in_which_they_matter() -> None:
    for choice in ("all_leave", "all_stay"):
        villages = [
            village
            for path in RECORDS
            if read(path)["options"].get("five_singles") == choice
            for village in read(path)["result"]["detail"]["villages"]
        ]
        assert any(len(village["clans"]) == (0 if choice == "all_leave" else 5) for village in villages)


@settings(max_examples=8)
@given(seeds, counts, singles)
def test_random_matches_follow_the_rule_sheet_step_by_step(seed: int, seats: int, five_singles: str) -> None:
    second = Plainly(setup(seed, seats), five_singles)
    state: State | None = None
    for state, seat, move, after in random_match(seed, seats, {"five_singles": five_singles}):
        text = GAME.format(state, seat, move)
        assert [GAME.format(state, seat, other) for other in state.legal_moves(seat)] == sorted(second.texts())
        second.play(seat, text)
        assert counted(after) == {name: dict(pile) for name, pile in second.huts.items() if pile}
        assert [TERRITORIES[village.territory] for village in after.villages] == second.villages
        assert after.points == tuple(second.points[clan] for clan in board.CLANS)
        assert list(after.chips) == second.chips
        assert second.over() == (not after.to_act)
        assert (after.outcome() is None) == bool(after.to_act)


@given(seeds, counts, singles)
def test_huts_and_chips_add_up_all_through_a_match(seed: int, seats: int, five_singles: str) -> None:
    gone = 0
    for state, seat, move, after in random_match(seed, seats, {"five_singles": five_singles}):
        huts = list(state.huts)
        huts[move.target] += huts[move.source]
        new = [village.territory for village in after.villages[len(state.villages) :]]
        gone += sum(len(founding.gone) for founding in found(state, seat, huts, new))
        assert sum(pile >> 20 for pile in after.huts) == 60 - gone
        assert all(pile >> 20 == sum(huts_of(pile)) for pile in after.huts)
        assert after.occupied == sum(1 << index for index, pile in enumerate(after.huts) if pile)
        assert sum(after.chips) == len(after.villages) == 12 - after.open
        assert [village.epoch for village in after.villages] == list(board.EPOCH_OF_CHIP[: len(after.villages)])
    outcome = after.outcome()
    assert outcome is not None
    best = max(outcome.scores)
    assert outcome.winners == tuple(seat for seat in range(seats) if outcome.scores[seat] == best)
    assert outcome.scores == after.tally().scores


@settings(max_examples=10)
@given(seeds, counts, st.integers(0, 40))
def test_only_legal_moves_apply(seed: int, seats: int, stop: int) -> None:
    for number, (state, seat, _, _) in enumerate(random_match(seed, seats)):
        if number < stop:
            continue
        allowed = set(state.legal_moves(seat))
        for source in range(60):
            for target in range(60):
                for order in {(), *(move.order for move in allowed if move[:2] == (source, target))}:
                    move = Move(source, target, order)
                    if move in allowed:
                        state.apply(seat, move)
                    else:
                        with pytest.raises(IllegalMove):
                            state.apply(seat, move)
        return


@given(seeds, counts)
def test_orders_differ_in_points_only_if_they_are_said_to_matter(seed: int, seats: int) -> None:
    for state, seat, _, _ in random_match(seed, seats):
        by_pair: dict[tuple[int, int], set[tuple[int, ...]]] = {}
        for move in state.legal_moves(seat):
            if move.order:
                by_pair.setdefault(move[:2], set()).add(state.apply(seat, move).points)
        for (source, target), results in by_pair.items():
            assert order_matters(state, source, target) == (len(results) > 1)


junk: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(board.CLANS),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(seeds, counts, st.sampled_from(["huts", "clans", "first"]), junk)
def test_a_setup_with_junk_in_it_is_refused_in_a_sentence(seed: int, seats: int, key: str, value: Any) -> None:
    broken = {**setup(seed, seats), key: value}
    refused = ""
    try:
        GAME.begin(broken, seats, {})
    except InvalidSetup as error:
        refused = str(error)
    good = {
        "huts": False,
        "clans": isinstance(value, list) and len(value) == seats,
        "first": type(value) is int and 0 <= value < seats,
    }
    assert good[key] or refused.endswith(".")


@given(st.data(), seeds, counts)
def test_a_setup_with_junk_on_one_territory_or_seat_is_refused(data: st.DataObject, seed: int, seats: int) -> None:
    broken = setup(seed, seats)
    name = data.draw(st.sampled_from([*TERRITORIES, "M1"]))
    value = data.draw(junk)
    if value != broken["huts"].get(name):
        broken["huts"][name] = value
        with pytest.raises(InvalidSetup):
            GAME.begin(broken, seats, {})


@given(junk)
def test_junk_is_no_setup(value: Any) -> None:
    with pytest.raises(InvalidSetup):
        GAME.begin(value, 2, {})


@pytest.mark.parametrize("clans", [["red", "red"], ["red"], ["red", "white"], "red", ["red", ["blue"]]])
def test_clans_must_be_known_and_distinct_and_one_for_each_seat(clans: Any) -> None:
    with pytest.raises(InvalidSetup):
        GAME.begin({**setup(1, 2), "clans": clans}, 2, {})


@pytest.mark.parametrize("first", [2, -1, True, "0", 0.0, None])
def test_the_start_seat_must_be_one_of_the_seats(first: Any) -> None:
    with pytest.raises(InvalidSetup, match="The start seat must be a number from 0 to 1"):
        GAME.begin({**setup(1, 2), "first": first}, 2, {})


@pytest.mark.parametrize("seats", [0, 1, 5])
def test_clans_is_for_two_to_four(seats: int) -> None:
    with pytest.raises(InvalidSetup, match="2 to 4 players"):
        GAME.begin(setup(1, 2), seats, {})


@pytest.mark.parametrize(
    "options", [{"five_singles": "maybe"}, {"colour": "red"}, {"five_singles": 1}, {3: "x"}, 5, []]
)
def test_options_that_clans_does_not_have_are_refused(options: Any) -> None:
    with pytest.raises(InvalidSetup):
        GAME.begin(setup(1, 2), 2, options)

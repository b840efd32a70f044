"""The rules of Clans and Glory: records, hand-made positions, random matches beside a second telling of the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from glory_helpers import (
    BAD_RECORDS,
    GAME,
    HANDS,
    PLACES,
    RECORDS,
    Plainly,
    beginning,
    legal,
    play,
    position,
    random_match,
    read,
    record,
    setup,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import replay
from engine.base import IllegalMove, InvalidSetup
from engine.deal import stream_for
from engine.games.glory.cards import CARD, CARDS, IN_PLAY, MATCH, NEAR, NOWHERE, SPOT, SPOTS, SPOTS_IN_PLAY
from engine.games.glory.rules import DOWN, NO_SPOT, Move, members, owner_and_card, takings
from engine.record import RecordError, check, dump, load, rows_of

seeds = st.integers(0, 10_000)
counts = st.integers(2, 4)
rows = st.sampled_from(["continuous", "separate"])
OURS = [path for path in RECORDS if not path.stem[-2:].isdigit()]


# Records


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_every_recorded_match_holds(path: Path) -> None:
    position = check(load(path.read_bytes()))
    assert position.outcome is not None
    assert position.outcome.as_plain() == read(path)["result"]


@pytest.mark.parametrize("path", BAD_RECORDS, ids=lambda path: path.stem)
def test_every_bad_record_is_refused_where_its_fault_is(path: Path) -> None:
    with pytest.raises(RecordError) as error:
        check(load(path.read_bytes()))
    assert error.value.at_seq == read(path)["fault"]["at_seq"]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_own_export_comes_back_byte_for_byte(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert dump(load(text)) == text


def test_every_end_and_every_kind_of_turn_is_among_the_records() -> None:
    found = [read(path) for path in RECORDS]
    texts = {row["text"].partition(" ")[2].partition(" ")[2] for one in found for row in one["log"]}
    assert {"", "shield", "down", "down shield"} <= texts
    assert {one["result"]["reason"] for one in found} == {"last card laid", "resignation"}
    assert {len(one["players"]) for one in found} == {2, 3, 4}
    assert {row["kind"] for one in found for row in one["log"]} == {"move", "resign", "timeout", "takeover", "undo"}
    assert {one["options"].get("row") for one in found} == {None, "continuous", "separate"}
    assert max(len(one["result"]["winners"]) for one in found) == 2


def test_the_option_of_the_separate_row_matters_in_its_record() -> None:
    found = record("row-separate")
    with pytest.raises(RecordError):
        check({**found, "options": {}})


def test_whoever_resigned_cannot_win_with_the_best_score() -> None:
    result = record("resigned-best-score")["result"]
    assert max(result["scores"]) not in [result["scores"][seat] for seat in result["winners"]]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_replaying_a_prefix_is_where_playing_on_had_come(path: Path) -> None:
    found = read(path)
    given_ = (GAME, found["setup"], len(found["players"]), found["options"])
    log = rows_of(found)
    for number, walked in enumerate(replay.positions(*given_, log)):
        if number % 7 == 0 or number == len(log):
            assert replay.replay(*given_, log[:number]) == walked


# Cards and spots


def test_there_are_seven_colours_of_six_strengths() -> None:
    assert len(CARD) == 42
    assert CARDS[1:7] == ("R3", "R4", "R5", "R6", "R7", "R8")
    assert {seats: len(cards) for seats, cards in IN_PLAY.items()} == {2: 28, 3: 35, 4: 42}
    assert {seats: len(spots) for seats, spots in SPOTS_IN_PLAY.items()} == {2: 24, 3: 30, 4: 36}


def test_cards_match_by_colour_or_strength_but_never_themselves() -> None:
    for card, name in enumerate(CARDS):
        if name:
            assert [CARDS[other] for other in members(MATCH[card])] == [
                other for other in CARDS[1:] if other != name and (other[0] == name[0] or other[1] == name[1])
            ]


@pytest.mark.parametrize("row", ["continuous", "separate"])
def test_neighbours_are_opposite_and_beside(row: str) -> None:
    plain = Plainly(setup(1, 4), row)
    for spot, name in enumerate(SPOTS):
        near = [SPOTS[other] for other in NEAR[row][spot] if other != NOWHERE]
        assert sorted(near) == sorted(plain.around(name))


# Turns


def test_a_card_needs_a_face_up_neighbour_of_its_colour_or_strength() -> None:
    state = position({"N2": "R5"}, ["R3 G5 B6", "Y3"])
    assert legal(state) == [
        *("R3 N1", "R3 N1 shield", "R3 N3", "R3 N3 shield", "R3 S2", "R3 S2 shield"),
        *("G5 N1", "G5 N1 shield", "G5 N3", "G5 N3 shield", "G5 S2", "G5 S2 shield"),
    ]
    with pytest.raises(IllegalMove, match=r"B6 does not fit on N1: around it lies R5 on N2\. .* blue or a 6"):
        play(state, "B6 N1")
    with pytest.raises(IllegalMove, match=r"around it lies no face-up card"):
        play(state, "B6 S8")


def test_one_match_is_enough() -> None:
    assert "G5 N2" in legal(position({"N1": "R5", "N3": "B8", "S2": "Y7"}, ["G5", "Y3", "Y4", "Y6"]))


def test_the_row_goes_on_across_places_but_its_ends_are_not_joined() -> None:
    state = position({"N3": "R5", "N12": "B6"}, ["R4 B4", "Y3"])
    assert {"R4 N4", "R4 N2", "B4 N11", "B4 S12"} <= set(legal(state))
    assert "B4 N1" not in legal(state)


def test_a_table_may_let_the_row_end_at_each_place() -> None:
    state = position({"N3": "R5"}, ["R4", "Y3"], row="separate")
    assert {text.split()[1] for text in legal(state)} == {"N2", "S3"}


def test_a_card_goes_onto_a_free_spot_of_this_table() -> None:
    state = position({"N2": "R5", "N3": "R6", "N12": "R3"}, ["R4", "Y3"])
    with pytest.raises(IllegalMove, match="N3 is taken"):
        play(state, "R4 N3")
    with pytest.raises(IllegalMove, match="There is no spot N13 at this table: they are N1 to N12 and S1 to S12"):
        play(state, "R4 N13")


def test_only_a_card_of_the_own_hand_can_be_laid() -> None:
    with pytest.raises(IllegalMove, match=r"You do not hold Y3\."):
        play(position({"N2": "R5"}, ["R4", "Y3"]), "Y3 N1")


def test_a_card_is_laid_face_down_only_if_none_fits() -> None:
    stuck = position({"N2": "R5"}, ["B6 G4", "Y3"])
    free = 24 - 1
    assert len(legal(stuck)) == 2 * free * 2
    assert all(" down" in text for text in legal(stuck))
    with pytest.raises(
        IllegalMove, match=r"None of your cards fits anywhere, so you lay one face down: write B6 N1 down\."
    ):
        play(stuck, "B6 N1")
    with pytest.raises(IllegalMove, match="A card of yours fits face up"):
        play(position({"N2": "R5"}, ["B6 R4", "Y3"]), "B6 N1 down")


def test_a_face_down_card_matches_nothing_and_scores_nothing() -> None:
    state = position({"N2": "R5 down by 1", "N5": "G6"}, ["R4 G3", "Y3"], stacks={1: (0,), 2: (1,)})
    assert {text.split()[0] for text in legal(state)} == {"G3"}
    assert state.tally().scores == (0, 6)


def test_face_down_in_the_last_turns_still_takes_a_shield() -> None:
    after = play(position({"N2": "R5"}, ["B6", "Y3"]), "B6 S9 down shield")
    assert after.stacks[2] == (0,)
    assert after.shields == (4, 5)
    assert owner_and_card(after.board[SPOT["S9"]]) == (0, CARD["B6"])


def test_a_shield_goes_onto_the_place_just_played_while_any_is_left() -> None:
    state = position({"N2": "R5"}, ["R4", "R3"], shields=(1, 0))
    after = play(state, "R4 N3 shield")
    assert after.stacks == ((0,), (), (), ())
    assert after.shields == (0, 0)
    assert legal(after) == ["R3 N1", "R3 N4", "R3 S2", "R3 S3"]
    with pytest.raises(IllegalMove, match="You have no shield left"):
        play(after, "R3 N4 shield")


# The end and scoring


def test_the_shield_placed_first_takes_the_lowest_strength() -> None:
    state = position(
        {"N1": "R5", "N2": "G3", "N3": "B5", "S1": "Y3", "S2": "W6", "S3": "P4 down by 0"},
        ["O3", "O4"],
        stacks={1: (1, 0, 1, 0)},
    )
    assert [tuple(taking) for taking in takings(state, 0)] == [(1, 3, 2), (0, 5, 2), (1, 6, 1)]
    assert state.tally() == ((10, 12), {"taken": {"1": [[1, 3, 2], [0, 5, 2], [1, 6, 1]]}})


def test_the_match_ends_when_the_small_hand_is_laid() -> None:
    state = position({"N2": "R5"}, ["R4 G4", "R3"])
    after = play(state, "R4 N3", "R3 N1 shield")
    assert after.to_act == ()
    outcome = after.outcome()
    assert outcome is not None
    assert (outcome.reason, outcome.scores, outcome.winners) == ("last card laid", (0, 3), (1,))
    assert list(after.legal_moves(0)) == []
    with pytest.raises(IllegalMove, match="The match is over"):
        after.apply(0, Move(CARD["G4"], SPOT["N4"]))


def test_equal_points_share_the_win() -> None:
    outcome = play(position({"N2": "R5"}, ["R4", "R3"]), "R4 N3", "R3 N1").outcome()
    assert outcome is not None
    assert (outcome.scores, outcome.winners) == ((0, 0), (0, 1))


def test_only_the_awaited_seat_may_move() -> None:
    state = beginning()
    other = (state.to_act[0] + 1) % 3
    assert list(state.legal_moves(other)) == []
    with pytest.raises(IllegalMove, match="not your turn"):
        state.apply(other, next(iter(state.legal_moves(state.to_act[0]))))
    with pytest.raises(IllegalMove, match="not your turn"):
        state.apply(7, Move(1, 0))


# Random matches


@settings(max_examples=10)
@given(seeds, counts, rows)
def test_random_matches_follow_the_rule_sheet_step_by_step(seed: int, seats: int, row: str) -> None:
    second = Plainly(setup(seed, seats), row)
    turns = 0
    for state, seat, move, after in random_match(seed, seats, {"row": row}):
        assert seat == second.turn
        texts = [GAME.format(state, seat, other) for other in state.legal_moves(seat)]
        assert len(texts) == len(set(texts))
        assert set(texts) == second.texts()
        second.play(GAME.format(state, seat, move))
        turns += 1
        assert [{CARDS[card] for card in members(hand)} for hand in after.hands] == second.hands
        assert list(after.stacks) == [tuple(stack) for stack in second.stacks.values()]
        assert list(after.shields) == second.left
        assert list(after.tally().scores) == second.scores()
        assert (not after.to_act) == second.over == (after.outcome() is not None)
    assert turns == {2: 16, 3: 24, 4: 28}[seats]


@given(seeds, counts)
def test_no_card_is_ever_lost_or_doubled(seed: int, seats: int) -> None:
    for _, _, _, after in random_match(seed, seats):
        laid = [value for value in after.board if 0 < value < NO_SPOT]
        cards = [value if value < DOWN else owner_and_card(value)[1] for value in laid]
        cards += [card for hand in after.hands for card in members(hand)] + list(members(after.table.undealt))
        assert sorted(cards) == list(IN_PLAY[seats])
        assert sum(map(len, after.stacks)) + sum(after.shields) == 5 * seats


@settings(max_examples=8)
@given(seeds, counts, st.integers(0, 27))
def test_only_legal_moves_apply(seed: int, seats: int, stop: int) -> None:
    for number, (state, seat, _, _) in enumerate(random_match(seed, seats)):
        if number < stop:
            continue
        allowed = set(state.legal_moves(seat))
        for card in IN_PLAY[seats]:
            for spot in range(len(SPOTS)):
                for shield in (False, True):
                    for down in (False, True):
                        move = Move(card, spot, shield, down)
                        if move in allowed:
                            state.apply(seat, move)
                        else:
                            with pytest.raises(IllegalMove, match=r"\.$"):
                                state.apply(seat, move)
        return


# Setups


@given(seeds, counts)
def test_a_deal_has_hands_in_turn_order_and_a_start_card_on_each_place(seed: int, seats: int) -> None:
    dealt = setup(seed, seats)
    turn_order = [dealt["hands"][(dealt["first"] + turn) % seats] for turn in range(seats)]
    assert tuple(map(len, turn_order)) == HANDS[seats]
    starts = [f"{'NS'[place % 2]}{3 * place + 2}" for place in range(PLACES[seats])]
    assert list(dealt["start_cards"]) == starts
    cards = [card for hand in dealt["hands"] for card in hand] + list(dealt["start_cards"].values())
    assert len(set(cards)) == len(cards)


def test_the_deal_is_the_documented_one() -> None:
    secret = bytes(range(32))
    dealt = GAME.deal(stream_for(secret, ["pebble", "", "løch"]), 3, {})
    assert dealt == DOCUMENTED
    text = (Path(__file__).parents[2] / "docs" / "fair-deal.md").read_text(encoding="utf-8")
    for hand in DOCUMENTED["hands"]:
        assert " ".join(hand) in text
    assert ", ".join(f"{spot} {card}" for spot, card in DOCUMENTED["start_cards"].items()) in text


DOCUMENTED: dict[str, Any] = {
    "hands": [
        ["P4", "B5", "Y6", "W7", "R5", "O3", "G3", "G6", "Y5"],
        ["B7", "P7", "R4", "R6", "G4", "B3", "G7", "O4"],
        ["P3", "O7", "W4", "O6", "O5", "W5", "W3", "B6", "P6"],
    ],
    "start_cards": {"N2": "P5", "S5": "R7", "N8": "Y7", "S11": "B4", "N14": "Y4"},
    "first": 2,
}

junk: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(CARDS),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=3), inner, max_size=6),
    max_leaves=12,
)


@given(seeds, counts, st.sampled_from(["hands", "start_cards", "first"]), junk)
def test_a_setup_with_junk_in_it_is_refused_in_a_sentence(seed: int, seats: int, key: str, value: Any) -> None:
    refused = ""
    try:
        GAME.begin({**setup(seed, seats), key: value}, seats, {})
    except InvalidSetup as error:
        refused = str(error)
    fine = key == "first" and type(value) is int and value == setup(seed, seats)["first"]
    assert fine or refused.endswith(".")


@given(st.data(), seeds, counts)
def test_a_setup_with_junk_for_one_card_is_refused(data: st.DataObject, seed: int, seats: int) -> None:
    broken = setup(seed, seats)
    hand = data.draw(st.sampled_from(broken["hands"]))
    place = data.draw(st.integers(0, len(hand) - 1))
    dealt = [card for one in broken["hands"] for card in one] + list(broken["start_cards"].values())
    value = data.draw(junk | st.sampled_from(dealt))
    undealt = {CARDS[card] for card in IN_PLAY[seats]} - set(dealt)
    if value == hand[place] or (isinstance(value, str) and value in undealt):
        return
    hand[place] = value
    with pytest.raises(InvalidSetup):
        GAME.begin(broken, seats, {})


@given(junk)
def test_junk_is_no_setup(value: Any) -> None:
    with pytest.raises(InvalidSetup):
        GAME.begin(value, 2, {})


def test_a_card_dealt_twice_is_named() -> None:
    broken = setup(1, 2)
    broken["hands"][0][0] = broken["hands"][1][0]
    with pytest.raises(InvalidSetup, match=f"{broken['hands'][1][0]} is dealt twice"):
        GAME.begin(broken, 2, {})


def test_a_card_that_so_few_players_do_not_use_is_refused() -> None:
    broken = setup(1, 2)
    broken["hands"][0][0] = "R7"
    with pytest.raises(InvalidSetup, match="a strength from 3 to 6"):
        GAME.begin(broken, 2, {})


def test_the_small_hand_must_be_with_the_last_in_turn_order() -> None:
    broken = setup(1, 3)
    with pytest.raises(InvalidSetup, match=r"Seat \d must hold \d cards, not \d: seat \d starts\."):
        GAME.begin({**broken, "first": (broken["first"] + 1) % 3}, 3, {})


@pytest.mark.parametrize("first", [2, -1, True, "0", 0.0, None])
def test_the_start_seat_must_be_one_of_the_seats(first: Any) -> None:
    with pytest.raises(InvalidSetup, match="The start seat must be a number from 0 to 1"):
        GAME.begin({**setup(1, 2), "first": first}, 2, {})


@pytest.mark.parametrize("seats", [0, 1, 5])
def test_clans_and_glory_is_for_two_to_four(seats: int) -> None:
    with pytest.raises(InvalidSetup, match="2 to 4 players"):
        GAME.begin(setup(1, 2), seats, {})


@pytest.mark.parametrize("options", [{"row": "round"}, {"colour": "red"}, {"row": 1}, {3: "x"}, 5, []])
def test_options_that_the_game_does_not_have_are_refused(options: Any) -> None:
    with pytest.raises(InvalidSetup):
        GAME.begin(setup(1, 2), 2, options)

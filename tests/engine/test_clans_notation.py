"""Moves of Clans as text: what is read, what is written, and what is said to a player whose text does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from play_helpers import GAME, RECORDS, beginning, position, random_match, read

from engine.base import AmbiguousMove, IllegalMove, InvalidMove, MoveError
from engine.games.clans.board import INDEX
from engine.games.clans.rules import Move, State
from engine.replay import MOVE, UNDO

TWO = {"A1": "r", "A2": "b", "B1": "g", "L1": "y", "L2": "k"}
"""A2-B1 makes villages of A1 and B1."""


def reads(state: State, text: str) -> str:
    seat = state.to_act[0]
    return GAME.format(state, seat, GAME.parse(state, seat, text))


@pytest.mark.parametrize(
    "text",
    [
        "A5-B1",
        "a5-b1",
        "a5 b1",
        "a5b1",
        " A5 - B1 ",
        "A5 to B1",
        "a5 To b1",
        "a5tob1",
        "a5>b1",
        "A5->B1",
        "A5=>B1",
        "A5 --> B1",
        "A5→B1",
        "A5 ➡️ B1",
        "A5–B1",
        "A5—B1",
        "A5−B1",
        "A5‑B1",
        "A5 -- B1",
        "A5-B1.",
        "A5-B1 /",
        "Ａ５－Ｂ１",
        "A5-B1\n",
        "\tA5\t B1 ",
    ],
)
def test_a_move_may_be_written_in_many_ways(text: str) -> None:
    assert reads(beginning(), text) == "A5-B1"


@pytest.mark.parametrize("tail", ["B1 A1", "b1 a1", "B1, A1", "b1,a1", "B1 ,A1", "B1", "b1.", " B1  A1 ", "B1; A1"])
def test_an_order_may_be_written_in_many_ways_and_name_only_the_first(tail: str) -> None:
    assert reads(position(TWO), f"a2 b1/{tail}") == "A2-B1 / B1 A1"


def test_names_left_out_follow_in_alphabetical_order() -> None:
    huts = {"G1": "r", "G2": "b", "I2": "g", "G4": "y", "L1": "y", "L2": "k"}
    assert reads(position(huts), "G2-G4 / I2") == "G2-G4 / I2 G1 G4"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "A5",
        "A5-",
        "-B1",
        "A5-B1-C1",
        "A5 and B1",
        "A5 B1 C1",
        "A5/B1",
        "A5-B1 / to B1",
        "A5-B1 / B1 /",
        "A5-B1 C1",
        "5A-1B",
        "A-B",
        "> A5-B1",
        "A5\nto\nB1\nregards",
        "A5-B1 / ⟶",
        "A5" * 200,
        "A5-B1" + " " * 300,
        "Á5-B1",
    ],
)
def test_what_is_no_move_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidMove, match=r"A5-B1|F1-B5 / B5 F4"):
        reads(beginning(), text)


@pytest.mark.parametrize("text", ["M1-A1", "A6-A5", "A0-A5", "A5-B12", "A2-B1 / B7"])
def test_a_territory_that_does_not_exist_is_named(text: str) -> None:
    with pytest.raises(InvalidMove, match=r"There is no territory (M1|A6|A0|B12|B7): they are A1 to A5"):
        reads(beginning(), text)


def test_a_village_named_twice_is_refused() -> None:
    with pytest.raises(InvalidMove, match="twice"):
        reads(position(TWO), "A2-B1 / A1 a1")


def test_a_village_that_does_not_arise_is_named() -> None:
    with pytest.raises(IllegalMove, match="L1 does not become a village by this move; A1 and B1 do"):
        reads(position(TWO), "A2-B1 / L1")
    with pytest.raises(IllegalMove, match="B1 does not become a village by this move: no village arises"):
        reads(beginning(), "A5-B1 / B1")
    with pytest.raises(IllegalMove, match="L1 does not become a village by this move; A1 does"):
        reads(position({"A1": "r", "A2": "b", "L1": "y", "L2": "k"}), "A2-A1 / L1")


def test_naming_the_only_village_is_allowed_but_not_written() -> None:
    assert reads(position({"A1": "r", "A2": "b", "L1": "y", "L2": "k"}), "A2-A1 / A1") == "A2-A1"


def test_an_illegal_move_tells_what_stands_in_its_way() -> None:
    with pytest.raises(IllegalMove, match=r"A5 and C3 are not neighbours\. A5 borders A2, A3, A4, B1, D1, E1"):
        reads(beginning(), "a5 c3")
    with pytest.raises(IllegalMove, match=r"A5 has 8 huts: .* neighbour holds at least as many; B1 holds 2\.$"):
        reads(position({"A5": "rrrrbbbb", "B1": "gg"}), "A5-B1")


def test_seven_huts_onto_seven_are_read() -> None:
    assert reads(position({"A5": "rrrrbbb", "B1": "ggggggg"}), "A5-B1") == "A5-B1"


def test_a_seat_that_is_not_awaited_is_told_so() -> None:
    state = beginning()
    with pytest.raises(IllegalMove, match="It is not your turn"):
        GAME.parse(state, (state.to_act[0] + 1) % 3, "A5-B1")
    over = position({"A1": "r", "A2": "b"})
    over = over.apply(0, GAME.parse(over, 0, "A1-A2"))
    with pytest.raises(IllegalMove, match="The match is over"):
        GAME.parse(over, 1, "A5-B1")


def test_a_text_without_an_order_is_ambiguous_if_the_order_matters() -> None:
    state = position(TWO, taken=3)
    with pytest.raises(AmbiguousMove, match="makes villages of A1 and B1, and their order matters") as refused:
        reads(state, "a2 b1")
    assert refused.value.choices == ("A2-B1 / A1 B1", "A2-B1 / B1 A1")
    assert all(reads(state, choice) == choice for choice in refused.value.choices)


def test_a_text_without_an_order_is_accepted_if_every_order_gives_the_same() -> None:
    assert reads(position(TWO), "A2-B1") == "A2-B1 / A1 B1"


def test_only_the_villages_that_take_a_chip_are_written() -> None:
    state = position(TWO, taken=11)
    assert reads(state, "A2-B1 / B1 A1") == "A2-B1 / B1"
    with pytest.raises(AmbiguousMove) as refused:
        reads(state, "A2-B1")
    assert refused.value.choices == ("A2-B1 / A1", "A2-B1 / B1")


def test_the_example_is_a_move() -> None:
    assert reads(beginning(), GAME.example) == GAME.example


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_every_recorded_text_is_read_and_written_back_as_it_was(path: Path) -> None:
    record = read(path)
    state = GAME.begin(record["setup"], len(record["players"]), record["options"])
    before = []
    for row in record["log"]:
        if row["kind"] == MOVE:
            move = GAME.parse(state, row["seat"], row["text"])
            assert GAME.format(state, row["seat"], move) == row["text"]
            before.append(state)
            state = state.apply(row["seat"], move)
        elif row["kind"] == UNDO:
            state = before.pop()


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_reading_and_writing_are_inverse_for_every_legal_move(seed: int, seats: int) -> None:
    for state, seat, _, _ in random_match(seed, seats):
        moves = list(state.legal_moves(seat))
        assert len(set(moves)) == len(moves)
        for move in moves:
            text = GAME.format(state, seat, move)
            assert GAME.parse(state, seat, text) == move
            assert GAME.parse(state, seat, text.lower().replace("-", " to ").replace(" / ", "/")) == move


@given(st.text(max_size=30) | st.text(alphabet="ABLabl015-/> to→", max_size=14), st.integers(0, 5))
def test_no_text_breaks_the_reader(text: str, seed: int) -> None:
    state = beginning(seed)
    seat = state.to_act[0]
    refused, move = "", None
    try:
        move = GAME.parse(state, seat, text)
    except MoveError as error:
        refused = str(error)
    assert refused.endswith(".") or move in set(state.legal_moves(seat))


def test_a_move_is_a_value_that_can_be_a_key() -> None:
    state = beginning()
    move = GAME.parse(state, state.to_act[0], "A5-B1")
    assert {move: 1}[Move(INDEX["A5"], INDEX["B1"])] == 1

"""Moves of Clans and Glory as text: what is read, what is written, what others may read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from glory_helpers import GAME, RECORDS, beginning, position, random_match, read
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base import IllegalMove, InvalidMove, MoveError
from engine.games.glory.cards import CARD, SPOT
from engine.games.glory.rules import Move, State
from engine.replay import MOVE, UNDO

OPEN = position({"N8": "R7"}, ["R5 G4", "Y3"])
STUCK = position({"N8": "R7"}, ["B5 G4", "Y3"])


def reads(state: State, text: str) -> str:
    seat = state.to_act[0]
    return GAME.format(state, seat, GAME.parse(state, seat, text))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "R5 N7",
            "r5 n7",
            "r5n7",
            "R5N7",
            "r5@n7",
            "r5 @ n7",
            "R5 to N7",
            "r5 on n7",
            "R5 onto N7",
            "r5 at n7",
            "R5-N7",
        ),
        *(
            "R5->N7",
            "R5 > N7",
            "r5→n7",
            "R5, N7",
            "R5/N7",
            " R5  N7 ",
            "R5 N7.",
            "R5 N7!",
            "Ｒ５ Ｎ７",
            "R5\tN7\n",
            "r5 n 7",
        ),
        *("R5 N7 face up", "R5 N7 up"),
    ],
)
def test_a_move_may_be_written_in_many_ways(text: str) -> None:
    assert reads(OPEN, text) == "R5 N7"


@pytest.mark.parametrize(
    "tail",
    [
        *(" shield", "+", " +", " SHIELD", ", shield", " with shield", " with a shield", " and shield", " & shield"),
        *(" s", " sh.", "; shield", " (shield)", " plus a shield"),
    ],
)
def test_a_shield_may_be_written_in_many_ways(tail: str) -> None:
    assert reads(OPEN, f"r5 n7{tail}") == "R5 N7 shield"


@pytest.mark.parametrize("tail", ["down", "face down", "facedown", "DOWN", "d", "(down)", "hidden", ", face down."])
def test_face_down_may_be_written_in_many_ways(tail: str) -> None:
    assert reads(STUCK, f"b5 s3 {tail}") == "B5 S3 down"


def test_face_down_and_shield_come_in_any_order() -> None:
    assert reads(STUCK, "b5 s3 shield down") == reads(STUCK, "b5 s3 d +") == "B5 S3 down shield"


@pytest.mark.parametrize(
    "text",
    [
        *("", "hello", "R5", "N7", "R5 R6", "R5 N7 N8", "R5 and N7", "> R5 N7", "R5 N7 hello", "R5 N7 shield shield"),
        *(
            "R5 N7 + +",
            "R5 N7 down down",
            "5R 7N",
            "R5: N7",
            "R5 fits N7",
            "R5 N7\nthanks",
            "R5" * 200,
            "R5 N7" + " " * 300,
        ),
    ],
)
def test_what_is_no_move_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidMove, match="R5 N7 shield"):
        reads(OPEN, text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("R9 N7", "There is no card R9: a card is a letter of R O Y G B P W and a strength from 3 to 8"),
        ("K5 N7", "There is no card K5"),
        ("R5 N19", "There is no spot N19: they are N1 to N18 and S1 to S18"),
        ("R5 N0", "There is no spot N0"),
        ("R5 N13", "There is no spot N13 at this table"),
    ],
)
def test_a_slip_in_a_move_is_answered_and_never_taken_for_talk(text: str, why: str) -> None:
    with pytest.raises(IllegalMove, match=why):
        reads(OPEN, text)


def test_a_refusal_does_not_tell_the_hand() -> None:
    for text in ("Y3 N7", "G4 N7", "R5 N1", "R5 N8", "R5 N7 down"):
        with pytest.raises(IllegalMove) as refused:
            reads(OPEN, text)
        assert not {"R5", "G4"} - set(text.split()) & set(str(refused.value).replace(":", " ").split())


def test_a_seat_that_is_not_awaited_is_told_so() -> None:
    with pytest.raises(IllegalMove, match="It is not your turn"):
        GAME.parse(OPEN, 1, "Y3 N7")


def test_the_example_is_a_move() -> None:
    assert reads(OPEN, GAME.example) == GAME.example


def test_a_face_down_card_is_a_question_mark_to_all_but_the_mover() -> None:
    for text, public in (("B5 N7 down", "? N7 down"), ("B5 N7 down shield", "? N7 down shield")):
        move = GAME.parse(STUCK, 0, text)
        assert [GAME.public_text(STUCK, 0, move, viewer) for viewer in (None, 0, 1)] == [public, text, public]
    move = GAME.parse(OPEN, 0, "R5 N7 shield")
    assert GAME.public_text(OPEN, 0, move, None) == "R5 N7 shield"


def test_what_others_may_read_is_no_move() -> None:
    with pytest.raises(InvalidMove):
        reads(STUCK, "? N7 down")


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
        for move in state.legal_moves(seat):
            text = GAME.format(state, seat, move)
            assert GAME.parse(state, seat, text) == move
            assert GAME.parse(state, seat, text.lower().replace(" ", "", 1).replace(" shield", "+")) == move


@given(st.text(max_size=30) | st.text(alphabet="RGBrb3578NSns +@shieldown", max_size=14), st.integers(0, 5))
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
    assert {GAME.parse(OPEN, 0, "R5 N7"): 1}[Move(CARD["R5"], SPOT["N7"])] == 1

"""What the lines of a mail ask for: all or nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from together import refused

from server.commands import WORDS
from server.inbound import orders
from server.inbound.orders import Orders


def reads(line: str) -> str:
    """A game whose moves are a letter, a dash and a letter."""
    text = line.upper().replace(" ", "-")
    return text if len(text) == 3 and text[1] == "-" else ""


def read(*lines: str) -> Orders:
    return orders.read(lines, reads)


@pytest.mark.parametrize(
    "line", ["A-B", "a b", "- A-B", "* a-b", "move A-B", "1. A-B", "2) a b", "/move a b", "Move: A-B", "• A-B"]
)
def test_a_move_is_read_in_any_dress(line: str) -> None:
    found = read(line)
    assert reads(found.move) == "A-B"
    assert not found.unread


@pytest.mark.parametrize("line", ["resign", "Resign.", "/resign", "RESIGN!", "- resign"])
def test_a_word_is_read_in_any_dress(line: str) -> None:
    assert read(line) == Orders(word="resign")


def test_politeness_beside_one_move_is_ignored() -> None:
    assert read("Hello,", "A-B", "Thanks for the game, it is a long and lovely evening here", "Ailsa").move == "A-B"


def test_the_same_move_twice_is_one_and_two_are_none() -> None:
    assert read("A-B", "a b").move == "A-B"
    with refused("many-orders") as caught:
        read("A-B", "A-C")
    assert "A-B and A-C" in caught.value.sentence


@pytest.mark.parametrize("lines", [["A-B", "resign"], ["resign", "stop"], ["join", "start"], ["A-B", "leave"]])
def test_orders_that_do_not_go_together_are_refused(lines: list[str]) -> None:
    with refused("many-orders"):
        read(*lines)


def test_talk_and_questions_go_with_a_move() -> None:
    found = read("A-B", "say Well played, all of you!", "status", "help", "say And on.")
    assert found == Orders(move="A-B", says=("Well played, all of you!", "And on."), status=True, help=True)


def test_a_move_that_is_said_is_not_made() -> None:
    assert read("say A-B was a mistake", "status").move == ""
    assert read("say A-B").says == ("A-B",)


@pytest.mark.parametrize("lines", [[], ["Hello"], ["say"], ["-- pass"], ["I resign myself to my fate"], ["--", "-"]])
def test_nothing_that_can_be_read_is_said_to_be_nothing(lines: list[str]) -> None:
    with refused("no-order"):
        read(*lines)


@pytest.mark.parametrize("grave", ["resign", "start", "bots strong"])
def test_prose_that_happens_to_break_before_a_grave_word_does_nothing(grave: str) -> None:
    with refused("many-orders"):
        read("I would never, not even in the worst of positions,", grave, "but this is hard.")
    assert read("resign", "Sorry!", "Ailsa").word == "resign"


def test_every_word_is_documented() -> None:
    written = (Path(__file__).parent.parent.parent / "docs" / "mail.md").read_text()
    for word in set(WORDS) - {"move"}:
        assert re.search(rf"`{word}\b", written), word


def test_days_belong_to_pause_and_vacation_and_prose_about_them_is_prose() -> None:
    assert read("vacation until 2026-12-24").rest == "until 2026-12-24"
    assert read("Pause until 2026-12-24.", "Thanks").word == "pause"
    assert read("A-B", "Vacation was lovely this year").move == "A-B"


def test_what_was_not_read_is_counted() -> None:
    assert read("say Hello", "and how are you?", "Ailsa").unread == 2


def test_a_move_behind_the_word_is_meant_as_one_however_it_looks() -> None:
    assert read("move to the left").move == "to the left"

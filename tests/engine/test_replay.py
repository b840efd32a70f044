"""From rows to positions: every kind of row, what it changes, and when it cannot stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play_helpers import GAME, RECORDS, random_match, read, setup

from engine import replay
from engine.base import Outcome
from engine.record import rows_of
from engine.replay import Position, ReplayError, Row

SEATS = 3


def begin(seed: int = 1, seats: int = SEATS) -> Position:
    return replay.start(GAME, setup(seed, seats), seats, {})


def add(position: Position, kind: str, seat: int | None, text: str = "", via: str | None = None) -> Position:
    return replay.advance(position, Row(position.seq + 1, seat, kind, text, None, via))


def move(position: Position, via: str | None = "web") -> Position:
    """Let the awaited seat make its first move."""
    seat = position.to_act[0]
    first = next(iter(position.state.legal_moves(seat)))
    return add(position, "move", seat, GAME.format(position.state, seat, first), via)


def moved(position: Position, times: int) -> Position:
    for _ in range(times):
        position = move(position)
    return position


def trail_of(position: Position) -> list[int]:
    trail, seqs = position.trail, []
    while trail:
        seqs.append(trail[0])
        trail = trail[2]
    return seqs


def log_of(seed: int, seats: int) -> list[Row]:
    return [
        Row(number, seat, "move", GAME.format(state, seat, move))
        for number, (state, seat, move, _) in enumerate(random_match(seed, seats), 1)
    ]


def test_the_setup_asks_the_start_seat() -> None:
    position = begin()
    first = position.state.to_act[0]
    assert position.seq == 0
    assert position.asked == tuple(0 if seat == first else None for seat in range(SEATS))
    assert position.to_act == (first,)
    assert position.outcome is None


def test_a_move_asks_the_next_seat() -> None:
    before = begin()
    after = move(before)
    (awaited,) = after.to_act
    assert awaited == (before.to_act[0] + 1) % SEATS
    assert after.asked[awaited] == after.seq == 1
    assert after.asked[before.to_act[0]] == 0


def test_rows_that_leave_the_board_alone_ask_nobody_again() -> None:
    position = moved(begin(), 2)
    (awaited,) = position.to_act
    for kind, seat in (("timeout", awaited), ("resign", (awaited + 1) % SEATS)):
        position = add(position, kind, seat)
        assert position.asked[awaited] == 2


def test_an_undo_takes_back_the_last_move_and_asks_again() -> None:
    one, two = moved(begin(), 1), moved(begin(), 2)
    back = add(two, "undo", two.to_act[0], "2")
    assert back.state == one.state
    assert back.asked[back.to_act[0]] == back.seq == 3


def test_further_undos_peel_back_further() -> None:
    start = begin()
    position = moved(start, 3)
    for taken in ("3", "2", "1"):
        position = add(position, "undo", None, taken)
    assert position.state == start.state
    assert trail_of(position) == []
    with pytest.raises(ReplayError, match="no move to take back"):
        add(position, "undo", 0, "1")


def test_a_move_after_an_undo_can_be_taken_back_in_turn() -> None:
    position = add(moved(begin(), 2), "undo", 0, "2")
    assert trail_of(move(position)) == [4, 1]
    assert add(move(position), "undo", 0, "4").state == position.state


@pytest.mark.parametrize("text", ["1", "3", "02", " 2", "", "two", "-2", "2.0"])
def test_only_the_last_move_that_counts_can_be_taken_back(text: str) -> None:
    with pytest.raises(ReplayError, match="Only the last move, row 2, can be taken back"):
        add(moved(begin(), 2), "undo", 0, text)


def test_the_same_undo_twice_is_refused_the_second_time() -> None:
    position = add(moved(begin(), 2), "undo", 0, "2")
    with pytest.raises(ReplayError, match="row 1, can be taken back"):
        add(position, "undo", 0, "2")


def test_an_undo_leaves_timeouts_and_resignations_as_they_are() -> None:
    position = moved(begin(), 2)
    (late,) = position.to_act
    position = move(add(position, "timeout", late), via="clock")
    position = add(add(position, "resign", late), "undo", None, "4")
    assert position.misses[late] == 1
    assert position.resigned == {late}


def test_misses_count_until_the_person_moves() -> None:
    position = begin()
    (late,) = position.to_act
    for misses in (1, 2):
        position = move(add(position, "timeout", late), via="clock")
        assert position.misses[late] == misses
        position = moved(position, SEATS - 1)
    assert move(position, via="bot").misses[late] == 2
    assert move(position, via="email").misses[late] == 0


def test_only_an_awaited_seat_can_be_out_of_time() -> None:
    position = begin()
    with pytest.raises(ReplayError, match="was not awaited"):
        add(position, "timeout", (position.to_act[0] + 1) % SEATS)


def test_a_bot_takes_over_and_a_person_takes_back() -> None:
    position = begin()
    (late,) = position.to_act
    position = add(add(position, "timeout", late), "takeover", late, "bot")
    assert position.taken_over == {late}
    assert position.misses[late] == 1
    with pytest.raises(ReplayError, match="A bot plays seat"):
        add(position, "takeover", late, "bot:greedy")
    position = add(position, "takeover", late, "player")
    assert position.taken_over == frozenset()
    assert position.misses[late] == 0
    assert add(position, "takeover", late, "bot greedy").taken_over == {late}
    assert add(position, "takeover", late, "bottom").taken_over == frozenset()


def test_a_takeover_says_by_whom() -> None:
    with pytest.raises(ReplayError, match="who takes the seat"):
        add(begin(), "takeover", 0)


def test_a_match_goes_on_while_two_contest_it() -> None:
    position = add(moved(begin(), 4), "resign", 2)
    assert position.outcome is None
    assert position.resigned == position.taken_over == {2}
    assert add(position, "takeover", 2, "bot").taken_over == {2}
    with pytest.raises(ReplayError, match="only a bot may play it"):
        add(position, "takeover", 2, "player")
    with pytest.raises(ReplayError, match="had resigned before"):
        add(position, "resign", 2)
    assert moved(position, 5).seq == 10


def test_the_last_one_left_wins_whatever_the_points() -> None:
    position = add(add(moved(begin(), 4), "resign", 2), "resign", 0)
    scores, detail = position.state.tally()
    assert position.outcome == Outcome("resignation", scores, (1,), detail)
    assert position.to_act == ()
    assert position.state.to_act


def test_who_resigned_cannot_win_however_many_points_his_bot_makes() -> None:
    played = next(read(path) for path in RECORDS if path.stem == "clans-resigned-best-score")
    position = replay.replay(GAME, played["setup"], 3, {}, rows_of(played))
    assert position.outcome is not None
    assert position.resigned == {2}
    assert max(position.outcome.scores) == position.outcome.scores[2]
    assert position.outcome.winners == (0,)
    assert position.outcome.reason == "no move left"


def test_without_resignations_the_end_is_the_games_own() -> None:
    position = replay.replay(GAME, setup(3, 2), 2, {}, log_of(3, 2))
    assert position.outcome == position.state.outcome()


@pytest.mark.parametrize("row", [("move", 0, "A5-B1"), ("undo", 0, "1"), ("resign", 0, ""), ("timeout", 0, "")])
def test_nothing_can_happen_after_the_end(row: tuple[str, int, str]) -> None:
    kind, seat, text = row
    ended = replay.replay(GAME, setup(3, 2), 2, {}, log_of(3, 2))
    with pytest.raises(ReplayError, match="The match had ended"):
        add(ended, kind, seat, text)
    resigned = add(begin(1, 2), "resign", 1)
    with pytest.raises(ReplayError, match=r"The match had ended \(resignation\)"):
        add(resigned, kind, seat, text)


@pytest.mark.parametrize("seq", [0, 2, -1, 7])
def test_a_gap_in_the_numbers_is_named_by_the_number_that_is_missing(seq: int) -> None:
    with pytest.raises(ReplayError) as refused:
        replay.advance(begin(), Row(seq, 0, "resign", ""))
    assert refused.value.seq == 1
    assert str(refused.value) == f"row 1: Row 1 is missing: row {seq} stands in its place."


@pytest.mark.parametrize("kind", ["setup", "draw", "", "MOVE", "x" * 500])
def test_a_kind_of_row_nobody_knows_is_refused(kind: str) -> None:
    with pytest.raises(ReplayError, match="No row of the kind"):
        add(begin(), kind, 0)


@pytest.mark.parametrize("kind", ["resign", "timeout", "takeover", "undo"])
@pytest.mark.parametrize("seat", [-1, 3, 99])
def test_a_seat_that_is_not_there_is_refused(kind: str, seat: int) -> None:
    with pytest.raises(ReplayError, match=f"There is no seat {seat}"):
        add(moved(begin(), 1), kind, seat, "1")


def test_resigning_needs_a_seat() -> None:
    with pytest.raises(ReplayError, match="There is no seat None"):
        add(begin(), "resign", None)


def test_a_move_out_of_turn_or_of_nobody_is_refused() -> None:
    position = begin()
    for seat in (None, (position.to_act[0] + 1) % SEATS, -1, 17):
        with pytest.raises(ReplayError, match=f"It was not the turn of seat {seat}"):
            add(position, "move", seat, "A5-B1")


def test_a_move_that_cannot_be_is_refused_with_its_reason() -> None:
    position = begin()
    with pytest.raises(ReplayError, match="'A5-L5' is no legal move: A5 and L5 are not neighbours"):
        add(position, "move", position.to_act[0], "A5-L5")


def test_a_move_in_loose_notation_is_accepted() -> None:
    position = begin()
    (seat,) = position.to_act
    assert add(position, "move", seat, "a5 to b1").state == add(position, "move", seat, "A5-B1").state


def test_a_setup_that_is_none_is_row_nought() -> None:
    with pytest.raises(ReplayError) as refused:
        replay.start(GAME, {}, 2, {})
    assert refused.value.seq == 0


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_replaying_any_prefix_gives_the_state_met_on_the_way(seed: int, seats: int) -> None:
    rows = log_of(seed, seats)
    dealt = setup(seed, seats)
    walked = list(replay.positions(GAME, dealt, seats, {}, rows))
    assert len(walked) == len(rows) + 1
    step = walked[0]
    for number, row in enumerate(rows, 1):
        step = replay.advance(step, row)
        assert step == walked[number]
        if number % 10 == 0:
            assert replay.replay(GAME, dealt, seats, {}, rows[:number]) == step
            assert trail_of(step) == list(range(number, 0, -1))
    assert step.outcome is not None


@dataclass(frozen=True)
class Together:
    """A state of a toy game: all seats say a word in any order, then a new round begins; two rounds are a match."""

    to_act: tuple[int, ...] = (0, 1, 2)
    turn: int = 1
    seats: int = 3

    def apply(self, seat: int, move: str) -> Together:
        left = tuple(other for other in self.to_act if other != seat)
        if left:
            return replace(self, to_act=left)
        return replace(self, to_act=(0, 1, 2) if self.turn < 2 else (), turn=self.turn + 1)

    def outcome(self) -> Outcome | None:
        return None if self.to_act else Outcome("all said", (1, 3, 2), (1,), None)


class Words:
    """The toy game, as far as replay asks it."""

    def begin(self, setup: Any, seats: int, options: Any) -> Together:
        return Together()

    def parse(self, state: Together, seat: int, text: str) -> str:
        return text


def test_seats_that_act_together_are_asked_once_a_round() -> None:
    position = replay.start(Words(), None, 3, {})  # type: ignore[arg-type]
    assert position.asked == (0, 0, 0)
    position = add(add(position, "move", 1, "aye"), "move", 0, "nay")
    assert position.to_act == (2,)
    assert position.asked == (0, 0, 0)
    position = add(position, "move", 2, "aye")
    assert position.to_act == (0, 1, 2)
    assert position.asked == (3, 3, 3)
    position = add(position, "move", 2, "nay")
    back = add(position, "undo", 2, "4")
    assert back.asked == (5, 5, 5)


def test_the_best_of_those_still_contesting_win_a_game_that_ends_by_itself() -> None:
    position = add(replay.start(Words(), None, 3, {}), "resign", 1)  # type: ignore[arg-type]
    for seat in (0, 1, 2, 0, 1, 2):
        position = add(position, "move", seat, "aye", "bot")
    assert position.outcome == Outcome("all said", (1, 3, 2), (2,), None)


KINDS = st.sampled_from(["move", "move", "move", "undo", "timeout", "resign", "takeover", "person", "clock"])


@given(st.integers(0, 1000), st.integers(2, 4), st.lists(st.tuples(KINDS, st.integers(0, 3)), max_size=60))
def test_any_mixture_of_rows_replays_to_where_it_led(seed: int, seats: int, wishes: Sequence[tuple[str, int]]) -> None:
    position = begin(seed, seats)
    rows: list[Row] = []
    blamed: list[bool] = []
    for kind, seat in wishes:
        row = _row(position, kind, seat % seats)
        try:
            after = replay.advance(position, row)
        except ReplayError as refused:
            blamed.append(refused.seq == position.seq + 1)
            continue
        rows.append(row)
        assert set(after.to_act) <= set(range(seats))
        assert all(after.asked[awaited] is not None for awaited in after.to_act)
        assert after.resigned <= after.taken_over
        assert not after.outcome or not set(after.outcome.winners) & after.resigned
        position = after
    assert all(blamed)
    again = replay.replay(GAME, setup(seed, seats), seats, {}, rows)
    assert again == position
    assert trail_of(again) == trail_of(position)


def _row(position: Position, kind: str, seat: int) -> Row:
    number = position.seq + 1
    if kind in ("move", "clock") and position.to_act:
        awaited = position.to_act[0]
        chosen = list(position.state.legal_moves(awaited))[number * 7 % 5 :: 5] or [
            next(iter(position.state.legal_moves(awaited)))
        ]
        text = GAME.format(position.state, awaited, chosen[0])
        return Row(number, awaited, "move", text, None, "clock" if kind == "clock" else "web")
    if kind == "undo":
        return Row(number, seat, kind, str(position.trail[0]) if position.trail else "1")
    if kind in ("takeover", "person"):
        return Row(number, seat, "takeover", "bot" if kind == "takeover" else "player")
    return Row(number, seat, kind, "")

"""Who meets whom in a tournament: in a round robin every pair, by the Swiss system nobody twice if it can be helped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from server.tournaments import pairing
from server.tournaments.pairing import History, Round

TWO_TO_FOUR = (2, 3, 4)
# Every round robin there may be.
ROBINS = pytest.mark.parametrize("players", range(2, 17))
SEATS = some.integers(2, 4)


def together(rounds: Sequence[Round]) -> Counter[tuple[int, int]]:
    return History(rounds).met


def often(rounds: Sequence[Round]) -> Counter[int]:
    """Return how many matches each plays."""
    return Counter(player for each in rounds for group in each.groups for player in group)


def everybody(each: Round) -> list[int]:
    return sorted([*each.resting, *(player for group in each.groups for player in group)])


def repeats(each: Round, history: History) -> int:
    return sum(history.met[pair] for group in each.groups for pair in pairing.pairs(group))


@settings(deadline=None)
@given(some.integers(2, 80), SEATS, some.sets(some.integers(2, 4), min_size=1))
def test_groups_are_as_large_as_may_be_and_few_rest(players: int, seats: int, allowed: set[int]) -> None:
    sizes = pairing.sizes(players, seats, allowed)
    assert set(sizes) <= {size for size in allowed if size <= seats}
    assert list(sizes) == sorted(sizes, reverse=True)
    assert not sizes or sizes[0] - sizes[-1] <= 1
    if seats in allowed:
        assert players - sum(sizes) < seats
    if {2, 3} <= allowed and seats > 2:
        assert sum(sizes) == players


@pytest.mark.parametrize(
    ("players", "seats", "sizes"),
    [(9, 4, (3, 3, 3)), (10, 4, (4, 3, 3)), (5, 4, (3, 2)), (5, 3, (3, 2)), (7, 2, (2, 2, 2)), (3, 4, (3,))],
)
def test_how_players_are_parted(players: int, seats: int, sizes: tuple[int, ...]) -> None:
    assert pairing.sizes(players, seats, TWO_TO_FOUR) == sizes


def test_a_game_for_four_alone_lets_the_others_rest() -> None:
    assert pairing.sizes(7, 4, (4,)) == (4,)
    assert pairing.sizes(3, 4, (4,)) == ()


@ROBINS
@pytest.mark.parametrize("seats", TWO_TO_FOUR)
def test_in_a_round_robin_every_pair_meets_and_all_play_equally_often(players: int, seats: int) -> None:
    rounds = pairing.round_robin(players, seats, TWO_TO_FOUR)
    met = together(rounds)
    assert all(met[pair] for pair in combinations(range(players), 2))
    assert len(set(often(rounds).values())) == 1
    assert all(everybody(each) == list(range(players)) for each in rounds)
    assert max(met.values()) <= 4
    assert len(rounds) <= 2 * -(-(players - 1) // (min(seats, players) - 1)) + 1


@ROBINS
def test_with_two_seats_a_pair_meets_once_and_the_first_seat_goes_round(players: int) -> None:
    rounds = pairing.round_robin(players, 2, TWO_TO_FOUR)
    assert set(together(rounds).values()) == {1}
    assert len(rounds) == players - 1 + players % 2
    history = History(rounds)
    for player in range(players):
        assert abs(history.sat[player, 0] - history.sat[player, 1]) <= 1
        assert history.rested[player] == players % 2


@ROBINS
@pytest.mark.parametrize("seats", [3, 4])
def test_with_more_seats_nobody_sits_in_one_far_more_often(players: int, seats: int) -> None:
    history = History(pairing.round_robin(players, seats, TWO_TO_FOUR))
    for player in range(players):
        sat = [history.sat[player, seat] for seat in range(2)]
        assert max(sat) - min(sat) <= 2


def test_a_round_robin_of_a_game_for_three_alone_lets_everybody_rest_in_turn() -> None:
    rounds = pairing.round_robin(7, 3, (3,))
    assert all(together(rounds)[pair] for pair in combinations(range(7), 2))
    rested = History(rounds).rested
    assert max(rested.values()) - min(rested[player] for player in range(7)) <= 1
    assert all(len(group) == 3 for each in rounds for group in each.groups)


def can_avoid(players: Sequence[int], history: History) -> bool:
    """Whether all may be paired without a repeated pair, tried out."""
    if not players:
        return True
    first, *others = players
    return any(
        can_avoid([player for player in others if player != other], history)
        for other in others
        if not history.met[min(first, other), max(first, other)]
    )


@settings(deadline=None)
@given(some.integers(2, 4).map(lambda half: 2 * half), some.integers(0, 6), some.randoms(use_true_random=False))
def test_nobody_meets_anybody_twice_while_that_can_be_avoided(players: int, before: int, chance: object) -> None:
    history, order = History(), list(range(players))
    for _ in range(before + 1):
        chance.shuffle(order)
        drawn = pairing.swiss(order, 2, TWO_TO_FOUR, history)
        assert everybody(drawn) == sorted(order)
        if can_avoid(order, history):
            assert repeats(drawn, history) == 0
        history.add(drawn)


@settings(deadline=None)
@given(some.integers(3, 40), SEATS, some.randoms(use_true_random=False))
def test_in_the_first_half_of_the_rounds_nobody_meets_anybody_twice(players: int, seats: int, chance: object) -> None:
    history, order = History(), list(range(players))
    rounds = players // 2 if seats == 2 else max(1, players // seats // 2)
    for _ in range(min(rounds, 8)):
        chance.shuffle(order)
        drawn = pairing.swiss(order, seats, TWO_TO_FOUR, history)
        assert everybody(drawn) == sorted(order)
        # An odd one out is chosen before; that can leave the others no way at the very end.
        assert repeats(drawn, history) == 0 or players % 2
        history.add(drawn)


@settings(deadline=None)
@given(some.integers(3, 21), SEATS, some.randoms(use_true_random=False))
def test_rounds_off_go_round(players: int, seats: int, chance: object) -> None:
    history, order = History(), list(range(players))
    for _ in range(6):
        chance.shuffle(order)
        drawn = pairing.swiss(order, seats, TWO_TO_FOUR, history)
        history.add(drawn)
    rested = [history.rested[player] for player in order]
    assert max(rested) - min(rested) <= 1
    assert sum(rested) == (6 * (players % 2) if seats == 2 else 0)


def test_who_stands_close_meets_and_the_last_rests() -> None:
    drawn = pairing.swiss(range(7), 2, TWO_TO_FOUR, History())
    assert [set(group) for group in drawn.groups] == [{0, 1}, {2, 3}, {4, 5}]
    assert drawn.resting == (6,)
    history = History([drawn])
    following = pairing.swiss(range(7), 2, TWO_TO_FOUR, history)
    assert following.resting == (5,)
    assert repeats(following, history) == 0


def test_who_sat_first_sits_second_next() -> None:
    history = History([Round(((0, 1), (2, 3)), ())])
    assert pairing.seated((0, 3), history.sat) == (3, 0)
    assert pairing.seated((2, 0, 1), history.sat) in {(1, 2, 0), (1, 0, 2)}


def test_no_more_rounds_than_there_are_people_to_meet() -> None:
    assert [pairing.most_rounds(players, 2) for players in (3, 4, 8)] == [2, 3, 7]
    assert [pairing.most_rounds(players, 4) for players in (3, 4, 16)] == [1, 1, 5]

"""How a tournament stands, by results alone; the example of docs/tournaments.md is worked out here."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from server.tournaments import standings
from server.tournaments.standings import WIN, Finish, Result

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "tournaments.md"


def result(*scores: tuple[str, int], gone: str = "") -> Result:
    """Return a result of people named by letters, with these scores; those `gone` did not stay."""
    best = max(score for name, score in scores if name not in gone)
    order = {name: (name in gone, -score if name not in gone else 0) for name, score in scores}
    return [
        Finish(
            ord(name),
            1 + sum(other < order[name] for other in order.values()),
            Fraction(score, best) if name not in gone else Fraction(),
        )
        for name, score in scores
    ]


def off(name: str) -> Result:
    return [Finish(ord(name), 1, Fraction(1))]


def table(names: str, *results: Result) -> list[tuple[str, int, int]]:
    """Return name, rank and points of each, in the order of the standing."""
    return [(chr(line.player), line.rank, line.points) for line in standings.table(map(ord, names), results)]


@pytest.mark.parametrize(
    ("scores", "points"),
    [
        ([3, 1], [12, 0]),
        ([2, 2], [6, 6]),
        ([5, 4, 1], [12, 6, 0]),
        ([5, 4, 3, 1], [12, 8, 4, 0]),
        ([5, 5, 1], [9, 9, 0]),
        ([5, 4, 4, 1], [12, 6, 6, 0]),
        ([1, 1, 1, 1], [6, 6, 6, 6]),
    ],
)
def test_points_of_a_match(scores: list[int], points: list[int]) -> None:
    names = "abcd"[: len(scores)]
    got = standings.points(result(*zip(names, scores, strict=True)))
    assert [got[ord(name)] for name in names] == points


def test_who_did_not_stay_is_last_whatever_his_seat_came_to() -> None:
    got = standings.points(result(("a", 90), ("b", 10), ("c", 5), gone="a"))
    assert [got[ord(name)] for name in "abc"] == [0, 12, 6]
    both = standings.points(result(("a", 90), ("b", 10), ("c", 5), gone="ab"))
    assert [both[ord(name)] for name in "abc"] == [3, 3, 12]


def test_a_round_off_counts_as_a_win_and_nobody_was_met() -> None:
    (line,) = standings.table([1], [[Finish(1, 1, Fraction(1))]])
    assert (line.points, line.matches, line.opponents, line.share) == (WIN, 0, 0, 0)


def test_equal_points_are_told_apart_by_the_opponents() -> None:
    # a and b have won once each; the one whom a has beaten has won besides.
    found = table("abcde", result(("a", 9), ("c", 1)), result(("b", 9), ("d", 1)), result(("c", 5), ("e", 4)))
    assert [name for name, _, _ in found][:2] in (["a", "c"], ["c", "a"])
    lines = {chr(line.player): line for line in standings.table(map(ord, "abcde"), [result(("a", 9), ("c", 1))])}
    assert lines["a"].opponents == 0
    assert lines["c"].opponents == 12


def test_then_by_who_came_out_ahead_of_the_other() -> None:
    circle = [
        result(("a", 9), ("b", 8)),
        result(("b", 9), ("c", 1)),
        result(("c", 9), ("d", 1)),
        result(("d", 9), ("a", 1)),
    ]
    assert {(rank, points) for _, rank, points in table("abcd", *circle)} != {(1, 12)}  # the shares differ
    even = [result((one, 9), (other, 3)) for one, other in ("ab", "bc", "cd", "da")]
    assert {(rank, points) for _, rank, points in table("abcd", *even)} == {(1, 12)}
    lines = standings.table(map(ord, "abcd"), even)
    assert {line.direct for line in lines} == {2}


def test_who_is_level_in_all_shares_the_place_and_the_next_is_behind_both() -> None:
    found = table("abcd", result(("a", 5), ("c", 1)), result(("b", 5), ("d", 1)))
    assert [(rank, points) for _, rank, points in found] == [(1, 12), (1, 12), (3, 0), (3, 0)]


def test_who_has_no_result_stands_last_with_nothing() -> None:
    assert table("ab", off("a")) == [("a", 1, 12), ("b", 2, 0)]


RESULTS = some.lists(
    some.tuples(some.permutations("abcdef"), some.lists(some.integers(0, 3), min_size=2, max_size=4)), max_size=8
)


@settings(deadline=None)
@given(RESULTS, some.randoms(use_true_random=False))
def test_in_whichever_order_results_and_seats_come_the_standing_is_the_same(played: list, chance: object) -> None:
    results = [result(*zip(names, [score + 1 for score in scores], strict=False)) for names, scores in played]
    before = standings.table(map(ord, "abcdef"), results)
    mixed = [chance.sample(list(one), len(one)) for one in chance.sample(results, len(results))]
    assert standings.table(chance.sample([*map(ord, "abcdef")], 6), mixed) == before


@settings(deadline=None)
@given(RESULTS)
def test_each_match_gives_away_as_many_points_as_it_has(played: list) -> None:
    for names, scores in played:
        one = result(*zip(names, [score + 1 for score in scores], strict=False))
        assert sum(standings.points(one).values()) == WIN * len(one) // 2
        assert all(0 <= points <= WIN for points in standings.points(one).values())


@settings(deadline=None)
@given(RESULTS)
def test_places_are_counted_from_one_and_shared_places_are_left_out_behind(played: list) -> None:
    results = [result(*zip(names, [score + 1 for score in scores], strict=False)) for names, scores in played]
    ranks = [line.rank for line in standings.table(map(ord, "abcdef"), results)]
    assert ranks == sorted(ranks)
    assert all(rank == ranks.index(rank) + 1 for rank in ranks)


def test_the_example_of_the_document_is_what_is_counted() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    example = text[text.index("## An example") :]
    played = re.findall(r"^\| (\d+) \| (\w+ \d+(?:, \w+ \d+)+)(; \w+ resigned)? \|$", example, re.MULTILINE)
    told = re.findall(r"^\| (\d+) \| (\w+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| (\d+) % \|$", example, re.MULTILINE)
    names = {name: number for number, (_, name, *_more) in enumerate(told)}
    letters = "abcdefgh"
    results = []
    for _, scores, resigned in played:
        seats = [one.split() for one in scores.split(", ")]
        gone = letters[names[resigned.split()[1]]] if resigned else ""
        results.append(result(*((letters[names[name]], int(score)) for name, score in seats), gone=gone))
    rests = re.findall(r"(\w+) has round \d off", example)
    results += [off(letters[names[name]]) for name in rests]
    lines = standings.table(map(ord, letters[: len(names)]), results)
    by_number = {number: name for name, number in names.items()}
    assert [
        (
            str(line.rank),
            by_number[letters.index(chr(line.player))],
            str(line.points),
            f"{float(line.opponents):.1f}",
            f"{line.direct / 2:g}",
            str(round(100 * line.share)),
        )
        for line in lines
    ] == told
    assert len(played) >= 4

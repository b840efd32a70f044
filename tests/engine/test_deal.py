"""The documented generator: golden values, fairness, and a second telling of docs/fair-deal.md."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play_helpers import CLANS, GAME

from engine.deal import Stream, commitment, stream_for

SECRET = bytes(range(32))


def test_the_first_words_are_the_documented_ones() -> None:
    stream = Stream(SECRET)
    assert [stream.below(2**32) for _ in range(10)] == [
        1895039037,
        1387719427,
        3666161299,
        627792262,
        3050604592,
        2562423155,
        3159562444,
        1717795460,
        78025994,
        114549552,
    ]


def test_dice_from_a_known_root_fall_as_they_always_did() -> None:
    stream = Stream(SECRET)
    assert [stream.below(6) for _ in range(20)] == [3, 1, 1, 4, 4, 5, 4, 2, 2, 0, 0, 3, 1, 2, 5, 3, 0, 2, 3, 3]


def test_a_shuffle_from_a_known_root_comes_out_as_it_always_did() -> None:
    assert "".join(Stream(bytes(32)).shuffled("abcdefgh")) == "debgahcf"


def test_the_commitment_is_the_hash_of_the_secret() -> None:
    assert commitment(SECRET) == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"


def test_words_that_would_favour_small_results_are_thrown_away() -> None:
    stream = Stream(SECRET)
    stream.below(2**32)
    stream.below(2**32)
    # The third word is above 2**31, so half the range refuses it and takes the fourth.
    assert stream.below(2**31 + 1) == 627792262


def test_below_one_still_takes_a_word() -> None:
    stream = Stream(SECRET)
    assert stream.below(1) == 0
    assert stream.below(2**32) == 1387719427


@pytest.mark.parametrize("bound", [0, -1, 2**32 + 1])
def test_a_bound_that_words_cannot_reach_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        Stream(SECRET).below(bound)


def test_a_root_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Stream(b"short")


def test_every_contribution_changes_the_deal_and_so_does_their_order() -> None:
    firsts = {
        stream_for(SECRET, contributions).below(2**32)
        for contributions in (["a", "b"], ["b", "a"], ["ab", ""], ["", "ab"], ["a", "b", ""], [])
    }
    assert len(firsts) == 6


@given(st.integers(1, 50), st.binary(min_size=32, max_size=32))
def test_below_stays_below(bound: int, root: bytes) -> None:
    stream = Stream(root)
    assert all(0 <= stream.below(bound) < bound for _ in range(20))


@given(st.lists(st.integers()), st.binary(min_size=32, max_size=32))
def test_a_shuffle_keeps_what_it_is_given(items: list[int], root: bytes) -> None:
    assert sorted(Stream(root).shuffled(items)) == sorted(items)


def test_results_are_about_as_likely_as_each_other() -> None:
    stream = Stream(SECRET)
    seen = Counter(stream.below(5) for _ in range(5000))
    assert all(900 < seen[face] < 1100 for face in range(5))


def test_clans_deals_the_documented_example() -> None:
    setup = GAME.deal(stream_for(SECRET, ["pebble", "", "løch"]), 3, {})
    by_region = {region: [setup["huts"][f"{region}{n}"] for n in range(1, 6)] for region in "ABL"}
    assert by_region == {
        "A": ["green", "yellow", "black", "blue", "red"],
        "B": ["blue", "black", "red", "yellow", "green"],
        "L": ["black", "red", "blue", "green", "yellow"],
    }
    assert setup["clans"] == ["red", "yellow", "blue"]
    assert setup["first"] == 2
    page = (Path(__file__).parents[2] / "docs" / "fair-deal.md").read_text(encoding="utf-8")
    assert all(", ".join(clans) in page for clans in [*by_region.values(), setup["clans"]])


def redone(secret: bytes, contributions: list[str], seats: int) -> dict[str, object]:
    """The deal of Clans redone from the text of docs/fair-deal.md alone."""
    root = hashlib.sha256(
        secret + b"".join(hashlib.sha256(text.encode("utf-8")).digest() for text in contributions)
    ).digest()
    words = (
        int.from_bytes(hashlib.sha256(root + block.to_bytes(4, "big")).digest()[at : at + 4], "big")
        for block in count()
        for at in range(0, 32, 4)
    )

    def below(n: int) -> int:
        return next(word for word in words if word < 2**32 // n * n) % n

    def shuffled() -> list[str]:
        mixed = list(CLANS)
        for i in (4, 3, 2, 1):
            j = below(i + 1)
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed

    huts = {f"{region}{n}": clan for region in "ABCDEFGHIJKL" for n, clan in enumerate(shuffled(), 1)}
    return {"huts": huts, "clans": shuffled()[:seats], "first": below(seats)}


@given(st.binary(min_size=32, max_size=32), st.lists(st.text(), min_size=2, max_size=4))
def test_the_page_suffices_to_redo_a_deal(secret: bytes, contributions: list[str]) -> None:
    seats = len(contributions)
    assert GAME.deal(stream_for(secret, contributions), seats, {}) == redone(secret, contributions, seats)

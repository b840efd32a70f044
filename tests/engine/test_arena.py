"""Matches between bots: they can be repeated, they are whole matches, and the figures made of them are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner
from smallmind import noughts_with_a_mind

from engine import games, record
from engine.bots import Thought, arena
from server import cli

QUICK = Thought(8)
CLANS = games.game("clans")


@pytest.fixture
def mindless(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for game in noughts_with_a_mind(monkeypatch):
        monkeypatch.setattr(type(game), "mind", None)
        yield game


def test_the_same_seed_plays_the_same_match_again() -> None:
    first, again = (arena.bout(CLANS, ("strong", "easy", "easy", "easy"), 3, 1, QUICK) for _ in range(2))
    assert record.dump(first.record) == record.dump(again.record)
    assert first == again


def test_its_records_are_whole_matches() -> None:
    bout = arena.bout(CLANS, ("steady", "easy", "easy"), 1, 0)
    position = record.check(record.load(record.dump(bout.record)))
    assert position.outcome is not None
    assert position.outcome.winners == bout.winners


def test_each_deal_is_played_once_for_every_way_to_shift_the_bots() -> None:
    bouts = [arena.bout(CLANS, ("easy",) * 3, 1, number) for number in range(4)]
    assert [each.bots for each in bouts] == [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 1, 2)]
    deals = [record.dump({"setup": each.record["setup"]}) for each in bouts]
    assert len(set(deals[:3])) == 1
    assert deals[0] != deals[3]


def test_a_game_without_a_mind_is_played_all_the_same(mindless: Any) -> None:
    bout = arena.bout(mindless, ("strong", "steady"), 1, 0, QUICK)
    assert record.check(record.load(record.dump(bout.record))).outcome is not None
    assert bout.guesses == (None, None)


def test_an_observer_guesses_after_ten_moves_of_its_own() -> None:
    bout = arena.bout(CLANS, ("steady", "steady"), 2, 0)
    assert all(guess in (True, False) for guess in bout.guesses)
    assert "guessed after 10 moves" in "\n".join(arena.summary(("steady", "steady"), [bout]))


def test_an_interval_is_wilson_s() -> None:
    low, high = arena.interval(75, 100)
    assert (round(low, 3), round(high, 3)) == (0.657, 0.825)
    assert arena.interval(0, 0) == (0.0, 1.0)


def test_a_shared_win_counts_in_part() -> None:
    bout = arena.bout(CLANS, ("easy", "easy"), 1, 0)
    shared = replace(bout, winners=(0, 1), guesses=(None, None))
    assert arena.summary(("easy", "steady"), [shared]) == [
        "easy 1: 0.5 of 1 won, 50.0% (5.5% to 94.5%)",
        "steady 2: 0.5 of 1 won, 50.0% (5.5% to 94.5%)",
    ]


def test_the_command_plays_and_writes_records(tmp_path: Any) -> None:
    told = CliRunner().invoke(
        cli.main,
        ["arena", "clans", "--seats", "easy,easy", "--matches", "2", "--jobs", "1", "--out", str(tmp_path)],
    )
    assert told.exit_code == 0, told.output
    assert "easy 1:" in told.output
    files = sorted(tmp_path.glob("*.json"))
    assert [file.name for file in files] == ["clans-0001.json", "clans-0002.json"]
    for file in files:
        assert record.check(record.load(file.read_bytes())).outcome is not None


def test_the_command_says_what_is_wrong() -> None:
    run = CliRunner().invoke
    assert "There is" in run(cli.main, ["arena", "chess", "--seats", "easy,easy"]).output
    assert "2 to 4 players" in run(cli.main, ["arena", "clans", "--seats", "easy"]).output
    assert "easy, steady, strong" in run(cli.main, ["arena", "clans", "--seats", "easy,wise"]).output

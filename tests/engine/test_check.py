"""The check that plays any installed game: what keeps the contract passes, what breaks it is named and kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import check, games, record
from engine.base import Example, Lesson, Outcome, Phrase, View
from engine.games.clans import Clans
from engine.games.glory import Glory

INSTALLED = str(Path(__file__).parent.parent / "games")


@pytest.fixture
def noughts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Noughts and crosses, found by its entry point as if it had been installed."""
    monkeypatch.syspath_prepend(INSTALLED)
    games.games.cache_clear()
    yield games.game("noughts")
    games.games.cache_clear()


def broken(game: Any, count: int = 12) -> check.Broken:
    with pytest.raises(check.Broken) as error:
        list(check.matches(game, count, 1))
    return error.value


def test_a_game_installed_from_outside_goes_through_the_same_registry(noughts: Any) -> None:
    assert noughts.title == "Noughts and Crosses"
    assert list(games.games()) == ["clans", "glory", "noughts"]
    with pytest.raises(games.UnknownGame, match="there are clans, glory, noughts"):
        games.game("ludo")


def test_a_game_from_outside_is_checked_like_our_own(noughts: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["noughts", "--count", "60"]) == 0
    assert capsys.readouterr().out.startswith("noughts: 60 matches, ")
    found = [check.match(noughts, 1, number) for number in range(60)]
    assert {one["result"]["reason"] for one in found} == {"three in a row", "board full"}
    assert {len(one["result"]["winners"]) for one in found} == {1, 2}
    assert all(record.check(record.load(record.dump(one))).outcome for one in found)


@pytest.mark.parametrize(("kind", "count"), [("clans", 3), ("glory", 6)])
def test_our_own_games_keep_every_law(kind: str, count: int) -> None:
    found = list(check.matches(games.game(kind), count, 7))
    assert {len(one["players"]) for one in found} == {2, 3, 4}


def test_the_same_seed_plays_the_same_matches() -> None:
    first, again = (check.match(games.game("glory"), 3, 4) for _ in range(2))
    assert first == again != check.match(games.game("glory"), 4, 4)


def test_an_unknown_game_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["ludo"]) == 1
    assert "There is no game called 'ludo'" in capsys.readouterr().err


def test_the_match_that_breaks_a_law_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Late(Glory):
        def timeout_move(self, state: Any, seat: int) -> Any:
            return None if state.board.count(0) < 10 else super().timeout_move(state, seat)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(games, "game", lambda kind: Late())
    assert check.main(["glory", "--seed", "5"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("glory, seed 5, match 0: the move of a seat out of time is not legal")
    assert "broken-glory-5.json" in told
    kept = record.load((tmp_path / "broken-glory-5.json").read_bytes())
    monkeypatch.undo()
    assert record.check(kept).outcome is None
    assert kept["log"]


# Games that break a law, each in its own way.


class TellsHands(Glory):
    def view(self, state: Any, viewer: int | None, outcome: Outcome | None) -> View:
        view = super().view(state, viewer, outcome)
        return replace(view, table={**view.table, "sum": state.hands[0] % 5})


class TellsFaces(Glory):
    def words(self, state: Any, seat: int, move: Any, viewer: int | None) -> tuple[Phrase, ...]:
        return super().words(state, seat, move, seat)


class TellsInText(Glory):
    def text(self, view: View, names: Any) -> str:
        return super().text(view, names) + "x" * 80


class TellsTheClan(Clans):
    def view(self, state: Any, viewer: int | None, outcome: Outcome | None) -> View:
        view = super().view(state, viewer, outcome)
        return replace(view, table={**view.table, "order": sorted(state.table.clans)})


class Quoted(Glory):
    def text(self, view: View, names: Any) -> str:
        return "> quoted"


class Playable(Glory):
    def text(self, view: View, names: Any) -> str:
        return next(iter(view.moves), "")


class Crooked(Glory):
    def picture(self, view: View, marks: Any = (), layer: Any = "whole") -> str:
        return "<svg><g></svg>"


class Styled(Glory):
    def picture(self, view: View, marks: Any = (), layer: Any = "whole") -> str:
        return '<svg style="color:red"/>'


class Outside(Glory):
    def picture(self, view: View, marks: Any = (), layer: Any = "whole") -> str:
        return '<svg><use href="https://example.org/x.svg"/></svg>'


class Misread(Glory):
    def parse(self, state: Any, seat: int, text: str) -> Any:
        return next(iter(state.legal_moves(seat)))


class Takes(Glory):
    def begin(self, setup: Any, seats: int, options: Any) -> Any:
        return super().begin(setup, seats, options) if setup else None


class NotPlain(Glory):
    def deal(self, stream: Any, seats: int, options: Any) -> Any:
        return {**super().deal(stream, seats, options), "first": (0,)}


class HidesFromTheMover(Glory):
    def public_text(self, state: Any, seat: int, move: Any, viewer: int | None) -> str:
        return "?"


class OtherMoves(Glory):
    def view(self, state: Any, viewer: int | None, outcome: Outcome | None) -> View:
        view = super().view(state, viewer, outcome)
        return replace(view, moves=tuple(move.lower() for move in view.moves))


class TellsTwice(Glory):
    def lessons(self, views: Any) -> tuple[Lesson | None, ...]:
        return super().lessons(views[:1]) * len(views)


class TellsForEver(Glory):
    def lessons(self, views: Any) -> tuple[Lesson | None, ...]:
        return (Lesson("long", Phrase("Long"), (Phrase("word " * 61),)),) * len(views)


class TellsNobodyKnowsWhat(Glory):
    def lessons(self, views: Any) -> tuple[Lesson | None, ...]:
        return (Lesson("gap", Phrase("Gap"), (Phrase("{who} moved."),)),) * len(views)


class TellsOnlyNow(Glory):
    def lessons(self, views: Any) -> tuple[Lesson | None, ...]:
        return super().lessons(views)[-1:]


class TellsFromHindsight(Glory):
    def lessons(self, views: Any) -> tuple[Lesson | None, ...]:
        return super().lessons(views) if not views or views[-1].outcome else (None,) * len(views)


@pytest.mark.parametrize(
    ("game", "law"),
    [
        # Which of the two comes first is a matter of the deal.
        (TellsHands(), "the view of .* tells a secret|a supposed position shows something else"),
        (TellsFaces(), r"the words for .* of '\? .* down.*' tell a secret"),
        (TellsTheClan(), "the view of .* tells a secret"),
        (TellsInText(), "wider than 76"),
        (Quoted(), "a mail would change this line"),
        (Playable(), "is read as a move"),
        (Crooked(), "ParseError"),
        (Styled(), "the picture has style='color:red'"),
        (Outside(), "the picture has href='https://example.org/x.svg'"),
        (Misread(), "is read as another move"),
        (Takes(), "begin takes None for a setup"),
        (NotPlain(), "the deal is not plain"),
        (HidesFromTheMover(), "the mover is not shown his own"),
        (OtherMoves(), "the view of the mover has other moves"),
        (TellsTwice(), "the lesson hand is told twice"),
        (TellsForEver(), "the lesson long is empty or too long"),
        (TellsNobodyKnowsWhat(), "KeyError"),
        (TellsOnlyNow(), "not one lesson, or None, for each view"),
        (TellsFromHindsight(), "what comes later changes what was told"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
def test_a_broken_law_is_named(game: Any, law: str) -> None:
    error = broken(game)
    assert error.__class__ is check.Broken
    assert str(error).startswith("match ")
    assert re.search(law, str(error)), str(error)
    assert error.record is None or json.dumps(error.record)


@pytest.mark.parametrize(
    ("change", "law"),
    [
        ({"key": "Up North"}, "'Up North' cannot stand in an address"),
        ({"key": "row"}, "two examples have the same key"),
        ({"box": (0, 0, 9, 0)}, "the box of .* is empty"),
        ({"alt": Phrase("")}, "lacks words"),
    ],
)
def test_a_picture_of_the_rules_that_cannot_be_shown_is_named(change: dict[str, Any], law: str) -> None:
    class Drawn(Glory):
        def examples(self) -> tuple[Example, ...]:
            first, *rest = super().examples()
            return (replace(first, **change), *rest)

    assert re.search(law, str(broken(Drawn(), count=0)))

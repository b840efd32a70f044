"""How games are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from play_helpers import GAME

from engine import games
from engine.base import Game, Option, Phrase, Tally, Who


@dataclass(frozen=True)
class Plugged:
    """An entry point of an installed package."""

    value: Any

    def load(self) -> Any:
        return self.value


@dataclass(frozen=True)
class Chess:
    kind: str = "chess"


@pytest.fixture
def fresh() -> Iterator[None]:
    games.games.cache_clear()
    yield
    games.games.cache_clear()


def test_clans_is_found_without_being_named() -> None:
    assert games.games()["clans"] is GAME
    assert games.game("clans") is GAME


def test_every_game_keeps_the_contract_in_what_it_says_of_itself() -> None:
    for kind, game in games.games().items():
        keeps: Game = game
        assert keeps.kind == kind
        assert kind.isalpha()
        assert kind.islower()
        assert keeps.title
        assert keeps.example
        assert keeps.rules >= 1
        assert keeps.seat_counts
        assert all(option.default == option.choices[0][0] for option in keeps.options)


def test_the_registry_cannot_be_changed_by_its_readers() -> None:
    with pytest.raises(TypeError):
        games.games()["clans"] = GAME  # type: ignore[index]


def test_an_unknown_game_is_refused_in_a_sentence() -> None:
    with pytest.raises(games.UnknownGame) as refused:
        games.game("ludo")
    assert str(refused.value).startswith("There is no game called 'ludo'; there are ")
    assert "clans" in str(refused.value)
    assert isinstance(refused.value, KeyError)


@pytest.mark.usefixtures("fresh")
def test_an_installed_plug_in_is_found_but_replaces_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def entry_points(group: str) -> list[Plugged]:
        asked.append(group)
        return [Plugged(Chess()), Plugged(Chess(kind="clans"))]

    monkeypatch.setattr(games, "entry_points", entry_points)
    assert games.game("chess") == Chess()
    assert games.game("clans") is GAME
    assert asked == ["clachan.games"]


@dataclass(frozen=True)
class Found:
    """A module that the folder of games seems to hold."""

    name: str
    ispkg: bool


@pytest.mark.usefixtures("fresh")
def test_modules_and_packages_without_a_game_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = [Found("helpers", False), Found("empty", True), Found("clans", True)]
    real = games.import_module
    monkeypatch.setattr(games, "iter_modules", lambda path: folder)
    monkeypatch.setattr(games, "import_module", lambda name: object() if name.endswith("empty") else real(name))
    monkeypatch.setattr(games, "entry_points", lambda group: [])
    assert dict(games.games()) == {"clans": GAME}


def test_a_phrase_reads_seats_as_names_and_numbers_as_numbers() -> None:
    phrase = Phrase("{mover} moved {count} huts.", {"mover": Who(1), "count": 1})
    assert phrase.read(["Ailsa", "Bran"]) == "Bran moved 1 huts."


def test_the_first_choice_of_an_option_is_its_default() -> None:
    assert Option("o", "An option", (("a", "A"), ("b", "B"))).default == "a"


def test_a_tally_has_scores_and_an_account() -> None:
    assert Tally((1, 2), {"x": 1}).scores == (1, 2)

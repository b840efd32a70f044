"""Names: alike to a reader is alike to the house, and none deceives or breaks anything."""

from __future__ import annotations

import pytest
from house import House
from together import refused

from server import accounts


@pytest.mark.parametrize(
    ("taken", "wanted"),
    [
        ("Ailsa", "AILSA"),
        ("Ailsa", " ailsa "),
        ("Ailsa", "Ａilsa"),
        ("Zoé", "Zoe\u0301"),
        ("Strauß", "STRAUSS"),
        ("Éva Nagy", "éva   nagy"),
    ],
)
def test_names_that_look_alike_are_one_name(cottage: House, taken: str, wanted: str) -> None:
    def sign_up(name: str, email: str) -> None:
        accounts.sign_up(name, email, "a password", zone="UTC", language="en", source="here", now=cottage.now)

    if taken != "Ailsa":
        sign_up(taken, "first@example.org")
    with refused("bad-input"):
        sign_up(wanted, "other@example.org")
    assert accounts.by_name(wanted).name == taken


@pytest.mark.parametrize(
    "name",
    [
        "Ailsa M.",
        "Zoé",
        "O’Neil",
        "O'Neil",
        "Anne-Marie",
        "Ж",
        "李小龍",
        "x" * 30,
        "7",
        "Bothwell",
        "Formerly Known",
        "Botany 2",
    ],
)
def test_ordinary_names_are_taken(cottage: House, name: str) -> None:
    assert accounts.clean_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            "x" * 31,
            ".",
            "-a",
            "a-",
            "_",
            "a\nb\0",
            "a\x07b",
            "a\u202eb",
            "\u2066a",
            "a\u200bb",
            "a\u200d",
            "\ufeffa",
        ),
        *("a<b", "a>b", "a@b", 'a"b', "a,b", "a;b", "a=?b", "(bot)", "a/b", "a\\b", "😀", "\ud800", "a\u0000"),
        *(
            "Former player 1",
            "former PLAYER",
            "Bot",
            "bot 2",
            "BOT",
            "Ｂot",
            "bot-1",
            "\u3164",
            "a\u3164",
            "\u115f",
            "ﷺ" * 30,
        ),
    ],
)
def test_names_that_could_deceive_or_break_something_are_refused(cottage: House, name: str) -> None:
    with refused("bad-input"):
        accounts.clean_name(name)

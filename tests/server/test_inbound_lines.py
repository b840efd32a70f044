"""The player's own lines: every kind of answer in `tests/mail`, and what must not be taken for his."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.inbound.lines import MARKER, own_lines
from server.inbound.parse import parse

MAIL = Path(__file__).parent.parent / "mail"
EXPECTED = json.loads((MAIL / "expected.json").read_text(encoding="utf-8"))
ADDRESS = "move+k7f3q9w2aaaabbbbccccdddd@play.example.org"
WROTE = f"On Tue, Nov 3, 2026 at 10:11 AM Clachan <{ADDRESS}> wrote:"
OURS = f"{MARKER}\n\nClans 17: it is your turn, Alice.\n\nFor example:\n\n    D1-D2\n\n-- \nClachan"
QUOTED = "\n".join(f"> {line}" for line in OURS.split("\n"))
LONG = 200 * 1024


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_lines_of_a_mail_are_those_the_player_wrote(name: str) -> None:
    own = own_lines(parse((MAIL / f"{name}.eml").read_bytes()).text)
    extra = EXPECTED[name].get("allowed_extra", [])
    assert [line for line in own if line not in extra] == EXPECTED[name]["new_lines"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (f"Hello Clachan,\nR5 N7 shield\n\n> {WROTE}\n>\n{QUOTED}", ["Hello Clachan,", "R5 N7 shield"]),
        (f"vacation until 2026-11-10\n{WROTE}\n{QUOTED}", ["vacation until 2026-11-10"]),
        (f"say see you at 10:30, Clachan:\n\n{WROTE}\n\n{QUOTED}", ["say see you at 10:30, Clachan:"]),
        (
            f"- say On 3 Nov 2026, 10:11, Clachan wrote:\n{WROTE}\n{OURS}",
            ["- say On 3 Nov 2026, 10:11, Clachan wrote:"],
        ),
        (
            f"say: one\nsay: {ADDRESS} 10:11\nsay: three\n\n{QUOTED}",
            ["say: one", f"say: {ADDRESS} 10:11", "say: three"],
        ),
        (f"> A1\nsay Clachan is fun:\n> B1\nA5-B1\n{QUOTED}", ["say Clachan is fun:", "A5-B1"]),
        (f"{WROTE}\n{QUOTED}\n> A1\nThe day is 3.11. at 10:11:\n> B1", ["The day is 3.11. at 10:11:"]),
        (f"PS: A5-B1\n\nFrom: Clachan\nSent: 10:11\nTo: Alice\n\n{OURS}", ["PS: A5-B1"]),
        ("A5-B1\nhttps://play.example.org/matches/17", ["A5-B1", "https://play.example.org/matches/17"]),
    ],
)
def test_what_looks_a_little_like_a_heading_is_still_the_players(text: str, own: list[str]) -> None:
    assert own_lines(text) == own


@pytest.mark.parametrize(
    "text",
    [
        f"{WROTE}\n\nA5-B1\n\n{OURS}",
        f"{WROTE}\n\nA5-B1\n\n{QUOTED}",
        f"{WROTE}\n\n> A5-B1\n>\n{QUOTED}",
        f"> {WROTE}\n>\n> A5-B1\n>\n{QUOTED}",
        f">> {WROTE}\n>> A5-B1\n" + "\n".join(f">> {line}" for line in OURS.split("\n")),
        f"A5-B1\n\n{OURS}",
        f"{QUOTED}\n\nA5-B1",
    ],
)
def test_what_stands_above_our_line_is_the_players_wherever_he_put_it(text: str) -> None:
    assert own_lines(text) == ["A5-B1"]


@pytest.mark.parametrize(
    "text",
    [
        "A5-B1\r\n--\u00a0\r\nAlice\nD1-D2".replace("\r\n", "\n"),
        "A5-B1\n—\nAlice",
        f"A5-B1\n\n-----Original Message-----\nFrom: Clachan\n\n{OURS}",
        f"A5-B1\n\nBegin forwarded message:\n\nFrom: Clachan <{ADDRESS}>\nDate: 3 Nov 2026\nTo: Alice\n\n{OURS}",
        f"A5-B1\n\n\u200b\u202bOn 11/3/26 10:11, Cla\u00adchan wrote:\u202c\n{QUOTED}",
        f"A5-B1\n\n*Von:* Clachan\n*Gesendet:* Dienstag\n*An:* Alice\n*Betreff:* Clans 17\n\n{OURS}",
        f"A5-B1\n\nClans 17: it is your turn, Alice.\n\nD1-D2\n\n{MARKER}",
        f"A5-B1\n\n| {WROTE}\n| D1-D2",
        "A5-B1\n\nC> D1-D2\nC> E1-E2",
        f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nA5-B1\n\n{WROTE}\n> D1-D2\n"
        "-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\nD1-D2",
        f"A5-B1\n________________________________\n{WROTE}\n\n{OURS}",
        "A5-B1\n\nOn 11/3/26 10:11, Clachan wrote:\nA1 1 red\nD1-D2",
    ],
)
def test_what_is_not_the_players_is_left_out(text: str) -> None:
    assert own_lines(text) == ["A5-B1"]


def test_the_name_of_the_house_is_the_one_it_has() -> None:
    text = "A5-B1\n\nAm 03.11.26 um 10:11 schrieb Spielhaus\n\n> D1-D2"
    assert own_lines(text, ("Spielhaus",)) == ["A5-B1"]
    assert own_lines(text, ("", "Clachan")) == ["A5-B1", "Am 03.11.26 um 10:11 schrieb Spielhaus"]


FRAGMENTS = [
    *(
        "",
        " ",
        ">",
        "> ",
        "|",
        "--",
        "-- ",
        "say x",
        "A5-B1",
        "a:",
        "From: x",
        "Clachan",
        "10:11",
        "2026",
        "3 Nov",
        "a@b",
    ),
    *(MARKER, ADDRESS, WROTE, ">" * 9, "___", "-----x-----", "Clans 17, your turn", "(", "<", "\u200b", "\u3000"),
]
fragments = st.sampled_from(FRAGMENTS)
lines = st.lists(fragments | st.text(max_size=20), max_size=6).map(" ".join)
texts = st.lists(lines | fragments, max_size=40).map("\n".join)


@given(texts)
@settings(max_examples=400, deadline=None)
def test_no_text_breaks_the_reading_and_our_line_never_comes_through(text: str) -> None:
    for line in own_lines(text):
        assert line == line.strip() != ""
        assert MARKER not in line


@given(st.lists(st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=60), max_size=5))
@settings(deadline=None)
def test_whatever_is_said_comes_through(said: list[str]) -> None:
    own = [" ".join(f"say {words}".split()) for words in said if MARKER not in words]
    for text in ("\n".join([*own, "", WROTE, QUOTED]), "\n".join([*own, "", OURS]), "\n".join([WROTE, QUOTED, *own])):
        assert own_lines(text) == own


PATTERNS = [
    *(
        "On ",
        "On \n",
        ">",
        ">\n",
        "(",
        "(\n",
        "-",
        "--x\n",
        "a\n",
        "x\n>\n",
        "x\n\ny:\n\n> q\n\n",
        "a:b\n",
        "*From:* a\n",
    ),
    *(
        "From: Clachan a@b.c 10:11\n",
        "From: x\nTo: y\nq\n",
        "Clachan\n",
        "Clachan 10:11:\n",
        "Clachan 2026 10:11:\na\n",
    ),
    *(
        "move+aaaaaaaaaa\n",
        "a@b\n",
        "@",
        "<a@b\n",
        "-----x-----\n",
        "1",
        "10:11 ",
        "C>",
        "Clans 17, your turn\n",
        "\u200b",
    ),
    *(
        f"{MARKER}\n",
        f">> {MARKER}\n> a\n",
        "x" * 599 + "\n",
        "x " * 299 + ":\n> a\n",
        "say x:\n> \n",
        "\0",
        "\r",
        "：\n",
    ),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_long_text_costs_no_more_than_its_length(pattern: str) -> None:
    text = (pattern * LONG)[:LONG]
    for whole in (text, f"{text[: LONG // 2]}\n{MARKER}\n{text[: LONG // 2]}"):
        start = time.process_time()
        own_lines(whole)
        assert time.process_time() - start < 1


def test_quotations_within_quotations_go_no_deeper_than_they_need() -> None:
    stairs = "\n".join(">" * depth + (f" {MARKER}" if depth > 300 else " a") for depth in range(600))
    assert own_lines(stairs) == ["a"]

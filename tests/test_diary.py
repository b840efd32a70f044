"""The run itself is a test: what is logged in any of its tests holds no secret, in one process and in many."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from diary import Diary

HERE = Path(__file__).parent
LEAKS = """
import logging, secrets
def test_says_too_much():
    logging.getLogger("server.play").info("a link with %s", secrets.token_urlsafe(24))
def test_says_nothing():
    logging.getLogger("server.play").info("a match went on")
"""


def kept(message: str, fault: BaseException | None = None) -> Diary:
    """Return a diary that knows some secrets, and that has heard this line."""
    diary = Diary()
    diary.tokens.add("Zk3jTq8-abcdefghijk_lmno")
    diary.passwords.add("correct horse battery")
    diary.wrote("> I think that Catrin has the yellow clan, do you?\nshort\n")
    exc_info = (type(fault), fault, None) if fault else None
    diary.heard(logging.LogRecord("server.web", logging.INFO, "x.py", 1, message, (), exc_info))
    return diary


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("GET /reset/Zk3jTq8-abcdefghijk_lmno 200", "a token"),
        ("wrong: 'correct horse battery'", "a password"),
        ("the hand is ['R3', 'Y5', 'W6']", "a hand"),
        ("cannot read {'clans': ['red', 'blue']}", "a setup"),
        ('row 0 {"seed":"00ff"}', "a setup"),
        ("mail 7: I think that Catrin has the yellow clan", "what a mail says"),
    ],
)
def test_s17_a_line_with_a_secret_is_named(said: str, kind: str) -> None:
    assert [leak.split(":")[0] for leak in kept(said).leaks()] == [kind]
    assert [leak.split(":")[0] for leak in kept("a fault", ValueError(said)).leaks()] == [kind]


@pytest.mark.parametrize(
    "said", ["GET match.show 200", "mail 7: silent-list", "match 12 moved, R3 was played", "short"]
)
def test_s17_other_lines_are_not(said: str) -> None:
    assert list(kept(said).leaks()) == []


ALONE = pytest.param([], marks=pytest.mark.hardship, id="alone")


@pytest.mark.parametrize("processes", [ALONE, pytest.param(["-n", "1"], id="many")])
def test_s17_a_run_in_which_a_secret_is_logged_has_failed(tmp_path: Path, processes: list[str]) -> None:
    (tmp_path / "test_leaks.py").write_text(LEAKS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "diary",
        "-p",
        "no:cacheprovider",
        *processes,
        "test_leaks.py",
    ]
    path = f"{HERE}:{HERE.parent}"
    ran = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": path}, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout
    assert "LOGGED a token: server.play a link with" in ran.stdout

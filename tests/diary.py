"""What a run of the tests tells at its end: whether any secret was logged, and what the long trials did.

Every line that the program logs in any test is kept, and so is every secret that it makes or is given. When the run is
over no line may hold a secret, or the run has failed. It works the same in one process and in many.
"""

from __future__ import annotations

import functools
import logging
import re
import secrets
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import argon2
import pytest

REPORT: Final = Path(__file__).parent.parent / "var" / "hardship.txt"
OURS: Final = ("server", "engine", "waitress", "apscheduler", "mail", "asyncio")
"""The first words of the names of loggers whose lines are kept."""
WORDS: Final = re.compile(r"[A-Za-z0-9_-]{12,}")
PIECE: Final = 24
"""So many signs in a row of a line of a mail are no coincidence."""
# Cards of a hand, two at least; a setup or its secret bytes, as row 0 holds them.
HAND: Final = re.compile(r"""["']?\b[ROYGBPW][3-8]\b["']?,? ["']?[ROYGBPW][3-8]\b""")
SETUP: Final = re.compile(r"""["'](?:clans|hands|huts|seed|start_cards)["']\s*:""")


class Diary:
    """What was logged, and what must not have been."""

    def __init__(self) -> None:
        self.lines: set[str] = set()
        self.tokens: set[str] = set()
        self.passwords: set[str] = set()
        self.pieces: set[str] = set()

    def heard(self, record: logging.LogRecord) -> None:
        """Keep a line with all that a log may show of it."""
        told = [record.name, record.getMessage()]
        told += [str(value) for name, value in vars(record).items() if name in {"endpoint", "match", "method"}]
        if record.exc_info and record.exc_info[1]:
            # Where in the program it happened is shown with lines of the program, which hold no secrets.
            told += [line for line in traceback.format_exception_only(record.exc_info[1]) if line]
        self.lines.add(" ".join(told))

    def wrote(self, text: str) -> None:
        """Keep what a mail says, in pieces by which it is known again."""
        for line in text.splitlines():
            words = line.strip("> \t\r")
            if len(words) >= PIECE and not words.startswith(("http:", "https:")):
                self.pieces.add(words[:PIECE])

    def leaks(self) -> Iterator[str]:
        """Yield each line that holds a secret, with what it is."""
        for line in sorted(self.lines):
            if why := self.secret_in(line):
                yield f"{why}: {line[:300]}"

    def secret_in(self, line: str) -> str:
        """Return what kind of secret a line holds, "" for none."""
        if any(word in self.tokens for word in WORDS.findall(line)):
            return "a token"
        if any(word in line for word in self.passwords):
            return "a password"
        if HAND.search(line):
            return "a hand"
        if SETUP.search(line):
            return "a setup"
        if any(line[start : start + PIECE] in self.pieces for start in range(len(line) - PIECE + 1)):
            return "what a mail says"
        return ""


def listen(diary: Diary) -> None:
    """Keep, from now on, what is logged, and the secrets that are made and given; for the whole process."""
    _hear(diary)
    for name in ("token_hex", "token_urlsafe"):
        setattr(secrets, name, _noting(getattr(secrets, name), diary.tokens.add))
    for name in ("hash", "verify"):
        setattr(argon2.PasswordHasher, name, _given(getattr(argon2.PasswordHasher, name), diary))


def _hear(diary: Diary) -> None:
    """Hear all lines of importance, also those that nobody would write down now."""
    enabled, handle = logging.Logger.isEnabledFor, logging.Logger.handle

    def ours(logger: logging.Logger, level: int) -> bool:
        return level >= logging.INFO and logger.name.partition(".")[0] in OURS

    def is_enabled(logger: logging.Logger, level: int) -> bool:
        return enabled(logger, level) or ours(logger, level)

    def handled(logger: logging.Logger, record: logging.LogRecord) -> None:
        if ours(logger, record.levelno):
            diary.heard(record)
        if enabled(logger, record.levelno):
            handle(logger, record)

    logging.Logger.isEnabledFor, logging.Logger.handle = is_enabled, handled  # type: ignore[method-assign]


def _noting(make: Callable[..., str], note: Callable[[str], None]) -> Callable[..., str]:
    @functools.wraps(make)
    def made(*given: Any) -> str:
        token = make(*given)
        if len(token) >= 20:
            note(token)
        return token

    return made


def _given(act: Callable[..., Any], diary: Diary) -> Callable[..., Any]:
    @functools.wraps(act)
    def acting(hasher: Any, *given: Any) -> Any:
        if len(given[-1]) >= 8:
            diary.passwords.add(given[-1])
        return act(hasher, *given)

    return acting


def listen_to_mails(diary: Diary) -> None:
    """Keep what mails say, those that leave and those that come in; once the program can be imported."""
    from server.channels import Message
    from server.inbound import lines

    made, own = Message.__init__, lines.own_lines

    def making(message: Message, *given: Any, **named: Any) -> None:
        made(message, *given, **named)
        diary.wrote(message.text)

    def reading(text: str, *rest: Any) -> list[str]:
        diary.wrote(text[:10_000])
        return own(text, *rest)

    Message.__init__ = making  # type: ignore[method-assign]
    from server.inbound import work

    work.own_lines = reading


def pytest_configure(config: pytest.Config) -> None:
    """Begin to listen."""
    config.diary = Diary()
    config.leaks = []
    listen(config.diary)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Listen to mails as well, now that the program is there."""
    listen_to_mails(session.config.diary)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Look through what was logged, and let the run fail if a secret was."""
    config = session.config
    found = list(config.diary.leaks())
    if hasattr(config, "workeroutput"):
        config.workeroutput["leaks"] = found
        return
    config.leaks += found
    if config.leaks:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what one of many processes has found."""
    node.config.leaks += getattr(node, "workeroutput", {}).get("leaks", [])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the lines that hold secrets, and write the report of the long trials."""
    for leak in config.leaks:
        terminalreporter.write_line(f"LOGGED {leak}", red=True)
    if "hardship" in (config.option.markexpr or ""):
        said = "\n".join(_reported(terminalreporter.stats.values()))
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(f"{said}\n", encoding="utf-8")
        terminalreporter.section("long trials")
        terminalreporter.write_line(said)


def _reported(stats: Iterable[list[Any]]) -> Iterator[str]:
    """Yield a line for each trial: how it ended, how long it took, what it was and what it did."""
    ended = [report for reports in stats for report in reports if getattr(report, "when", "") == "call"]
    for report in sorted(ended, key=lambda report: report.nodeid):
        did = "; ".join(str(value) for name, value in report.user_properties if name == "did")
        yield f"{report.outcome:7}{report.duration:8.1f} s  {report.nodeid.removeprefix('tests/')}{did and f': {did}'}"


@pytest.fixture
def did(record_property: Callable[[str, object], None]) -> Callable[[object], None]:
    """Return what a long trial calls to say what it did, in the report of all of them."""
    return lambda what: record_property("did", what)

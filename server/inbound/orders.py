"""The grammar of mails: which of a player's lines are orders, all or nothing. docs/mail.md is written for players."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.bots import STRENGTHS
from engine.language import gettext as _
from server import wording
from server.commands import BETWEEN, WORDS
from server.errors import Refused

# What may follow a word without changing it, and what may stand before a line of a list.
CLOSING: Final = ".!?, "
BULLETS: Final = ("- ", "* ", "• ", "– ")
NUMBER: Final = re.compile(r"[0-9]{1,2}[.)] +")
# Words that do something which cannot be taken back; prose that happens to break before one must not do it.
GRAVE: Final = frozenset({"resign", "leave", "stop", "start", "join", "bots"})
# Words that take a rest of the line, and those that take days.
OPEN: Final = frozenset({"move", "say"})
DATED: Final = frozenset({"pause", "vacation"})
# A word of which one of a few must follow; without it the line is prose.
NAMED: Final = {"bots": STRENGTHS}
# A name or a word of thanks below such a word is no longer than this.
POLITE: Final = 40
MOST_SAID: Final = 10
# No person writes more lines; a machine's are not read one by one.
MOST_LINES: Final = 60


@dataclass(frozen=True, slots=True)
class Orders:
    """What a mail asks for: at most one `move`, as it stands, and at most one other `word` with the rest of its line;
    lines for all at the table; and whether to show position or help. `unread` counts lines that are none of these."""

    move: str = ""
    word: str = ""
    rest: str = ""
    says: tuple[str, ...] = ()
    status: bool = False
    help: bool = False
    unread: int = 0

    @property
    def acts(self) -> bool:
        """Whether it asks for more than to be told something."""
        return bool(self.move or self.word or self.says)


def read(lines: Sequence[str], reads_as_move: Callable[[str], str]) -> Orders:
    """Return what the lines ask for.

    `reads_as_move` returns a move in notation, "" for what is none. Raises `Refused`: `no-order` if nothing can be
    read, `many-orders` for two different moves, or words that do not go together.
    """
    if len(lines) > MOST_LINES:
        told = _("Your mail holds more than {n} lines of your own, so nothing was done.")
        raise Refused("no-order", told.format(n=MOST_LINES))
    moves: dict[str, str] = {}
    words: dict[tuple[str, str], None] = {}
    says: list[str] = []
    asks: set[str] = set()
    unread: list[str] = []
    for line in map(_bare, lines):
        word, rest = _word(line)
        if word == "say":
            says.append(rest)
        elif word in {"status", "help"}:
            asks.add(word)
        elif word and word != "move":
            words[word, rest] = None
        elif text := rest if word == "move" else line:
            if canonical := reads_as_move(text) or (text if word == "move" else ""):
                moves.setdefault(canonical, text)
            else:
                unread.append(line)
    _check(moves, list(words), unread)
    if not (moves or words or says or asks):
        told = _("Nothing in your mail could be read as a move or a command, so nothing was done.")
        raise Refused("no-order", told)
    word, rest = next(iter(words), ("", ""))
    return Orders(
        next(iter(moves.values()), ""),
        word,
        rest,
        tuple(says[:MOST_SAID]),
        "status" in asks,
        "help" in asks,
        len(unread),
    )


def _check(moves: dict[str, str], words: list[tuple[str, str]], unread: list[str]) -> None:
    if len(moves) > 1:
        told = _("Your mail holds different moves, {moves}, so nothing was done. Send one of them.")
        raise Refused("many-orders", told.format(moves=wording.listed(list(moves.values())[:2])))
    if len(words) + len(moves) > 1:
        told = _("Your mail asks for {words} at once, so nothing was done. Send one of them.")
        named = [*[word for word, _rest in words][:2], *moves]
        raise Refused("many-orders", told.format(words=wording.listed(named)))
    if words and words[0][0] in GRAVE and any(len(line) > POLITE for line in unread):
        told = _("To {word}, send the word {word} and nothing else. Nothing was done.")
        raise Refused("many-orders", told.format(word=words[0][0]))


def _bare(line: str) -> str:
    """Return the line without what makes it an item of a list."""
    line = line.strip()
    for bullet in BULLETS:
        line = line.removeprefix(bullet)
    return NUMBER.sub("", line.strip(), count=1) if NUMBER.match(line) else line.strip()


def _word(line: str) -> tuple[str, str]:
    """Return the command a line begins with and the rest of it; two empty texts if it is none."""
    first, _space, rest = line.removeprefix("/").partition(" ")
    word, rest = first.rstrip(CLOSING + ":").casefold(), rest.strip()
    if word in OPEN and not rest:
        return "", ""
    if word in NAMED:
        return (word, rest) if rest.strip(CLOSING).casefold() in NAMED[word] else ("", "")
    if word not in WORDS or (rest.strip(CLOSING) and word not in OPEN | DATED):
        return "", ""
    if word in DATED and not all(part in BETWEEN or part[0].isdigit() for part in rest.casefold().split()):
        return "", ""
    return word, rest

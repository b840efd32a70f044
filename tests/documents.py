"""What the documents show: blocks of commands and of data, and what they name in passing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import click

from server.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *sorted(ROOT.glob("docs/*.md"))]
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")


class Block(NamedTuple):
    """A block of a page: where it begins, in which language it is, and what it says."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """Return the blocks of all pages, in the order they are read, of these languages or of any."""
    found = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for match in FENCED.finditer(text):
            at = text.count("\n", 0, match.start()) + 1
            found.append(Block(path.relative_to(ROOT).as_posix(), at, match[2], match[3]))
    return [block for block in found if not languages or block.language in languages]


def commands(block: Block) -> list[str]:
    """Return the commands of a block, each as one line."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line for line in lines if shlex.split(line, comments=True)]


def named(pattern: str) -> list[tuple[str, str]]:
    """Return what pages name in passing and the whole of which fits the pattern, each after its page."""
    return [
        (path.name, words)
        for path in PAGES
        for words in INLINE.findall(FENCED.sub("", path.read_text(encoding="utf-8")))
        if re.fullmatch(pattern, words)
    ]


def refused(words: list[str]) -> list[str]:
    """Return what the command `clachan` does not know of the words that follow it."""
    command: click.Command = main
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    if isinstance(command, click.Group) and words and words[0] not in ("COMMAND", "--help"):
        return words[:1]
    known = {"--help", *(name for each in command.params for name in each.opts)}
    return [word for word in re.findall(r"--[\w-]+", " ".join(words)) if word not in known]

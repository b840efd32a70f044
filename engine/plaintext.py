"""Plain text in columns, for mails and terminals: at most `WIDTH` of them, whatever the language and the names."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

WIDTH = 76
NAME_WIDTH = 16
GAP = 2
"""Between two columns of a table."""


def columns(line: str) -> int:
    """Return how many columns a line takes in a terminal: wide characters two, combining ones none."""
    if line.isascii():
        return len(line)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in line)
    return len(line) + wide - sum(unicodedata.combining(sign) > 0 for sign in line)


def shortened(name: str) -> str:
    """Return a name on one line and in `NAME_WIDTH` columns."""
    plain = "".join(sign if sign.isprintable() else " " for sign in name).strip()
    if columns(plain) <= NAME_WIDTH:
        return plain
    while columns(plain) >= NAME_WIDTH:
        plain = plain[:-1]
    return plain + "."


def filled(line: str, hang: str = "      ") -> list[str]:
    """Return the line as it is if it fits, else broken between words, what follows behind `hang`."""
    if columns(line) <= WIDTH:
        return [line]
    first, *words = line.lstrip(" ").split(" ")
    return wrapped(line[: len(line) - len(line.lstrip(" "))] + first, words, hang)


def wrapped(start: str, parts: Sequence[str], hang: str = "      ") -> list[str]:
    """Return the parts behind `start`, each after a space, on as many lines as it takes, no part broken."""
    lines = [start]
    for part in parts:
        if columns(lines[-1]) + 1 + columns(part) > WIDTH:
            lines.append(hang + part)
        else:
            lines[-1] += f" {part}"
    return lines


def table(rows: Sequence[Sequence[str]], least: Sequence[int]) -> list[str]:
    """Return rows of cells as lines, every column as wide as its widest cell and at least as given.

    The last cell of a row may be wider than its column.
    """
    widths = list(least)
    for row in rows:
        for place, cell in enumerate(row[:-1]):
            widths[place] = max(widths[place], columns(cell))
    return ["".join(map(_padded, row, widths)) for row in rows]


def _padded(cell: str, width: int) -> str:
    return cell + " " * max(0, width + GAP - columns(cell))

"""What this process has replayed lately, so that a match is carried on from where it stood instead of replayed anew.

What is read from the database is compared with what was read then, every byte of it: a row that has been changed, or a
match of another database, is replayed from the start, and found out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar

Kept = TypeVar("Kept")

Stored: TypeAlias = tuple[Any, ...]
"""A row of a log as the database returns it."""

MOST_ROWS: Final = 4_000
"""So many rows of matches are kept in a process; a position and what it was read from take about three kilobytes."""


class Shelf(Generic[Kept]):
    """Things made of the logs of matches, those asked for last, each with the rows that it was made of."""

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._rows = 0
        self._kept: OrderedDict[int, tuple[Sequence[Stored], Kept]] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, number: int) -> bool:
        """Whether anything is kept of a match."""
        return number in self._kept

    def find(self, number: int, stored: Sequence[Stored]) -> Kept | None:
        """Return what was made of these rows of a match, or of the first of them; None if nothing is kept."""
        with self._lock:
            found = self._kept.get(number)
            if found is None:
                return None
            self._kept.move_to_end(number)
        rows, kept = found
        return kept if rows == stored[: len(rows)] else None

    def keep(self, number: int, stored: Sequence[Stored], made: Kept) -> None:
        """Keep what was made of the rows of a match in place of what was kept of it; the oldest make room."""
        with self._lock:
            self._drop(number)
            self._kept[number] = stored, made
            self._rows += len(stored)
            while self._rows > self._most:
                self._drop(next(iter(self._kept)))

    def _drop(self, number: int) -> None:
        rows, _made = self._kept.pop(number, ((), None))
        self._rows -= len(rows)

"""Things that took long to make, kept in this process up to a number of bytes, so that they are not made twice."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

Made = TypeVar("Made")

_LEAST: Final = 300
"""What a thing takes at least, beside itself and its key."""


class Chest:
    """Things, those asked for last, each under a key of all that it was made of; keys weigh as what they stand for."""

    def __init__(self, most: int) -> None:
        """Make room for so many bytes."""
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Made], weigh: Callable[[Made], int]) -> Made:
        """Return what is kept under the key; if nothing is, make it, and keep it if it takes a tenth of all at most."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: Made = self._kept[key][0]
                return kept
        made = make()
        self._keep(key, made, weigh(made))
        return made

    def carry(self, key: Hashable, make: Callable[[Made | None], Made], weigh: Callable[[Made], int]) -> Made:
        """Return what `make` returns, which is given what it returned the last time, None if that is not kept."""
        with self._lock:
            before: Made | None = self._kept.get(key, (None, 0))[0]
        made = make(before)
        self._keep(key, made, weigh(made))
        return made

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _keep(self, key: Hashable, made: Any, weight: int) -> None:
        weight += _LEAST + size(key)
        if weight > self._most // 10:
            return
        with self._lock:
            self._bytes += weight - self._kept.pop(key, (None, 0))[1]
            self._kept[key] = made, weight
            while self._bytes > self._most:
                self._bytes -= self._kept.popitem(last=False)[1][1]


def size(value: object) -> int:
    """Return how many bytes a value takes: of a tuple with all that is in it, of anything else without."""
    return sys.getsizeof(value) + (sum(map(size, value)) if isinstance(value, tuple) else 0)

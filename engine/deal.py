"""The documented generator that turns secret bytes into a setup. Specified for redoing it in docs/fair-deal.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

ROOT_BYTES = 32
WORD_BYTES = 4
WORDS = 2 ** (8 * WORD_BYTES)


class Stream:
    """Random numbers from 32 root bytes: SHA-256 in counter mode, read as big-endian words of 32 bits.

    Block i is SHA-256 of the root followed by i as four bytes, big-endian. Raises `ValueError` for a root of another
    length and for a bound outside 1 to 2**32.
    """

    def __init__(self, root: bytes) -> None:
        if len(root) != ROOT_BYTES:
            raise ValueError(f"a root has {ROOT_BYTES} bytes, not {len(root)}")
        self._root = root
        self._blocks = 0
        self._unread = b""

    def below(self, bound: int) -> int:
        """Return an int from 0 to `bound` - 1; words that would favour the small ones are discarded."""
        if not 1 <= bound <= WORDS:
            raise ValueError(f"a bound is from 1 to 2**32, not {bound}")
        limit = WORDS // bound * bound
        word = self._word()
        while word >= limit:
            word = self._word()
        return word % bound

    def shuffled(self, items: Iterable[Any]) -> list[Any]:
        """Return the items in random order: Fisher-Yates from the last index down, one draw for each but the first."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def _word(self) -> int:
        if not self._unread:
            self._unread = sha256(self._root + self._blocks.to_bytes(4, "big")).digest()
            self._blocks += 1
        word, self._unread = self._unread[:WORD_BYTES], self._unread[WORD_BYTES:]
        return int.from_bytes(word, "big")


def commitment(secret: bytes) -> str:
    """Return what is shown before anyone sits down: the SHA-256 of the secret bytes, in hex."""
    return sha256(secret).hexdigest()


def stream_for(secret: bytes, contributions: Sequence[str]) -> Stream:
    """Return the stream of a match: its root is SHA-256 of the secret and the SHA-256 of each contribution.

    Contributions are the players' texts in seat order, hashed as UTF-8; hashing each keeps them apart.
    """
    root = sha256(secret)
    for contribution in contributions:
        root.update(sha256(contribution.encode()).digest())
    return Stream(root.digest())

"""The chance of a tournament: all of it follows from 32 secret bytes, whose hash is shown before anybody enters.

docs/tournaments.md tells how to redo it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from engine import deal


def commitment(secret: bytes) -> str:
    """Return what is shown from the beginning: the SHA-256 of the secret bytes, in hex."""
    return deal.commitment(secret)


def lots(secret: bytes, contributions: Sequence[str]) -> list[int]:
    """Return the lot of each player, of people's words in the order in which they entered."""
    drawn = deal.stream_for(secret, ["lots", *contributions]).shuffled(range(len(contributions)))
    return [drawn.index(place) for place in range(len(contributions))]


def match_secret(secret: bytes, number: int, place: int) -> bytes:
    """Return the secret bytes of the deal of one match: that of a place, from 0, in the round with that number."""
    return sha256(secret + f"match {number} {place}".encode()).digest()

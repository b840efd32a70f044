"""What is sent in chunks, whose end nobody knows before it comes."""

from __future__ import annotations

import io
from typing import Any


class Chunks(io.RawIOBase):
    """A body that comes in chunks: one whose chunks are none breaks off, whatever the server in front calls that.

    Servers have exceptions of their own for it, which the framework would take for a fault of ours.
    """

    def __init__(self, sent: Any) -> None:
        self._sent = sent

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, room: Any, /) -> int:
        """Fill the room with what comes next, and return how much that was. Raises `OSError` where it breaks off."""
        try:
            found = self._sent.read(len(room))
        except Exception as fault:
            raise OSError("the body breaks off") from fault
        room[: len(found)] = found
        return len(found)


def guard(environ: dict[str, Any]) -> None:
    """Have the body of a request read so, if it comes in chunks."""
    if "HTTP_TRANSFER_ENCODING" in environ:
        environ["wsgi.input"] = Chunks(environ["wsgi.input"])

"""A line of threads: whoever came first is let in first, and the others wait for no longer than they want to."""

from __future__ import annotations

import threading
from collections import deque


class Line:
    """One thread is in at a time. A lock of Python's has no order: who has just left may be in again before all."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Event] = deque()

    @property
    def length(self) -> int:
        """How many threads wait."""
        return len(self._waiting)

    def enter(self, seconds: float) -> bool:
        """Wait for the turn of this thread, for so many seconds at most; return whether it came."""
        with self._guard:
            if not self._taken:
                self._taken = True
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        try:
            turn.wait(seconds)
        except BaseException:
            # Nobody would leave for a thread that is gone.
            if not self._withdrawn(turn):
                self.leave()
            raise
        return not self._withdrawn(turn)

    def leave(self) -> None:
        """Let the thread in that has waited longest."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False

    def _withdrawn(self, turn: threading.Event) -> bool:
        """Whether a thread waits no more, and was not let in."""
        with self._guard:
            if turn.is_set():
                return False
            self._waiting.remove(turn)
            return True

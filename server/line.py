"""Whoever came first is let in first, and the others wait for no longer than they want to: threads, and processes."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

# The bytes of the file that are held: by who is in, and by those who wait.
IN: Final = 0
WAITING: Final = 1
# So many seconds pass before who waits looks again, and before who comes asks while others wait: time enough for them.
LOOK: Final = 0.0002
COURTESY: Final = 0.0005


class Line:
    """Threads of a process, one in at a time.

    A lock of Python's has no order: who has just left may be in again before all.
    """

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


class Peers:
    """The processes that write into one file: one at a time, and whoever waits comes before who has just been in.

    SQLite has them sleep, longer and longer, and lets in whoever happens to ask first: the next thread of the process
    that has just left. So they hold a byte of a file beside it while they write, and another while they wait. Both are
    let go with the process. Where that file cannot be had there is nothing to hold, and SQLite alone decides.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: tuple[int, int] | None = None

    @contextmanager
    def turn(self, seconds: float) -> Iterator[bool]:
        """Be the only one that writes, for the block; it is told whether the turn came within so many seconds."""
        came = self._enter(seconds)
        try:
            yield came
        finally:
            if came and self._file is not None:
                _let_go(self._file[1], IN)

    def end(self) -> None:
        """Close the file; for whoever needs it no more."""
        if self._file is not None and self._file[0] == os.getpid():
            os.close(self._file[1])
        self._file = None

    def _enter(self, seconds: float) -> bool:
        """Wait for the turn of this process, for so many seconds at most; return whether it came."""
        file = self._opened()
        if file is None:
            return True
        try:
            if not self._nobody_waits(file):
                time.sleep(COURTESY)
            return _hold(file, IN) or self._waited(file, time.monotonic() + seconds)
        except OSError:
            return True

    def _waited(self, file: int, until: float) -> bool:
        _hold(file, WAITING, fcntl.LOCK_SH)
        try:
            while not _hold(file, IN):
                if time.monotonic() >= until:
                    return False
                time.sleep(LOOK)
        finally:
            _let_go(file, WAITING)
        return True

    def _nobody_waits(self, file: int) -> bool:
        free = _hold(file, WAITING)
        if free:
            _let_go(file, WAITING)
        return free

    def _opened(self) -> int | None:
        """Return the file, opened once in each process: all that a process holds goes when it closes a file of that.

        One that was removed is opened anew, or the others would hold another.
        """
        if self._file is None or self._file[0] != os.getpid() or not self._is_there(self._file[1]):
            self.end()
            try:
                self._file = os.getpid(), os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError:
                return None
        return self._file[1]

    def _is_there(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), os.stat(self._path))
        except OSError:
            return False


def _hold(file: int, byte: int, how: int = fcntl.LOCK_EX) -> bool:
    """Hold a byte of the file if that can be done at once; return whether it could.

    Raises `OSError` where nothing of a file can be held, as on some file systems.
    """
    try:
        fcntl.lockf(file, how | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _let_go(file: int, byte: int) -> None:
    with suppress(OSError):
        fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)

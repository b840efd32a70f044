"""Where long thoughts are thought: in processes of their own, handed what they think about and nothing else."""

from __future__ import annotations

import multiprocessing
import os
import random
import secrets
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from typing import Any, Final, Protocol, TypeVar

from engine import bots, games
from engine.bots import Sight
from server.settings import PREFIX

# A thought that takes so many seconds will never end; its process is given up.
LONGEST: Final = 30

_Result = TypeVar("_Result")


class Thinker(Protocol):
    """Whatever carries functions out somewhere else; `count` is how many at the same time."""

    count: int

    def submit(self, function: Callable[..., _Result], *given: Any) -> Future[_Result]:
        """Have a function of a module carried out, and return its future; what it is given is pickled."""
        ...

    def stop(self) -> None:
        """Let the thoughts in hand end, and cancel those that wait."""
        ...


class Thinkers:
    """So many processes at a low priority. They start when they are first needed; one that dies is replaced.

    A thought that does not end has its process ended. A thought whose process ends, and all that waited with it, ends
    with `concurrent.futures.BrokenExecutor`.
    """

    def __init__(self, count: int, nice: int, longest: int = LONGEST) -> None:
        self.count = count
        self._nice = nice
        self._longest = longest
        self._lock = threading.Lock()
        self._stopped = False
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, function: Callable[..., _Result], *given: Any) -> Future[_Result]:
        """Have a function of a module carried out, and return its future, cancelled if all is about to end."""
        with self._lock:
            if self._stopped:
                return _cancelled()
            self._pool = self._pool or self._open()
            try:
                return self._pool.submit(_bounded, self._longest, function, *given)
            except BrokenExecutor:
                self._pool.shutdown(wait=False)
                self._pool = self._open()
                return self._pool.submit(_bounded, self._longest, function, *given)

    def stop(self) -> None:
        """Let the thoughts in hand end, and cancel those that wait."""
        with self._lock:
            self._stopped = True
            if self._pool:
                self._pool.shutdown(cancel_futures=True)

    def _open(self) -> ProcessPoolExecutor:
        # Spawned, not forked: a child of a process with threads and connections to the database would share them.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.count, context, initializer=_begin, initargs=(self._nice,))


def choose(strength: str, kind: str, sight: Sight, seconds: float) -> str:
    """Return the move of a bot that thinks at most so many seconds.

    Raises `ValueError`, `engine.games.UnknownGame`.
    """
    until = time.monotonic() + seconds
    thought = bots.Thought(bots.THOUGHT.playouts, lambda: time.monotonic() < until)
    chance = random.Random(secrets.randbits(128)).random  # noqa: S311 - nobody is shown what it draws
    return bots.choose(strength, games.game(kind), sight, chance, thought)


def _bounded(seconds: int, function: Callable[..., _Result], *given: Any) -> _Result:
    """Carry the function out; the process ends if it takes so long."""
    signal.alarm(seconds)
    try:
        return function(*given)
    finally:
        signal.alarm(0)


def _cancelled() -> Future[Any]:
    future: Future[Any] = Future()
    future.cancel()
    return future


def _begin(nice: int) -> None:
    """Make a fresh process one that thinks: what ends its parent ends it, and nothing else does."""
    os.nice(nice)
    # It thinks about what it is handed, and has no use for the settings and their secrets.
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        del os.environ[name]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)

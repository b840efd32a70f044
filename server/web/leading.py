"""The loop of a web process: the thread that leads it answers requests itself, and while one holds it up another leads.

Handing each request to a thread costs more than many a request: threads that run at the same time take Python's lock
from each other whenever one of them asks the database. Therefore the thread that waits for requests answers them too,
one after another. What takes longer than others should wait for, be it a slow client, a large drawing or another
writer, holds nobody up for long: the next thread goes on with the loop. So at most one thread runs beside those that
are held up.
"""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from mmap import mmap
from selectors import EVENT_READ
from typing import Any, Final

from gunicorn.workers.gthread import ThreadWorker

# After so many seconds in one request a thread leads no more.
HELD_UP: Final = 0.01
# The loop looks after itself at least so often.
LOOK: Final = 1.0
# So often a process with more connections than another leaves a new one to it, for so many seconds; then it takes one
# all the same, since the other may be stuck.
COURTESIES: Final = 10
GLANCE: Final = 0.0005

logger = logging.getLogger(__name__)


class Shares:
    """How many connections each process has, in memory that all of them see, so that none takes more than its share.

    Connections stay: without this, whichever process happens to be awake when many come would keep them all.
    """

    # A place that is free, and one whose process takes no connections yet: more than any has.
    FREE: Final = 0xFFFF
    BEGINS: Final = 0xFFFE

    def __init__(self, processes: int) -> None:
        # Those that end may still be there when those that take their place begin; a count takes two bytes.
        places = 2 * processes
        self._counts = memoryview(mmap(-1, 2 * places)).cast("H")
        for place in range(len(self._counts)):
            self.leave(place)

    def enter(self) -> int:
        """Return the place of a new process, for which its parent asks; should there be none, the first is shared."""
        place = next((place for place, count in enumerate(self._counts) if count == self.FREE), 0)
        self._counts[place] = self.BEGINS
        return place

    def leave(self, place: int) -> None:
        """Give the place of a process that is no more to another."""
        self._counts[place] = self.FREE

    def tell(self, place: int, count: int) -> None:
        """Say how many connections the process of a place has."""
        self._counts[place] = max(0, min(count, self.BEGINS - 1))

    def has_more(self, place: int) -> bool:
        """Whether the process of a place has more connections than another."""
        return self._counts[place] > min(self._counts)


class LeadingWorker(ThreadWorker):
    """A process of gunicorn whose threads lead its loop in turn; `app.shares` are the `Shares` of all processes.

    Of the threads one leads, and one of the others watches it. The main thread waits for signals, and leads at the end,
    when gunicorn has its own way of stopping: what comes then is answered by the pool of threads of gunicorn.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.alive: bool
        self.place: int = self.app.shares.enter()
        self._left = 0
        self._stop: tuple[int, int]
        self._ready: deque[Callable[[], object]] = deque()
        # Who leads, None if nobody does, and when the request began in which it is. Who leads notes a beginning alone;
        # the lead is taken, and a request ended, under the guard.
        self._guard = threading.Lock()
        self._leader: int | None = None
        self._since: float | None = None
        self._watching = threading.Lock()
        self._rests = False
        self._called = threading.Event()

    def init_process(self) -> None:
        """Begin, in the process itself: what its parent opened would stay open there."""
        self._stop = os.pipe()
        super().init_process()

    def run(self) -> None:
        """Serve until the process is told to stop, and then what has begun."""
        self.poller.register(self.method_queue.fileno(), EVENT_READ, self.method_queue.run_callbacks)
        self.app.shares.tell(self.place, 0)
        self.set_accept_enabled(True)
        for number in range(self.cfg.threads):
            threading.Thread(target=self._take_turns, name=f"web-{number}", daemon=True).start()
        while self.alive and self.is_parent_alive():
            self.notify()
            select.select(self._stop[:1], (), (), LOOK)
        self.alive = False
        while not self._take_the_lead():
            time.sleep(HELD_UP)
        # It is registered there again.
        self.poller.unregister(self.method_queue.fileno())
        super().run()

    def handle_exit(self, sig: Any, frame: Any) -> None:
        """Begin to stop."""
        super().handle_exit(sig, frame)
        os.write(self._stop[1], b"\0")

    def accept(self, listener: Any) -> None:
        """Take a new connection, or leave it for a moment to a process that has fewer."""
        self.app.shares.tell(self.place, self.nr_conns)
        # The last time all are taken that wait.
        if self.alive and self._left < COURTESIES and self.app.shares.has_more(self.place):
            self._left += 1
            time.sleep(GLANCE)
            return
        self._left = 0
        super().accept(listener)

    def enqueue_req(self, conn: Any) -> None:
        """Answer what a connection asks, after what is ready already."""
        if self.alive:
            self._ready.append(partial(self._answer, conn))
        else:
            super().enqueue_req(conn)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Wait for something to happen and look after it, for as long as this thread leads."""
        if not self._ready:
            self._ready.extend(partial(key.data, key.fileobj) for key, _events in self.poller.select(timeout))
        while self._ready and self._leads():
            self._ready.popleft()()

    def _leads(self) -> bool:
        return self._leader == threading.get_ident()

    def _take_turns(self) -> None:
        """Lead now and then. A fault of the loop ends the process, as it does with gunicorn."""
        while self.alive:
            self._wait_for_the_lead()
            try:
                while self.alive and self._leads():
                    self._go_round()
            except Exception:
                logger.exception("the loop failed")
                self.handle_exit(None, None)
            with self._guard:
                if self._leads():
                    self._leader = None

    def _go_round(self) -> None:
        """Look after the loop once, for as long as this thread leads."""
        # Not as the worker does it, which closes the sockets that listen when it is to stop.
        super().set_accept_enabled(self.nr_conns < self.worker_connections)
        self.wait_for_and_dispatch_events(LOOK)
        if self._leads():
            self.murder_keepalived()
            self.murder_pending()
            self.app.shares.tell(self.place, self.nr_conns)

    def _wait_for_the_lead(self) -> None:
        """Wait until nobody leads, or who does is held up; only one thread watches."""
        with self._watching:
            while self.alive and not self._take_the_lead():
                since = self._since
                if since is None:
                    self._rest()
                else:
                    time.sleep(max(0.0, since + HELD_UP - time.monotonic()))

    def _take_the_lead(self) -> bool:
        """Lead, if nobody does who is not held up; return whether this thread leads now."""
        with self._guard:
            held_up = self._since is not None and time.monotonic() - self._since >= HELD_UP
            if self._leader is not None and not held_up:
                return False
            self._leader, self._since = threading.get_ident(), None
            return True

    def _rest(self) -> None:
        """Wait for the next request. Who leads notes that one has begun before it looks whether anybody rests."""
        self._rests = True
        if self._since is None and self._leader is not None:
            self._called.wait()
        self._called.clear()

    def _answer(self, conn: Any) -> None:
        """Answer what a connection asks, and see to the connection if this thread still leads; else who does will."""
        if not self.alive:
            # The main thread leads for the last time: nobody would take its place.
            super().enqueue_req(conn)
            return
        outcome: Future[Any] = Future()
        self._since = time.monotonic()
        if self._rests:
            self._rests = False
            self._called.set()
        try:
            outcome.set_result(self.handle(conn))
        except BaseException as fault:
            # As in a pool of threads: it costs the connection, and no more.
            self.log.exception("a request failed outside the application")
            outcome.set_exception(fault)
        with self._guard:
            leads = self._leads()
            if leads:
                self._since = None
        if leads:
            self.finish_request(conn, outcome)
        else:
            self.method_queue.defer(self.finish_request, conn, outcome)

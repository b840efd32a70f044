"""Streams: what has changed, told to open pages as it happens, without a thread of the web server for each of them.

A stream begins as a request like any other. When its head and the first numbers are written, the web server lets its
socket go (see `serving`) and it joins the others here, where one thread asks the database for all of them at once.
There is room for so many streams; whoever finds none, or is put out by a newer page of his own, asks now and then
instead.
"""

from __future__ import annotations

import json
import logging
import selectors
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final

from server import beats, db
from server.beats import Beat, Watch

logger = logging.getLogger(__name__)

MOST: Final = 300
"""So many streams one process holds."""
MOST_EACH: Final = 3
"""So many has one person, or one network address of strangers: browsers open six connections to a site, and pages need
some. The newest stay."""
LIFE: Final = 600
"""After so many seconds a stream ends, and its page asks for another: so nothing lives on that nobody needs."""
EVERY: Final = 0.5
"""So many seconds are between two looks at the database."""
QUIET: Final = 20
"""After so many seconds without news something is said all the same, so that nobody on the way takes it for dead, and
its page can see that it lives."""
STILL: Final = b"event: still\ndata:\n\n"
"""What is said then. Of a comment a page would learn nothing."""
RETRY: Final = 3000
"""So many milliseconds a browser waits before it asks again."""

OFFER: Final = "clachan.streams"
"""Under this name a web server that can let sockets go offers its `Streams` to the application."""
PROMISE: Final = "clachan.promise"
"""Under this name the application says that the answer is to become a stream."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What a stream is to tell: of which page, whose it is for counting, and the numbers that are told already."""

    watch: Watch
    whose: str
    told: Beat


@dataclass(slots=True, eq=False)
class Stream:
    """An open stream. `chunked` is whether its bytes go in chunks of HTTP; `born` and `spoke` count seconds."""

    socket: socket.socket
    promise: Promise
    chunked: bool
    told: Beat
    born: float
    spoke: float


def lines(told: Beat) -> bytes:
    """Return the numbers as an event of a stream."""
    return f"data: {json.dumps(told, separators=(',', ':'))}\n\n".encode()


def opening(told: Beat) -> bytes:
    """Return how a stream begins."""
    return f"retry: {RETRY}\n".encode() + lines(told)


class Streams:
    """The open streams of a process and the thread that serves them; it begins with the first and ends with `stop`."""

    def __init__(self) -> None:
        self._open: set[Stream] = set()
        self._coming: SimpleQueue[Stream | None] = SimpleQueue()
        self._selector = selectors.DefaultSelector()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._door = threading.Lock()
        self._looked = 0.0

    def __len__(self) -> int:
        return len(self._open) + self._coming.qsize()

    @property
    def room(self) -> bool:
        """Whether there is room for one more."""
        return len(self) < MOST and not self._stopping.is_set()

    def adopt(self, connection: socket.socket, promise: Promise, *, chunked: bool) -> None:
        """Take over the socket of an answer whose head and first event are written, or close it without room for it."""
        now = time.monotonic()
        connection.setblocking(False)
        with self._door:
            if not self.room:
                connection.close()
                return
            self._coming.put(Stream(connection, promise, chunked, promise.told, now, now))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="streams", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End all streams, and let nobody else begin one."""
        with self._door:
            self._stopping.set()
            self._coming.put(None)
            thread = self._thread
        if thread is not None:
            thread.join(5)

    def _run(self) -> None:
        """Serve the streams until `stop`. After a fault all of them end, and the next one begins a new thread."""
        try:
            while not self._stopping.is_set():
                self._serve()
        except Exception:
            logger.exception("the streams broke off")
        finally:
            with self._door:
                self._thread = None
                self._end_all()

    def _serve(self) -> None:
        """Let those in who have come, see who has gone, and tell the others what is new."""
        self._take_in()
        for key, _events in self._selector.select(EVERY):
            # A browser says nothing more on a stream: it has gone.
            self._drop(key.data)
        if self._open and time.monotonic() - self._looked >= EVERY:
            self._looked = time.monotonic()
            self._look(self._looked)

    def _end_all(self) -> None:
        """End the streams that are open, and those that have come and were not let in yet."""
        with suppress(Empty):
            while True:
                if coming := self._coming.get(block=False):
                    self._open.add(coming)
        for stream in list(self._open):
            self._end(stream)
        self._let_go()

    def _take_in(self) -> None:
        """Let those in who have come; while there is nobody, wait for the first, without the database."""
        if not self._open:
            self._let_go()
        with suppress(Empty):
            while stream := self._coming.get(block=not self._open and not self._stopping.is_set()):
                self._open.add(stream)
                self._selector.register(stream.socket, selectors.EVENT_READ, stream)
                own = [one for one in self._open if one.promise.whose == stream.promise.whose]
                for old in sorted(own, key=lambda one: one.born)[:-MOST_EACH]:
                    self._end(old, b"event: full\ndata:\n\n")

    def _look(self, now: float) -> None:
        """Tell everybody what is new to him, end what is over, and let the quiet ones be heard."""
        found = self._ask()
        for stream in list(self._open):
            told = stream.told if found is None else found.get(stream.promise.watch)
            if told is None or now - stream.born > LIFE:
                self._end(stream)
            elif told != stream.told:
                stream.told = told
                self._say(stream, lines(told), now)
            elif now - stream.spoke > QUIET:
                self._say(stream, STILL, now)

    def _ask(self) -> dict[Watch, Beat] | None:
        """Return the numbers of all pages, None if the database does not answer just now."""
        try:
            db.database.connect(reuse_if_open=True)
            return beats.beats({stream.promise.watch for stream in self._open})
        except (*db.Unavailable, db.Broken) as fault:
            logger.warning("streams have no news: %s", fault)
            self._let_go()
            return None

    def _let_go(self) -> None:
        """Give the connection to the database back."""
        with suppress(*db.Unavailable, db.Broken):
            if not db.database.is_closed():
                db.database.close()

    def _say(self, stream: Stream, event: bytes, now: float) -> None:
        if _send(stream, _part(stream, event)):
            stream.spoke = now
        else:
            self._drop(stream)

    def _end(self, stream: Stream, event: bytes = b"") -> None:
        """Say the last word and close in good order."""
        last = b"0\r\n\r\n" if stream.chunked else b""
        _send(stream, (_part(stream, event) if event else b"") + last)
        self._drop(stream)

    def _drop(self, stream: Stream) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(stream.socket)
        self._open.discard(stream)
        stream.socket.close()


def _part(stream: Stream, event: bytes) -> bytes:
    return b"%X\r\n%s\r\n" % (len(event), event) if stream.chunked else event


def _send(stream: Stream, data: bytes) -> bool:
    """Send some bytes; False if the other side has gone, or takes nothing any more."""
    try:
        return stream.socket.send(data) == len(data)
    except OSError:
        return False

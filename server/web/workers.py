"""The web server of the web role: gunicorn, whose processes let the socket of an answer go when it becomes a stream.

A parent listens and keeps so many processes alive. Each of them has the application, threads, streams and connections
to the database of its own; the parent has nothing of all that.
"""

from __future__ import annotations

import errno
import logging
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from selectors import EVENT_READ
from typing import Any, Final

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger
from gunicorn.http.unreader import SocketUnreader

from server import create_app, lasting
from server.settings import Settings
from server.web import streams
from server.web.bounds import CONNECTIONS, PATIENCE, SILENT, allow_files
from server.web.leading import LeadingWorker, Shares
from server.web.streams import Promise, Streams

# For so many seconds at most a thread waits for a request, head and body, and a part of an answer is on its way.
SLOWEST: Final = 20
# For so many seconds nobody is taken after there was no room for another file.
FULL: Final = 0.1
# So many seconds the other side has to close a connection that is over.
FAREWELL: Final = 2


logger = logging.getLogger(__name__)


class Leaving(OSError):
    """An answer goes on as a stream: its socket leaves the server, which writes nothing more to it."""

    def __init__(self, promise: Promise, chunked: bool) -> None:
        super().__init__("the answer goes on as a stream")
        self.promise = promise
        self.chunked = chunked


class Journal(Logger):
    """What gunicorn has to say goes to the log of the process, without addresses of pages and people."""

    def setup(self, cfg: Any) -> None:
        """Open no file and no stream."""
        super().setup(cfg)
        self.error_log = logging.getLogger("server.web.workers")
        self.error_log.setLevel(self.loglevel)

    def warning(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Log a warning; of a request that cannot be read not what it said."""
        if msg.startswith("Invalid request"):
            msg, args = "a request could not be read", ()
        super().warning(msg, *args, **kwargs)

    def exception(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Log a fault, but not of which request; that a client is too slow is none."""
        if not isinstance(sys.exception(), (BlockingIOError, TimeoutError)):
            super().exception("a request failed outside the application")


class Intake(SocketUnreader):
    """What is read of a connection. All parts of a request together may take no longer than `SLOWEST`."""

    until = 0.0

    def begin(self) -> None:
        """Give a request all of the time, from now on."""
        self.until = time.monotonic() + SLOWEST

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Return the next part. When the time is over it raises `TimeoutError`, or `BlockingIOError` of the socket."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        # Of reading alone: to the time out of a socket of Python's the answer would be held as well.
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _span(left))
        return bytes(super().chunk(size_hint))


class Worker(LeadingWorker):
    """A process of the server. Silent connections take no thread, and sockets of streams leave."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.parting: deque[Any] = deque()

    def accept(self, listener: Any) -> None:
        """Take a new connection; if there is no room for another file, it waits like others."""
        try:
            super().accept(listener)
        except OSError as fault:
            if fault.errno not in {errno.EMFILE, errno.ENFILE}:
                raise
            logger.error("no connection can be taken: %s", fault.strerror)
            time.sleep(FULL)

    def enqueue_req(self, conn: Any) -> None:
        """Answer what a connection asks; a new one when it has begun to say something."""
        if conn.initialized or conn.data_ready:
            super().enqueue_req(conn)
            return
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + SILENT
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def handle(self, conn: Any) -> Any:
        """Read a request and answer it; return whether the connection stays."""
        if not conn.initialized:
            conn.init()
            conn.parser.unreader = Intake(conn.sock)
        conn.parser.unreader.begin()
        return super().handle(conn)

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Answer a request; return whether the connection stays."""
        try:
            return super().handle_request(req, conn)
        except Leaving as leaving:
            conn.leaving = leaving
            return True

    def finish_request(self, conn: Any, fs: Any) -> None:
        """Wait for the next request on the connection, part with it, or give it to the streams."""
        leaving: Leaving | None = getattr(conn, "leaving", None)
        if leaving is not None:
            self.nr_conns -= 1
            self.app.streams.adopt(conn.sock, leaving.promise, chunked=leaving.chunked)
        elif fs.cancelled() or fs.exception() or not fs.result():
            self._part(conn)
        else:
            super().finish_request(conn, fs)

    def _part(self, conn: Any) -> None:
        """Say that nothing more comes, and close when the other side has: at once could cost it the end of the answer.

        Here and not where gunicorn does it, which has all other connections wait meanwhile.
        """
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
            self.poller.register(conn.sock, EVENT_READ, partial(self._hear_out, conn))
        except OSError:
            self.nr_conns -= 1
            conn.close()
            return
        conn.timeout = time.monotonic() + FAREWELL
        self.parting.append(conn)

    def _hear_out(self, conn: Any, _socket: Any) -> None:
        try:
            heard = conn.sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if not heard:
            self.parting.remove(conn)
            self._close(conn)

    def _close(self, conn: Any) -> None:
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Close the connections that have been silent for too long, and those parted with whose other side stays."""
        super().murder_pending()
        while self.parting and self.parting[0].timeout <= time.monotonic():
            self._close(self.parting.popleft())

    def set_accept_enabled(self, enabled: bool) -> None:
        """Take new connections or none; the last time, when the process is to end, those that wait already."""
        super().set_accept_enabled(enabled)
        if self.alive or enabled:
            return
        for listener in self.sockets:
            before = -1
            while before != self.nr_conns:
                before = self.nr_conns
                self.accept(listener)
            listener.close()
        # Who has said nothing yet is waited for no longer than who was answered before.
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, time.monotonic() + FAREWELL)
        self.app.streams.stop()


class Site(BaseApplication):
    """The application of each process, made there, and how gunicorn is to serve it on a socket that is bound."""

    streams: Streams

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self.shares = Shares(settings.web_workers)
        self._options = {
            "bind": f"fd://{listener.detach()}",
            "worker_class": Worker,
            "logger_class": Journal,
            "loglevel": "warning",
            "errorlog": None,
            "workers": settings.web_workers,
            "child_exit": lambda _parent, worker: self.shares.leave(worker.place),
            "threads": settings.web_threads,
            "worker_connections": CONNECTIONS,
            "keepalive": SILENT,
            "graceful_timeout": PATIENCE,
            "limit_request_line": 8190,
            "control_socket_disable": True,
            # Which proxies are trusted is for the application to say.
            "forwarded_allow_ips": "",
            "secure_scheme_headers": {},
        }
        super().__init__()

    def load_config(self) -> None:
        """Tell gunicorn what it is to do."""
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the application of this process, which is offered its streams."""
        self.streams = Streams()
        app = create_app(self._settings)
        lasting.settle()
        return partial(_answer, app, self.streams)


def _answer(app: Any, offered: Streams, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer a request as the application does, and let the answer leave if it was promised to go on."""
    environ[streams.OFFER] = offered
    status = ""

    def start(line: str, headers: list[tuple[str, str]], fault: Any = None) -> Any:
        nonlocal status
        status = line
        return start_response(line, headers, fault)

    answer: Iterable[bytes] = app(environ, start)
    promise = environ.get(streams.PROMISE)
    if promise is None or not status.startswith("200"):
        return answer
    return _going_on(answer, Leaving(promise, environ["SERVER_PROTOCOL"] != "HTTP/1.0"))


def _going_on(answer: Any, leaving: Leaving) -> Iterator[bytes]:
    try:
        yield from answer
    finally:
        answer.close()
    raise leaving


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that is bound, whose connections do not wait for ever. Raises `OSError`."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections take these over from the socket that listens.
    for bound in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        listener.setsockopt(socket.SOL_SOCKET, bound, _span(SLOWEST))
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def _span(seconds: float) -> bytes:
    """Return a span of time as a socket is told of it; to none at all it would wait for ever."""
    return struct.pack("ll", int(seconds), max(1, int(seconds % 1 * 1_000_000)))


def run(settings: Settings, listener: socket.socket) -> None:
    """Serve on the socket until SIGTERM; raises `SystemExit` then. The caller holds no connection to the database."""
    allow_files()
    Arbiter(Site(settings, listener)).run()

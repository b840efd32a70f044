"""The web server: waitress, which lets the socket of an answer go when it has become a stream."""

from __future__ import annotations

from typing import Any

import waitress
from waitress.channel import HTTPChannel
from waitress.task import WSGITask

from server.web import streams
from server.web.bounds import CONNECTIONS, SILENT, allow_files
from server.web.streams import Promise, Streams


class Task(WSGITask):
    """An answer of the application, which may be promised to go on as a stream."""

    def get_environment(self) -> dict[str, Any]:
        """Return the environment with the offer of streams."""
        environ: dict[str, Any] = super().get_environment()
        environ[streams.OFFER] = self.channel.server.streams
        return environ

    def finish(self) -> None:
        """End the answer, unless it goes on."""
        promise = self.get_environment().get(streams.PROMISE)
        if promise is None or not self.status.startswith("200"):
            super().finish()
        else:
            self.channel.leaving = (promise, self.chunked_response)


class Channel(HTTPChannel):
    """A connection. With `leaving` set it is given to the streams, when all that was written has been sent."""

    task_class = Task
    socket: Any
    leaving: tuple[Promise, bool] | None = None

    def handle_write(self) -> None:
        """Send what is written; the thread of all sockets calls it, so here a socket may leave them."""
        if self.leaving is None or self.requests:
            super().handle_write()
            return
        self._flush_exception(self._flush_some)
        if self.will_close:
            self.handle_close()
        elif self.connected and not self.total_outbufs_len:
            self._leave(*self.leaving)

    def _leave(self, promise: Promise, chunked: bool) -> None:
        connection = self.socket
        self.close_when_flushed = self.connected = False
        self.del_channel()
        self.socket = None
        for written in self.outbufs:
            written.close()
        self.server.streams.adopt(connection, promise, chunked=chunked)


def open_server(application: Any, **adjustments: Any) -> Any:
    """Return a waitress server that listens; `run` serves. Its `streams` are to be stopped when it ends."""
    allow_files()
    server = waitress.create_server(
        application, connection_limit=CONNECTIONS, channel_timeout=SILENT, asyncore_use_poll=True, **adjustments
    )
    server.channel_class = Channel
    server.streams = Streams()
    return server

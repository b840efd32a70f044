"""Services at loopback that take short messages, each answering as the real one does."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from smtp_sink import client_context, server_context

from server.channels import guarded

PUBLIC = "93.184.216.34"
"""An address that belongs to nobody here; what is sent there comes to the service of the test."""


@dataclass
class Asked:
    """What a service was asked: method, path, headers with small letters, and the body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> Any:
        """What the body says as JSON."""
        return json.loads(self.body)


@dataclass
class Answer:
    """What a service answers; a bare one stands for success at each of them."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)


class Service:
    """A service over TLS that keeps what it was asked, and answers by `answer`."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                headers = {name.lower(): text for name, text in self.headers.items()}
                asked = Asked(self.command, self.path, headers, self.rfile.read(size))
                service.asked.append(asked)
                answer = service.answer(asked)
                self.send_response(answer.status)
                for name, text in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(answer.body)

            do_GET = do_POST = do_PUT = handle_any  # noqa: N815 - the library's names

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = server_context().wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True)
        self.thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server.server_address[1])

    def close(self) -> None:
        """Answer no more."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)


def trusting() -> ssl.SSLContext:
    """Return a context that takes the test's certificate for that of whatever machine is called."""
    context = client_context()
    context.check_hostname = False
    return context


@contextmanager
def service(monkeypatch: pytest.MonkeyPatch, answer: Callable[[Asked], Answer] | None = None) -> Iterator[Service]:
    """Run a service for the block, in place of every machine on the public internet."""
    running = Service(answer or (lambda _: Answer()))
    real = socket.create_connection

    def connect(where: tuple[str, int], *given: Any) -> socket.socket:
        assert where[0] == PUBLIC, "nothing but what was looked up is called"
        return real(("127.0.0.1", running.port), *given)

    monkeypatch.setattr(socket, "create_connection", connect)
    try:
        yield running
    finally:
        running.close()


def passage(*, loopback: bool = False) -> guarded.Passage:
    """Return a way on which every name is that of the service."""
    return guarded.Passage(loopback=loopback, resolve=lambda *_: [PUBLIC], context=trusting())

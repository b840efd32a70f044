"""Clients that cost little: requests prepared beforehand, each client a connection that is kept, all in one loop."""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from bench import machine
from bench.stage import Served

Request = tuple[Any, bytes]

END = b"\r\n\r\n"
LENGTH = b"content-length:"
LARGEST = 1 << 18


@dataclass(slots=True)
class Load:
    """What came of a load: seconds of each answer, the seconds it all took, seconds of processor of clients and server.

    `answers` are pairs of what was asked and the whole answer; `dry`: somebody had no more work before the time.
    """

    times: list[float] = field(default_factory=list)
    answers: list[tuple[Any, bytes]] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0
    served: float = 0.0
    dry: bool = False

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.times) / self.seconds

    @property
    def cost(self) -> float:
        """Milliseconds of processor that an answer takes the server."""
        return 1000 * self.served / len(self.times)

    def milliseconds(self, share: float) -> float:
        """Return within how many milliseconds that share of the answers came."""
        return 1000 * sorted(self.times)[min(int(len(self.times) * share), len(self.times) - 1)]


class Client:
    """One connection and what it is to ask for: pairs of a name and the bytes of a request."""

    def __init__(self, port: int, requests: Iterator[Request]) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.requests = requests
        self.name: Any = None
        self.got = b""
        self.since = 0.0

    def ask(self) -> bool:
        """Send the next request; return whether there was one."""
        asked = next(self.requests, None)
        if asked is None:
            return False
        self.name, sent = asked
        self.got, self.since = b"", time.perf_counter()
        self.socket.sendall(sent)
        return True

    def hear(self) -> bytes | None:
        """Take what has come; return the whole answer when it is whole. Raises `ConnectionError` when it is cut off."""
        came = self.socket.recv(LARGEST)
        if not came:
            raise ConnectionError(f"the server hung up in the answer to {self.name}: {self.got[:200]!r}")
        self.got += came
        head, found, body = self.got.partition(END)
        if not found:
            return None
        at = head.lower().find(LENGTH)
        if at < 0:
            raise ConnectionError(f"an answer without a length: {head!r}")
        return self.got if len(body) >= int(head[at + len(LENGTH) :].split(b"\r\n", 1)[0]) else None


def post(path: str, port: int, cookie: str, fields: dict[str, object]) -> bytes:
    """Return a form as the script of a page sends it."""
    body = urlencode(fields).encode()
    head = _head("POST", path, port, cookie, "application/json")
    head += f"Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n"
    head += f"Content-Type: application/x-www-form-urlencoded;charset=UTF-8\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def call(path: str, port: int, token: str, key: str, told: dict[str, object]) -> bytes:
    """Return the request by which a program of the owner of a token tells the house something."""
    body = json.dumps(told).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: bench\r\nAccept: application/json\r\n"
        f"Authorization: Bearer {token}\r\nIdempotency-Key: {key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def get(path: str, port: int, cookie: str) -> bytes:
    """Return the request for a page as a browser sends it."""
    return (_head("GET", path, port, cookie, "text/html,application/xhtml+xml,*/*;q=0.8") + "\r\n").encode()


def _head(verb: str, path: str, port: int, cookie: str, accept: str) -> str:
    return (
        f"{verb} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n"
        f"Accept: {accept}\r\nAccept-Language: en-GB,en;q=0.8\r\nAccept-Encoding: gzip, deflate\r\nCookie: {cookie}\r\n"
    )


def run(there: Served, work: Sequence[Iterator[Request]], seconds: float) -> Load:
    """Let a client go through each part of the work, request after answer, until the time or the work is over."""
    load, selector = Load(), selectors.DefaultSelector()
    clients = [Client(there.port, part) for part in work]
    served, processor, began = machine.processor(there.group), time.process_time(), time.perf_counter()
    waiting = 0
    for client in clients:
        if client.ask():
            selector.register(client.socket, selectors.EVENT_READ, client)
            waiting += 1
    while waiting:
        for key, _events in selector.select(30) or _silence():
            answer = key.data.hear()
            if answer is None:
                continue
            now = time.perf_counter()
            load.times.append(now - key.data.since)
            load.answers.append((key.data.name, answer))
            over = now - began > seconds
            if over or not key.data.ask():
                load.dry |= not over
                selector.unregister(key.fileobj)
                waiting -= 1
    load.seconds, load.processor = time.perf_counter() - began, time.process_time() - processor
    load.served = machine.processor(there.group) - served
    for client in clients:
        client.socket.close()
    return load


def _silence() -> list[tuple[selectors.SelectorKey, int]]:
    raise TimeoutError("no client was answered for 30 seconds")

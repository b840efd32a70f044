"""A call on the wire: resolved once, connected to what was checked, signed, over in seconds, never redirected."""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import hmac
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Final

import dns.exception
import dns.resolver

from server.channels import Call, DeliveryError
from server.channels.webhook.address import Target, is_address, is_loopback, is_public, target

# A whole call takes no longer, in seconds, nor its look-up.
LONGEST: Final = 5.0
LONGEST_LOOKUP: Final = 2.0
# Of the answer only the first line is read.
MOST_READ: Final = 1024
MOST_BODY: Final = 64 * 1024
GONE: Final = 410

Resolver = Callable[[str, float], Sequence[str]]


def lookup(name: str, seconds: float) -> Sequence[str]:
    """Return the addresses of a name. Raises `DeliveryError`."""
    try:
        return list(dns.resolver.resolve_name(name, lifetime=seconds).addresses())
    except dns.exception.DNSException as fault:
        raise DeliveryError(f"the name cannot be looked up: {type(fault).__name__}") from None


class WebhookChannel:
    """Calls addresses. `loopback` lets this machine be called; `resolve` and `context` replace the system's ways to
    find machines and to trust them."""

    def __init__(
        self, *, loopback: bool = False, resolve: Resolver = lookup, context: ssl.SSLContext | None = None
    ) -> None:
        self._loopback = loopback
        self._resolve = resolve
        self._context = context or ssl.create_default_context()

    def deliver(self, message: Call) -> None:
        """Make the call. Raises `DeliveryError` unless the answer is one of success."""
        ends = time.monotonic() + LONGEST
        where = target(message.url, loopback=self._loopback)
        body = message.body.encode()
        if len(body) > MOST_BODY:
            raise DeliveryError("the call is too large")
        addresses = self._checked(where)
        try:
            with contextlib.ExitStack() as held:
                line = held.enter_context(_connect(addresses, where.port, ends))
                line.settimeout(_left(ends))
                if where.secure:
                    line = held.enter_context(self._context.wrap_socket(line, server_hostname=where.host))
                line.settimeout(_left(ends))
                line.sendall(_request(message, where, body, int(time.time())))
                status = _status(line, ends)
        except (OSError, ValueError) as fault:
            raise DeliveryError(f"no answer: {_cause(fault)}") from None
        if status // 100 != 2:
            raise DeliveryError(f"the answer was {status}", permanent=status == GONE)

    def _checked(self, where: Target) -> Sequence[str]:
        """Return the addresses of the target, all of which may be called. Raises `DeliveryError`."""
        here = self._loopback and is_loopback(where.host)
        if here or is_address(where.host):
            return ["127.0.0.1" if where.host == "localhost" else where.host]
        found = self._resolve(where.host, LONGEST_LOOKUP)
        # One that is not public among others is no mistake but an attempt.
        if not found or not all(is_public(address) for address in found):
            raise DeliveryError("the name does not belong to a public machine")
        return found


def signature(secret: str, number: str, moment: int, body: bytes) -> str:
    """Return the signature of a call: HMAC-SHA256 over id, seconds since 1970 and body (Standard Webhooks, v1)."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.new(key, f"{number}.{moment}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"


def _connect(addresses: Sequence[str], port: int, ends: float) -> socket.socket:
    """Return a connection to the first of the addresses that takes one, with a share of the time for each. Raises
    `OSError`."""
    for number, address in enumerate(addresses, 1):
        with contextlib.suppress(OSError):
            return socket.create_connection((address, port), _left(ends) / (len(addresses) - number + 1))
    raise OSError(errno.ECONNREFUSED, "nobody takes the call")


def _request(message: Call, where: Target, body: bytes, moment: int) -> bytes:
    lines = (
        f"POST {where.path} HTTP/1.1",
        f"Host: {where.authority}",
        "User-Agent: Clachan",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"webhook-id: {message.message_id}",
        f"webhook-timestamp: {moment}",
        f"webhook-signature: {signature(message.secret, message.message_id, moment, body)}",
        "Connection: close",
    )
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


def _status(line: socket.socket, ends: float) -> int:
    """Return the number in the first line of the answer. Raises `OSError` and `ValueError`."""
    read = b""
    while b"\n" not in read:
        line.settimeout(_left(ends))
        more = line.recv(MOST_READ - len(read))
        if not more:
            raise ValueError("it broke off")
        read += more
    words = read.partition(b"\n")[0].split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not (words[1].isdigit() and len(words[1]) == 3):
        raise ValueError("it is not HTTP")
    return int(words[1])


def _left(ends: float) -> float:
    """Return how many seconds are left. Raises `TimeoutError`."""
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError("it took too long")
    return left


def _cause(fault: Exception) -> str:
    """Return a few words of ours or of the system, none of the other side."""
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"its certificate is not good ({fault.verify_message})"
    if isinstance(fault, TimeoutError):
        return "it took too long"
    return (fault.strerror or type(fault).__name__) if isinstance(fault, OSError) else str(fault)

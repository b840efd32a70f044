"""A call on the wire: resolved once, connected to what was checked, signed, over in seconds, never redirected."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import ssl
import time
from typing import Final

from server.channels import NO_ANSWER, Call, DeliveryError, answered
from server.channels.webhook import reach
from server.channels.webhook.address import Target, target

# A whole call takes no longer, in seconds.
LONGEST: Final = 5.0
# Of the answer only the first line is read.
MOST_READ: Final = 1024
MOST_BODY: Final = 64 * 1024
GONE: Final = 410


class WebhookChannel:
    """Calls addresses. `loopback` lets this machine be called; `resolve` and `context` replace the system's ways to
    find machines and to trust them."""

    def __init__(
        self, *, loopback: bool = False, resolve: reach.Resolver = reach.lookup, context: ssl.SSLContext | None = None
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
        addresses = reach.checked(where, self._resolve, loopback=self._loopback)
        try:
            with reach.line(where, addresses, ends, self._context) as line:
                line.sendall(_request(message, where, body, int(time.time())))
                status = _status(line, ends)
        except (OSError, ValueError) as fault:
            raise DeliveryError(f"no answer: {reach.cause(fault)}", said=NO_ANSWER) from None
        if status // 100 != 2:
            raise answered(status, permanent=status == GONE)


def signature(secret: str, number: str, moment: int, body: bytes) -> str:
    """Return the signature of a call: HMAC-SHA256 over id, seconds since 1970 and body (Standard Webhooks, v1)."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.new(key, f"{number}.{moment}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"


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
        line.settimeout(reach.left(ends))
        more = line.recv(MOST_READ - len(read))
        if not more:
            raise ValueError("it broke off")
        read += more
    words = read.partition(b"\n")[0].split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not (words[1].isdigit() and len(words[1]) == 3):
        raise ValueError("it is not HTTP")
    return int(words[1])

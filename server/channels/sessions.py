"""HTTP for libraries that speak it by `requests`: to public machines alone, over in seconds, never redirected.

A session's exchanges go over our own connections: of what the library would have of the environment (proxies, name
look-ups, certificates of its own, passwords in files) nothing is used.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any, Final, cast

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from server.channels import NO_ANSWER, NOT_TAKEN, DeliveryError, answered, guarded
from server.channels.guarded import Passage
from server.channels.webhook import reach
from server.channels.webhook.address import Target, target

MOST_READ: Final = 64 * 1024
MOST_SENT: Final = 64 * 1024
# These headers are ours to say.
_OURS: Final = frozenset(
    {"host", "connection", "accept-encoding", "transfer-encoding", "proxy-authorization", "cookie"}
)


class Session(requests.Session):
    """A few exchanges that belong together; the first that fails or is refused is the last.

    `status` is that of the last answer, 0 before there is one; `wait` is what it asks for before the next try; `fault`
    says why there was no answer, `said` the same to the person, `sent` whether the far side may have taken something.
    """

    def __init__(self, passage: Passage, hosts: Collection[str] | None) -> None:
        super().__init__()
        self.trust_env = False
        self.status, self.wait, self.fault, self.said, self.sent = 0, timedelta(0), "", NOT_TAKEN, False
        self.adapters.clear()
        self.mount("http", _Adapter(passage, hosts, self))

    def request(self, *given: Any, **named: Any) -> requests.Response:
        """Make an exchange, whatever is wished as to redirects, proxies and certificates. Raises
        `requests.RequestException`."""
        named |= {"allow_redirects": False, "proxies": None, "verify": True, "cert": None, "stream": False}
        return super().request(*given, **named)

    def refusal(self, lasting: Collection[int] = ()) -> DeliveryError:
        """Return why something was not delivered; answers of a `lasting` status will not become better."""
        if self.fault:
            return DeliveryError(self.fault, unknown=self.sent, said=self.said)
        if self.status:
            return answered(self.status, permanent=self.status in lasting, wait=self.wait)
        return DeliveryError("nothing was sent")


class _Adapter(BaseAdapter):
    """What carries out the exchanges of a session."""

    def __init__(self, passage: Passage, hosts: Collection[str] | None, told: Session) -> None:
        super().__init__()
        self._passage, self._hosts, self._told = passage, hosts, told
        self._ends = time.monotonic() + guarded.LONGEST
        self._found: dict[str, Any] = {}

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Return the answer to a request. Raises `requests.ConnectionError` for one that is refused, too."""
        told = self._told
        if told.fault or told.status >= 300:
            raise requests.ConnectionError("an exchange before has failed")
        told.sent = False
        try:
            where = self._where(request.url or "")
            answer = self._exchange(where, request)
        except (DeliveryError, OSError, ValueError, http.client.HTTPException) as fault:
            told.fault, told.said = f"no answer: {_cause(fault)}", NO_ANSWER
            if isinstance(fault, DeliveryError):
                told.fault, told.said = str(fault), fault.said
            raise requests.ConnectionError(told.fault) from None
        told.status, told.wait = answer.status_code, _wait(answer.headers.get("Retry-After", ""))
        # Libraries wait and try again by themselves; when to do so is for the queue to say.
        if answer.status_code == requests.codes.too_many_requests:
            raise requests.ConnectionError("too many requests")
        return answer

    def close(self) -> None:
        """Nothing to let go of."""

    def _where(self, url: str) -> Target:
        where = target(url, loopback=self._passage.loopback)
        if self._hosts is not None and where.host not in self._hosts:
            raise DeliveryError("another machine than that of the service")
        if where.host not in self._found:
            self._found[where.host] = reach.checked(where, self._passage.resolve, loopback=self._passage.loopback)
        return where

    def _exchange(self, where: Target, request: requests.PreparedRequest) -> requests.Response:
        raw = _raw(request, where)
        with reach.line(where, self._found[where.host], self._ends, self._passage.context) as line:
            self._told.sent = True
            line.sendall(raw)
            answer = http.client.HTTPResponse(cast(socket.socket, _Timed(line, self._ends)), method=request.method)
            answer.begin()
            content = _content(answer)
        return _answered(request, answer, content)


class _Timed(io.RawIOBase):
    """What comes over a line, until its time is over; however slowly it drips."""

    def __init__(self, line: socket.socket, ends: float) -> None:
        self._line, self._ends = line, ends

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return what the answer is read from, as a socket does."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, room: Any) -> int:
        """Fill room with what has come; return how many bytes that are. Raises `OSError`."""
        self._line.settimeout(reach.left(self._ends))
        return self._line.recv_into(room)


def _raw(request: requests.PreparedRequest, where: Target) -> bytes:
    body = request.body or b""
    body = body.encode() if isinstance(body, str) else body
    if not isinstance(body, bytes) or len(body) > MOST_SENT:
        raise DeliveryError("the message is too large")
    headers = {_text(name): _text(value) for name, value in request.headers.items()}
    kept = {name: value for name, value in headers.items() if name.lower() not in _OURS | {"content-length"}}
    ours = {"Host": where.authority, "Connection": "close", "Content-Length": str(len(body))}
    lines = [f"{request.method} {where.path} HTTP/1.1", *(f"{name}: {value}" for name, value in (ours | kept).items())]
    if any(mark in line for line in lines for mark in "\r\n\0"):
        raise DeliveryError("the message cannot be sent")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def _text(part: str | bytes) -> str:
    return part.decode("latin-1") if isinstance(part, bytes) else part


def _answered(request: requests.PreparedRequest, answer: http.client.HTTPResponse, content: bytes) -> requests.Response:
    """Return an answer as the library has them; where it would send us on is left out."""
    found = requests.Response()
    found.status_code, found.reason, found.url, found.request = answer.status, answer.reason, request.url or "", request
    found.headers = CaseInsensitiveDict(
        {name: text for name, text in answer.getheaders() if name.lower() != "location"}
    )
    found.encoding = "utf-8"
    found.raw = io.BytesIO(content)
    return found


def _content(answer: http.client.HTTPResponse) -> bytes:
    """Return the beginning of what an answer holds, nothing if that cannot be read: its number counts all the same, as
    what was taken must not be sent again."""
    try:
        return answer.read(MOST_READ)
    except (OSError, ValueError, http.client.HTTPException):
        return b""


def _wait(text: str) -> timedelta:
    """Return how long an answer asks to wait, in seconds as it writes it, ten days at most; dates are not read."""
    if not (text.isascii() and text.isdigit()):
        return timedelta(0)
    return timedelta(seconds=int(text)) if len(text) < 7 else timedelta(days=10)


def _cause(fault: Exception) -> str:
    return reach.cause(fault) if isinstance(fault, OSError) else "it is not HTTP"

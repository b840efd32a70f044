"""Responses of text are packed for the way, where the browser can unpack them."""

from __future__ import annotations

import secrets
import struct
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final, TypeAlias

import flask
from isal import isal_zlib

LEAST: Final = 1000
"""So many bytes are sent as they are."""
_TEXTS: Final = ("text/", "application/json", "application/javascript", "application/manifest+json", "image/svg+xml")
_PADDING: Final = 200
_RAW: Final[Any] = {"method": zlib.DEFLATED, "wbits": -zlib.MAX_WBITS}

Ready: TypeAlias = tuple[str, Callable[[], bytes]]
"""A text that stands in a page, and how to get it as a `chunk`."""


def install(app: flask.Flask) -> None:
    """Pack what the application answers."""

    @app.after_request
    def pack(response: flask.Response) -> flask.Response:
        if not (response.mimetype or "").startswith(_TEXTS):
            return response
        response.vary.add("Accept-Encoding")
        if not _may_pack(response):
            return response
        response.direct_passthrough = False
        body = response.get_data()
        if len(body) >= LEAST:
            # The same bytes go to everybody, so their packed form is kept, and its length tells nothing.
            response.set_data(_kept(body) if flask.request.endpoint == "static" else _page(body))
            response.headers["Content-Encoding"] = "gzip"
            tag, _ = response.get_etag()
            if tag:
                response.set_etag(tag, weak=True)
        return response


def _may_pack(response: flask.Response) -> bool:
    return (
        response.status_code != 206
        and response.mimetype != "text/event-stream"
        and flask.request.method != "HEAD"
        and "Content-Encoding" not in response.headers
        and flask.request.accept_encodings["gzip"] > 0
    )


def _page(body: bytes) -> bytes:
    return packed(body, padding(), flask.g.get("parts", ()), quick=True)


def part(text: str, chunk: Callable[[], bytes]) -> None:
    """Say that a text will stand in the page that is being made, and how to get it as a chunk, which may be kept."""
    flask.g.setdefault("parts", []).append((text, chunk))


def chunk(text: str) -> bytes:
    """Return a part of a page packed by itself, to be put between others that are."""
    packer = _quick()
    # After a full flush nothing refers to what stands before it (RFC 1951), so such chunks may stand in any order.
    return b"".join((packer.compress(text.encode()), packer.flush(zlib.Z_FULL_FLUSH)))


def padding() -> bytes:
    """Return a name of random length for the head of a packed page.

    Whoever sees how long a page is on its way, and can have a word of his own put into it, could find out by trying
    what else stands in it: the same is packed shorter. With a length that varies he learns next to nothing.
    """
    return b"x" * secrets.randbelow(_PADDING)


def packed(body: bytes, name: bytes = b"", parts: Iterable[Ready] = (), *, quick: bool = False) -> bytes:
    """Return the bytes in the gzip format (RFC 1952), with a file's name in its head that nobody reads.

    `parts` stand in the body and are had as chunks; one that does not stand there does no harm.
    """
    packer = _quick() if quick else zlib.compressobj(zlib.Z_BEST_COMPRESSION, **_RAW)
    found = [struct.pack("<4BIBB", 0x1F, 0x8B, 8, 8 if name else 0, 0, 0, 255), name + b"\0" if name else b""]
    done = 0
    for start, length, ready in _placed(body, parts):
        if start >= done:
            found += [packer.compress(body[done:start]), packer.flush(zlib.Z_FULL_FLUSH), ready()]
            done = start + length
    found += [packer.compress(body[done:]), packer.flush()]
    return b"".join((*found, struct.pack("<II", zlib.crc32(body), len(body) & 0xFFFFFFFF)))


def _placed(body: bytes, parts: Iterable[Ready]) -> list[tuple[int, int, Callable[[], bytes]]]:
    """Return where each part stands, -1 for one that does not, and how long it is, in this order."""
    plain = [(text.encode(), ready) for text, ready in parts]
    return sorted(((body.find(each), len(each), ready) for each, ready in plain), key=lambda each: each[0])


def _quick() -> Any:
    """Return what packs a page: nearly as small as zlib at its usual pains, in a tenth of the time."""
    return isal_zlib.compressobj(3, **_RAW)


@lru_cache(maxsize=128)
def _kept(body: bytes) -> bytes:
    return packed(body)

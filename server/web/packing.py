"""Responses of text are packed for the way, where the browser can unpack them."""

from __future__ import annotations

import secrets
import struct
import zlib
from functools import lru_cache
from typing import Final

import flask

LEAST: Final = 1000
"""So many bytes are sent as they are."""
_TEXTS: Final = ("text/", "application/json", "application/javascript", "application/manifest+json", "image/svg+xml")
_PADDING: Final = 200


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
            response.set_data(_kept(body) if flask.request.endpoint == "static" else packed(body, padding()))
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


def padding() -> bytes:
    """Return a name of random length for the head of a packed page.

    Whoever sees how long a page is on its way, and can have a word of his own put into it, could find out by trying
    what else stands in it: the same is packed shorter. With a length that varies he learns next to nothing.
    """
    return b"x" * secrets.randbelow(_PADDING)


def packed(body: bytes, name: bytes = b"") -> bytes:
    """Return the bytes in the gzip format (RFC 1952), with a file's name in its head that nobody reads."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    head = struct.pack("<4BIBB", 0x1F, 0x8B, 8, 8 if name else 0, 0, 0, 255) + (name + b"\0" if name else b"")
    return head + packer.compress(body) + packer.flush() + struct.pack("<II", zlib.crc32(body), len(body) & 0xFFFFFFFF)


@lru_cache(maxsize=128)
def _kept(body: bytes) -> bytes:
    return packed(body)

"""A mail taken apart into its parts within fixed bounds, so that no mail costs more than its length.

The standard parser has no bounds of its own: three thousand nested parts end in a RecursionError, a subject of twenty
thousand encoded words takes seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from server.inbound.decoding import from_base64, from_quoted_printable, text_of

LARGEST: Final = 256 * 1024
MOST_PARTS: Final = 50
DEEPEST: Final = 10
LONGEST_HEADER: Final = 4096
MOST_HEADERS: Final = 1000

# What a mail means hangs on these, so a cut one would mean something else; of the others the beginning is enough.
_WHOLE: Final = frozenset({"from", "content-type", "content-transfer-encoding", "content-disposition"})
_NAME: Final = re.compile(rb"[!-9;-~]{1,100}")
_KIND: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")


class Unreadable(Exception):
    """The mail is beyond the bounds or cannot be taken apart; `str()` is a short reason."""


@dataclass(frozen=True, slots=True)
class Part:
    """A mail or a part of one: `body` as it came, or `parts` if it consists of some.

    `headers` are lower-case names and unfolded values in order, `kind` is the content type, `options` are its
    parameters; `attached` tells a file from what is to be read.
    """

    headers: tuple[tuple[str, str], ...]
    kind: str
    options: dict[str, str]
    attached: bool
    body: bytes
    parts: tuple[Part, ...] = ()

    def values(self, name: str) -> list[str]:
        """Return the values of all headers of that name."""
        return [value for found, value in self.headers if found == name]

    def text(self) -> str:
        """Return the body as text with `\\n` line ends."""
        coding = next(iter(self.values("content-transfer-encoding")), "").strip().casefold()
        data = self.body
        if coding == "base64":
            data = from_base64(data)
        elif coding == "quoted-printable":
            data = from_quoted_printable(data)
        return text_of(data, self.options.get("charset", ""))


def read(raw: bytes) -> Part:
    """Return the mail as its parts. Raises `Unreadable` beyond the bounds of this module."""
    if len(raw) > LARGEST:
        raise Unreadable(f"more than {LARGEST // 1024} KB")
    data = raw.replace(b"\r\n", b"\n")
    if b"\n" in data:
        # Among the headers it is to some a line end and to others not, and who wrote the mail must be the same for all.
        head, gap, body = data.partition(b"\n\n")
        data = head.replace(b"\r", b"\0") + gap + body
    data = data.replace(b"\r", b"\n")
    if data.startswith(b"From "):  # as a mailbox file or a delivery agent puts it first
        data = data.partition(b"\n")[2]
    return _part(data, 0, iter(range(MOST_PARTS)))


def _part(data: bytes, depth: int, numbers: Iterator[int]) -> Part:
    if next(numbers, None) is None:
        raise Unreadable(f"more than {MOST_PARTS} parts")
    if depth > DEEPEST:
        raise Unreadable(f"parts more than {DEEPEST} deep")
    head, _, body = data.partition(b"\n\n")
    if not _NAME.fullmatch(data[:LONGEST_HEADER].partition(b":")[0].rstrip()):
        head, body = b"", data.removeprefix(b"\n")
    headers = tuple(_headers(head))
    kind, options = _typed(next((value for name, value in headers if name == "content-type"), ""))
    boundary = options.get("boundary", "").rstrip().encode("utf-8", "replace")
    parts: tuple[Part, ...] = ()
    if kind.startswith("multipart/") and boundary:
        parts = tuple(_part(piece, depth + 1, numbers) for piece in _pieces(body, boundary))
    # RFC 2046 5.1: what does not come apart as it says is text.
    readable = kind if parts or not kind.startswith("multipart/") else "text/plain"
    shown, details = _split(next((value for name, value in headers if name == "content-disposition"), ""))
    attached = shown == "attachment" or "filename" in details or "name" in options
    return Part(headers, readable, options, attached, b"" if parts else body, parts)


def _headers(head: bytes) -> Iterator[tuple[str, str]]:
    """Yield lower-case names and unfolded values; a line that is neither a header nor the rest of one is left out."""
    fields: list[tuple[bytes, list[bytes]]] = []
    for line in head.split(b"\n"):
        if line[:1] in (b" ", b"\t") and fields:
            fields[-1][1].append(line)
            continue
        name, colon, value = line.partition(b":")
        fields.append((name.rstrip().lower() if colon else b"", [value]))
    if len(fields) > MOST_HEADERS:
        raise Unreadable(f"more than {MOST_HEADERS} headers")
    for name, values in fields:
        if _NAME.fullmatch(name):
            value = b"".join(values).strip()
            if len(value) > LONGEST_HEADER and name.decode() in _WHOLE:
                raise Unreadable(f"a {name.decode()} header of more than {LONGEST_HEADER // 1024} KB")
            yield name.decode(), text_of(value[:LONGEST_HEADER], "").replace("\n", " ")


def _typed(value: str) -> tuple[str, dict[str, str]]:
    kind, options = _split(value)
    return (kind if _KIND.fullmatch(kind) else "text/plain"), options


def _split(value: str) -> tuple[str, dict[str, str]]:
    """Return the first word of a header in small letters and its parameters (RFC 2045 5.1, RFC 2231)."""
    first, *rest = _fields(value)
    options: dict[str, str] = {}
    for field in rest:
        name, equals, text = field.partition("=")
        base, star, section = name.strip().casefold().partition("*")
        text = text.strip()
        if name.rstrip().endswith("*"):
            text = unquote(text.rpartition("'")[2])
        if equals and base and (base not in options or (star and section.strip("*").isdigit())):
            options[base] = options.get(base, "") + text
    return next(iter(first.casefold().split()), ""), options


def _fields(value: str) -> list[str]:
    """Return the value divided at its semicolons, those between quotation marks left alone, and the marks left out."""
    fields, quoted, escaped = [""], False, False
    for sign in value:
        if escaped or sign not in '"\\;' or (sign == ";" and quoted) or (sign == "\\" and not quoted):
            fields[-1] += sign
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign == '"':
            quoted = not quoted
        else:
            fields.append("")
    return fields


def _pieces(body: bytes, boundary: bytes) -> Iterator[bytes]:
    """Yield what stands between the boundaries; a missing last one is forgiven (RFC 2046 5.1.1)."""
    data, line = b"\n" + body, b"\n--" + boundary
    begun, place = -1, data.find(line)
    while place >= 0:
        after = place + len(line)
        end = data.find(b"\n", after)
        rest = data[after : end if end >= 0 else len(data)].rstrip()
        if rest in (b"", b"--"):
            if begun >= 0:
                yield data[begun:place]
            # The line end may also be the one before the next boundary.
            begun = -1 if rest else (end + 1 if end >= 0 else len(data))
            if rest:
                return
        place = data.find(line, end) if end >= 0 else -1
    if begun >= 0:
        yield data[begun:]

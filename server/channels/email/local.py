"""A mailbox on this machine in place of a mail server: for development, and for a house without mail."""

from __future__ import annotations

import contextlib
import mailbox
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message as Mail
from email.parser import BytesHeaderParser, BytesParser
from email.policy import compat32
from email.utils import parsedate_to_datetime
from pathlib import Path

from server.channels import DeliveryError, Message
from server.channels.email.compose import Sender
from server.channels.email.smtp import ready

_KEY = re.compile(r"(\d+)\.M(\d+)P\d+Q(\d+)\.")  # seconds, microseconds, count, as `mailbox.Maildir` names its files
_PEEK = 64 * 1024  # bytes; the headers of a mail of ours are far shorter


@dataclass(frozen=True, slots=True)
class Entry:
    """A mail in the list. `date` is None if the mail has none that can be read."""

    key: str
    to: str
    subject: str
    date: datetime | None


@dataclass(frozen=True, slots=True)
class OpenMail:
    """A mail taken apart; `raw` is all of it. In `html` the picture is `cid:board` again, as it was in the message."""

    headers: tuple[tuple[str, str], ...]
    text: str
    html: str
    picture: bytes | None
    raw: bytes

    def header(self, name: str) -> str:
        """Return the text of a header, empty if there is none."""
        return next((value for other, value in self.headers if other == name), "")


class LocalMailbox:
    """Writes the mails that would have been sent into a Maildir, and reads them."""

    def __init__(self, path: Path, sender: Sender | None = None) -> None:
        """Make the mailbox at `path`, which need not exist yet. Without a sender it is for reading only."""
        self._path = path
        self._sender = sender

    def deliver(self, message: Message) -> None:
        """Write the mail. Raises `DeliveryError` as a server's channel would, an alarm if there is no writing."""
        if self._sender is None:
            raise DeliveryError("the local mailbox was opened for reading", alarm=True)
        _, _, raw = ready(message, self._sender)
        try:
            # Made here, because the library's way fails when two processes make the mailbox at once.
            for folder in ("tmp", "new", "cur"):
                (self._path / folder).mkdir(parents=True, exist_ok=True)
            mailbox.Maildir(self._path, create=False).add(raw)
        except OSError as error:
            raise DeliveryError(f"the local mailbox cannot be written: {error.strerror}", alarm=True) from error

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def messages(self) -> list[Entry]:
        """Return what is in the mailbox, newest first. Files that cannot be read are left out."""
        found = [(_arrival(path), path) for path in self._files()]
        entries = (_entry(path) for _, path in sorted(found, reverse=True))
        return [entry for entry in entries if entry is not None]

    def read(self, key: str) -> OpenMail:
        """Return the mail of that key. Raises `KeyError` if there is none, whatever the key looks like."""
        # The key is compared with the names that are there and never becomes a path.
        for path in self._files():
            if _key(path) == key:
                try:
                    return _open_mail(path.read_bytes())
                except OSError:
                    break
        raise KeyError(key)

    def _files(self) -> Iterator[Path]:
        for folder in (self._path / "new", self._path / "cur"):
            if folder.is_dir():
                yield from (path for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def _key(path: Path) -> str:
    return path.name.partition(":")[0]


def _arrival(path: Path) -> tuple[int, int, int]:
    """Return a value that grows with the time of arrival, to the order of mails written in one microsecond."""
    if match := _KEY.match(path.name):
        return int(match[1]), int(match[2]), int(match[3])
    try:
        changed = path.stat().st_mtime_ns // 1000
    except OSError:
        changed = 0
    return changed // 1_000_000, changed % 1_000_000, 0


def _entry(path: Path) -> Entry | None:
    try:
        with path.open("rb") as file:
            head = BytesHeaderParser(policy=compat32).parsebytes(file.read(_PEEK))
    except OSError:
        return None
    return Entry(_key(path), _header(head["To"]), _header(head["Subject"]), _date(head["Date"]))


def _date(value: object) -> datetime | None:
    try:
        date = parsedate_to_datetime(str(value))
        return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _header(value: object) -> str:
    """Return a header's text in words, or as it stands if it cannot be decoded."""
    if value is None:
        return ""
    line = " ".join(str(value).split())
    with contextlib.suppress(HeaderParseError, LookupError, ValueError):
        line = str(make_header(decode_header(line)))
    return line.encode("utf-8", "replace").decode()


def _open_mail(raw: bytes) -> OpenMail:
    try:
        mail = BytesParser(policy=compat32).parsebytes(raw)
        leaves = [part for part in mail.walk() if not part.is_multipart()]
    except RecursionError:  # thousands of nested parts
        mail = BytesHeaderParser(policy=compat32).parsebytes(raw)
        leaves = []
    picture = _first(leaves, "image/png")
    png = None if picture is None else _payload(picture)
    html = _words(_first(leaves, "text/html"))
    if picture is not None and (content_id := str(picture["Content-ID"] or "").strip().strip("<>")):
        html = html.replace(f"cid:{content_id}", "cid:board")
    headers = tuple((name, _header(value)) for name, value in mail.items())
    return OpenMail(headers, _words(_first(leaves, "text/plain")), html, png, raw)


def _first(leaves: list[Mail], kind: str) -> Mail | None:
    return next((part for part in leaves if part.get_content_type() == kind), None)


def _payload(part: Mail) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _words(part: Mail | None) -> str:
    if part is None:
        return ""
    payload = _payload(part)
    try:
        text = payload.decode(str(part.get_param("charset", "utf-8")), "replace")
    except (LookupError, ValueError):
        text = payload.decode("utf-8", "replace")
    return text.replace("\r\n", "\n")

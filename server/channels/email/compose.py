"""A message as the exact bytes that go over SMTP."""

from __future__ import annotations

import binascii
import hashlib
import logging
import re
import struct
from dataclasses import dataclass
from datetime import UTC
from email.utils import format_datetime
from urllib.parse import quote

from server.channels import Message
from server.channels.email.headers import (
    address,
    address_text,
    clean,
    fold,
    free_text,
    own_id,
    thread_ids,
    token,
    web_address,
)

HTML_LIMIT = 100_000  # bytes; large readers cut off what is longer, and with it the link to unsubscribe

_log = logging.getLogger(__name__)

_LINE_ENDS = re.compile("\r\n|[\n\v\f\r\x85\u2028\u2029]")
# Controls but for tabs and line ends, halves of surrogate pairs; in plain text what turns the direction besides.
_CONTROLS = "\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_UNSENDABLE = re.compile(f"[{_CONTROLS}]")
_HARMFUL = re.compile(f"[{_CONTROLS}\u202a-\u202e\u2066-\u2069]")
_MISTAKEN = re.compile("^(?=>|From )", re.MULTILINE)
_PICTURE = re.compile("([\"'])cid:board([\"'])")
_LINE = struct.Struct("76s" * 64)


@dataclass(frozen=True, slots=True)
class Sender:
    """Who our mails are from: display name, address, and the domain of bounce addresses and content ids."""

    name: str
    address: str
    domain: str


def compose(message: Message, sender: Sender) -> bytes:
    """Return the mail as bytes with CR LF line ends, the same bytes every time.

    The shape is multipart/alternative of text and, if there is HTML, multipart/related of HTML and picture. HTML over
    100 KB is left out, since the text says everything. All bytes are ASCII unless the recipient's address is not.
    Raises `ValueError` if an address, an id or a link cannot be sent; the text of the error repeats none of them.
    """
    head = "".join(fold(name, value) for name, value in _headers(message, sender))
    return head.encode() + _body(message, sender)


def envelope_sender(message: Message, sender: Sender) -> str:
    """Return the address bounces go to, of one mail only if it has a token (VERP).

    Raises `ValueError` if the token cannot be a part of an address.
    """
    if not message.bounce_token:
        return address("", sender.address).addr_spec
    return address("", f"bounce+{token(message.bounce_token)}@{sender.domain}").addr_spec


def plain_text(text: str) -> str:
    """Return the text as it may be sent in a text part: LF line ends, one at the end, nothing hidden.

    A line that begins with `>` or `From ` gets a space before it: the first would pass for a quotation when the mail is
    answered, the second is changed by mail stores (RFC 4155). Controls except tab, and the characters that turn the
    direction of everything after them, are removed.
    """
    lines = _HARMFUL.sub("", _LINE_ENDS.sub("\n", text))
    return _MISTAKEN.sub(" ", lines).rstrip("\n") + "\n"


def _headers(message: Message, sender: Sender) -> list[tuple[str, str]]:
    headers = [
        ("Date", format_datetime(message.date.astimezone(UTC))),
        ("From", address_text("From", address(sender.name, sender.address))),
        ("To", address_text("To", address(message.to_name, message.to_address))),
        ("Subject", free_text("Subject", clean(message.subject))),
        ("Message-ID", own_id(message.message_id)),
    ]
    if message.reply_to is not None:
        headers.append(("Reply-To", address_text("Reply-To", address(sender.name, message.reply_to))))
    if ids := thread_ids(one for one in message.thread if one != message.message_id):
        headers += [("In-Reply-To", ids[-1]), ("References", " ".join(ids))]
    headers += _unsubscribe(message)
    headers += [
        ("Auto-Submitted", "auto-replied" if message.answer else "auto-generated"),  # RFC 3834 5
        ("X-Auto-Response-Suppress", "All"),
        ("Content-Language", token(message.language)),  # RFC 3282
        ("X-Clachan-Loop", address("", f"loop@{sender.domain}").domain),
        ("MIME-Version", "1.0"),
    ]
    return headers


def _unsubscribe(message: Message) -> list[tuple[str, str]]:
    """Return the headers of RFC 2369 and RFC 8058, web address first because readers take the first they know."""
    ways = []
    if message.unsubscribe_url is not None:
        ways.append(web_address(message.unsubscribe_url))
    if message.unsubscribe_mail is not None:
        spec = address("", message.unsubscribe_mail).addr_spec
        ways.append(f"<mailto:{quote(spec, safe='@+')}?subject=unsubscribe>")
    headers = [("List-Unsubscribe", ", ".join(ways))] if ways else []
    if message.unsubscribe_url is not None:
        headers.append(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"))
    return headers


def _body(message: Message, sender: Sender) -> bytes:
    """Return what follows on the headers of the whole mail: those of its content, and that."""
    text = _text_part(plain_text(message.text), "plain")
    html = plain_html(message.html)
    if len(html.encode()) > HTML_LIMIT:
        _log.warning("a mail of %d bytes of HTML is sent as text only", len(html.encode()))
        html = ""
    if not html:
        return text
    mark = hashlib.sha256(message.message_id.encode()).hexdigest()[:24]
    return _multipart("alternative", mark, text, _shown_part(html, message, mark, sender))


def plain_html(html: str) -> str:
    """Return the HTML without characters that cannot be sent, or nothing if it is blank."""
    kept = _UNSENDABLE.sub("", html)
    return kept.strip() and kept


def _shown_part(html: str, message: Message, mark: str, sender: Sender) -> bytes:
    if message.picture is None:
        return _text_part(html, "html")
    content_id = f"board.{mark}@{sender.domain}"
    page = _text_part(_PICTURE.sub(rf"\1cid:{content_id}\2", html), "html")
    picture = _picture_part(message.picture, clean(message.picture_alt), content_id)
    return _multipart("related", mark, page, picture, more='; type="text/html"')  # RFC 2387 3.1


def _text_part(text: str, subtype: str) -> bytes:
    text = text if text.endswith("\n") else text + "\n"
    head = (
        fold("Content-Type", f'text/{subtype}; charset="utf-8"') + "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
    )
    return head.encode() + binascii.b2a_qp(text.encode()).replace(b"\n", b"\r\n")


def _picture_part(picture: bytes, description: str, content_id: str) -> bytes:
    headers = [
        ("Content-Type", "image/png"),
        ("Content-Transfer-Encoding", "base64"),
        ("Content-Disposition", 'inline; filename="board.png"'),
        ("Content-ID", f"<{content_id}>"),
    ]
    if description:
        headers.append(("Content-Description", free_text("Content-Description", description)))
    head = "".join(fold(name, value) for name, value in headers)
    return f"{head}\r\n".encode() + _base64(picture)


def _base64(data: bytes) -> bytes:
    """Return the data in lines of 76 characters (RFC 2045 6.8)."""
    text = binascii.b2a_base64(data, newline=False)
    cut = len(text) - len(text) % _LINE.size
    lines = [b"\r\n".join(lines) for lines in _LINE.iter_unpack(text[:cut])]
    lines += [text[at : at + 76] for at in range(cut, len(text), 76)]
    return b"\r\n".join((*lines, b""))


def _multipart(subtype: str, mark: str, *parts: bytes, more: str = "") -> bytes:
    # "=_" occurs in no quoted-printable or base64 text (RFC 2045 6.7), so the boundary needs no search.
    boundary = f"=_{subtype}_{mark}"
    head = fold("Content-Type", f'multipart/{subtype}; boundary="{boundary}"{more}')
    between = f"\r\n--{boundary}".encode()
    return b"".join((head.encode(), *(between + b"\r\n" + part for part in parts), between, b"--\r\n"))

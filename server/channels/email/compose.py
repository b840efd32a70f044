"""A message as the exact bytes that go over SMTP."""

from __future__ import annotations

import hashlib
import logging
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC
from email.generator import BytesGenerator
from email.message import MIMEPart
from email.utils import format_datetime
from io import BytesIO
from urllib.parse import quote

from server.channels import Message
from server.channels.email.headers import (
    WIRE,
    address,
    address_text,
    clean,
    free_text,
    own_id,
    thread_ids,
    token,
    web_address,
)

HTML_LIMIT = 100_000  # bytes; large readers cut off what is longer, and with it the link to unsubscribe

_log = logging.getLogger(__name__)

_LINE_ENDS = re.compile("\r\n|[\n\v\f\r\x85\u2028\u2029]")
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


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
    mail = _body(message, sender)
    for name, value in _headers(message, sender):
        mail[name] = value
    # Headers of the whole mail come first: some filters look no further than the first lines.
    for name in ("Content-Type", "Content-Transfer-Encoding"):
        value = mail[name]
        del mail[name]
        if value is not None:
            mail[name] = value
    raw = BytesIO()
    BytesGenerator(raw, mangle_from_=False, policy=WIRE).flatten(mail)
    return raw.getvalue()


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
    lines = [_visible(line) for line in _LINE_ENDS.split(text)]
    guarded = [f" {line}" if line.startswith((">", "From ")) else line for line in lines]
    return "\n".join(guarded).rstrip("\n") + "\n"


def _visible(line: str) -> str:
    return "".join(char for char in line if char == "\t" or not _harmful(char))


def _harmful(char: str) -> bool:
    return char in _BIDI_CONTROLS or unicodedata.category(char) in {"Cc", "Cs"}


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


def _body(message: Message, sender: Sender) -> MIMEPart:
    text = _text_part(plain_text(message.text), "plain")
    html = plain_html(message.html)
    if len(html.encode()) > HTML_LIMIT:
        _log.warning("a mail of %d bytes of HTML is sent as text only", len(html.encode()))
        html = ""
    if not html:
        return text
    return _multipart("alternative", message, [text, _shown_part(html, message, sender)])


def plain_html(html: str) -> str:
    """Return the HTML without characters that cannot be sent, or nothing if it is blank."""
    kept = "".join(char for char in html if char in "\t\n" or unicodedata.category(char) not in {"Cc", "Cs"})
    return kept.strip() and kept


def _shown_part(html: str, message: Message, sender: Sender) -> MIMEPart:
    if message.picture is None:
        return _text_part(html, "html")
    content_id = f"board.{_digest(message)}@{sender.domain}"
    page = _text_part(re.sub("([\"'])cid:board([\"'])", rf"\1cid:{content_id}\2", html), "html")
    related = _multipart("related", message, [page, _picture_part(message, content_id)])
    related.set_param("type", "text/html")  # RFC 2387 3.1
    return related


def _text_part(text: str, subtype: str) -> MIMEPart:
    part = MIMEPart(policy=WIRE)
    part.set_content(text, subtype=subtype, cte="quoted-printable")
    return part


def _picture_part(message: Message, content_id: str) -> MIMEPart:
    part = MIMEPart(policy=WIRE)
    part.set_content(
        message.picture,
        maintype="image",
        subtype="png",
        disposition="inline",
        filename="board.png",
        cid=f"<{content_id}>",
    )
    if description := clean(message.picture_alt):
        part["Content-Description"] = free_text("Content-Description", description)
    return part


def _multipart(subtype: str, message: Message, parts: list[MIMEPart]) -> MIMEPart:
    whole = MIMEPart(policy=WIRE)
    # "=_" occurs in no quoted-printable or base64 text (RFC 2045 6.7), so the boundary needs no search.
    whole["Content-Type"] = f'multipart/{subtype}; boundary="=_{subtype}_{_digest(message)}"'
    for part in parts:
        whole.attach(part)
    return whole


def _digest(message: Message) -> str:
    return hashlib.sha256(message.message_id.encode()).hexdigest()[:24]

"""A mail read into what the rest of the house asks of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from server.inbound import addresses, markup, mime
from server.inbound.decoding import line_of, words_of
from server.inbound.mime import Part, Unreadable

__all__ = ["Letter", "Unreadable", "parse"]

SUBJECT_LIMIT: Final = 200
LONGEST_ID: Final = 250
LONGEST_REPORT: Final = 20_000
MOST_REPORTS: Final = 5
RECIPIENT_HEADERS: Final = ("delivered-to", "x-original-to", "envelope-to", "to", "cc")

_ID: Final = re.compile(r"<([!-;=?A-~]{1,200}@[!-;=?A-~]{1,200})>")
# Containers of which one part is to be read: the first that says anything.
_ONE_OF: Final = frozenset({"multipart/related", "multipart/signed", "multipart/report"})
_REPORTS: Final = frozenset({"message/delivery-status", "message/global-delivery-status"})


@dataclass(frozen=True, slots=True)
class Letter:
    """What a mail says.

    `message_id` is the bare id, "" if it has no sound one. `sender` is the address of the one From header if that is
    exactly one sound mailbox, its domain in small letters, else ""; `sender_name` goes with it. `recipients` are the
    addresses of Delivered-To, X-Original-To, Envelope-To, To and Cc, in that order. `headers` are lower-case names and
    unfolded raw values in order. `kind` is the content type of the whole. `text` is the body with `\\n` line ends.
    `reports` are the machine-readable parts of a report on its delivery.
    """

    message_id: str
    sender: str
    sender_name: str
    recipients: tuple[str, ...]
    subject: str
    headers: tuple[tuple[str, str], ...]
    kind: str
    text: str
    reports: tuple[str, ...]


def parse(raw: bytes) -> Letter:
    """Read a mail. Raises `Unreadable` if it is beyond the bounds or cannot be taken apart."""
    whole = mime.read(raw)
    senders, ids, subjects = whole.values("from"), whole.values("message-id"), whole.values("subject")
    sender, name = addresses.sender(senders[0]) if len(senders) == 1 else ("", "")
    found = _ID.fullmatch(ids[0]) if len(ids) == 1 else None
    return Letter(
        message_id=found[1] if found and len(found[1]) <= LONGEST_ID else "",
        sender=sender,
        sender_name=name,
        recipients=addresses.recipients(value for header in RECIPIENT_HEADERS for value in whole.values(header)),
        subject=line_of(words_of(subjects[0]), SUBJECT_LIMIT) if subjects else "",
        headers=whole.headers,
        kind=whole.kind,
        text=_text(whole),
        reports=tuple(_reports(whole)[:MOST_REPORTS]),
    )


def _reports(part: Part) -> list[str]:
    if part.kind in _REPORTS:
        return [part.text()[:LONGEST_REPORT]]
    return [report for inner in part.parts for report in _reports(inner)]


def _text(part: Part) -> str:
    """Return what a part says to its reader."""
    plain, page = _both(part)
    return page if page.strip() and (not plain.strip() or _stands_in(plain, page)) else plain


def _both(part: Part) -> tuple[str, str]:
    """Return what a part says as plain text and what it says as a page turned to text, each "" if it does not."""
    if not part.parts:
        reader = _READERS.get(part.kind)
        return reader(part) if reader else ("", "")
    shown = [inner for inner in part.parts if not inner.attached]
    if part.kind == "multipart/alternative":
        alternatives = [_both(inner) for inner in shown]
        return _first(text for text, _ in alternatives), _first(page for _, page in alternatives)
    if part.kind in _ONE_OF:
        return next((both for inner in shown if any(both := _both(inner))), ("", ""))
    # A picture in between divides what was written; a page beside plain text repeats it.
    texts = [_text(inner) for inner in shown if inner.kind != "text/html"]
    if not any(text.strip() for text in texts):
        texts = [_text(inner) for inner in shown]
    return "\n".join(text for text in texts if text), ""


def _first(texts: Iterable[str]) -> str:
    return next((text for text in texts if text.strip()), "")


def _plain(part: Part) -> tuple[str, str]:
    text = part.text()
    if part.options.get("format", "").casefold() == "flowed":
        text = _joined(text, part.options.get("delsp", "").casefold() == "yes")
    return text, ""


def _page(part: Part) -> tuple[str, str]:
    return "", markup.text(part.text())


_READERS: Final[dict[str, Callable[[Part], tuple[str, str]]]] = {"text/plain": _plain, "text/html": _page}


def _joined(text: str, without_space: bool) -> str:
    """Return text that flows (RFC 3676) with its paragraphs on one line each, behind its quotation marks."""
    lines: list[str] = []
    paragraph: list[str] = []
    last = 0
    for line in text.split("\n"):
        content = line.lstrip(">")
        depth = len(line) - len(content)
        content = content.removeprefix(" ")
        if paragraph and (depth != last or content == "-- "):
            lines.append(_marked(paragraph, last))
            paragraph = []
        flows = content.endswith(" ") and content != "-- "
        paragraph.append(content[:-1] if flows and without_space else content)
        last = depth
        if not flows:
            lines.append(_marked(paragraph, last))
            paragraph = []
    return "\n".join([*lines, _marked(paragraph, last)] if paragraph else lines)


def _marked(paragraph: list[str], depth: int) -> str:
    return ">" * depth + " " * (depth > 0) + "".join(paragraph)


def _stands_in(plain: str, page: str) -> bool:
    """Whether a plain part only says that it cannot show the page: a sentence or two that are not on the page."""
    lines = [line for line in plain.split("\n") if line.strip()]
    return len(lines) <= 3 and len(lines[0].split()) > 3 and _bare(lines[0]) not in _bare(page)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()

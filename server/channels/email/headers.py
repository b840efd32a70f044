"""Header text that is safe to send: cleaning, addresses, message ids and our own folding."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from email.header import Header
from email.headerregistry import Address
from functools import lru_cache

LINE = 78  # RFC 5322 2.1.1: lines should be at most 78 characters ...
HARD_LINE = 998  # ... and must be at most 998, without CR LF
TEXT_LIMIT = 150
NAME_LIMIT = 60
MESSAGE_ID_LIMIT = 60
FOREIGN_ID_LIMIT = 900  # a longer one could not be sent unbroken behind "In-Reply-To: "

# Letters, marks and symbols that show as nothing although Unicode does not class them as format characters.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_DROPPED = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))
_SPACES = frozenset(("Zs", "Zl", "Zp"))
_NAME_PUNCTUATION = frozenset(" .'’-_&+")

_ATEXT = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
_LOCAL = re.compile(rf"[{_ATEXT}\x80-\U0010ffff]+(?:\.[{_ATEXT}\x80-\U0010ffff]+)*")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_OWN_ID = re.compile(r"[A-Za-z0-9._+=-]+@[A-Za-z0-9.-]+")
_FOREIGN_ID = re.compile(r"[!-;=?-~]+")
_URL = re.compile(r"https?://[!#-+\--;=?-~]{1,900}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]+")


def clean(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return the text as one line that may stand in a header.

    Controls, line ends, bidi marks, zero-width and other invisible characters are removed, runs of space become one
    space, `=?` is split so that nobody's decoder takes it for an encoded word (RFC 2047), and what is longer than
    `limit` characters ends in an ellipsis. Cleaning twice changes nothing.
    """
    line = " ".join(_visible(text).split()).replace("=?", "= ?")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    # Line ends count as a space, or the words on either side would run together.
    spaced = "".join(" " if char in "\t\n\v\f\r\x85" or _category(char) in _SPACES else char for char in text)
    visible = "".join(char for char in spaced if _category(char) not in _DROPPED and char not in _INVISIBLE)
    return unicodedata.normalize("NFC", visible)


def clean_name(name: str) -> str:
    """Return the name as it may stand before an address: letters, marks, digits, spaces and `.'’-_&+`, at most 60."""
    allowed = "".join(
        char for char in clean(name, 10 * NAME_LIMIT) if char in _NAME_PUNCTUATION or _category(char)[0] in "LMN"
    )
    return " ".join(allowed[:NAME_LIMIT].split())


def _category(char: str) -> str:
    return unicodedata.category(char)


@lru_cache(maxsize=1024)
def address(name: str, spec: str) -> Address:
    """Return the cleaned name and the address as one value.

    `spec` is `local@domain` (RFC 5322 3.4.1 without quoted strings, comments and domain literals; letters outside ASCII
    as in RFC 6531). The domain comes out in ASCII. Raises `ValueError` for anything else, without repeating it.
    """
    local, at, domain = spec.rpartition("@")
    if not at or not _LOCAL.fullmatch(local) or not local.isprintable() or "=?" in local:
        raise ValueError("not an address that can be written to")
    if len(local.encode()) > 64:
        raise ValueError("an address with more than 64 octets before the @ sign")
    return Address(display_name=clean_name(name), username=local, domain=_ascii_domain(domain))


def _ascii_domain(domain: str) -> str:
    try:
        plain = domain if domain.isascii() or len(domain) > 253 else domain.encode("idna").decode("ascii")
    except UnicodeError:
        plain = ""
    if len(plain) > 253 or not all(_LABEL.fullmatch(label) for label in plain.split(".")):
        raise ValueError("not a domain that can be written to")
    return plain


def address_text(header: str, value: Address) -> str:
    """Return the address as the text of the named header, words that may be parted divided by spaces."""
    if not value.display_name or value.display_name.isascii():
        return str(value) if value.display_name else value.addr_spec
    return f"{_encoded(header, value.display_name)} <{value.addr_spec}>"


def free_text(header: str, text: str) -> str:
    """Return cleaned text as the text of the named header: as it is, or in encoded words (RFC 2047)."""
    # A word too long for a line can only be broken inside an encoded word.
    room = LINE - len(header) - len(": ")
    if text.isascii() and all(len(word) <= room for word in text.split()):
        return text
    return _encoded(header, text)


def _encoded(header: str, text: str) -> str:
    # 76: RFC 2047 2, the limit of a line that holds an encoded word.
    return " ".join(Header(text, "utf-8", maxlinelen=76, header_name=header).encode().split())


def own_id(bare: str) -> str:
    """Return one of our message ids in angle brackets. Raises `ValueError` if it is malformed or over 60 characters."""
    if len(bare) > MESSAGE_ID_LIMIT or not _OWN_ID.fullmatch(bare) or "=?" in bare:
        raise ValueError("a message id must be plain and at most 60 characters long")
    return f"<{bare}>"


def thread_ids(bare: Iterable[str]) -> list[str]:
    """Return the usable ids in angle brackets: each once, the first and the last ten (RFC 5322 3.6.4).

    An id may be somebody else's. One that cannot be repeated to the letter is left out, for a changed id threads
    nothing.
    """
    usable = [one for one in dict.fromkeys(bare) if len(one) <= FOREIGN_ID_LIMIT and _FOREIGN_ID.fullmatch(one)]
    ids = [f"<{one}>" for one in usable if "=?" not in one]
    return ids if len(ids) <= 11 else [ids[0], *ids[-10:]]


def token(text: str) -> str:
    """Return the text if it may be a part of an address of ours. Raises `ValueError` otherwise."""
    if not _TOKEN.fullmatch(text):
        raise ValueError("a token must consist of letters, digits, _ and -")
    return text


def web_address(url: str) -> str:
    """Return the address in angle brackets. Raises `ValueError` unless it is http or https, ASCII and unambiguous."""
    if not _URL.fullmatch(url) or "=?" in url:
        raise ValueError("not a web address that can be sent in a header")
    return f"<{url}>"


def fold(name: str, value: str) -> str:
    """Return the header with its line ends, broken only at the spaces of `value` (RFC 5322 2.2.3).

    The value is written as it is: nothing is decoded, encoded or guessed, as the standard library does with what it
    takes for prose. The first word stays beside the name, because some readers lose a header that begins with an empty
    line. Raises `ValueError` if there are controls or line ends in it, or a word that cannot be sent unbroken.
    """
    if not value.isprintable():
        raise ValueError(f"the header {name} has characters that cannot be sent")
    lines: list[str] = []
    line = f"{name}:"
    for number, word in enumerate(value.split()):
        if number and len(line) + 1 + len(word) > LINE:
            lines.append(line)
            line = ""
        line += f" {word}"
    lines.append(line)
    if any(len(one.encode()) > HARD_LINE for one in lines):
        raise ValueError(f"the header {name} has a word too long to be sent")
    return "".join(f"{one}\r\n" for one in lines)

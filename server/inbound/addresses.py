"""Addresses in the headers of a mail: the one it is from, strictly, and those it went to, leniently."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

from server.inbound.decoding import line_of, words_of

NAME_LIMIT: Final = 60
MOST_RECIPIENTS: Final = 20
MOST_CANDIDATES: Final = 200

# RFC 5322 3.4 for exactly one mailbox: a name and an address in angle brackets, or the address alone, with one simple
# comment. The quantifiers are possessive and what they repeat is told apart by its first character: nothing is tried
# twice.
_NAMED: Final = re.compile(
    r"""\s*+((?:"(?:[^"\\]|\\.)*+"|\([^()\\]*+\)|[^"<>(),;:@\\\[\]]++)*+)<([^<>\s"(),;:\\\[\]]++)>\s*+(?:\([^()\\]*+\))?\s*+"""
)
_BARE: Final = re.compile(r"""\s*+([^<>\s"(),;:\\\[\]]++)\s*+(?:\(([^()\\]*+)\))?\s*+""")
_ATOM: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u0080-\U0010ffff]+")
_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_DELIMITERS: Final = str.maketrans(dict.fromkeys('<>,;:"()[]\\', " "))


def sender(value: str) -> tuple[str, str]:
    """Return the address and the name of a From header; both are empty unless it is exactly one sound mailbox."""
    if found := _NAMED.fullmatch(value):
        name, text = found[1], found[2]
    elif found := _BARE.fullmatch(value):
        name, text = found[2] or "", found[1]
    else:
        return "", ""
    if not (spec := spec_of(text)):
        return "", ""
    plain = re.sub(r"\\(.)", r"\1", name.replace('\\"', "\0").replace('"', "").replace("\0", '"'))
    return spec, line_of(words_of(plain), NAME_LIMIT)


def spec_of(text: str) -> str:
    """Return `local@domain` with the domain in small ASCII letters, "" if the text is no such address.

    The local part is a dot-atom and stays as written; letters outside ASCII may stand on both sides (RFC 6531).
    """
    local, at, domain = text.rpartition("@")
    if not at or len(text) > 254 or len(local.encode("utf-8", "replace")) > 64 or not local.isprintable():
        return ""
    try:
        plain = (domain if domain.isascii() else domain.encode("idna").decode("ascii")).lower()
    except UnicodeError:
        return ""
    sound = all(_ATOM.fullmatch(atom) for atom in local.split(".")) and all(map(_LABEL.fullmatch, plain.split(".")))
    return f"{local}@{plain}" if sound else ""


def recipients(values: Iterable[str]) -> tuple[str, ...]:
    """Return the addresses that stand in the values, each once, at most `MOST_RECIPIENTS`."""
    words = (word.strip("'") for value in values for word in value.translate(_DELIMITERS).split() if "@" in word)
    specs = map(spec_of, islice(words, MOST_CANDIDATES))
    return tuple(dict.fromkeys(filter(None, specs)))[:MOST_RECIPIENTS]

"""Bytes of a mail to text: character sets as they are really used, encoded words, and what may never come through."""

from __future__ import annotations

import binascii
import re
import unicodedata
from encodings.aliases import aliases
from typing import Final

# What the standard library has under another name, or what readers agree to read as something wider.
_READ_AS: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "latin_1": "cp1252",
    "ascii": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_8_i": "iso8859_8",
    "iso_8859_8_i": "iso8859_8",
    "x_sjis": "cp932",
    "koi8_u": "koi8_u",
    "utf_8_sig": "utf_8_sig",
}
_KNOWN: Final = frozenset(aliases.values())
# Names that a mail may give beyond the aliases would have Python look for a module of that name.
_LONGEST_NAME: Final = 40
_LINE_ENDS: Final = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
# Controls, lone surrogates and what the standard calls no character; the line end and the tab stay.
_UNWANTED: Final = dict.fromkeys(
    {*range(32), *range(127, 160), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF} - set(map(ord, "\t\n"))
)
_WORD: Final = re.compile(r"=\?([^?\s*]{1,40})(?:\*[^?\s]{0,40})?\?([bBqQ])\?([^?]*+)\?=")


def text_of(data: bytes, charset: str) -> str:
    """Return the bytes as text with `\\n` line ends and without controls; a wrong or unknown charset is no error."""
    return tidy(_decoded(data, charset))


def tidy(text: str) -> str:
    """Return the text with `\\n` line ends, without other controls and without what cannot be written as UTF-8."""
    return _LINE_ENDS.sub("\n", text).translate(_UNWANTED)


def _decoded(data: bytes, charset: str) -> str:
    name = _codec(charset)
    one_byte = name.startswith(("cp125", "iso8859", "koi8", "mac_"))
    # Bytes outside ASCII that happen to be sound UTF-8 are UTF-8, whatever an old program calls them.
    guesses = ("utf_8", name, "cp1252") if one_byte or not name else (name, "utf_8", "cp1252")
    for guess in filter(None, guesses):
        try:
            return data.decode(guess)
        except (UnicodeError, LookupError):
            continue
    return data.decode("cp1252", "replace")


def _codec(charset: str) -> str:
    """Return the name of Python's codec for a charset, "" if there is none that makes text."""
    key = re.sub(r"[^a-z0-9]+", "_", charset[:_LONGEST_NAME].casefold()).strip("_")
    found = aliases.get(key, key)
    found = _READ_AS.get(found, found)
    return found if found in _KNOWN or found in _READ_AS.values() else ""


def from_base64(data: bytes) -> bytes:
    """Return what base64 text says; what is no base64 is passed over, an unfinished end is left out."""
    plain = b"".join(re.findall(rb"[A-Za-z0-9+/]+", data))
    whole = plain[: len(plain) - 1] if len(plain) % 4 == 1 else plain
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))


def from_quoted_printable(data: bytes) -> bytes:
    """Return what quoted-printable text says; what is none stands for itself."""
    return binascii.a2b_qp(data)


def words_of(value: str) -> str:
    """Return a header's value with its encoded words (RFC 2047) decoded, whatever is wrong with them."""
    text: list[str] = []
    waiting, charset, place = b"", "", 0
    for word in _WORD.finditer(value):
        between = value[place : word.start()]
        named = word[1].casefold()
        # A letter may be cut in two between words, so the bytes are joined before they are decoded.
        if between.strip() or named != charset:
            text.append(text_of(waiting, charset))
            waiting = b""
        if between.strip() or not place:
            text.append(between)
        content = word[3].encode("utf-8", "replace")
        waiting += from_base64(content) if word[2] in "bB" else binascii.a2b_qp(content, header=True)
        charset, place = named, word.end()
    return tidy("".join([*text, text_of(waiting, charset), value[place:]]))


def line_of(text: str, limit: int) -> str:
    """Return the text as one line of at most `limit` characters, without what is not seen."""
    spaced = " ".join(text[: 20 * limit].split())
    return "".join(sign for sign in spaced if unicodedata.category(sign)[0] != "C")[:limit].strip()

"""Whether our own mail server found that a sender is who he says: Authentication-Results. Source: RFC 8601."""

from __future__ import annotations

from collections.abc import Iterator

from server.inbound.parse import Letter


def proven(letter: Letter, judge: str) -> bool:
    """Whether the topmost Authentication-Results is the judge's, and says that the mail is from the sender's domain.

    Whoever sends a mail can put in others below it. A word on DMARC decides; without one, a signature (DKIM) or an
    envelope (SPF) that passed must be of the sender's own domain or one above it.
    """
    value = next((value for name, value in letter.headers if name == "authentication-results"), "")
    first, *results = [part.casefold().split() for part in _parts(value)] or [[]]
    if first[:1] != [judge]:
        return False
    domain = letter.sender.rpartition("@")[2].casefold()
    said = [(words[0], dict(_properties(words))) for words in results if words]
    dmarc = [(verdict, given) for verdict, given in said if verdict.startswith("dmarc=")]
    if dmarc:
        return any(verdict == "dmarc=pass" and given.get("header.from", domain) == domain for verdict, given in dmarc)
    return any(_passed(verdict, given, domain) for verdict, given in said)


def _passed(verdict: str, given: dict[str, str], domain: str) -> bool:
    if verdict == "dkim=pass":
        return _above(given.get("header.d") or given.get("header.i", ""), domain)
    return verdict == "spf=pass" and _above(given.get("smtp.mailfrom", ""), domain)


def _above(address: str, domain: str) -> bool:
    """Whether the domain of an address is this one or one above it; a single label is above too many."""
    found = address.rpartition("@")[2].strip(".")
    return found == domain or ("." in found and domain.endswith(f".{found}"))


def _properties(words: list[str]) -> Iterator[tuple[str, str]]:
    for word in words[1:]:
        name, found, value = word.partition("=")
        if found:
            yield name, value


def _parts(value: str) -> list[str]:
    """Return what stands between semicolons, comments left out; a quoted text is kept as one word without its marks."""
    parts: list[str] = []
    word: list[str] = []
    depth, quoted, escaped = 0, False, False
    for sign in value:
        if escaped:
            escaped = False
            sign = "_"  # whatever it is, it is no sign of ours
        elif sign == "\\":
            escaped = True
            continue
        elif sign == '"' and not depth:
            quoted = not quoted
            continue
        elif not quoted and sign in "()":
            depth = max(0, depth + (1 if sign == "(" else -1))
            sign = " "
        elif quoted and (sign.isspace() or sign in ";="):
            sign = "_"
        if depth:
            continue
        if sign == ";" and not quoted:
            parts.append("".join(word))
            word = []
        else:
            word.append(sign)
    return [*parts, "".join(word)]

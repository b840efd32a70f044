"""The player's own lines of an answer: what stands above, below and between what he quotes of us.

Everything is read from front to back, and nothing is searched for in the rest of the mail more than a fixed number of
times, so that no text costs more than its length.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from server.inbound import headings, quotes
from server.inbound.headings import Page
from server.inbound.quotes import MARKER, Line

__all__ = ["MARKER", "own_lines"]

# No person writes or quotes more; what a machine put below is not looked at.
MOST_LINES: Final = 20_000

_UNSEEN: Final = dict.fromkeys(
    (0xAD, 0x61C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF)
)
_SPACES: Final = dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
_REPLACED: Final = _SPACES | _UNSEEN
_PGP_BEGINS: Final = "-----BEGIN PGP SIGNED MESSAGE-----"
_PGP_ENDS: Final = ("-----BEGIN PGP SIGNATURE-----", "-----END PGP")


def own_lines(text: str, names: Collection[str] = ("Clachan",)) -> list[str]:
    """Return the lines of a mail's text that the player wrote himself, stripped, empty ones left out.

    `names` are what our mails call their sender. Left out are what is quoted, be it marked or not, the sentences and
    headers that announce a quotation, what stands below `MARKER`, and the signature. In doubt a line is left out: a
    move that is asked for again does less harm than a line of ours taken for a move.
    """
    return _own(_unsigned(_lines(text)), tuple(name.casefold() for name in names if name))


def _lines(text: str) -> list[Line]:
    lines: list[Line] = []
    gap = True
    for raw in text.translate(_REPLACED).split("\n"):
        depth, words = quotes.quoted(raw)
        if words:
            lines.append(Line(depth, gap, words))
        gap = not words
        if len(lines) == MOST_LINES:
            break
    return lines


def _unsigned(lines: list[Line]) -> list[Line]:
    """Return the lines without the armour of a signature around them."""
    if not lines or lines[0].text != _PGP_BEGINS:
        return lines
    start = next((place for place in range(1, len(lines)) if lines[place].gap), len(lines))
    ends = (place for place in range(start, len(lines)) if lines[place].text.startswith(_PGP_ENDS))
    # A line that begins with a dash is given another one in front (RFC 4880 7.1).
    return [line._replace(text=line.text.removeprefix("- ")) for line in lines[start : next(ends, len(lines))]]


def _own(lines: list[Line], names: tuple[str, ...]) -> list[str]:
    """Return the player's lines among these."""
    page = Page(lines, names)
    own: list[tuple[int, str]] = []
    place = 0
    quoted_before = False
    while place < len(lines):
        line = lines[place]
        if line.depth:
            _cut(own, headings.start_of(page, place, quoted_before))
            end = next((end for end in range(place, len(lines)) if not lines[end].depth), len(lines))
            own += [(place, text) for text in _above_marker(lines[place:end], names)]
            place, quoted_before = end, True
        elif quotes.is_signature(line.text):
            break
        elif found := headings.announced(page, place):
            start, place = found
            _cut(own, start)
            if not page.answer_follows(place):
                break
        else:
            if not quotes.is_rule(line.text):
                own.append((place, line.text))
            place += 1
    return [text for _, text in own]


def _cut(own: list[tuple[int, str]], start: int) -> None:
    while own and own[-1][0] >= start:
        own.pop()


def _above_marker(block: Sequence[Line], names: tuple[str, ...]) -> list[str]:
    """Return what the player wrote into a quotation, above the line that asks him to."""
    marker = next((place for place, line in enumerate(block) if quotes.is_marker(line.text)), 0)
    # Where the line stands at the end of our mail, what is above it is ours.
    below = len(block) - marker - 1
    if not 0 < marker <= below or any(quotes.is_opening(line.text) for line in block[:marker]):
        return []
    least = min(line.depth for line in block)
    return _own([line._replace(depth=line.depth - least) for line in block], names)

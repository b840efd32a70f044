"""Where in an answer a quotation is announced: by a sentence with who and when, or by the headers of a mail."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from server.inbound import quotes
from server.inbound.quotes import NOTHING, Line, Signs

# Lines of a sentence; lines of a block of headers, and how many of them must be headers.
SENTENCE_LINES: Final = 5
BLOCK_LINES: Final = 8
BLOCK_HEADERS: Final = 3
# A program breaks no line that is shorter; a player's move stands on one that is.
SHORTEST_BROKEN: Final = 30


class Page:
    """The lines of a text, `names` that are ours in `casefold` form, and what the lines are, each looked at once."""

    def __init__(self, lines: list[Line], names: tuple[str, ...]) -> None:
        self.lines, self.names = lines, names
        self.markers: list[int] = []
        self.openings: list[int] = []
        self.headers = [False] * len(lines)
        self.last_quoted = -1
        self._edges: set[int] = set()
        self._signs: list[Signs | None] = [None] * len(lines)
        for place, line in enumerate(lines):
            if line.depth:
                self.last_quoted = place
            elif quotes.is_marker(line.text):
                self.markers.append(place)
            elif quotes.is_opening(line.text):
                self.openings.append(place)
            else:
                self.headers[place] = quotes.is_header(line.text)
        self._edges.update(self.markers, self.openings)

    def signs(self, place: int) -> Signs:
        """Return what a line mentions; table talk and what is quoted mention nothing."""
        known = self._signs[place]
        if known is None:
            line = self.lines[place]
            known = NOTHING if line.depth or quotes.says(line.text) else quotes.signs(line.text, self.names)
            self._signs[place] = known
        return known

    def is_ours(self, place: int) -> bool:
        """Whether a mail of ours begins or ends with this line."""
        return place in self._edges

    def original_follows(self, place: int) -> bool:
        """Whether a mail of ours stands somewhere below without a mark of quotation."""
        return max(self.markers[-1:] + self.openings[-1:], default=-1) >= place

    def answer_follows(self, place: int) -> bool:
        """Whether what stands below an announcement is the player's: he wrote between it and what it announces."""
        first = bisect_left(self.markers, place)
        if first == len(self.markers):
            return self.last_quoted > place and not self.original_follows(place)
        marker = self.markers[first]
        # Where the marker stands at the end of our mail, what is above it is ours.
        opened = bisect_left(self.openings, place) < bisect_left(self.openings, marker)
        return not opened and marker - place < len(self.lines) - marker


def announced(page: Page, place: int) -> tuple[int, int] | None:
    """Return where an announcement that has its first sign in this line starts and ends; None if it has none.

    What is announced is not marked as quoted; of what is, `start_of` tells. If the line is one of our mail already, all
    that is left belongs to it.
    """
    if page.is_ours(place):
        return start_of(page, place), len(page.lines)
    if end := _block_end(page, place):
        return _introduction(page, start_of(page, place)), end
    signs = page.signs(place)
    return _sentence(page, place) if signs.ours or signs.named or signs.mail else None


def start_of(page: Page, end: int, quoted_before: bool = False) -> int:
    """Return where the sentence that ends before line `end` starts, with the rules above it; `end` if there is none.

    Below another quotation only our address makes a sentence one of these: there the player answers.
    """
    start, signs = end, NOTHING
    for place in range(end - 1, max(end - 1 - SENTENCE_LINES, -1), -1):
        line = page.lines[place]
        one = page.signs(place)
        last = place == end - 1
        if one is NOTHING or (quoted_before and not one.ours) or (one.colon and not last):
            break
        signs = one if last else one.then(signs)
        if signs.announces:
            start = _first_line(page, place, end, signs)
            break
        if line.gap:
            break
    while start and not page.lines[start - 1].depth and _divides(page.lines[start - 1].text):
        start -= 1
    return start


def _divides(text: str) -> bool:
    return quotes.is_rule(text) or quotes.is_title(text)


def _first_line(page: Page, start: int, end: int, signs: Signs) -> int:
    """Return where a sentence starts that a program broke into lines, given its end and what is found of it."""
    while start and not page.lines[start].gap and end - start < SENTENCE_LINES:
        before = page.signs(start - 1)
        if before is NOTHING or before.colon or not _goes_on(page, start, end, signs):
            break
        start -= 1
        signs = before.then(signs)
    return start


def _goes_on(page: Page, start: int, end: int, signs: Signs) -> bool:
    """Whether the line before `start` belongs to the sentence that stands from there to `end`."""
    text, before = page.lines[start - 1].text, page.signs(start - 1)
    # A name, and on the next line the address that goes with it.
    if quotes.breaks_off(text) or quotes.in_brackets(page.lines[start].text):
        return True
    who = signs.ours or signs.named
    if end - start == 1 and signs.day and signs.hour and (who or signs.mail):
        return False
    if (before.ours or before.named) and not who:
        return True
    full = len(text) >= SHORTEST_BROKEN or (before.day and before.hour)
    return full and quotes.wrapped([line.text for line in page.lines[start - 1 : end]])


def _sentence(page: Page, place: int) -> tuple[int, int] | None:
    """Return start and end of a sentence with a name or address here that announces what is not marked."""
    end = place + 1
    for last in range(place, min(place + SENTENCE_LINES, len(page.lines))):
        if page.lines[last].depth or (last > place and page.lines[last].gap):
            break
        if page.signs(last).colon:
            end = last + 1
            break
    first = place
    while first and not page.lines[first].gap and end - first < SENTENCE_LINES:
        first -= 1
    signs = page.signs(first)
    for near in range(first + 1, end):
        signs = signs.then(page.signs(near))
    follows = page.original_follows(end)
    if any(page.signs(near).ours for near in range(place, end)):
        likely = signs.when or signs.colon or follows
    else:
        complete = signs.named and signs.day and signs.hour
        likely = signs.when and signs.colon and (follows or complete or page.last_quoted > end)
    if not likely or (end < len(page.lines) and page.lines[end].depth):
        return None
    return min(place, start_of(page, end)), end


def _block_end(page: Page, place: int) -> int:
    """Return where a block of mail headers that starts here ends, 0 if there is none."""
    lines = page.lines
    titled = not page.headers[place] and quotes.is_title(lines[place].text)
    first = place + titled
    if first == len(lines) or not page.headers[first]:
        return 0
    count, end = 0, first
    for number in range(first, min(first + BLOCK_LINES, len(lines))):
        # A long value may go on in a second line.
        if lines[number].depth or number > end + 1 or page.is_ours(number):
            break
        if page.headers[number]:
            count, end = count + 1, number + 1
    if count < BLOCK_HEADERS - 1 and not titled:
        return 0
    signs = [page.signs(number) for number in range(first, end)]
    ours = any(one.ours for one in signs)
    mentioned = ours or any(one.named or one.mail for one in signs)
    enough = count >= BLOCK_HEADERS or titled or (ours and any(one.when for one in signs))
    # What stands alone above the block and has none of the signs is the player's.
    alone = first + 1 < len(lines) and lines[first + 1].gap and not any(signs[0])
    return end if mentioned and enough and not alone else 0


def _introduction(page: Page, start: int) -> int:
    """Return where what is above a block of headers starts: "Begin forwarded message:", in any language."""
    return start - 1 if start and page.signs(start - 1).colon else start

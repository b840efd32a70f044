"""HTML of a mail to text whose quotations begin with `> `, read once from front to back."""

from __future__ import annotations

import html
import re
from typing import Final

# Lines deeper inside than this are as deep as this: what counts is that they are quoted.
DEEPEST: Final = 4
RULE: Final = "_" * 32

_RAW: Final = frozenset({"script", "style", "title", "textarea", "template", "xmp"})
_BOXES: Final = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "footer",
        "form",
        "header",
    }
    | {"main", "nav", "ol", "pre", "section", "table", "tbody", "td", "th", "tr", "ul"}
)
_APART: Final = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "body", "html", "caption"})
_CELLS: Final = frozenset({"td", "th"})
# Boxes that hold the sentence above a quotation, or the quotation itself.
_QUOTING: Final = ("yahoo_quoted", "moz-cite-prefix", 'name="quote"')
# Empty boxes, or boxes of the quoted mail's headers, that Outlook puts before everything it quotes.
_FROM_HERE: Final = (
    "divrplyfwdmsg",
    "appendonsend",
    "mail-editor-reference-message-container",
    "ms-outlook-mobile-body-separator-line",
)
_BAR: Final = re.compile(r"border-left:(?!none|0)[^;\"'>]{0,60}(?:solid|dashed|dotted|double)")
_TAG: Final = re.compile(r"</?([a-zA-Z][a-zA-Z0-9:_-]{0,40})")
_STOP: Final = re.compile("[>\"']")
_ENTITY: Final = re.compile(
    r"&(?:#[0-9]{1,7}(?![0-9])|#[xX][0-9a-fA-F]{1,6}(?![0-9a-fA-F])|[a-zA-Z][a-zA-Z0-9]{1,30});?"
)
# The longest beginning of a tag that is looked at; an inlined picture is longer.
_LOOKED_AT: Final = 1000


def text(source: str) -> str:
    """Return what a reader of the page sees, a line for a line; quoted boxes are marked with `> ` for each depth."""
    page, place, end = _Page(), 0, len(source)
    while place < end:
        opened = source.find("<", place)
        if opened < 0:
            opened = end
        if opened > place:
            page.words(_ENTITY.sub(_sign, source[place:opened]))
        place = _markup(source, opened, page) if opened < end else end
    return page.finished()


def _sign(entity: re.Match[str]) -> str:
    return html.unescape(entity[0])


def _markup(source: str, place: int, page: _Page) -> int:
    """Tell the page of the markup at `place` and return where it ends; what is never closed takes all the rest."""
    if source.startswith("<!--", place):
        return _behind(source, "-->", place + 2)
    if source.startswith(("<!", "<?"), place):
        return _behind(source, ">", place)
    found = _TAG.match(source, place)
    if not found:
        page.words("<")
        return place + 1
    name, after = found[1].casefold(), _tag_end(source, found.end())
    if source[place + 1] == "/":
        page.close(name)
    elif name in _RAW:
        closed = re.compile(f"</{name}", re.IGNORECASE).search(source, after)
        return _behind(source, ">", closed.start()) if closed else len(source)
    else:
        page.open(name, "".join(source[place : min(after, place + _LOOKED_AT)].split()).casefold())
    return after


def _behind(source: str, what: str, place: int) -> int:
    found = source.find(what, place)
    return found + len(what) if found >= 0 else len(source)


def _tag_end(source: str, place: int) -> int:
    """Return the place behind a tag; a `>` between quotation marks that are closed does not end it."""
    while found := _STOP.search(source, place):
        place = found.end()
        if found[0] == ">":
            return place
        if source[found.start() - 1] == "=":
            closed = source.find(found[0], place)
            if closed < 0:
                return _behind(source, ">", place)
            place = closed + 1
    return len(source)


class _Page:
    """The lines so far and the boxes that are open."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line: list[str] = []
        self.boxes: list[tuple[str, bool]] = []
        self.opened: dict[str, int] = {}
        self.depth = 0
        self.item = False

    def words(self, words: str) -> None:
        """Go on with the line."""
        if not self.opened.get("pre"):
            self.line.append(words)
            return
        first, *more = words.split("\n")
        self.line.append(first)
        for line in more:
            self.end_line()
            self.line.append(line)

    def end_line(self, *, gap: bool = False) -> None:
        """Finish the line; with nothing on it this leaves a line empty if `gap`, but never two."""
        line = " ".join("".join(self.line).split())
        self.line.clear()
        quote = "> " * min(self.depth, DEEPEST)
        if line:
            self.lines.append(f"{quote}{'- ' * self.item}{line}")
            self.item = False
        elif gap and self.lines and self.lines[-1] != quote:
            self.lines.append(quote)

    def open(self, name: str, tag: str) -> None:
        """Begin what the tag begins; `tag` is all of it in small letters without spaces."""
        if name == "br":
            self.end_line(gap=True)
        elif name == "hr":
            self._rule()
        elif name in _APART:
            self.end_line(gap=name == "p")
            self.item = self.item or name == "li"
        elif name in _BOXES:
            self._box(name, tag)

    def _box(self, name: str, tag: str) -> None:
        if name in _CELLS:
            self.words(" ")
        else:
            self.end_line()
        if any(sign in tag for sign in _FROM_HERE):
            self._rule()
            self.depth += 1
        if "border-top:solid" in tag:
            self._rule()
        quoting = _is_quoting(name, tag)
        if quoting:
            self.end_line(gap=True)
        self.depth += quoting
        self.boxes.append((name, quoting))
        self.opened[name] = self.opened.get(name, 0) + 1

    def _rule(self) -> None:
        self.end_line()
        self.line.append(RULE)
        self.end_line()

    def close(self, name: str) -> None:
        """End what the tag ends, and the boxes within that were left open."""
        if name in _APART:
            self.end_line(gap=name == "p")
            self.item = self.item and name != "li"
        if name not in _BOXES or not self.opened.get(name):
            return
        if name not in _CELLS:
            self.end_line()
        last = ""
        while last != name:
            last, quoting = self.boxes.pop()
            self.opened[last] -= 1
            if quoting:
                self.end_line()
            self.depth -= quoting

    def finished(self) -> str:
        """Return all lines."""
        self.end_line()
        return "\n".join(self.lines)


def _is_quoting(name: str, tag: str) -> bool:
    if any(sign in tag for sign in _QUOTING) or _BAR.search(tag):
        return True
    # Some programs indent with a blockquote.
    return name == "blockquote" and ("border:none" not in tag or "cite" in tag)

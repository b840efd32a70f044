"""Takes the drawing of what lies on a board apart into pieces, so that each is made into a picture once.

A piece is a group that begins its transform with `translate(x y)`: wherever it stands it looks the same. A group that
says nothing of how it is drawn, and holds such pieces, is looked into; whatever stands between them is a piece that
stays where it is. So any drawing can be taken apart, and one made of placed pieces is drawn fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Final, NamedTuple

_FRAME: Final = re.compile(r' (?:width|height|viewBox|class|role|aria-label)="[^"]*"')
_TAG: Final = re.compile(r"<(/?)([A-Za-z]+)\b([^>]*?)(/?)>")
_ID: Final = re.compile(r'\bid="([^"]*)"')
_REFERENCE: Final = re.compile(r'href="#([^"]*)"|url\(#([^)]*)\)')
_GROUP: Final = re.compile(r"<(/?)g\b([^>]*?)(/?)>")
_PLACED: Final = re.compile(r' transform="translate\((-?[\d.]+)[ ,](-?[\d.]+)\) ?([^"]*)"')
# An element that may hold groups and is none.
_OTHER: Final = re.compile(r"<(?!/?(?:g|path|use|rect|circle|ellipse|line|polygon|polyline|text|tspan|title)\b)")
# What is longer is not thought to come again.
_LONGEST: Final = 2000
_AT: Final = ' transform="translate('
# Attributes that change nothing of how a group looks.
_SILENT: Final = re.compile(r' (?:data-[a-z-]+|aria-[a-z]+|class|id|role|tabindex|pointer-events)="[^"]*"')

# So many roots of drawings are remembered.
_ROOTS: Final = 64


class Piece(NamedTuple):
    """A part of a drawing, drawn around (0, 0) if it is `placed`, and where that lies, in units of the drawing."""

    text: str
    x: float
    y: float
    placed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Paper:
    """What all pieces of a drawing are drawn with: the start tag of its root without a size, and definitions by id.

    The same for drawings that have the same, so that it may stand for both.
    """

    root: str
    by_id: Mapping[str, str]


class Apart(NamedTuple):
    """A drawing taken apart: what its pieces are drawn with, and they in order, as they stand in it."""

    paper: Paper
    pieces: list[str]


_last: Final[dict[str, tuple[str, Paper]]] = {}


def take_apart(svg: str) -> Apart | None:
    """Return the parts of a drawing, None if it is one that is better drawn as a whole."""
    paper, body = _head(svg)
    end = len(svg) - len("</svg>")
    if _OTHER.search(svg, body, end):
        return None
    pieces = list(_pieces(svg[body:end]))
    return None if any(len(piece) > _LONGEST for piece in pieces) else Apart(paper, pieces)


def _head(svg: str) -> tuple[Paper, int]:
    """Return what all pieces of a drawing are drawn with, and where they begin."""
    start = svg.find(">") + 1
    close = svg.find("</defs>", start) if svg.startswith("<defs", start) else -1
    body = close + len("</defs>") if close >= 0 else start
    # Definitions are long, and nearly always those that the last drawing with this root had.
    root = svg[:start]
    last = _last.get(root)
    if last is None or not svg.startswith(last[0]) or len(last[0]) != body:
        definitions = svg[svg.find(">", start) + 1 : close] if close >= 0 else ""
        last = _last[root] = svg[:body], _paper(_FRAME.sub("", root), definitions)
        while len(_last) > _ROOTS:
            _last.pop(next(iter(_last)), None)
    return last[1], body


def drawing(paper: Paper, text: str, box: tuple[float, float, float, float]) -> str:
    """Return a piece as a document of its own, with what it refers to and no more; the box is left, top, wide, high."""
    seen = " ".join(f"{side:.4f}" for side in box)
    size = f'width="{box[2]:.4f}" height="{box[3]:.4f}" viewBox="{seen}"'
    return f"{paper.root[:-1]} {size}><defs>{_needed(text, paper.by_id)}</defs>{text}</svg>"


def samples(paper: Paper, step: float) -> str:
    """Return a document that shows each defined group, `step` units apart."""
    names = [name for name, drawn in paper.by_id.items() if drawn.startswith("<g")]
    columns = isqrt(len(names)) + 1
    shown = "".join(
        f'<use href="#{name}" x="{(n % columns + 0.5) * step}" y="{(n // columns + 0.5) * step}"/>'
        for n, name in enumerate(names)
    )
    return drawing(paper, f"<g>{shown}</g>", (0, 0, columns * step, columns * step))


@lru_cache(maxsize=4096)
def piece(text: str) -> Piece:
    """Return a part of a drawing as a piece whose text says no more than how it looks."""
    start = _GROUP.match(text)
    if start is None:
        return Piece(text, 0, 0, placed=False)
    tag, rest = _SILENT.sub("", start[0]), text[start.end() :]
    placed = _PLACED.search(tag)
    if placed is None:
        return Piece(tag + rest, 0, 0, placed=False)
    more = f' transform="{placed[3]}"' if placed[3] else ""
    tag = f"{tag[: placed.start()]}{more}{tag[placed.end() :]}"
    return Piece(tag + rest, float(placed[1]), float(placed[2]), placed=True)


def _pieces(body: str) -> Iterator[str]:
    groups = list(_GROUP.finditer(body))
    ends, opened = _structure(groups)
    at = n = 0
    while n < len(groups):
        group = groups[n]
        if between := body[at : group.start()]:
            yield between
        last = n if n in opened else ends.get(n, n)
        if last != n:
            yield body[group.start() : groups[last].end()]
        at, n = groups[last].end(), last + 1
    if at < len(body):
        yield body[at:]


def _structure(groups: list[re.Match[str]]) -> tuple[dict[int, int], set[int]]:
    """Return where each group ends, and which are to be looked into."""
    ends: dict[int, int] = {}
    holds: set[int] = set()
    opened: list[int] = []
    for n, group in enumerate(groups):
        if not group[1] and not group[3]:
            opened.append(n)
        elif group[1] and opened:
            start = opened.pop()
            ends[start] = n
            if opened and (start in holds or _AT in groups[start][2]):
                holds.add(opened[-1])
    return ends, {n for n in holds if not _SILENT.sub("", groups[n][2]).strip()}


@lru_cache(maxsize=32)
def _paper(root: str, definitions: str) -> Paper:
    return Paper(root, _by_id(definitions))


def _by_id(definitions: str) -> Mapping[str, str]:
    """Return the outermost elements of the definitions by their ids."""
    found: dict[str, str] = {}
    depth = start = 0
    name = ""
    for tag in _TAG.finditer(definitions):
        if not depth and not tag[1]:
            named = _ID.search(tag[3])
            name, start = named[1] if named else "", tag.start()
        depth += 0 if tag[4] else -1 if tag[1] else 1
        if not depth and name:
            found[name] = definitions[start : tag.end()]
    return found


def _needed(text: str, definitions: Mapping[str, str]) -> str:
    """Return the definitions that a text refers to, and those that they refer to."""
    found: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for one, other in _REFERENCE.findall(waiting.pop()):
            name = one or other
            if name in definitions and name not in found:
                found[name] = definitions[name]
                waiting.append(definitions[name])
    return "".join(found.values())

"""A part of a picture as a small document of its own: what lies outside it or is not seen is left out.

It reads the SVG that games draw: things stand where their `x` and `y`, or the `translate` of their group, say, and
outlines are lines of steps, `M... l...`. Whatever it cannot place is kept.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

Box = tuple[float, float, float, float]
"""Left, top, width and height in the units of the picture."""
Bounds = tuple[float, float, float, float]  # left, top, right, bottom

REACH: Final = 75.0
"""A drawing reaches at most so far from where it stands."""
NAMESPACE: Final = "http://www.w3.org/2000/svg"
EVERYWHERE: Final[Bounds] = (float("-inf"), float("-inf"), float("inf"), float("inf"))
_UNSEEN: Final = {"title", "desc"}
_LINE: Final = re.compile(r"M[-\d. ]+l[-\d. ]+z?")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?|-?\.\d+")
_TRANSLATE: Final = re.compile(r"translate\((-?[\d.]+) (-?[\d.]+)\)")
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")


def cut(picture: str, box: Box) -> str:
    """Return the SVG document of the part."""
    # Without its name space the names of elements are bare, and are written so again.
    root = ElementTree.fromstring(picture.replace(f' xmlns="{NAMESPACE}"', "", 1))  # noqa: S314 - our own drawing
    left, top, wide, high = box
    root.set("viewBox", " ".join(f"{value:g}" for value in box))
    root.set("width", f"{wide:g}")
    root.set("height", f"{high:g}")
    known = {found.get("id", ""): found for found in root.iter() if found.get("id")}
    _thin(root, (left, top, left + wide, top + high), known)
    _forget(root)
    return ElementTree.tostring(root, encoding="unicode").replace("<svg ", f'<svg xmlns="{NAMESPACE}" ', 1)


def _thin(parent: Element, seen: Bounds, known: dict[str, Element]) -> None:
    """Take out of the parent what is not seen."""
    for child in list(parent):
        if child.tag == "path":
            _shorten(child, seen)
        if child.tag == "defs":
            for drawing in child:
                _shorten(drawing, seen)
            continue
        bounds = _bounds(child, known)
        if child.tag in _UNSEEN or child.get("fill-opacity") == "0" or (bounds and not _meet(bounds, seen)):
            parent.remove(child)
        elif child.tag == "g":
            # Inside a group that is moved things have places of their own.
            _thin(child, EVERYWHERE if child.get("transform") else seen, known)
            if not len(child):
                parent.remove(child)


def _shorten(path: Element, seen: Bounds) -> None:
    """Take the lines out of a path of several that are not seen."""
    data = path.get("d", "")
    lines = _LINE.findall(data)
    if len(lines) > 1 and "".join(lines) == data:
        path.set("d", "".join(line for line in lines if _meet(_extent(line), seen)))


def _bounds(thing: Element, known: dict[str, Element]) -> Bounds | None:
    """Return within what a thing lies, None if that cannot be told."""
    target = known.get(thing.get("href", "")[1:])
    if target is not None and _LINE.fullmatch(target.get("d", "")):
        return _extent(target.get("d", ""))
    if thing.tag == "path" and _LINE.fullmatch(thing.get("d", "")):
        return _extent(thing.get("d", ""))
    moved = _TRANSLATE.match(thing.get("transform", ""))
    if moved:
        return _around(float(moved[1]), float(moved[2]))
    if thing.tag in {"use", "text"} and thing.get("x") and thing.get("y"):
        return _around(float(thing.get("x", "")), float(thing.get("y", "")))
    return None


def _extent(line: str) -> Bounds:
    """Return what a line of steps covers."""
    numbers = [float(found) for found in _NUMBER.findall(line)]
    across, down = list(accumulate(numbers[::2])), list(accumulate(numbers[1::2]))
    return min(across), min(down), max(across), max(down)


def _around(x: float, y: float) -> Bounds:
    return x - REACH, y - REACH, x + REACH, y + REACH


def _meet(one: Bounds, other: Bounds) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def _forget(root: Element) -> None:
    """Take out the definitions that nothing refers to any more."""
    definitions = {found.get("id", ""): found for part in root.iter("defs") for found in part}
    wanted: set[str] = set()
    ahead = [child for child in root if child.tag != "defs"]
    while ahead:
        for thing in ahead.pop().iter():
            named = {
                thing.get("href", "")[1:],
                *(n for value in thing.attrib.values() for n in _REFERENCE.findall(value)),
            }
            fresh = (named & set(definitions)) - wanted
            wanted |= fresh
            ahead += [definitions[name] for name in fresh]
    for part in root.iter("defs"):
        for found in list(part):
            if found.get("id") not in wanted:
                part.remove(found)

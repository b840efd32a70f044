"""A part of a picture as a small document of its own: what lies outside it or is not seen is left out.

It reads the SVG that games draw: things stand where their `x` and `y`, or the `translate` of their group, say, and
outlines are lines of steps, `M... l...`. Whatever it cannot place is kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
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
                _straighten(drawing, seen)
            continue
        bounds = _bounds(child, known)
        if child.tag in _UNSEEN or child.get("fill-opacity") == "0" or (bounds and not _meet(bounds, seen)):
            parent.remove(child)
        elif child.tag == "use" and child.get("x") and child.get("y"):
            child.set("x", f"{float(child.get('x', '')):.0f}")
            child.set("y", f"{float(child.get('y', '')):.0f}")
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
        kept = [line for line in lines if _meet(_extent(line), seen)]
        path.set("d", "".join(_line([(round(x), round(y)) for x, y in _points(line)], line[-1:]) for line in kept))


def _straighten(outline: Element, seen: Bounds) -> None:
    """Take the windings out of a closed outline where it is not seen: its far points are moved onto a frame around.

    The others are moved to whole numbers, which is no more than half a pixel of a picture on a page.
    """
    data = outline.get("d", "")
    if not _LINE.fullmatch(data) or not data.endswith("z"):
        return
    left, top = round(seen[0] - REACH), round(seen[1] - REACH)
    right, bottom = round(seen[2] + REACH), round(seen[3] + REACH)
    sides = {left, right}, {top, bottom}
    points: list[tuple[int, int]] = []
    for x, y in _points(data):
        point = round(min(max(x, left), right)), round(min(max(y, top), bottom))
        # Of several on the same side of the frame the first and the last are enough.
        last = points[-2:] if len(points) > 1 else ()
        if last and any({one[n] for one in last} == {point[n]} <= sides[n] for n in (0, 1)):
            points.pop()
        points.append(point)
    outline.set("d", _line(points, "z"))


def _line(points: Sequence[tuple[int, int]], end: str) -> str:
    """Return a line of steps through the points, closed if its end is a z."""
    steps = " ".join(f"{b[0] - a[0]} {b[1] - a[1]}" for a, b in pairwise(points)).replace(" -", "-")
    return f"M{points[0][0]} {points[0][1]}l{steps}{'z' if end == 'z' else ''}"


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
    across, down = zip(*_points(line), strict=True)
    return min(across), min(down), max(across), max(down)


def _points(line: str) -> list[tuple[float, float]]:
    """Return where a line of steps leads."""
    numbers = [float(found) for found in _NUMBER.findall(line)]
    return list(zip(accumulate(numbers[::2]), accumulate(numbers[1::2]), strict=True))


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

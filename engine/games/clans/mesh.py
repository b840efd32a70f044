"""Tells which corners, borders and shores the map of Clans must have, from the facts of the board alone.

Every inner face of the neighbour graph is either a triangle, which becomes a corner where three territories meet, or a
lake. The outer face is the sea. A border ends at a triangle's corner, at a lake or at the sea, so each border has two
ends; the pieces of shore between two such ends belong to one territory each. Nothing here knows a coordinate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from engine.games.clans.board import COAST, LAKES, NEIGHBOURS

SEA = -1
"""The face outside the land. Territories are faces 0 to 59, lake number n is face 60 + n."""


class Edge(NamedTuple):
    """A line of the map: the indices of its end corners, and the two faces it parts (the lower territory first)."""

    start: int
    end: int
    face: int
    other: int


class Mesh(NamedTuple):
    """The map without coordinates.

    `corners` holds the set of faces that meet at each corner; `edges` every line once; `rings` maps a face to its
    closed walk, as pairs of edge index and whether the edge is walked from start to end.
    """

    corners: tuple[frozenset[int], ...]
    edges: tuple[Edge, ...]
    rings: dict[int, tuple[tuple[int, bool], ...]]


@cache
def mesh() -> Mesh:
    """Build the mesh of the board."""
    corners = [frozenset(three) for three in _triangles()]
    for face, ring in _waters():
        corners += [frozenset((face, one, two)) for one, two in _pairs(ring)]
    at: dict[tuple[int, int], list[int]] = {}
    for index, meeting in enumerate(corners):
        for one, two in combinations(sorted(meeting), 2):
            pair = (one, two) if one >= 0 else (two, one)
            at.setdefault(pair, []).append(index)
    edges = tuple(Edge(ends[0], ends[1], *pair) for pair, ends in sorted(at.items()))
    faces = [*range(len(NEIGHBOURS)), *(face for face, _ in _waters())]
    return Mesh(tuple(corners), edges, {face: _walk(face, edges) for face in faces})


def _triangles() -> Iterable[tuple[int, int, int]]:
    """Yield the corners where three territories meet."""
    for one, near in enumerate(NEIGHBOURS):
        for two, three in combinations(sorted(near), 2):
            if one < two and three in NEIGHBOURS[two]:
                yield one, two, three


def _waters() -> list[tuple[int, Sequence[int]]]:
    """Return every lake and the sea as a face and the territories around it, in order."""
    return [*((len(NEIGHBOURS) + n, ring) for n, ring in enumerate(LAKES)), (SEA, COAST)]


def _pairs(ring: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Yield each two that follow each other in a ring."""
    return zip(ring, (*ring[1:], ring[0]), strict=True)


def _walk(face: int, edges: Sequence[Edge]) -> tuple[tuple[int, bool], ...]:
    """Return the closed walk of edges around a face, starting with its first edge."""
    left = [index for index, edge in enumerate(edges) if face in (edge.face, edge.other)]
    walk = [(left.pop(0), True)]
    here = edges[walk[0][0]].end
    while left:
        found = next(index for index in left if here in (edges[index].start, edges[index].end))
        left.remove(found)
        forward = edges[found].start == here
        walk.append((found, forward))
        here = edges[found].end if forward else edges[found].start
    return tuple(walk)

"""Finds where the corners of the map of Clans lie. Run `python -m engine.games.clans.layout` to write `shapes.py`.

The corners start around the labels of the board and are then pulled and pushed, as the cells of a foam are, until every
territory has the size it should have, is as round as its neighbours let it be, and no line is too short to be seen.
This takes about a second, so its result is kept in `shapes.py`; a test builds it afresh and compares. Nothing but the
four operations and square roots is used, which every machine rounds alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from engine.games.clans.board import LABEL, NEIGHBOURS, TERRITORIES
from engine.games.clans.curves import chance, lines, outline
from engine.games.clans.mesh import SEA, mesh
from engine.games.clans.room import Room, name_place, room

Point = tuple[float, float]
Vectors = list[list[float]]

WIDTH, HEIGHT = 1000, 1060
MARGIN = 44  # from the frame to the outermost capes
ROUND = 185  # how far the sea rounds the corners off the frame
ROUNDS = 900
LAND_AREA, LAKE_AREA = 12300.0, 3100.0
SHORTEST = 46.0
SLIM = 3.4  # how much more room a slim face gets, so that a hut fits there too
PULL, TIGHT, STRETCH, WALL = 3000.0, 90.0, 300.0, 0.5


def relaxed() -> list[Point]:
    """Return the place of each corner of the mesh, in the units of the picture."""
    places = _starting_places()
    rings = _corner_rings(places)
    for step in range(ROUNDS):
        forces = [[0.0, 0.0] for _ in places]
        for face, ring in rings.items():
            _press(ring, places, forces, _wanted(face))
        _stretch(places, forces)
        _keep_off_the_frame(places, forces)
        limit = 5.0 if step < ROUNDS // 2 else 2.5
        for place, force in zip(places, forces, strict=True):
            size = sqrt(force[0] ** 2 + force[1] ** 2)
            scale = limit / size if size > limit else 1.0
            place[0] += 0.6 * force[0] * scale
            place[1] += 0.6 * force[1] * scale
    return [(round(x, 1), round(y, 1)) for x, y in places]


def _starting_places() -> Vectors:
    """Return a first place for each corner: amid the labels around it, off the middle of its lake, or out at sea."""
    labels = [(60 + x * (WIDTH - 120) / 100, 60 + y * (HEIGHT - 120) / 100) for x, y in LABEL]
    around = {face: set().union(*(c for c in mesh().corners if face in c)) - {face} for face in mesh().rings}
    places: Vectors = []
    for faces in mesh().corners:
        land = [labels[face] for face in faces if 0 <= face < len(labels)]
        x, y = _mean(land)
        for face in faces:
            if face == SEA:
                x, y = x + (x - WIDTH / 2) * 0.12, y + (y - HEIGHT / 2) * 0.12
            elif face >= len(labels):
                middle = _mean([labels[near] for near in around[face] if near < len(labels)])
                x, y = 0.5 * (x + middle[0]), 0.5 * (y + middle[1])
        places.append([x, y])
    return places


def _wanted(face: int) -> float:
    """Return the area a territory or lake should get: more where many neighbours press. Nature is not even."""
    if face < len(NEIGHBOURS):
        return LAND_AREA * (0.63 + 0.055 * len(mesh().rings[face]) + 0.05 * chance(face, 3))
    return LAKE_AREA * (1 + 0.25 * chance(face))


def _mean(points: Sequence[Sequence[float]]) -> Point:
    return sum(p[0] for p in points) / len(points), sum(p[1] for p in points) / len(points)


def _corner_rings(places: Vectors) -> dict[int, list[int]]:
    """Return the corners around each face but the sea, so turned that the area counts positive."""
    edges = mesh().edges
    rings: dict[int, list[int]] = {}
    for face, walk in mesh().rings.items():
        if face == SEA:
            continue
        ring = [edges[edge].start if forward else edges[edge].end for edge, forward in walk]
        rings[face] = ring if _area(ring, places) > 0 else ring[::-1]
    return rings


def _area(ring: Sequence[int], places: Vectors) -> float:
    return (
        sum(
            places[a][0] * places[b][1] - places[b][0] * places[a][1]
            for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)
        )
        / 2
    )


def _press(ring: list[int], places: Vectors, forces: Vectors, wanted: float) -> None:
    """Add what a face does to its corners: swell or shrink towards the wanted area, draw its outline tight."""
    points = [places[corner] for corner in ring]
    count = len(ring)
    area = _area(ring, places)
    lengths = [
        sqrt((points[n][0] - points[n - 1][0]) ** 2 + (points[n][1] - points[n - 1][1]) ** 2) + 1e-9
        for n in range(count)
    ]
    around = sum(lengths)
    wanted *= 1 + SLIM * max(0.0, 0.85 - 12.57 * area / around**2)
    swell = PULL * (1 - area / wanted) / sqrt(wanted)
    draw = TIGHT * around / wanted
    for n, corner in enumerate(ring):
        before, here, after = points[n - 1], points[n], points[(n + 1) % count]
        to_before, to_after = lengths[n], lengths[(n + 1) % count]
        forces[corner][0] += swell * (after[1] - before[1]) / 100
        forces[corner][1] += swell * (before[0] - after[0]) / 100
        forces[corner][0] += draw * ((before[0] - here[0]) / to_before + (after[0] - here[0]) / to_after)
        forces[corner][1] += draw * ((before[1] - here[1]) / to_before + (after[1] - here[1]) / to_after)


def _stretch(places: Vectors, forces: Vectors) -> None:
    """Push the ends of lines apart that are too short to be seen."""
    for edge in mesh().edges:
        one, two = places[edge.start], places[edge.end]
        across, down = two[0] - one[0], two[1] - one[1]
        length = sqrt(across**2 + down**2) + 1e-9
        if length < SHORTEST:
            push = STRETCH * (1 - length / SHORTEST) / SHORTEST / length
            for end, sign in ((edge.start, -1), (edge.end, 1)):
                forces[end][0] += sign * push * across
                forces[end][1] += sign * push * down


def _keep_off_the_frame(places: Vectors, forces: Vectors) -> None:
    """Push corners back that come too near the frame or its rounded corners; how near is too near varies: bays."""
    for n, (faces, place) in enumerate(zip(mesh().corners, places, strict=True)):
        margin = MARGIN + (14 + 16 * chance(n, 5) if SEA in faces else 0)
        x = min(max(place[0], margin), WIDTH - margin)
        y = min(max(place[1], margin), HEIGHT - margin)
        inner_x = min(max(x, margin + ROUND), WIDTH - margin - ROUND)
        inner_y = min(max(y, margin + ROUND), HEIGHT - margin - ROUND)
        reach = sqrt((x - inner_x) ** 2 + (y - inner_y) ** 2)
        if reach > ROUND:
            x, y = inner_x + (x - inner_x) * ROUND / reach, inner_y + (y - inner_y) * ROUND / reach
        forces[n][0] += WALL * (x - place[0])
        forces[n][1] += WALL * (y - place[1])


def written() -> str:
    """Return the text of `shapes.py`: the corners, and the room in each territory."""
    corners = relaxed()
    drawn = lines(corners)
    outlines = [outline(face, drawn) for face in range(len(NEIGHBOURS))]
    names = [name_place(shape) for shape in outlines]
    rooms = [room(shape, name, names) for shape, name in zip(outlines, names, strict=True)]
    return "".join(
        (
            '"""Where the corners of the map lie and what fits where. Written by `engine.games.clans.layout`."""\n\n',
            "# ruff: noqa: E501\n# fmt: off\n",
            "CORNERS: tuple[tuple[float, float], ...] = (\n",
            *(f"    {corner},\n" for corner in corners),
            ")\n\n",
            "# For each territory: its middle, the places of its name and of a village's board, then the size and the\n"
            "# places of 1 to 5 huts, twice: without that board and with it.\n",
            "ROOMS = (\n",
            *(f"    {_bare(found)},  # {name}\n" for name, found in zip(TERRITORIES, rooms, strict=True)),
            ")\n",
        )
    )


def _bare(found: Room) -> str:
    """Write a room as one plain tuple."""
    return repr((*found[:3], tuple(map(tuple, found.huts)), tuple(map(tuple, found.village))))


if __name__ == "__main__":
    Path(__file__).with_name("shapes.py").write_text(written(), encoding="utf-8")

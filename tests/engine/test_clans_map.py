"""The map of Clans: its shapes keep the board's facts, and its picture is a document that a strict page may show."""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.base import View
from engine.games.clans import geometry, layout, map_art, shapes
from engine.games.clans.board import CLANS, COAST, LAKES, NEIGHBOURS, TERRITORIES
from engine.games.clans.curves import Line
from engine.games.clans.picture import definitions, land, picture, pieces, territories

SVG = "{http://www.w3.org/2000/svg}"
Segment = frozenset[tuple[float, float]]


def view(
    huts: dict[str, list[int]], *villages: tuple[str, int, int], moves: tuple[str, ...] = (), **more: object
) -> View:
    told = [{"territory": t, "epoch": e, "founder": 0, "value": v, "clans": []} for t, e, v in villages]
    table = {"huts": huts, "villages": told, "epoch": 1, "chips": [0, 0], "own_clan": None, "clans": None, **more}
    return View("clans", 2, None, (0,), moves, None, table)


def one_hut_each() -> View:
    return view({name: [int(n % 5 == clan) for clan in range(5)] for n, name in enumerate(TERRITORIES)})


def crowded() -> View:
    huts = {name: [12, 12, 12, 12, 12] for name in TERRITORIES}
    return view(huts, *((name, 5, 65) for name in TERRITORIES[::5]))


def segments(points: Line) -> list[Segment]:
    return [frozenset(pair) for pair in zip(points, (*points[1:], points[0]), strict=True)]


def inside(point: tuple[float, float], points: Line) -> bool:
    x, y = point
    crossed = False
    for (ax, ay), (bx, by) in zip(points, (*points[1:], points[0]), strict=True):
        if (ay <= y) != (by <= y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
            crossed = not crossed
    return crossed


def length(segment: Segment) -> float:
    (ax, ay), (bx, by) = segment
    return float(((ax - bx) ** 2 + (ay - by) ** 2) ** 0.5)


def surface(points: Line) -> float:
    return sum((a[0] * b[1] - b[0] * a[1]) / 2 for a, b in zip(points, (*points[1:], points[0]), strict=True))


def shared(one: geometry.Shape, other: geometry.Shape) -> float:
    return sum(length(segment) for segment in set(segments(one.points)) & set(segments(other.points)))


@pytest.fixture(scope="module")
def documents() -> dict[str, str]:
    marked = view({"A1": [2, 1, 0, 0, 0]}, ("B2", 2, 5), moves=("A1-A2",))
    return {
        "start": picture(one_hut_each()),
        "crowded": picture(crowded(), list(TERRITORIES)),
        "marked": picture(marked, ["A1", "A2", "A1"]),
    }


# The shapes


def test_two_territories_share_a_border_that_can_be_seen_exactly_when_they_are_neighbours() -> None:
    for one, two in combinations(range(60), 2):
        border = shared(geometry.SHAPES[one], geometry.SHAPES[two])
        if two in NEIGHBOURS[one]:
            assert border > 20, (TERRITORIES[one], TERRITORIES[two])
        else:
            assert border == 0, (TERRITORIES[one], TERRITORIES[two])


def test_each_lake_touches_exactly_the_territories_of_its_ring() -> None:
    for ring, lake in zip(LAKES, geometry.LAKE_SHAPES, strict=True):
        assert {n for n in range(60) if shared(geometry.SHAPES[n], lake) > 0} == set(ring)


def test_the_sea_touches_exactly_the_territories_of_the_coast() -> None:
    assert {n for n in range(60) if shared(geometry.SHAPES[n], geometry.COAST) > 0} == set(COAST)


def test_every_line_parts_exactly_two_of_land_lake_and_sea() -> None:
    everything = [*geometry.SHAPES, *geometry.LAKE_SHAPES, geometry.COAST]
    used = Counter(segment for shape in everything for segment in segments(shape.points))
    assert set(used.values()) == {2}


def test_no_two_lines_of_the_map_cross() -> None:
    everything = {s for shape in (*geometry.SHAPES, *geometry.LAKE_SHAPES) for s in segments(shape.points)}
    nearby: dict[tuple[int, int], list[Segment]] = defaultdict(list)
    for segment in everything:
        xs, ys = zip(*segment, strict=True)
        for column in range(int(min(xs) // 25), int(max(xs) // 25) + 1):
            for row in range(int(min(ys) // 25), int(max(ys) // 25) + 1):
                nearby[column, row].append(segment)
    for square in nearby.values():
        for one, two in combinations(square, 2):
            assert one & two or not cross(one, two), (one, two)


def cross(one: Segment, two: Segment) -> bool:
    (a, b), (c, d) = one, two
    return side(a, b, c) * side(a, b, d) <= 0 and side(c, d, a) * side(c, d, b) <= 0


def side(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def test_territories_and_lakes_fill_the_land_without_overlap() -> None:
    parts = [surface(shape.points) for shape in (*geometry.SHAPES, *geometry.LAKE_SHAPES)]
    assert min(parts) > 0
    assert sum(parts) == pytest.approx(surface(geometry.COAST.points))
    for x, y in ((x + 0.05, y + 0.05) for x in range(0, 1000, 35) for y in range(0, 1060, 35)):
        found = sum(inside((x, y), shape.points) for shape in (*geometry.SHAPES, *geometry.LAKE_SHAPES))
        assert found == inside((x, y), geometry.COAST.points)


def test_centre_name_and_huts_of_a_territory_lie_inside_it() -> None:
    for shape, room in zip(geometry.SHAPES, geometry.ROOMS, strict=True):
        huts = [place for slots in (*room.huts, *room.village) for place in slots.places]
        assert all(inside(spot, shape.points) for spot in (room.centre, room.name, room.board, *huts))
    assert tuple(room.centre for room in geometry.ROOMS) == geometry.CENTRE


def test_huts_in_one_territory_do_not_hide_each_other_or_the_name() -> None:
    for room in geometry.ROOMS:
        for slots in (*room.huts, *room.village):
            for (ax, ay), (bx, by) in combinations(slots.places, 2):
                assert max(abs(ax - bx), abs(ay - by)) >= 0.74 * slots.size
            for x, y in slots.places:
                assert max(abs(x - room.name[0]) - 12, abs(y - room.name[1]) - 7) >= 0.3 * slots.size


def test_a_fingertip_of_24_pixels_fits_into_every_territory_on_a_map_320_pixels_wide() -> None:
    radius = 12 * geometry.SIZE[0] / 320
    for name, shape, (x, y) in zip(TERRITORIES, geometry.SHAPES, geometry.CENTRE, strict=True):
        assert min((x - a) ** 2 + (y - b) ** 2 for a, b in shape.points) >= radius**2, name


def test_rivers_part_regions_and_borders_do_not() -> None:
    owners: dict[Segment, set[str]] = defaultdict(set)
    for name, shape in zip(TERRITORIES, geometry.SHAPES, strict=True):
        for segment in segments(shape.points):
            owners[segment].add(name[0])
    for river in geometry.RIVERS:
        assert all(len(owners[frozenset(pair)]) == 2 for pair in pairwise(river.course))
    for border in geometry.BORDERS:
        assert all(len(owners[frozenset(pair)]) == 1 for pair in pairwise(border))
    assert len(geometry.RIVERS) + len(geometry.BORDERS) == sum(map(len, NEIGHBOURS)) // 2


def test_the_written_shapes_are_what_the_layout_finds_today() -> None:
    assert Path(shapes.__file__).read_text(encoding="utf-8") == layout.written()


# The picture


def test_the_picture_is_well_formed_and_keeps_to_attributes_and_classes(documents: dict[str, str]) -> None:
    for document in documents.values():
        for element in ElementTree.fromstring(document).iter():
            assert element.tag.removeprefix(SVG) not in {"style", "script", "image", "a", "foreignObject", "animate"}
            for name, value in element.attrib.items():
                assert name != "style"
                assert not name.startswith("on")
                assert not name.endswith("href") or value.startswith("#")
                assert "url(" not in value or value.startswith("url(#")


def test_every_id_is_unique_and_every_drawing_that_is_used_exists(documents: dict[str, str]) -> None:
    for document in documents.values():
        ids = re.findall(r'\bid="([^"]+)"', document)
        assert len(ids) == len(set(ids))
        assert all(name.startswith(("clans-", "t-")) for name in ids)
        used = set(re.findall(r'href="#([^"]+)"', document)) | set(re.findall(r"url\(#([^)]+)\)", document))
        assert used <= set(ids)


def test_the_picture_is_small_enough_for_a_page_and_a_mail(documents: dict[str, str]) -> None:
    for document in documents.values():
        assert len(gzip.compress(document.encode())) < 45_000
    assert len(documents["start"]) < 165_000
    above = picture(one_hut_each(), ["A1", "A2"], "above")
    assert len(above) < 65_000
    assert len(gzip.compress(above.encode())) < 16_000


def test_what_stands_above_the_ground_refers_to_nothing_of_the_ground_and_makes_the_whole_with_it() -> None:
    shown = one_hut_each()
    above, ground = picture(shown, ["A1"], "above"), picture(shown, (), "ground")
    used = set(re.findall(r'href="#([^"]+)"', above)) | set(re.findall(r"url\(#([^)]+)\)", above))
    assert used <= set(re.findall(r'\bid="([^"]+)"', above))
    assert land() in ground
    assert territories(shown) + pieces(shown, ["A1"]) in above
    assert land() not in above


def test_paths_are_written_with_at_most_one_decimal(documents: dict[str, str]) -> None:
    for data in re.findall(r' d="([^"]+)"', documents["crowded"]):
        assert not re.search(r"\.\d\d", data)


def test_the_picture_shows_nothing_secret() -> None:
    public = one_hut_each()
    secret = replace(public, viewer=1, table={**public.table, "own_clan": "blue", "clans": ["red", "blue"]})
    assert picture(public) == picture(secret)


def test_the_same_position_gives_the_same_picture(documents: dict[str, str]) -> None:
    assert picture(one_hut_each()) == documents["start"]
    assert map_art.land.__wrapped__() == land()


def test_the_document_is_made_of_land_territories_and_pieces_in_this_order(documents: dict[str, str]) -> None:
    made = definitions() + land() + territories(one_hut_each()) + pieces(one_hut_each())
    assert documents["start"].endswith(made + "</svg>")


def test_every_territory_is_a_target_that_says_what_it_holds() -> None:
    shown = view({"A1": [2, 1, 0, 0, 0], "C2": [0, 0, 0, 0, 1]}, ("B2", 2, 5), ("C2", 3, 1), moves=("A1-A2", "A1-A3"))
    root = ElementTree.fromstring(picture(shown))
    targets = {one.get("data-territory"): one for one in root.iter(f"{SVG}g") if one.get("id", "").startswith("t-")}
    assert list(targets) == list(TERRITORIES)
    said = {name: one.findtext(f"{SVG}title") for name, one in targets.items()}
    assert said["A1"] == "A1, steppe: 2 red huts, 1 blue hut"
    assert said["A2"] == "A2, mountain: empty"
    assert said["B2"] == "B2, steppe: village of epoch II, value 5"
    assert said["C2"] == "C2, grassland: village of epoch III, value 1; 1 black hut"
    assert (targets["A1"].get("class"), targets["A1"].get("data-size")) == ("territory can-move", "3")
    assert (targets["C2"].get("class"), targets["C2"].get("data-size")) == ("territory village", "1")


def test_each_clan_present_has_one_hut_with_its_number_or_its_emblem() -> None:
    root = ElementTree.fromstring(picture(view({"E2": [1, 2, 12, 1, 7]})))
    huts = [one for one in root.iter(f"{SVG}g") if one.get("class") == "hut"]
    shown = {one.get("data-clan"): one.findtext(f"{SVG}text") for one in huts}
    assert shown == {"red": None, "blue": "2", "green": "12", "yellow": None, "black": "7"}
    for one in huts:
        drawings = [use.get("href") for use in one.iter(f"{SVG}use")]
        clan = one.get("data-clan")
        single = [f"#clans-emblem-{clan}"] if shown[clan] is None else []
        assert drawings == [f"#clans-hut-{clan}", *single]
    assert set(shown) == set(CLANS)


def test_pieces_never_stand_between_the_pointer_and_a_territory(documents: dict[str, str]) -> None:
    root = ElementTree.fromstring(documents["marked"])
    layers = {layer.get("class"): layer for layer in root.findall(f"{SVG}g")}
    assert list(layers) == ["land", "territories", "pieces"]
    assert layers["land"].get("pointer-events") == layers["pieces"].get("pointer-events") == "none"


def test_marks_are_numbered_in_order_and_a_place_touched_twice_has_both_numbers(documents: dict[str, str]) -> None:
    root = ElementTree.fromstring(documents["marked"])
    numbers = {
        one.get("data-territory"): one.findtext(f"{SVG}text")
        for one in root.iter(f"{SVG}g")
        if one.get("class") == "mark-number"
    }
    assert numbers == {"A1": "1·3", "A2": "2"}
    assert sum(one.get("class") == "mark" for one in root.iter(f"{SVG}g")) == 2


def test_a_mark_that_is_no_territory_is_not_drawn() -> None:
    assert pieces(one_hut_each(), ["Z9"]) == pieces(one_hut_each())


def test_a_village_shows_its_epoch_and_value_with_huts_or_without() -> None:
    for huts in ({}, {"B2": [0, 0, 3, 0, 0]}):
        drawn = pieces(view(huts, ("B2", 4, 12)))
        assert 'class="palisade" data-territory="B2"' in drawn
        assert ">IV<" in drawn
        assert ">12<" in drawn

"""The picture of Clans and Glory: a document that a strict page may show, with a target for all that is there."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from glory_helpers import GAME, PLACES, beginning, position, random_match

from engine.base import Outcome
from engine.games.glory import layout, moor_art
from engine.games.glory.cards import COLOURS, IN_PLAY, SPOTS, SPOTS_IN_PLAY
from engine.games.glory.glyphs import CARD_HEIGHT, CARD_WIDTH, CLOTHS, SEATS, SHIELD, STONES
from engine.games.glory.picture import card_svg, picture
from engine.games.glory.rules import State

SVG = "{http://www.w3.org/2000/svg}"
LYING = position(
    {"N2": "R5", "S2": "G5", "S3": "G3", "N7": "B6 down by 0", "S8": "Y4 down by 1"},
    ["R4 G4", "O3"],
    stacks={1: (1, 0, 0), 2: (0,)},
    shields=(2, 4),
)


def draw(state: State, viewer: int | None = None, marks: Sequence[str] = (), outcome: Outcome | None = None) -> str:
    return picture(GAME.view(state, viewer, outcome), marks)


def groups(document: str, kind: str) -> list[ElementTree.Element]:
    found = ElementTree.fromstring(document).iter(f"{SVG}g")
    return [one for one in found if kind in (one.get("class") or "").split()]


@pytest.fixture(scope="module")
def documents() -> dict[str, str]:
    *_, (_, _, _, ended) = random_match(3, 4)
    made = {f"start {seats}": draw(beginning(seats=seats)) for seats in (2, 3, 4)}
    made["end"] = draw(ended, 0, [*SPOTS, *(f"place {n}" for n in range(1, 7))], ended.outcome())
    made["walls"] = draw(beginning(seats=4, options={"row": "separate"}))
    made["lying"] = draw(LYING, 0, ["N2", "place 1", "N2", "N7"])
    made["card"] = card_svg("R5")
    made["back"] = card_svg(None)
    return made


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
        assert all(name.startswith(("glory-", "s-", "p-")) for name in ids)
        used = set(re.findall(r'href="#([^"]+)"', document)) | set(re.findall(r"url\(#([^)]+)\)", document))
        assert used <= set(ids)


def test_the_picture_is_small_enough_for_a_page_and_a_mail(documents: dict[str, str]) -> None:
    for document in documents.values():
        assert len(document) < 120_000
        assert len(gzip.compress(document.encode())) < 30_000


def test_the_same_position_gives_the_same_picture() -> None:
    assert draw(LYING) == draw(LYING)
    assert moor_art.moor.__wrapped__(4, False) == moor_art.moor(4, False)


def test_a_card_is_44_pixels_wide_on_a_picture_900_pixels_wide() -> None:
    for places in PLACES.values():
        assert CARD_WIDTH * 900 / layout.width(places) >= 44


def test_nothing_lies_on_anything_else() -> None:
    for places in PLACES.values():
        boxes = [(*layout.middle(spot), CARD_WIDTH / 2, CARD_HEIGHT / 2) for seats in (4,) for spot in spots_of(places)]
        for place in range(places):
            for count in range(1, 6):
                shields = [layout.shield_middle(place, n, count) for n in range(count)]
                assert all(b[0] - a[0] >= 0.65 * 2 * SHIELD for a, b in pairwise(shields))
                boxes += [(x, y, SHIELD, SHIELD) for x, y in (shields[0], shields[-1])] if count == 5 else []
        for (ax, ay, aw, ah), (bx, by, bw, bh) in combinations(boxes, 2):
            assert abs(ax - bx) >= aw + bw or abs(ay - by) >= ah + bh
        assert all(w < x < layout.width(places) - w and h < y < layout.HEIGHT - h for x, y, w, h in boxes)


def spots_of(places: int) -> tuple[int, ...]:
    return next(SPOTS_IN_PLAY[seats] for seats, count in PLACES.items() if count == places)


def test_every_spot_is_a_target_that_says_what_lies_there() -> None:
    targets = {one.get("data-spot"): one for one in groups(draw(LYING, 0), "spot")}
    assert list(targets) == [SPOTS[spot] for spot in SPOTS_IN_PLAY[2]]
    said = {name: one.findtext(f"{SVG}title") for name, one in targets.items()}
    assert said["N1"] == "N1: free"
    assert said["N2"] == "N2: red 5"
    assert said["N7"] == "N7: a card of player 1, face down, blue 6"
    assert said["S8"] == "S8: a card of player 2, face down"
    assert targets["N2"].get("id") == "s-N2"
    assert targets["N2"].get("data-place") == "1"
    assert float(targets["N2"].get("data-x", 0)) == layout.middle(1)[0]


def test_spots_that_the_viewer_may_play_on_can_be_told() -> None:
    state = position({"N2": "R5"}, ["R4 G3", "R3"])
    assert [one.get("data-spot") for one in groups(draw(state, 0), "can-move")] == ["N1", "N3", "S2"]
    assert groups(draw(state, 1), "can-move") == groups(draw(state), "can-move") == []


def test_every_place_is_a_target_that_says_who_takes_what() -> None:
    said = [one.findtext(f"{SVG}title") for one in groups(draw(LYING), "place")]
    assert said[0] == (
        "Place 1: player 2 takes 3 (1 of strength 3); then player 1 takes 10 (2 of strength 5); "
        "then player 1 takes nothing"
    )
    assert said[1:3] == ["Place 2: player 1 takes nothing", "Place 3: no shields"]
    assert [one.get("data-place") for one in groups(draw(LYING), "place")] == ["1", "2", "3", "4"]


def test_shields_lie_in_order_and_the_first_is_marked() -> None:
    shields = groups(draw(LYING), "shield")
    at = [(one.get("data-place"), one.get("data-seat"), "first" in (one.get("class") or "").split()) for one in shields]
    assert at == [("1", "0", False), ("1", "0", False), ("1", "1", True), ("2", "0", True)]
    across = [float(re.findall(r"[\d.]+", one.get("transform", ""))[0]) for one in shields[:3]]
    assert across == sorted(across, reverse=True)
    gains = [one.findtext(f".//{SVG}g[@class='gain']/{SVG}text") for one in shields]
    assert gains == ["0", "10", "3", "0"]


def test_a_face_down_card_shows_its_corner_to_its_owner_and_at_the_end_to_all() -> None:
    def corners(document: str) -> list[str | None]:
        return [one.findtext(f"{SVG}text") for one in groups(document, "down")]

    assert corners(draw(LYING, 0)) == ["B6", None]
    assert corners(draw(LYING, 1)) == [None, "Y4"]
    assert corners(draw(LYING)) == [None, None]
    assert corners(draw(LYING, None, (), Outcome("resignation", (0, 0), (0,), {}))) == ["B6", "Y4"]


def test_no_hand_is_drawn_but_every_card_can_be() -> None:
    state = position({"N2": "R5"}, ["B3 B4", "O3"])
    other = position({"N2": "R5"}, ["G6 Y4", "P6"])
    assert draw(state) == draw(other)
    for seats in (2, 3, 4):
        ids = re.findall(r'id="glory-card-(\w\w)"', draw(beginning(seats=seats)))
        assert len(ids) == len(IN_PLAY[seats])


def test_pieces_never_stand_between_the_pointer_and_a_target(documents: dict[str, str]) -> None:
    root = ElementTree.fromstring(documents["lying"])
    layers = {layer.get("class"): layer for layer in root.findall(f"{SVG}g")}
    assert list(layers) == ["land", "places", "spots", "pieces"]
    assert layers["land"].get("pointer-events") == layers["pieces"].get("pointer-events") == "none"


def test_marks_are_numbered_in_order_and_a_place_touched_twice_has_both_numbers(documents: dict[str, str]) -> None:
    marks = groups(documents["lying"], "mark")
    numbers = [(one.get("data-spot") or one.get("data-place"), "".join(one.itertext())) for one in marks]
    assert numbers == [("N2", "1·3"), ("1", "2"), ("N7", "4")]


@pytest.mark.parametrize("mark", ["Z9", "place 3", "place 9", "place", "place x", ""])
def test_a_mark_of_what_is_not_there_is_not_drawn(mark: str) -> None:
    assert draw(LYING, None, [mark]) == draw(LYING)


def test_a_free_spot_can_be_marked() -> None:
    marks = groups(draw(LYING, None, ["N1"]), "mark")
    assert [(one.get("data-spot"), "".join(one.itertext())) for one in marks] == [("N1", "1")]


def test_a_separate_row_has_walls(documents: dict[str, str]) -> None:
    assert documents["walls"].count('class="dyke"') == 5
    assert 'class="dyke"' not in documents["start 4"]


def test_colours_seats_and_places_each_have_a_look_of_their_own() -> None:
    assert set(CLOTHS) == set(COLOURS)
    setts = {(cloth.size, cloth.turn, tuple(band[:2] for band in cloth.bands)) for cloth in CLOTHS.values()}
    assert len(setts) == 7
    assert len(set(SEATS)) == 4
    assert len(set(STONES)) == 6


def test_a_card_alone_has_its_name_in_corner_and_centre_and_a_title(documents: dict[str, str]) -> None:
    root = ElementTree.fromstring(documents["card"])
    assert root.findtext(f"{SVG}title") == "red 5"
    assert [text.text for text in root.iter(f"{SVG}text")] == ["R5", "R5"]
    assert ElementTree.fromstring(documents["back"]).findtext(f"{SVG}title") == "face down"


def test_the_ground_is_the_same_all_through_a_match_and_the_pieces_make_it_whole() -> None:
    grounds = {
        picture(GAME.view(state, viewer, None), ["N2"], "ground")
        for state, _, _, _ in random_match(1, 3)
        for viewer in (None, 0)
    }
    assert len(grounds) == 1
    view = GAME.view(LYING, 0, None)
    whole, ground, lying = (picture(view, ["N2"], layer) for layer in ("whole", "ground", "pieces"))
    start = re.match(r"<svg.*?</defs>", whole)
    assert start is not None
    parts = [document.removeprefix(start[0]).removesuffix("</svg>") for document in (ground, lying)]
    assert whole.startswith(start[0] + parts[0])
    assert whole.endswith(parts[1] + "</svg>")

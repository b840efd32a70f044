"""The pictures of the rules: sound documents of a fair size, and captions that are true of what they show."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from play_helpers import LAND

from engine import games, moments
from engine.base import Example
from engine.cutout import NAMESPACE, cut
from engine.games.clans import examples as of_clans
from engine.games.clans.board import CLANS
from engine.games.clans.rules import State
from engine.games.glory import examples as of_glory

PICTURES = [(kind, example.key) for kind in ("clans", "glory") for example in games.game(kind).examples()]
NAMES = ("Ailsa", "Bran", "Catrin", "Dugald")


def example(kind: str, key: str) -> Example:
    return next(found for found in games.game(kind).examples() if found.key == key)


def drawn(kind: str, key: str) -> str:
    found = example(kind, key)
    return cut(games.game(kind).picture(found.view, found.marks), found.box)


@pytest.mark.parametrize(("kind", "key"), PICTURES)
def test_each_picture_is_a_document_that_refers_to_nothing_outside(kind: str, key: str) -> None:
    root = ElementTree.fromstring(drawn(kind, key))
    assert root.tag == f"{{{NAMESPACE}}}svg"
    known = {found.get("id") for found in root.iter() if found.get("id")}
    for found in root.iter():
        assert found.tag.rpartition("}")[2] not in {"style", "script", "image", "a", "foreignObject", "title"}
        for name, value in found.attrib.items():
            assert name != "style"
            assert not name.startswith("on")
            for wanted in re.findall(r"url\(#([^)]+)\)", value) + ([value[1:]] if name.endswith("href") else []):
                assert wanted in known
    assert len(known) == sum(1 for found in root.iter() if found.get("id"))


@pytest.mark.parametrize(("kind", "key"), PICTURES)
def test_each_picture_shows_its_part_and_says_what_is_seen(kind: str, key: str) -> None:
    found, text = example(kind, key), drawn(kind, key)
    left, top, wide, high = found.box
    assert f'viewBox="{left:g} {top:g} {wide:g} {high:g}"' in text
    assert f'width="{wide:g}" height="{high:g}"' in text
    for phrase in (found.caption, found.alt):
        assert phrase.read(NAMES)
    assert text.count('class="mark-number"') == len(found.marks)


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_the_pictures_of_a_game_have_names_of_their_own(kind: str) -> None:
    keys = [found.key for found in games.game(kind).examples()]
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch("[a-z0-9-]+", key) for key in keys)
    assert games.game(kind).examples() is games.game(kind).examples()


def test_a_part_has_what_lies_in_it_and_nothing_else() -> None:
    whole = games.game("clans").picture(example("clans", "lake").view)
    part = cut(whole, (349, 61, 499, 374))
    assert len(part) < len(whole) / 2
    assert ">B5<" in part
    assert ">F1<" in part
    assert ">J4<" not in part
    assert 'data-territory="B5"' in part
    assert 'data-territory="L2"' not in part
    assert cut(whole, (0, 0, 1000, 1060)).count('class="hut"') == 60


def test_a_picture_that_is_shown_whole_is_left_as_it_is() -> None:
    plain = f'<svg xmlns="{NAMESPACE}" width="9" height="9" viewBox="0 0 9 9"><path d="M1 1C2 2 3 3 4 4" /></svg>'
    assert cut(plain, (0, 0, 9, 9)) == plain


def villages(key: str) -> dict[str, tuple[int, int, list[str]]]:
    """Return the villages of a picture of Clans: epoch, value and clans."""
    told = example("clans", key).view.table["villages"]
    return {village["territory"]: (village["epoch"], village["value"], village["clans"]) for village in told}


def test_the_captions_of_clans_are_true() -> None:
    assert villages("village")["K3"] == (1, 5, ["red", "blue", "green", "yellow"])
    assert "K3" not in villages("moving")
    assert villages("hostile")["F4"] == (4, 0, ["green"])
    assert villages("strife")["G1"] == (5, 9, ["red", "green"])
    assert example("clans", "strife-before").view.table["huts"]["G1"] == [2, 1, 2, 1, 1]
    assert [villages("order-one")[name][:2] for name in ("B1", "B3")] == [(3, 3), (4, 8)]
    assert [villages("order-other")[name][:2] for name in ("B1", "B3")] == [(4, 7), (3, 4)]
    before = example("clans", "order").view.table
    assert [epoch["chips"] - epoch["done"] for epoch in before["epochs"]] == [0, 0, 1, 2, 1]
    assert example("clans", "seven").view.table["huts"]["H5"] == [1, 1, 1, 1, 3]
    for terrain, place in (("forest", "B5"), ("mountain", "A2"), ("steppe", "B2"), ("grassland", "E3")):
        assert LAND[place] == terrain
        assert place not in example("clans", terrain).view.table["huts"]


def test_the_match_behind_the_pictures_of_clans_is_one() -> None:
    states = moments.positions(games.game("clans"), of_clans.PLAYED)
    end = states[-1].outcome()
    assert end
    assert end.reason == "twelfth village"
    assert [state.to_act for state in states[:3]] == [(0,), (1,), (0,)]
    assert legal(states[16], "K1-K3")
    assert not any(text.startswith("H5-") for text in texts(states[34]))
    assert legal(states[34], "H3-H5")
    assert legal(states[34], "H4-H5")
    for clan, one, other in zip(CLANS, (8, 3, 8, 11, 11), (4, 7, 4, 11, 11), strict=True):
        for key, gained in (("order-one", one), ("order-other", other)):
            points = [example("clans", name).view.table["clan_points"][clan] for name in ("order", key)]
            assert points[1] - points[0] == gained, (clan, key)


def texts(state: State) -> list[str]:
    game, seat = games.game("clans"), state.to_act[0]
    return [game.format(state, seat, move) for move in state.legal_moves(seat)]


def legal(state: State, text: str) -> bool:
    return text in texts(state)


def test_the_captions_of_glory_are_true() -> None:
    standings = {
        key: example("glory", key).view.table["standings"].get("1") for key in ("opposite", "before", "between")
    }
    assert standings == {
        "opposite": [[1, 3, 1]],
        "before": [[1, 3, 2], [0, 5, 2]],
        "between": [[1, 3, 2], [0, 4, 1]],
    }
    game = games.game("glory")
    for match, fits in ((of_glory.PLAYED, True), (of_glory.WALLED, False)):
        state = moments.positions(game, match)[-1]
        assert any(text.startswith("P4 N4") for text in written(state)) is fits
    unlucky = moments.positions(game, of_glory.UNLUCKY)[0]
    assert all(" down" in text for text in written(unlucky))
    assert example("glory", "down").view.table["down"] == {"N1": {"seat": 0, "card": None}}


def written(state: State) -> list[str]:
    game, seat = games.game("glory"), state.to_act[0]
    return [game.format(state, seat, move) for move in state.legal_moves(seat)]

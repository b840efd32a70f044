"""The gallery's scenes: each is there as it says, the same at each run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from house import house_settings
from visitor import Visitor

from server import create_app, db
from tools import gallery, scenes
from tools.scenes import World

# What differs from page to page: the token of its forms.
TOKEN = re.compile(r'name="csrf[-_]token" (?:content|value)="[^"]+"')
# What a scene that is a fault is answered with; others are shown.
FAULTS = {"no such page": 404, "no such match": 404, "spent link": 410}


def shown(template: Path, folder: Path) -> dict[str, tuple[int, str]]:
    """Return the answer to each scene: its status and its page."""
    folder.mkdir()
    shutil.copy(template, folder / "clachan.db")
    url, world, found = f"sqlite:///{folder / 'clachan.db'}", World(), {}
    db.use(url)
    with scenes.same() as chance, db.connected():
        app = create_app(house_settings(url, folder))
        for stage in scenes.stages(world, chance):
            for scene in stage:
                answer = Visitor(app, world.people[scene.who] if scene.who else None).get(scene.path)
                assert scene.name not in found
                found[scene.name] = (answer.status_code, answer.text)
    db.database.close()
    return found


@pytest.fixture(scope="module")
def first(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    return shown(sqlite_template, tmp_path_factory.mktemp("gallery") / "first")


def test_every_scene_is_there(first: dict[str, tuple[int, str]]) -> None:
    assert {name: status for name, (status, _) in first.items()} == {name: FAULTS.get(name, 200) for name in first}
    for name, words in {
        "frozen match": "frozen",
        "Clans, paused": "paused",
        "Clans, own turn": "It is your turn.",
        "end, twelve villages": "twelfth village",
        "end, tie": "share the win",
        "Glory, four long names": scenes.LONG[0],
        "Clans, twenty-two huts in one territory": "22",
        "home on vacation": "You are on vacation",
    }.items():
        assert words in first[name][1], name


@pytest.mark.hardship
def test_scenes_are_the_same_at_each_run(
    first: dict[str, tuple[int, str]], sqlite_template: Path, tmp_path: Path
) -> None:
    again = shown(sqlite_template, tmp_path / "again")
    assert list(again) == list(first)
    for name, (_, page) in first.items():
        assert TOKEN.sub("", again[name][1]) == TOKEN.sub("", page), name


def test_the_index_shows_every_picture_once() -> None:
    some = [scenes.Scene("front page", "/", translated=True), scenes.Scene("end, tie", "/matches/1")]
    page = gallery.index(some)
    names = [gallery.file_name(scene, look) for scene in some for look in gallery.looks(scene)]
    assert len(set(names)) == len(names) == 8 + 4
    assert all(page.count(f"src='{name}'") == 1 for name in names)

"""The arrows of docs/architecture.md, read off the imports."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SERVICES = {file.stem for file in (ROOT / "server").glob("*.py")} - {"__init__", "cli", "scheduler"}
GROUND = {"models", "db", "connections", "clock", "settings", "errors", "wording", "raster", "languages"}
GROUND |= {"sprites", "baked", "chest", "line", "foresight"}
DOORS = {"web", "api", "http", "cli", "scheduler", "feeders"}


def modules() -> list[Path]:
    """Return every module of the engine and the server."""
    return [file for room in ("engine", "server") for file in sorted((ROOT / room).rglob("*.py"))]


def imports(file: Path) -> set[str]:
    """Return the dotted names a module imports, those under TYPE_CHECKING left out."""
    found = set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def tops(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(ROOT)))
def test_arrows_point_one_way(file: Path) -> None:
    names, room = imports(file), file.relative_to(ROOT).parts
    if room[0] == "engine":
        strangers = tops(names) - set(sys.stdlib_module_names) - {"engine"}
        assert not strangers, f"the engine uses the standard library only, not {strangers}"
        assert not tops(names) & {"random", "time", "socket", "os", "secrets"} or file.stem in {"selfplay", "arena"}
    if room[:2] == ("engine", "games") and len(room) > 3:
        others = {name for name in names if name.startswith("engine.games.")} - {
            name for name in names if name.startswith(f"engine.games.{room[2]}")
        }
        assert not others, "a game knows no other game"
    if room[0] == "server" and len(room) == 2 and file.stem in SERVICES:
        assert not tops(names) & {"flask", "flask_login", "flask_wtf", "werkzeug", "apscheduler"}
        assert not {name for name in names for door in DOORS if name.startswith(f"server.{door}")}
        if file.stem in GROUND:
            assert not {name for name in names if name.startswith("server.") and name.split(".")[1] not in GROUND}
        if file.stem != "outbox":
            assert not tops(names) & {"smtplib", "socket", "urllib.request"}
            allowed = {
                "server.channels.Message",
                "server.channels.Call",
                "server.channels.Carrier",
                "server.channels.Brief",
                "server.channels.Kind",
                "server.channels.Channel",
                "server.channels.DeliveryError",
            }
            assert not {name for name in names if name.startswith("server.channels")} - allowed
    if room[:2] in {("server", "api"), ("server", "http"), ("server", "web")}:
        others = {"server.web", "server.api"} - {".".join(room[:2])}
        assert not {name for name in names if name.startswith(tuple(others))}, "no door goes through another"
    if room[:2] == ("server", "channels"):
        assert not {name for name in names if name.startswith("server.") and not name.startswith("server.channels")}
    if room[0] == "server" and file.stem not in {"db", "connections"} and not {"models", "migrations"} & set(room):
        assert not tops(names) & {"peewee", "playhouse"}


def test_only_the_edges_ask_the_clock() -> None:
    askers = {file.stem for file in modules() if "clock.now(" in file.read_text() or "clock.now," in file.read_text()}
    doors = [file for door in ("web", "cli", "api") for file in (ROOT / "server" / door).glob("*.py")]
    edges = {file.stem for file in doors} | {"scheduler", "seeding"}
    assert askers <= edges
    for file in modules():
        if file.stem != "clock":
            assert "datetime.now" not in file.read_text(), file


def test_every_public_name_is_described() -> None:
    bare = []
    for file in modules():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        if not ast.get_docstring(tree) and file.read_text().strip():
            bare.append(str(file))
        for node in tree.body:
            members = node.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_") else []
            for thing in (node, *members):
                named = isinstance(thing, ast.FunctionDef | ast.ClassDef) and not thing.name.startswith("_")
                if named and thing.name != "Meta" and not ast.get_docstring(thing):
                    bare.append(f"{file}:{thing.lineno} {thing.name}")
    assert not bare


def test_a_file_fits_in_a_head() -> None:
    long = {
        str(file.relative_to(ROOT)): count
        for file in modules()
        if file.stem != "shapes" and (count := len(file.read_text().splitlines())) > 420
    }
    assert not long


def test_no_two_test_files_have_the_same_name() -> None:
    """Pytest imports them by their bare names, so the second of two would stop the whole run."""
    names = [file.name for file in (ROOT / "tests").rglob("*.py") if file.name not in {"__init__.py", "conftest.py"}]
    assert sorted(names) == sorted(set(names))


def test_every_module_has_a_room_in_the_document() -> None:
    told = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [*(ROOT / "engine").glob("*.py"), *(ROOT / "server").glob("*.py")]
    rooms += [folder for folder in (ROOT / "server").iterdir() if (folder / "__init__.py").exists()]
    names = [f"{room.stem}/" if room.is_dir() else room.name for room in rooms if room.name != "__init__.py"]
    assert [name for name in names if not re.search(rf"(^|[\s`/]){re.escape(name)}", told)] == []

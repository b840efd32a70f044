"""The files of the pages: kept for long under the address of today's edition, and only there."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import normpath

import flask
import pytest
from house import House
from visitor import Visitor, application

from server.web import files

ADDRESS = re.compile(r'(?:src|href|data-shared|data-table)="(/static/[^"]+)"')
IMPORT = re.compile(r'(?:\bfrom|\bimport\(?)\s*"(\.[^"]+)"')
LINKED = re.compile(r'(?:url\(|@import )"(?!data:)([^"]+)"')


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def address(app: flask.Flask, name: str) -> str:
    with app.test_request_context():
        return flask.url_for("static", filename=name)


def test_a_file_may_be_kept_under_the_address_of_todays_edition(app: flask.Flask) -> None:
    answer = Visitor(app).get(address(app, "words.js"))
    assert (answer.status_code, answer.mimetype) == (200, "text/javascript")
    assert answer.cache_control.public
    assert answer.cache_control.max_age == files.LIFE


def test_a_page_of_another_edition_gets_todays_file_and_does_not_keep_it(app: flask.Flask) -> None:
    visitor = Visitor(app)
    today = visitor.get(address(app, "words.js"))
    answer = visitor.get("/static/0123456789ab/words.js")
    assert (answer.status_code, answer.data) == (200, today.data)
    assert answer.cache_control.no_cache
    assert not answer.cache_control.max_age
    again = visitor.get("/static/0123456789ab/words.js", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


def test_no_file_beside_the_folder_is_given(app: flask.Flask) -> None:
    for name in ("../errors.py", "%2e%2e/errors.py", "games", "no-such.css", "games/nonsense/match.css", ""):
        assert Visitor(app).get(f"/static/0123456789ab/{name}").status_code == 404, name


def test_the_digest_changes_with_every_name_and_content(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "a.js").write_text("1")
    found = [files.digest(tmp_path)]
    for change in (
        lambda: (tmp_path / "a.js").write_text("2"),
        lambda: (tmp_path / "a.js").rename(tmp_path / "b.js"),
        lambda: (tmp_path / "b.js").rename(tmp_path / "games" / "b.js"),
        lambda: (tmp_path / "games" / "c.css").write_text(""),
    ):
        change()
        found.append(files.digest(tmp_path))
    assert len(set(found)) == len(found)
    assert files.digest(tmp_path) == found[-1]


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_all_that_a_match_page_loads_is_of_one_edition(app: flask.Flask, cottage: House, game: str) -> None:
    match = cottage.started("Ailsa", "Bran", game=game)
    visitor = Visitor(app, cottage.people["Ailsa"])
    page = visitor.get(f"/matches/{match.id}").text
    wanted = set(ADDRESS.findall(page))
    assert address(app, f"games/{game}/table.js") in wanted
    seen: set[str] = set()
    while wanted - seen:
        path = (wanted - seen).pop()
        seen.add(path)
        answer = visitor.get(path)
        assert (answer.status_code, answer.cache_control.max_age) == (200, files.LIFE), path
        if path.endswith((".js", ".css")):
            found = (IMPORT if path.endswith(".js") else LINKED).findall(answer.text)
            wanted |= {normpath(f"{path.rpartition('/')[0]}/{name}") for name in found}
    assert address(app, "words.js") in seen
    assert len({path.split("/")[2] for path in seen}) == 1


def test_a_sheet_made_of_several_is_kept_and_asked_for_again_as_a_file_is(app: flask.Flask) -> None:
    visitor = Visitor(app)
    kept = visitor.get(address(app, "house.css"))
    assert (kept.cache_control.public, kept.cache_control.max_age) == (True, files.LIFE)
    other = visitor.get("/static/0123456789ab/house.css")
    assert (other.data, other.cache_control.max_age, bool(other.cache_control.no_cache)) == (kept.data, 0, True)
    assert visitor.get(address(app, "house.css"), headers={"If-None-Match": kept.headers["ETag"]}).status_code == 304


def test_no_script_says_a_sentence_inside_a_template_literal() -> None:
    """Sentences there are not found by `make messages`."""
    for file in files.FOLDER.rglob("*.js"):
        for literal in re.findall(r"`[^`]*`", file.read_text(encoding="utf-8")):
            assert not re.search(r"\b(_|ngettext|pgettext)\(", literal), f"{file.name}: {literal}"


def test_every_file_that_a_script_or_a_sheet_asks_for_is_there() -> None:
    for file in files.FOLDER.rglob("*.*"):
        if file.suffix in {".js", ".css"}:
            for name in (IMPORT if file.suffix == ".js" else LINKED).findall(file.read_text(encoding="utf-8")):
                assert (file.parent / name).is_file(), f"{file}: {name}"


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_the_page_of_a_match_names_all_modules_that_its_script_needs(kind: str) -> None:
    found = files.needed(files.FOLDER, "match.js", f"games/{kind}/table.js")
    said = {
        (file.parent / line.rpartition(" from ")[2].strip('";\n'))
        .resolve()
        .relative_to(files.FOLDER.resolve())
        .as_posix()
        for file in (files.FOLDER / name for name in found)
        for line in file.read_text().splitlines()
        if line.startswith("import ")
    }
    assert said <= set(found)
    assert f"games/{kind}/moves.js" in found

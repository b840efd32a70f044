"""The site of the documentation: it is made without a warning, holds together, and asks nobody else for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import ROOT

from tools.site import __main__ as site
from tools.site.gather import BESIDE, gather

LOADED = re.compile(r"""<(?:script|link|img|source|iframe)\b[^>]*?(?:src|href)="([^"]+)"|url\(["']?([^)"']+)""")
ADDRESSED = re.compile(r'<a [^>]*?href="([^"#]*)')


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The site, built once."""
    folder = tmp_path_factory.mktemp("site")
    assert site.build(folder) == 0
    return folder


def test_every_document_is_a_page_and_stands_in_a_part_of_the_front_page(made: Path) -> None:
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} | {
        name.removesuffix(".md") for name in BESIDE.values()
    }
    assert {path.stem for path in made.glob("*.html")} == pages | {"search"}
    front = (made / "index.html").read_text(encoding="utf-8")
    nav = front[front.index('id="pages"') :]
    assert [page for page in pages - {"index"} if f'href="{page}.html"' not in nav] == []
    assert re.findall(r'caption-text">(\w+)', nav)[:4] == ["Playing", "Hosting", "Programs", "Building"]


def test_no_page_loads_anything_from_elsewhere_and_all_it_loads_is_there(made: Path) -> None:
    for path in [*made.glob("*.html"), *made.glob("_static/*.css")]:
        loaded = [one or other for one, other in LOADED.findall(path.read_text(encoding="utf-8"))]
        assert [name for name in loaded if not (path.parent / name.partition("?")[0]).is_file()] == [], path.name


def test_every_link_within_the_site_leads_to_a_page_of_it(made: Path) -> None:
    for path in made.glob("*.html"):
        links = {link for link in ADDRESSED.findall(path.read_text(encoding="utf-8")) if link and "://" not in link}
        assert [link for link in links if not (made / link).is_file()] == [], path.name


def test_a_page_named_by_its_file_is_a_link_but_not_within_a_block_of_text(made: Path) -> None:
    assert 'href="records.html"' in (made / "commands.html").read_text(encoding="utf-8")
    assert (
        'href="languages.html"' not in re.search(r"<pre\b.*?</pre>", (made / "architecture.html").read_text(), re.S)[0]
    )


def test_a_link_reads_as_the_title_of_its_page(made: Path) -> None:
    files = re.compile(r"<a [^>]*>(?:<[^>]*>)*[\w-]+\.md<")
    assert [
        (path.name, files.findall(text)) for path in made.glob("*.html") if files.search(text := path.read_text())
    ] == []
    assert "openapi.json" in "".join(ADDRESSED.findall((made / "api.html").read_text(encoding="utf-8")))


def test_of_the_parts_the_one_of_the_page_is_unfolded(made: Path) -> None:
    page = (made / "api.html").read_text(encoding="utf-8")
    parts = re.findall(r'<details( open)?>\s*<summary><span class="caption-text">(\w+)', page)
    assert [name for unfolded, name in parts if unfolded] == ["Programs"]
    assert len(parts) > 3


def test_a_link_that_leads_nowhere_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def one_page(folder: Path) -> None:
        gather(folder)
        for path in folder.glob("*.md"):
            path.unlink()
        (folder / "index.md").write_text("# Front\n\nSee [there](nowhere.md).\n")

    monkeypatch.setattr(site, "gather", one_page)
    assert site.build(tmp_path / "site") != 0
    assert "nowhere.md" in capfd.readouterr().err

"""The pages of the site in one folder: those of docs/, and those that a forge wants at the top of the project."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BESIDE = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
STATIC = ROOT / "server" / "static"
LENT = ("tokens.css", "favicon.svg", "fonts/grenze.woff2", "fonts/OFL-grenze.txt")
FENCED = re.compile(r"^( *```.*?^ *```)$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?<!\[)`(?:docs/)?([\w-]+\.md)`")


def gather(folder: Path) -> None:
    """Copy all pages into an empty folder, with links that hold there, and what the product lends to `_static`."""
    shutil.copytree(ROOT / "docs", folder, dirs_exist_ok=True)
    for name, page in BESIDE.items():
        shutil.copy(ROOT / name, folder / page)
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    titles = {name: text.partition("\n")[0].removeprefix("# ") for name, text in pages.items()}
    for name, text in pages.items():
        others = {page: title for page, title in titles.items() if page != name}
        Path(folder, name).write_text(_linked(text, others), encoding="utf-8")
    for name in LENT:
        there = folder / "_static" / name
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(STATIC / name, there)


def _linked(text: str, titles: Mapping[str, str]) -> str:
    """Return the text of a page with its links set right, and with one wherever a page is named by its file.

    `titles` are those of the other pages, by file.
    """
    parts = FENCED.split(text)
    parts[::2] = [_in_prose(part, titles) for part in parts[::2]]
    return "".join(parts)


def _in_prose(text: str, titles: Mapping[str, str]) -> str:
    text = text.replace("](docs/", "](").replace("](../", "](")
    for name, page in BESIDE.items():
        text = text.replace(f"]({name}", f"]({page}").replace(f"`{name}`", f"`{page}`")
    return NAMED.sub(lambda found: _link(found[0], found[1], titles), text)


def _link(word: str, page: str, titles: Mapping[str, str]) -> str:
    return f"[{titles[page]}]({page})" if page in titles else word

"""How Sphinx makes the site; the ways through it are the lists of its front page."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

HERE = Path(__file__).parent
PART = re.compile(r"^## (.+)\n((?:.*\n)*?)(?=^## |\Z)", re.MULTILINE)
ENTRY = re.compile(r"^- \[([^\]]+)\]\(([\w-]+)\.md\)", re.MULTILINE)

project = "Clachan"
version = tomllib.loads((HERE.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
language = "en"
extensions = ["myst_parser"]
exclude_patterns = ["_static"]
smartquotes = False
myst_heading_anchors = 3
html_theme = "theme"
html_theme_path = [str(HERE)]
html_title = "Clachan"
html_copy_source = False
html_use_index = False
html_search_scorer = str(HERE / "scorer.js")
html_permalinks_icon = "#"


def ways(app: Sphinx, page: str, source: list[str]) -> None:
    """Make the navigation of the parts of the front page; a page that stands in none of them comes last."""
    if page != app.config.root_doc:
        return
    parts = [(title, ENTRY.findall(text)) for title, text in PART.findall(source[0])]
    listed = {name for _, entries in parts for _, name in entries}
    rest = sorted(app.env.found_docs - listed - {page})
    source[0] += "".join(_tree(title, [f"{said} <{name}>" for said, name in entries]) for title, entries in parts)
    source[0] += _tree("Besides", rest)


def _tree(title: str, entries: list[str]) -> str:
    lines = ["", "```{toctree}", ":hidden:", f":caption: {title}", "", *entries, "```", ""]
    return "\n".join(lines) if entries else ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Have the front page read so."""
    app.connect("source-read", ways)
    return {"parallel_read_safe": True}

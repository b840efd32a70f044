"""The fields of the forms of the site, as the program and its templates name them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

import flask

ROOT: Final = Path(__file__).parent.parent.parent
_NAMED: Final = re.compile(
    r"""(?:field|asked|chosen|args\.get)\(\s*"(\w+)"|\bname="([\w-]+)"|args\["(\w+)"\]|field\(f"([\w-]+)-"""
)


def _read(files: Collection[Path]) -> list[str]:
    found = {next(filter(None, groups)) for file in files for groups in _NAMED.findall(file.read_text("utf-8"))}
    return sorted(found)


FIELDS: Final = _read([*(ROOT / "server/web").glob("*.py"), *(ROOT / "templates").rglob("*.html")])
"""The names of all fields there are."""


def read_by(app: flask.Flask, endpoint: str) -> list[str]:
    """Return the names of the fields that the module of an endpoint reads."""
    return _read([Path(inspect.unwrap(app.view_functions[endpoint]).__code__.co_filename)])


def named_by(app: flask.Flask, endpoint: str) -> set[str]:
    """Return all words in quotation marks in the module of an endpoint and those it uses: the names of fields too."""
    source = Path(inspect.unwrap(app.view_functions[endpoint]).__code__.co_filename).read_text("utf-8")
    used = re.findall(r"^from server\.web\.(\w+) import", source, re.MULTILINE)
    sources = [source, *((ROOT / "server/web" / f"{name}.py").read_text("utf-8") for name in used)]
    return {word for text in sources for word in re.findall(r'"(\w+)"', text)}

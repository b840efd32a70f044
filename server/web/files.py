"""The files that pages bring along: scripts, style sheets, fonts, drawings.

Their addresses hold one digest of them all, so that they may be kept for long, and so that what a file asks for by a
relative address, a module or a font, is of the same edition as the file itself.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import flask

from server.web import sheets
from server.web.addresses import address

FOLDER: Final = Path(__file__).parent.parent / "static"
LIFE: Final = 30 * 86400
"""For how many seconds a browser keeps a file of today's edition."""
IMPORT: Final = re.compile(r"""^import [^;]*?["'](\.[^"']+)["'];""", re.MULTILINE)
"""How a module says which others it needs."""


def install(app: flask.Flask, folder: Path = FOLDER) -> None:
    """Give the files of a folder, and their addresses to templates: `url_for("static", filename=...)`."""

    @cache
    def today() -> str:
        return digest(folder)

    @app.url_defaults
    def current(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static":
            values.setdefault("edition", today())

    def give(edition: str, filename: str) -> flask.Response:
        # A page of another edition still gets today's file, but must not keep it under that name.
        keep = LIFE if edition == today() else 0
        sheet = sheets.joined(folder, filename)
        return flask.send_from_directory(folder, filename, max_age=keep) if sheet is None else _sheet(sheet, keep)

    app.add_url_rule("/static/<edition>/<path:filename>", "static", give)
    app.jinja_env.globals["game_file"] = _game_file(folder)
    app.jinja_env.globals["modules"] = _modules(folder)


def _sheet(text: str, keep: int) -> flask.Response:
    """Return a style sheet that is no file of its own, with the headers that a file has."""
    response = flask.Response(text, mimetype="text/css")
    response.cache_control.max_age = keep
    response.cache_control.public = keep > 0
    response.cache_control.no_cache = keep == 0 or None
    response.add_etag()
    response.make_conditional(flask.request)
    return response


def digest(folder: Path) -> str:
    """Return a short hash of the names and contents of all files in a folder."""
    found = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{file.relative_to(folder).as_posix()}\n".encode())
        found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:12]


def needed(folder: Path, *names: str) -> tuple[str, ...]:
    """Return the modules that some modules import, directly or through others, and themselves; each once."""
    found: dict[str, None] = {}
    coming = list(names)
    while coming:
        name = coming.pop(0)
        if name not in found and (folder / name).is_file():
            found[name] = None
            text = (folder / name).read_text(encoding="utf-8")
            coming += [
                posixpath.normpath(posixpath.join(posixpath.dirname(name), each)) for each in IMPORT.findall(text)
            ]
    return tuple(found)


def _modules(folder: Path) -> Callable[[str, str], list[str]]:
    @cache
    def names(script: str, kind: str) -> tuple[str, ...]:
        holder = kind if (folder / f"games/{kind}/table.js").is_file() else "default"
        return needed(folder, script, f"games/{holder}/table.js")

    def modules(script: str, kind: str) -> list[str]:
        """Return the addresses of all modules that a script of a match needs, so that they are fetched at once."""
        return [address("static", filename=name) for name in names(script, kind)]

    return modules


def _game_file(folder: Path) -> Callable[[str, str], str]:
    @cache
    def held(kind: str, name: str) -> str:
        files = (f"games/{holder}/{name}" for holder in (kind, "default"))
        return next((file for file in files if (folder / file).is_file()), "")

    def game_file(kind: str, name: str) -> str:
        """Return the address of a file that a game brings, else of the one for all games, "" if there is neither."""
        file = held(kind, name)
        return address("static", filename=file) if file else ""

    return game_file

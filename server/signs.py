"""A drawing that stands by itself brings the letters of its signs along: as a picture on a page it is given no font."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import Final

GAMES: Final = Path(__file__).parent / "static" / "games"


def lettered(svg: str, kind: str) -> str:
    """Return the SVG document with what a game's signs are written in, its `signs.woff2`, if it has signs and that."""
    head, end, rest = svg.partition(">")
    return f"{head}{end}{_style(kind)}{rest}" if "<text" in rest else svg


@cache
def _style(kind: str) -> str:
    font = GAMES / kind / "signs.woff2"
    if not font.is_file():
        return ""
    data = base64.b64encode(font.read_bytes()).decode("ascii")
    return f'<style>@font-face{{font-family:Grenze;src:url("data:font/woff2;base64,{data}")}}</style>'

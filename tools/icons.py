"""Make the icons of the installed site, server/static/icons/*.png, from its mark, server/static/favicon.svg."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from server import raster
from server.web.homescreen import PAPERS

STATIC: Final = Path(__file__).parent.parent / "server" / "static"
# A system may cut a maskable icon down to its middle circle, four fifths as wide (W3C manifest, "icon masks"); of the
# others a little air is enough.
WHOLE, CIRCLE = 0.84, 0.62
ICONS: Final = {
    "192": (192, 0.0, 1.0),
    "512": (512, 0.0, 1.0),
    "maskable": (512, 1.0, CIRCLE),
    "apple": (180, 1.0, WHOLE),
}
"""Of each icon its width in pixels, how much of the ground is painted and how much of the width the mark takes."""


def icon(name: str) -> bytes:
    """Return one of `ICONS` as a PNG."""
    width, ground, share = ICONS[name]
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    mark = ElementTree.parse(STATIC / "favicon.svg").getroot()  # noqa: S314 - our own file
    parts = "".join(ElementTree.tostring(part, encoding="unicode") for part in mark)
    left = 16 * (1 - share)
    return raster.png(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M0 0h32v32H0z" fill="{PAPERS["light"]}" '
        f'fill-opacity="{ground}"/><g transform="translate({left} {left}) scale({share})">{parts}</g></svg>',
        width,
    )


def main() -> None:
    """Make them all."""
    (STATIC / "icons").mkdir(exist_ok=True)
    for name in ICONS:
        (STATIC / "icons" / f"{name}.png").write_bytes(icon(name))


if __name__ == "__main__":
    main()

"""Make a picture of every state of the site worth looking at: `make gallery`, or with the folder they go to.

Each is seen on a phone and a desktop, in light and in dark, some in every language; `index.html` shows them all. The
same sources make the same pictures.
"""

from __future__ import annotations

import html
import itertools
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import flask
from playwright.sync_api import Browser, Page, ViewportSize

from server import create_app, db, languages, settings
from server.models import User
from tools import chromium, hosting, scenes
from tools.scenes import Scene, World

SIZES: Final[dict[str, ViewportSize]] = {
    "phone": {"width": 360, "height": 760},
    "desktop": {"width": 1280, "height": 900},
}
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
SWITCHES: Final = ("--hide-scrollbars", "--font-render-hinting=none")
# Beyond this a page is cut off; nobody looks at more of it.
TALLEST: Final = 4000


class Look(NamedTuple):
    """How a page is looked at."""

    size: str
    scheme: Literal["light", "dark"]
    language: str

    @property
    def name(self) -> str:
        """The end of the name of the picture's file."""
        return "-".join(self)


PLAIN: Final = [Look(size, scheme, "en") for size, scheme in itertools.product(SIZES, SCHEMES)]
ABROAD: Final = [Look(size, "light", code) for code in languages.LANGUAGES if code != "en" for size in SIZES]


@contextmanager
def house() -> Iterator[flask.Flask]:
    """Yield the application over an empty database."""
    with tempfile.TemporaryDirectory() as data:
        given = {"DATA": data, "DEVELOPMENT": "1", "SECRET_KEY": "only for pictures, and long enough for a key"}
        db.use(f"sqlite:///{data}/clachan.db")
        db.migrate()
        with db.connected():
            yield create_app(settings.load({f"CLACHAN_{name}": value for name, value in given.items()}))
        db.database.close()


def looks(scene: Scene) -> list[Look]:
    """Return in which ways a scene is looked at."""
    return [*PLAIN, *ABROAD] if scene.translated else PLAIN


def file_name(scene: Scene, look: Look) -> str:
    """Return the name of a picture."""
    return f"{scene.name.lower().replace(', ', '-').replace(' ', '-')}-{look.name}.png"


def shoot(page: Page, scene: Scene, site: str, target: Path) -> None:
    """Go to a scene and save what is seen there."""
    page.goto(site + scene.path)
    _settle(page)
    if scene.act:
        scene.act(page)
        _settle(page)
    page.evaluate("document.fonts.ready")
    height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
    width = page.viewport_size["width"] if page.viewport_size else 0
    page.screenshot(
        path=target,
        full_page=True,
        clip={"x": 0, "y": 0, "width": width, "height": height},
        animations="disabled",
        caret="hide",
    )


def _settle(page: Page) -> None:
    """Wait until the scripts of a match are ready."""
    if page.locator("#match").count():
        page.locator('#match[data-ready="yes"]').wait_for(state="attached")


def stage(browser: Browser, app: flask.Flask, site: str, world: World, shown: Sequence[Scene], folder: Path) -> None:
    """Take the pictures of a stage, look by look, so that people speak one language at a time."""
    for look in [*PLAIN, *ABROAD]:
        User.update(language=look.language).execute()
        for who, some in itertools.groupby([scene for scene in shown if look in looks(scene)], lambda scene: scene.who):
            context = browser.new_context(
                viewport=SIZES[look.size],
                color_scheme=look.scheme,
                locale=look.language,
                timezone_id="Europe/Prague",
                reduced_motion="reduce",
                service_workers="block",
            )
            if who:
                context.add_cookies([hosting.badge(app, site, world.people[who])])
            page = context.new_page()
            for scene in some:
                shoot(page, scene, site, folder / file_name(scene, look))
            context.close()


def index(shown: Sequence[Scene]) -> str:
    """Return a page with all pictures."""
    parts = ["<!doctype html><meta charset='utf-8'><title>Gallery</title>", f"<style>{STYLE}</style><h1>Gallery</h1>"]
    for scene in shown:
        parts.append(f"<section><h2>{html.escape(scene.name)}</h2><div>")
        for look in looks(scene):
            name = html.escape(file_name(scene, look))
            what = html.escape(", ".join(look))
            parts.append(f"<figure class='{look.size}'><a href='{name}'><img src='{name}' alt='' loading='lazy'></a>")
            parts.append(f"<figcaption>{what}</figcaption></figure>")
        parts.append("</div></section>")
    return "\n".join(parts) + "\n"


STYLE: Final = """
body { font: 1rem Georgia, serif; margin: 2rem; background: #ddd; }
div { display: flex; flex-wrap: wrap; gap: 1rem; align-items: start; }
figure { margin: 0; } img { display: block; max-height: 40rem; object-fit: cover; object-position: top; }
.phone img { width: 12rem; } .desktop img { width: 30rem; } figcaption { font-size: .8rem; }
"""


def main(*given: Any) -> None:
    """Make them all."""
    folder = Path(*given) if given else scenes.ROOT / "var" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    world, all_shown = World(), []
    # It would tell of every request that has to wait for a moment.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    with scenes.same() as chance, house() as app, hosting.served(app) as site, chromium.opened(*SWITCHES) as browser:
        for shown in scenes.stages(world, chance):
            stage(browser, app, site, world, shown, folder)
            all_shown += shown
    (folder / "index.html").write_text(index(all_shown), encoding="utf-8")
    print(f"{len(list(folder.glob('*.png')))} pictures: {folder / 'index.html'}")


if __name__ == "__main__":
    main(*sys.argv[1:2])

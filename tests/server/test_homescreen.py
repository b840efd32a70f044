"""What makes the site installable: a manifest in each language, and a worker that keeps one page."""

from __future__ import annotations

import io
import math

import flask
import pytest
from house import House
from PIL import Image, ImageChops
from visitor import Visitor, application

from server import db, languages
from server.web import files
from tools import icons


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.mark.parametrize("code", languages.LANGUAGES)
def test_the_manifest_is_of_the_readers_language(app: flask.Flask, code: str) -> None:
    page = Visitor(app).get("/", headers={"Accept-Language": code}).text
    assert f'<link rel="manifest" href="/manifest/{code}.webmanifest">' in page
    answer = Visitor(app).get(f"/manifest/{code}.webmanifest")
    manifest = answer.get_json()
    assert answer.mimetype == "application/manifest+json"
    assert (manifest["id"], manifest["start_url"], manifest["display"], manifest["lang"]) == (
        "/",
        "/",
        "standalone",
        code,
    )
    for shortcut in manifest["shortcuts"]:
        assert Visitor(app).get(shortcut["url"]).status_code == 200
    for icon in manifest["icons"]:
        drawn = Image.open(io.BytesIO(Visitor(app).get(icon["src"]).data))
        assert icon["sizes"] == "x".join(map(str, drawn.size))
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}


def test_a_language_that_is_not_spoken_has_neither(app: flask.Flask) -> None:
    for address in ("/manifest/xx.webmanifest", "/offline/xx"):
        assert Visitor(app).get(address).status_code == 404


@pytest.mark.parametrize("name", icons.ICONS)
def test_each_icon_is_the_mark_of_the_site(name: str) -> None:
    assert (files.FOLDER / "icons" / f"{name}.png").read_bytes() == icons.icon(name)


def test_a_maskable_icon_has_no_hole_and_its_mark_within_the_circle() -> None:
    drawn = Image.open(files.FOLDER / "icons" / "maskable.png").convert("RGBA")
    assert drawn.getchannel("A").getextrema() == (255, 255)
    ground = Image.new("RGBA", drawn.size, drawn.getpixel((0, 0)))
    left, top, right, bottom = ImageChops.difference(drawn.convert("RGB"), ground.convert("RGB")).getbbox() or (
        0,
        0,
        0,
        0,
    )
    middle = drawn.width / 2
    assert all(math.hypot(x - middle, y - middle) <= 0.4 * drawn.width for x in (left, right) for y in (top, bottom))


def test_the_worker_is_served_from_the_root_and_asked_for_anew(app: flask.Flask) -> None:
    answer = Visitor(app).get("/worker.js")
    assert (answer.status_code, answer.mimetype) == (200, "text/javascript")
    assert answer.cache_control.no_cache
    assert not answer.cache_control.max_age


def test_the_worker_is_another_for_each_language(app: flask.Flask) -> None:
    pages = [Visitor(app).get("/", headers={"Accept-Language": code}).text for code in languages.LANGUAGES]
    named = {page.partition('data-worker="')[2].partition('"')[0] for page in pages}
    assert len(named) == len(languages.LANGUAGES)
    assert all(name.startswith("/worker.js?language=") for name in named)


def test_the_offline_page_is_the_same_for_everybody(app: flask.Flask, cottage: House) -> None:
    cottage.started("Ailsa", "Bran")
    for code in languages.LANGUAGES:
        pages = [Visitor(app, user).get(f"/offline/{code}").text for user in (None, cottage.people["Ailsa"])]
        assert pages[0] == pages[1]
        assert f'<html lang="{code}">' in pages[0]
        assert "csrf" not in pages[0]


def test_the_offline_page_needs_no_database(app: flask.Flask, cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])

    def gone(*_: object, **__: object) -> None:
        raise db.Unavailable[0]("it is gone")

    with monkeypatch.context() as patched:
        db.database.close()
        patched.setattr(db.database.obj, "connect", gone)
        answers = [visitor.get("/offline/de").status_code for visitor in (ailsa, Visitor(app))]
        assert ailsa.get("/rules").status_code == 503
    assert answers == [200, 200]

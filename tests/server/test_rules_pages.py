"""The rules with their pictures: every picture is there, may be kept, and the whole page is light."""

from __future__ import annotations

import gzip
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import flask
import pytest
from house import House
from visitor import Visitor, application

from engine import games

HEAVIEST = 150_000  # bytes of a page with all that belongs to it, compressed
STATIC = Path(__file__).parent.parent.parent / "server" / "static"


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_a_page_of_rules_is_light_with_all_its_pictures(app: flask.Flask, kind: str) -> None:
    visitor = Visitor(app)
    page = visitor.get(f"/rules/{kind}")
    weight = len(gzip.compress(page.data))
    for address in set(re.findall(r'(?:src|href)="(/(?:static|rules/[a-z]+)/[^"]+)"', unescape(page.text))):
        found = visitor.get(address)
        assert found.status_code == 200, address
        weight += len(gzip.compress(found.data))
    assert weight < HEAVIEST


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_every_picture_of_the_rules_is_on_their_page_with_words(app: flask.Flask, kind: str) -> None:
    visitor = Visitor(app)
    page = visitor.get(f"/rules/{kind}").text
    for example in games.game(kind).examples():
        inline = kind == "glory" and example.key == "example"
        assert inline or f"/rules/{kind}/{example.key}.svg?v=" in page, example.key
        found = visitor.get(f"/rules/{kind}/{example.key}.svg")
        assert (found.status_code, found.mimetype) == (200, "image/svg+xml")
        ElementTree.fromstring(found.text)
    assert "Play a guided first match" in page


def test_a_picture_may_be_kept_under_the_address_of_its_content_only(app: flask.Flask) -> None:
    visitor = Visitor(app)
    address = re.findall(r'src="(/rules/clans/village\.svg\?v=[0-9a-f]+)"', visitor.get("/rules/clans").text)[0]
    kept = visitor.get(address)
    assert "immutable" in kept.headers["Cache-Control"]
    for other in ("/rules/clans/village.svg", "/rules/clans/village.svg?v=0"):
        assert "immutable" not in visitor.get(other).headers["Cache-Control"]
    again = visitor.get(address, headers={"If-None-Match": kept.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("address", ["/rules/clans/nothing.svg", "/rules/ludo/village.svg"])
def test_there_is_no_picture_of_anything_else(app: flask.Flask, address: str) -> None:
    assert Visitor(app).get(address).status_code == 404

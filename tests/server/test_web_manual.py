"""The page for programs: all of the document, whole, and in the look and language of the site."""

from __future__ import annotations

import json
import re
from collections import Counter

import flask
import pytest
from house import House
from visitor import Visitor, application

from server import manual
from server.api.app import ROOMS, written

ID = re.compile(r'\bid="([^"]+)"')
TARGET = re.compile(r'href="#([^"]+)"')


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.fixture
def page(app: flask.Flask) -> str:
    return Visitor(app).get("/api/v1/").text


def test_every_operation_and_every_shape_is_on_the_page(page: str) -> None:
    ids = set(ID.findall(page))
    assert {one.name for room in ROOMS for one in room.operations} <= ids
    assert {f"shape-{name}" for name in json.loads(written())["components"]["schemas"]} <= ids


def test_every_link_of_the_page_leads_to_one_place_in_it(page: str) -> None:
    counts = Counter(ID.findall(page))
    assert [name for name, count in counts.items() if count > 1] == []
    assert set(TARGET.findall(page)) - set(counts) == set()


def test_the_page_stands_beside_the_api_and_not_in_its_way(app: flask.Flask) -> None:
    visitor = Visitor(app)
    moved = visitor.get("/api/v1")
    assert (moved.status_code, moved.headers["Location"]) == (308, "http://localhost/api/v1/")
    answer = visitor.get("/api/v1/")
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert visitor.get("/api/v1/games").mimetype == "application/json"
    assert visitor.get("/api/v10/games").mimetype == "text/html"


def test_the_frame_speaks_the_language_of_the_reader_and_the_document_english(app: flask.Flask) -> None:
    page = app.test_client().get("/api/v1/", headers={"Accept-Language": "de"}).text
    assert '<html lang="de"' in page
    assert "Make a move; what was stored is read back from the log." in page
    assert re.search(r'<summary lang="en">', page)


def test_an_operation_is_shown_with_what_it_takes_and_an_example_of_a_call(page: str) -> None:
    shown = page.partition('id="tables.create"')[2].partition("</details>\n<details")[0]
    assert "curl -X POST http" in shown
    assert "Authorization: Bearer $TOKEN" in shown
    assert "-d &#39;{&#34;game&#34;: &#34;clans&#34;, &#34;seats&#34;: 2}&#39;" in shown
    assert '<a href="#shape-TimeRule">' in shown
    assert "<code>tables</code>" in shown


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, ["whole number, 1 to 9"]),
        ({"type": "string", "maxLength": 5}, ["text, at most 5 characters"]),
        ({"type": "string", "minLength": 2}, ["text, at least 2 characters"]),
        ({"type": "string", "format": "date-time"}, ["instant"]),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, ["number", "null"]),
        ({"type": "array", "items": {"type": "boolean"}}, ["list of true or false"]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, ["object with values: text"]),
        ({"enum": ["a", 1]}, ['"a" · 1']),
        ({}, ["any value"]),
    ],
)
def test_what_a_value_is_is_said_in_words(schema: dict[str, object], words: list[str]) -> None:
    assert [kind.words for kind in manual.kinds(schema)] == words


def test_an_example_fits_what_it_is_an_example_of() -> None:
    document = {"components": {"schemas": {"Seat": {"type": "object", "properties": {"n": {"type": "integer"}}}}}}
    seat = {"$ref": "#/components/schemas/Seat"}
    assert manual.example(document, {"type": "array", "items": seat}, whole=True) == [{"n": 7}]
    assert manual.example(document, {"type": "string", "format": "date"}) == "2026-12-01"
    assert manual.example(document, {"type": "string", "default": "open"}) == "open"
    assert manual.example(document, {"anyOf": [{"type": "null"}, {"type": "string"}]}) is None
    assert manual.example(document, {"type": "string", "examples": ["clans"]}) == "clans"
    assert manual.example(document, {"enum": ["b"]}) == "b"

"""What pages are dressed in: sheets sent as one, packed on the way, drawings that bring their letters along."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import flask
import pytest
from house import House
from visitor import Visitor, application

from engine import games
from server import accounts, languages, raster, signs
from server.models import User
from server.web import continents, files, homescreen, sheets
from tools import covers

LINK = re.compile(r'<link rel="stylesheet" href="([^"]+)"')
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b", re.IGNORECASE)
PACKED = {"Accept-Encoding": "gzip, deflate, br"}


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


# Sheets


def test_every_page_asks_for_at_most_four_sheets_and_the_house_s_first(app: flask.Flask, cottage: House) -> None:
    match, over = cottage.started("Ailsa", "Bran"), cottage.finish(cottage.started("Ailsa", "Bran", game="glory"))
    visitor = Visitor(app, cottage.people["Ailsa"])
    for path in ("/", "/tables", "/archive", "/rules/glory", f"/matches/{match.id}", f"/matches/{over.id}"):
        found = LINK.findall(visitor.get(path).text)
        assert 1 <= len(found) <= 4, path
        assert found[0].endswith("/house.css"), path


def test_a_joined_sheet_holds_all_its_parts_in_their_order() -> None:
    house, match = sheets.joined(files.FOLDER, "house.css"), sheets.joined(files.FOLDER, "games/clans/match.css")
    assert house is not None
    assert match is not None
    texts = [(files.FOLDER / f"{name}.css").read_text() for name in sheets.HOUSE]
    assert [house.index(text) for text in texts] == sorted(house.index(text) for text in texts)
    assert (files.FOLDER / "games" / "clans" / "board.css").read_text() in match
    assert sheets.joined(files.FOLDER, "base.css") is None
    assert sheets.joined(files.FOLDER, "games/../match.css") is None


def test_a_game_without_sheets_has_those_of_the_page_and_what_is_no_game_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sheets.joined(files.FOLDER, "games/unheard/match.css") is None
    monkeypatch.setattr(sheets.games, "games", lambda: {"unheard": None, "other": None})
    assert sheets.joined(files.FOLDER, "games/unheard/match.css") == sheets.joined(
        files.FOLDER, "games/other/match.css"
    )


def test_no_sheet_of_the_house_but_the_tokens_brings_colours_of_its_own() -> None:
    for name in ("base", "parts", "forms", "lists", "people", "archive", "guide", "rules", "visit"):
        text = re.sub(r'url\("data:[^"]+"\)', "", (files.FOLDER / f"{name}.css").read_text())
        assert not [colour for colour in COLOUR.findall(text) if colour.lower() != "#000"], name


def test_every_token_that_a_sheet_names_is_there() -> None:
    texts = [file.read_text() for file in files.FOLDER.rglob("*.css") if file.name != "offline.css"]
    texts += [file.read_text() for file in files.FOLDER.rglob("*.js")]
    given = set().union(*(re.findall(r"(--[a-z-]+)\"?\s*[:,]", text) for text in texts))
    for text in texts:
        assert set(re.findall(r"var\((--[a-z-]+)[,)]", text)) <= given


def test_every_token_is_used_and_the_head_of_a_page_is_on_paper() -> None:
    tokens = (files.FOLDER / "tokens.css").read_text()
    texts = [file.read_text() for ending in ("css", "js") for file in files.FOLDER.rglob(f"*.{ending}")]
    used = set().union(*(re.findall(r"var\((--[a-z-]+)[,)]", text) for text in texts))
    assert set(re.findall(r"^ *(--[a-z-]+):", tokens, re.MULTILINE)) <= used
    assert re.findall(r"--paper: (#[0-9a-f]+)", tokens) == list(homescreen.PAPERS.values())


# Packing


def test_pages_and_files_are_packed_for_whoever_can_unpack_them(app: flask.Flask) -> None:
    visitor = Visitor(app)
    for path in ("/", *LINK.findall(visitor.get("/").text)):
        plain, small = visitor.get(path), visitor.get(path, headers=PACKED)
        assert "Content-Encoding" not in plain.headers
        assert small.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in small.headers["Vary"]
        assert len(small.data) == int(small.headers["Content-Length"]) < 0.6 * len(plain.data)
        assert gzip.decompress(small.data)[:60] == plain.data[:60]


def test_a_packed_file_is_known_again_by_its_tag(app: flask.Flask) -> None:
    visitor = Visitor(app)
    address = LINK.findall(visitor.get("/").text)[0]
    tag = visitor.get(address, headers=PACKED).headers["ETag"]
    assert tag.startswith("W/")
    assert visitor.get(address, headers={**PACKED, "If-None-Match": tag}).status_code == 304


def test_the_length_of_a_packed_page_does_not_tell_what_is_in_it(app: flask.Flask) -> None:
    visitor = Visitor(app)
    sheet = LINK.findall(visitor.get("/").text)[0]
    lengths = {len(visitor.get("/", headers=PACKED).data) for _ in range(40)}
    assert len(lengths) > 10
    # The tokens of its forms alone make a few bytes.
    assert max(lengths) - min(lengths) > 80
    assert len({visitor.get(sheet, headers=PACKED).data for _ in range(5)}) == 1


def test_pictures_and_short_answers_are_sent_as_they_are(app: flask.Flask) -> None:
    visitor = Visitor(app)
    with app.test_request_context():
        font = flask.url_for("static", filename="fonts/grenze.woff2")
    assert "Content-Encoding" not in visitor.get(font, headers=PACKED).headers
    assert "Content-Encoding" not in visitor.get("/healthz", headers=PACKED).headers


# Drawings


def test_a_lettered_drawing_holds_its_font_and_stays_the_same_drawing() -> None:
    bare = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>A1</text></svg>'
    made = signs.lettered(bare, "clans")
    assert "data:font/woff2;base64," in made
    assert re.sub(r"<style>.*</style>", "", made) == bare
    assert raster.png(made, 9).startswith(b"\x89PNG")
    assert signs.lettered(bare, "unheard") == bare
    assert signs.lettered(bare.replace("text", "desc"), "clans") == bare.replace("text", "desc")


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_the_font_of_signs_is_small(kind: str) -> None:
    assert len((signs.GAMES / kind / "signs.woff2").read_bytes()) < 3_000


def test_the_drawings_of_games_are_what_the_games_draw_today() -> None:
    for kind in covers.COVERED:
        assert covers.path(kind, "cover").read_text(encoding="utf-8") == covers.cover(games.game(kind))
        assert covers.path(kind, "mark").read_text(encoding="utf-8") == covers.mark(kind)
    for kind in covers.GROUNDED:
        assert covers.path(kind, "ground").read_text(encoding="utf-8") == covers.ground(games.game(kind))


@pytest.mark.parametrize("kind", covers.GROUNDED)
def test_the_ground_is_a_file_and_no_part_of_the_page(app: flask.Flask, cottage: House, kind: str) -> None:
    match = cottage.started("Ailsa", "Bran", game=kind)
    page = Visitor(app, cottage.people["Ailsa"]).get(f"/matches/{match.id}").text
    assert 'class="land"' not in page
    assert f"games/{kind}/ground.svg" in page
    assert "ground.svg" in (Path(files.FOLDER) / "games" / kind / "board.css").read_text()


# Time zones


def test_every_time_zone_is_in_exactly_one_group_and_bears_its_place() -> None:
    found = continents.grouped(accounts.zones())
    listed = [zone for _label, zones in found for zone in zones]
    assert sorted(name for zone in listed for name in (zone.name, *zone.also)) == accounts.zones()
    assert [label for label, _zones in found][:3] == ["Europe", "America", "Asia"]
    assert all(len({zone.place for zone in zones}) == len(zones) for _label, zones in found)
    places = {zone.name: zone.place for zone in listed}
    assert places["Europe/Prague"] == "Prague"
    assert places["America/Argentina/Buenos_Aires"] == "Buenos Aires"
    assert (places["UTC"], places["Etc/GMT+5"]) == ("UTC", "Etc/GMT+5")


@pytest.mark.parametrize(("code", "names"), [("cs", ["Praha", "Vídeň", "Kyjev"]), ("de", ["Prag", "Wien", "Kiew"])])
def test_a_time_zone_is_read_in_the_language_spoken(code: str, names: list[str]) -> None:
    with languages.speaking(code):
        places = {zone.name: zone.place for _label, zones in continents.grouped(accounts.zones()) for zone in zones}
    assert [places[name] for name in ("Europe/Prague", "Europe/Vienna", "Europe/Kyiv")] == names


def test_a_city_is_listed_once_and_its_other_names_mean_the_same_zone() -> None:
    listed = [zone for _label, zones in continents.grouped(accounts.zones()) for zone in zones]
    merged = {zone.name: zone.also for zone in listed if zone.also}
    assert (merged["Europe/Kyiv"], merged["Asia/Kolkata"]) == (("Europe/Kiev",), ("Asia/Calcutta",))
    assert {"Europe/Belfast", "Europe/Bratislava"} <= {zone.name for zone in listed}, "cities of their own"
    moments = [datetime(year, month, 1, tzinfo=UTC) for year in (1990, 2026) for month in (1, 7)]
    for name, others in merged.items():
        for other in others:
            assert all(
                at.astimezone(ZoneInfo(name)).utcoffset() == at.astimezone(ZoneInfo(other)).utcoffset()
                for at in moments
            )


def test_a_zone_of_another_name_stays_chosen(app: flask.Flask, cottage: House) -> None:
    ailsa = cottage.people["Ailsa"]
    User.update(zone="Europe/Kiev").where(User.id == ailsa.id).execute()
    page = Visitor(app, ailsa).get("/settings").text
    assert '<option value="Europe/Kiev" data-also="Europe/Kiev" selected>Kyiv</option>' in page

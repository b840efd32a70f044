"""What a link to the site shows where it is sent on: only what a stranger may see, as a spectator sees it."""

from __future__ import annotations

import html
import re
import struct
import threading

import flask
import pytest
from house import House
from visitor import Visitor, application

from server import lobby, posters, raster, story, throttle
from server.http import faults
from server.models import User

TAG = re.compile(r'<meta (?:property|name)="((?:og|twitter):[^"]+|description)" content="([^"]*)">')


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def tags(page: str) -> dict[str, str]:
    return {name: html.unescape(said) for name, said in TAG.findall(page)}


def size(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def path(house: House, address: str) -> str:
    assert address.startswith(house.settings.public_url)
    return address.removeprefix(house.settings.public_url)


@pytest.mark.parametrize("address", ["/", "/rules", "/rules/clans", "/rules/glory"])
def test_a_page_for_strangers_says_what_it_is_with_a_poster(cottage: House, app: flask.Flask, address: str) -> None:
    found = tags(Visitor(app).get(address).text)
    assert found["og:url"] == cottage.settings.public_url + address
    assert found["og:title"]
    assert found["og:description"] == found["description"]
    assert found["og:image:alt"]
    picture = Visitor(app).get(path(cottage, found["og:image"]))
    assert (picture.status_code, picture.mimetype, size(picture.data)) == (200, "image/png", (1200, 630))


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_a_match_shows_its_board_and_says_how_it_stands(cottage: House, app: flask.Flask, game: str) -> None:
    match = cottage.begun("Ailsa", "Bran", game=game)
    found = tags(Visitor(app).get(f"/matches/{match.id}").text)
    assert found["og:title"].endswith("1: Ailsa and Bran")
    assert found["og:description"] == story.standing(cottage.played(match), ["Ailsa", "Bran"], None)
    assert path(cottage, found["og:image"]) == f"/matches/1/share/{match.length}.png"
    assert size(Visitor(app).get("/matches/1/share/1.png").data) == (1200, 630)
    assert Visitor(app).get(f"/matches/1/share/{match.length + 1}.png").status_code == 404
    step = tags(Visitor(app).get("/matches/1/replay/1").text)
    assert path(cottage, step["og:image"]) == "/matches/1/share/1.png"


def test_a_player_passes_on_what_a_stranger_reads(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    pages = [
        Visitor(app, user).get(f"/matches/{match.id}").text
        for user in (None, *map(cottage.people.get, ("Ailsa", "Bran")))
    ]
    assert tags(pages[0])["og:description"]
    assert len({tuple(sorted(tags(page).items())) for page in pages}) == 1


def test_a_poster_is_what_a_spectator_sees_whoever_asks(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran", game="glory")
    address = f"/matches/{match.id}/share/{match.length}.png"
    pictures = [
        Visitor(app, user).get(address).data for user in (None, cottage.people["Ailsa"], cottage.people["Bran"])
    ]
    assert len(set(pictures)) == 1


def test_a_table_that_a_stranger_may_not_see_has_no_tags_and_no_poster(cottage: House, app: flask.Flask) -> None:
    cottage.table("Bran", seats=3, invited_only=True)
    bran = Visitor(app, cottage.people["Bran"])
    assert tags(bran.get("/matches/1").text) == {}
    assert bran.get("/matches/1/share/0.png").status_code == 404
    assert Visitor(app).get("/matches/1/share/0.png").status_code == 404


def test_an_open_table_shows_the_poster_of_its_game(cottage: House, app: flask.Flask) -> None:
    match = cottage.table("Bran", seats=3)
    found = tags(Visitor(app).get(f"/matches/{match.id}").text)
    assert path(cottage, found["og:image"]) == "/share/clans.png"
    assert Visitor(app).get(f"/matches/{match.id}/share/0.png").status_code == 404


def test_settings_and_home_have_no_tags(cottage: House, app: flask.Flask) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])
    assert [tags(ailsa.get(address).text) for address in ("/", "/settings", "/tables/new")] == [{}, {}, {}]


def test_a_poster_is_kept_and_asked_for_again_in_vain(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    address = f"/matches/{match.id}/share/1.png"
    first = Visitor(app).get(address)
    assert first.cache_control.public
    assert first.cache_control.max_age
    assert first.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    again = Visitor(app).get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    cottage.move(match)
    assert Visitor(app).get(address).headers["ETag"] == first.headers["ETag"]
    User.update(name="Aili").where(User.name == "Ailsa").execute()
    assert Visitor(app).get(address).headers["ETag"] != first.headers["ETag"]


def test_a_poster_does_not_go_by_the_language_of_the_reader(cottage: House, app: flask.Flask) -> None:
    cottage.begun("Ailsa", "Bran", game="glory")
    answers = [
        Visitor(app).get("/matches/1/share/2.png", headers={"Accept-Language": code}).headers["ETag"]
        for code in ("en", "cs", "de")
    ]
    assert len(set(answers)) == 1


def test_drawing_many_posters_is_bounded(cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    cottage.begun("Ailsa", "Bran")
    monkeypatch.setitem(throttle.BOUNDS, "poster from", throttle.Bound(2, 600))
    asked = [Visitor(app).get("/matches/1/share/1.png").status_code for _ in range(3)]
    assert asked == [200, 200, 429]


def test_drawing_posters_leaves_others_time_to_be_answered(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def draw(*_: object) -> bytes:
        begun.release()
        go_on.wait(10)
        return b"drawn"

    monkeypatch.setattr(raster, "poster", draw)
    poster = posters.Poster("", (), (0, 0, 0))
    drawing = [threading.Thread(target=poster.png) for _ in range(posters.MOST_AT_ONCE)]
    for thread in drawing:
        thread.start()
        begun.acquire()
    answer = Visitor(app).get("/share.png")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, str(faults.RETRY))
    assert not answer.cache_control.public
    go_on.set()
    for thread in drawing:
        thread.join()
    assert Visitor(app).get("/share.png").data == b"drawn"


def test_a_game_without_a_cover_has_no_poster(app: flask.Flask) -> None:
    assert Visitor(app).get("/share/nonsense.png").status_code == 404


def test_long_names_fit_and_a_name_in_letters_without_a_font_is_its_seat(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    poster = posters.of_match(cottage.played(match), ["W" * 30, "漢字"], 0)
    assert poster
    assert ">Player 2<" in poster.frame
    assert "漢" not in poster.frame
    assert "W…<" in poster.frame
    marked = posters.of_match(cottage.played(match), ["A & <b>", "Řehoř"], 0)
    assert marked
    assert "A &amp; &lt;b&gt;" in marked.frame
    assert "Řehoř" in marked.frame


def test_a_hidden_match_shows_itself_once_it_runs(cottage: House, app: flask.Flask) -> None:
    table = cottage.table("Bran", seats=2, invited_only=True)
    token = lobby.invitation(table.id, cottage.people["Bran"], cottage.now)
    lobby.join(table.id, cottage.people["Ailsa"], now=cottage.now, invitation=token)
    assert Visitor(app).get("/matches/1/share/0.png").status_code == Visitor(app).get("/matches/1").status_code == 200

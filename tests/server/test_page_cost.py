"""What a look at a page costs: how often it asks the database, and that nothing is drawn twice, nor for other eyes."""

from __future__ import annotations

import gzip
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import flask
import pytest
from house import House
from visitor import Visitor, application

from server import chest, db, deadlines, log
from server.chest import Chest
from server.models import Match, User
from server.web import packing
from server.web.fragments import MOST_BYTES

MATCH, HOME = 17, 20
"""So often the page of a match, and home without any, may ask the database."""
NONCE = re.compile(r'(?<="csrf_token" value=")[^"]+|(?<="csrf-token" content=")[^"]+|(?<=name="key" value=")[^"]+')


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@contextmanager
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield what the database is asked inside the block."""
    found: list[str] = []
    real = db.database.obj.execute_sql

    def watched(sql: str, *more: Any) -> Any:
        found.append(sql)
        return real(sql, *more)

    with monkeypatch.context() as patch:
        patch.setattr(db.database.obj, "execute_sql", watched)
        yield found


def look(visitor: Visitor, path: str) -> str:
    """Return a page without what is new in it each time."""
    answer = visitor.get(path)
    assert answer.status_code == 200
    return NONCE.sub("#", answer.text)


def questions(visitor: Visitor, path: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what the database is asked for a page that has been looked at before."""
    visitor.get(path)
    with asked(monkeypatch) as found:
        look(visitor, path)
    return found


def begun(house: House, **terms: Any) -> Match:
    """Return a match that runs, of two."""
    return house.begun("Ailsa", "Bran", **terms)


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_a_long_match_asks_the_database_no_more_than_a_short_one(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    match = begun(cottage, game=game)
    ailsa = Visitor(app, cottage.people["Ailsa"])
    short = questions(ailsa, f"/matches/{match.id}", monkeypatch)
    for _ in range(10):
        cottage.later(minutes=1)
        cottage.move(match)
    long = questions(ailsa, f"/matches/{match.id}", monkeypatch)
    assert len(long) == len(short) <= MATCH
    assert len(set(long)) >= len(long) - 1  # the next match that waits is read as this one is


def test_home_reads_each_match_once_and_asks_nothing_else_for_it(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])
    none = questions(ailsa, "/", monkeypatch)
    first = [begun(cottage) for _ in range(2)]
    few = questions(ailsa, "/", monkeypatch)
    more = [begun(cottage) for _ in range(5)]
    many = questions(ailsa, "/", monkeypatch)
    assert len(none) <= HOME
    assert len(many) - len(few) == len(more)
    assert sum('FROM "log"' in sql for sql in many) == len(first) + len(more)


def test_many_others_and_their_matches_cost_nothing(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = begun(cottage)
    ailsa = Visitor(app, cottage.people["Ailsa"])
    before = [len(questions(ailsa, path, monkeypatch)) for path in ("/", f"/matches/{match.id}")]
    for _ in range(4):
        cottage.finish(cottage.begun("Catrin", "Dugald"))
    assert [len(questions(ailsa, path, monkeypatch)) for path in ("/", f"/matches/{match.id}")] == before


def test_a_second_look_draws_nothing_anew(cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    match = begun(cottage)
    ailsa, made = Visitor(app, cottage.people["Ailsa"]), []
    real = Chest.get

    def watched(kept: Chest, key: Any, make: Callable[[], Any], weigh: Callable[[Any], int]) -> Any:
        return real(kept, key, lambda: made.append(key) or make(), weigh)

    monkeypatch.setattr(Chest, "get", watched)
    first = look(ailsa, f"/matches/{match.id}")
    drawn = len(made)
    with monkeypatch.context() as patch:
        patch.setattr("server.web.present.drawn", lambda *_: pytest.fail("the board is drawn again"))
        assert look(ailsa, f"/matches/{match.id}") == first
    assert len(made) == drawn > 0
    cottage.move(match)
    look(ailsa, f"/matches/{match.id}")
    assert len(made) > drawn


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_whoever_has_looked_before_everybody_sees_what_he_alone_would(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    match = begun(cottage, game=game)
    path = f"/matches/{match.id}"
    wishes = list(itertools.product(("Ailsa", "Bran", "Catrin", None), (("en", "UTC"), ("de", "Asia/Kathmandu"))))

    def seen(app: flask.Flask, name: str | None, speech: tuple[str, str]) -> str:
        language, zone = speech
        User.update(language=language, zone=zone).execute()
        visitor = Visitor(app, cottage.people[name] if name else None)
        if name is None:
            visitor.post("/language", language=language, next=path)
        return look(visitor, path)

    warm = {wish: seen(app, *wish) for wish in wishes}
    again = {wish: seen(app, *wish) for wish in reversed(wishes)}
    for wish in wishes:
        assert warm[wish] == again[wish] == seen(application(cottage, monkeypatch), *wish), wish


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_a_match_that_is_followed_step_by_step_is_told_as_to_one_who_comes_late(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    match = begun(cottage, game=game)
    names = ("Ailsa", "Bran", None)
    visitors = [Visitor(app, cottage.people[name] if name else None) for name in names]
    while cottage.played(match).outcome is None:
        cottage.later(minutes=1)
        cottage.move(match)
        if cottage.played(match).outcome or log.get(match.id).length % 5 == 0:
            followed = [look(visitor, f"/matches/{match.id}") for visitor in visitors]
    late = application(cottage, monkeypatch)
    for name, page in zip(names, followed, strict=True):
        # The end is told to whoever comes late as to those who were there.
        assert look(Visitor(late, cottage.people[name] if name else None), f"/matches/{match.id}") == page


def test_each_viewer_language_and_zone_has_pieces_of_its_own(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    sights = []
    for name, language, zone in (
        ("Ailsa", "en", "UTC"),
        ("Bran", "en", "UTC"),
        ("Catrin", "en", "UTC"),
        ("Ailsa", "cs", "UTC"),
        ("Ailsa", "en", "Asia/Kathmandu"),
    ):
        User.update(language=language, zone=zone).execute()
        kept = app.extensions["fragments"] = Chest(MOST_BYTES)
        look(Visitor(app, cottage.people[name]), f"/matches/{match.id}")
        found = {key[0] for key in kept._kept if key[0].last_hash}
        assert len(found) == 1
        sights.append(found.pop())
    assert len(set(sights)) == len(sights)
    assert {sight.last_hash for sight in sights} == {log.read(log.get(match.id)).last_hash}
    assert [sight.seat for sight in sights] == [0, 1, None, 0, 0]


def test_a_new_name_is_seen_at_once(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    ailsa = Visitor(app, cottage.people["Ailsa"])
    assert "Bran moved" in look(ailsa, f"/matches/{match.id}")
    User.update(name="Branwen").where(User.name == "Bran").execute()
    page = look(ailsa, f"/matches/{match.id}")
    assert "Branwen moved" in page
    assert "Bran " not in page


def test_the_name_of_whoever_has_left_a_seat_is_seen_as_it_is_now(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock={"move": 3600, "missing": "bot"})
    played = cottage.played(match)
    seat = played.position.to_act[0]
    name = log.places(match)[seat].user.name
    stranger = Visitor(app)
    cottage.later(days=3)
    deadlines.run(lambda: cottage.now)
    assert f"{name} moved" in look(stranger, f"/matches/{match.id}")
    User.update(name="Somebody else").where(User.name == name).execute()
    page = look(stranger, f"/matches/{match.id}")
    assert "Somebody else moved" in page
    assert f"{name} moved" not in page


def test_nothing_that_is_kept_holds_the_token_of_a_session(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    for name in ("Ailsa", "Bran"):
        visitor = Visitor(app, cottage.people[name])
        visitor.get("/")
        page = visitor.get(f"/matches/{match.id}").text
        token = re.findall(r'name="csrf_token" value="([^"]+)"', page)
        assert len(set(token)) == 1
        assert token[0] not in repr(app.extensions["fragments"]._kept)
        assert "\0" not in page


def test_what_is_kept_stays_within_its_bytes() -> None:
    kept = Chest(20_000)
    for number in range(100):
        assert kept.get(number, lambda: "x", lambda _made: 1000) == "x"
    assert kept._bytes == sum(weight for _made, weight in kept._kept.values()) <= 20_000
    assert list(kept._kept) == list(range(100))[-len(kept._kept) :]
    kept.get("large", lambda: "x", lambda _made: 5000)
    assert "large" not in kept._kept


def test_keys_weigh_as_what_they_stand_for() -> None:
    kept = Chest(20_000)
    kept.get(("sight", ("y" * 5000,)), lambda: "x", lambda _made: 1)
    assert not kept._kept
    for number in range(100):
        kept.get((number, "y" * 1000), lambda: "x", lambda _made: 1)
    assert 0 < len(kept._kept) < 20
    assert chest.size(("y" * 1000, ("z" * 1000,))) > 2000


def test_what_a_reader_writes_into_an_address_makes_no_other_piece(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    seat = cottage.played(match).position.to_act[0]
    mover = Visitor(app, log.places(match)[seat].owner)
    path = f"/matches/{match.id}"
    move = cottage.played(match).view(seat).moves[0]
    look(mover, path)
    pieces = set(app.extensions["fragments"]._kept)
    for nonsense in ("Z", "Z" * 3000, move + "?", "<b>"):
        mover.client.get(path, query_string={"from": nonsense})
    assert set(app.extensions["fragments"]._kept) == pieces
    picked = mover.client.get(path, query_string={"from": move.split("-")[0]})
    assert f"?move={move}" in picked.text
    assert len(set(app.extensions["fragments"]._kept) - pieces) == 1


def test_columns_that_are_wrong_for_a_moment_are_not_kept(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    stranger = Visitor(app)
    Match.update(length=match.length + 70).where(Match.id == match.id).execute()
    look(stranger, f"/matches/{match.id}")
    Match.update(length=match.length).where(Match.id == match.id).execute()
    page = look(stranger, f"/matches/{match.id}")
    assert f"Hash of step {match.length}<" in page


def test_sites_below_two_paths_of_a_host_lead_to_themselves(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    stranger = Visitor(app)
    for root in ("/one", "/two"):
        page = stranger.client.get(f"/matches/{match.id}", environ_overrides={"SCRIPT_NAME": root}).text
        assert set(re.findall(r'href="(/[^/"]*)/matches/', page)) == {root}


def test_a_page_is_unpacked_as_it_was_whatever_parts_are_ready() -> None:
    body = "".join(f"<p>Größe {n % 7}</p>" for n in range(900))
    one, two = body[300:4000], body[5000:9000]
    for texts in ((), (one,), (two, one), (one, one), (one, body[2000:6000]), ("not there",), (body,)):
        parts = [(text, lambda text=text: packing.chunk(text)) for text in texts]
        assert gzip.decompress(packing.packed(body.encode(), b"x" * 9, parts, quick=True)).decode() == body


def test_a_page_goes_out_with_its_parts(cottage: House, app: flask.Flask) -> None:
    match = begun(cottage)
    ailsa = Visitor(app, cottage.people["Ailsa"])
    plain = look(ailsa, f"/matches/{match.id}")
    for _look in range(2):
        answer = ailsa.client.get(f"/matches/{match.id}", headers={"Accept-Encoding": "gzip"})
        assert NONCE.sub("#", gzip.decompress(answer.data).decode()) == plain
    assert any(key[1] == "board, packed" for key in app.extensions["fragments"]._kept)

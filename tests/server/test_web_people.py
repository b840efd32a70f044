"""Pages about people: what they tell, to whom, of whom, and how fast."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from urllib.parse import quote

import flask
import pytest
from contests import count, crowd, fought, with_contests
from house import House, house_settings
from visitor import Visitor, application

from engine import deal, games
from server import accounts, companions, curve, db, lobby, people, ratings
from server.archive import guests
from server.models import Match, User

TOKEN = re.compile(r'(?<="csrf_token" value=")[^"]+|(?<="csrf-token" content=")[^"]+')
# Milliseconds, for the slowest page of a large house.
FAST = 200


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    with_contests(monkeypatch)
    return application(cottage, monkeypatch)


def text(answer: object) -> str:
    """Return what a page says, without its marks."""
    main = answer.text.partition("<main")[2].partition("</main>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", main).replace("&rsquo;", "’").split())


def test_a_profile_tells_how_somebody_plays(cottage: House, app: flask.Flask) -> None:
    match = fought(cottage, "AB", "go", "stay")
    fought(cottage, "BA", "go", "go", game="quarrel")
    cottage.started("Ailsa", "Bran", "Catrin")
    count(cottage)
    page = Visitor(app).get("/people/Ailsa")
    assert page.status_code == 200
    said = text(page)
    assert "Here since 2 March 2026 2 finished matches 1 running now" in said
    won, tied = (ratings.rated([ratings.NEWCOMER] * 2, ranks)[0].shown for ranks in ((1, 2), (1, 1)))
    assert f"Contest Rating {won} provisional Played 1 Won 1 Shared 0 Rated 1" in said
    assert f"Contest {match.id} 2 Mar 2026 1 of 2 {won} +{won - 1000}" in said
    assert f"Quarrel Rating {tied} provisional Played 1 Won 0 Shared 1 Rated 1" in said
    assert "Half of the moves came within 10 minutes 10 minutes Moves 2 2" in said
    assert "Bran 2 1 0 1" in said
    assert page.text.count('class="chart"') == 2


def test_a_profile_holds_no_address_and_nothing_of_the_account(cottage: House, app: flask.Flask) -> None:
    fought(cottage, "AB", "go", "stay")
    count(cottage)
    for viewer in (None, cottage.people["Ailsa"], cottage.people["Bran"]):
        page = Visitor(app, viewer).get("/people/Ailsa").text
        assert "@" not in page
        assert "example.org" not in page
        assert cottage.people["Ailsa"].session_key not in page


@pytest.mark.parametrize(
    "name", ["Ξένια", "Úrsula Ó Murchú", "明美", "Straße", "عائشة", "O’Brien", "M. J. Smith-Jones"]
)
def test_names_of_any_letters_are_addresses(cottage: House, app: flask.Flask, name: str) -> None:
    cottage.people[name] = cottage.person(name, name_key=accounts.name_key(name))
    fought(cottage, name[0] + "A", "go", "stay")
    count(cottage)
    assert f"<bdi>{name}</bdi></h1>" in Visitor(app).get(f"/people/{quote(name)}").text
    page = Visitor(app).get("/people/Ailsa").text
    address = re.search(r'href="(/people/[^"]+)"><bdi>' + re.escape(name), page)
    assert address
    assert f"<bdi>{name}</bdi></h1>" in Visitor(app).get(address[1]).text


def test_case_does_not_matter_and_nobody_is_not_found(cottage: House, app: flask.Flask) -> None:
    assert "<bdi>Ailsa</bdi></h1>" in Visitor(app).get("/people/AILSA").text
    for path in ("/people/Nobody", "/people/", "/people/a%00b", "/people/%ff", "/people/Ailsa/x", "/people"):
        assert Visitor(app).get(path).status_code == 404, path


def test_who_has_left_is_named_by_a_number_and_his_matches_stay(cottage: House, app: flask.Flask) -> None:
    match = fought(cottage, "AB", "go", "stay")
    count(cottage)
    ailsa = cottage.people["Ailsa"]
    lobby.leave_all(ailsa, cottage.now)
    accounts.forget(ailsa, cottage.now)
    said = text(Visitor(app).get(f"/people/Former player {ailsa.id}"))
    assert "This player has left for good. The matches stay." in said
    assert f"Contest {match.id}" in said
    for fact in ("Here since", "running now", "Rating", "Reliability", "Head to head", "Ailsa"):
        assert fact not in said
    assert Visitor(app).get("/people/Ailsa").status_code == 404
    assert f"Former player {ailsa.id} 1 0 1 0" in text(Visitor(app).get("/people/Bran"))


def test_a_bot_says_that_it_is_one(cottage: House, app: flask.Flask) -> None:
    with db.transaction():
        companions.stand_in(cottage.now)
    said = text(Visitor(app).get("/people/Bot"))
    assert "A steady bot: a program of this house that plays on in seats that people have left" in said
    assert "Here since" not in said


@pytest.mark.parametrize(("strength", "article"), [("easy", "An"), ("steady", "A"), ("strong", "A")])
def test_a_bot_says_how_many_matches_it_has_finished(
    cottage: House, app: flask.Flask, strength: str, article: str
) -> None:
    match = cottage.table("Ailsa", seats=2)
    lobby.fill(match.id, cottage.people["Ailsa"], strength, cottage.now)
    bot = next(seat.user for seat in match.seat_set if seat.user.bot)
    page = Visitor(app).get(f"/people/{quote(bot.name)}")
    assert f"{article} {strength} bot: a program of this house" in text(page)
    assert "No match of it has ended here yet." in text(page)
    cottage.finish(match)
    page = Visitor(app).get(f"/people/{quote(bot.name)}")
    assert "1 finished match here. Search them in the archive" in text(page)
    found = re.search(r'href="(/archive[?]player=[^"]+)">Search', page.text)
    assert found
    assert f"/matches/{match.id}" in Visitor(app).get(found[1]).text


def test_whom_only_records_name_is_told_apart(cottage: House, app: flask.Flask) -> None:
    with db.transaction():
        guests.seated(["Ailsa"], cottage.now)
    assert "Known here from records" in text(Visitor(app).get("/people/Ailsa*"))
    assert "Known here from records" not in text(Visitor(app).get("/people/Ailsa"))


def test_the_viewer_is_marked_in_the_list_of_opponents(cottage: House, app: flask.Flask) -> None:
    fought(cottage, "ABC", "go", "stay", "look")
    count(cottage)
    assert "Catrin you 1 1 0 0" in text(Visitor(app, cottage.people["Catrin"]).get("/people/Ailsa"))
    assert " you " not in text(Visitor(app, cottage.people["Dugald"]).get("/people/Ailsa"))


def test_many_opponents_are_shown_when_asked_for(cottage: House, app: flask.Flask) -> None:
    met = len(people.profile(crowd(cottage, 120, 20)[0], None, cottage.now).meetings)
    first = text(Visitor(app).get("/people/Person 0")).partition("Head to head")[2].partition("Finished")[0]
    every = text(Visitor(app).get("/people/Person 0?opponents=all")).partition("Head to head")[2].partition("Fin")[0]
    assert (first.count("Person "), every.count("Person ")) == (people.OPPONENTS + 1, met + 1)
    assert f"All {met} opponents" in first
    assert "opponents" not in every


def test_matches_are_turned_page_by_page(cottage: House, app: flask.Flask) -> None:
    crowd(cottage, 90, 3)
    seen, path = [], "/people/Person 0"
    while path:
        page = Visitor(app).get(path).text
        seen += re.findall(r"/matches/(\d+)/replay", page)
        more = re.search(r'rel="next" href="([^"#]+)', page)
        path = more[1].replace("&amp;", "&") if more else ""
    own = Match.select().where(Match.status == "finished").count()
    assert len(set(seen)) == len(seen)
    assert 25 < len(seen) <= own
    assert seen == sorted(seen, key=int, reverse=True)


@pytest.mark.parametrize("query", ["after=x", "after=-1", "after=1-5", "after=٣", "after=" + "9" * 30])
def test_a_page_that_is_none_is_refused(cottage: House, app: flask.Flask, query: str) -> None:
    assert Visitor(app).get(f"/people/Ailsa?{query}").status_code == 422
    assert Visitor(app).get(f"/ladder?{query}").status_code == 422


def test_who_wants_to_watch_first_reads_no_result_of_his_match(cottage: House, app: flask.Flask) -> None:
    fought(cottage, "AB", "go", "stay")
    count(cottage)
    with db.transaction():
        User.update(keeps_results=True).where(User.name == "Ailsa").execute()
    said = text(Visitor(app, cottage.people["Ailsa"]).get("/people/Bran"))
    assert "You wanted to watch it first" in said
    assert "won" not in said.partition("Finished matches")[2]
    assert "won" in text(Visitor(app).get("/people/Bran")).partition("Finished matches")[2]


def test_each_game_has_its_ladder(cottage: House, app: flask.Flask) -> None:
    for _ in range(ratings.ENOUGH):
        fought(cottage, "ABC", "go", "look", "stay")
        fought(cottage, "DA", "go", "stay", game="quarrel")
    count(cottage)
    visitor = Visitor(app, cottage.people["Bran"])
    said = text(visitor.get("/ladder?game=contest"))
    assert re.search(r"You stand at place 2 of 3 .* 1 Ailsa \d+ 5 2 Bran you \d+ 5 3 Catrin \d+ 5", said)
    assert re.search(r"1 Dugald \d+ 5 2 Ailsa \d+ 5", text(visitor.get("/ladder?game=quarrel")))
    assert "You are on the ladder when 5 rated matches have ended: 0 so far." in text(
        visitor.get("/ladder?game=quarrel")
    )
    assert "Ladder of Clans" in text(visitor.get("/ladder"))
    assert visitor.get("/ladder?game=chess").status_code == 404
    assert "place 1" in text(visitor.get("/people/Ailsa"))


def test_a_sleeper_is_told_how_to_come_back(cottage: House, app: flask.Flask) -> None:
    for _ in range(ratings.ENOUGH):
        fought(cottage, "AB", "go", "look")
    count(cottage)
    cottage.later(days=366)
    said = text(Visitor(app, cottage.people["Ailsa"]).get("/ladder?game=contest"))
    assert "Your last rated match was more than a year ago" in said
    assert "Nobody has 5 rated matches" in said


def test_a_ladder_is_turned_page_by_page(cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "PAGE", 4)
    crowd(cottage, 200, 11)
    count(cottage)
    names, path = [], "/ladder?game=clans"
    while path:
        page = Visitor(app).get(path).text
        names += re.findall(r"<bdi>(Person \d+)</bdi>", page)
        more = re.search(r'rel="next" href="([^"]+)', page)
        path = more[1].replace("&amp;", "&") if more else ""
    assert sorted(names) == sorted(f"Person {number}" for number in range(11))
    assert "Nobody stands further down" in text(Visitor(app).get("/ladder?game=clans&after=-99999.1"))


def test_a_chart_holds_all_its_numbers() -> None:
    for numbers in ([1000], [1000, 1000], [1000, 1094, 990], [-40, 3000], list(range(1000, 1040))):
        chart = curve.line(numbers)
        assert len(chart.points) == len(numbers)
        assert 2 <= len(chart.levels) <= 6
        for x, y in chart.points:
            assert curve.LEFT <= x <= curve.WIDTH - curve.RIGHT
            assert curve.TOP <= y <= curve.HEIGHT - curve.BOTTOM
        heights = [y for _, y in chart.points]
        assert sorted(range(len(numbers)), key=numbers.__getitem__) == sorted(
            range(len(numbers)), key=lambda place: -heights[place]
        )


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_a_running_match_shows_nothing_but_that_it_runs(
    kind: str, sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two worlds in which other cards and clans are dealt and other moves are made look the same, byte for byte."""
    with_contests(monkeypatch)
    worlds = []
    for seed in (b"one", b"two"):
        folder = tmp_path / seed.decode()
        folder.mkdir()
        shutil.copy(sqlite_template, folder / "clachan.db")
        db.use(f"sqlite:///{folder / 'clachan.db'}")
        with db.connected():
            house = House(house_settings(f"sqlite:///{folder / 'clachan.db'}", folder))
            worlds.append(looked_at(house, kind, seed, monkeypatch))
    assert worlds[0] == worlds[1]


def looked_at(house: House, kind: str, seed: bytes, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Play a match half through and return all that can be read about its people meanwhile."""
    app = application(house, monkeypatch)
    fought(house, "AB", "go", "stay")
    setup = games.game(kind).deal(deal.stream_for(seed, ["a", "b"]), 2, {})
    match = house.started("Ailsa", "Bran", setup=setup, game=kind)
    found = []
    for _ in range(6):
        house.later(minutes=10)
        moves = house.played(match).view(house.played(match).position.to_act[0]).moves
        house.move(match, moves[seed[0] % len(moves)])
        count(house)
        for viewer in (None, house.people["Ailsa"], house.people["Catrin"]):
            paths = ("/people/Ailsa", "/people/Bran", f"/ladder?game={kind}", "/ladder?game=contest")
            found += [TOKEN.sub("#", Visitor(app, viewer).get(path).text) for path in paths]
    assert any("1</span> running now" in page for page in found)
    return found


@pytest.mark.hardship
@pytest.mark.parametrize("crew", [60, 4])
def test_pages_of_people_are_fast_in_a_house_of_ten_thousand_matches(
    house: House, monkeypatch: pytest.MonkeyPatch, crew: int
) -> None:
    crowd(house, 10_000, crew)
    count(house)
    # PostgreSQL does so by itself within a minute.
    db.database.execute_sql("ANALYZE")
    app = application(house, monkeypatch)
    visitor = Visitor(app, house.people["Ailsa"])
    slow = {}
    for path in ("/people/Person 0", "/people/Person 0?opponents=all&after=1000", "/ladder?game=clans"):
        visitor.get(path)
        spans = []
        for _ in range(5):
            begun = time.perf_counter()
            assert visitor.get(path).status_code == 200
            spans.append(1000 * (time.perf_counter() - begun))
        slow[path] = min(spans)
    assert all(span < FAST for span in slow.values()), slow


def test_lists_of_people_are_found_by_their_indexes(cottage: House) -> None:
    """No look at every match, part or rating that there is."""
    user = crowd(cottage, 60, 6)[0]
    count(cottage)
    asked: list[str] = []
    database = db.database.obj
    real = database.execute_sql

    def spying(sql: str, params: object = None, *more: object) -> object:
        if sql.startswith("SELECT"):
            asked.extend(row[3] for row in real(f"EXPLAIN QUERY PLAN {sql}", params).fetchall())
        return real(sql, params, *more)

    database.execute_sql = spying
    try:
        people.profile(user, None, cottage.now)
        people.finished(user)
        ratings.ladder("clans", cottage.now)
        ratings.count_up(cottage.now)
    finally:
        del database.execute_sql
    assert asked
    assert not [plan for plan in asked if plan.startswith("SCAN")], asked

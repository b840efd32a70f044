"""The pages of visitors: one click, the line that says until when they are kept, the form that makes them persons."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import argon2
import flask
import pytest
from house import House
from visitor import Visitor, application, error

from engine import games
from server import accounts, links, log, visitors
from server.models import User

PASSWORD = "heather and peat"


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    cheap = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", cheap)
    return application(cottage, monkeypatch)


def token(text: str) -> str:
    """Return the token of the link in a mail."""
    return re.search(r"/confirm/(\S+)", text).group(1)


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_one_click_on_the_front_page_leads_to_the_match(cottage: House, app: flask.Flask) -> None:
    stranger = Visitor(app)
    assert 'action="/try/clans"' in stranger.get("/").text
    answer = stranger.post("/try/clans")
    assert answer.status_code == 302
    page = stranger.get(answer.headers["Location"])
    assert "Playing as a visitor, kept until Mon 9 Mar 2026" in words(page.text)
    with stranger.client.session_transaction() as session:
        assert session.permanent
    assert answer.headers["Location"] in stranger.get("/").text
    assert stranger.post("/try/clans").headers["Location"] == answer.headers["Location"]


def test_a_page_without_scripts_looks_again_while_a_bot_is_awaited_and_only_then(
    cottage: House, app: flask.Flask
) -> None:
    visitor = Visitor(app)
    place = visitor.post("/try/clans").headers["Location"]
    number = int(place.rpartition("/")[2])
    refresh = '<noscript><meta http-equiv="refresh" content="8"></noscript>'
    for _ in range(4):
        page = visitor.get(place).text
        awaited = bool(log.get(number).bot_acts)
        assert (refresh in page.partition("</head>")[0]) == awaited
        assert ("Look again" in page) == awaited
        if awaited:
            cottage.bots()
        else:
            cottage.move(log.get(number))
    people = cottage.begun("Ailsa", "Bran")
    assert 'http-equiv="refresh"' not in Visitor(app).get(f"/matches/{people.id}").text


def test_every_game_is_offered_to_a_visitor_with_its_guide(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    visitor.post("/try/clans")
    assert words(visitor.get("/").text).count("With a guide") == len(games.games())
    place = visitor.post("/try/glory", guided="1").headers["Location"]
    assert "Your first match" in words(visitor.get(place).text)
    assert "With a guide" not in Visitor(app, cottage.people["Ailsa"]).get("/").text


def test_a_stranger_brings_his_time_zone_along(cottage: House, app: flask.Flask) -> None:
    stranger = Visitor(app)
    form = '<input type="hidden" name="zone" data-guess-zone>'
    assert form in stranger.get("/").text
    stranger.post("/try/clans", zone="Europe/Prague")
    assert User.get(User.visitor_until.is_null(False)).zone == "Europe/Prague"
    assert form not in stranger.get("/").text


def test_looking_makes_nobody_a_visitor(cottage: House, app: flask.Flask) -> None:
    crawler = Visitor(app)
    assert crawler.get("/try/clans").status_code == 405
    assert crawler.client.post("/try/clans", headers={"Accept": "application/json"}).status_code == 400
    token = crawler.token()
    foreign = {"Origin": "https://elsewhere.example.org", "Accept": "application/json"}
    answer = crawler.client.post("/try/clans", data={"csrf_token": token}, headers=foreign)
    assert error(answer) == "forged"
    assert crawler.post("/try/chess").status_code == 404
    assert not User.select().where(User.visitor_until.is_null(False)).exists()


def test_a_double_click_of_a_stranger_is_one_visitor(cottage: House, app: flask.Flask) -> None:
    stranger = Visitor(app)
    token = stranger.token()
    cookie = stranger.client.get_cookie("clachan").value
    places = []
    for _ in range(2):
        twin = app.test_client()
        twin.set_cookie("clachan", cookie)
        places.append(twin.post("/try/glory", data={"csrf_token": token}).headers["Location"])
    assert places[0] == places[1]
    assert User.select().where(User.visitor_until.is_null(False)).count() == 1


def test_a_visitor_begins_a_new_session(cottage: House, app: flask.Flask) -> None:
    stranger = Visitor(app)
    with stranger.client.session_transaction() as session:
        session["planted"] = "by another"
    stranger.post("/try/clans")
    with stranger.client.session_transaction() as session:
        assert "planted" not in session


def test_a_forgotten_visitor_is_a_stranger_again(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    visitor.post("/try/clans")
    visitors.sweep(cottage.later(days=8))
    assert "no account needed" in visitor.get("/").text
    assert visitor.get("/keep").status_code == 302


def test_a_visitor_who_leaves_is_forgotten_at_once(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    place = visitor.post("/try/clans").headers["Location"]
    visitor.post("/signout")
    assert not User.select().where(User.visitor_until.is_null(False)).exists()
    assert "The match was called off." in visitor.get(place).text


def test_every_page_a_visitor_looks_at_keeps_him_for_longer(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    visitor.post("/try/clans")
    for path in ("/", "/rules/clans", "/matches/1", "/matches/1/pulse?seen"):
        visitor.get(path)
        visitors.sweep(cottage.later(days=6))
    assert User.select().where(User.visitor_until.is_null(False)).count() == 1


def test_a_visitor_makes_his_match_his_own_by_the_form(cottage: House, app: flask.Flask) -> None:
    visitor, other = Visitor(app), Visitor(app)
    place = visitor.post("/try/clans").headers["Location"]
    visitor.post(f"{place}/note", text="Mind the lakes")
    form = {"name": "Mairi", "email": "mairi@example.org", "password": PASSWORD, "zone": "Europe/Prague"}
    again = visitor.post("/keep", **{**form, "password": "short"})
    assert again.status_code == 422
    assert 'value="Mairi"' in again.text
    assert visitor.post("/keep", **form).headers["Location"] == "/keep"
    assert "A letter is on its way" in visitor.get("/keep").text
    assert "a letter is on its way to you" in words(visitor.get(place).text)
    link = f"/confirm/{token(cottage.mail()[-1].text)}"
    assert "Mairi" in other.get(link).text
    assert visitor.post(link).headers["Location"] == "/"
    page = visitor.get(place).text
    assert "Mind the lakes" in page
    assert "visitor" not in words(page).casefold()
    assert visitor.get("/settings").status_code == 200
    assert visitor.get("/keep").headers["Location"] == "/settings"
    assert visitor.post("/keep", **form).headers["Location"] == "/settings"


def test_page_line_and_letter_say_the_same_of_how_long_the_link_is_good(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    visitor.post("/try/clans")
    visitor.post("/keep", name="Mairi", email="mairi@example.org", password=PASSWORD, zone="UTC")
    line = words(visitor.get("/").text.partition("<aside")[2].partition("</aside>")[0])
    letter = " ".join(cottage.mail()[-1].text.split())
    for said in (line, words(visitor.get("/keep").text), letter):
        assert "good for three days" in said
    assert links.LIFETIMES["confirm"] == timedelta(days=3)
    assert "Mar" not in line, "when the stay ends is another thing"


def test_who_confirms_elsewhere_signs_in_there(cottage: House, app: flask.Flask) -> None:
    visitor, other = Visitor(app), Visitor(app)
    visitor.post("/try/clans")
    visitor.post("/keep", name="Mairi", email="mairi@example.org", password=PASSWORD, zone="UTC")
    assert other.post(f"/confirm/{token(cottage.mail()[-1].text)}").headers["Location"] == "/signin"
    assert visitor.get("/settings").status_code == 200


def test_a_known_and_an_unknown_address_look_the_same_to_a_visitor(cottage: House, app: flask.Flask) -> None:
    pages = []
    for name, email in (("Mairi", "ailsa@example.org"), ("Morag", "morag@example.org")):
        visitor = Visitor(app)
        visitor.post("/try/clans")
        sent = visitor.post("/keep", follow=True, name=name, email=email, password=PASSWORD, zone="UTC")
        seen = [sent.text, visitor.get("/keep").text, visitor.get("/settings").text]
        # What is above does not depend on the address either, but on who was drawn to move first.
        seen = [page.partition("<main")[2] for page in seen] + re.findall(
            "<aside.*</aside>", visitor.get("/").text, re.S
        )
        blot = re.compile(r'name="csrf_token" value="[^"]+"')
        pages.append([blot.sub("#", page).replace(name, "Somebody") for page in seen])
    assert pages[0] == pages[1]


def test_the_end_of_a_match_against_a_bot_offers_another_and_no_rematch(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    place = visitor.post("/try/clans").headers["Location"]
    visitor.post(f"{place}/resign", sure="yes")
    page = visitor.get(place).text
    assert "Ask for a rematch" not in page
    assert "Play the bot again" in page
    assert visitor.post("/try/clans").headers["Location"] != place


def test_a_visitor_finds_his_finished_matches_on_his_page_newest_first(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    places = []
    for game in ("clans", "glory"):
        places.append(visitor.post(f"/try/{game}").headers["Location"])
        visitor.post(f"{places[-1]}/resign", sure="yes")
        cottage.later(minutes=1)
    assert "Your finished matches" not in visitor.get("/").text, "so far they are under Just finished"
    for place in places:
        visitor.get(place)
    listed = visitor.get("/").text.partition("Your finished matches</h2>")[2].partition("</table>")[0]
    assert re.findall(r'href="(/matches/\d+)"', listed) == places[::-1]
    assert "resignation" in listed
    running = visitor.post("/try/clans").headers["Location"]
    assert running in visitor.get("/").text
    assert "in the archive" not in visitor.get("/").text, "which does not have them"


def test_a_person_is_led_from_his_last_matches_to_the_archive(cottage: House, app: flask.Flask) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])
    for _ in range(6):
        match = cottage.finish(cottage.started("Ailsa", "Bran"))
        ailsa.get(f"/matches/{match.id}")
    page = ailsa.get("/").text.partition("Your finished matches</h2>")[2]
    assert page.partition("</table>")[0].count('href="/matches/') == 5
    assert 'href="/archive?player=Ailsa"' in page


def test_who_wants_to_watch_the_end_first_is_not_told_it_by_the_list(cottage: House, app: flask.Flask) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])
    match = cottage.begun("Ailsa", "Bran")
    ailsa.get(f"/matches/{match.id}")
    User.update(keeps_results=True).where(User.name == "Ailsa").execute()
    cottage.finish(match)
    page = ailsa.get("/").text
    assert "You wanted to watch it first." in page
    assert "Your finished matches" not in page


def test_a_visitor_is_told_why_he_cannot_sit_down_with_people(cottage: House, app: flask.Flask) -> None:
    visitor, table = Visitor(app), cottage.table("Ailsa", seats=2)
    why = "To sit down with people, make an account first."
    visitor.post("/try/clans")
    for path in (f"/matches/{table.id}", "/tables"):
        page = visitor.get(path).text
        assert why in words(page).replace(" .", ".")
        assert "Take a seat" not in page
        assert 'href="/tables/new"' not in page
    for other in (Visitor(app), Visitor(app, cottage.people["Bran"])):
        for path in (f"/matches/{table.id}", "/tables"):
            assert "make an account first" not in other.get(path).text


def test_the_end_of_a_guided_match_leads_a_visitor_to_an_account(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    place = visitor.post("/try/clans", guided="1").headers["Location"]
    visitor.post(f"{place}/resign", sure="yes")
    page = visitor.get(place).text
    guide = page.partition('id="guide"')[2].partition("</section>")[0]
    assert 'href="/keep"' in guide
    assert "people wait for you" not in guide


def test_bots_are_found_from_the_list_and_the_tables(cottage: House, app: flask.Flask) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])
    for _ in range(2):
        page = ailsa.get("/").text.partition("Play a bot now</h2>")[2]
        assert 'action="/try/clans"' in page
        assert 'action="/try/glory"' in page
        cottage.begun("Ailsa", "Bran")
    assert 'id="play"' in ailsa.get("/").text
    assert 'href="/#play"' in ailsa.get("/tables").text
    assert "bots take the free seats" in ailsa.get("/tables").text
    assert 'href="/#try"' in Visitor(app).get("/tables").text
    assert 'id="try"' in Visitor(app).get("/").text
    assert "let bots take the seats" in ailsa.get("/tables/new").text


def test_a_visitor_is_no_link_to_a_page_that_is_not_there(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    place = visitor.post("/try/clans").headers["Location"]
    links = set(re.findall(r'href="(/[^"#?]*)', visitor.get(place).text))
    assert not any(link.startswith("/people/Visitor") for link in links)
    assert {visitor.get(html.unescape(link)).status_code for link in links} <= {200, 302}

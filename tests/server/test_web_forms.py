"""Forms: what they ask for, what becomes of it, and what a refused one shows again."""

from __future__ import annotations

import html
import re
from typing import Any

import flask
import pytest
from house import DAY, House
from visitor import Visitor, application, error

from server import lobby, log, vacations
from server.models import Match, User

HOUR = 3600
TABLE = {"game": "clans", "seats": "2", "limit": "move", "move": str(DAY), "takeback": "yes"}


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.fixture
def ailsa(cottage: House, app: flask.Flask) -> Visitor:
    return Visitor(app, cottage.people["Ailsa"])


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def chosen(text: str, name: str) -> list[str]:
    """Return the values that a field of the form on a page holds."""
    found = re.search(rf'<select[^>]* name="{name}".*?</select>', text, re.DOTALL)
    if found:
        return re.findall(r'<option(?: value="([^"]*)")? selected', found.group())
    fields = re.findall(rf'<input[^>]* name="{name}"[^>]*>', text)
    ticked = [field for field in fields if 'type="radio"' in field or 'type="checkbox"' in field]
    held = [field for field in ticked if " checked" in field] if ticked else fields
    return [re.search(r'value="([^"]*)"', field).group(1) for field in held]


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        ({}, {"move": DAY}),
        ({"limit": "none", "bank": "nonsense", "move": "", "weekend": "yes"}, {}),
        ({"limit": "none", "takeback": ""}, {"takeback": False}),
        ({"limit": "bank", "bank": str(7 * DAY)}, {"bank": 7 * DAY}),
        (
            {"limit": "both", "bank": str(DAY), "increment": str(HOUR), "cap": str(2 * DAY)},
            {"move": DAY, "bank": DAY, "increment": HOUR, "cap": 2 * DAY},
        ),
        ({"weekend": "yes", "nights": "yes"}, {"move": DAY, "weekend": True, "nights": True}),
        ({"daily": "18:00"}, {"move": DAY, "daily": "18:00 UTC"}),
        ({"daily": "18:00", "zone": "Europe/Prague"}, {"move": DAY, "daily": "18:00 Europe/Prague"}),
        ({"vacations": "no"}, {"move": DAY, "vacations": False}),
        ({"missing": "vote", "misses": "5"}, {"move": DAY, "missing": "vote"}),
        ({"missing": "bot", "misses": "5"}, {"move": DAY, "misses": 5}),
    ],
)
def test_a_table_has_the_time_rule_of_the_form(ailsa: Visitor, form: dict[str, str], rule: dict[str, Any]) -> None:
    assert ailsa.post("/tables/new", **{**TABLE, **form}).status_code == 302
    assert Match.get().clock == rule


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"seats": "7"}, "Clans is for 2 to 4 players."),
        ({"move": "60"}, "The time for each move is none or from 1 hour to 60 days."),
        ({"limit": "both", "bank": "86400", "cap": "172800"}, "Only a time bank that grows needs a most."),
        ({"daily": "18:00", "nights": "yes"}, "there are no nightly hours with them."),
        ({"daily": "25:00"}, "'25:00 UTC' is no time of the day like 18:00 Europe/Prague."),
        ({"missing": "shrug"}, "What becomes of who is out of time is one of"),
        ({"move": "soon"}, "A number was expected."),
    ],
)
def test_a_refused_table_is_shown_again_as_it_was_filled_in(
    ailsa: Visitor, form: dict[str, str], sentence: str
) -> None:
    sent = {**TABLE, "limit": "both", "bank": str(14 * DAY), "weekend": "yes", "entry": "invited", **form}
    sent |= {"option-clans-five_singles": "all_stay"}
    answer = ailsa.post("/tables/new", **sent)
    assert answer.status_code == 422
    assert sentence in words(answer.text)
    assert "<title>Please look again:" in answer.text
    for name in ("limit", "bank", "weekend", "entry", "option-clans-five_singles", "takeback"):
        assert chosen(answer.text, name) == [sent[name]], name
    assert chosen(answer.text, "nights") == ([sent["nights"]] if "nights" in sent else [])
    assert Match.select().count() == 0


def test_a_fresh_form_has_the_usual_rule(cottage: House, ailsa: Visitor) -> None:
    text = ailsa.get("/tables/new").text
    usual = {"limit": ["move"], "move": [str(3 * DAY)], "missing": ["bot"], "misses": ["2"], "takeback": ["yes"]}
    for name, values in {**usual, "weekend": [], "nights": [], "zone": ["UTC"], "daily": [""]}.items():
        assert chosen(text, name) == values, name


def test_the_rule_stands_wherever_a_table_is_shown(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    rule = {"move": 2 * DAY, "weekend": True, "missing": "loss"}
    match = cottage.table("Ailsa", seats=2, clock=rule)
    token = lobby.invitation(match.id, cottage.people["Ailsa"], cottage.now)
    sentence = log.rule_sentence(match)
    for path in ("/", "/tables", f"/matches/{match.id}", f"/invite/{token}"):
        visitor = Visitor(app) if path != "/" else ailsa
        assert sentence in words(visitor.get(path).text), path
    assert sentence in words(Visitor(app).get("/").text)
    begun = cottage.started("Ailsa", "Bran", clock=rule)
    assert sentence in words(ailsa.get(f"/matches/{begun.id}").text)


def test_a_table_whose_rule_is_spoilt_keeps_nobody_from_the_others(cottage: House, app: flask.Flask) -> None:
    spoilt, sound = cottage.table("Ailsa", seats=2), cottage.table("Bran", seats=2)
    Match.update(clock={"move": "soon"}).where(Match.id == spoilt.id).execute()
    text = Visitor(app).get("/tables").text
    assert f"Clans {sound.id}" in text
    assert f"Clans {spoilt.id}" not in text
    assert Visitor(app).get(f"/matches/{spoilt.id}").status_code == 500


def test_settings_are_stored(cottage: House, ailsa: Visitor) -> None:
    form = {"zone": "Asia/Tokyo", "reminders": "90, 50", "dusk": "23:00", "dawn": "07:30", "forced": "yes"}
    form |= {"turn_mail": "daily", "digest_hour": "21"}
    assert ailsa.post("/settings", **form).status_code == 302
    user = User.get(User.name == "Ailsa")
    assert (user.zone, user.reminders, user.nights, user.forced) == ("Asia/Tokyo", "50,90", "23:00-07:30", True)
    assert (user.turn_mail, user.digest_hour) == ("daily", 21)
    text = ailsa.get("/settings").text
    held = {"zone": ["Asia/Tokyo"], "reminders": ["50, 90"], "dusk": ["23:00"], "dawn": ["07:30"], "forced": ["yes"]}
    for name, values in {**held, "turn_mail": ["daily"], "digest_hour": ["21"]}.items():
        assert chosen(text, name) == values, name
    assert ailsa.post("/settings", zone="Asia/Tokyo", dusk="", dawn="").status_code == 302
    assert User.get(User.name == "Ailsa").nights == ""


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"dusk": "22:00"}, "are no nightly hours like 22:00-07:00."),
        ({"dusk": "08:00", "dawn": "22:00"}, "Nightly hours are at most 12 hours long."),
        ({"reminders": "often"}, "Reminders are up to 3 percentages"),
        ({"zone": "Mars/Olympus"}, "Choose a time zone from the list"),
    ],
)
def test_refused_settings_are_shown_again(ailsa: Visitor, form: dict[str, str], sentence: str) -> None:
    sent = {"zone": "Asia/Tokyo", "reminders": "33", "forced": "yes", "turn_mail": "off", "digest_hour": "9", **form}
    answer = ailsa.post("/settings", **sent)
    assert answer.status_code == 422
    assert sentence in words(answer.text)
    assert chosen(answer.text, "reminders") == [sent["reminders"]]
    assert chosen(answer.text, "forced") == ["yes"]
    assert chosen(answer.text, "turn_mail") == ["off"]
    assert User.get(User.name == "Ailsa").reminders == "80"


def test_a_refused_vacation_leaves_the_other_settings_on_the_page_alone(ailsa: Visitor) -> None:
    answer = ailsa.post("/settings/vacation", **{"from": "2026-03-09", "until": "2026-03-05"})
    assert answer.status_code == 422
    assert "A vacation ends after it has begun." in words(answer.text)
    assert chosen(answer.text, "from") == ["2026-03-09"]
    assert chosen(answer.text, "until") == ["2026-03-05"]
    assert chosen(answer.text, "turn_mail") == ["at-once"]
    assert chosen(answer.text, "reminders") == ["80"]


def test_days_of_vacation_are_counted_down(cottage: House, ailsa: Visitor) -> None:
    assert "In 2026 you have 42 days left." in words(ailsa.get("/settings").text)
    ailsa.post("/settings/vacation", **{"from": "2026-03-05", "until": "2026-03-09"})
    assert "In 2026 you have 37 days left." in words(ailsa.get("/settings").text)
    told = words(ailsa.post("/settings/vacation", follow=True, end="yes").text)
    assert "Your vacation is over" in told
    assert "In 2026 you have 42 days left." in told
    assert vacations.current(cottage.people["Ailsa"], cottage.now) is None


def test_today_is_the_day_where_the_person_is(cottage: House, ailsa: Visitor) -> None:
    User.update(zone="Australia/Sydney").where(User.name == "Ailsa").execute()
    cottage.now = cottage.now.replace(day=2, hour=14)
    assert ailsa.get("/settings").text.count('min="2026-03-03"') == 2


def test_ending_a_vacation_leads_nowhere_else(ailsa: Visitor) -> None:
    ailsa.post("/settings/vacation", **{"from": "2026-03-05", "until": "2026-03-09"})
    answer = ailsa.post("/settings/vacation", end="yes", next="//evil.example")
    assert answer.headers["Location"] == "/"


def test_signing_up_again_after_a_refusal_needs_the_password_only(app: flask.Flask) -> None:
    stranger = Visitor(app)
    form = {"name": "Flora", "email": "flora@example.net", "password": "a short secret", "zone": "Asia/Tokyo"}
    answer = stranger.post("/signup", **{**form, "name": "Ailsa"})
    assert answer.status_code == 422
    assert "The name Ailsa is taken." in words(answer.text)
    assert chosen(answer.text, "email") == ["flora@example.net"]
    assert "a short secret" not in answer.text
    assert chosen(answer.text, "zone") == ["Asia/Tokyo"]
    assert "data-guess-zone" not in answer.text


@pytest.mark.parametrize(
    ("path", "form", "kept"),
    [
        ("/signin", {"name": "Ailsa", "password": "wrong one"}, "Ailsa"),
        ("/forgot", {"email": "no address"}, "no address"),
        ("/settings/password", {"old": "wrong one", "new": "another one"}, ""),
        ("/settings/delete", {"password": "wrong one"}, ""),
    ],
)
def test_no_refused_form_loses_its_page_or_gives_a_password_back(
    ailsa: Visitor, path: str, form: dict[str, str], kept: str
) -> None:
    answer = ailsa.post(path, **form)
    assert answer.status_code in {403, 422}
    assert 'id="refused"' in answer.text
    assert f'action="{path}"' in answer.text or path == "/forgot"
    assert f'value="{kept}"' in answer.text
    assert "wrong one" not in answer.text


def test_a_program_is_told_of_a_refusal_in_its_own_way(ailsa: Visitor) -> None:
    answer = ailsa.post("/tables/new", json=True, **{**TABLE, "seats": "9"})
    assert (answer.status_code, error(answer)) == (422, "bad-input")


def test_an_invitation_to_no_address_leaves_the_table_on_the_page(cottage: House, ailsa: Visitor) -> None:
    match = cottage.table("Ailsa", seats=2)
    answer = ailsa.post(f"/matches/{match.id}/invite", email="no address")
    assert answer.status_code == 422
    assert 'id="refused"' in answer.text
    assert "Invite somebody" in answer.text
    assert chosen(answer.text, "email") == ["no address"]


def test_a_full_table_is_shown_as_it_stands(cottage: House, app: flask.Flask) -> None:
    match = cottage.table("Ailsa", "Bran", seats=2, autostart=False)
    answer = Visitor(app, cottage.people["Catrin"]).post(f"/matches/{match.id}/join")
    assert answer.status_code == 409
    assert "Every seat at this table is taken." in words(answer.text)
    assert 'id="seats"' in answer.text


def test_an_address_that_takes_a_form_leads_to_its_page_when_it_is_looked_at(
    cottage: House, app: flask.Flask, ailsa: Visitor
) -> None:
    match = cottage.started("Ailsa", "Bran")
    ways = {
        "/settings/vacation": "/settings",
        "/settings/password": "/settings",
        "/settings/mail": "/settings",
        f"/matches/{match.id}/prepare": f"/matches/{match.id}",
        f"/matches/{match.id}/seats/1/offer": f"/matches/{match.id}",
        f"/matches/{match.id}/moves": f"/matches/{match.id}",
        f"/matches/{match.id}/note": f"/matches/{match.id}",
        f"/matches/{match.id}/guide": f"/matches/{match.id}",
        "/settings/sessions": "/settings",
    }
    for path, page in ways.items():
        answer = ailsa.get(path)
        assert (answer.status_code, answer.headers.get("Location")) == (302, page), path
    assert ailsa.get("/signout").status_code == 405
    assert ailsa.get("/settings/vacation", headers={"Accept": "application/json"}).status_code == 405


def test_every_form_that_is_shown_again_under_its_own_address_can_be_loaded_again(
    cottage: House, app: flask.Flask, ailsa: Visitor
) -> None:
    match = cottage.started("Ailsa", "Bran")
    given = {"match_id": match.id, "seat": 0, "token": "x", "kind": "clans", "key": "x", "way": 1}
    given |= {"who": 1, "mail": 1, "which": 1}
    for rule in app.url_map.iter_rules():
        if hasattr(app.view_functions[rule.endpoint], "page"):
            with app.test_request_context():
                values = {name: given[name] for name in rule.arguments}
                path = app.url_map.bind("x").build(rule.endpoint, values, "POST")
            assert ailsa.get(path).status_code != 405, path


def test_the_answer_to_a_word_in_the_talk_stands_beside_its_field(
    cottage: House, app: flask.Flask, ailsa: Visitor
) -> None:
    match = cottage.started("Ailsa", "Bran")
    page = ailsa.post(f"/matches/{match.id}/talk", follow=True, text="/help", expected=0).text
    assert page.count("You may write:") == 1
    assert page.index('id="talk"') < page.index("You may write:") < page.index("Say it")
    assert "You may write:" not in ailsa.get(f"/matches/{match.id}").text


def test_the_settings_begin_with_links_to_all_their_parts(ailsa: Visitor) -> None:
    text = ailsa.get("/settings").text
    links = re.findall(r'<li><a href="#([a-z]+)">(.*?)</a></li>', text)
    assert links == re.findall(r'<h2 id="([a-z]+)">(.*?)</h2>', text)

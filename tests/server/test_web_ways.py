"""The page on which a person says by which other ways he is told, and the choice on the page of a match."""

from __future__ import annotations

import logging
from datetime import timedelta

import flask
import pytest
from house import House
from visitor import Visitor, application

from server import ways
from server.channels import NOT_FOUND
from server.models import Outbox, Seat, User, Way

TOKEN = "tk_verysecretaaaaaaaa"


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.fixture
def ailsa(cottage: House, app: flask.Flask) -> Visitor:
    return Visitor(app, cottage.people["Ailsa"])


def given(ailsa: Visitor, **more: str) -> Way:
    """Fill the form of a service in; return what is stored."""
    form = {
        "kind": "ntfy",
        "url": "https://ntfy.sh/very-secret-topic",
        "token": TOKEN,
        "takes-turn": "yes",
        "takes-end": "yes",
    }
    assert ailsa.post("/settings/ways", **{**form, **more}).status_code == 302
    return Way.select().order_by(Way.id.desc()).get()


def test_a_way_is_stored_with_what_it_takes_and_a_trial_message_is_queued(cottage: House, ailsa: Visitor) -> None:
    way = given(ailsa, label="My phone")
    assert (way.label, way.takes, way.user_id) == ("My phone", {"turn", "end"}, cottage.people["Ailsa"].id)
    assert way.address == {"server": "https://ntfy.sh", "topic": "very-secret-topic", "token": TOKEN}
    assert [row.facts["news"] for row in Outbox.select().where(Outbox.way == way.id)] == ["trial"]
    page = ailsa.get("/settings").text
    assert "My phone" in page
    assert "ntfy.sh/ve…" in page
    assert "No message has been taken there yet." in page


def test_no_page_and_no_log_line_shows_an_address_in_full(
    cottage: House, app: flask.Flask, ailsa: Visitor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    given(ailsa)
    User.update(admin=True).where(User.name == "Bran").execute()
    keeper = Visitor(app, cottage.people["Bran"])
    who = cottage.people["Ailsa"].id
    pages = [keeper.get(path).text for path in ("/admin", "/admin/mail-out", "/admin/deeds", f"/admin/people/{who}")]
    pages += [ailsa.get("/settings").text, caplog.text]
    assert not any(secret in page for page in pages for secret in ("very-secret", "verysecret"))


def test_a_refused_form_is_shown_again_but_for_its_secrets(ailsa: Visitor) -> None:
    form = {
        "kind": "matrix",
        "server": "https://matrix.example.org",
        "room": "wrong",
        "token": "very-secret-token-1234",
    }
    answer = ailsa.post("/settings/ways", **form, label="The room", start="yes")
    assert answer.status_code == 422
    assert "That is not the number of a room of Matrix." in answer.text
    assert 'value="wrong"' in answer.text
    assert 'value="The room"' in answer.text
    assert "very-secret-token" not in answer.text
    assert answer.text.count('class="service" open') == 1
    assert Way.select().count() == 0


@pytest.mark.parametrize("kind", ["", "mailto", "json", "apprise", "push"])
def test_other_kinds_of_ways_are_refused(ailsa: Visitor, kind: str) -> None:
    assert ailsa.post("/settings/ways", kind=kind, url="json://localhost/").status_code == 422
    assert Way.select().count() == 0


def test_a_way_is_changed_tried_out_and_removed(cottage: House, ailsa: Visitor) -> None:
    way = given(ailsa)
    place = f"/settings/ways/{way.id}"
    ailsa.post(place, label="Another name", **{"takes-digest": "yes"})
    changed = Way.get_by_id(way.id)
    assert (changed.label, changed.takes) == ("Another name", {"digest"})
    cottage.later(minutes=1)
    assert "A trial message is on its way." in ailsa.post(place, follow=True, trial="yes").text
    ailsa.post(place, remove="yes")
    assert Way.select().count() == 0
    assert ailsa.post(place, remove="yes").status_code == 404


def test_nobody_touches_the_ways_of_others(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    way, bran = given(ailsa), Visitor(app, cottage.people["Bran"])
    for form in ({"remove": "yes"}, {"trial": "yes"}, {"label": "Mine", "takes-turn": "yes"}):
        assert bran.post(f"/settings/ways/{way.id}", **form).status_code == 404
    assert Way.get_by_id(way.id).takes == {"turn", "end"}
    assert "ntfy.sh/ve" not in bran.get("/settings").text


def test_what_failed_is_told_on_the_page_in_words_and_when_it_is_tried_again(cottage: House, ailsa: Visitor) -> None:
    way = given(ailsa)
    Way.update(failing_since=cottage.now, failures=2, fault=NOT_FOUND).execute()
    again = cottage.now + timedelta(minutes=5)
    Outbox.update(attempts=2, due_at=again).where(Outbox.way == way.id).execute()
    page = ailsa.get("/settings").text
    assert "there is no machine of that name." in page
    assert f'It is tried again <time datetime="{again:%Y-%m-%dT%H:%M}' in page
    Outbox.update(state="dropped", done_at=cottage.now).execute()
    assert "It is tried again with the next message." in ailsa.get("/settings").text
    Way.update(stopped_at=cottage.now).execute()
    assert "Nothing is sent there any more: there is no machine of that name." in ailsa.get("/settings").text
    ways.remove(cottage.people["Ailsa"], way.id, cottage.now)


def test_quiet_hours_are_asked_for_and_found_from_the_ways(cottage: House, ailsa: Visitor) -> None:
    form = {"zone": "UTC", "hush": "22:00", "wake": "07:00"}
    page = ailsa.get("/settings").text
    assert '<a href="#quiet">quiet hours</a>' in page
    assert 'id="quiet"' in page
    ailsa.post("/settings", **form)
    assert User.get_by_id(cottage.people["Ailsa"].id).quiet == "22:00-07:00"
    assert ailsa.post("/settings", **{**form, "wake": ""}).status_code == 422
    page = ailsa.get("/settings").text
    assert 'name="hush" type="time" value="22:00"' in page


@pytest.mark.parametrize(
    ("path", "place", "form"),
    [
        ("/settings/tokens", "tokens", {"label": "A bot", "read": "yes"}),
        ("/settings/ways", "ways", {"kind": "ntfy", "url": "https://ntfy.sh/very-secret-topic"}),
        ("/settings/feeds", "feeds", {"kind": "calendar"}),
        ("/settings/webhook", "webhook", {"url": "https://example.org/called"}),
    ],
)
def test_what_was_done_or_refused_is_said_in_the_section_of_the_form(
    ailsa: Visitor, path: str, place: str, form: dict[str, str]
) -> None:
    answer = ailsa.post(path, **form)
    assert answer.location == f"/settings#{place}-told"
    page = ailsa.get("/settings").text
    assert page.count('class="messages"') == 1
    assert page.index(f'id="{place}"') < page.index(f'id="{place}-told"') < page.index('class="messages"')
    assert f'<div class="told" id="{place}-told" tabindex="-1"></div>' in ailsa.get("/settings").text
    page = ailsa.post(path, kind="ntfy", url="json://localhost/", label="").text
    assert page.count('role="alert" tabindex="-1" autofocus') == 1
    assert page.index(f'id="{place}"') < page.index('id="refused"')


def test_a_match_is_silenced_on_its_page(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    match = cottage.begun("Ailsa", "Bran")
    place = f"/matches/{match.id}"
    assert "by other ways than letters" not in ailsa.get(place).text
    given(ailsa)
    assert "by other ways than letters" in ailsa.get(place).text
    ailsa.post(f"{place}/letters", turn_mail="", silent="yes")
    mine = Seat.get((Seat.match == match) & (Seat.user == cottage.people["Ailsa"]))
    assert mine.silent
    assert 'name="silent" value="yes" checked' in ailsa.get(place).text
    ailsa.post(f"{place}/letters", turn_mail="")
    assert not Seat.get_by_id(mine.id).silent
    bran = Visitor(app, cottage.people["Bran"])
    bran.post(f"{place}/letters", turn_mail="", silent="yes")
    assert not Seat.select().where(Seat.silent == True).exists(), "he is told by letters alone"  # noqa: E712


def test_a_keeper_sees_what_waits_and_has_it_tried(cottage: House, app: flask.Flask, ailsa: Visitor) -> None:
    way = given(ailsa)
    Outbox.update(state="failed", done_at=cottage.now, note="the answer was 500").where(Outbox.way == way.id).execute()
    User.update(admin=True).where(User.name == "Bran").execute()
    keeper, row = Visitor(app, cottage.people["Bran"]), Outbox.get(Outbox.way == way.id)
    page = keeper.get("/admin/mail-out").text
    assert "<code>ntfy</code>" in page
    assert "the answer was 500" in page
    keeper.post(f"/admin/mail-out/{row.id}/retry")
    assert Outbox.get_by_id(row.id).state == "queued"

"""How people are told of their turns: at once, when away, once a day, not at all; everywhere and in one match."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import flask
import psycopg
import pytest
from clockwork import awaited, sitting, ticks, wish
from house import START, House
from postgresql import POSTGRES
from postman import flat
from together import in_parallel, quick_pictures, refused
from visitor import Visitor, application

from server import accounts, db, digests, home, letters, log, outbox, play, preferences, presence, seating
from server.channels import DeliveryError
from server.models import Match, Outbox, Seat, User
from server.preferences import Wishes

OLD_USER = (
    'INSERT INTO "user" (name, name_key, session_key, zone, language, turn_mail, mail_stopped, bot, created_at,'
    " password) VALUES ('{name}', '{name}', 'x', 'UTC', 'en', {wanted}, '', '', 0, '')"
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def wants(house: House, word: str, *names: str, **fields: object) -> None:
    """Let people choose how they are told of their turns."""
    for name in names or tuple(house.people):
        user = User.get_by_id(house.people[name].id)
        preferences.settle(user, Wishes(user.zone, turn_mail=word, **fields), house.now)


def choose(house: House, match: Match, user: User, word: str) -> None:
    preferences.choose(log.get(match.id), User.get_by_id(user.id), word, house.now)


def before_a_turn(house: House, word: str) -> tuple[Match, User]:
    """Begin a match of people who choose how they are told; return it and whose turn comes after the next move."""
    wants(house, word)
    match = house.begun("Ailsa", "Bran")
    house.mail()
    seat, _ = awaited(house, match)
    return match, sitting(match, 1 - seat)


def told(house: House) -> list[str]:
    """Send what is due; return who is told that it is his turn."""
    return [message.to_name for message in house.mail() if "it is your turn" in message.text]


def days(house: House, until: datetime) -> list[tuple[str, datetime]]:
    """Let time pass; return who got a mail of a day when."""
    found = []
    while house.now < until:
        house.later(minutes=10)
        digests.run(house.now)
        found += [(message.to_name, house.now) for message in house.mail() if message.subject == "Your turns"]
    return found


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def before(
    request: pytest.FixtureRequest, tmp_path: Path, worker_id: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A database as it was before people chose, in use; yields the folder of its migrations, to be added to."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    for file in sorted(db.MIGRATIONS.glob("0*.py"))[:9]:
        shutil.copy(file, folder)
    monkeypatch.setattr(db, "MIGRATIONS", folder)
    if request.param == "sqlite":
        db.use(f"sqlite:///{tmp_path / 'old.db'}")
        yield folder
        db.database.close()
        return
    admin, name = os.environ[POSTGRES], f"old_{worker_id}"
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    db.use(admin.replace("/postgres", f"/{name}"))
    yield folder
    db.database.close()
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_what_people_wanted_before_is_carried_over(before: Path) -> None:
    assert len(db.migrate()) == 9
    with db.connected():
        for name, wanted in (("yes", True), ("no", False)):
            value = ("1" if wanted else "0") if db.on_sqlite() else str(wanted)
            db.database.execute_sql(OLD_USER.format(name=name, wanted=value))
    shutil.copy(Path(digests.__file__).parent / "migrations" / "0010_turn_mails.py", before)
    assert db.migrate() == ["0010_turn_mails"]
    with db.connected():
        rows = db.database.execute_sql('SELECT name, turn_mail, digest_hour, digest_at FROM "user" ORDER BY name')
        assert list(rows) == [("no", "off", 7, None), ("yes", "at-once", 7, None)]


def test_who_is_on_the_site_is_told_when_he_has_been_away_for_a_while(house: House) -> None:
    wants(house, "away")
    match = house.begun("Ailsa", "Bran")
    house.mail()
    seat, user = awaited(house, match)
    other = sitting(match, 1 - seat)
    presence.note(User.get_by_id(other.id), house.now)
    house.move(match)
    assert told(house) == []
    house.later(minutes=9)
    presence.note(User.get_by_id(other.id), house.now)
    assert told(house) == []
    house.later(minutes=2)
    assert told(house) == [], "he was there two minutes ago"
    house.later(minutes=9)
    assert told(house) == [other.name]
    house.later(hours=9)
    house.move(match)
    assert told(house) == [user.name], "who is not there is told at once"


def test_a_turn_taken_while_its_player_was_there_is_not_announced(house: House) -> None:
    match, other = before_a_turn(house, "away")
    presence.note(other, house.now)
    house.move(match)
    house.later(minutes=4)
    house.move(match)
    house.mail()
    house.later(hours=1)
    house.mail()
    states = [mail.state for mail in Outbox.select().where((Outbox.kind == "turn") & (Outbox.user == other))]
    assert states[-1] == "dropped"


def test_a_page_left_open_keeps_a_turn_from_its_player_for_less_than_an_hour(house: House) -> None:
    match, other = before_a_turn(house, "away")
    presence.note(other, house.now)
    house.move(match)
    began, names = house.now, []
    while not names:
        house.later(minutes=1)
        presence.note(User.get_by_id(other.id), house.now)
        names = told(house)
    assert names == [other.name]
    assert house.now - began == presence.LONGEST < timedelta(hours=1)


def test_a_mail_that_waits_for_its_reader_to_go_uses_up_no_tries(cottage: House) -> None:
    match, other = before_a_turn(cottage, "away")
    presence.note(other, cottage.now)
    cottage.move(match)
    (mail,) = cottage.queued(kind="turn", user_id=other.id)
    cottage.later(minutes=9)
    presence.note(User.get_by_id(other.id), cottage.now)
    cottage.later(minutes=3)
    cottage.mail()
    kept = Outbox.get_by_id(mail.id)
    assert (kept.state, kept.attempts, kept.note) == ("queued", 0, "")
    assert kept.due_at == START + timedelta(minutes=20)


def test_who_wants_to_be_told_at_once_after_all_waits_no_longer(house: House) -> None:
    match, other = before_a_turn(house, "away")
    presence.note(other, house.now)
    house.move(match)
    house.later(minutes=3)
    assert told(house) == []
    wants(house, "at-once", other.name)
    assert told(house) == [other.name]


def test_a_try_that_failed_is_not_made_sooner_by_another_wish(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    house.post.faults = [DeliveryError("no answer")] * 9
    house.mail()
    wants(house, "away", user.name)
    wants(house, "at-once", user.name)
    house.post.faults = []
    assert told(house) == []
    house.later(minutes=1)
    assert user.name in told(house)


@pytest.mark.parametrize("change", [{"zone": "Pacific/Pago_Pago"}, {"digest_hour": 8}])
def test_however_zone_and_hour_are_changed_two_mails_of_a_day_are_not_close(
    house: House, change: dict[str, object]
) -> None:
    house.people["Ailsa"] = wish(house.people["Ailsa"], zone="Pacific/Kiritimati")
    wants(house, "daily", "Ailsa", digest_hour=7)
    match = house.begun("Ailsa", "Bran", pace=9 * 86400)
    while awaited(house, match)[1].name != "Ailsa":
        house.move(match)
    found = days(house, START + timedelta(hours=8))
    assert len(found) == 1
    ailsa = User.get(User.name == "Ailsa")
    preferences.settle(ailsa, Wishes(**{"zone": ailsa.zone, "turn_mail": "daily", **change}), house.now)
    found += days(house, START + timedelta(days=3))
    gaps = [later[1] - earlier[1] for earlier, later in pairwise(found)]
    assert len(gaps) >= 1
    assert min(gaps) >= digests.APART


def test_the_mail_of_a_day_comes_at_the_hour_in_the_persons_zone_while_something_waits(house: House) -> None:
    for name, zone in (("Ailsa", "Europe/Prague"), ("Bran", "America/New_York")):
        house.people[name] = wish(house.people[name], zone=zone)
    wants(house, "daily", "Ailsa", "Bran", digest_hour=7)
    match = house.begun("Ailsa", "Bran", pace=9 * 86400)
    house.mail()
    _, user = awaited(house, match)
    found = days(house, START + timedelta(days=3))
    hour = 6 if user.name == "Ailsa" else 12
    first = START.replace(hour=hour, minute=0) + (timedelta(days=1) if hour < 9 else timedelta(0))
    assert found == [(user.name, first + timedelta(days=n)) for n in range(3)]


def test_a_day_has_one_such_mail_however_many_schedulers_there_are(house: House) -> None:
    wants(house, "daily")
    house.begun("Ailsa", "Bran", pace=9 * 86400)
    house.mail()
    house.now = START + timedelta(hours=22)
    works = [lambda: digests.run(house.now)] * 4
    assert sum(in_parallel(*works)) == 1
    assert len(house.queued(kind="digest")) == 1
    (message,) = [message for message in house.mail() if message.subject == "Your turns"]
    reader = message.to_name
    wants(house, "daily", reader, digest_hour=9)
    assert days(house, START + timedelta(days=1, minutes=30)) == [], "another hour is no second mail of the day"
    assert days(house, START + timedelta(days=2, minutes=30)) == [(reader, START + timedelta(days=2))]


def test_nobody_is_told_in_it_of_turns_he_has_taken_nor_when_nothing_waits(house: House) -> None:
    wants(house, "daily")
    match = house.begun("Ailsa", "Bran", pace=9 * 86400)
    house.mail()
    _, user = awaited(house, match)
    digests.run(START + timedelta(hours=22))
    assert [mail.user_id for mail in house.queued(kind="digest")] == [user.id]
    house.now = START + timedelta(hours=22)
    house.move(match)
    assert house.mail() == []
    assert Outbox.get(Outbox.kind == "digest").note == "nothing waits any more"
    assert told(house) == []


def test_it_lists_what_waits_by_the_time_left_with_the_last_move_in_words(cottage: House) -> None:
    wants(cottage, "daily")
    for days_each in (9, 3, 6):
        cottage.begun("Ailsa", "Bran", pace=days_each * 86400)
    for match in Match.select():
        while awaited(cottage, match)[1].name != "Ailsa":
            cottage.move(match)
    cottage.mail()
    digests.run(cottage.later(hours=22))
    (message,) = cottage.mail()
    places = [message.text.index(f"/matches/{number}\n") for number in (2, 3, 1)]
    assert places == sorted(places)
    assert flat(message).count("You have until") == 3
    assert flat(message).count("Last: Bran") == 3
    assert "2 days 2 hours" in flat(message)
    assert message.unsubscribe_url
    assert message.reply_to is None


def test_whoever_gets_one_mail_a_day_still_hears_of_beginning_end_and_reminders(house: House) -> None:
    wants(house, "daily")
    match = house.started("Ailsa", "Bran", pace=36000)
    assert [mail.kind for mail in house.queued()] == ["start", "start"]
    house.mail()
    _, user = awaited(house, match)
    ticks(house, until=log.get(match.id).reminder_at)
    assert [message.to_name for message in house.mail()] == [user.name]
    house.finish(match)
    assert {mail.kind for mail in house.queued()} == {"end"}


def test_a_choice_for_one_match_goes_before_that_for_all(house: House) -> None:
    wants(house, "off")
    quiet, loud = house.begun("Ailsa", "Bran"), house.begun("Ailsa", "Bran")
    house.mail()
    for name in ("Ailsa", "Bran"):
        choose(house, loud, house.people[name], "at-once")
    assert len(told(house)) == 1, "who is awaited there is told now"
    house.move(loud)
    house.move(quiet)
    assert [message.subject.split(":")[0] for message in house.mail()] == [f"Clans {loud.id}"]
    for name in ("Ailsa", "Bran"):
        choose(house, loud, house.people[name], "")
    house.move(loud)
    assert house.mail() == []


def test_one_match_may_be_told_of_once_a_day_and_brings_the_others_along(house: House) -> None:
    daily, other, quiet = (house.begun("Ailsa", "Bran", pace=9 * 86400) for _ in range(3))
    ailsa = house.people["Ailsa"]
    for match in (daily, other, quiet):
        while awaited(house, match)[1] != ailsa:
            house.move(match)
    house.mail()
    choose(house, daily, ailsa, "daily")
    choose(house, quiet, ailsa, "off")
    digests.run(house.later(hours=22))
    (message,) = house.mail()
    assert f"/matches/{daily.id}\n" in message.text
    assert f"/matches/{other.id}\n" in message.text
    assert f"/matches/{quiet.id}\n" not in message.text
    house.move(daily)
    assert User.get_by_id(ailsa.id).digest_at is not None
    digests.run(house.later(days=1))
    assert house.queued(kind="digest") == [], "what waits is not told of in such mails"


def test_nothing_about_turns_comes_to_who_wants_nothing(house: House) -> None:
    wants(house, "off")
    match = house.begun("Ailsa", "Bran", "Catrin", pace=9 * 86400)
    house.mail()
    ticks(house, until=log.get(match.id).reminder_at, every=timedelta(hours=1))
    assert house.queued() == []
    seat, user = awaited(house, match)
    play.nudge(match.id, sitting(match, (seat + 1) % 3), "web", now=house.now)
    assert [message.to_name for message in house.mail()] == [user.name], "but a player asks him in person"
    choose(house, match, user, "off")
    play.nudge(match.id, sitting(match, (seat + 1) % 3), "web", now=house.later(days=1))
    assert house.queued() == [], "unless he has said so of this very match"


def test_a_turn_mail_in_the_queue_goes_by_what_its_reader_wants_now(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    house.mail()
    house.move(match)
    _, user = awaited(house, match)
    choose(house, match, user, "daily")
    assert house.mail() == []
    assert Outbox.select().order_by(Outbox.id.desc()).first().note == "one mail a day tells of it"
    choose(house, match, user, "at-once")
    assert told(house) == [user.name]


def test_who_gets_a_seat_is_told_as_he_wants_himself(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    bran = house.people["Bran"]
    choose(house, match, bran, "off")
    seating.resign(match.id, bran, "web", now=house.now)
    assert {seat.turn_mail for seat in log.places(match)} == {""}


def test_only_who_sits_there_chooses_and_only_from_the_list(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    with refused("not-yours"):
        choose(house, match, house.people["Dugald"], "off")
    for word in ("never", "at-once "):
        with refused("bad-input"):
            choose(house, match, house.people["Ailsa"], word)
        with refused("bad-input"):
            wants(house, word, "Ailsa")
    with refused("bad-input"):
        wants(house, "daily", "Ailsa", digest_hour=24)


def link(house: House, name: str, subject: str = "") -> str:
    """Return the token of the link that stops mails, out of the last such mail to somebody."""
    mine = [m for m in house.post.messages if m.to_name == name and m.unsubscribe_url and subject in m.subject]
    return mine[-1].unsubscribe_url.rpartition("/")[2]


def test_the_link_of_a_turn_mail_stops_those_of_its_match_and_on_demand_all(house: House) -> None:
    matches = [house.begun("Ailsa", "Bran") for _ in range(2)]
    _, user = awaited(house, matches[0])
    house.mail()
    token = link(house, user.name, f"Clans {matches[0].id}")
    accounts.unsubscribe(token, house.now)
    wishes = {seat.match_id: seat.wish for seat in Seat.select().where(Seat.user == user)}
    assert wishes == {matches[0].id: "off", matches[1].id: "at-once"}
    choose(house, matches[1], user, "away")
    accounts.unsubscribe(token, house.now, everywhere=True)
    wishes = {seat.match_id: seat.wish for seat in Seat.select().where(Seat.user == user)}
    assert set(wishes.values()) == {"off"}


def test_the_link_of_a_mail_of_a_day_stops_all(house: House) -> None:
    wants(house, "daily")
    match = house.begun("Ailsa", "Bran", pace=9 * 86400)
    house.mail()
    _, user = awaited(house, match)
    digests.run(house.later(hours=22))
    house.mail()
    accounts.unsubscribe(link(house, user.name), house.now)
    kept = User.get_by_id(user.id)
    assert (kept.turn_mail, kept.digest_at) == ("off", None)


def test_the_page_of_the_link_has_a_button_for_the_match_and_one_for_all(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    _, user = awaited(cottage, match)
    cottage.mail()
    path, stranger = f"/unsubscribe/{link(cottage, user.name)}", Visitor(app)
    page = stranger.get(path).text
    assert f"Clans {match.id}: no more letters about turns?" in page
    assert User.get_by_id(user.id).turn_mail == "at-once", "looking at it does nothing"
    # What a mail program sends for one click: no session, no token against forged forms.
    done = stranger.client.post(path, data={"List-Unsubscribe": "One-Click"})
    assert (done.status_code, log.places(match)[awaited(cottage, match)[0]].wish) == (200, "off")
    assert User.get_by_id(user.id).turn_mail == "at-once"
    assert stranger.client.post(path, data={"everywhere": "yes"}).status_code == 200
    assert User.get_by_id(user.id).turn_mail == "off"


def test_the_page_of_a_match_lets_its_players_choose(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    ailsa = Visitor(app, cottage.people["Ailsa"])
    assert "as for all my matches: at once" in ailsa.get(f"/matches/{match.id}").text
    assert "Your choice is stored." in ailsa.post(f"/matches/{match.id}/letters", follow=True, turn_mail="away").text
    assert Seat.get((Seat.match == match) & (Seat.user == cottage.people["Ailsa"])).turn_mail == "away"
    assert ailsa.post(f"/matches/{match.id}/letters", turn_mail="now and then").status_code == 422


def test_looking_at_a_page_is_noted_about_once_a_minute(cottage: House, app: flask.Flask) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])
    for seconds, seen in ((0, START), (59, START), (1, START + timedelta(minutes=1))):
        cottage.later(seconds=seconds)
        ailsa.get("/rules")
        assert User.get(User.name == "Ailsa").seen_at == seen


def test_only_a_page_in_sight_says_that_somebody_is_here(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    ailsa = Visitor(app, cottage.people["Ailsa"])
    ailsa.get("/rules")
    cottage.later(hours=2)
    for path in ("/pulse", "/stream", f"/matches/{match.id}/pulse", f"/matches/{match.id}/stream"):
        ailsa.get(path)
        assert User.get(User.name == "Ailsa").seen_at == START
    ailsa.get(f"/matches/{match.id}/pulse?seen=yes")
    assert User.get(User.name == "Ailsa").seen_at == cottage.now


def test_the_mail_of_a_day_that_could_not_leave_for_most_of_it_is_dropped(house: House) -> None:
    wants(house, "daily")
    house.begun("Ailsa", "Bran", pace=9 * 86400)
    house.mail()
    digests.run(house.later(hours=22))
    house.later(hours=20, seconds=1)
    assert house.mail() == []
    assert Outbox.get(Outbox.kind == "digest").note == "too old to be of use"


def test_a_mail_of_a_day_is_written_in_the_readers_language(cottage: House) -> None:
    wants(cottage, "daily")
    match = cottage.begun("Ailsa", "Bran", pace=9 * 86400)
    _, user = awaited(cottage, match)
    preferences.speak(user, "de")
    cottage.mail()
    digests.run(cottage.later(hours=22))
    written = letters.writer(cottage.settings)(Outbox.get(Outbox.kind == "digest"), cottage.now)
    assert "MEZ" in written.thing.text or "UTC" in written.thing.text
    assert "Mär" in written.thing.text


def test_least_time_left_is_first_and_no_limit_last(cottage: House) -> None:
    for pace in (None, 9 * 86400, 86400):
        cottage.begun("Ailsa", "Bran", clock={"move": pace} if pace else {})
    for match in Match.select():
        while awaited(cottage, match)[1].name != "Ailsa":
            cottage.move(match)
    assert [entry.match.id for entry in home.due(cottage.people["Ailsa"], cottage.now)] == [3, 2, 1]


def test_the_outbox_still_drops_and_sends_as_it_is_told(cottage: House) -> None:
    answers: list[object] = [cottage.now + timedelta(hours=1), "not true"]
    with db.transaction():
        outbox.queue("known", key="one", now=cottage.now, user=cottage.people["Ailsa"])
    assert outbox.deliver_due(cottage.post, lambda *_: answers.pop(0), lambda: cottage.now) == 0
    assert outbox.deliver_due(cottage.post, lambda *_: answers.pop(0), lambda: cottage.later(hours=1)) == 0
    assert (Outbox.get().state, answers) == ("dropped", [])

"""Bots that sit down at a table: the host lets them, they say good day, and the match is one like any other."""

from __future__ import annotations

import importlib
import re
from typing import Any

import flask
import pytest
from contests import count, ranks, say, standing, with_contests
from house import House
from together import in_parallel, refused
from visitor import Visitor, application, error

from engine.bots import STRENGTHS
from server import accounts, archive, audit, commands, companions, db, lobby, log, rematch, seating, talk, votes
from server.models import Match, Outbox, Part, Seat, User


def filled(house: House, *names: str, strength: str = "steady", seats: int = 4, **terms: Any) -> Match:
    """Return the table of these people after its host has let bots take the rest of its seats."""
    match = house.table(*names, seats=seats, **terms)
    return lobby.fill(match.id, house.people[names[0]], strength, house.now)


def bots_at(match: Match) -> list[User]:
    return [seat.owner for seat in log.places(match) if seat.owner.bot]


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_the_host_fills_his_table_and_the_match_begins(house: House, strength: str) -> None:
    match = filled(house, "Ailsa", strength=strength)
    assert match.status == "running"
    bots = bots_at(match)
    assert len({bot.id for bot in bots}) == 3
    assert {bot.bot for bot in bots} == {strength}
    assert all(bot.name.startswith("Bot ") for bot in bots)
    assert audit.verify(match.id) == []
    assert len({seat.contribution for seat in log.places(match)}) == 4


def test_bots_play_a_match_with_a_person_to_its_end(house: House) -> None:
    match = filled(house, "Ailsa", seats=3)
    for _ in range(200):
        house.later(minutes=1)
        house.bots()
        if log.get(match.id).status != "running":
            break
        house.move(match)
    match = log.get(match.id)
    assert (match.status, audit.verify(match.id)) == ("finished", [])
    rows = house.played(match).rows
    own = {seat.number for seat in log.places(match) if seat.user.bot}
    assert {row.via for row in rows if row.seat in own} == {"bot"}
    assert {row.via for row in rows if row.seat not in own} == {"web"}
    assert not Outbox.select().join(User).where(User.bot != "").exists()


def test_bots_of_each_strength_have_names_of_their_own_that_are_nobody_elses(house: House) -> None:
    with db.transaction():
        names = [bot.name for strength in STRENGTHS for bot in companions.house_bots(strength, 9, house.now)]
    assert len(set(names)) == 27
    for name in names:
        with refused("bad-input"):
            accounts.clean_name(name)
    assert "Bot Rowan" in names


def test_every_strength_has_names_and_is_told_of() -> None:
    assert set(companions.BOTS) == set(companions.ABOUT) == set(STRENGTHS)


def test_however_many_ask_first_there_is_one_bot_of_a_name(house: House) -> None:
    def ask() -> list[int]:
        with db.transaction():
            return [bot.id for bot in companions.house_bots("strong", 3, house.now)]

    found = in_parallel(*[ask] * 5)
    assert found == [found[0]] * 5
    assert User.select().where(User.bot == "strong").count() == 3


def test_the_bot_of_a_house_that_is_there_already_becomes_steady(house: House) -> None:
    with db.transaction():
        companions.stand_in(house.now)
        companions.house_bots("easy", 2, house.now)
        User.update(bot="easy").where(User.name == "Bot").execute()
        importlib.import_module("server.migrations.0007_bots").up(None, db.database)
        assert companions.stand_in(house.now).bot == "steady"
    assert User.select().where(User.bot == "easy").count() == 2
    assert User.select().where(User.name == "Bot").count() == 1


def test_one_seat_at_a_time_is_taken_by_another_bot_each(house: House) -> None:
    match = house.table("Ailsa", seats=4)
    for strength in ("easy", "strong", "strong"):
        lobby.fill(match.id, house.people["Ailsa"], strength, house.now, 1)
    match = log.get(match.id)
    assert [bot.bot for bot in bots_at(match)] == ["easy", "strong", "strong"]
    assert match.status == "running"


def test_a_table_that_waits_for_its_host_waits_for_him_when_bots_fill_it(house: House) -> None:
    match = filled(house, "Ailsa", seats=3, autostart=False)
    assert match.status == "open"
    assert house.queued() == [], "he sees it himself"
    assert lobby.start(match.id, house.people["Ailsa"], house.now).status == "running"


def test_nobody_but_the_host_lets_bots_take_seats(house: House) -> None:
    match = house.table("Ailsa", "Bran", seats=4)
    for name in ("Bran", "Catrin"):
        with refused("not-yours"):
            lobby.fill(match.id, house.people[name], "steady", house.now)
    hidden = house.table("Ailsa", seats=4, invited_only=True)
    with refused("not-found"):
        lobby.fill(hidden.id, house.people["Catrin"], "steady", house.now)
    assert not Seat.select().join(User, on=Seat.user).where(User.bot != "").exists()


def test_bots_take_no_more_seats_than_there_are_and_none_of_a_match_that_has_begun(house: House) -> None:
    ailsa = house.people["Ailsa"]
    match = house.table("Ailsa", seats=3, autostart=False)
    for wrong in (0, 3, -1):
        with refused("table-full"):
            lobby.fill(match.id, ailsa, "easy", house.now, wrong)
    for strength in ("", "brilliant", "Steady"):
        with refused("bad-input"):
            lobby.fill(match.id, ailsa, strength, house.now)
    lobby.fill(match.id, ailsa, "easy", house.now)
    with refused("table-full"):
        lobby.fill(match.id, ailsa, "easy", house.now)
    lobby.start(match.id, ailsa, house.now)
    with refused("not-open"):
        lobby.fill(match.id, ailsa, "easy", house.now)
    with db.transaction(), refused("not-open"):
        companions.sit(log.get(match.id), "easy", 1, house.now)


def test_of_a_bot_and_a_person_who_want_the_last_seat_one_gets_it(house: House) -> None:
    match = house.table("Ailsa", seats=2)
    ailsa, bran = house.people["Ailsa"], house.people["Bran"]
    results = in_parallel(
        lambda: lobby.fill(match.id, ailsa, "steady", house.now).status,
        lambda: lobby.join(match.id, bran, now=house.now).status,
    )
    assert sorted(map(str, results)) in [["not-open", "running"], ["running", "table-full"]]
    assert len(log.places(match)) == 2


def test_each_bot_says_one_line_when_it_sits_down(house: House) -> None:
    match = filled(house, "Ailsa", strength="strong")
    lines = talk.lines(match)
    assert [line.user for line in lines] == bots_at(match)
    assert all(line.text.startswith("Good day.") for line in lines)
    assert len({line.text for line in lines}) == 1


def test_against_bots_alone_nothing_is_rated_and_among_people_they_do_not_count(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_contests(monkeypatch)
    alone = house.table("Ailsa", seats=3, game="contest")
    lobby.fill(alone.id, house.people["Ailsa"], "steady", house.now)
    among = house.table("Ailsa", "Bran", seats=3, game="contest")
    lobby.fill(among.id, house.people["Ailsa"], "steady", house.now)
    assert (log.get(alone.id).rated, log.get(among.id).rated) == (False, True)
    owners = {match: [seat.owner.name for seat in log.places(match)] for match in (alone, among)}
    say(house, alone, "go")
    say(house, among, *("go" if name == "Ailsa" else "stay" for name in owners[among] if not name.startswith("Bot")))
    house.bots()
    assert {log.get(match.id).status for match in (alone, among)} == {"finished"}
    count(house)
    assert ranks(alone, house) == {"Ailsa": None}
    assert not Part.select().where((Part.match == alone) & Part.shown.is_null(False)).exists()
    assert set(ranks(among, house)) == {"Ailsa", "Bran"}
    assert set(standing(house)) == {"Ailsa", "Bran"}


def test_who_plays_against_bots_decides_alone_about_a_pause_or_the_end(house: House) -> None:
    match = filled(house, "Ailsa", seats=2)
    if house.played(match).position.to_act != (0,):
        house.bots()
    house.move(match)
    assert votes.vote(match.id, house.people["Ailsa"], "end", "web", now=house.now)
    assert log.get(match.id).reason == "agreement"


def test_bots_are_no_people_to_ask_for_a_rematch(house: House) -> None:
    match = filled(house, "Ailsa", seats=2)
    assert rematch.players(match) == [house.people["Ailsa"]]


def test_the_host_may_say_so_in_the_talk_or_by_mail(house: House) -> None:
    match = house.table("Ailsa", seats=3)
    said = talk.say(match.id, house.people["Ailsa"], "/bots Strong.", expected=0, via="web", now=house.now)
    assert said.kind == "/bots"
    assert said.sentences == (f"Bots have taken the free seats of Clans {match.id}. The match has begun.",)
    assert [bot.bot for bot in bots_at(match)] == ["strong", "strong"]
    other = house.table("Ailsa", seats=3, autostart=False)
    asked = commands.Asked(other.id, house.people["Ailsa"], 0, "email", house.now)
    assert "Every seat is taken" in commands.run("bots", "easy", asked).sentences[0]
    with refused("bad-input"):
        commands.run("bots", "", commands.Asked(house.table("Ailsa", seats=2).id, asked.user, 0, "web", house.now))


def test_the_form_of_the_table_fills_it_without_any_script(cottage: House, app: flask.Flask) -> None:
    match = cottage.table("Ailsa", seats=3, autostart=False)
    ailsa, page = Visitor(app, cottage.people["Ailsa"]), f"/matches/{match.id}"
    text = ailsa.get(page).text
    assert "against bots alone nothing is rated" in text
    assert re.search(r'value="steady" checked', text)
    form = re.search(rf'action="{page}/bots".*?</form>', text, re.DOTALL)
    assert form
    for strength in STRENGTHS:
        assert f'value="{strength}"' in form.group()
    after = ailsa.post(f"{page}/bots", follow=True, strength="easy", count="one")
    assert "A bot has taken a seat." in after.text
    assert "easy bot" in after.text
    assert "Fill the seat" in after.text
    assert ailsa.post(f"{page}/bots", strength="strong", count="all").status_code == 302
    assert [bot.bot for bot in bots_at(match)] == ["easy", "strong"]
    assert f"{page}/bots" not in ailsa.get(page).text, "there is no seat left"


def test_a_refused_form_is_shown_again_with_what_was_chosen(cottage: House, app: flask.Flask) -> None:
    match = cottage.table("Ailsa", seats=3)
    ailsa = Visitor(app, cottage.people["Ailsa"])
    answer = ailsa.post(f"/matches/{match.id}/bots", strength="brilliant")
    assert answer.status_code == 422
    assert "Bots are easy, steady, strong." in answer.text
    bran = Visitor(app, cottage.people["Bran"])
    assert f"/matches/{match.id}/bots" not in bran.get(f"/matches/{match.id}").text
    assert error(bran.post(f"/matches/{match.id}/bots", strength="easy", json=True)) == "not-yours"
    assert bots_at(match) == []


def test_a_bots_page_tells_how_it_thinks(cottage: House, app: flask.Flask) -> None:
    match = filled(cottage, "Ailsa", strength="strong", seats=2)
    for bot in bots_at(match):
        text = Visitor(app).get(f"/people/{bot.name}").text
        assert "A strong bot: a program of this house that sits down where the host of a table lets it." in text
        assert companions.ABOUT["strong"].thinks in text
    shown = Visitor(app).get(f"/matches/{match.id}").text
    assert all(f"<bdi>{bot.name}</bdi>" in shown for bot in bots_at(match))
    assert "Not rated" in shown
    seating.resign(match.id, cottage.people["Ailsa"], "web", now=cottage.now)
    assert [found.id for found in archive.find(player=bots_at(match)[0].name).matches] == [match.id]

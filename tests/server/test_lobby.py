"""Tables before the first move, and the talk at them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from house import START, House
from together import damage, in_parallel, refused

from engine import deal
from engine.games.clans import GAME
from server import archive, audit, db, links, lobby, log, seating, talk
from server.lobby import Terms
from server.models import Link, Match, Outbox, Seat, User

GOOD = {"game": "clans", "seats": 3, "clock": {"move": 86400}, "options": {}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"game": "chess"},
        {"game": ""},
        {"seats": 1},
        {"seats": 5},
        {"clock": {"move": 3599}},
        {"clock": {"move": 60 * 86400 + 1}},
        {"clock": {"move": -1}},
        {"clock": {"pace": 86400}},
        {"clock": {"daily": "25:00 Europe/Prague", "move": 86400}},
        {"seating": "alphabet"},
        {"seating": ""},
        {"options": {"five_singles": "perhaps"}},
        {"options": {"colour": "blue"}},
        {"options": {"": ""}},
    ],
    ids=str,
)
def test_a_table_with_a_wrong_term_is_not_opened(cottage: House, wrong: dict[str, object]) -> None:
    with refused("bad-input"):
        lobby.open_table(cottage.people["Ailsa"], Terms(**{**GOOD, **wrong}), cottage.now)
    assert not Match.select().exists()
    assert not Seat.select().exists()


@pytest.mark.parametrize(
    "clock",
    [
        {"move": 3600},
        {"move": 5000, "weekend": True, "nights": True, "missing": "vote", "takeback": False},
        {"bank": 86400, "increment": 3600, "cap": 2 * 86400, "missing": "loss"},
        {"move": 86400, "daily": "18:00 Europe/Prague", "vacations": False, "misses": 3},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("choice", ["all_leave", "all_stay"])
def test_every_choice_of_the_table_is_kept_and_played_by(cottage: House, clock: dict[str, object], choice: str) -> None:
    options = {"five_singles": choice}
    terms = Terms("clans", 2, clock, options, "join", autostart=True, invited_only=True)
    match = log.get(lobby.open_table(cottage.people["Ailsa"], terms, cottage.now).id)
    kept = (match.clock, match.options, match.seating, match.autostart, match.invited_only, match.rules)
    assert kept == (clock, options, "join", True, True, GAME.rules)
    token = lobby.invitation(match.id, cottage.people["Ailsa"], cottage.now)
    lobby.join(match.id, cottage.people["Bran"], now=cottage.now, invitation=token)
    played = cottage.played(match)
    assert played.position.state == GAME.begin(played.setup, 2, options)
    assert archive.whole_record(match)["options"] == options
    assert (played.head["clock"], archive.whole_record(match)["clock"]) == (clock, clock)


def test_only_confirmed_people_sit_down(house: House) -> None:
    newcomer = house.person("Eve", confirmed_at=None)
    match = house.table("Ailsa", seats=2)
    with refused("unconfirmed"):
        lobby.open_table(newcomer, Terms(**GOOD), house.now)
    with refused("unconfirmed"):
        lobby.join(match.id, newcomer, now=house.now)
    with refused("unconfirmed"):
        talk.say(match.id, newcomer, "/join", expected=0, via="web", now=house.now)


def test_a_person_has_a_bounded_number_of_open_tables(cottage: House) -> None:
    for number in range(lobby.MOST_OPEN):
        cottage.later(minutes=5 * number)
        cottage.table("Ailsa", seats=2)
    with refused("bad-input"):
        cottage.table("Ailsa", seats=2)
    cottage.table("Bran", seats=2)


def test_tables_are_not_opened_by_the_dozen_a_minute(cottage: House) -> None:
    with refused("throttled"):
        for _ in range(99):
            lobby.leave(cottage.table("Ailsa", seats=2).id, cottage.people["Ailsa"])


def test_the_last_seat_starts_the_match(house: House) -> None:
    match = house.table("Ailsa", "Bran", seats=3)
    assert (match.status, match.deadline) == ("open", None)
    assert [found.id for found in lobby.open_tables()] == [match.id]
    match = lobby.join(match.id, house.people["Catrin"], now=house.later(hours=1))
    match = log.get(match.id)
    assert (match.status, match.started_at) == ("running", house.now)
    assert match.deadline == house.now + timedelta(days=1)
    assert lobby.open_tables() == []
    assert {mail.user.name for mail in house.queued()} == {"Ailsa", "Bran", "Catrin"}
    assert audit.verify(match.id) == []


def test_nobody_sits_twice_or_at_a_full_or_closed_table(house: House) -> None:
    match = house.table("Ailsa", "Bran", seats=2, autostart=False)
    with refused("already-seated"):
        lobby.join(match.id, house.people["Bran"], now=house.now)
    with refused("table-full"):
        lobby.join(match.id, house.people["Catrin"], now=house.now)
    lobby.leave(match.id, house.people["Bran"])
    with refused("not-yours"):
        lobby.leave(match.id, house.people["Bran"])
    lobby.leave(match.id, house.people["Ailsa"])
    assert log.get(match.id).status == "cancelled"
    for act in (
        lambda: lobby.join(match.id, house.people["Catrin"], now=house.now),
        lambda: lobby.leave(match.id, house.people["Ailsa"]),
        lambda: lobby.start(match.id, house.people["Ailsa"], house.now),
        lambda: lobby.invitation(match.id, house.people["Ailsa"], house.now),
    ):
        with refused("not-open"):
            act()
    assert lobby.open_tables() == []


def test_the_host_starts_by_hand_with_whoever_is_there(house: House) -> None:
    match = house.table("Ailsa", "Bran", seats=4, autostart=False)
    with refused("not-yours"):
        lobby.start(match.id, house.people["Bran"], house.now)
    lobby.leave(match.id, house.people["Bran"])
    with refused("bad-input"):
        lobby.start(match.id, house.people["Ailsa"], house.now)
    assert log.get(match.id).status == "open"
    assert [seat.number for seat in log.places(match)] == [None]
    lobby.join(match.id, house.people["Catrin"], now=house.now)
    lobby.start(match.id, house.people["Ailsa"], house.now)
    match = log.get(match.id)
    assert (match.status, match.seats) == ("running", 2)
    with refused("not-open"):
        lobby.leave(match.id, house.people["Catrin"])
    with refused("not-open"):
        lobby.start(match.id, house.people["Ailsa"], house.now)


def test_seats_go_by_order_of_joining_or_are_drawn(house: House) -> None:
    match = house.started("Catrin", "Ailsa", "Bran")
    assert [seat.user.name for seat in log.places(match)] == ["Catrin", "Ailsa", "Bran"]
    drawn = {
        tuple(seat.user.name for seat in log.places(house.table("Ailsa", "Bran", "Catrin", seating="random")))
        for _ in range(25)
    }
    assert len(drawn) > 2
    assert all(set(seats) == {"Ailsa", "Bran", "Catrin"} for seats in drawn)


def test_renaming_people_leaves_the_seats_as_they_are(house: House) -> None:
    match = house.started("Catrin", "Ailsa", "Bran")
    before = [seat.user_id for seat in log.places(match)]
    with db.transaction():
        User.update(name="Zoe", name_key="zoe").where(User.name == "Catrin").execute()
    assert [seat.user_id for seat in log.places(match)] == before
    assert audit.verify(match.id) == []


def test_of_many_who_join_for_the_last_seat_one_sits(house: House) -> None:
    match = house.table("Ailsa", seats=2)
    guests = [house.person(f"Guest {number}") for number in range(10)]
    works = [lambda guest=guest: lobby.join(match.id, guest, now=house.now).status for guest in guests]
    results = in_parallel(*works)
    assert sorted(results) == ["not-open"] * 9 + ["running"]
    assert len(log.places(match)) == 2
    assert house.played(match).rows == []
    assert audit.verify(match.id) == []


def test_a_double_click_joins_once(house: House) -> None:
    match = house.table("Ailsa", seats=4)
    results = in_parallel(*[lambda: lobby.join(match.id, house.people["Bran"], now=house.now).status] * 4)
    assert sorted(results) == ["already-seated"] * 3 + ["open"]


def test_an_invited_table_is_for_those_with_an_invitation(house: House) -> None:
    match, other = house.table("Ailsa", seats=2, invited_only=True), house.table("Ailsa", seats=2, invited_only=True)
    bran = house.people["Bran"]
    assert lobby.open_tables() == []
    assert not lobby.may_see(match, None)
    assert not lobby.may_see(match, bran)
    assert lobby.may_see(match, house.people["Ailsa"])
    assert lobby.may_see(match, None, invited=True)
    with refused("not-found"):
        lobby.join(match.id, bran, now=house.now)
    with refused("not-found"):
        talk.say(match.id, bran, "/join", expected=0, via="web", now=house.now)
    with refused("link-spent"):
        lobby.join(match.id, bran, now=house.now, invitation="x" * 32)
    wrong = lobby.invitation(other.id, house.people["Ailsa"], house.now)
    with refused("link-spent"):
        lobby.join(match.id, bran, now=house.now, invitation=wrong)
    old = lobby.invitation(match.id, house.people["Ailsa"], START - links.LIFETIMES["invite"])
    with refused("link-spent"):
        lobby.join(match.id, bran, now=house.now, invitation=old)
    assert [seat.user.name for seat in log.places(match)] == ["Ailsa"]
    right = lobby.invitation(match.id, house.people["Ailsa"], house.now)
    lobby.join(match.id, bran, now=house.now, invitation=right)
    assert lobby.may_see(log.get(match.id), None)


def test_looking_at_an_invitation_changes_nothing_and_may_be_done_often(house: House) -> None:
    match = house.table("Ailsa", seats=3, invited_only=True)
    token = lobby.invitation(match.id, house.people["Ailsa"], house.now)
    before = list(Link.select().dicts()), list(Seat.select().dicts())
    for _ in range(3):
        assert lobby.invited_to(token, house.later(days=1)).id == match.id
    assert (list(Link.select().dicts()), list(Seat.select().dicts())) == before
    for name in ("Bran", "Catrin"):
        lobby.join(match.id, house.people[name], now=house.now, invitation=token)
    assert log.get(match.id).status == "running"
    with refused("link-spent"):
        lobby.invited_to(token, house.later(days=30))


def test_an_invitation_by_mail_leads_to_the_table(house: House) -> None:
    match = house.table("Ailsa", seats=2, invited_only=True)
    assert lobby.invite(match.id, house.people["Ailsa"], " eve@example.org ", house.now) == "eve@example.org"
    lobby.invite(match.id, house.people["Ailsa"], "Eve@example.org", house.later(hours=1))
    (message,) = house.mail()
    assert message.to_address == "eve@example.org"
    assert message.subject == f"Ailsa invites you to Clans {match.id}"
    token = message.text.partition("/invite/")[2].split()[0]
    assert lobby.invited_to(token, house.now).id == match.id
    lobby.invite(match.id, house.people["Ailsa"], "eve@example.org", house.later(days=1))
    lobby.leave(match.id, house.people["Ailsa"])
    assert house.mail() == [], "the table is gone"


@pytest.mark.parametrize("address", ["", "eve", "eve@", "a@b@c", "eve@example.org\r\nBcc: x@y", "e ve@x.org", "e@x..y"])
def test_an_invitation_needs_an_address(cottage: House, address: str) -> None:
    match = cottage.table("Ailsa", seats=2)
    with refused("bad-input"):
        lobby.invite(match.id, cottage.people["Ailsa"], address, cottage.now)
    assert not Outbox.select().exists()


def test_only_the_host_invites_and_not_without_end(cottage: House) -> None:
    match = cottage.table("Ailsa", "Bran", seats=4)
    with refused("not-yours"):
        lobby.invitation(match.id, cottage.people["Bran"], cottage.now)
    with refused("not-yours"):
        lobby.invite(match.id, cottage.people["Bran"], "eve@example.org", cottage.now)
    with refused("throttled"):
        for _ in range(9):
            lobby.invite(match.id, cottage.people["Ailsa"], "eve@example.org", cottage.now)
    with refused("throttled"):
        for number in range(99):
            lobby.invite(match.id, cottage.people["Ailsa"], f"eve{number}@example.org", cottage.now)


def test_the_deal_follows_from_the_secret_and_everybodys_words(house: House) -> None:
    match = house.table("Ailsa", seats=3, seating="random")
    shown = lobby.commitment(match)
    lobby.join(match.id, house.people["Bran"], now=house.now, contribution="  my   own\nwords ")
    lobby.join(match.id, house.people["Catrin"], now=house.now, contribution="☃" * 99)
    match = log.get(match.id)
    words = {seat.user.name: seat.contribution for seat in log.places(match)}
    assert (words["Bran"], words["Catrin"]) == ("my own words", "☃" * 64)
    assert words["Ailsa"]
    assert lobby.commitment(match) == shown == deal.commitment(bytes(match.secret))
    stream = deal.stream_for(bytes(match.secret), [seat.contribution for seat in log.places(match)])
    assert house.played(match).setup == GAME.deal(stream, 3, {})
    for seat in log.places(match)[1:]:
        seating.resign(match.id, seat.user, "web", now=house.now)
    fairness = archive.export(log.get(match.id))["fairness"]
    assert fairness["commitment"] == shown
    assert fairness["contributions"] == [words[seat.owner.name] for seat in log.places(match)]


@pytest.mark.parametrize("words", ["a\0b", "a\ud800b", "\0", "\u202ewords"])
def test_no_words_keep_a_match_from_starting(house: House, words: str) -> None:
    match = house.table("Ailsa", seats=2)
    lobby.join(match.id, house.people["Bran"], now=house.now, contribution=words)
    match = log.get(match.id)
    assert match.status == "running"
    stream = deal.stream_for(bytes(match.secret), [seat.contribution for seat in log.places(match)])
    assert house.played(match).setup == GAME.deal(stream, 2, {})
    assert all(seat.contribution for seat in log.places(match))


def test_who_goes_for_good_gives_every_seat_up(house: House) -> None:
    hosted, guest = house.table("Ailsa", "Bran", seats=3), house.table("Bran", "Ailsa", seats=3)
    two, three = house.started("Ailsa", "Bran"), house.started("Ailsa", "Bran", "Catrin")
    lobby.leave_all(house.people["Ailsa"], house.now)
    assert log.get(hosted.id).status == "cancelled"
    assert [seat.user.name for seat in log.places(guest)] == ["Bran"]
    assert (log.get(two.id).status, log.get(two.id).reason) == ("finished", "resignation")
    assert log.get(three.id).status == "running"
    assert [bool(seat.user.bot) for seat in log.places(three)] == [True, False, False]


def test_a_damaged_match_does_not_keep_anybody(house: House) -> None:
    bad, good = house.started("Ailsa", "Bran"), house.started("Ailsa", "Bran")
    damage(bad)
    lobby.leave_all(house.people["Bran"], house.now)
    assert log.get(good.id).status == "finished"


def test_who_wants_to_go_while_a_match_is_held_loses_nothing(house: House) -> None:
    held, other = house.started("Ailsa", "Bran"), house.started("Ailsa", "Catrin")
    Match.update(frozen_at=house.now, frozen_why="a look").where(Match.id == held.id).execute()
    with refused("frozen"):
        lobby.leave_all(house.people["Ailsa"], house.now)
    assert house.played(other).position.resigned == frozenset()

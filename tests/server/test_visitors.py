"""Playing without an account: one click, a match against a bot, a week to come back, and a way to keep it all."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from datetime import datetime, timedelta

import argon2
import pytest
from house import DAY, START, House
from together import damage, everything_stored, in_parallel, quick_pictures, refused

from engine import games
from server import (
    accounts,
    archive,
    audit,
    db,
    home,
    lobby,
    log,
    notes,
    notify,
    outbox,
    people,
    play,
    ratings,
    rematch,
    seating,
    throttle,
    timeouts,
    visitors,
)
from server.models import Match, Note, Outbox, Seat, User

HERE = "192.0.2.7"
PASSWORD = "heather and peat"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that cost nothing, and no pictures: neither is what these tests ask."""
    cheap = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", cheap)
    quick_pictures(monkeypatch)


def arrive(house: House, key: str = "a", kind: str = "clans", **given: object) -> tuple[User, Match]:
    """Let a stranger try a game."""
    return visitors.try_game(kind, **{"by": None, "key": key, "source": HERE, "now": house.now, **given})


def keep(house: House, visitor: User, name: str = "Mairi", email: str = "mairi@example.org") -> None:
    """Have a visitor give a name and an address."""
    given = {"zone": "UTC", "language": "en", "source": HERE, "now": house.now}
    visitors.keep(again(visitor), name, email, PASSWORD, **given)


def again(user: User) -> User:
    """Return somebody as he is now."""
    return User.get_by_id(user.id)


def token(text: str) -> str:
    """Return the token of the link in a mail."""
    return re.search(r"/confirm/(\S+)", text).group(1)


def become_person(house: House, visitor: User) -> User:
    """Have a visitor keep what he has, and confirm."""
    keep(house, visitor)
    return accounts.confirm(token(house.mail()[-1].text), house.now)


def move(house: House, match: Match, user: User) -> None:
    """Make a move of the user's, after those of the bots."""
    house.bots()
    seat = next(place.number for place in log.places(match) if place.user_id == user.id)
    played = house.played(match)
    if played.outcome is None:
        text = played.view(seat).moves[0]
        play.submit(match.id, seat, text, played.position.asked[seat], user, "web", now=house.now)


def play_out(house: House, match: Match, user: User) -> Match:
    """Play to the end."""
    while house.played(match).outcome is None:
        house.later(minutes=1)
        move(house, match, user)
    return log.get(match.id)


@pytest.mark.parametrize(
    ("said", "zone"), [("Europe/Prague", "Europe/Prague"), ("", "UTC"), ("Mars/Olympus", "UTC"), ("../etc", "UTC")]
)
def test_a_visitor_has_the_time_zone_of_his_browser_if_it_is_one(house: House, said: str, zone: str) -> None:
    visitor, _ = arrive(house, zone=said)
    assert again(visitor).zone == zone


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_a_stranger_plays_a_bot_at_once_without_a_clock(house: House, kind: str) -> None:
    visitor, match = arrive(house, kind=kind)
    assert re.fullmatch("Visitor [0-9]{4}", visitor.name)
    assert (visitor.email, visitor.confirmed_at, visitor.reachable) == (None, None, False)
    assert visitor.visitor_until == house.now + timedelta(days=7)
    assert (match.status, match.rated, match.unlisted) == ("running", False, True)
    assert house.played(match).clocks.rule.limitless
    bots = [place.user for place in log.places(match) if place.user_id != visitor.id]
    assert [bot.bot for bot in bots] == ["steady"]
    match = play_out(house, match, visitor)
    assert match.reason
    assert audit.verify(match.id) == []
    assert house.mail() == []


def test_every_game_can_be_tried(house: House) -> None:
    for kind in games.games():
        _, match = arrive(house, kind=kind)
        assert match.game == kind


def test_a_game_that_is_not_here_makes_no_visitor(house: House) -> None:
    with refused("not-found"):
        arrive(house, kind="chess")
    assert not User.select().where(User.visitor_until.is_null(False)).exists()


def test_a_click_that_comes_twice_is_one(house: House) -> None:
    visitor, match = arrive(house)
    assert arrive(house) == (visitor, match)
    assert arrive(house, kind="glory")[0] == visitor
    assert arrive(house, key="b")[0] != visitor


def test_two_clicks_at_the_same_moment_are_one(house: House) -> None:
    found = in_parallel(*[lambda: arrive(house)] * 4)
    assert len({(visitor.id, match.id) for visitor, match in found}) == 1
    assert Match.select().count() == 1


def test_who_plays_a_bot_comes_back_to_that_match_until_it_has_ended(house: House) -> None:
    ailsa = house.people["Ailsa"]
    _, first = arrive(house, by=ailsa)
    house.started("Ailsa", "Bran")
    assert arrive(house, by=ailsa)[1] == first
    seating.resign(first.id, ailsa, "web", now=house.now)
    assert arrive(house, by=ailsa)[1] != first


def test_a_person_plays_under_his_own_account_and_his_match_is_listed(house: House) -> None:
    ailsa = house.people["Ailsa"]
    user, match = arrive(house, by=ailsa)
    assert (user, match.unlisted, match.rated) == (ailsa, False, False)
    match = play_out(house, match, ailsa)
    assert list(archive.find(player="Ailsa").matches) == [match]
    ratings.count_up(house.later(minutes=5))
    assert people.profile(ailsa, None, house.now).records == ()


def test_a_guided_match_is_guided_for_the_visitor_alone(house: House) -> None:
    visitor, match = arrive(house)
    assert not Seat.select().where(Seat.guided).exists()
    assert arrive(house, guided=True) == (visitor, match)
    assert [seat.user for seat in Seat.select().where(Seat.guided)] == [visitor]


def test_strangers_are_throttled_by_where_they_come_from_and_in_all(house: House) -> None:
    for number in range(21):
        with refused("throttled") if number == 20 else nullcontext():
            arrive(house, key=str(number))
    for number in range(20, 1001):
        with refused("throttled") if number == 1000 else nullcontext():
            throttle.count("try in all", "", house.now)
    with refused("throttled"):
        arrive(house, key="other", source="198.51.100.9")
    house.later(hours=1)
    arrive(house, key="other", source="198.51.100.9")


def test_a_visitor_meets_nobody(house: House) -> None:
    visitor, own = arrive(house)
    table = house.table("Ailsa", seats=3)
    with refused("unconfirmed"):
        lobby.join(table.id, visitor, now=house.now)
    with refused("unconfirmed"):
        lobby.open_table(visitor, lobby.Terms("clans", 2, {"move": DAY}, {}), house.now)
    with refused("not-found"):
        people.find(visitor.name)
    assert table in lobby.open_tables()
    assert own not in lobby.open_tables()
    own = play_out(house, own, visitor)
    with refused("unconfirmed"):
        rematch.ask(own.id, visitor, now=house.now)


def test_a_visitor_takes_no_seat_that_became_free(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    # Who never came is replaced at once, and anybody may have his seat.
    timeouts.time_out(match.id, now=house.later(days=2))
    visitor, _ = arrive(house)
    seat = min(house.played(match).position.offered)
    with refused("unconfirmed"):
        seating.take(match.id, seat, visitor, "web", now=house.now)


def test_no_list_shows_a_visitors_match(house: House) -> None:
    visitor, match = arrive(house)
    match = play_out(house, match, visitor)
    ratings.count_up(house.later(minutes=5))
    bot = next(place.user for place in log.places(match) if place.user.bot)
    assert archive.find().matches == archive.find(player=visitor.name).matches == ()
    assert archive.reasons() == []
    assert people.finished(bot).matches == ()
    assert ratings.ladder("clans", house.now).rungs == ()
    assert home.unseen(visitor) == [match]


def test_each_visit_keeps_a_visitor_for_a_week(house: House) -> None:
    visitor, _ = arrive(house)
    visitors.stay(again(visitor), house.later(minutes=50))
    assert again(visitor).visitor_until == START + timedelta(days=7), "not worth a write"
    visitors.stay(again(visitor), house.later(days=3))
    assert again(visitor).visitor_until == house.now + timedelta(days=7)
    ailsa = house.people["Ailsa"]
    visitors.stay(ailsa, house.now)
    assert again(ailsa).visitor_until is None


def test_who_leaves_is_forgotten_at_once_and_no_page_on_its_way_keeps_him(house: House) -> None:
    user, match = arrive(house)
    visitors.leave(user, house.now)
    visitors.stay(user, house.now)
    assert again(user).deleted_at == house.now
    assert log.get(match.id).reason == "cancelled"
    assert arrive(house)[0] != user


def test_whoever_leaves_a_damaged_match_is_forgotten_when_it_is_mended(house: House) -> None:
    user, match = arrive(house)
    damage(match)
    visitors.leave(user, house.now)
    visitors.stay(user, house.now)
    assert again(user).visitor_until == house.now


def test_a_key_opens_nothing_after_a_minute(house: House) -> None:
    user, _ = arrive(house)
    house.later(seconds=59)
    assert arrive(house)[0] == user
    house.later(seconds=1)
    other, _ = arrive(house)
    assert other != user


def test_sessions_from_before_end_when_a_visitor_takes_a_name(house: House) -> None:
    user, _ = arrive(house)
    before = again(user).session_key
    keep(house, user)
    assert again(user).session_key != before


def test_an_address_that_a_visitor_has_only_claimed_is_free_for_its_owner(house: House) -> None:
    user, _ = arrive(house)
    keep(house, user)
    accounts.sign_up(
        "Owner", "mairi@example.org", PASSWORD, zone="UTC", language="en", source="192.0.2.8", now=house.now
    )
    assert again(user).email is None
    assert accounts.by_name("Owner").email == "mairi@example.org"
    assert not Outbox.select().where(Outbox.kind == "known").exists()


def test_a_visitor_notes_something_in_his_own_matches_only_and_it_goes_with_him(house: House) -> None:
    user, match = arrive(house)
    foreign = house.started("Ailsa", "Bran")
    notes.write(match, user, "Mine.", house.now)
    with refused("unconfirmed"):
        notes.write(foreign, user, "Hm.", house.now)
    visitors.leave(user, house.now)
    assert not Note.select().exists()


def test_a_visitor_of_whom_something_unforeseen_comes_up_keeps_no_other_here(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (arrive(house, key)[0] for key in "ab")
    forget = accounts.forget

    def moody(user: User, now: datetime) -> None:
        if user == first:
            raise ZeroDivisionError
        forget(user, now)

    monkeypatch.setattr(accounts, "forget", moody)
    assert visitors.sweep(house.later(days=8)) == 1
    assert (again(first).deleted_at, again(second).deleted_at) == (None, house.now)


def test_who_never_comes_back_is_forgotten_and_his_match_ended_as_it_stands(house: House) -> None:
    visitor, match = arrive(house)
    move(house, match, visitor)
    assert visitors.sweep(house.later(days=6, hours=23)) == 0
    assert visitors.sweep(house.later(hours=2)) == 1
    gone = again(visitor)
    assert (gone.name, gone.visitor_until, gone.deleted_at) == (f"Former player {gone.id}", None, house.now)
    match = log.get(match.id)
    assert (match.status, match.reason, match.unlisted) == ("finished", "agreement", True)
    assert [row.kind for row in house.played(match).rows][-1] == "end"
    assert audit.verify(match.id) == []
    assert archive.find().matches == ()
    assert visitor.name not in everything_stored()
    assert visitors.sweep(house.later(days=30)) == 0


def test_a_match_that_never_began_is_called_off_when_its_visitor_is_forgotten(house: House) -> None:
    _, match = arrive(house)
    visitors.sweep(house.later(days=8))
    match = log.get(match.id)
    assert (match.status, match.reason) == ("finished", "cancelled")


def test_a_forgotten_visitor_who_clicks_once_more_is_a_new_one(house: House) -> None:
    visitor, match = arrive(house)
    visitors.sweep(house.later(days=8))
    newcomer, fresh = arrive(house)
    assert newcomer != visitor
    assert fresh != match


def test_forgetting_is_bounded_and_those_go_first_who_left_first(house: House) -> None:
    early = [arrive(house, key=str(number))[0] for number in range(3)]
    house.later(hours=2)
    late = [arrive(house, key=f"late {number}")[0] for number in range(2)]
    house.later(days=8)
    assert visitors.sweep(house.now, limit=3) == 3
    assert all(again(visitor).deleted_at for visitor in early)
    assert not any(again(visitor).deleted_at for visitor in late)
    assert visitors.sweep(house.now, limit=3) == 2


def test_a_damaged_match_keeps_no_other_visitor_here(house: House) -> None:
    visitor, match = arrive(house)
    damage(match)
    house.later(minutes=1)
    other, _ = arrive(house, key="b")
    assert visitors.sweep(house.later(days=8)) == 1
    assert again(other).deleted_at
    assert again(visitor).deleted_at is None
    assert visitors.sweep(house.now) == 0, "tried again in a week"


def test_who_comes_back_while_the_sweep_is_at_work_stays(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor, match = arrive(house)
    house.later(days=8)
    forget = visitors._forget

    def back_first(number: int, now: datetime) -> bool:
        visitors.stay(again(visitor), now)
        return forget(number, now)

    monkeypatch.setattr(visitors, "_forget", back_first)
    assert visitors.sweep(house.now) == 0
    assert log.get(match.id).status == "running"


def test_who_plays_a_bot_is_there_and_needs_no_letter_at_once(house: House) -> None:
    ailsa = house.people["Ailsa"]
    _, match = arrive(house, by=ailsa)
    house.bots()
    assert house.mail() == []
    move(house, match, ailsa)
    assert house.mail() == []


def test_the_sweep_of_people_who_never_confirmed_leaves_visitors_alone(house: House) -> None:
    visitor, _ = arrive(house)
    keep(house, visitor)
    accounts.sweep(house.later(days=6))
    assert again(visitor).visitor_until


def test_a_visitor_becomes_a_person_and_his_matches_are_his(house: House) -> None:
    visitor, running = arrive(house)
    _, ended = arrive(house, kind="glory")
    ended = play_out(house, ended, visitor)
    keep(house, visitor)
    waiting = again(visitor)
    assert (waiting.name, waiting.visitor_until is None, waiting.reachable) == ("Mairi", False, False)
    assert archive.find().matches == ()
    (letter,) = house.mail()
    assert letter.to_address == "mairi@example.org"
    person = accounts.confirm(token(letter.text), house.later(hours=1))
    assert (person.id, person.visitor_until, person.confirmed_at) == (visitor.id, None, house.now)
    assert person.session_key == waiting.session_key, "he plays on where he was"
    assert list(archive.find(player="Mairi").matches) == [ended]
    assert not log.get(running.id).unlisted
    assert json.loads(house.played(running).setup_row.text)["people"].count(person.id) == 1
    assert accounts.sign_in("Mairi", PASSWORD, source=HERE, now=house.now) == person
    assert visitors.sweep(house.later(days=30)) == 0
    lobby.join(house.table("Ailsa", seats=3).id, person, now=house.now)


def test_who_has_become_a_person_is_told_where_he_is_awaited(house: House) -> None:
    visitor, match = arrive(house)
    house.bots()
    become_person(house, visitor)
    assert [(mail.kind, mail.match_id) for mail in house.queued(user=visitor)] == [("turn", match.id)]


def test_a_password_set_by_mail_makes_a_visitor_a_person_too(house: House) -> None:
    visitor, _ = arrive(house)
    keep(house, visitor)
    accounts.forgot("mairi@example.org", source=HERE, now=house.now)
    letter = next(mail for mail in house.mail() if "/reset/" in mail.text)
    person = accounts.reset(re.search(r"/reset/(\S+)", letter.text).group(1), PASSWORD, house.now)
    assert (person.id, person.visitor_until) == (visitor.id, None)


def test_an_address_that_has_an_account_is_told_so_and_the_visitor_learns_nothing(house: House) -> None:
    told = []
    for key, name, email in (("a", "Mairi", "ailsa@example.org"), ("b", "Morag", "new@example.org")):
        visitor, _ = arrive(house, key=key)
        assert keep(house, visitor, name, email) is None
        seen = again(visitor)
        told.append((seen.visitor_until, visitors.is_named(seen), seen.name == name))
        with refused("bad-credentials"):
            accounts.sign_in(name, PASSWORD, source=HERE, now=house.now)
    assert told[0] == told[1]
    assert {mail.to_address: mail.subject for mail in house.mail()} == {
        "ailsa@example.org": "You already have an account",
        "new@example.org": "Please confirm your address",
    }
    with refused("bad-input") as known:
        keep(house, visitor, "Bran", "ailsa@example.org")
    with refused("bad-input") as unknown:
        keep(house, visitor, "Bran", "third@example.org")
    assert known.value.sentence == unknown.value.sentence


def test_a_wrong_address_can_be_mended_and_its_letter_is_worth_nothing(house: House) -> None:
    visitor, _ = arrive(house)
    keep(house, visitor, email="wrong@example.org")
    (letter,) = house.mail()
    keep(house, visitor, email="wrong-too@example.org")
    keep(house, visitor)
    assert [mail.to_address for mail in house.mail()] == ["mairi@example.org"]
    with refused("link-spent"):
        accounts.confirm(token(letter.text), house.now)
    assert Outbox.get(Outbox.address == "wrong-too@example.org").note == "another address was given"


def test_letters_of_visitors_are_bounded(house: House) -> None:
    visitor, _ = arrive(house)
    for number in range(6):
        with refused("throttled") if number == 5 else nullcontext():
            keep(house, visitor)
    assert len(house.mail()) == 5


def test_nobody_is_kept_twice(house: House) -> None:
    visitor, _ = arrive(house)
    before = again(visitor)
    become_person(house, visitor)
    with refused("not-yours"):
        visitors.keep(before, "Una", "una@example.org", PASSWORD, zone="UTC", language="en", source=HERE, now=house.now)
    assert again(visitor).name == "Mairi"


def test_names_that_begin_as_a_visitors_are_nobodys(cottage: House) -> None:
    for name in ("Visitor", "visitor 1234", "VISITOR X"):
        with refused("bad-input"):
            accounts.clean_name(name)
    assert accounts.clean_name("Visitoria") == "Visitoria"


def test_nothing_is_ever_mailed_to_a_visitor(house: House) -> None:
    visitor, match = arrive(house)
    move(house, match, visitor)
    with db.transaction():
        notify.catch_up(again(visitor), house.now)
    visitors.sweep(house.later(days=8))
    assert not outbox.told("turn", visitor, match, match.asked)
    assert Outbox.select().count() == 0

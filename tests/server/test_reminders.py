"""Reminders and nudges: once for each turn and deadline, with the numbers of the rule, and never too early."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clockwork import DAY, HOUR, awaited, kinds, reminders, sitting, tick, ticks, wish, with_rounds
from house import START, House
from together import in_parallel, quick_pictures, refused

from server import deadlines, log, outages, play, preferences, timeouts, vacations, votes, wording
from server.models import Outbox, User
from server.preferences import Wishes


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)
    with_rounds(monkeypatch)


def test_a_reminder_tells_the_numbers_of_the_rule_in_the_readers_zone(cottage: House) -> None:
    for name, zone in (("Ailsa", "Europe/Prague"), ("Bran", "America/New_York")):
        cottage.people[name] = wish(cottage.people[name], zone=zone, nights="22:30-06:00")
    match = cottage.begun("Ailsa", "Bran", clock={"move": 10 * HOUR, "nights": True})
    cottage.mail()
    ticks(cottage, until=log.get(match.id).reminder_at)
    (message,) = [one for one in cottage.mail() if "a reminder" in one.text]
    seat, user = awaited(cottage, match)
    until = cottage.played(match).clocks.deadline(seat)
    text = " ".join(message.text.split())
    assert user.zone in {"Europe/Prague", "America/New_York"}
    assert f"until {wording.when(until, user.zone)}" in text
    assert f"that is {wording.span(until - cottage.now)}" in text
    assert timeouts.time_out(match.id, now=until - timedelta(milliseconds=1)) is False
    assert timeouts.time_out(match.id, now=until) is True


def test_who_was_reminded_is_not_reminded_again_when_the_deadline_moves_on(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=10 * HOUR)
    _, user = awaited(cottage, match)
    ticks(cottage, until=START + timedelta(hours=8, minutes=30))
    vacations.announce(user, cottage.now, cottage.now + timedelta(days=1), "web", now=cottage.now)
    ticks(cottage, until=START + timedelta(days=1, hours=9), every=timedelta(minutes=9))
    cottage.later(days=2)
    tick(cottage)
    ticks(cottage, until=log.get(match.id).deadline - timedelta(minutes=1), every=timedelta(minutes=9))
    assert log.get(match.id).deadline == START + timedelta(days=3, hours=10)
    assert len(reminders(match)) == 1


def test_an_outage_swallows_no_reminder(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=10 * HOUR)
    ticks(house, until=START + timedelta(hours=5))
    outage = timedelta(days=2, milliseconds=7001)
    house.now += outage
    tick(house)
    assert reminders(match) == []
    assert log.get(match.id).reminder_at == START + outage + timedelta(hours=8), "what he had left is left"
    ticks(house, until=log.get(match.id).reminder_at)
    assert len(reminders(match)) == 1


def test_a_pause_that_ends_early_swallows_no_reminder(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": 5 * HOUR, "daily": "18:00 UTC"})
    people = [house.people[name] for name in ("Ailsa", "Bran")]
    ticks(house, until=START + timedelta(hours=4, minutes=50))
    topic = votes.pause_topic(START + timedelta(days=5))
    assert [votes.vote(match.id, user, topic, "web", now=house.now) for user in people] == [False, True]
    ticks(house, until=START + timedelta(hours=8))
    assert [votes.vote(match.id, user, "resume", "web", now=house.now) for user in people] == [False, True]
    # There are ten minutes and fifty, and of less than six hours in all more than four fifths are over.
    assert log.get(match.id).deadline == START + timedelta(hours=9)
    ticks(house, until=START + timedelta(hours=8, minutes=55))
    assert len(reminders(match)) == 1


def test_a_deadline_that_comes_back_is_not_reminded_of_again(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=10 * HOUR)
    _, user = awaited(cottage, match)
    ticks(cottage, until=START + timedelta(hours=8))
    vacations.announce(user, cottage.now + timedelta(days=9), cottage.now + timedelta(days=10), "web", now=cottage.now)
    vacations.end(user, "web", now=cottage.later(minutes=5))
    ticks(cottage, until=START + timedelta(hours=9, minutes=55))
    assert len(reminders(match)) == 1


def test_two_turns_with_the_same_deadline_are_reminded_of_each(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": HOUR, "daily": "18:00 UTC"})
    until = log.get(match.id).deadline
    ticks(house, until=log.get(match.id).reminder_at)
    assert len(reminders(match)) == 1
    house.later(minutes=1)
    house.move(match)
    house.move(match)
    assert log.get(match.id).deadline == until, "the same evening"
    ticks(house, until=until - timedelta(minutes=1))
    assert len(reminders(match)) == 2


def test_a_person_chooses_when_to_be_reminded(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=10 * HOUR)
    _, user = awaited(cottage, match)
    assert user.reminders == "80", "one, if nothing was chosen"
    preferences.settle(user, Wishes("UTC", reminders="50, 25 %"), cottage.now)
    ticks(cottage, until=START + timedelta(hours=9, minutes=55))
    assert [mail.key.split()[-1] for mail in reminders(match)] == ["25", "50"]
    cottage.move(match)
    cottage.move(match)
    preferences.settle(User.get_by_id(user.id), Wishes("UTC", reminders=""), cottage.now)
    ticks(cottage, until=log.get(match.id).deadline - timedelta(minutes=1))
    assert len(reminders(match)) == 2
    for wrong in ("10, 20, 30, 40", "0", "100", "-5", "soon", "٥"):
        with refused("bad-input"):
            preferences.settle(user, Wishes("UTC", reminders=wrong), cottage.now)


def test_who_wants_mails_again_is_told_where_he_is_awaited(house: House) -> None:
    for person in house.people.values():
        wish(person, turn_mail="off")
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    assert house.queued(kind="turn") == []
    preferences.settle(User.get_by_id(user.id), Wishes("UTC"), house.now)
    (mail,) = house.queued(kind="turn")
    assert (mail.user_id, mail.asked) == (user.id, house.played(match).position.asked[mail.seat])
    preferences.settle(User.get_by_id(user.id), Wishes("UTC", reminders="40"), house.now)
    assert len(house.queued(kind="turn")) == 1


def test_no_reminder_goes_out_before_it_is_seen_that_nobody_was_at_work(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    tick(house)
    house.later(hours=20)
    assert deadlines.remind(house.now) == 0
    outages.beat(house.now)
    outages.give_back(house.now)
    assert deadlines.remind(house.now) == 0
    assert log.get(match.id).deadline == START + timedelta(days=1, hours=20)


def test_a_reminder_comes_sooner_when_a_vacation_of_one_of_several_ends_early(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", game="rounds", pace=10 * HOUR)
    tick(cottage)
    vacations.announce(cottage.people["Bran"], cottage.now, cottage.now + timedelta(days=5), "web", now=cottage.now)
    play.submit(match.id, 0, "go", 0, cottage.people["Ailsa"], "web", now=cottage.now)
    vacations.end(cottage.people["Bran"], "web", now=cottage.later(hours=1))
    ticks(cottage, until=cottage.now + timedelta(hours=9))
    assert [mail.user for mail in reminders(match)] == [cottage.people["Bran"]]


def test_those_awaited_are_told_once_more_once_a_day(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", pace=9 * DAY)
    seat, user = awaited(house, match)
    nudger = sitting(match, (seat + 1) % 3)
    with refused("throttled"):
        play.nudge(match.id, nudger, "web", now=house.later(hours=23, minutes=59))
    play.nudge(match.id, nudger, "web", now=house.later(minutes=1))
    (mail,) = reminders(match)
    assert mail.user == user
    assert kinds(house, match)[-1] == "nudge"
    house.mail()
    for who in range(3):
        with refused("throttled"):
            play.nudge(match.id, sitting(match, who), "web", now=house.now)
    assert log.get(match.id).deadline == START + timedelta(days=9), "it takes no time away"
    works = [lambda who=who: play.nudge(match.id, sitting(match, who), "web", now=house.now) for who in (1, 2, 0)]
    house.later(days=1)
    assert sorted(map(str, in_parallel(*works))) == ["None", "throttled", "throttled"]


def test_nobody_nudges_himself_a_bot_or_a_match_that_is_over(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=9 * DAY)
    _, user = awaited(cottage, match)
    cottage.later(days=2)
    with refused("throttled"):
        play.nudge(match.id, user, "web", now=cottage.now)
    with refused("not-yours"):
        play.nudge(match.id, cottage.people["Dugald"], "web", now=cottage.now)
    cottage.finish(match)
    with refused("not-running"):
        play.nudge(match.id, user, "web", now=cottage.later(days=2))


def test_a_restart_with_work_at_hand_does_nothing_twice(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", pace=10 * HOUR)
    ticks(house, until=START + timedelta(hours=8), every=timedelta(minutes=9))
    before = Outbox.select().count()
    for _ in range(3):
        # Another process begins with the same tables and nothing else.
        tick(house)
    assert Outbox.select().count() == before
    house.mail()
    assert house.mail() == []
    assert len(reminders(match)) == 1

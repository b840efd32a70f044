"""Times in which no scheduler ran: given back, bounded, told, and nobody is out of time before that."""

from __future__ import annotations

from datetime import timedelta

import pytest
from clockwork import DAY, HOUR, awaited, kinds, tick, tick_at, ticks
from house import START, House
from together import damage, in_parallel, quick_pictures

from server import audit, deadlines, events, home, log, outages, play, story
from server.models import Job, Outage, Outbox


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


def test_after_three_days_without_a_server_deadlines_move_on_by_them(house: House) -> None:
    matches = [house.begun("Ailsa", "Bran", pace=pace) for pace in (HOUR, DAY, 5 * DAY)]
    before = [log.get(match.id).deadline for match in matches]
    tick(house)
    house.later(days=3)
    assert tick(house) == 0
    assert [log.get(match.id).deadline for match in matches] == [until + timedelta(days=3) for until in before]
    assert [kinds(house, match, 2) for match in matches] == [["outage"]] * 3
    played = house.played(matches[0])
    assert events.sentence(played, played.rows[-1], story.names(log.places(matches[0]))) == (
        "The server was down from Mon 2 Mar 2026, 09:00 UTC until Thu 5 Mar 2026, 09:00 UTC; that time is given back."
    )
    assert all(audit.verify(match.id) == [] for match in matches)


def test_a_turn_is_given_back_seven_days_at_most(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=DAY)
    tick(cottage)
    cottage.later(days=6)
    tick(cottage)
    cottage.later(hours=1)
    tick_at(cottage, cottage.now)
    cottage.later(days=1, hours=12)
    tick(cottage)
    assert log.get(match.id).deadline == START + timedelta(days=8)
    cottage.later(days=3)
    tick(cottage)
    assert kinds(cottage, match, 2) == ["outage", "outage", "outage", "timeout", "move"]


def test_service_goes_on_by_itself_after_an_outage(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", pace=HOUR)
    tick(cottage)
    cottage.later(hours=12)
    tick(cottage)
    until = log.get(match.id).deadline
    ticks(cottage, until=until)
    assert kinds(cottage, match, 3) == ["outage", "timeout", "move"]


@pytest.mark.parametrize(("hours", "days"), [(1, 1), (24, 1), (26, 2), (28, 2)])
def test_a_daily_deadline_moves_on_by_the_outage_too(house: House, hours: int, days: int) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": 5 * HOUR, "daily": "18:00 UTC"})
    assert log.get(match.id).deadline == START + timedelta(hours=9)
    tick(house)
    tick_at(house, START + timedelta(hours=6))
    house.later(hours=hours)
    assert tick(house) == 0
    # What he had left is left, and the deadline is at that time of the day all the same.
    assert log.get(match.id).deadline == START + timedelta(hours=9, days=days)


def test_a_restart_or_a_slow_tick_is_no_outage(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    for minutes in (1, 9, 9.9, 5):
        tick(house)
        house.later(minutes=minutes)
    tick(house)
    assert kinds(house, match, 2) == []
    assert not Outage.select().exists()


def test_nobody_is_out_of_time_before_all_have_their_time_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    matches = [house.begun("Ailsa", "Bran", pace=HOUR) for _ in range(5)]
    tick(house)
    house.later(days=1)
    outages.beat(house.now)
    assert outages.give_back(house.now, limit=2) is False
    assert deadlines.run(lambda: house.now) == deadlines.remind(house.now) == 0
    assert [kinds(house, match, 2) for match in matches] == [["outage"]] * 2 + [[]] * 3
    assert outages.give_back(house.now, limit=2) is False
    assert outages.give_back(house.now, limit=2) is True
    assert deadlines.run(lambda: house.now) == 0
    assert [kinds(house, match, 2) for match in matches] == [["outage"]] * 5


def test_a_scheduler_that_dies_while_giving_back_is_continued_and_gives_nothing_twice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [house.begun("Ailsa", "Bran") for _ in range(4)]
    tick(house)
    house.later(days=1)
    outages.beat(house.now)
    writing, calls = outages.writing, []

    def dying(match_id: int, now):
        calls.append(match_id)
        if len(calls) == 3:
            raise SystemExit
        return writing(match_id, now)

    monkeypatch.setattr(outages, "writing", dying)
    with pytest.raises(SystemExit):
        outages.give_back(house.now)
    monkeypatch.setattr(outages, "writing", writing)
    assert deadlines.run(lambda: house.now) == 0
    assert outages.give_back(house.later(minutes=2)) is True
    assert [kinds(house, match, 2) for match in matches] == [["outage"]] * 4
    assert all(log.get(match.id).deadline == START + timedelta(days=2) for match in matches)


def test_schedulers_that_start_together_give_back_once(house: House) -> None:
    matches = [house.begun("Ailsa", "Bran") for _ in range(3)]
    tick(house)
    house.later(days=2)
    results = in_parallel(*[lambda: tick(house)] * 3)
    assert results == [0] * 3
    assert [kinds(house, match, 2) for match in matches] == [["outage"]] * 3
    assert Outage.select().count() == 1
    keys = [mail.key for mail in Outbox.select()]
    assert len(keys) == len(set(keys))


def test_one_mail_tells_each_person_of_all_his_matches(house: House) -> None:
    for _ in range(3):
        house.begun("Ailsa", "Bran")
    house.begun("Catrin", "Dugald", clock={})
    tick(house)
    house.mail()
    house.later(days=1)
    tick(house)
    told = list(Outbox.select().where(Outbox.kind == "outage"))
    assert sorted(mail.user.name for mail in told) == ["Ailsa", "Bran"], "no clock was running in the other match"
    sent = [message for message in house.mail() if "down" in message.text]
    assert sorted(message.to_name for message in sent) == ["Ailsa", "Bran"]


def test_who_moves_before_the_time_is_given_back_is_in_time(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    seat, _ = awaited(house, match)
    tick(house)
    house.later(days=5)
    house.move(match)
    tick(house)
    played = house.played(match)
    assert [row.kind for row in played.rows[2:]] == ["move", "outage"]
    assert played.position.misses[seat] == 0
    assert log.get(match.id).deadline == house.now + timedelta(days=1), "the next turn began after it"


def test_a_match_that_began_in_an_outage_is_given_back_the_rest_of_it(house: House) -> None:
    tick(house)
    house.later(days=2)
    match = house.begun("Ailsa", "Bran")
    began = house.now
    house.later(days=1)
    assert tick(house) == 0
    assert log.get(match.id).deadline == began + timedelta(days=2)
    after = house.begun("Ailsa", "Bran")
    tick(house)
    assert kinds(house, after, 2) == []


def test_matches_without_a_limit_or_over_are_told_of_no_outage(house: House) -> None:
    limitless, over = house.begun("Ailsa", "Bran", clock={}), house.finish(house.begun("Ailsa", "Bran", game="glory"))
    tick(house)
    length = log.get(over.id).length
    house.later(days=1)
    tick(house)
    assert kinds(house, limitless, 2) == []
    assert log.get(over.id).length == length


def test_a_damaged_match_does_not_hold_up_the_others(house: House) -> None:
    bad, good = house.begun("Ailsa", "Bran"), house.begun("Ailsa", "Bran")
    damage(bad, 1, "nonsense")
    tick(house)
    house.later(days=1)
    tick(house)
    assert kinds(house, good, 2) == ["outage"]
    assert Outage.get().done_at == house.now


def test_an_outage_on_vacation_or_on_a_weekend_is_not_given_back(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": 6 * DAY, "weekend": True})
    tick(cottage)
    ticks(cottage, until=START + timedelta(days=4), every=timedelta(minutes=9))
    cottage.later(days=3)
    tick(cottage)
    # From Friday 9:00 to Monday 9:00: fifteen hours of Friday and nine of Monday counted.
    assert cottage.played(match).clocks.clock(awaited(cottage, match)[0]).allowance == timedelta(days=7)


def test_a_clock_set_back_begins_to_beat_anew(house: House) -> None:
    tick(house)
    house.later(days=-2)
    tick(house)
    assert Job.get(Job.name == outages.BEAT).began_at == house.now
    assert not Outage.select().exists()
    house.later(hours=1)
    tick(house)
    assert Outage.get().ended_at - Outage.get().began_at == timedelta(hours=1)


def test_no_page_shows_a_deadline_that_an_outage_has_moved(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    _, user = awaited(cottage, match)
    tick(cottage)
    cottage.later(days=2)
    tick(cottage)
    (item,) = home.items(user, cottage.now)
    assert item.match.deadline == cottage.played(match).clocks.earliest() == START + timedelta(days=3)
    play.nudge(match.id, next(seat.user for seat in log.places(match) if seat.user != user), "web", now=cottage.now)
    assert log.get(match.id).deadline == START + timedelta(days=3)

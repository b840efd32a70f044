"""Deadlines and reminders of tables with every kind of time rule: what is shown is what is enforced."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from apscheduler.triggers.interval import IntervalTrigger
from clockwork import DAY, HOUR, awaited, kinds, reminders, sitting, tick, ticks, wish, with_rounds
from house import START, House
from together import in_parallel, quick_pictures, refused

from engine import games
from server import audit, bots, columns, deadlines, home, log, outages, play, preferences, seating, timeouts, vacations, wording
from server.models import Match, Outbox, User, Vacation
from server.preferences import Wishes
from server.scheduler import Scheduler

ZONES = ("Europe/Prague", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Asia/Kathmandu")
RULES = (
    {"move": 2 * DAY, "weekend": True},
    {"move": DAY, "nights": True, "bank": 3 * HOUR, "increment": 600},
    {"bank": 9 * DAY, "weekend": True, "nights": True},
    {"move": 5 * HOUR, "daily": "18:30 Europe/Prague"},
    {"move": 36 * HOUR, "daily": "02:30 America/New_York", "weekend": True, "missing": "vote"},
    {"move": DAY, "vacations": False},
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)
    with_rounds(monkeypatch)


def in_zones(house: House) -> None:
    """Let each person live somewhere else and sleep at another time."""
    for name, zone in zip(house.people, ZONES, strict=False):
        house.people[name] = wish(house.people[name], zone=zone, nights="22:30-06:00")


@pytest.mark.parametrize("number", range(len(RULES)))
def test_what_is_shown_is_what_is_enforced_in_every_zone_and_on_vacation(house: House, number: int) -> None:
    chance = random.Random(number)
    in_zones(house)
    # A few days before the clocks change in America, then in Europe, then in Australia.
    for start in ("2026-03-06T20:11", "2026-03-27T02:00", "2026-04-03T23:59"):
        house.now = datetime.fromisoformat(f"{start}+00:00")
        match = house.begun(*chance.sample(list(house.people), 3), clock=RULES[number])
        if chance.random() < 0.5:
            away = chance.choice(list(house.people.values()))
            vacations.announce(away, house.now, house.now + timedelta(days=2), "web", now=house.now)
        house.later(minutes=chance.randrange(300))
        until = log.get(match.id).deadline
        played = house.played(match)
        assert until == columns.deadline(played) == played.clocks.deadline(played.position.to_act[0])
        for _ in range(3):
            at = house.now + chance.random() * (until - house.now) / timedelta(seconds=1) * timedelta(seconds=1)
            left = played.clocks.left(played.position.to_act[0], at)
            assert left is not None
            assert timedelta(0) <= left <= until - at
            assert timeouts.time_out(match.id, now=at) is False
        assert timeouts.time_out(match.id, now=until - timedelta(milliseconds=1)) is False
        assert timeouts.time_out(match.id, now=until) is True
        for person in house.people.values():
            if vacations.current(person, house.now):
                vacations.end(person, "web", now=house.now)


def test_a_reminder_tells_the_numbers_of_the_rule_in_the_readers_zone(house: House) -> None:
    in_zones(house)
    match = house.begun("Ailsa", "Bran", clock={"move": 10 * HOUR, "nights": True})
    house.mail()
    ticks(house, until=log.get(match.id).reminder_at)
    (message,) = [one for one in house.mail() if "a reminder" in one.text]
    seat, user = awaited(house, match)
    until = house.played(match).clocks.deadline(seat)
    text = " ".join(message.text.split())
    assert user.zone in {"Europe/Prague", "America/New_York"}
    assert f"until {wording.when(until, user.zone)}" in text
    assert f"that is {wording.span(until - house.now)}" in text
    assert timeouts.time_out(match.id, now=until - timedelta(milliseconds=1)) is False
    assert timeouts.time_out(match.id, now=until) is True


def test_an_overdue_match_moves_on_within_one_tick_and_without_a_visit(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=HOUR)
    tick(house)
    until = log.get(match.id).deadline
    while house.now < until:
        assert kinds(house, match, 2) == []
        house.later(minutes=7)
        tick(house)
    (timeout, move) = house.played(match).rows[2:4]
    assert (timeout.kind, move.via) == ("timeout", "clock")
    assert log.instant(timeout.at) - until < timedelta(minutes=7)


def test_a_match_without_a_limit_is_never_ended_by_the_clock(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={})
    assert log.get(match.id).deadline is None
    assert "No time limit" in log.rule_sentence(match)
    tick(house)
    for _ in range(3 * 12):
        house.later(days=30)
        assert tick(house) == 0
    assert kinds(house, match, 2) == []
    assert log.get(match.id).status == "running"
    assert reminders(match) == []


def test_a_move_that_is_only_tried_out_or_wrong_is_no_move(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    seat, user = awaited(house, match)
    played, until = house.played(match), log.get(match.id).deadline
    house.now = until - timedelta(seconds=1)
    play.preview(log.get(match.id), seat, played.view(seat).moves[0], played.position.asked[seat], user)
    with refused("invalid-move"):
        house.move(match, "no move at all")
    assert log.get(match.id).deadline == until
    house.later(seconds=1)
    assert tick(house) == 1
    assert house.played(match).position.misses[seat] == 1


def test_a_move_sent_in_time_is_no_miss(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    seat, _ = awaited(house, match)
    house.now = log.get(match.id).deadline
    house.move(match)
    assert tick(house) == 0
    assert house.played(match).position.misses[seat] == 0
    assert "timeout" not in kinds(house, match)


def test_who_was_reminded_is_not_reminded_again_when_the_deadline_moves_on(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=10 * HOUR)
    _, user = awaited(house, match)
    ticks(house, until=START + timedelta(hours=8, minutes=30))
    vacations.announce(user, house.now, house.now + timedelta(days=1), "web", now=house.now)
    ticks(house, until=START + timedelta(days=1, hours=9), every=timedelta(minutes=9))
    house.later(days=2)
    ticks(house, until=log.get(match.id).deadline - timedelta(minutes=1), every=timedelta(minutes=9))
    assert log.get(match.id).deadline == START + timedelta(days=3, hours=10)
    assert len(reminders(match)) == 1


def test_an_outage_swallows_no_reminder(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=10 * HOUR)
    ticks(house, until=START + timedelta(hours=5))
    house.later(days=2)
    tick(house)
    assert reminders(match) == []
    assert log.get(match.id).reminder_at == START + timedelta(days=2, hours=8), "what he had left is left"
    ticks(house, until=log.get(match.id).reminder_at)
    assert len(reminders(match)) == 1


def test_a_deadline_that_comes_back_is_not_reminded_of_again(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=10 * HOUR)
    _, user = awaited(house, match)
    ticks(house, until=START + timedelta(hours=8))
    vacations.announce(user, house.now + timedelta(days=9), house.now + timedelta(days=10), "web", now=house.now)
    vacations.end(user, "web", now=house.later(minutes=5))
    ticks(house, until=START + timedelta(hours=9, minutes=55))
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


def test_a_person_chooses_when_to_be_reminded(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=10 * HOUR)
    _, user = awaited(house, match)
    assert user.reminders == "80", "one, if nothing was chosen"
    preferences.settle(user, Wishes("UTC", reminders="50, 25 %"), house.now)
    ticks(house, until=START + timedelta(hours=9, minutes=55))
    assert [mail.key.split()[-1] for mail in reminders(match)] == ["25", "50"]
    house.move(match)
    house.move(match)
    preferences.settle(User.get_by_id(user.id), Wishes("UTC", reminders=""), house.now)
    ticks(house, until=log.get(match.id).deadline - timedelta(minutes=1))
    assert len(reminders(match)) == 2
    for wrong in ("10, 20, 30, 40", "0", "100", "-5", "soon", "٥"):
        with refused("bad-input"):
            preferences.settle(user, Wishes("UTC", reminders=wrong), house.now)


def test_who_wants_mails_again_is_told_where_he_is_awaited(house: House) -> None:
    for person in house.people.values():
        wish(person, turn_mail=False)
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    assert house.queued(kind="turn") == []
    preferences.settle(User.get_by_id(user.id), Wishes("UTC"), house.now)
    (mail,) = house.queued(kind="turn")
    assert (mail.user_id, mail.asked) == (user.id, house.played(match).position.asked[mail.seat])
    preferences.settle(User.get_by_id(user.id), Wishes("UTC", reminders="40"), house.now)
    assert len(house.queued(kind="turn")) == 1


def test_everything_regular_may_be_done_twice_at_the_same_instant(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", pace=HOUR)
    tick(house)
    for step in (timedelta(minutes=48), timedelta(minutes=12), timedelta(days=3), timedelta(hours=2)):
        house.now += step
        tick(house)
        tick(house)
        once = kinds(house, match), Outbox.select().count(), log.get(match.id).deadline
        tick(house)
        assert (kinds(house, match), Outbox.select().count(), log.get(match.id).deadline) == once


def test_of_four_schedulers_each_thing_is_done_by_one(house: House) -> None:
    matches = [house.begun("Ailsa", "Bran", "Catrin", pace=10 * HOUR) for _ in range(3)]
    tick(house)
    house.later(hours=5)
    in_parallel(*[lambda: tick(house)] * 4)
    outages_ = [kinds(house, match, 3) for match in matches]
    assert outages_ == [["outage"]] * 3
    ticks(house, until=log.get(matches[0].id).reminder_at - timedelta(minutes=4))
    house.later(minutes=4)
    in_parallel(*[lambda: tick(house)] * 4)
    assert [len(reminders(match)) for match in matches] == [1] * 3
    ticks(house, until=log.get(matches[0].id).deadline - timedelta(minutes=4))
    house.later(minutes=4)
    assert sum(in_parallel(*[lambda: tick(house)] * 4)) == 3
    assert [kinds(house, match, 3) for match in matches] == [["outage", "timeout", "move"]] * 3


def test_a_clock_set_ahead_and_back_with_a_scheduler_at_work_is_early_for_nobody(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    tick(house)
    house.later(days=1, hours=1)
    assert tick(house) == 0, "a day that no scheduler saw is given back"
    assert reminders(match) == []
    house.later(days=-1)
    shown = log.get(match.id).deadline
    ticks(house, until=shown - timedelta(minutes=1))
    assert kinds(house, match, 3) == ["outage"]
    assert len(reminders(match)) == 1
    ticks(house, until=shown)
    assert kinds(house, match, 3) == ["outage", "timeout", "move"]
    assert audit.verify(match.id) == []


def test_no_reminder_goes_out_before_it_is_seen_that_nobody_was_at_work(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    tick(house)
    house.later(hours=20)
    assert deadlines.remind(house.now) == 0
    outages.beat(house.now)
    outages.give_back(house.now)
    assert deadlines.remind(house.now) == 0
    assert log.get(match.id).deadline == START + timedelta(days=1, hours=20)


@pytest.mark.parametrize("zone", ZONES)
def test_both_clock_changes_cost_nobody_an_hour(house: House, zone: str) -> None:
    for name in ("Ailsa", "Bran"):
        house.people[name] = wish(house.people[name], zone=zone, nights="23:00-07:00")
    for start in ("2026-03-05T12:00", "2026-03-27T12:00", "2026-04-02T12:00", "2026-10-01T12:00", "2026-10-30T12:00"):
        house.now = datetime.fromisoformat(f"{start}+00:00")
        match = house.begun("Ailsa", "Bran", clock={"move": 4 * DAY, "nights": True})
        seat, _ = awaited(house, match)
        until = log.get(match.id).deadline
        played = house.played(match)
        assert played.clocks.used(seat, until) == timedelta(days=4), "hour by hour, the nights left out"
        # Four days by sixteen hours of daylight are six days on the wall, whatever the clocks do meanwhile.
        wall = [at.astimezone(wording._zone(zone)) for at in (house.now, until)]
        assert timedelta(days=5, hours=22) <= until - house.now <= timedelta(days=6, hours=10)
        assert wall[1].hour in range(7, 23) or (wall[1].hour, wall[1].minute) == (23, 0)


def test_who_moves_to_another_zone_keeps_his_running_turn_and_reads_it_there(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": 2 * DAY, "weekend": True})
    _, user = awaited(house, match)
    before = log.get(match.id).deadline
    house.mail()
    preferences.settle(user, Wishes("Pacific/Apia"), house.now)
    assert log.get(match.id).deadline == before
    assert kinds(house, match)[-1] == "hours"
    ticks(house, until=log.get(match.id).reminder_at)
    (message,) = [one for one in house.mail() if "a reminder" in one.text]
    assert wording.when(before, "Pacific/Apia") in " ".join(message.text.split())
    house.move(match)
    house.now = datetime(2026, 3, 6, 9, tzinfo=UTC)
    house.move(match)
    # Friday 9:00 UTC is Friday 22:00 in Apia: two hours, the weekend there, and the rest from Monday on.
    assert log.get(match.id).deadline == datetime(2026, 3, 10, 9, tzinfo=UTC)
    assert audit.verify(match.id) == []


@pytest.mark.parametrize(
    ("now", "daily", "until"),
    [
        ("2026-03-28T12:00", "02:30 Europe/Prague", "2026-03-29T01:00"),
        ("2026-10-24T12:00", "02:30 Europe/Prague", "2026-10-25T01:30"),
        ("2026-04-04T02:00", "01:45 Australia/Lord_Howe", "2026-04-04T15:15"),
        ("2026-10-03T02:00", "02:15 Australia/Lord_Howe", "2026-10-03T15:30"),
    ],
)
def test_a_daily_deadline_in_the_missing_and_the_doubled_hour(house: House, now: str, daily: str, until: str) -> None:
    house.now = datetime.fromisoformat(f"{now}+00:00")
    match = house.begun("Ailsa", "Bran", clock={"move": HOUR, "daily": daily})
    found = log.get(match.id).deadline
    assert found == datetime.fromisoformat(f"{until}+00:00")
    tick(house)
    ticks(house, until=found - timedelta(milliseconds=1), every=timedelta(minutes=9))
    assert kinds(house, match, 2) == []
    house.now = found
    assert tick(house) == 1


def test_the_list_is_in_the_order_in_which_people_are_really_out_of_time(house: House) -> None:
    banked = house.begun("Ailsa", "Bran", clock={"move": HOUR, "bank": 9 * DAY})
    plain = house.begun("Ailsa", "Bran", clock={"move": 3 * DAY})
    limitless = house.begun("Ailsa", "Bran", clock={})
    for match in (banked, plain, limitless):
        while awaited(house, match)[1].name != "Ailsa":
            house.move(match)
    listed = [entry.match.id for entry in home.entries(house.people["Ailsa"])]
    assert [number for number in listed if number != limitless.id] == [plain.id, banked.id]


def test_seats_that_are_awaited_at_once_are_reminded_and_timed_out_each_for_itself(house: House) -> None:
    house.people["Bran"] = wish(house.people["Bran"], zone="Pacific/Apia")
    house.now = datetime(2026, 3, 5, 20, tzinfo=UTC)
    match = house.started(
        "Ailsa", "Bran", "Catrin", game="rounds", setup={"left": 9, "bound": []}, clock={"move": DAY, "weekend": True}
    )
    tick(house)
    untils = [house.played(match).clocks.deadline(seat) for seat in range(3)]
    assert len(set(untils)) == 2, "the weekend begins in Apia first"
    assert log.get(match.id).deadline == min(untils)
    ticks(house, until=max(untils) + timedelta(minutes=5))
    assert len(reminders(match)) == 3
    timed_out = {row.seat: log.instant(row.at) for row in house.played(match).rows if row.kind == "timeout"}
    for seat, until in enumerate(untils):
        assert timedelta(0) <= timed_out[seat] - until < timedelta(minutes=5)
    assert audit.verify(match.id) == []


def test_a_reminder_comes_sooner_when_a_vacation_of_one_of_several_ends_early(house: House) -> None:
    match = house.started("Ailsa", "Bran", game="rounds", pace=10 * HOUR)
    tick(house)
    vacations.announce(house.people["Bran"], house.now, house.now + timedelta(days=5), "web", now=house.now)
    play.submit(match.id, 0, "go", 0, house.people["Ailsa"], "web", now=house.now)
    vacations.end(house.people["Bran"], "web", now=house.later(hours=1))
    ticks(house, until=house.now + timedelta(hours=9))
    assert [mail.user for mail in reminders(match)] == [house.people["Bran"]]


def test_the_last_phase_of_a_match_is_timed_like_all_others(house: House) -> None:
    match = house.started("Ailsa", "Bran", game="rounds", setup={"left": 1, "bound": []}, pace=HOUR)
    play.submit(match.id, 0, "go", 0, house.people["Ailsa"], "web", now=house.now)
    assert log.get(match.id).deadline == columns.deadline(house.played(match)) == START + timedelta(hours=1)
    house.later(hours=1)
    tick(house)
    assert kinds(house, match) == ["move", "timeout", "takeover", "offer"], "he never came, so a bot plays for him"
    tick(house)
    assert log.get(match.id).status == "finished"
    assert log.get(match.id).deadline is None


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_at_every_turn_there_is_a_move_for_the_clock(cottage: House, kind: str) -> None:
    game, chance = games.game(kind), random.Random(5)
    match = cottage.started("Ailsa", "Bran", "Catrin", game=kind)
    while (played := cottage.played(match)).outcome is None:
        seat = played.position.to_act[0]
        state = played.position.state
        text = game.format(state, seat, game.timeout_move(state, seat))
        assert text in played.view(seat).moves
        cottage.move(match, chance.choice(played.view(seat).moves))


def test_nobody_is_on_vacation_unasked(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", pace=HOUR)
    ticks(house, until=house.now + timedelta(days=1), every=timedelta(minutes=9))
    assert "vacation" not in kinds(house, match)
    assert not Vacation.select().exists()


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


def test_nobody_nudges_himself_a_bot_or_a_match_that_is_over(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=9 * DAY)
    _, user = awaited(house, match)
    house.later(days=2)
    with refused("throttled"):
        play.nudge(match.id, user, "web", now=house.now)
    with refused("not-yours"):
        play.nudge(match.id, house.people["Dugald"], "web", now=house.now)
    house.finish(match)
    with refused("not-running"):
        play.nudge(match.id, user, "web", now=house.later(days=2))


def test_the_jobs_tick_by_interval_in_utc_and_without_chance(cottage: House) -> None:
    made = Scheduler(cottage.settings)
    made.run = lambda _name: None
    made.start()
    jobs = made.ticker.get_jobs()
    made.stop()
    assert sorted(job.args[0] for job in jobs) == sorted(made.jobs)
    for job in jobs:
        assert isinstance(job.trigger, IntervalTrigger)
        assert str(job.trigger.timezone) == "UTC"
        assert (job.trigger.jitter, job.coalesce, job.max_instances, job.misfire_grace_time) == (None, True, 1, None)


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


def test_a_bot_moves_in_a_match_without_a_limit(house: House) -> None:
    match: Match = house.begun("Ailsa", "Bran", "Catrin", clock={})
    _, user = awaited(house, match)
    seating.resign(match.id, user, "web", now=house.now)
    assert bots.run(house.now) == 1

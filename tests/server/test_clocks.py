"""Deadlines and reminders of tables with every kind of time rule: what is shown is what is enforced."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from apscheduler.triggers.interval import IntervalTrigger
from clockwork import DAY, HOUR, awaited, kinds, reminders, tick, ticks, wish, with_rounds
from house import START, House
from together import in_parallel, quick_pictures, refused

from engine import games
from server import (
    audit,
    columns,
    home,
    log,
    play,
    preferences,
    seating,
    timeouts,
    vacations,
    wording,
)
from server.models import Match, Outbox, Vacation
from server.preferences import Wishes
from server.scheduler import Scheduler

QUARTER = timedelta(minutes=15)
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


def test_a_match_without_a_limit_is_never_ended_by_the_clock(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={})
    assert log.get(match.id).deadline is None
    assert "No time limit" in log.rule_sentence(match)
    tick(cottage)
    for _ in range(3 * 12):
        cottage.later(days=30)
        assert tick(cottage) == 0
    assert kinds(cottage, match, 2) == []
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


def test_a_move_sent_in_time_is_no_miss(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    seat, _ = awaited(cottage, match)
    cottage.now = log.get(match.id).deadline
    cottage.move(match)
    assert tick(cottage) == 0
    assert cottage.played(match).position.misses[seat] == 0
    assert "timeout" not in kinds(cottage, match)


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


@pytest.mark.parametrize("zone", ZONES)
def test_both_clock_changes_cost_nobody_an_hour(cottage: House, zone: str) -> None:
    for name in ("Ailsa", "Bran"):
        cottage.people[name] = wish(cottage.people[name], zone=zone, nights="23:00-07:00")
    for start in ("2026-03-05T12:00", "2026-03-27T12:00", "2026-04-02T12:00", "2026-10-01T12:00", "2026-10-30T12:00"):
        cottage.now = datetime.fromisoformat(f"{start}+00:00")
        match = cottage.begun("Ailsa", "Bran", clock={"move": 4 * DAY, "nights": True})
        at, counted = cottage.now, timedelta(0)
        while counted < timedelta(days=4):
            counted += QUARTER * (7 <= at.astimezone(ZoneInfo(zone)).hour < 23)
            at += QUARTER
        assert log.get(match.id).deadline == at


def test_who_moves_to_another_zone_keeps_his_running_turn_and_reads_it_there(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": 2 * DAY, "weekend": True})
    _, user = awaited(cottage, match)
    before = log.get(match.id).deadline
    cottage.mail()
    preferences.settle(user, Wishes("Pacific/Apia"), cottage.now)
    assert log.get(match.id).deadline == before
    assert kinds(cottage, match)[-1] == "hours"
    ticks(cottage, until=log.get(match.id).reminder_at, every=timedelta(minutes=9))
    (message,) = [one for one in cottage.mail() if "a reminder" in one.text]
    assert wording.when(before, "Pacific/Apia") in " ".join(message.text.split())
    cottage.move(match)
    cottage.now = datetime(2026, 3, 6, 9, tzinfo=UTC)
    cottage.move(match)
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
def test_a_daily_deadline_in_the_missing_and_the_doubled_hour(cottage: House, now: str, daily: str, until: str) -> None:
    cottage.now = datetime.fromisoformat(f"{now}+00:00")
    match = cottage.begun("Ailsa", "Bran", clock={"move": HOUR, "daily": daily})
    found = log.get(match.id).deadline
    assert found == datetime.fromisoformat(f"{until}+00:00")
    tick(cottage)
    ticks(cottage, until=found - timedelta(milliseconds=1), every=timedelta(minutes=9))
    assert kinds(cottage, match, 2) == []
    cottage.now = found
    assert tick(cottage) == 1


def test_the_list_is_in_the_order_in_which_people_are_really_out_of_time(cottage: House) -> None:
    banked = cottage.begun("Ailsa", "Bran", clock={"move": HOUR, "bank": 9 * DAY})
    plain = cottage.begun("Ailsa", "Bran", clock={"move": 3 * DAY})
    limitless = cottage.begun("Ailsa", "Bran", clock={})
    for match in (banked, plain, limitless):
        while awaited(cottage, match)[1].name != "Ailsa":
            cottage.move(match)
    listed = [item.match.id for item in home.items(cottage.people["Ailsa"], cottage.now)]
    assert listed == [plain.id, banked.id, limitless.id]


def test_seats_that_are_awaited_at_once_are_reminded_and_timed_out_each_for_itself(cottage: House) -> None:
    cottage.people["Bran"] = wish(cottage.people["Bran"], zone="Pacific/Apia")
    cottage.now = datetime(2026, 3, 5, 20, tzinfo=UTC)
    match = cottage.started(
        "Ailsa", "Bran", "Catrin", game="rounds", setup={"left": 9, "bound": []}, clock={"move": DAY, "weekend": True}
    )
    tick(cottage)
    untils = [cottage.played(match).clocks.deadline(seat) for seat in range(3)]
    assert len(set(untils)) == 2, "the weekend begins in Apia first"
    assert log.get(match.id).deadline == min(untils)
    ticks(cottage, until=max(untils) + timedelta(minutes=9), every=timedelta(minutes=9))
    assert len(reminders(match)) == 3
    timed_out = {row.seat: log.instant(row.at) for row in cottage.played(match).rows if row.kind == "timeout"}
    for seat, until in enumerate(untils):
        assert timedelta(0) <= timed_out[seat] - until < timedelta(minutes=9)
    assert audit.verify(match.id) == []


def test_the_last_phase_of_a_match_is_timed_like_all_others(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", game="rounds", setup={"left": 1, "bound": []}, pace=HOUR)
    play.submit(match.id, 0, "go", 0, cottage.people["Ailsa"], "web", now=cottage.now)
    assert log.get(match.id).deadline == columns.deadline(cottage.played(match)) == START + timedelta(hours=1)
    cottage.later(hours=1)
    tick(cottage)
    assert kinds(cottage, match) == ["move", "timeout", "takeover", "offer", "move"], "he never came: a bot plays"
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


def test_nobody_is_on_vacation_unasked(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin", pace=HOUR)
    ticks(cottage, until=cottage.now + timedelta(days=1), every=timedelta(minutes=9))
    assert "vacation" not in kinds(cottage, match)
    assert not Vacation.select().exists()


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


def test_a_bot_moves_in_a_match_without_a_limit(house: House) -> None:
    match: Match = house.begun("Ailsa", "Bran", "Catrin", clock={})
    _, user = awaited(house, match)
    seating.resign(match.id, user, "web", now=house.now)
    assert house.bots() == 1

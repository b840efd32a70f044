"""Weekends, nightly hours and daily deadlines in many zones, at both clock changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from timing_helpers import DAY, HOUR, MONDAY, Table, asked_in, hours, span, utc

from engine import counting
from engine.timing import Rule

WEEKENDS = Rule(move=3 * DAY, weekend=True)
NIGHTS = Rule(move=DAY, nights=True)


def test_weekends_do_not_count() -> None:
    assert asked_in("UTC", "2026-03-06T12:00", WEEKENDS) == utc("2026-03-11T12:00")


def test_a_deadline_may_be_the_end_of_friday() -> None:
    assert asked_in("UTC", "2026-03-04T00:00", WEEKENDS) == utc("2026-03-07T00:00")


def test_who_is_asked_on_a_weekend_begins_on_monday() -> None:
    assert asked_in("UTC", "2026-03-07T09:00", WEEKENDS) == utc("2026-03-12T00:00")


def test_the_weekend_is_that_of_the_players_zone() -> None:
    assert asked_in("Pacific/Auckland", "2026-06-05T11:00", WEEKENDS) == utc("2026-06-10T11:00")
    assert asked_in("America/Los_Angeles", "2026-06-05T11:00", WEEKENDS) == utc("2026-06-10T11:00")
    assert asked_in("Pacific/Auckland", "2026-06-05T12:00", WEEKENDS) == utc("2026-06-10T12:00")
    assert asked_in("Pacific/Auckland", "2026-06-06T00:00", WEEKENDS) == utc("2026-06-10T12:00")


def test_without_a_row_a_seat_is_in_utc() -> None:
    assert Table(start=utc("2026-03-06T12:00")).keeper(WEEKENDS).deadline(0) == utc("2026-03-11T12:00")


@pytest.mark.parametrize(
    ("zone", "at", "deadline"),
    [
        # The weekend is an hour shorter or longer by the change, so Monday comes sooner or later.
        ("Europe/Prague", "2026-03-27T22:00", "2026-04-01T21:00"),
        ("Europe/Prague", "2026-10-23T21:00", "2026-10-28T22:00"),
        ("America/New_York", "2026-03-07T04:00", "2026-03-12T03:00"),
        ("America/New_York", "2026-10-31T03:00", "2026-11-05T04:00"),
        ("Australia/Lord_Howe", "2026-04-03T12:00", "2026-04-08T12:30"),
        ("Australia/Lord_Howe", "2026-10-02T12:30", "2026-10-07T12:00"),
        ("America/St_Johns", "2026-03-07T02:30", "2026-03-12T01:30"),
        ("America/St_Johns", "2026-10-31T01:30", "2026-11-05T02:30"),
        # Thursday the 29th was followed by Saturday the 31st.
        ("Pacific/Apia", "2011-12-30T09:00", "2012-01-04T09:00"),
        ("Pacific/Apia", "2011-12-29T10:00", "2012-01-03T10:00"),
    ],
)
def test_a_weekend_with_a_clock_change_is_as_long_as_it_is(zone: str, at: str, deadline: str) -> None:
    assert asked_in(zone, at, WEEKENDS) == utc(deadline)


def test_nightly_hours_do_not_count() -> None:
    assert asked_in("UTC", "2026-03-02T12:00", NIGHTS, "22:00-07:00") == utc("2026-03-03T21:00")
    assert asked_in("UTC", "2026-03-02T12:00", NIGHTS, "01:00-07:00") == utc("2026-03-03T18:00")


def test_who_is_asked_at_night_begins_in_the_morning() -> None:
    rule = replace(NIGHTS, move=HOUR)
    assert asked_in("Europe/Prague", "2026-03-02T23:30", rule, "22:00-07:00") == utc("2026-03-03T07:00")
    assert asked_in("Europe/Prague", "2026-03-02T20:30", rule, "22:00-07:00") == utc("2026-03-03T06:30")


@pytest.mark.parametrize(
    ("zone", "at", "night", "counted"),
    [
        ("Europe/Prague", "2026-03-28T12:00", "02:00-03:00", 24),
        ("Europe/Prague", "2026-03-28T12:00", "02:30-04:00", 23),
        ("Europe/Prague", "2026-10-24T12:00", "02:30-04:00", 22),
        ("Europe/Prague", "2026-10-24T12:00", "02:00-02:30", 23),
        ("America/New_York", "2026-11-01T00:00", "22:00-07:00", 14),
        ("Australia/Lord_Howe", "2026-10-03T11:00", "22:00-03:00", 19.5),
        ("Australia/Lord_Howe", "2026-04-04T11:00", "22:00-03:00", 18.5),
        ("America/St_Johns", "2026-03-08T02:00", "00:00-02:15", 22),
        ("Pacific/Apia", "2011-12-29T22:00", "20:00-06:00", 14),
    ],
)
def test_a_night_is_what_the_clock_on_the_wall_says(zone: str, at: str, night: str, counted: float) -> None:
    start = utc(at)
    table = Table(start=start).add(start, "hours", 0, f"{zone} {night}")
    assert table.keeper(NIGHTS).used(0, start + timedelta(days=1)) == timedelta(hours=counted)


def test_nights_and_weekends_together() -> None:
    rule = Rule(move=DAY, weekend=True, nights=True)
    assert asked_in("UTC", "2026-03-06T12:00", rule, "20:00-08:00") == utc("2026-03-10T12:00")


def test_hours_hold_when_the_seat_is_asked_the_next_time() -> None:
    table = Table(seats=1).after(1, "hours", 0, "UTC 12:00-23:59")
    assert table.deadline(NIGHTS) == 24
    assert table.move(2).deadline(NIGHTS) == 12 + 24 - 1 / 60 + 12 - 1 / 60


def test_a_changed_zone_does_not_touch_the_running_turn() -> None:
    table = Table(start=utc("2026-03-06T12:00")).after(1, "hours", 0, "Pacific/Kiritimati")
    assert table.keeper(WEEKENDS).deadline(0) == utc("2026-03-11T12:00")


def test_hours_that_come_with_the_asking_hold_at_once() -> None:
    table = Table().move(5).after(5, "hours", 1, "UTC 17:00-18:00")
    assert table.deadline(NIGHTS, 1) == 31


def test_nightly_hours_count_where_the_table_has_none() -> None:
    assert Table().after(0, "hours", 0, "UTC 18:00-06:00").deadline(Rule(move=DAY)) == 24


def test_why_a_clock_stands_still() -> None:
    table = Table(start=utc("2026-03-06T12:00"))
    table.after(0, "hours", 0, "UTC 22:00-06:00").after(
        1, "pause", None, counting.instant_text(utc("2026-03-06T14:00"))
    )
    keeper = table.keeper(Rule(move=DAY, weekend=True, nights=True))
    shown = [keeper.standing(0, hours(count, table.start)) for count in (0, 1, 2, 11, 12, 59, 60, 66)]
    assert shown == ["", "pause", "", "night", "weekend", "weekend", "night", ""]


# Deadlines at one time of the day.

EVENINGS = Rule(move=DAY, daily="18:00 Europe/Prague")


def test_a_deadline_moves_on_to_the_time_of_the_day() -> None:
    assert asked_in("UTC", "2026-03-02T12:00", EVENINGS) == utc("2026-03-03T17:00")
    assert asked_in("UTC", "2026-03-02T17:00", EVENINGS) == utc("2026-03-03T17:00")
    assert asked_in("UTC", "2026-03-02T17:01", EVENINGS) == utc("2026-03-04T17:00")
    assert asked_in("UTC", "2026-07-01T12:00", EVENINGS) == utc("2026-07-02T16:00")


@pytest.mark.parametrize(
    ("daily", "at", "deadline"),
    [
        ("02:30 Europe/Prague", "2026-03-28T00:40", "2026-03-29T01:00"),
        ("02:00 Europe/Prague", "2026-03-28T00:40", "2026-03-29T01:00"),
        ("03:00 Europe/Prague", "2026-03-28T00:40", "2026-03-29T01:00"),
        ("02:30 Europe/Prague", "2026-10-24T00:20", "2026-10-25T01:30"),
        ("02:30 Europe/Prague", "2026-10-24T01:00", "2026-10-25T01:30"),
        ("02:30 Europe/Prague", "2026-10-24T01:31", "2026-10-26T01:30"),
        ("02:30 America/New_York", "2026-03-07T06:00", "2026-03-08T07:00"),
        ("01:30 America/New_York", "2026-10-31T05:00", "2026-11-01T06:30"),
        ("02:15 Australia/Lord_Howe", "2026-10-02T15:00", "2026-10-03T15:30"),
        ("01:45 Australia/Lord_Howe", "2026-04-03T14:00", "2026-04-04T15:15"),
        ("02:10 America/St_Johns", "2026-03-07T05:00", "2026-03-08T05:30"),
        # A minute after midnight it was an hour before again, on the day before.
        ("23:30 America/St_Johns", "2010-11-06T02:30", "2010-11-07T03:00"),
        ("01:10 America/St_Johns", "2026-10-31T03:00", "2026-11-01T04:40"),
        ("18:00 Pacific/Apia", "2011-12-29T09:00", "2011-12-30T10:00"),
        ("18:00 Pacific/Apia", "2011-12-29T10:00", "2011-12-30T10:00"),
        ("18:00 Pacific/Apia", "2011-12-29T11:00", "2011-12-31T04:00"),
    ],
)
def test_a_time_left_out_comes_after_the_gap_and_of_two_the_second_counts(daily: str, at: str, deadline: str) -> None:
    assert asked_in("UTC", at, replace(EVENINGS, daily=daily)) == utc(deadline)


def test_a_deadline_is_not_at_a_time_that_does_not_count() -> None:
    table = Table().after(1, "vacation", 0, span(28, 60))
    assert table.keeper(EVENINGS).deadline(0) == utc("2026-03-05T17:00")


def test_a_weekend_moves_a_daily_deadline_on() -> None:
    weekends = replace(EVENINGS, weekend=True)
    assert asked_in("UTC", "2026-03-05T18:00", weekends) == utc("2026-03-09T17:00")


def test_a_daily_deadline_may_be_the_end_of_friday_but_not_of_sunday() -> None:
    midnights = replace(EVENINGS, weekend=True, daily="00:00 UTC")
    assert asked_in("UTC", "2026-03-05T20:00", midnights) == utc("2026-03-07T00:00")
    assert asked_in("UTC", "2026-03-06T00:01", midnights) == utc("2026-03-10T00:00")


def test_what_is_left_is_counted_to_the_daily_deadline() -> None:
    assert Table().keeper(EVENINGS).left(0, MONDAY) == timedelta(hours=29)


# The reminder.


def test_a_share_of_the_time_is_a_share_of_what_counts() -> None:
    assert Table().keeper(Rule(move=DAY)).part(0, Fraction(4, 5)) == hours(19.2)
    table = Table(start=utc("2026-03-06T12:00"))
    assert table.keeper(Rule(move=DAY, weekend=True)).part(0, Fraction(4, 5)) == utc("2026-03-09T07:12")
    assert Table().keeper(EVENINGS).part(0, Fraction(1, 2)) == hours(14.5)


def test_a_share_is_rounded_down_to_the_millisecond() -> None:
    assert Table().keeper(Rule(move=HOUR + 1)).part(0, Fraction(1, 7)) == MONDAY + timedelta(milliseconds=514428)


def test_it_is_known_when_a_clock_stops_and_runs_again() -> None:
    rule = Rule(move=9 * DAY, weekend=True, nights=True)
    keeper = Table().add(MONDAY, "hours", 0, "UTC 22:00-06:00").keeper(rule)
    for at, turns in (
        ("2026-03-02T12:00", "2026-03-02T22:00"),
        ("2026-03-02T22:00", "2026-03-03T06:00"),
        # Night and weekend follow each other without a gap.
        ("2026-03-06T21:00", "2026-03-06T22:00"),
        ("2026-03-06T23:00", "2026-03-09T06:00"),
    ):
        assert keeper.turns(0, utc(at)) == utc(turns)


def test_a_clock_that_never_stops_has_no_turn() -> None:
    keeper = Table().after(2, "pause", 0, "2026-03-05T12:00:00Z").keeper(Rule(move=DAY))
    assert keeper.turns(0, utc("2026-03-02T13:00")) == utc("2026-03-02T14:00")
    assert keeper.turns(0, utc("2026-03-02T14:00")) == utc("2026-03-05T12:00")
    assert keeper.turns(0, utc("2026-03-05T12:00")) is None

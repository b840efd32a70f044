"""Instants and spans in words, in the reader's zone and right through both clock changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from server import accounts, languages, wording


def at(text: str) -> datetime:
    """Return the instant in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("instant", "zone", "words"),
    [
        ("2026-12-01 13:05", "Europe/Prague", "Tue 1 Dec 2026, 14:05 CET (UTC+1)"),
        ("2026-07-01 23:59", "UTC", "Wed 1 Jul 2026, 23:59 UTC"),
        ("2026-01-01 00:00", "Europe/London", "Thu 1 Jan 2026, 00:00 GMT (UTC)"),
        ("2026-07-01 12:00", "Asia/Kathmandu", "Wed 1 Jul 2026, 17:45 UTC+5:45"),
        ("2026-07-01 12:00", "Asia/Kolkata", "Wed 1 Jul 2026, 17:30 IST (UTC+5:30)"),
        ("2026-01-01 12:00", "America/St_Johns", "Thu 1 Jan 2026, 08:30 NST (UTC-3:30)"),
        ("2026-01-01 12:00", "Pacific/Chatham", "Fri 2 Jan 2026, 01:45 UTC+13:45"),
        ("2026-01-01 12:00", "Pacific/Marquesas", "Thu 1 Jan 2026, 02:30 UTC-9:30"),
        ("2026-07-01 12:00", "Asia/Bangkok", "Wed 1 Jul 2026, 19:00 UTC+7"),
        ("2026-01-01 23:30", "Pacific/Kiritimati", "Fri 2 Jan 2026, 13:30 UTC+14"),
    ],
)
def test_an_instant_is_told_with_the_name_and_the_offset_of_its_zone(instant: str, zone: str, words: str) -> None:
    assert wording.when(at(instant), zone) == words


@pytest.mark.parametrize(
    ("code", "midnight", "later"),
    [
        ("en", "Tue 15 Dec 2026, 24:00 CET (UTC+1)", "Wed 16 Dec 2026, 00:01 CET (UTC+1)"),
        ("cs", "15. 12. 2026, 24:00 CET (UTC+1)", "16. 12. 2026, 00:01 CET (UTC+1)"),
        ("de", "Di., 15. Dez. 2026, 24:00 CET (UTC+1)", "Mi., 16. Dez. 2026, 00:01 CET (UTC+1)"),
    ],
)
def test_what_lasts_until_midnight_ends_with_the_day_before(code: str, midnight: str, later: str) -> None:
    with languages.speaking(code):
        assert wording.until(at("2026-12-15 23:00"), "Europe/Prague") == midnight
        assert wording.until(at("2026-12-15 23:01"), "Europe/Prague") == later


# The last instant before and the first after each change of 2026, in five zones.
CHANGES = [
    ("Europe/Prague", "2026-03-29 01:00", "01:59 CET (UTC+1)", "03:00 CEST (UTC+2)"),
    ("Europe/Prague", "2026-10-25 01:00", "02:59 CEST (UTC+2)", "02:00 CET (UTC+1)"),
    ("Europe/London", "2026-03-29 01:00", "00:59 GMT (UTC)", "02:00 BST (UTC+1)"),
    ("Europe/London", "2026-10-25 01:00", "01:59 BST (UTC+1)", "01:00 GMT (UTC)"),
    ("America/New_York", "2026-03-08 07:00", "01:59 EST (UTC-5)", "03:00 EDT (UTC-4)"),
    ("America/New_York", "2026-11-01 06:00", "01:59 EDT (UTC-4)", "01:00 EST (UTC-5)"),
    ("Australia/Sydney", "2026-10-03 16:00", "01:59 AEST (UTC+10)", "03:00 AEDT (UTC+11)"),
    ("Australia/Sydney", "2026-04-04 16:00", "02:59 AEDT (UTC+11)", "02:00 AEST (UTC+10)"),
    ("Australia/Lord_Howe", "2026-10-03 15:30", "01:59 UTC+10:30", "02:30 UTC+11"),
    ("Australia/Lord_Howe", "2026-04-04 15:00", "01:59 UTC+11", "01:30 UTC+10:30"),
]


@pytest.mark.parametrize(("zone", "instant", "before", "after"), CHANGES)
def test_both_hours_of_a_clock_change_are_told_apart(zone: str, instant: str, before: str, after: str) -> None:
    change = at(instant)
    assert wording.when(change - timedelta(seconds=1), zone).endswith(f"2026, {before}")
    assert wording.when(change, zone).endswith(f"2026, {after}")


@pytest.mark.parametrize("zone", sorted({zone for zone, *_ in CHANGES}))
def test_no_two_instants_of_a_year_are_told_alike(zone: str) -> None:
    start = at("2026-01-01 00:00")
    told = [wording.when(start + timedelta(minutes=30) * step, zone) for step in range(365 * 48)]
    assert len(set(told)) == len(told)


def test_every_zone_a_person_may_choose_can_be_told() -> None:
    instant = at("2026-07-01 12:00")
    for zone in sorted(accounts.available_timezones()):
        words = wording.when(instant, zone)
        hours, _, minutes = words.rpartition("UTC")[2].strip(")").partition(":")
        told = timedelta(hours=int(hours or 0))
        told += timedelta(minutes=int(minutes or 0)) * (-1 if hours.startswith("-") else 1)
        assert told == instant.astimezone(ZoneInfo(zone)).utcoffset(), zone


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "less than a minute"),
        (0, "less than a minute"),
        (59.9, "less than a minute"),
        (60, "1 minute"),
        (119, "1 minute"),
        (3599, "59 minutes"),
        (3600, "1 hour"),
        (7325, "2 hours 2 minutes"),
        (86399, "23 hours 59 minutes"),
        (86400, "1 day"),
        (86400 + 3660, "1 day 1 hour"),
        (2 * 86400 + 120, "2 days 2 minutes"),
        (30 * 86400, "30 days"),
    ],
)
def test_a_span_is_rounded_down_to_its_two_largest_units(seconds: float, words: str) -> None:
    assert wording.span(timedelta(seconds=seconds)) == words


def test_names_are_listed_as_in_a_sentence() -> None:
    assert [wording.listed(("Ailsa", "Bran", "Catrin")[:count]) for count in range(4)] == [
        "",
        "Ailsa",
        "Ailsa and Bran",
        "Ailsa, Bran and Catrin",
    ]


def test_long_lines_are_wrapped_and_links_are_not_broken() -> None:
    link = "https://play.example.org/matches/1?and-a-very-long=" + "x" * 80
    lines = wording.wrapped(f"{'word ' * 30}{link}", "    ").splitlines()
    assert link in [line.strip() for line in lines]
    assert all(len(line) <= 72 for line in lines if link not in line)
    assert all(line.startswith("    ") for line in lines[1:])

"""Time rules: which can be, how they are stored and told, and the texts of rows that clocks read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from timing_helpers import DAY, HOUR

from engine import counting, timerule, timing
from engine.counting import Daily, Hours
from engine.timing import Rule, WrongRule

ZONES = ("UTC", "Europe/Prague", "America/Argentina/Buenos_Aires", "Etc/GMT+5")
SECONDS = {name: st.just(0) | st.integers(*around) for name, around in timerule.RANGES.items()}
VALUES = st.fixed_dictionaries(
    {},
    optional={
        **SECONDS,
        **{name: st.booleans() for name in ("weekend", "nights", "vacations", "takeback")},
        "daily": st.sampled_from(("", *(f"18:00 {zone}" for zone in ZONES))),
        "missing": st.sampled_from(timerule.MISSING),
        "misses": st.integers(1, 5),
    },
)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """Return any rule that can be."""
    values = draw(VALUES)
    try:
        return timing.rule(values)
    except WrongRule:
        assume(False)
        raise


@given(rules())
def test_what_is_stored_of_a_rule_gives_it_back(rule: Rule) -> None:
    stored = timing.plain(rule)
    assert timing.rule(stored) == rule
    usual = timing.plain(Rule())
    assert usual == {}
    assert all(value != getattr(Rule(), name) for name, value in stored.items())


WRONG = [
    ({"speed": 3}, "nothing called 'speed'"),
    ({"move": "3600"}, "'move' of a time rule is a whole number"),
    ({"move": 3600.0}, "whole number"),
    ({"move": True}, "whole number"),
    ({"move": None}, "whole number"),
    ({"move": DAY, "weekend": 1}, "true or false"),
    ({"move": DAY, "daily": 18}, "a text"),
    ({"move": HOUR - 1}, "from 1 hour to 60 days"),
    ({"move": 60 * DAY + 1}, "from 1 hour to 60 days"),
    ({"move": -HOUR}, "from 1 hour to 60 days"),
    ({"bank": 90 * DAY + 1}, "from 1 hour to 90 days"),
    ({"bank": HOUR, "increment": 59}, "from 1 minute to 60 days"),
    ({"bank": HOUR, "increment": 60, "cap": 91 * DAY}, "from 1 hour to 90 days"),
    ({"move": DAY, "missing": "shrug"}, "one of bot, at-once, loss, vote"),
    ({"move": DAY, "misses": 0}, "1 to 5"),
    ({"move": DAY, "misses": 6}, "1 to 5"),
    ({"move": DAY, "daily": "18:00"}, "no time of the day"),
    ({"move": DAY, "daily": "24:00 UTC"}, "no time of the day"),
    ({"move": DAY, "daily": "18:00 Europe/Nowhere"}, "no time zone"),
    ({"move": DAY, "daily": "18:00 ../../etc/passwd"}, "no time zone"),
    ({"increment": HOUR}, "Where neither"),
    ({"weekend": True}, "Where neither"),
    ({"nights": True}, "Where neither"),
    ({"daily": "18:00 UTC"}, "Where neither"),
    ({"bank": DAY, "cap": DAY}, "Only a time bank that grows"),
    ({"bank": 2 * DAY, "increment": HOUR, "cap": DAY}, "less than what is in it"),
    ({"move": DAY, "nights": True, "daily": "18:00 UTC"}, "somebody's night"),
    ([], "an object"),
    (None, "an object"),
    ({1: 2}, "nothing called '1'"),
]


@pytest.mark.parametrize(("values", "why"), WRONG)
def test_a_rule_that_cannot_be_is_refused_in_one_sentence(values: Any, why: str) -> None:
    with pytest.raises(WrongRule, match=why) as error:
        timing.rule(values)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


def test_a_rule_that_cannot_be_cannot_be_made_another_way() -> None:
    with pytest.raises(WrongRule):
        replace(Rule(move=DAY), move=1)


ANY = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.floats() | st.lists(st.integers())


@given(st.dictionaries(st.sampled_from([each.name for each in fields(Rule)]) | st.text(), ANY))
def test_whatever_a_stranger_sends_is_a_rule_or_refused(values: dict[str, Any]) -> None:
    try:
        rule = timing.rule(values)
    except WrongRule:
        return
    assert timing.plain(rule).items() <= values.items()


TOLD = [
    (
        Rule(move=3 * DAY),
        "3 days for each move; the clock stands still during vacations; who runs out of time has a simple move played "
        "for him, and after two in a row a bot takes the seat over.",
    ),
    (
        Rule(move=DAY + 12 * HOUR, bank=10 * DAY, increment=HOUR, cap=12 * DAY, weekend=True, misses=1),
        "1 day 12 hours for each move and beside it a time bank of 10 days that grows by 1 hour with each own move, up "
        "to 12 days; the clock stands still on Saturdays and Sundays in each player's time zone and during vacations; "
        "who runs out of time has a simple move played for him, and a bot takes the seat over.",
    ),
    (
        Rule(bank=30 * DAY, vacations=False, missing="loss", takeback=False),
        "A time bank of 30 days for all moves together; vacations do not stop the clock; who runs out of time loses; "
        "no move is taken back.",
    ),
    (
        Rule(bank=5 * DAY, increment=DAY, missing="at-once"),
        "A time bank of 5 days for all moves together, that grows by 1 day with each own move; the clock stands still "
        "during vacations; who runs out of time has his seat taken over by a bot.",
    ),
    (
        Rule(move=DAY, increment=90, nights=True, vacations=False, missing="vote"),
        "1 day for each move and beside it a time bank, empty at first, that grows by 1 minute 30 seconds with each "
        "own move; the clock stands still in the nightly hours that each player may name, but not during vacations; "
        "when somebody runs out of time the others decide what becomes of him.",
    ),
    (
        Rule(move=DAY, daily="18:00 Europe/Prague"),
        "1 day for each move; the clock stands still during vacations; a deadline is always at 18:00 in the time zone "
        "Europe/Prague; who runs out of time has a simple move played for him, and after two in a row a bot takes the "
        "seat over.",
    ),
    (Rule(), "No time limit."),
    (Rule(takeback=False), "No time limit; no move is taken back."),
]


@pytest.mark.parametrize(("rule", "sentence"), TOLD)
def test_a_rule_is_told_in_one_sentence(rule: Rule, sentence: str) -> None:
    assert timing.sentence(rule) == sentence


def telling(rule: Rule) -> Rule:
    """Return the rule without what makes no difference in it."""
    if rule.limitless:
        return Rule(takeback=rule.takeback)
    return rule if rule.missing == "bot" else replace(rule, misses=2)


@given(rules(), rules())
def test_rules_that_differ_are_told_differently(one: Rule, other: Rule) -> None:
    assert (timing.sentence(one) == timing.sentence(other)) == (telling(one) == telling(other))


@given(rules(), st.sampled_from([each.name for each in fields(Rule)]))
def test_each_value_of_a_rule_is_told(rule: Rule, name: str) -> None:
    value = getattr(rule, name)
    changed = {bool: not value, int: 0 if value else DAY, str: ""}[type(value)]
    try:
        other = replace(rule, **{name: {"missing": "loss", "misses": 3}.get(name, changed)})
    except WrongRule:
        assume(False)
        raise
    assert (timing.sentence(rule) == timing.sentence(other)) == (telling(rule) == telling(other))


# The texts of rows.

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(8999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


@given(MOMENTS)
def test_an_instant_is_read_as_it_is_written(at: datetime) -> None:
    assert counting.instant(counting.instant_text(at)) == at


def test_an_instant_is_written_as_records_write_it() -> None:
    assert counting.instant_text(datetime(2026, 12, 1, tzinfo=UTC)) == "2026-12-01T00:00:00Z"
    assert counting.instant("2026-12-01T00:00:00.5Z") == datetime(2026, 12, 1, 0, 0, 0, 500_000, UTC)


@given(MOMENTS, MOMENTS)
def test_a_span_is_read_as_it_is_written(one: datetime, other: datetime) -> None:
    start, end = sorted((one, other))
    assert counting.span(counting.span_text(start, end)) == (start, end)


def test_a_span_in_the_wrong_order_is_not_written() -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    with pytest.raises(ValueError, match="before it begins"):
        counting.span_text(now, now - timedelta(milliseconds=1))


@given(st.sampled_from(ZONES), st.integers(0, 1439), st.integers(0, 720))
def test_hours_are_read_as_they_are_written(zone: str, start: int, length: int) -> None:
    hours = Hours(zone, start, (start + length) % 1440)
    text = counting.hours_text(hours)
    assert counting.hours(text) == (hours if length else Hours(zone))


@pytest.mark.parametrize("hours", [Hours("Nowhere"), Hours("UTC", 0, 721), Hours("UTC", 7, 6), Hours("UTC", 0, 1440)])
def test_hours_that_cannot_be_are_not_written(hours: Hours) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        counting.hours_text(hours)


def test_a_daily_time_is_read() -> None:
    assert counting.daily("18:30 Europe/Prague") == Daily(18 * 60 + 30, "Europe/Prague")


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        *((counting.instant, text) for text in ("", "2026-12-01", "2026-12-01T00:00:00", "2026-12-01T24:00:00Z")),
        *((counting.instant, text) for text in ("2026-12-01T00:00Z", "2026-12-01T00:00:00z", "٢026-12-01T00:00:00Z")),
        *(
            (counting.instant, text)
            for text in (" 2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z\n", "0000-01-01T00:00:00Z")
        ),
        *((counting.span, text) for text in ("", "/", "2026-12-01T00:00:00Z/", "/2026-12-01T00:00:00Z")),
        (counting.span, "2026-12-01T00:00:00Z/2026-12-02T00:00:00Z/2026-12-03T00:00:00Z"),
        *((counting.hours, text) for text in ("", " ", "Europe", "europe/../Europe/Prague", "/etc/passwd", "UTC ")),
        *(
            (counting.hours, text)
            for text in ("localtime", "posix/Europe/Prague", "right/UTC", "Factory", "A/\0", "A/" * 999)
        ),
        *((counting.hours, text) for text in ("UTC 22:00", "UTC 22:00-24:00", "UTC 7:00-8:00", "UTC 22:00-22:00")),
        *(
            (counting.hours, text)
            for text in ("UTC 22:00-23:00 ", "UTC  22:00-23:00", "UTC 22:00-10:01", "UTC 22:00-23:00\n")
        ),
        *(
            (counting.daily, text)
            for text in ("", "18:00", "18:00 ", "18:60 UTC", "8:00 UTC", "18:00 UTC UTC", "18:00  UTC")
        ),
    ],
)
def test_a_text_that_means_nothing_is_refused(reader: Callable[[str], Any], text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        reader(text)


@given(st.text(max_size=60))
def test_whatever_text_comes_is_read_or_refused(text: str) -> None:
    for reader in (counting.instant, counting.span, counting.hours, counting.daily):
        with suppress(ValueError):
            reader(text)

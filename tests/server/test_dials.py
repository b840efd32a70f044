"""What a clock shows is what the clock does."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from house import DAY, House

from server import columns, dials, log, seating, timeouts, vacations, votes
from server.dials import Dial
from server.models import Match

MOVES = "a simple move is made"
TAKES = "a bot takes the seat over"
SECOND = timedelta(seconds=1)


def shown(house: House, match: Match, now: datetime | None = None) -> list[Dial]:
    return dials.dials(house.played(match), log.places(match), now or house.now)


def awaited(house: House, match: Match) -> Dial:
    return shown(house, match)[house.played(match).position.to_act[0]]


@pytest.mark.parametrize(
    ("rule", "fate", "rows"),
    [
        ({}, MOVES, ["timeout", "move"]),
        ({"misses": 1}, f"{MOVES}, and {TAKES}", ["timeout", "move", "takeover"]),
        ({"missing": "at-once"}, TAKES, ["timeout", "takeover"]),
        ({"missing": "loss"}, "that counts as resigning", ["timeout", "resign", "takeover"]),
        ({"missing": "vote"}, "the others decide what becomes of the seat", ["timeout"]),
    ],
)
def test_what_is_said_to_happen_happens(house: House, rule: dict[str, object], fate: str, rows: list[str]) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, **rule})
    dial = awaited(house, match)
    assert dial.fate == fate
    before = house.played(match).position.seq
    assert not timeouts.time_out(match.id, now=dial.until - SECOND)
    assert timeouts.time_out(match.id, now=dial.until)
    assert [row.kind for row in house.played(match).rows[before:]] == rows


def test_a_second_miss_in_a_row_is_said_to_cost_the_seat(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    late = awaited(house, match)
    timeouts.time_out(match.id, now=late.until)
    house.now = late.until
    house.move(match)
    again = awaited(house, match)
    assert (again.seat, again.fate) == (late.seat, f"{MOVES}, and {TAKES}")


def test_who_never_moved_is_said_to_lose_the_seat_to_whoever_wants_it(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    dial = awaited(house, match)
    assert dial.fate == f"{TAKES}, because nobody has moved in it yet, and whoever wants may have it"
    timeouts.time_out(match.id, now=dial.until)
    assert [row.kind for row in house.played(match).rows] == ["timeout", "takeover", "offer"]


def test_while_the_others_decide_the_clock_shows_how_long_they_may(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": DAY, "missing": "vote"})
    house.now = awaited(house, match).until
    timeouts.time_out(match.id, now=house.now)
    dial = awaited(house, match)
    assert (dial.late, dial.left, dial.fate) == (True, columns.DECIDING, TAKES)
    timeouts.time_out(match.id, now=dial.until)
    assert house.played(match).rows[-1].kind == "takeover"


def test_the_time_left_is_used_up_at_the_deadline_and_not_before(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", clock={"move": 2 * DAY, "bank": DAY, "weekend": True, "nights": True})
    seat = cottage.played(match).position.to_act[0]
    until = columns.deadline(cottage.played(match))
    for hours in range(0, 24 * 9, 5):
        now = cottage.now + timedelta(hours=hours)
        dial = shown(cottage, match, now)[seat]
        assert dial.until == until
        assert (dial.left == timedelta(0)) == (now >= until)
        if dial.turns and now < dial.turns <= until:
            counted = timedelta(0) if dial.still else dial.turns - now
            assert shown(cottage, match, dial.turns)[seat].left == dial.left - counted


def test_the_next_to_act_is_the_first_deadline_and_a_bot_shows_none(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": DAY, "missing": "at-once"})
    first = dials.next_to_act(shown(house, match))
    assert first
    assert first.until == log.get(match.id).deadline
    timeouts.time_out(match.id, now=first.until)
    house.now = first.until
    assert dials.next_to_act(shown(house, match)) is None
    assert shown(house, match)[first.seat].fate == ""


def test_a_vacation_shows_from_its_announcement_to_its_end(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    ailsa = house.people["Ailsa"]
    start, end = house.now + timedelta(days=3), house.now + timedelta(days=9)
    vacations.announce(ailsa, start, end, "web", now=house.now)
    assert shown(house, match)[0].away == (start, end)
    assert shown(house, match, end)[0].away is None
    vacations.end(ailsa, "web", now=house.now)
    assert shown(house, match)[0].away is None


def test_a_vacation_goes_with_its_person(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", pace=60 * DAY)
    vacations.announce(house.people["Ailsa"], house.now, house.now + timedelta(days=9), "web", now=house.now)
    seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    assert shown(house, match)[0].away is None


def test_a_table_without_vacations_shows_none(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": DAY, "vacations": False})
    vacations.announce(house.people["Ailsa"], house.now, house.now + timedelta(days=9), "web", now=house.now)
    assert shown(house, match)[0].away is None


def test_a_pause_stops_the_clock_that_is_shown(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    topic = votes.pause_topic(house.now + timedelta(days=3))
    for name in ("Ailsa", "Bran"):
        votes.vote(match.id, house.people[name], topic, "web", now=house.now)
    dial = awaited(house, match)
    assert (dial.still, dial.turns) == ("pause", house.now + timedelta(days=3))
    assert shown(house, match, house.now + timedelta(days=2))[dial.seat].left == dial.left


def test_the_bank_is_shown_to_all_where_there_is_one(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": DAY, "bank": 2 * DAY})
    assert [dial.bank for dial in shown(house, match)] == [timedelta(days=2)] * 2
    plain = house.begun("Ailsa", "Bran")
    assert [dial.bank for dial in shown(house, plain)] == [None] * 2

"""The clocks of a match: every kind of row that touches them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from timing_helpers import DAY, HOUR, MONDAY, Table, hours, span, until

from engine import timing
from engine.timing import Rule, TimingError

THREE_DAYS = Rule(move=3 * DAY)
BANKED = Rule(move=DAY, bank=2 * DAY, increment=6 * HOUR, cap=60 * HOUR)


def test_a_seat_that_is_asked_has_the_time_of_the_rule() -> None:
    keeper = Table().keeper(THREE_DAYS)
    assert keeper.clock(0) == timing.Clock(hours(72), MONDAY, timedelta(days=3), timedelta(0))
    assert keeper.earliest() == hours(72)


def test_a_seat_that_is_not_awaited_has_no_deadline() -> None:
    keeper = Table().keeper(BANKED)
    assert keeper.clock(1) == timing.Clock(None, None, timedelta(0), timedelta(days=2))
    assert keeper.left(1, MONDAY) is keeper.part(1, Fraction(4, 5)) is None


def test_a_move_starts_the_clock_of_the_next_seat() -> None:
    table = Table().move(5)
    assert table.deadline(THREE_DAYS) is None
    assert table.deadline(THREE_DAYS, 1) == 5 + 72


def test_nothing_is_used_before_a_seat_is_asked() -> None:
    keeper = Table().move(5).keeper(THREE_DAYS)
    assert [keeper.left(1, hours(hour)) for hour in (0, 5, 6)] == [timedelta(hours=hour) for hour in (72, 72, 71)]
    assert keeper.used(1, MONDAY) == timedelta(0)


def test_a_clock_is_exact_to_the_millisecond() -> None:
    table = Table(start=MONDAY + timedelta(milliseconds=7))
    assert table.keeper(Rule(move=HOUR)).deadline(0) == MONDAY + timedelta(hours=1, milliseconds=7)


def test_without_a_limit_nobody_is_ever_out_of_time() -> None:
    table = Table().after(1, "vacation", 0, span(2, 30)).move(50).after(51, "undo", 0, "2")
    keeper = table.keeper(Rule())
    assert (
        keeper.deadline(0) is keeper.earliest() is keeper.left(0, hours(60)) is keeper.part(0, Fraction(1, 2)) is None
    )
    assert keeper.clock(0).asked_at == hours(51)
    assert keeper.used(0, hours(52)) == timedelta(hours=50 - 28 + 1)


def test_the_end_stops_every_clock() -> None:
    keeper = Table(together=True, last=1).move(5).keeper(BANKED)
    assert keeper.earliest() is None
    assert keeper.used(1, hours(500)) == timedelta(hours=5)
    assert [keeper.bank(seat, hours(500)) / timedelta(hours=1) for seat in (0, 1)] == [54, 48]


@pytest.mark.parametrize("kind", ["end", "cancel"])
def test_an_end_by_the_will_of_the_players_stops_every_clock(kind: str) -> None:
    keeper = Table().after(5, kind).keeper(BANKED)
    assert keeper.earliest() is None
    assert keeper.used(0, hours(500)) == timedelta(hours=5)


@pytest.mark.parametrize("kind", ["vote", "nudge", "offer", "timeout"])
def test_other_rows_change_no_clock(kind: str) -> None:
    table = Table(seats=3).after(1, "takeover", 0, "bot").after(5, kind, 0)
    assert table.deadline(THREE_DAYS) == 72


def test_a_resignation_that_ends_the_match_stops_the_clocks() -> None:
    keeper = Table().after(5, "resign", 1).keeper(THREE_DAYS)
    assert keeper.earliest() is None
    assert keeper.used(0, hours(500)) == timedelta(hours=5)


def test_a_resignation_of_somebody_else_leaves_a_running_clock_alone() -> None:
    table = Table(seats=3).after(5, "resign", 1).after(5, "takeover", 1, "bot")
    assert table.deadline(THREE_DAYS) == 72


def test_seats_that_move_at_the_same_time_each_have_their_own_clock() -> None:
    table = Table(seats=3, together=True).after(2, "vacation", 1, span(2, 12)).move(5)
    keeper = table.keeper(THREE_DAYS)
    assert [keeper.deadline(seat) for seat in range(3)] == [None, hours(82), hours(72)]
    assert keeper.earliest() == hours(72)
    assert table.move(6).move(7).keeper(THREE_DAYS).earliest() == hours(7 + 72)


def test_a_seat_that_is_asked_again_at_once_begins_anew() -> None:
    table = Table(seats=1).move(5)
    assert table.deadline(THREE_DAYS) == 5 + 72
    assert table.keeper(BANKED).clock(0).bank == timedelta(hours=54)


# The time bank.


def test_a_move_within_the_allowance_leaves_the_bank_and_lets_it_grow() -> None:
    assert Table().move(24).keeper(BANKED).clock(0).bank == timedelta(hours=48 + 6)


def test_what_goes_beyond_the_allowance_goes_off_the_bank() -> None:
    assert Table().move(34).keeper(BANKED).clock(0).bank == timedelta(hours=48 - 10 + 6)


def test_the_bank_never_falls_below_nothing() -> None:
    assert Table().move(200).keeper(BANKED).clock(0).bank == timedelta(hours=6)


def test_the_bank_never_grows_beyond_its_most() -> None:
    table = Table()
    for hour in range(1, 12):
        table.move(hour)
    assert table.keeper(BANKED).clock(0).bank == timedelta(hours=60)
    assert table.keeper(replace(BANKED, cap=0)).clock(0).bank == timedelta(hours=48 + 6 * 6)


@pytest.mark.parametrize("via", ["web", "bot", "clock", "email"])
def test_a_move_is_charged_the_same_way_whoever_makes_it(via: str) -> None:
    assert Table().move(30, via).keeper(BANKED).clock(0).bank == timedelta(hours=48)


def test_the_deadline_is_the_allowance_and_the_bank() -> None:
    table = Table().move(34).move(35)
    assert table.deadline(BANKED) == 35 + 24 + 44
    assert table.keeper(BANKED).clock(0).allowance == timedelta(days=1)


def test_the_bank_is_shown_as_it_runs_down() -> None:
    keeper = Table().keeper(BANKED)
    shown = [keeper.bank(0, hours(hour)) / timedelta(hours=1) for hour in (-5, 10, 24, 30, 72, 99)]
    assert shown == [48, 48, 48, 42, 0, 0]
    assert keeper.bank(1, hours(30)) == timedelta(days=2)


def test_without_an_allowance_all_the_time_is_the_banks() -> None:
    table = Table().move(30).move(31)
    assert table.deadline(Rule(bank=3 * DAY)) == 31 + 72 - 30


def test_with_nothing_left_a_seat_is_out_of_time_as_soon_as_its_clock_runs() -> None:
    rule = Rule(bank=3 * DAY)
    assert Table().move(90).move(91).deadline(rule) == 91
    assert Table().move(90).after(90.5, "pause", None, until(99)).move(91).deadline(rule) == 99


def test_a_bank_that_is_empty_at_first_grows() -> None:
    assert Table().move(1).move(2).deadline(Rule(move=DAY, increment=HOUR)) == 2 + 24 + 1


# Vacations.


def test_a_vacation_stops_the_clock_of_its_seat_alone() -> None:
    table = Table(together=True).after(10, "vacation", 0, span(20, 50))
    assert (table.deadline(THREE_DAYS), table.deadline(THREE_DAYS, 1)) == (102, 72)


def test_a_vacation_counts_from_the_row_on_and_not_before() -> None:
    assert Table().after(40, "vacation", 0, span(20, 50)).deadline(THREE_DAYS) == 82


def test_a_vacation_ends_by_itself() -> None:
    keeper = Table().after(1, "vacation", 0, span(2, 12)).keeper(THREE_DAYS)
    assert [keeper.standing(0, hours(hour)) for hour in (1, 2, 11.9, 12)] == ["", "vacation", "vacation", ""]


def test_a_later_vacation_replaces_what_was_still_to_come() -> None:
    table = Table().after(1, "vacation", 0, span(10, 60)).after(20, "vacation", 0, span(30, 35))
    assert table.deadline(THREE_DAYS) == 72 + 10 + 5
    other = Table().after(1, "vacation", 0, span(10, 60)).after(5, "vacation", 0, span(8, 9))
    assert other.deadline(THREE_DAYS) == 73


def test_a_vacation_that_is_over_when_it_is_named_ends_the_last_one() -> None:
    table = Table().after(1, "vacation", 0, span(10, 60)).after(20, "vacation", 0, span(20, 20))
    assert table.deadline(THREE_DAYS) == 82


def test_a_vacation_that_comes_too_late_saves_nobody() -> None:
    assert Table().after(72, "vacation", 0, span(60, 200)).deadline(THREE_DAYS) == 72


def test_a_vacation_of_a_seat_that_is_not_awaited_holds_when_it_is_asked() -> None:
    assert Table().after(1, "vacation", 1, span(2, 20)).move(10).deadline(THREE_DAYS, 1) == 20 + 72


def test_where_vacations_do_not_count_clocks_run_on() -> None:
    rule = replace(THREE_DAYS, vacations=False)
    table = Table().after(1, "vacation", 0, span(2, 20))
    assert table.deadline(rule) == 72
    assert table.keeper(rule).standing(0, hours(10)) == ""


# Pauses.


def test_a_pause_stops_all_clocks_until_its_end() -> None:
    table = Table(together=True).after(10, "pause", 1, until(40))
    assert (table.deadline(THREE_DAYS), table.deadline(THREE_DAYS, 1)) == (102, 102)
    assert table.keeper(THREE_DAYS).standing(0, hours(20)) == "pause"


def test_a_pause_ends_sooner_when_the_match_is_resumed() -> None:
    assert Table().after(10, "pause", None, until(40)).after(12, "resume").deadline(THREE_DAYS) == 74


def test_pauses_that_overlap_count_once_and_last_as_long_as_the_longest() -> None:
    table = Table().after(10, "pause", None, until(40)).after(20, "pause", None, until(30))
    assert table.deadline(THREE_DAYS) == 102
    assert table.after(25, "resume").deadline(THREE_DAYS) == 72 + 15


def test_a_resume_without_a_pause_changes_nothing() -> None:
    assert Table().after(10, "resume").deadline(THREE_DAYS) == 72


def test_a_pause_and_a_vacation_together_count_once() -> None:
    table = Table().after(10, "pause", None, until(40)).after(11, "vacation", 0, span(30, 50))
    assert table.deadline(THREE_DAYS) == 72 + 40
    assert [table.keeper(THREE_DAYS).standing(0, hours(hour)) for hour in (35, 45)] == ["pause", "vacation"]


def test_a_move_in_a_pause_is_made_and_costs_nothing() -> None:
    table = Table().after(10, "pause", None, until(100)).move(90)
    assert table.keeper(BANKED).clock(0).bank == timedelta(hours=54)
    assert table.keeper(BANKED).used(0, hours(95)) == timedelta(hours=10)
    assert table.deadline(THREE_DAYS, 1) == 100 + 72


# Outages of the server.


def test_an_outage_is_given_back_to_who_was_awaited() -> None:
    assert Table().after(40, "outage", None, span(10, 39)).deadline(THREE_DAYS) == 72 + 29


def test_an_outage_gives_back_only_the_time_after_the_seat_was_asked() -> None:
    assert Table().move(20).after(40, "outage", None, span(10, 39)).deadline(THREE_DAYS, 1) == 20 + 72 + 19
    assert Table().move(45).after(46, "outage", None, span(10, 39)).deadline(THREE_DAYS, 1) == 45 + 72


def test_who_ran_out_of_time_while_the_server_was_down_still_has_what_he_had() -> None:
    assert Table().after(101, "outage", None, span(70, 100)).deadline(THREE_DAYS) == 102


def test_an_outage_gives_back_no_more_than_seven_days_a_turn() -> None:
    table = Table().after(300, "outage", None, span(10, 290))
    assert table.deadline(THREE_DAYS) == 72 + 168
    assert table.after(320, "outage", None, span(301, 319)).deadline(THREE_DAYS) == 72 + 168


def test_no_time_is_given_back_twice() -> None:
    table = Table().after(40, "outage", None, span(10, 39)).after(41, "outage", None, span(10, 39))
    assert table.after(42, "outage", None, span(38, 41)).deadline(THREE_DAYS) == 72 + 31


def test_time_that_did_not_count_is_not_given_back() -> None:
    table = Table().after(5, "vacation", 0, span(20, 30)).after(40, "outage", None, span(10, 39))
    assert table.deadline(THREE_DAYS) == 72 + 10 + 19


def test_an_outage_is_not_given_back_before_it_is_over() -> None:
    assert Table().after(20, "outage", None, span(10, 39)).deadline(THREE_DAYS) == 82


def test_time_given_back_is_not_charged_to_the_bank() -> None:
    assert Table().after(40, "outage", None, span(10, 39)).move(60).keeper(BANKED).clock(0).bank == timedelta(
        hours=48 - (60 - 24 - 29) + 6
    )


# Undo.


def test_after_an_undo_a_seat_has_what_it_had_when_it_made_the_move() -> None:
    assert Table().move(40).after(50, "undo", 0, "1").deadline(THREE_DAYS) == 50 + 32


def test_after_an_undo_a_seat_has_an_hour_at_least() -> None:
    assert Table().move(71.5).after(80, "undo", 0, "1").deadline(THREE_DAYS) == 81
    assert Table().move(90, "clock").after(91, "undo", 0, "1").deadline(THREE_DAYS) == 92


def test_an_undo_restores_the_bank() -> None:
    table = Table().move(34).after(40, "undo", 0, "1")
    clock = table.keeper(BANKED).clock(0)
    assert (clock.allowance, clock.bank) == (timedelta(0), timedelta(hours=38))
    assert table.move(50).keeper(BANKED).clock(0).bank == timedelta(hours=38 - 10 + 6)


def test_the_hour_after_an_undo_comes_on_top_of_what_the_bank_has() -> None:
    clock = Table().move(71.5).after(80, "undo", 0, "1").keeper(BANKED).clock(0)
    assert (clock.allowance, clock.bank) == (timedelta(hours=0.5), timedelta(hours=0.5))


def test_who_was_asked_by_a_move_that_is_taken_back_is_charged_nothing() -> None:
    keeper = Table().move(1).after(70, "undo", 0, "1").keeper(BANKED)
    assert keeper.clock(1).bank == timedelta(days=2)
    assert keeper.used(1, hours(99)) == timedelta(hours=69)


def test_further_undos_restore_further() -> None:
    table = Table().move(34).move(40).after(50, "undo", 1, "2").after(60, "undo", 0, "1")
    keeper = table.keeper(BANKED)
    assert keeper.clock(1).bank == timedelta(days=2)
    assert keeper.clock(0).bank == timedelta(hours=38)
    assert keeper.deadline(0) == hours(60 + 38)


def test_an_undo_gives_everybody_awaited_his_clock_back() -> None:
    table = Table(seats=3, together=True).move(10).after(20, "undo", 0, "1")
    assert [table.deadline(THREE_DAYS, seat) for seat in range(3)] == [20 + 62] * 3


# Takeovers.


def test_a_bot_in_the_seat_changes_no_clock() -> None:
    assert Table().after(30, "takeover", 0, "bot").deadline(BANKED) == 72


def test_the_first_other_person_begins_with_a_new_clock() -> None:
    table = Table().move(90).move(91).after(100, "takeover", 0, "Catrin")
    assert table.deadline(BANKED) == 100 + 72
    assert table.keeper(BANKED).clock(0).asked_at == hours(100)
    assert table.keeper(BANKED).used(0, hours(101)) == timedelta(hours=90 + 10)


def test_who_takes_a_seat_over_loses_nothing_of_a_bank_that_has_grown() -> None:
    assert Table().move(1).after(2, "takeover", 0, "Catrin").keeper(BANKED).clock(0).bank == timedelta(hours=54)
    assert Table().move(90).after(2, "takeover", 0, "Catrin").keeper(BANKED).clock(0).bank == timedelta(hours=48)


def test_who_takes_a_seat_over_does_not_have_the_bank_that_is_spent() -> None:
    table = Table().move(1).move(2).move(3).move(4).after(34, "takeover", 0, "Catrin")
    assert table.keeper(BANKED).clock(0).bank == timedelta(hours=54)


def test_taking_over_again_wins_no_time() -> None:
    table = (
        Table().after(10, "takeover", 0, "Catrin").after(20, "takeover", 0, "bot").after(30, "takeover", 0, "Dolina")
    )
    assert table.deadline(BANKED) == 10 + 72


def test_vacation_and_hours_go_with_the_person() -> None:
    table = Table().after(0, "hours", 0, "UTC 18:00-06:00").after(1, "vacation", 0, span(20, 60))
    table.after(30, "takeover", 0, "Catrin")
    assert table.keeper(replace(THREE_DAYS, nights=True)).standing(0, hours(30)) == ""
    assert table.deadline(replace(THREE_DAYS, nights=True)) == 30 + 72


def test_an_undo_leaves_a_new_person_his_new_clock() -> None:
    table = Table().move(70).after(71, "takeover", 0, "Catrin").after(75, "undo", 1, "1")
    assert table.deadline(BANKED) == 75 + 72


# Clocks that go wrong.


def test_time_does_not_run_backwards() -> None:
    table = Table().move(30).move(5)
    assert table.deadline(THREE_DAYS) == 30 + 72
    assert table.keeper(THREE_DAYS).used(1, hours(99)) == timedelta(0)


# Rows that cannot be.


@pytest.mark.parametrize(
    ("kind", "seat", "text", "why"),
    [
        ("vacation", 0, "2026-04-01/2026-04-02", "no instant"),
        ("vacation", 0, "2026-04-02T00:00:00Z/2026-04-01T00:00:00Z", "before it begins"),
        ("vacation", 0, "2026-04-01T00:00:00Z", "no instant"),
        ("vacation", 0, "2026-04-01T00:00:00Z/2026-07-01T00:00:00Z", "90 days"),
        ("vacation", 0, "2026-02-30T00:00:00Z/2026-07-01T00:00:00Z", "day"),
        ("vacation", None, "2026-04-01T00:00:00Z/2026-04-02T00:00:00Z", "no seat"),
        ("vacation", 2, "2026-04-01T00:00:00Z/2026-04-02T00:00:00Z", "no seat"),
        ("vacation", -1, "2026-04-01T00:00:00Z/2026-04-02T00:00:00Z", "no seat"),
        ("pause", None, "", "no instant"),
        ("pause", None, "2026-04-01T00:00:00+02:00", "no instant"),
        ("pause", None, "2026-09-01T00:00:00Z", "90 days"),
        ("pause", None, "9999-09-01T00:00:00Z", "too far"),
        ("resume", None, "now", "no text"),
        ("outage", None, "yesterday", "no instant"),
        ("hours", 0, "", "no time zone"),
        ("hours", 0, "Europe/Nowhere", "no time zone"),
        ("hours", 0, "Europe/Prague 22-07", "no nightly hours"),
        ("hours", 0, "Europe/Prague 19:00-07:01", "12 hours"),
    ],
)
@pytest.mark.parametrize("rule", [THREE_DAYS, replace(THREE_DAYS, vacations=False)], ids=["vacations", "none"])
def test_a_row_that_cannot_be_is_refused_by_its_number(
    rule: Rule, kind: str, seat: int | None, text: str, why: str
) -> None:
    table = Table().move(1).after(2, kind, seat, text)
    with pytest.raises(TimingError, match=why) as error:
        table.keeper(rule)
    assert error.value.seq == 2


@pytest.mark.parametrize("at", [None, "", "2026-04-01", "2026-04-01T00:00:00", "9999-12-31T23:59:59Z"])
def test_a_row_without_an_instant_is_refused(at: str | None) -> None:
    table = Table().move(1)
    table.rows[0] = table.rows[0]._replace(at=at)
    with pytest.raises(TimingError, match="row 1"):
        table.keeper(THREE_DAYS)
    table.setup = table.setup._replace(at=at)
    with pytest.raises(TimingError, match="row 0"):
        table.keeper(THREE_DAYS)

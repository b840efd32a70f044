"""Vacations: announced, seen by all, bounded, and over by themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from clockwork import DAY, HOUR, awaited, kinds, reminders, sitting, tick, tick_at, ticks, wish
from house import START, House
from together import damage, in_parallel, quick_pictures, refused

from server import audit, events, lobby, log, preferences, seating, story, vacations
from server.models import Match, User, Vacation
from server.preferences import Wishes


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


def away(house: House, user: User, days: float, *, wait: float = 0) -> Vacation:
    """Let a person go away for some days, after some others."""
    start = house.now + timedelta(days=wait)
    return vacations.announce(user, start, start + timedelta(days=days), "web", now=house.now)


def test_a_vacation_ends_by_itself_and_the_deadline_is_right_without_any_visit(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    away(house, user, 7)
    until = START + timedelta(days=8)
    assert log.get(match.id).deadline == until
    tick(house)
    for before in (timedelta(days=7), timedelta(days=1), timedelta(minutes=1), timedelta(milliseconds=1)):
        assert tick_at(house, until - before) == 0
    assert kinds(house, match, 2) == ["vacation"]
    assert tick_at(house, until) == 1
    assert vacations.current(user, house.now) is None


def test_a_vacation_stops_the_clock_of_who_is_away_and_of_nobody_else(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    seat, _ = awaited(cottage, match)
    away(cottage, sitting(match, 1 - seat), 7)
    assert log.get(match.id).deadline == START + timedelta(days=1)
    cottage.later(hours=2)
    cottage.move(match)
    assert log.get(match.id).deadline == START + timedelta(days=8)


def test_a_vacation_holds_in_all_matches_that_allow_one(house: House) -> None:
    allowing, other = (
        house.begun("Ailsa", "Bran"),
        house.begun("Ailsa", "Bran", clock={"move": DAY, "vacations": False}),
    )
    for match in (allowing, other):
        while awaited(house, match)[1].name != "Ailsa":
            house.move(match)
    away(house, house.people["Ailsa"], 3)
    assert log.get(allowing.id).deadline == START + timedelta(days=4)
    assert log.get(other.id).deadline == START + timedelta(days=1)
    assert "vacation" not in kinds(house, other)
    assert "vacations do not stop the clock" in log.rule_sentence(other)
    later = house.started("Ailsa", "Bran")
    assert "vacation" in kinds(house, later), "a match that begins meanwhile knows it too"


def test_who_is_away_may_move_all_the_same(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    seat, user = awaited(cottage, match)
    away(cottage, user, 7)
    cottage.later(days=3)
    cottage.move(match)
    assert cottage.played(match).clocks.used(seat, cottage.now) == timedelta(0)
    assert log.get(match.id).deadline == cottage.now + timedelta(days=1)


def test_who_comes_back_early_keeps_what_has_passed(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    away(house, user, 20)
    vacations.end(user, "web", now=house.later(days=5))
    assert log.get(match.id).deadline == START + timedelta(days=6)
    assert vacations.days_left(user, 2026) == vacations.DAYS_A_YEAR - 5
    with refused("bad-input"):
        vacations.end(user, "web", now=house.now)


def test_a_vacation_called_off_before_it_began_changes_nothing(house: House) -> None:
    match = house.begun("Ailsa", "Bran", pace=9 * DAY)
    _, user = awaited(house, match)
    away(house, user, 5, wait=4)
    assert log.get(match.id).deadline == START + timedelta(days=14)
    vacations.end(user, "web", now=house.later(days=1))
    assert log.get(match.id).deadline == START + timedelta(days=9)
    assert vacations.days_left(user, 2026) == vacations.DAYS_A_YEAR


def test_a_vacation_that_comes_too_late_saves_nobody(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    _, user = awaited(cottage, match)
    cottage.now = log.get(match.id).deadline
    away(cottage, user, 5)
    assert tick(cottage) == 1


def test_a_year_has_only_so_many_days_of_vacation(cottage: House) -> None:
    user = cottage.people["Ailsa"]
    for _ in range(2):
        away(cottage, user, 20)
        cottage.later(days=20)
    assert vacations.days_left(user, 2026) == 2
    with refused("bad-input") as caught:
        away(cottage, user, 3)
    assert "you have 2 left in 2026" in caught.value.sentence
    away(cottage, user, 2)
    cottage.now = datetime(2026, 12, 30, tzinfo=UTC)
    with refused("bad-input"):
        away(cottage, user, 3)
    away(cottage, user, 3, wait=2)
    assert vacations.days_left(user, 2027) == vacations.DAYS_A_YEAR - 3


def test_a_vacation_over_the_new_year_counts_in_both(cottage: House) -> None:
    user, cottage.now = cottage.people["Ailsa"], datetime(2026, 12, 22, tzinfo=UTC)
    away(cottage, user, 20)
    left = [vacations.days_left(user, year) for year in (2026, 2027)]
    assert left == [vacations.DAYS_A_YEAR - 10, vacations.DAYS_A_YEAR - 10]


@pytest.mark.parametrize(("days", "wait"), [(29, 0), (0, 3), (-1, 3), (1, 181)])
def test_a_vacation_that_is_none_is_refused(cottage: House, days: float, wait: float) -> None:
    with refused("bad-input"):
        away(cottage, cottage.people["Ailsa"], days, wait=wait)
    assert not Vacation.select().exists()


def test_of_two_vacations_announced_at_once_one_is(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    user = house.people["Ailsa"]
    results = in_parallel(*[lambda: away(house, user, 5).id > 0] * 3)
    assert sorted(map(str, results)) == ["True", "bad-input", "bad-input"]
    assert kinds(house, match, 2) == ["vacation"]


def test_the_others_read_of_it_in_the_log(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    user = cottage.people["Ailsa"]
    away(cottage, user, 5, wait=1)
    vacations.end(user, "web", now=cottage.now)
    away(cottage, user, 5)
    vacations.end(user, "web", now=cottage.later(days=1))
    played = cottage.played(match)
    told = [events.sentence(played, row, story.names(log.places(match))) for row in played.rows[2:]]
    assert told == [
        "Ailsa will be on vacation from Tue 3 Mar 2026, 09:00 UTC until Sun 8 Mar 2026, 09:00 UTC; "
        "the clock of the seat stands still then.",
        "Ailsa is not going on vacation after all.",
        "Ailsa is on vacation from Mon 2 Mar 2026, 09:00 UTC until Sat 7 Mar 2026, 09:00 UTC; "
        "the clock of the seat stands still.",
        "Ailsa is back from vacation.",
    ]


def test_nobody_is_reminded_on_vacation(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", pace=10 * HOUR)
    _, user = awaited(cottage, match)
    cottage.later(hours=7)
    away(cottage, user, 3)
    tick(cottage)
    ticks(cottage, until=START + timedelta(days=3, hours=7), every=timedelta(minutes=9))
    assert reminders(match) == []
    ticks(cottage, until=START + timedelta(days=3, hours=8), every=timedelta(minutes=9))
    assert len(reminders(match)) == 1


def test_a_damaged_match_keeps_nobody_from_going_away_or_moving_house(house: House) -> None:
    bad, good = house.begun("Ailsa", "Bran"), house.begun("Ailsa", "Bran", clock={"move": DAY, "nights": True})
    damage(bad, 1, "nonsense")
    away(house, house.people["Ailsa"], 5)
    preferences.settle(house.people["Ailsa"], Wishes("Europe/Prague", nights="22:00-06:00"), house.now)
    vacations.end(house.people["Ailsa"], "web", now=house.later(days=1))
    assert [kind for kind in kinds(house, good) if kind in {"vacation", "hours"}][-3:] == [
        "vacation",
        "hours",
        "vacation",
    ]
    assert log.get(bad.id).length == 2


def test_who_takes_a_seat_over_brings_his_own_vacation_and_hours(house: House) -> None:
    clock = {"move": DAY, "missing": "at-once", "weekend": True, "nights": True}
    guest = wish(house.people["Dugald"], zone="Pacific/Apia", nights="21:00-06:00")
    owner = wish(house.people["Bran"], zone="Europe/Prague", nights="23:00-07:00")
    match: Match = house.begun("Ailsa", "Bran", "Catrin", clock=clock)
    seat = 1
    while awaited(house, match)[0] != seat:
        house.move(match)
    tick_at(house, log.get(match.id).deadline)
    seating.come_back(match.id, owner, "web", now=house.now)
    assert [row.text for row in house.played(match).rows[-2:]] == [f"person:{owner.id}", "Europe/Prague 23:00-07:00"]
    while awaited(house, match)[0] != seat:
        house.move(match)
    tick_at(house, log.get(match.id).deadline)
    assert log.get(match.id).offers, "he came back and never moved"
    away(house, guest, 9, wait=2)
    seating.take(match.id, seat, guest, "web", now=house.now)
    assert [row.kind for row in house.played(match).rows[-3:]] == ["takeover", "hours", "vacation"]
    while awaited(house, match)[0] != seat:
        house.move(match)
    assert log.get(match.id).deadline > house.now + timedelta(days=9)
    assert house.played(match).clocks.standing(seat, house.now + timedelta(days=2)) == "vacation"
    assert audit.verify(match.id) == []


def test_the_vacation_of_who_left_a_seat_does_not_stop_its_clock(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran", "Catrin")
    seat, user = awaited(cottage, match)
    away(cottage, user, 20)
    seating.resign(match.id, user, "web", now=cottage.now)
    assert log.get(match.id).deadline == cottage.now + timedelta(days=1)
    assert cottage.played(match).clocks.standing(seat, cottage.now) == ""


def test_moves_and_vacations_at_the_same_moment_do_not_wait_for_each_other(house: House) -> None:
    matches = [house.begun("Ailsa", "Bran", pace=9 * DAY) for _ in range(6)]
    ailsa, bran = house.people["Ailsa"], house.people["Bran"]
    for _ in range(4):
        works = [
            lambda: away(house, ailsa, 1).id > 0,
            lambda: away(house, bran, 1).id > 0,
            *(lambda match=match: house.move(match).seq > 0 for match in matches),
        ]
        assert in_parallel(*works) == [True] * len(works)
        house.later(hours=1)
        for user in (ailsa, bran):
            vacations.end(user, "web", now=house.now)
    assert all(audit.verify(match.id) == [] for match in matches)


def test_a_match_that_begins_while_its_player_goes_away_knows_of_it(house: House) -> None:
    user = house.people["Ailsa"]
    for _ in range(4):
        table = house.table("Ailsa", seats=2)
        works = [
            lambda: away(house, user, 1).id > 0,
            lambda table=table: lobby.join(table.id, house.people["Bran"], now=house.now).id > 0,
        ]
        assert in_parallel(*works) == [True, True]
        assert "vacation" in kinds(house, table)
        vacations.end(user, "web", now=house.later(hours=1))


def test_a_vacation_moves_with_its_person_only_and_the_log_is_whole(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": 2 * DAY, "weekend": True, "bank": DAY, "increment": HOUR})
    for name in ("Ailsa", "Bran", "Ailsa"):
        away(house, house.people[name], 2)
        house.later(days=1)
        house.move(match)
        vacations.end(house.people[name], "web", now=house.later(hours=3))
        assert audit.verify(match.id) == []

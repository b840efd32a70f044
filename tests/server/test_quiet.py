"""When other ways than mail keep quiet: hours of the night, silenced matches, and who is looking anyway."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from house import House
from hypothesis import given
from hypothesis import strategies as st
from pagers import Pager, asked_until, paged, said, tell
from together import quick_pictures, refused

from server import preferences, quiet, seating, ways
from server.models import Outbox, Seat, User


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


def test_a_silenced_match_is_told_of_by_mail_alone(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.begun("Ailsa", "Bran")
    ways.silence(match, house.people["Ailsa"], True)
    asked_until(house, match, "Ailsa")
    house.finish(match)
    assert said(house, pager) == []
    assert [mail for mail in house.mail() if mail.to_name == "Ailsa"]


def test_a_match_silenced_after_a_turn_was_queued_is_silent_too(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.begun("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    ways.silence(match, house.people["Ailsa"], True)
    assert said(house, pager) == []
    assert "this match is silenced" in {row.note for row in Outbox.select().where(Outbox.kind == "pager")}


def test_who_gets_a_seat_hears_of_the_match_whatever_its_last_player_wanted(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    ways.silence(match, house.people["Ailsa"], True)
    seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    assert not Seat.select().where((Seat.user != house.people["Ailsa"]) & (Seat.silent == True)).exists()  # noqa: E712


def test_a_brief_waits_until_the_quiet_hours_are_over(house: House, pager: Pager) -> None:
    paged(house, pager)
    User.update(quiet="08:00-11:30", zone="Europe/Prague").where(User.name == "Ailsa").execute()
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    assert said(house, pager) == []
    house.now = datetime(2026, 3, 2, 10, 29, tzinfo=UTC)
    assert said(house, pager) == []
    house.now = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
    assert said(house, pager)


def test_quiet_hours_chosen_after_something_was_queued_hold_for_it_too(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    User.update(quiet="08:00-11:30").where(User.name == "Ailsa").execute()
    assert said(house, pager) == []
    assert all(row.attempts == 0 for row in house.queued(kind="pager"))
    User.update(quiet="").where(User.name == "Ailsa").execute()
    house.later(hours=3)
    assert said(house, pager)


def test_a_trial_message_keeps_no_quiet_hours(house: House, pager: Pager) -> None:
    way = paged(house, pager)
    User.update(quiet="08:00-11:30").where(User.name == "Ailsa").execute()
    house.later(seconds=1)
    ways.try_out(house.people["Ailsa"], way.id, house.now)
    assert said(house, pager) == ["A trial message"]


ZONES = ("Europe/Prague", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "UTC")


MOMENTS = st.integers(0, 5 * 366 * 24 * 60).map(lambda n: datetime(2024, 1, 1, tzinfo=UTC) + n * timedelta(minutes=1))


TIMES = st.tuples(st.integers(0, 23), st.integers(0, 59)).map(lambda clock: f"{clock[0]:02d}:{clock[1]:02d}")


def is_quiet(hours: str, wall: datetime) -> bool:
    start, end = hours.split("-")
    now = f"{wall:%H:%M}"
    return start <= now < end if start < end else now >= start or now < end


@given(zone=st.sampled_from(ZONES), start=TIMES, end=TIMES, at=MOMENTS)
def test_quiet_hours_end_when_the_clock_on_the_wall_says_so(zone: str, start: str, end: str, at: datetime) -> None:
    user = User(zone=zone, quiet=f"{start}-{end}")
    over = quiet.over(user, at)
    assert at <= over <= at + timedelta(hours=26)
    if start == end:
        assert over == at
        return
    place, hours = ZoneInfo(zone), f"{start}-{end}"
    assert not is_quiet(hours, over.astimezone(place))
    assert (over == at) == (not is_quiet(hours, at.astimezone(place)))
    step = at
    while step < over:
        assert is_quiet(hours, step.astimezone(place)), "no sooner could it have been sent"
        step += timedelta(minutes=7)


@pytest.mark.parametrize("text", ["22", "22:00", "22:00-24:00", "25:00-07:00", "22:00-22:00", "x", "22:00-07:00-08:00"])
def test_quiet_hours_that_cannot_be_are_refused(cottage: House, text: str) -> None:
    with refused("bad-input"):
        quiet.read(text)
    assert quiet.read("") == ""
    assert quiet.read(" 22:00 - 07:00 ") == "22:00-07:00"


def test_who_does_not_look_is_told_and_who_just_did_a_little_later(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.begun("Ailsa", "Bran")
    asked_until(house, match, "Bran")
    tell(house, pager)
    Seat.update(visited_at=house.now).where(Seat.user == house.people["Ailsa"]).execute()
    house.move(match)
    assert said(house, pager) == []
    house.later(minutes=4)
    assert said(house, pager) == [f"Clans {match.id}: it is your turn"]


def test_choosing_quiet_hours_is_a_preference_like_others(house: House) -> None:
    preferences.settle(house.people["Ailsa"], preferences.Wishes(zone="UTC", quiet="22:00-07:00"), house.now)
    assert User.get_by_id(house.people["Ailsa"].id).quiet == "22:00-07:00"
    with refused("bad-input"):
        preferences.settle(house.people["Ailsa"], preferences.Wishes(zone="UTC", quiet="late"), house.now)

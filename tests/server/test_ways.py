"""Ways to be told besides by mail: what is queued for whom, when it leaves, and when nothing more is tried."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from clockwork import awaited
from house import House
from hypothesis import given
from hypothesis import strategies as st
from together import everything_stored, in_parallel, quick_pictures, refused

from server import (
    accounts,
    briefs,
    deadlines,
    digests,
    lobby,
    log,
    outbox,
    play,
    preferences,
    quiet,
    seating,
    tidings,
    ways,
)
from server.channels import Brief, DeliveryError, Kind
from server.models import Outbox, Seat, User, Way


class Pager:
    """A kind of way that keeps what it is handed; `faults` are raised first."""

    name = "Pager"
    blanks = ()

    def __init__(self, *faults: DeliveryError) -> None:
        self.faults = list(faults)
        self.briefs: list[Brief] = []

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the number; there is none without one."""
        if not given.get("number"):
            raise DeliveryError("This address cannot be read.")
        return {"number": given["number"]}

    def shown(self, address: Mapping[str, str]) -> str:
        """Return nothing of it."""
        return f"…{address['number'][-1]}"

    def deliver(self, message: Brief) -> None:
        """Keep the message, or raise the next fault."""
        if self.faults:
            raise self.faults.pop(0)
        self.briefs.append(message)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


@pytest.fixture
def pager() -> Pager:
    return Pager()


def paged(house: House, pager: Pager, name: str = "Ailsa", number: str = "12345", **more: object) -> Way:
    """Give somebody a way, and let its trial message pass."""
    way = ways.add(house.people[name], "pager", {"number": number}, {"pager": pager}, house.now, **more)
    tell(house, pager)
    pager.briefs.clear()
    return ways.own(house.people[name], way.id)


def tell(house: House, pager: Kind) -> list[Brief]:
    """Let some ticks pass in one moment; return what has been handed over by then."""
    for _ in range(8):
        tidings.run({"pager": pager}, briefs.writer(house.settings), lambda: house.now)
    return list(getattr(pager, "briefs", []))


def said(house: House, pager: Pager) -> list[str]:
    """Return the titles of what leaves now."""
    before = len(pager.briefs)
    return [brief.title for brief in tell(house, pager)[before:]]


def asked_until(house: House, match: object, name: str) -> None:
    """Play until somebody is awaited."""
    while awaited(house, match)[1].name != name:
        house.move(match)


def test_a_new_way_is_sent_a_trial_message(house: House, pager: Pager) -> None:
    ways.add(house.people["Ailsa"], "pager", {"number": "12345"}, {"pager": pager}, house.now)
    (brief,) = tell(house, pager)
    assert (brief.title, brief.text) == ("A trial message", "So Clachan tells you of your matches here.")
    assert dict(brief.address) == {"number": "12345"}
    assert "12345" not in repr(brief)


def test_a_turn_is_told_once_with_what_happened_and_until_when(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.begun("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    tell(house, pager)
    brief = pager.briefs[-1]
    assert brief.title == f"Clans {match.id}: it is your turn"
    assert brief.text.startswith("Bran moved")
    assert "You have until Tue 3 Mar 2026" in brief.text
    assert brief.url == f"{house.settings.public_url}/matches/{match.id}"
    assert said(house, pager) == [], "once"


def test_a_turn_taken_meanwhile_is_not_told(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.begun("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    tell(house, pager)
    house.move(match)
    house.move(match)
    house.move(match)
    assert awaited(house, match)[1].name == "Bran"
    assert said(house, pager) == []


def test_each_way_takes_the_news_it_was_chosen_for(house: House, pager: Pager) -> None:
    first = paged(house, pager, number="1", news=["start", "end"])
    second = paged(house, pager, number="2", news=["turn"])
    assert (first.takes, second.takes) == ({"start", "end"}, {"turn"})
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    tell(house, pager)
    house.finish(match)
    tell(house, pager)
    told = {(brief.address["number"], brief.title.partition(f"Clans {match.id}")[2]) for brief in pager.briefs}
    assert told == {("1", " has begun"), ("2", ": it is your turn"), ("1", " has ended")}


def test_whoever_is_to_move_first_is_told_that_and_not_also_of_the_beginning(house: House, pager: Pager) -> None:
    for name in ("Ailsa", "Bran"):
        paged(house, pager, name, number=name)
    match = house.started("Ailsa", "Bran")
    first = awaited(house, match)[1].name
    told = {brief.address["number"]: brief.title for brief in tell(house, pager)}
    other = next(name for name in ("Ailsa", "Bran") if name != first)
    assert told == {first: f"Clans {match.id}: it is your turn", other: f"Clans {match.id} has begun"}
    assert len(pager.briefs) == 2


def test_the_end_is_told_with_its_result_unless_one_wants_to_watch_it(house: House, pager: Pager) -> None:
    paged(house, pager)
    User.update(keeps_results=True).where(User.name == "Bran").execute()
    paged(house, pager, "Bran", number="9")
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    seating.resign(match.id, user, "web", now=house.now)
    ends = {brief.address["number"]: brief.text for brief in tell(house, pager) if "has ended" in brief.title}
    assert ends["12345"].endswith(".")
    assert " won" in ends["12345"]
    assert ends["9"] == ""


def test_a_reminder_and_a_nudge_are_told(house: House, pager: Pager) -> None:
    paged(house, pager, news=["reminder"])
    match = house.begun("Ailsa", "Bran", pace=5 * 86400)
    asked_until(house, match, "Ailsa")
    house.later(days=4, hours=1)
    deadlines.remind(house.now)
    (brief,) = tell(house, pager)
    assert brief.title == f"Clans {match.id}: a reminder"
    assert brief.text.startswith("80 % of your time are gone. You have until")
    play.nudge(match.id, house.people["Bran"], "web", now=house.now)
    assert tell(house, pager)[-1].text.startswith("Bran asks for your move.")


def test_the_list_of_a_day_comes_by_a_way_that_takes_it_least_time_left_first(house: House, pager: Pager) -> None:
    long = house.started("Ailsa", "Bran", pace=5 * 86400)
    short = house.started("Ailsa", "Catrin", pace=2 * 86400)
    for match in (long, short):
        asked_until(house, match, "Ailsa")
    paged(house, pager, news=["digest"])
    assert User.get_by_id(house.people["Ailsa"].id).digest_at is not None
    house.later(hours=22)
    digests.run(house.now)
    (brief,) = tell(house, pager)
    assert brief.title == "2 matches wait for you"
    assert [line.partition(":")[0] for line in brief.text.splitlines()] == [f"Clans {short.id}", f"Clans {long.id}"]
    assert not [mail for mail in house.mail() if mail.subject == "Your turns"], "by mail it was not wanted"
    ways.silence(short, house.people["Ailsa"], True)
    house.later(days=1)
    digests.run(house.now)
    assert tell(house, pager)[-1].title == "1 match waits for you"
    ways.remove(house.people["Ailsa"], ways.of(house.people["Ailsa"])[0].id, house.now)
    assert User.get_by_id(house.people["Ailsa"].id).digest_at is None


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


def test_what_fails_is_tried_again_with_the_same_number(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    row = house.queued(kind="pager")[-1]
    pager.faults = [DeliveryError("the answer was 500")]
    tell(house, pager)
    way = ways.of(house.people["Ailsa"])[0]
    assert (way.failures, way.fault, way.failing_since) == (1, "the answer was 500", house.now)
    house.later(minutes=1)
    tell(house, pager)
    assert pager.briefs[-1].message_id == row.message_id
    way = ways.of(house.people["Ailsa"])[0]
    assert (way.failures, way.failing_since) == (0, None)


def test_a_service_that_asks_for_time_is_given_it(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    pager.faults = [DeliveryError("the answer was 429", wait=timedelta(hours=2))]
    tell(house, pager)
    house.later(minutes=119)
    assert said(house, pager) == []
    house.later(minutes=1)
    assert said(house, pager)


def test_after_a_day_of_failure_nothing_more_is_tried_and_a_mail_says_so(house: House, pager: Pager) -> None:
    way = paged(house, pager, label="My pager")
    house.started("Ailsa", "Bran", pace=10 * 86400)
    house.started("Bran", "Ailsa", pace=10 * 86400)
    house.mail()
    pager.faults = [DeliveryError("the answer was 500")] * 50
    for _ in range(60):
        tell(house, pager)
        house.later(hours=1)
    way = Way.get_by_id(way.id)
    assert way.stopped_at is not None
    assert way.failures >= 5
    told = [mail for mail in house.mail() if mail.to_name == "Ailsa" and "No more messages" in mail.subject]
    assert [mail.subject for mail in told] == ["No more messages to My pager"]
    assert "the answer was 500" in told[0].text
    assert house.queued(kind="pager") == []
    house.started("Ailsa", "Catrin")
    assert house.queued(kind="pager") == [], "nothing is queued any more"
    pager.faults.clear()
    ways.try_out(house.people["Ailsa"], way.id, house.now)
    assert said(house, pager) == ["A trial message"]
    assert Way.get_by_id(way.id).stopped_at is None


def test_an_address_that_is_wrong_for_good_is_given_up_at_once(house: House, pager: Pager) -> None:
    paged(house, pager)
    house.started("Ailsa", "Bran")
    house.mail()
    pager.faults = [DeliveryError("the answer was 404", permanent=True)]
    tell(house, pager)
    assert ways.of(house.people["Ailsa"])[0].stopped_at == house.now
    assert [mail.subject for mail in house.mail()] == ["No more messages to Pager"]
    assert User.get_by_id(house.people["Ailsa"].id).mail_stopped == "", "mail goes on"


def test_a_trial_that_fails_for_good_is_told_on_the_page_and_not_by_mail(house: House, pager: Pager) -> None:
    pager.faults = [DeliveryError("the answer was 404", permanent=True)]
    ways.add(house.people["Ailsa"], "pager", {"number": "1"}, {"pager": pager}, house.now)
    tell(house, pager)
    assert ways.of(house.people["Ailsa"])[0].fault == "the answer was 404"
    assert house.mail() == []


def test_a_way_that_its_service_knows_no_more_is_forgotten(house: House, pager: Pager) -> None:
    paged(house, pager)
    house.started("Ailsa", "Bran")
    house.mail()
    pager.faults = [DeliveryError("the answer was 410", gone=True)]
    tell(house, pager)
    assert ways.of(house.people["Ailsa"]) == []
    assert not User.get_by_id(house.people["Ailsa"].id).other_ways
    assert house.queued(kind="pager") == []
    assert house.mail() == []


def test_a_match_that_cannot_be_read_is_no_fault_of_the_way(house: House, pager: Pager) -> None:
    way = paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    Outbox.update(match=None, asked=1).where((Outbox.kind == "pager") & Outbox.done_at.is_null()).execute()
    assert said(house, pager) == []
    assert Way.get_by_id(way.id).failures == 0
    assert [row.note for row in house.queued(kind="pager")] != []


def test_one_dead_way_holds_nobody_up(house: House) -> None:
    class Slow(Pager):
        """A service that answers the first of them late."""

        def deliver(self, message: Brief) -> None:
            if message.address["number"] == "slow":
                raise DeliveryError("no answer: it took too long", unknown=True)
            super().deliver(message)

    pager = Slow()
    paged(house, pager, "Ailsa", number="slow")
    paged(house, pager, "Bran", number="quick")
    for _ in range(3):
        house.started("Ailsa", "Bran")
    tidings.run({"pager": pager}, briefs.writer(house.settings), lambda: house.now)
    slow = Way.get(Way.user == house.people["Ailsa"])
    assert slow.failures <= 2, "the rest of it waits"
    tell(house, pager)
    assert len([brief for brief in pager.briefs if brief.address["number"] == "quick"]) == 3


def test_one_slow_kind_of_way_holds_no_other_up(house: House) -> None:
    go, told = threading.Event(), []

    class Stuck(Pager):
        """A service that answers when another has been served."""

        def deliver(self, message: Brief) -> None:
            assert go.wait(10)
            super().deliver(message)

    class Other(Pager):
        """Another service."""

        def deliver(self, message: Brief) -> None:
            told.append(message)
            go.set()

    channels = {"pager": Stuck(), "other": Other()}
    for kind in channels:
        ways.add(house.people["Ailsa"], kind, {"number": "1"}, channels, house.now)
    began = time.monotonic()
    assert tidings.run(channels, briefs.writer(house.settings), lambda: house.now) == 2
    assert time.monotonic() - began < 5
    assert len(told) == len(channels["pager"].briefs) == 1


def test_two_schedulers_hand_each_brief_over_once(house: House, pager: Pager) -> None:
    for name in house.people:
        paged(house, pager, name, number=name)
    house.started("Ailsa", "Bran")
    house.started("Catrin", "Dugald")
    others = [Pager(), Pager()]
    write = briefs.writer(house.settings)
    for _ in range(3):
        in_parallel(*(lambda one=one: tidings.run({"pager": one}, write, lambda: house.now) for one in others))
    ids = [brief.message_id for one in others for brief in one.briefs]
    assert len(ids) == len(set(ids)) == 4


def test_a_crash_leads_to_one_more_try_and_no_third(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")

    class Crash(Pager):
        """A service in whose hands this process dies."""

        def deliver(self, message: Brief) -> None:
            self.briefs.append(message)
            raise KeyboardInterrupt

    crash = Crash()
    for _ in range(3):
        try:
            tidings.run({"pager": crash}, briefs.writer(house.settings), lambda: house.now)
        except KeyboardInterrupt:
            house.now += outbox.LEASE
    turns = [brief.message_id for brief in crash.briefs]
    assert max(map(turns.count, turns)) == 2


def test_adding_the_same_address_again_mends_the_way(house: House, pager: Pager) -> None:
    way = paged(house, pager, label="First")
    Way.update(stopped_at=house.now, failures=7).execute()
    house.later(minutes=1)
    again = ways.add(
        house.people["Ailsa"], "pager", {"number": "12345"}, {"pager": pager}, house.now, label="Second", news=["end"]
    )
    (kept,) = ways.of(house.people["Ailsa"])
    assert kept.id == again.id == way.id
    assert (kept.label, kept.takes, kept.stopped_at, kept.failures) == ("Second", {"end"}, None, 0)


def test_what_is_no_way_is_refused(house: House, pager: Pager) -> None:
    ailsa, bran, channels = house.people["Ailsa"], house.people["Bran"], {"pager": pager}
    for kind, filled in (("pager", {}), ("carrier", {"number": "1"})):
        with refused("bad-input"):
            ways.add(ailsa, kind, filled, channels, house.now)
    with refused("bad-input"):
        ways.add(ailsa, "pager", {"number": "1"}, channels, house.now, label="x" * 41)
    way = paged(house, pager)
    for act in (
        lambda: ways.remove(bran, way.id, house.now),
        lambda: ways.change(bran, way.id, "Mine", ["turn"], house.now),
        lambda: ways.try_out(bran, way.id, house.now),
    ):
        with refused("not-found"):
            act()
    assert ways.of(ailsa) == [way]
    assert ways.of(bran) == []


def test_nobody_has_more_ways_than_ten_and_trials_are_bounded(house: House, pager: Pager) -> None:
    ailsa = house.people["Ailsa"]
    for number in range(ways.MOST):
        ways.add(ailsa, "pager", {"number": str(number)}, {"pager": pager}, house.now)
    with refused("bad-input"):
        ways.add(ailsa, "pager", {"number": "one more"}, {"pager": pager}, house.now)
    with refused("throttled"):
        for _ in range(20):
            house.later(seconds=1)
            ways.try_out(ailsa, ways.of(ailsa)[0].id, house.now)


def test_a_way_taken_away_is_told_nothing_and_with_an_account_it_goes(house: House, pager: Pager) -> None:
    way = paged(house, pager, number="secret-number")
    house.started("Ailsa", "Bran")
    ways.remove(house.people["Ailsa"], way.id, house.now)
    assert said(house, pager) == []
    assert "secret-number" not in everything_stored()
    paged(house, pager, "Dugald", number="another-number")
    lobby.leave_all(house.people["Dugald"], house.now)
    accounts.forget(house.people["Dugald"], house.now)
    assert "another-number" not in everything_stored()


def test_who_has_no_other_way_costs_a_move_no_question(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidings, "_LIVE", None)
    match = house.begun("Ailsa", "Bran")
    house.move(match)


def test_mails_know_nothing_of_other_ways(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    tell(house, pager)
    mails = house.mail()
    assert {mail.to_name for mail in mails} <= {"Ailsa", "Bran"}
    assert outbox.oldest_due(house.now) == timedelta(0)
    ids = {brief.message_id for brief in pager.briefs}
    assert not ids & {part.partition("@")[0] for mail in mails for part in mail.thread}
    assert Outbox.select().where(Outbox.way.is_null(False) & (Outbox.address != "")).count() == 0


def test_a_brief_is_in_the_language_of_its_reader(house: House, pager: Pager) -> None:
    User.update(language="de").where(User.name == "Ailsa").execute()
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    told = tell(house, pager)[-1]
    assert told.language == "de"
    assert "Du bist am Zug" in told.title or log.title(match) in told.title
    assert "it is your turn" not in told.title


def test_choosing_quiet_hours_is_a_preference_like_others(house: House) -> None:
    preferences.settle(house.people["Ailsa"], preferences.Wishes(zone="UTC", quiet="22:00-07:00"), house.now)
    assert User.get_by_id(house.people["Ailsa"].id).quiet == "22:00-07:00"
    with refused("bad-input"):
        preferences.settle(house.people["Ailsa"], preferences.Wishes(zone="UTC", quiet="late"), house.now)

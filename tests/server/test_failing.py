"""Ways that fail: what is tried again, when nothing more is tried, and that nobody else waits for it."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
from house import House
from pagers import Pager, asked_until, paged, said, tell
from together import quick_pictures

from server import briefs, outbox, tidings, ways
from server.channels import NOT_TAKEN, Brief, DeliveryError
from server.models import Outbox, User, Way


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


def test_what_fails_is_tried_again_with_the_same_number(house: House, pager: Pager) -> None:
    paged(house, pager)
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    row = house.queued(kind="pager")[-1]
    pager.faults = [DeliveryError("the answer was 500")]
    tell(house, pager)
    way = ways.of(house.people["Ailsa"])[0]
    assert (way.failures, way.fault, way.failing_since) == (1, NOT_TAKEN, house.now)
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
    assert "The last reason was: it was not taken there" in " ".join(told[0].text.split())
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
    assert ways.of(house.people["Ailsa"])[0].fault == NOT_TAKEN
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


def test_a_new_message_waits_like_the_others_for_a_way_that_fails(house: House, pager: Pager) -> None:
    paged(house, pager, news=["turn"])
    first, second = (house.begun("Ailsa", "Bran") for _ in range(2))
    for match in (first, second):
        asked_until(house, match, "Bran")
    tell(house, pager)
    tries: list[str] = []

    class Dead(Pager):
        """A service that takes nothing."""

        def deliver(self, message: Brief) -> None:
            tries.append(message.title)
            raise DeliveryError("no answer: it took too long")

    asked_until(house, first, "Ailsa")
    tell(house, Dead())
    assert len(tries) == 1
    house.later(seconds=10)
    asked_until(house, second, "Ailsa")
    tell(house, Dead())
    assert len(tries) == 1, "a dead service costs no try for each message"
    house.later(minutes=1)
    tell(house, Dead())
    assert len(tries) == 2
    house.later(minutes=5)
    assert sorted(said(house, pager)) == [f"Clans {match.id}: it is your turn" for match in (first, second)]


def test_a_trial_message_goes_at_once_though_others_wait_and_has_them_go_too(house: House, pager: Pager) -> None:
    way = paged(house, pager, news=["turn"])
    match = house.started("Ailsa", "Bran")
    asked_until(house, match, "Ailsa")
    pager.faults = [DeliveryError("the answer was 500", wait=timedelta(hours=12))]
    assert said(house, pager) == []
    house.later(minutes=2)
    ways.try_out(house.people["Ailsa"], way.id, house.now)
    assert said(house, pager) == ["A trial message", f"Clans {match.id}: it is your turn"]


def run_for_many(house: House, pager: Pager, word: str) -> None:
    """Hand out trial messages: for one person by as many ways as there may be, for another by a quick one."""
    for number in range(ways.MOST):
        ways.add(house.people["Ailsa"], "pager", {"number": f"{word} {number}"}, {"pager": pager}, house.now)
    ways.add(house.people["Bran"], "pager", {"number": "quick"}, {"pager": pager}, house.now)
    tidings.run({"pager": pager}, briefs.writer(house.settings), lambda: house.now)


def test_whoever_has_many_slow_ways_holds_others_up_no_longer_than_with_one(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: spent)

    class Slow(Pager):
        """A service that takes a message in a little less than what would be slow; time is counted, not spent."""

        def deliver(self, message: Brief) -> None:
            nonlocal spent
            spent += 1.9 if message.address["number"].startswith("slow") else 0
            super().deliver(message)

    slow = Slow()
    run_for_many(house, slow, "slow")
    assert "quick" in {brief.address["number"] for brief in slow.briefs}
    assert spent < 4
    for _ in range(5):
        tell(house, slow)
        house.later(minutes=6)
    assert len(slow.briefs) == ways.MOST + 1, "all of them come in the end"


def test_whoever_has_many_dead_ways_holds_others_up_no_longer_than_with_one(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: spent)

    class Dead(Pager):
        """A service that takes nothing; time is counted, not spent."""

        def deliver(self, message: Brief) -> None:
            nonlocal spent
            if message.address["number"].startswith("dead"):
                spent += 5
                raise DeliveryError("no answer: it took too long", unknown=True)
            super().deliver(message)

    dead = Dead()
    run_for_many(house, dead, "dead")
    assert [brief.address["number"] for brief in dead.briefs] == ["quick"]
    assert spent == 5


def test_a_way_is_given_up_once_whoever_hears_of_it(house: House, pager: Pager) -> None:
    paged(house, pager)
    for _ in range(2):
        asked_until(house, house.started("Ailsa", "Bran"), "Ailsa")
    house.mail()
    for row in house.queued(kind="pager"):
        tidings.heard(row, DeliveryError("the answer was 404", permanent=True), house.now)
        house.later(seconds=2)
    assert [mail.subject for mail in house.mail()] == ["No more messages to Pager"]

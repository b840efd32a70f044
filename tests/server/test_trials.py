"""Trial messages by other ways than mail: how many are sent, and what they leave as it is."""

from __future__ import annotations

import pytest
from house import House
from pagers import Pager, paged, said, tell

from server import ways
from server.channels import NO_ANSWER, DeliveryError, answered
from server.errors import Refused
from server.models import Outbox, Way


def test_a_trial_takes_the_place_of_one_that_waits(house: House, pager: Pager) -> None:
    way, ailsa = paged(house, pager), house.people["Ailsa"]
    for _ in range(3):
        house.later(minutes=1)
        ways.try_out(ailsa, way.id, house.now)
    waiting = Outbox.select().where((Outbox.way == way.id) & Outbox.done_at.is_null())
    assert waiting.count() == 1
    assert said(house, pager) == ["A trial message"]


def test_trials_are_bounded_for_a_way_and_for_a_person(house: House, pager: Pager) -> None:
    way, ailsa = paged(house, pager), house.people["Ailsa"]
    ways.try_out(ailsa, way.id, house.now)
    with pytest.raises(Refused) as fault:
        ways.try_out(ailsa, way.id, house.now)
    assert fault.value.code == "throttled"

    def try_often() -> None:
        for _ in range(30):
            house.later(minutes=1)
            ways.try_out(ailsa, way.id, house.now)

    with pytest.raises(Refused) as fault:
        try_often()
    assert fault.value.again > 60


def test_a_trial_does_not_hide_since_when_a_way_fails(house: House, pager: Pager) -> None:
    way, ailsa = paged(house, pager), house.people["Ailsa"]
    pager.faults = [DeliveryError("no answer: connection refused", said=NO_ANSWER) for _ in range(2)]
    house.later(minutes=1)
    ways.try_out(ailsa, way.id, house.now)
    tell(house, pager)
    since = house.now
    house.later(hours=2)
    ways.try_out(ailsa, way.id, house.now)
    assert Way.get_by_id(way.id).failing_since == since
    tell(house, pager)
    assert (Way.get_by_id(way.id).failing_since, Way.get_by_id(way.id).fault) == (since, NO_ANSWER)
    house.later(hours=2)
    ways.try_out(ailsa, way.id, house.now)
    assert said(house, pager) == ["A trial message"]
    assert Way.get_by_id(way.id).failing_since is None


def test_its_owner_reads_a_sentence_and_keepers_the_reason(house: House, pager: Pager) -> None:
    way = paged(house, pager)
    pager.faults = [answered(404, permanent=True)]
    house.later(minutes=1)
    ways.try_out(house.people["Ailsa"], way.id, house.now)
    tell(house, pager)
    assert Way.get_by_id(way.id).fault == "there is no such address"
    assert "the answer was 404" in Outbox.select().order_by(Outbox.id.desc()).get().note

"""What a newcomer finds on his own machine."""

from __future__ import annotations

import dataclasses

import pytest
from house import House

from server import accounts, archive, audit, clock, db, home, log, seeding, talk
from server.models import Match, Outbox, User
from server.settings import Settings


def fill() -> None:
    """Leave the database as the command `seed` leaves it."""
    with db.transaction():
        User.delete().execute()
    assert seeding.fill() is True


@pytest.fixture
def demo(cottage: House) -> House:
    """A house with the demo people in it and nobody else."""
    fill()
    return cottage


def test_the_demo_shows_every_state_of_a_match(house: House) -> None:
    fill()
    states = {match.status for match in Match.select()}
    assert states == {"open", "running", "finished"}
    for number in audit.running_or_over():
        assert audit.verify(number) == []
    kept = archive.find().matches
    assert {match.game for match in kept} == {"clans", "glory"}
    assert all(archive.export(match)["result"] for match in kept)
    running = [match for match in map(log.get, audit.running_or_over()) if match.status == "running"]
    assert all(match.deadline > clock.now() for match in running), "nobody runs out of time while he looks around"
    assert any(talk.lines(match) for match in running)


def test_everybody_of_the_demo_can_sign_in_and_has_something_waiting(demo: House) -> None:
    plan = seeding._demo()
    for person in plan["people"]:
        user = accounts.sign_in(person["name"], plan["password"], source="here", now=clock.now())
        assert user.reachable
        assert home.items(user, clock.now()) or home.tables(user)
    assert sum(home.waiting(accounts.by_name(person["name"])) for person in plan["people"]) >= 2


def test_the_mails_of_a_past_that_never_was_are_not_sent(demo: House) -> None:
    queued = list(Outbox.select().where((Outbox.state == "queued") & Outbox.match.is_null(False)))
    assert sorted(mail.user.name for mail in queued) == ["Ailsa", "Ailsa", "Ailsa", "Catrin"]
    assert all(mail.kind == "turn" and mail.asked == mail.match.asked for mail in queued)


def test_a_house_with_people_in_it_is_left_alone(cottage: House) -> None:
    assert seeding.fill() is False
    assert not Match.select().exists()


def test_the_way_in_is_told_in_development_only(cottage: House) -> None:
    assert seeding.hint(cottage.settings) == ""
    own: Settings = dataclasses.replace(cottage.settings, development=True)
    hint = seeding.hint(own)
    assert "Ailsa" in hint
    assert f"mail lands in {own.public_url}/mailbox" in hint
    assert seeding._demo()["password"] in hint

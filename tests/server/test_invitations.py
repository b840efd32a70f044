"""What waits for somebody besides his turns: invitations to known addresses, and ends that he has not looked at."""

from __future__ import annotations

import pytest
from house import House

from server import accounts, beats, home, lobby, log, seating
from server.errors import Refused
from server.models import Match


def invited(house: House, *, seats: int = 3) -> Match:
    """Return a table of Ailsa's to which she has invited Bran by his address."""
    table = house.table("Ailsa", seats=seats, invited_only=True)
    lobby.invite(table.id, house.people["Ailsa"], "Bran@example.org", house.now)
    return table


def counted(house: House, name: str) -> int:
    """Return how much waits for somebody, as pages say it and as open pages hear it."""
    user = house.people[name]
    assert beats.beat(None, user)["waiting"] == home.waiting(user)
    return home.waiting(user)


def test_an_invitation_waits_for_whose_address_it_was_sent_to(house: House) -> None:
    table = invited(house)
    bran = house.people["Bran"]
    assert home.invitations(bran) == [table]
    assert home.invitations(house.people["Ailsa"]) == home.invitations(house.people["Catrin"]) == []
    assert [counted(house, name) for name in ("Ailsa", "Bran", "Catrin")] == [0, 1, 0]
    lobby.join(table.id, bran, now=house.now)
    assert home.invitations(bran) == []
    lobby.leave(table.id, bran)
    assert home.invitations(bran) == [table]


def test_an_invitation_is_declined_and_then_gone(house: House) -> None:
    table = invited(house)
    bran = house.people["Bran"]
    assert lobby.may_see(table, bran)
    lobby.leave(table.id, bran)
    assert counted(house, "Bran") == 0
    assert not lobby.may_see(log.get(table.id), bran)
    with pytest.raises(Refused, match="no such match"):
        lobby.leave(table.id, bran)
    assert log.get(table.id).status == "open"


def test_an_invitation_that_cannot_be_taken_up_does_not_wait(house: House) -> None:
    table = invited(house, seats=2)
    token = lobby.invitation(table.id, house.people["Ailsa"], house.now)
    lobby.join(table.id, house.people["Catrin"], invitation=token, now=house.now)
    closed = invited(house)
    lobby.leave(closed.id, house.people["Ailsa"])
    assert counted(house, "Bran") == 0


def test_an_address_that_wants_no_invitations_gets_none(house: House) -> None:
    accounts.refuse_invitations("bran@example.org", house.now)
    invited(house)
    assert counted(house, "Bran") == 0


def test_an_address_that_nobody_has_confirmed_opens_no_table(house: House) -> None:
    house.people["Bran"] = house.person("Brann", email="b@example.org", email_key="b@example.org", confirmed_at=None)
    table = house.table("Ailsa", seats=3, invited_only=True)
    lobby.invite(table.id, house.people["Ailsa"], "b@example.org", house.now)
    assert counted(house, "Bran") == 0


def test_an_end_waits_until_it_is_looked_at(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    turns = [home.waiting(house.people[name]) for name in ("Ailsa", "Bran")]
    assert sorted(turns) == [0, 1]
    seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    assert [counted(house, name) for name in ("Ailsa", "Bran")] == [1, 1]
    home.visit(log.get(match.id), house.people["Bran"], house.now)
    assert [counted(house, name) for name in ("Ailsa", "Bran")] == [1, 0]

"""What the tests of other ways than mail share: a service that keeps what it is handed, and people told by it."""

from __future__ import annotations

from collections.abc import Mapping

from clockwork import awaited
from house import House

from server import briefs, tidings, ways
from server.channels import Brief, DeliveryError, Kind
from server.models import Way


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

"""What the tests of docs/expectations.md share: one house and server for a file, and people of their own for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import flask
from house import PEOPLE, RECORDS, House, house_settings
from people import DESKTOP, Person
from playwright.sync_api import Browser, Page, expect

from server import clock, create_app, letters, log, outbox, story
from server.channels.email.local import LocalMailbox, OpenMail
from server.models import Match, Outbox, User
from tools import hosting

STILL: dict[str, Any] = {**DESKTOP, "reduced_motion": "reduce"}
# A position of each game in which something has happened, and whose next move in the record does something.
POSITIONS = (("clans-06", 9), ("glory-01", 8))


class Stage:
    """A house, its server and the browser. Every test brings people of its own, so none sees what another did."""

    def __init__(self, house: House, app: flask.Flask, browser: Browser, axe: str) -> None:
        self.house, self.app, self.browser, self.axe = house, app, browser, axe
        self._numbers = count(1)
        self._windows: list[Person] = []
        self._read: set[str] = set()

    def cast(self, size: int = 2, **fields: object) -> list[User]:
        """Return people who have just come, with these fields of `User`."""
        number = next(self._numbers)
        found = [self.house.person(f"{name}{number}", **fields) for name in PEOPLE[:size]]
        self.house.people |= {user.name: user for user in found}
        return found

    def come(self, user: User | None = None, **screen: Any) -> Person:
        """Open a window for a person who is signed in, or for a stranger; nothing moves in it unless wished."""
        person = Person(self.house, self.browser, self.axe, user.name if user else "", **(screen or STILL))
        if user:
            person.context.add_cookies([hosting.badge(self.app, self.house.site, User.get_by_id(user.id))])
        self._windows.append(person)
        return person

    def leave(self) -> list[str]:
        """Close all windows; return what was seen in them that nobody should see.

        Mails that nobody has waited for are not written.
        """
        Outbox.delete().where(Outbox.state == "queued").execute()
        windows, self._windows = self._windows, []
        for person in windows:
            person.leave()
        return [fault for person in windows for fault in person.faults]

    def recorded(self, record: str, moves: int, people: list[User] | None = None, **terms: object) -> Match:
        """Return a running match after so many moves of a record, played by people who have just come."""
        found = json.loads((RECORDS / f"{record}.json").read_text(encoding="utf-8"))
        names = [user.name for user in people or self.cast(len(found["players"]))]
        given = {"setup": found["setup"], "game": found["game"], "options": found["options"], **terms}
        match = self.house.started(*names, **given)
        for row in found["log"][:moves]:
            self.house.move(match, row["text"])
        return log.get(match.id)

    def turn_of(self, user: User, other: User, **terms: object) -> Match:
        """Return a match of two in which both have moved, and the user is awaited after a move of the other."""
        match = self.house.begun(user.name, other.name, **terms)
        while self.awaited(match) != user:
            self.house.move(match)
        return log.get(match.id)

    def awaited(self, match: Match) -> User:
        """Return who is to move."""
        user: User = log.places(match)[self.house.played(match).position.to_act[0]].user
        return user

    def told(self, match: Match, user: User, after: int = 0) -> list[story.Line]:
        """Return the rows of the log after one, as the user may read them."""
        seats = log.places(match)
        seat = log.own_number(match, user)
        return story.lines(self.house.played(match), story.names(seats), seat, after, zone=user.zone)

    def mailbox(self) -> LocalMailbox:
        """Return the mailbox that takes the place of the world's."""
        channel = outbox.open_channel(self.house.settings)
        assert isinstance(channel, LocalMailbox)
        return channel

    def post(self, user: User, now: datetime | None = None) -> list[OpenMail]:
        """Let the postman come, and return what is new for the user, oldest first."""
        mailbox = self.mailbox()
        outbox.deliver_due(mailbox, letters.writer(self.house.settings), lambda: now or clock.now())
        new = [one.key for one in mailbox.messages() if user.email in one.to and one.key not in self._read]
        self._read |= set(new)
        return [mailbox.read(key) for key in reversed(new)]

    def key(self, mail: OpenMail) -> str:
        """Return the key by which the mailbox's page shows a mail."""
        mailbox = self.mailbox()
        same = mail.header("Message-ID")
        return next(one.key for one in mailbox.messages() if mailbox.read(one.key).header("Message-ID") == same)


@contextmanager
def opened(folder: Path, browser: Browser, axe: str) -> Iterator[Stage]:
    """Yield a stage on the empty database in a folder, which the caller has taken into use."""
    chosen = house_settings(f"sqlite:///{folder / 'clachan.db'}", folder, DEVELOPMENT="1", WEBHOOK_LOOPBACK="1")
    house = House(chosen)
    house.now = clock.now()
    app = create_app(chosen)
    with hosting.served(app) as site:
        house.site = site
        yield Stage(house, app, browser, axe)


def flat(mail: OpenMail) -> str:
    """Return the text of a mail as one line."""
    return " ".join(mail.text.split())


def texts(page: Page, places: str) -> list[str]:
    """Return the words in each of some elements, with single spaces."""
    return [" ".join(text.split()) for text in page.locator(places).all_text_contents()]


def written(person: Person, text: str) -> None:
    """Write a move into its field and look at what it would do."""
    person.page.locator("#write-move").fill(text)
    person.page.locator("#write").get_by_role("button").click()


def looked_at(person: Person, text: str) -> None:
    """Wait until a move is shown that can be confirmed."""
    expect(person.page.locator("#trial-text")).to_have_text(text)
    expect(person.page.locator("#confirm-button")).to_be_enabled()

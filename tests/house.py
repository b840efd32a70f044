"""A house with people in it, for tests to play with."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engine import games
from server import bots, db, letters, lobby, log, outbox, play, settings
from server.channels import DeliveryError, Message
from server.log import Played
from server.models import Match, Outbox, User

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DAY = 86400
RECORDS = Path(__file__).parent / "records"
PEOPLE = ("Ailsa", "Bran", "Catrin", "Dugald")


def house_settings(url: str, data: Path, **more: str) -> settings.Settings:
    """Return the settings of a house on that database; `more` are further variables without their prefix."""
    given = {"DATA": str(data), "DATABASE": url, "SECRET_KEY": "only for the tests, and long enough for a key"}
    given |= {"MAIL_IN": "pipe", "BACKUPS_DAILY": "0", **more}
    return settings.load({f"CLACHAN_{name}": value for name, value in given.items()})


class Pigeonhole:
    """A channel that keeps what it is handed; `faults` are raised first, one for each message, None for none."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.faults: list[DeliveryError | None] = []

    def deliver(self, message: Message) -> None:
        """Keep the message, or raise the next fault."""
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault
        self.messages.append(message)

    def close(self) -> None:
        """Nothing to let go of."""


class Musing:
    """A thinker without processes: whatever it is given it does at once."""

    count = 1

    def submit(self, function: Callable[..., Any], *given: Any) -> Future[Any]:
        """Carry the function out, and return its future."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*given))
        except Exception as fault:  # noqa: BLE001 - as a process would
            future.set_exception(fault)
        return future

    def stop(self) -> None:
        """Nothing to let go of."""


class House:
    """Services around four people. `now` is the house's clock."""

    def __init__(self, chosen: settings.Settings) -> None:
        self.settings = chosen
        self.now = START
        self.post = Pigeonhole()
        self.thinkers = Musing()
        self.people = {name: self.person(name) for name in PEOPLE}

    def person(self, name: str, **fields: object) -> User:
        """Make a person with a confirmed address; without the cost of hashing a password."""
        with db.transaction():
            return User.create(
                **{
                    "name": name,
                    "name_key": name.casefold(),
                    "email": f"{name.casefold()}@example.org",
                    "email_key": f"{name.casefold()}@example.org",
                    "confirmed_at": START,
                    "session_key": secrets.token_hex(16),
                    "created_at": START,
                    **fields,
                }
            )

    def later(self, **span: float) -> datetime:
        """Turn the clock on and return the new time."""
        self.now += timedelta(**span)
        return self.now

    def table(
        self, *names: str, seats: int | None = None, pace: int = DAY, game: str = "clans", **terms: object
    ) -> Match:
        """Open a table by the first name and seat the others; seats go by order of joining."""
        given = {"seating": "join", "options": {}, "clock": {"move": pace}, **terms}
        match = lobby.open_table(self.people[names[0]], lobby.Terms(game, seats or len(names), **given), self.now)
        for name in names[1:]:
            lobby.join(match.id, self.people[name], now=self.now)
        return log.get(match.id)

    def started(self, *names: str, setup: object = None, game: str = "clans", **terms: object) -> Match:
        """Return a running match of these people, with seats in this order and, if given, this setup."""
        if setup is None:
            return self.table(*names, game=game, **terms)
        rules = type(games.game(game))
        deal = rules.deal
        try:
            rules.deal = lambda *_: setup  # the table deals the setup of a record
            return self.table(*names, game=game, **terms)
        finally:
            rules.deal = deal

    def begun(self, *names: str, **terms: object) -> Match:
        """Return a running match in which everybody has made a first move."""
        match = self.started(*names, **terms)
        for _ in names:
            self.move(match)
        return log.get(match.id)

    def played(self, match: Match) -> Played:
        """Return the match as its log tells it now."""
        return log.read(log.get(match.id))

    def move(self, match: Match, text: str | None = None, *, via: str = "web", key: str | None = None) -> play.Done:
        """Make a move, the given or the first legal one, for whoever is awaited."""
        played = self.played(match)
        seat = played.position.to_act[0]
        by = log.places(match)[seat].user
        text = text or played.view(seat).moves[0]
        return play.submit(match.id, seat, text, played.position.asked[seat], by, via, now=self.now, key=key)

    def bots(self) -> int:
        """Have the bots that are awaited move; return how many moves they made."""
        return bots.run(self.thinkers, lambda: self.now)

    def finish(self, match: Match, texts: Sequence[str] = ()) -> Match:
        """Play to the end: the given moves, then first legal ones."""
        moves = list(texts)
        while self.played(match).outcome is None:
            self.later(minutes=10)
            self.move(match, moves.pop(0) if moves else None)
        return log.get(match.id)

    def recorded(self, name: str) -> tuple[Match, dict[str, Any]]:
        """Play a record of `tests/records` to its end, ten minutes a move; return the match and the record."""
        found = json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
        for person in set(found["players"]) - set(self.people):
            self.people[person] = self.person(person)
        match = self.started(*found["players"], setup=found["setup"], game=found["game"], options=found["options"])
        return self.finish(match, [row["text"] for row in found["log"]]), found

    def mail(self) -> list[Message]:
        """Send what is due and return what has just left."""
        before = len(self.post.messages)
        outbox.deliver_due(self.post, letters.writer(self.settings), lambda: self.now)
        return self.post.messages[before:]

    def queued(self, **fields: object) -> list[Outbox]:
        """Return queued mails with these fields, oldest first."""
        query = Outbox.select().where(Outbox.state == "queued").order_by(Outbox.id)
        return [mail for mail in query if all(getattr(mail, name) == value for name, value in fields.items())]

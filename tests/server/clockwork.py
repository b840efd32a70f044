"""What the tests of clocks share: a scheduler's ticks, rows by kind, and a game in which several move at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import pytest
from house import House

from engine import games
from engine.base import IllegalMove, InvalidMove, Outcome, Phrase, Tally, View, Who
from server import db, deadlines, log, outages, votes
from server.models import Job, Match, Outbox, User

HOUR, DAY = 3600, 86400


def tick(house: House) -> int:
    """Do the regular work on matches once, in the order of the scheduler; return how many ran out of time."""
    outages.beat(house.now)
    outages.give_back(house.now)
    moved = deadlines.run(lambda: house.now)
    deadlines.remind(house.now)
    house.bots()
    return moved


def ticks(house: House, *, until: datetime, every: timedelta = timedelta(minutes=5)) -> None:
    """Let time pass with a scheduler at work."""
    while house.now < until:
        house.now = min(until, house.now + every)
        tick(house)


def tick_at(house: House, until: datetime) -> int:
    """Turn the clock to an instant up to which a scheduler was at work and found nothing to do, and tick."""
    with db.transaction():
        Job.update(began_at=until).where(Job.name == outages.BEAT).execute()
    house.now = until
    return tick(house)


def kinds(house: House, match: Match, after: int = 0) -> list[str]:
    """Return the kinds of the rows numbered above `after`."""
    return [row.kind for row in house.played(match).rows[after:]]


def awaited(house: House, match: Match) -> tuple[int, User]:
    """Return the first awaited seat and who sits there."""
    seat = house.played(match).position.to_act[0]
    return seat, log.places(match)[seat].user


def sitting(match: Match, seat: int) -> User:
    """Return who sits in the seat."""
    return log.places(match)[seat].user


def others(match: Match, user: User) -> list[User]:
    """Return the other people at the table, in seat order."""
    return [seat.user for seat in log.places(match) if seat.user != user and not seat.user.bot]


def wish(user: User, **fields: object) -> User:
    """Change what is stored of a person and return him as he now is."""
    with db.transaction():
        User.update(**fields).where(User.id == user.id).execute()
    return User.get_by_id(user.id)


def reminders(match: Match) -> list[Outbox]:
    """Return all reminders of the match ever queued, oldest first."""
    mine = (Outbox.match == match) & (Outbox.kind == "reminder")
    return list(Outbox.select().where(mine).order_by(Outbox.id))


@dataclass(frozen=True, slots=True)
class State:
    """A position of `Rounds`: who is awaited, what all have said, how many rounds are left, who has no choice."""

    seats: int
    to_act: tuple[int, ...]
    left: int
    said: tuple[str, ...] = ()
    bound: tuple[int, ...] = ()

    def legal_moves(self, seat: int) -> Iterator[str]:
        """Yield the words the seat may say."""
        yield from ((("go",) if seat in self.bound else ("go", "look", "stay")) if seat in self.to_act else ())

    def apply(self, seat: int, move: str) -> State:
        """Return the position after a word."""
        if move not in self.legal_moves(seat):
            raise IllegalMove(f"You cannot say {move} now.")
        waiting = tuple(other for other in self.to_act if other != seat)
        left = self.left - (not waiting)
        anew = tuple(range(self.seats)) if left else ()
        return replace(self, to_act=waiting or anew, left=left, said=(*self.said, f"{seat}{move}"))

    def outcome(self) -> Outcome | None:
        """Return the end: all share the win."""
        return None if self.to_act else Outcome("over", (0,) * self.seats, tuple(range(self.seats)), {})

    def tally(self) -> Tally:
        """Return that nobody has anything."""
        return Tally((0,) * self.seats, {})


class Rounds:
    """A game in which all are awaited in each round and say a word; every method is described by `engine.base.Game`.

    A setup of `{"left": 3, "bound": [1]}` has three rounds, and seat 1 has no choice. To "look" uncovers something.
    """

    kind, title, rules, example = "rounds", "Rounds", 1, "go"
    seat_counts = range(2, 5)
    options = ()
    mind = None

    def deal(self, stream: Any, seats: int, options: Mapping[str, str]) -> Any:
        return {"left": 9, "bound": []}

    def begin(self, setup: Any, seats: int, options: Mapping[str, str]) -> State:
        return State(seats, tuple(range(seats)), setup["left"], (), tuple(setup["bound"]))

    def parse(self, state: State, seat: int, text: str) -> str:
        word = text.strip().lower()
        if word not in {"go", "look", "stay", "fly"}:
            raise InvalidMove("That is no word of this game.")
        state.apply(seat, word)
        return word

    def format(self, state: State, seat: int, move: str) -> str:
        return move

    def public_text(self, state: State, seat: int, move: str, viewer: int | None) -> str:
        return move

    def head(self, text: str) -> str:
        return text

    def words(self, state: State, seat: int, move: str, viewer: int | None) -> tuple[Phrase, ...]:
        return (Phrase("{who} said {word}.", {"who": Who(seat), "word": move}),)

    def touched(self, state: State, seat: int, move: str) -> tuple[str, ...]:
        return ()

    def place_name(self, place: str) -> str:
        return place

    def timeout_move(self, state: State, seat: int) -> str:
        return "go"

    def uncovers(self, state: State, seat: int, move: str) -> bool:
        return move == "look"

    def view(self, state: State, viewer: int | None, outcome: Outcome | None) -> View:
        to_act = () if outcome else state.to_act
        moves = tuple(state.legal_moves(viewer)) if viewer is not None and viewer in to_act else ()
        return View(self.kind, state.seats, viewer, to_act, moves, outcome, {"said": list(state.said)})

    def text(self, view: View, names: Sequence[str]) -> str:
        return " ".join(view.table["said"]) or "Nothing was said."

    def picture(self, view: View, marks: Sequence[str] = (), layer: str = "whole") -> str:
        return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" width="1" height="1"/>'


def say(house: House, match: Match, topic: str, *names: str) -> list[bool]:
    """Let people propose the same; return whether it was decided by each."""
    return [votes.vote(match.id, house.people[name], topic, "web", now=house.now) for name in names]


def with_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the game of rounds beside the others."""
    known = MappingProxyType({**games.games(), "rounds": Rounds()})
    monkeypatch.setattr(games, "games", lambda: known)

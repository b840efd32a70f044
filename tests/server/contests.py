"""What the tests of people and ratings share: a game with scores that is over in one round, and seasons of it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import clockwork
import pytest
from house import START, House

from engine import games
from engine.base import Outcome, Tally
from server import db, log, parts, play, ratings, seating
from server.models import Match, Pace, Part, Rating, Seat, User, Watermark

POINTS = {"stay": 0, "look": 1, "go": 2}


@dataclass(frozen=True, slots=True)
class State(clockwork.State):
    """A round in which everybody says a word that is worth points."""

    def outcome(self) -> Outcome | None:
        """Return the end: who has most points wins, equals share."""
        scores = self.tally().scores
        best = tuple(seat for seat, score in enumerate(scores) if score == max(scores))
        return None if self.to_act else Outcome("points", scores, best, {})

    def tally(self) -> Tally:
        """Return the points of all words."""
        scores = [0] * self.seats
        for said in self.said:
            scores[int(said[0])] += POINTS[said[1:]]
        return Tally(tuple(scores), {})


class Contest(clockwork.Rounds):
    """A game of one round for two to four; every method is described by `engine.base.Game`."""

    kind, title = "contest", "Contest"

    def deal(self, stream: Any, seats: int, options: Mapping[str, str]) -> Any:
        return {"left": 1, "bound": []}

    def begin(self, setup: Any, seats: int, options: Mapping[str, str]) -> State:
        return State(seats, tuple(range(seats)), setup["left"], (), tuple(setup["bound"]))


def with_contests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the game of one round beside the others, and a second one like it."""
    other = type("Other", (Contest,), {"kind": "quarrel", "title": "Quarrel"})
    known = MappingProxyType({**games.games(), "contest": Contest(), "quarrel": other()})
    monkeypatch.setattr(games, "games", lambda: known)


def say(house: House, match: Match, *words: str, minutes: float = 10) -> Match:
    """Let the seats, in their order, each say a word after some minutes; return the match as it then is."""
    for seat, word in enumerate(words):
        house.later(minutes=minutes)
        played = house.played(match)
        by = log.places(match)[seat].user
        play.submit(match.id, seat, word, played.position.asked[seat] or 0, by, "web", now=house.now)
    return log.get(match.id)


def fought(house: House, result: str, *words: str, **terms: object) -> Match:
    """Return a finished match of people named by their first letters, who said these words."""
    names = [name for letter in result for name in house.people if name[0] == letter]
    return say(house, house.started(*names, **{"game": "contest", **terms}), *words)


def season(house: House, count: int, seed: int) -> list[Match]:
    """Play so many matches at random: of both games, with ties, resignations, no-shows and unrated ones among them."""
    chance = random.Random(seed)
    ended = []
    for _ in range(count):
        names = chance.sample(list(house.people), chance.randint(2, 4))
        game = chance.choice(("contest", "contest", "quarrel"))
        match = house.started(*names, game=game, rated=chance.random() < 0.9)
        words = [chance.choice(list(POINTS)) for _ in names]
        if chance.random() < 0.3:
            say(house, match, *words[:-1], minutes=chance.randint(1, 300))
            gone = names[-1] if chance.random() < 0.5 else names[0]
            seating.resign(match.id, house.people[gone], "web", now=house.now)
            match = log.get(match.id)
        else:
            match = say(house, match, *words, minutes=chance.randint(1, 300))
        ended += [match] if match.status == "finished" else []
    house.later(minutes=5)
    return ended


def count(house: House, *, limit: int = 100) -> None:
    """Let a scheduler note and rate all that is to be."""
    while ratings.count_up(house.now + timedelta(minutes=2), limit):
        pass


def all_noted() -> dict[str, list[tuple[Any, ...]]]:
    """Return all that is noted of people, table by table."""
    tables = {"part": Part, "pace": Pace, "rating": Rating, "watermark": Watermark}
    return {name: sorted(table.select().tuples(), key=repr) for name, table in tables.items()}


def standing(house: House, game: str = "contest") -> dict[str, int]:
    """Return the ratings of the people in a game, by name."""
    found = Rating.select().where(Rating.game == game)
    return {name: rating.shown for rating in found for name, user in house.people.items() if user.id == rating.user_id}


def delete_everything_noted() -> None:
    """Forget the notes behind the back of the services, as if nothing had ever been counted."""
    with db.transaction():
        for table in (Part, Pace, Rating):
            table.delete().execute()
        Watermark.update(finished_at=None, match_id=0).execute()
        Match.update(counted=False).execute()


def ranks(match: Match, house: House) -> dict[str, int | None]:
    """Return how the people came out of a match, by name."""
    found = {part.user_id: part.rank for part in Part.select().where(Part.match == match)}
    return {name: found[user.id] for name, user in house.people.items() if user.id in found}


def crowd(house: House, matches: int, people: int, seed: int = 1) -> list[User]:
    """Put so many finished matches of so many people into the database, without logs; return the people, busiest first.

    They are noted but not rated yet.
    """
    chance = random.Random(seed)
    users = [house.person(f"Person {number}") for number in range(people)]
    weights = [1 / (1 + number / 8) for number in range(people)]
    first = (Match.select(Match.id).order_by(Match.id.desc()).limit(1).scalar() or 0) + 1
    rows: dict[Any, list[dict[str, Any]]] = {Match: [], Seat: [], Part: []}
    for number in range(first, first + matches):
        end = START + timedelta(minutes=60 * (number - first))
        game, length = chance.choice(("clans", "glory")), chance.randint(20, 160)
        table = list(dict.fromkeys(chance.choices(users, weights, k=chance.randint(3, 6))))[:4]
        if len(table) < 2:
            table = chance.sample(users, 2)
        scores = [chance.randint(10, 60) for _ in table]
        rows[Match].append(_ended(number, game, table, length, end))
        for seat, (user, score) in enumerate(zip(table, scores, strict=True)):
            won, rank = score == max(scores), 1 + sum(other > score for other in scores)
            fields = {"match": number, "user": user.id, "won": won}
            seated = {"owner": user.id, "number": seat, "score": score, "contribution": "x", "joined_at": START}
            rows[Seat].append(fields | seated | {"seen": length, "visited_at": None})
            noted = {"game": game, "finished_at": end, "seat": seat, "rank": rank, "pending": True}
            noted |= {"moves": length // len(table), "timeouts": 0, "lost": 0, "resigned": False}
            rows[Part].append(fields | noted | {"shared": won and scores.count(score) > 1})
    with db.transaction():
        for table_, inserted in rows.items():
            for start in range(0, len(inserted), 500):
                table_.insert_many(inserted[start : start + 500]).execute()
        for user in users:
            Pace.insert_many([_paces(user, month, chance) for month in range(202603, 202613)]).execute()
    house.now = START + timedelta(minutes=60 * matches)
    return users


def _ended(number: int, game: str, table: list[User], length: int, end: datetime) -> dict[str, Any]:
    return {
        "id": number,
        "game": game,
        "rules": 1,
        "options": {},
        "seats": len(table),
        "clock": {},
        "seating": "join",
        "autostart": True,
        "invited_only": False,
        "host": table[0].id,
        "created_at": START,
        "secret": b"x" * 32,
        "status": "finished",
        "started_at": START,
        "finished_at": end,
        "length": length,
        "reason": "the last epoch",
        "rated": True,
        "counted": True,
    }


def _paces(user: User, month: int, chance: random.Random) -> dict[str, Any]:
    counts = {
        str(parts.minutes(timedelta(minutes=chance.expovariate(1 / 600)))): chance.randint(1, 9) for _ in range(300)
    }
    return {"user": user.id, "month": month, "counts": counts}

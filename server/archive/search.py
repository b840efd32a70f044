"""Finding finished matches: by what they were, who sat there, and how and when they ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final

from engine.language import gettext as _
from server import accounts, log, story
from server.archive.guests import guest_key
from server.errors import Refused
from server.models import EPOCH, MILLISECOND, Match, Seat, User

PAGE: Final = 25
RESULTS: Final = ("won", "lost", "shared")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of finished matches, newest end first; `more` is the mark of the next page, empty on the last."""

    matches: tuple[Match, ...]
    more: str


@dataclass(frozen=True, slots=True)
class Player:
    """Who played in a finished match, as lists show him; `score` is None where the database has none."""

    name: str
    score: int | None
    won: bool


def find(
    *,
    game: str = "",
    player: str = "",
    opponent: str = "",
    result: str = "",
    reason: str = "",
    since: date | None = None,
    until: date | None = None,
    least: int | None = None,
    most: int | None = None,
    rated: bool | None = None,
    after: str = "",
    size: int | None = None,
) -> Page:
    """Return the finished matches that fit all that is asked.

    `player` and `opponent` are names of people who sat in different seats, from the start or later. `result` is one of
    `RESULTS` as the player sees it; only matches with several winners are `shared`. `since` and `until` are days (UTC)
    of the end, `least` and `most` numbers of steps. `after` is the `more` of the page before: pages never shift when
    matches end meanwhile; each has `size` matches, else `PAGE`. Raises `Refused` (bad-input).
    """
    query = Match.select().where(Match.listed())
    conditions = [
        (Match.game == game, game),
        (Match.reason == reason, reason),
        (Match.rated == rated, rated is not None),
        (Match.length >= least, least is not None),
        (Match.length <= most, most is not None),
        (Match.finished_at >= datetime.combine(since or date.min, time.min, UTC), since),
        (Match.finished_at <= datetime.combine(until or date.max, time.max, UTC), until),
    ]
    for condition, asked in conditions:
        query = query.where(condition) if asked else query
    people = [_people(name) for name in (player, opponent) if name]
    if result:
        _require_whose(result, player)
    if after:
        query = query.where(_behind(after))
    if not all(people):
        return Page((), "")
    if people or result:
        query = query.where(Match.id.in_(_seated(people, result)))
    return _page(query, size or PAGE)


def _page(query: Any, size: int) -> Page:
    """Return the first page of so many of what a query finds."""
    found = list(query.order_by(Match.finished_at.desc(), Match.id.desc()).limit(size + 1))
    last = found[size - 1] if len(found) > size else None
    more = f"{(last.finished_at - EPOCH) // MILLISECOND}-{last.id}" if last else ""
    return Page(tuple(found[:size]), more)


def reasons() -> list[str]:
    """Return every reason for which a match here has ended, in alphabetical order."""
    found: list[str] = []
    over = Match.listed() & (Match.reason != "")
    # From one to the next along the index: no look at every match that there is.
    while reason := (
        Match.select(Match.reason)
        .where(over & (Match.reason > found[-1] if found else over))
        .order_by(Match.reason)
        .limit(1)
        .scalar()
    ):
        found.append(reason)
    return found


def players(matches: Sequence[Match]) -> dict[int, list[Player]]:
    """Return who played in each of the matches, by its number, in seat order."""
    return {number: _players(places) for number, places in log.places_of(matches).items()}


def _players(places: Sequence[Seat]) -> list[Player]:
    called = story.names(places)
    return [Player(name, seat.score, seat.won) for name, seat in zip(called, places, strict=True)]


def _require_whose(result: str, player: str) -> None:
    if result not in RESULTS:
        raise Refused("bad-input", _("A match is won, lost or shared."))
    if result != "shared" and not player:
        raise Refused("bad-input", _("Whose result? Name the player who won or lost."))


def _people(name: str) -> list[int]:
    """Return the numbers of those who have the name: somebody here, and a guest."""
    key = accounts.name_key(name)
    return [user.id for user in User.select(User.id).where(User.name_key.in_([key, guest_key(key), f"*{key}"]))]


def _seated(people: Sequence[list[int]], result: str) -> Any:
    """Return the query for the numbers of the matches in which one of each sat, with that result for the first."""
    mine, other = Seat.alias(), Seat.alias()
    # Of nobody in particular: asked match by match, or the database would go through all seats there are.
    query = mine.select(mine.match).where(_held(mine, people[0]) if people else mine.match == Match.id)
    if len(people) > 1:
        query = query.join(other, on=(other.match == mine.match) & (other.id != mine.id)).where(_held(other, people[1]))
    return query.where(_ended(mine, result)) if result else query


def _held(seat: Any, people: list[int]) -> Any:
    """Return the condition that one of these people sat there, from the start or later."""
    return seat.owner.in_(people) | seat.user.in_(people)


def _ended(mine: Any, result: str) -> Any:
    """Return the condition that the match ended so for this seat."""
    rival = Seat.alias()
    winners = rival.select(rival.match).where((rival.match == mine.match) & (rival.id != mine.id) & rival.won)
    if result == "won":
        return mine.won & mine.match.not_in(winners)
    return (mine.won if result == "shared" else ~mine.won) & mine.match.in_(winners)


# Milliseconds and a number, neither larger than the database's.
_MARK: Final = re.compile("([0-9]{1,14})-([0-9]{1,9})")


def _behind(text: str) -> Any:
    """Return the condition that a match stands behind a mark in the order of the pages."""
    mark = _MARK.fullmatch(text)
    if not mark:
        raise Refused("bad-input", _("This page of the archive does not exist."))
    end, number = EPOCH + int(mark[1]) * MILLISECOND, int(mark[2])
    # The first half says nothing new, but lets the database begin there.
    return (Match.finished_at <= end) & ((Match.finished_at < end) | (Match.id < number))

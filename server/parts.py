"""What people did in finished matches: read off each log once, and noted so that no page has to replay them.

Ratings (`ratings`) and what is told of people (`people`) are made of these notes; docs/ratings.md says what they mean.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from engine.base import Outcome
from engine.replay import MOVE, NOT_BY_THE_PERSON, RESIGN, TAKEOVER, TIMEOUT, Row
from server import db, log
from server.errors import Refused
from server.log import Played
from server.models import Match, Pace, Part, Rating, Seat, User, Watermark

logger = logging.getLogger(__name__)

# The name of the one row that whoever notes or rates holds meanwhile.
MARK: Final = "ratings"
MINUTE: Final = timedelta(minutes=1)
# How long somebody thought is noted in minutes, from two hours on in tens of them, from two days on in hours.
STEPS: Final = ((2 * 24 * 60, 60), (2 * 60, 10))


@dataclass(slots=True)
class Deeds:
    """What one person did in one match. `thought` holds the time that each own move took, from being asked.

    `first` is for who sat there from the start, `stayed` for who sits there at the end and so has the result of the
    seat; `lost` is how often a bot took it without his resigning. `rank` is 1 for the best of the people; None for who
    made no move, in a match that was called off, and if nobody else made one.
    """

    seat: int
    user_id: int = 0
    first: bool = False
    stayed: bool = False
    rank: int | None = None
    thought: list[timedelta] = field(default_factory=list)
    timeouts: int = 0
    lost: int = 0
    resigned: bool = False


def note_finished(until: datetime, limit: int = 100) -> int:
    """Note what people did in matches that ended by the instant, each match once; return in how many.

    A match that cannot be replayed, or was not played here, counts for nobody. While somebody else is at this work it
    is left to him.
    """
    ended = Match.over() & (Match.counted == False) & (Match.finished_at <= until)  # noqa: E712
    noted = 0
    for match in list(Match.select().where(ended).order_by(Match.finished_at, Match.id).limit(limit)):
        # The log of a match that has ended never changes, so it is read before anything is held.
        if not _note(match, *_read(match)):
            break
        noted += 1
    return noted


def forget_all() -> None:
    """Forget all notes and ratings, so that they are made anew; the caller holds a transaction."""
    hold(wait=True)
    Match.update(counted=False).where(Match.counted == True).execute()  # noqa: E712
    for table in (Part, Pace, Rating):
        table.delete().execute()
    Watermark.update(finished_at=None, match_id=0).where(Watermark.name == MARK).execute()


def hold(*, wait: bool = False) -> Watermark | None:
    """Keep everybody else from noting and rating until the caller's transaction ends, and return the mark.

    None if somebody else is at it and the caller does not want to `wait`.
    """
    mark: Watermark | None = db.locked(Watermark.select().where(Watermark.name == MARK), skip=not wait).first()
    return mark


def told(played: Played, seats: Sequence[Seat]) -> list[Deeds]:
    """Return what people did in a finished match, as its log tells it: those who sat there first or sit there last."""
    walk = _Walk(played, seats)
    people = []
    for place, first, last in zip(seats, walk.first, walk.sitting, strict=True):
        if first is not None:
            first.user_id, first.first, first.stayed = place.owner_id, True, last is first
            people.append(first)
        if last is not None and last is not first:
            last.user_id, last.stayed = place.user_id, True
            people.append(last)
    if played.outcome:
        _rank(people, played.outcome)
    return people


class _Walk:
    """A match gone through row by row: who sat in each seat first and last, None for a bot, and what they did."""

    def __init__(self, played: Played, seats: Sequence[Seat]) -> None:
        self.played = played
        self.first = [None if place.owner.bot else Deeds(number) for number, place in enumerate(seats)]
        self.sitting = list(self.first)
        self.since = [0] * len(seats)
        # A takeover names a person as row 0 does; in a record from elsewhere that is not as the seats do.
        people = played.head.get("people") or [0] * len(seats)
        self.known = {(seat, f"person:{people[seat]}"): deeds for seat, deeds in enumerate(self.first)}
        for row in played.rows:
            if row.seat is not None:
                self._take(row, row.seat, self.sitting[row.seat])

    def _take(self, row: Row, seat: int, person: Deeds | None) -> None:
        if row.kind == TAKEOVER:
            self._takeover(row, seat, person)
        elif person is None:
            return
        elif row.kind == MOVE and row.via not in NOT_BY_THE_PERSON:
            person.thought.append(self._thought(row, seat))
        elif row.kind == TIMEOUT:
            person.timeouts += 1
        elif row.kind == RESIGN:
            # At a table where being out of time loses, the clock resigns for him.
            person.resigned = row.via != "clock"
            person.lost += not person.resigned
            self.sitting[seat] = None

    def _takeover(self, row: Row, seat: int, person: Deeds | None) -> None:
        if row.text.startswith("person:"):
            self.sitting[seat] = self.known.setdefault((seat, row.text), Deeds(seat))
            self.since[seat] = row.seq
        else:
            if person is not None:
                person.lost += 1
            self.sitting[seat] = None

    def _thought(self, row: Row, seat: int) -> timedelta:
        asked = max(self.played.positions[row.seq - 1].asked[seat] or 0, self.since[seat])
        start = self.played.rows[asked - 1] if asked else self.played.setup_row
        return log.instant(row.at) - log.instant(start.at)


def _rank(people: Sequence[Deeds], outcome: Outcome) -> None:
    """Rank who has made a move: the winners, the others by their scores, those who did not stay; equals share."""
    counting = [person for person in people if person.thought]
    if not outcome.winners or len(counting) < 2:
        return
    order = [_order(person, outcome) for person in counting]
    for person, own in zip(counting, order, strict=True):
        person.rank = 1 + sum(other < own for other in order)


def _order(person: Deeds, outcome: Outcome) -> tuple[int, int]:
    if not person.stayed:
        return 2, 0
    return (0, 0) if person.seat in outcome.winners else (1, -outcome.scores[person.seat])


def _read(match: Match) -> tuple[list[Deeds], Sequence[int]]:
    """Return what people did in a match, and the seats that won; nothing if it counts for nobody."""
    if match.imported_at:
        return [], ()
    try:
        played = log.read(match)
    except Refused as fault:
        logger.warning("match %s counts for nobody: %s", match.id, fault.sentence)
        return [], ()
    return told(played, log.places(match)), played.outcome.winners if played.outcome else ()


def _note(match: Match, people: Sequence[Deeds], winners: Sequence[int]) -> bool:
    """Store what people did, if nobody else has; return False while somebody else is at this work."""
    rated = [person for person in people if match.rated and person.first and person.rank]
    with db.transaction():
        if hold() is None:
            return False
        fresh = (Match.id == match.id) & (Match.counted == False)  # noqa: E712
        if Match.update(counted=True).where(fresh).execute():
            _file(match)
            for person in people:
                _store(match, person, winners, pending=person in rated and len(rated) > 1)
    return True


def _file(match: Match) -> None:
    """Let the seats in which nobody sat who could look at the end wait for that no more."""
    there = User.id.in_([Seat.user, Seat.owner]) & (User.bot == "") & User.deleted_at.is_null()
    somebody = User.select(User.id).where(there)
    nobodys = (Seat.match == match) & Seat.user.not_in(somebody) & Seat.owner.not_in(somebody)
    Seat.update(ended_at=match.finished_at).where(nobodys).execute()


def _store(match: Match, person: Deeds, winners: Sequence[int], *, pending: bool) -> None:
    won = bool(person.rank) and person.stayed and person.seat in winners
    Part.insert(
        match=match,
        user=person.user_id,
        game=match.game,
        finished_at=match.finished_at,
        seat=person.seat,
        rank=person.rank,
        won=won,
        shared=won and len(winners) > 1,
        moves=len(person.thought),
        timeouts=person.timeouts,
        lost=person.lost,
        resigned=person.resigned,
        pending=pending,
    ).execute()
    if person.thought and match.finished_at:
        _add(person, month(match.finished_at))


def month(instant: datetime) -> int:
    """Return the month of an instant as the database numbers it: 202611."""
    return instant.year * 100 + instant.month


def _add(person: Deeds, when: int) -> None:
    """Add how long a person thought to what is noted of a month."""
    mine = (Pace.user == person.user_id) & (Pace.month == when)
    before = Pace.get_or_none(mine)
    counts = Counter(map(minutes, person.thought)) + Counter(
        {int(length): count for length, count in (before.counts if before else {}).items()}
    )
    fields = {str(length): counts[length] for length in sorted(counts)}
    if before:
        Pace.update(counts=fields).where(mine).execute()
    else:
        Pace.insert(user=person.user_id, month=when, counts=fields).execute()


def minutes(length: timedelta) -> int:
    """Return a length of time in minutes, as coarsely as it is noted."""
    whole = max(0, length // MINUTE)
    step = next((step for least, step in STEPS if whole >= least), 1)
    return whole - whole % step

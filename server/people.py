"""What is told of people: since when they are here, how they play and against whom, and whether one can rely on them.

All of it is made of finished matches, by the notes of `parts`; of running ones only their number is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from engine import games
from engine.language import gettext as _
from server import accounts, db, home, parts, ratings
from server.archive import guests
from server.errors import Refused
from server.models import Match, Pace, Part, Rating, Seat, User, total

PAGE: Final = 25
# Of a rating's history so many matches are shown, and so many opponents until all are asked for.
HISTORY: Final = 40
OPPONENTS: Final = 10
YEAR_MONTHS: Final = 12


@dataclass(frozen=True, slots=True)
class Step:
    """A person's rating after one match and by how much it changed; `rank` among `people`, of whom 1 is the best."""

    match_id: int
    finished_at: datetime
    rank: int
    people: int
    shown: int
    change: int


@dataclass(frozen=True, slots=True)
class Record:
    """How a person plays one game: matches that count, those won alone, and those won with others.

    `rating` is None before the first rated match, `place` his on the ladder, None if he is not on it. `history` is
    oldest first, the last `HISTORY` matches at most.
    """

    game: str
    played: int
    won: int
    shared: int
    rating: Rating | None
    place: int | None
    history: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Reliability:
    """Facts about a person's moves in finished matches; `median` is the time that half of them took at most."""

    median: timedelta | None
    moves: int
    timeouts: int
    resigned: int
    lost: int


@dataclass(frozen=True, slots=True)
class Meeting:
    """How a person came out in the matches with another: before him, behind him, or level with him."""

    user: User
    met: int
    won: int
    lost: int
    shared: int


@dataclass(frozen=True, slots=True)
class Profile:
    """What everybody may know of a person. `year` is about the twelve months until now, whole months from their first
    day, which begin at `since`; `meetings` begin with that of the viewer, then most frequent first."""

    running: int
    finished: int
    records: tuple[Record, ...]
    since: datetime
    year: Reliability
    ever: Reliability
    meetings: tuple[Meeting, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a person's finished matches, newest end first; `more` is the mark of the next, None on the last."""

    matches: tuple[Match, ...]
    more: int | None


def find(name: str) -> User:
    """Return the person, the bot, or whom only a record names, of that name in any case. Raises `Refused` (not-found).

    Who has not confirmed his address is nobody yet.
    """
    key = accounts.name_key(name)
    starred = guests.guest_key(key) if key.endswith(guests.STAR) else key
    found = User.get_or_none(User.name_key == starred) or User.get_or_none(
        (User.name_key == f"*{key}") & (User.bot != "")
    )
    if found is None or not (found.confirmed_at or found.deleted_at or found.bot):
        raise Refused("not-found", _("There is nobody of that name."))
    return found


def profile(user: User, viewer: User | None, now: datetime) -> Profile:
    """Return what everybody may know of a person; a viewer who wants to watch how a match ended is not told here."""
    since = _year_before(now)
    sums = _sums(user, since)
    return Profile(
        running=_seats((Seat.user == user) & Seat.ended_at.is_null(), "running").count(),
        finished=_seats((Seat.user == user) | (Seat.owner == user), "finished").count(),
        records=tuple(_record(user, each, viewer, now) for each in sums if each.played),
        since=since,
        year=_reliability(user, [each.year for each in sums], parts.month(since)),
        ever=_reliability(user, [each.ever for each in sums], 0),
        meetings=tuple(_meetings(user, viewer)),
    )


def finished_count(user: User) -> int:
    """Return in how many finished matches that lists show a person or bot sat first or last."""
    own = Seat.select(Seat.match).where((Seat.owner == user) | (Seat.user == user))
    return int(Match.select().where(Match.listed() & Match.id.in_(own)).count())


def finished(user: User, after: int = 0, size: int | None = None) -> Page:
    """Return finished matches in which a person sat first or last, also those that count for nobody.

    `after` is the `more` of the page before: pages never shift when matches end meanwhile. Each has `size` matches,
    else `PAGE`.
    """
    size = size or PAGE
    last = Match.get_or_none((Match.id == after) & (Match.status == "finished")) if after else None
    found = home.latest(user, size + 1, Match.listed(), last)
    return Page(tuple(found[:size]), found[size - 1].id if len(found) > size else None)


class _Sums(NamedTuple):
    """What is added up of a person in one game; `year` and `ever` are moves, time-outs, resignations, lost seats."""

    game: str
    played: int
    won: int
    shared: int
    year: tuple[int, ...]
    ever: tuple[int, ...]


def _sums(user: User, since: datetime) -> list[_Sums]:
    """Return a person's sums, game by game in the order of the games here."""
    counts, recent = Part.rank.is_null(False), Part.finished_at >= since
    won, shared, resigned = Part.won == True, Part.shared == True, Part.resigned == True  # noqa: E712
    query = Part.select(
        Part.game,
        *(total(1, counts), total(1, won & ~shared), total(1, shared)),
        *(
            total(Part.moves, recent),
            total(Part.timeouts, recent),
            total(1, resigned & recent),
            total(Part.lost, recent),
        ),
        *(total(Part.moves), total(Part.timeouts), total(1, resigned), total(Part.lost)),
    )
    rows: list[Any] = list(query.where(Part.user == user).group_by(Part.game).tuples())
    found = []
    for game, *numbers in rows:
        played, won_alone, won_shared, *facts = (int(number or 0) for number in numbers)
        found.append(_Sums(game, played, won_alone, won_shared, tuple(facts[:4]), tuple(facts[4:])))
    known = list(games.games())
    return sorted(found, key=lambda sums: (known.index(sums.game) if sums.game in known else len(known), sums.game))


def _record(user: User, sums: _Sums, viewer: User | None, now: datetime) -> Record:
    rating = ratings.rating(user, sums.game)
    place = ratings.place(user, sums.game, now) if rating else None
    steps = _watched(_history(user, sums.game), viewer) if rating else ()
    return Record(sums.game, sums.played, sums.won, sums.shared, rating, place, tuple(steps))


def _watched(steps: Sequence[Step], viewer: User | None) -> list[Step]:
    """Leave out the matches whose end is kept back from the viewer."""
    kept = home.kept(viewer, list(Match.select().where(Match.id.in_([step.match_id for step in steps]))))
    return [step for step in steps if step.match_id not in kept]


def _history(user: User, game: str) -> list[Step]:
    """Return the last steps of a person's rating, oldest first."""
    mine = (Part.user == user) & (Part.game == game) & Part.mu.is_null(False)
    latest = Part.select().where(mine).order_by(Part.finished_at.desc(), Part.match.desc()).limit(HISTORY + 1)
    found: list[Any] = list(latest)[::-1]
    before = [ratings.NEWCOMER.shown, *(part.shown for part in found)]
    counting = Part.match.in_([part.match_id for part in found]) & Part.rank.is_null(False)
    counted: list[Any] = list(Part.select(Part.match, db.count_all()).where(counting).group_by(Part.match).tuples())
    people = dict(counted)
    steps = [
        Step(part.match_id, part.finished_at, part.rank, people[part.match_id], part.shown, part.shown - old)
        for part, old in zip(found, before, strict=False)
    ]
    return steps[-HISTORY:]


def _seats(whose: Any, status: str) -> Any:
    """Return the query for seats in matches of a status."""
    return Seat.select(Seat.match).join(Match).where(whose & (Match.status == status))


def _year_before(now: datetime) -> datetime:
    """Return the first day of the twelve months that end with this one."""
    year, month = divmod(now.year * 12 + now.month - YEAR_MONTHS, 12)
    return datetime(year, month + 1, 1, tzinfo=UTC)


def _reliability(user: User, sums: Sequence[Sequence[int]], month: int) -> Reliability:
    """Return what is known of a person's moves from a month on, of which these are the sums by game."""
    lengths: Counter[int] = Counter()
    for pace in Pace.select().where((Pace.user == user) & (Pace.month >= month)):
        for length, count in (pace.counts or {}).items():
            lengths[int(length)] += count
    moves, timeouts, resigned, lost = (sum(column) for column in zip((0, 0, 0, 0), *sums, strict=True))
    return Reliability(_median(lengths), moves, timeouts, resigned, lost)


def _median(lengths: Counter[int]) -> timedelta | None:
    """Return the middle one of so many lengths in minutes, of two the shorter; None if there are none."""
    left = (lengths.total() + 1) // 2
    for length in sorted(lengths):
        left -= lengths[length]
        if left <= 0:
            return timedelta(minutes=length)
    return None


def _meetings(user: User, viewer: User | None) -> list[Meeting]:
    """Return how a person came out against each other, the viewer first, then who was met most."""
    mine, other = Part.alias(), Part.alias()
    both = (mine.user == user) & (other.user != user) & (mine.seat != other.seat)
    counts = both & mine.rank.is_null(False) & other.rank.is_null(False)
    query = mine.select(
        other.user,
        *(total(1, mine.rank < other.rank), total(1, mine.rank > other.rank), total(1, mine.rank == other.rank)),
    ).join(other, on=(other.match == mine.match))
    rows: list[Any] = list(query.where(counts).group_by(other.user).tuples())
    found = {number: [int(count) for count in sums] for number, *sums in rows}
    people = User.select().where(User.id.in_(list(found)))
    meetings = [Meeting(each, sum(found[each.id]), *found[each.id]) for each in people]
    return sorted(meetings, key=lambda meeting: (meeting.user != viewer, -meeting.met, meeting.user.name_key))

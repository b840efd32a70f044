"""What waits for a person: matches in the order of the time left, tables, and what has ended."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from engine import games
from server import db, dials, log, notes, seating, story
from server.dials import Dial
from server.errors import Refused
from server.log import Played
from server.models import Invited, Match, Seat, User
from server.models.statements import Sized, Statement, at_least, slots

# A second look within this time is not worth a write.
VISIT: Final = timedelta(seconds=30)
# So many ends that a person has not looked at are counted, and so many shown: who plays by mail alone looks at none.
MOST_ENDS: Final = 99
SHOWN_ENDS: Final = 20
# Rows about people and clocks that say nothing of how the match goes.
QUIET: Final = frozenset({"hours", "vacation", "outage"})
# Least time left first, then matches without a limit: left to themselves, the databases put these at different ends.
_BY_TIME: Final = (Match.deadline.asc(nulls="last"), Match.id)

# What every page asks, for the one person who looks at it.
_TURNS: Final = Statement[Seat](
    lambda user: (
        Seat.select(Seat.number, Match.to_act, Match.id, Match.deadline)
        .join(Match)
        .where((Seat.user == user) & Seat.ended_at.is_null() & _going_on())
        .order_by(*_BY_TIME)
    )
)
# One after the other: of either at once the database would rather ask all matches that have ended.
_ENDS: Final = Statement[Seat](lambda user: _news(Seat.user == user))
_ENDS_FIRST: Final = Statement[Seat](lambda user: _news(Seat.owner == user))
_ASKED: Final = Statement[Match](lambda user: _invited(Invited.user == user).order_by(Match.id))
_RUNNING: Final = Statement[Match](
    lambda user: (
        Match.select()
        .join(Seat)
        .where((Seat.user == user) & Seat.ended_at.is_null() & (Match.status == "running"))
        .order_by(*_BY_TIME)
    )
)
_TABLES: Final = Statement[Match](
    lambda user: (
        Match.select()
        .join(Seat)
        .where((Seat.owner == user) & Seat.ended_at.is_null() & (Match.status == "open"))
        .order_by(Match.id)
    )
)
_LOST: Final = Statement[Match](
    lambda user: (
        Match.select()
        .join(Seat)
        .where((Seat.owner == user) & Seat.ended_at.is_null() & (Seat.user != user) & (Match.status == "running"))
        .order_by(Match.id)
        .limit(20)
    )
)
_FILED: Final = Statement[Seat](lambda user, most: _filing(Seat.user == user, Match.over()).limit(most))
_FILED_FIRST: Final = Statement[Seat](lambda user, most: _filing(Seat.owner == user, Match.over()).limit(most))
_MATCHES: Final = Sized[Match](lambda numbers: Match.select().where(Match.id.in_(numbers)))
_PLACE: Final = Statement[Seat](lambda match, user: Seat.select().where(_is_place(match, user)))
# A page that was asked for earlier may come later.
_SEEN: Final = Statement[Seat](
    lambda match, user, length: Seat.update(
        {**slots(Seat, ["visited_at"]), Seat.seen: at_least(Seat.seen, length)}
    ).where(_is_place(match, user))
)


@dataclass(frozen=True, slots=True)
class Item:
    """A match on somebody's list.

    `last` is the last thing that happened in words; `dial` the clock of his seat if he is awaited, else of who is, None
    without a limit; `fault` is set for a match that is frozen; `note` is the first line of his own note.
    """

    match: Match
    seats: tuple[Seat, ...]
    mine: Seat
    my_turn: bool
    unread: int
    last: str
    dial: Dial | None
    fault: str
    note: str


def items(user: User, now: datetime) -> list[Item]:
    """Return the person's running matches: his turn first, each group by the time left, without a limit last."""
    noted = notes.first_lines(user)
    found = _items(_RUNNING.rows(user=user.id), user, now, noted)
    return sorted(found, key=lambda item: not item.my_turn)


def due(user: User, now: datetime) -> list[Item]:
    """Return the matches in which the person is awaited, least time left first; those without a limit last."""
    found = _items(awaiting(user), user, now, {})
    left = {item.match.id: item.dial.left for item in found if item.dial and item.dial.left is not None}
    return sorted(found, key=lambda item: left.get(item.match.id, timedelta.max))


def waiting(user: User) -> int:
    """Return how much waits for the person: his turns, invitations, and up to `MOST_ENDS` ends that are news to him."""
    return len(_turns(user)) + len(_ends(user)) + len(invitations(user))


def waiting_for(numbers: Collection[int]) -> Counter[int]:
    """Return by number of the person how much waits for each of these people; from the columns, without replay."""
    found: Counter[int] = Counter()
    held = Seat.user.in_(list(numbers)) & Seat.ended_at.is_null() & _going_on()
    running: list[Any] = list(Seat.select(Seat.user, Seat.number, Match.to_act).join(Match).where(held).tuples())
    found.update(user for user, number, to_act in running if str(number) in to_act.split(","))
    found.update({user: min(MOST_ENDS, now + first) for user, now, first in _counted(numbers)})
    known = Match.game.in_(list(games.games()))
    asked: list[Any] = list(_invited(Invited.user.in_(list(numbers)) & known).select(Invited.user).tuples())
    found.update(user for (user,) in asked)
    return found


def next_waiting(user: User, after: Match) -> Match | None:
    """Return the match to go to from another: the next on the list where the person is awaited, around the end.

    So what is skipped comes round last. A match that is frozen is passed over: nothing can be done there.
    """
    until = Match.deadline.db_value(after.deadline)
    turns = [(number, due) for number, due in _turns(user) if number != after.id]
    later = [number for number, due in turns if _place(number, due) > _place(after.id, until)]
    earlier = [number for number, _due in turns if number not in later]
    return next((match for match in map(log.get, (*later, *earlier)) if _is_sound(match)), None)


def _turns(user: User) -> list[tuple[int, int | None]]:
    """Return number and deadline, as it is stored, of the matches in which the person is awaited, by the time left."""
    found = _TURNS.tuples(user=user.id)
    return [(number, until) for seat, to_act, number, until in found if str(seat) in to_act.split(",")]


def tables(user: User) -> list[Match]:
    """Return the open tables the person sits at."""
    return [match for match in _TABLES.rows(user=user.id) if match.game in games.games()]


def invitations(user: User) -> list[Match]:
    """Return the open tables with a free seat that the person is invited to and does not sit at."""
    return [match for match in _ASKED.rows(user=user.id) if match.game in games.games()]


def lost(user: User) -> list[Match]:
    """Return the running matches in which a bot plays what was the person's seat, and he may have it back."""
    found = []
    for match in _LOST.rows(user=user.id):
        with contextlib.suppress(Refused):
            if seating.own_lost_seat(log.read(match), log.places(match), user) is not None:
                found.append(match)
    return found


def unseen(user: User) -> list[Match]:
    """Return finished matches whose end the person has not looked at, newest first, `SHOWN_ENDS` at most."""
    return _newest(_ends(user), SHOWN_ENDS)


def _ends(user: User) -> set[int]:
    """Return the numbers of all of these; of very many those that were made last."""
    found = {number for ended in (_ENDS, _ENDS_FIRST) for (number,) in ended.tuples(user=user.id)}
    return set(sorted(found)[-MOST_ENDS:])


def _counted(numbers: Collection[int]) -> list[Any]:
    """Return of each of these people how many ends are news to him: in seats that he has, in others that he had first.

    Of either `MOST_ENDS` at most, so that it takes no longer the longer somebody has looked at none.
    """
    here, lost = Seat.user == User.id, (Seat.owner == User.id) & (Seat.user != User.id)
    counts = [Seat.select(db.count_all()).from_(_news(place).alias("news")) for place in (here, lost)]
    return list(User.select(User.id, *counts).where(User.id.in_(list(numbers))).tuples())


def finished(user: User, limit: int) -> list[Match]:
    """Return the person's finished matches whose end he has looked at, newest first."""
    numbers = {number for ended in (_FILED, _FILED_FIRST) for (number,) in ended.tuples(user=user.id, most=limit)}
    return _newest(numbers, limit)


def _newest(numbers: Collection[int], limit: int) -> list[Match]:
    found = _MATCHES.among(numbers)
    return sorted(found, key=lambda match: (match.finished_at, match.id), reverse=True)[:limit]


def latest(user: User, limit: int, which: Any = None, before: Match | None = None) -> list[Match]:
    """Return the matches that ended last in which a person or bot sat first or last, newest first.

    `which` is a condition of theirs, and all ended before the match `before`, if one is given.
    """
    which = Match.over() if which is None else which
    if before is not None:
        end, number = before.finished_at, before.id
        which &= (Match.finished_at <= end) & ((Match.finished_at < end) | (Match.id < number))
    fresh = Seat.select(Seat.match).join(Match).where(Seat.ended_at.is_null() & (Match.status == "finished"))
    numbers = _filed(user, which, limit, before)
    for place in (Seat.user, Seat.owner):
        numbers |= {seat.match_id for seat in fresh.where(place == user)}
    query = Match.select().where(Match.id.in_(list(numbers)) & which)
    return list(query.order_by(Match.finished_at.desc(), Match.id.desc()).limit(limit))


def _filed(user: User, which: Any, limit: int, before: Match | None = None) -> set[int]:
    """Return the numbers of the last so many matches whose ends are no news to who sat there, along the index."""
    numbers: set[int] = set()
    for place in (Seat.user, Seat.owner):
        newest = _filing(place == user, which)
        if before is not None:
            newest = newest.where(Seat.ended_at <= before.finished_at)
        numbers |= {seat.match_id for seat in newest.limit(limit)}
    return numbers


def _filing(whose: Any, which: Any) -> Any:
    filed = Seat.select(Seat.match).join(Match).where(Seat.ended_at.is_null(False) & which & whose)
    return filed.order_by(Seat.ended_at.desc(), Seat.match.desc())


def is_kept(match: Match, user: User | None) -> bool:
    """Whether how the match ended is to be kept back from the person, who wants to watch it first."""
    return user is not None and match.id in kept(user, [match])


def kept(user: User | None, matches: Sequence[Match]) -> set[int]:
    """Return the numbers of those of the matches whose end the person wants to watch and has not."""
    if user is None or not user.keeps_results:
        return set()
    ended = [match.id for match in matches if match.status == "finished"]
    theirs = (Seat.owner == user) | (Seat.user == user)
    mine = theirs & Seat.match.in_(ended) & (Seat.seen < Match.length)
    return {seat.match_id for seat in Seat.select(Seat.match).join(Match).where(mine)}


def seen(match: Match, user: User | None) -> int:
    """Return the number of the last row that the person has seen, 0 if none."""
    return max((seat.seen for seat in Seat.select().where(_is_place(match, user))), default=0)


def visit(match: Match, user: User, now: datetime) -> None:
    """Note that the person has looked at the match as it stands; not if he just has, nor if nothing can be stored."""
    seat = _PLACE.first(match=match.id, user=user.id)
    just = seat is not None and seat.visited_at is not None and now - seat.visited_at < VISIT
    ended = match.finished_at if match.status == "finished" else None
    if seat is None or (just and seat.seen >= match.length and seat.ended_at == ended):
        return
    # A match can still be read when the disk is full.
    with contextlib.suppress(*db.Unavailable), db.passing():
        _SEEN.run(match=match.id, user=user.id, visited_at=now, length=match.length)
        if ended:
            Seat.update(ended_at=ended).where(_is_place(match, user)).execute()


def _is_place(match: Any, user: Any) -> Any:
    """Return the condition that a seat of a match is, or was at first, a person's."""
    return (Seat.match == match) & ((Seat.user == user) | (Seat.owner == user))


def awaiting(user: User) -> list[Match]:
    """Return the running matches in which the person is awaited, by the time left; from the columns, without replay."""
    query = Seat.select(Seat, Match).join(Match).where((Seat.user == user) & Seat.ended_at.is_null() & _going_on())
    return [seat.match for seat in query.order_by(*_BY_TIME) if seat.number in seat.match.awaited]


def _going_on() -> Any:
    """Return the condition that something can be done in a match: it runs, and no keeper holds it."""
    return (Match.status == "running") & Match.frozen_at.is_null()


def _news(whose: Any) -> Any:
    """Return the query of the seats of somebody in matches whose ends are news to him, `MOST_ENDS` along the index."""
    found = Seat.select(Seat.match).join(Match).where(whose & _is_news())
    return found.order_by(Seat.ended_at.desc(), Seat.match.desc()).limit(MOST_ENDS)


def _is_news() -> Any:
    """Return the condition that the match of a seat has ended, and its person has not looked at how."""
    return Seat.ended_at.is_null() & (Match.status == "finished") & (Seat.seen < Match.length)


def _invited(whom: Any) -> Any:
    """Return the query of the invitations of some people that can be taken up, if the game is installed."""
    sits = Seat.select(Seat.match).where(Seat.owner == Invited.user)
    taken = Seat.select(db.count_all()).where(Seat.match == Match.id)
    able = (Match.status == "open") & (taken < Match.seats)
    return Match.select().join(Invited).where(whom & able & Match.id.not_in(sits))


def _items(matches: Iterable[Match], user: User, now: datetime, noted: Mapping[int, str]) -> list[Item]:
    """Return what the list says of each of the matches; `noted` are the person's notes by number of the match."""
    found = list(matches)
    places = log.places_of(found)
    return [_item(match, places[match.id], user, now, noted.get(match.id, "")) for match in found]


def _item(match: Match, seats: Sequence[Seat], user: User, now: datetime, note: str) -> Item:
    mine = next(seat for seat in seats if seat.user_id == user.id)
    my_turn = mine.number in match.awaited and not match.frozen_at
    last, dial, fault, unread = "", None, "", 0
    try:
        played = log.read(match)
        last = _last(played, seats, mine)
        unread = sum(row.seq > mine.seen and row.seat != mine.number for row in played.rows)
        shown = dials.dials(played, seats, now)
        dial = dials.next_to_act([shown[mine.number or 0]] if my_turn else shown)
        fault = log.frozen(match).sentence if match.frozen_at else ""
    except Refused as refused:
        fault = refused.sentence
    return Item(
        match=match,
        seats=tuple(seats),
        mine=mine,
        my_turn=my_turn,
        unread=unread,
        last=last,
        dial=dial,
        fault=fault,
        note=note,
    )


def _last(played: Played, seats: Sequence[Seat], mine: Seat) -> str:
    seq = max((row.seq for row in played.rows if row.kind not in QUIET), default=0)
    told = story.lines(played, story.names(seats), mine.number, seq - 1, zone=mine.user.zone) if seq else []
    return told[0].sentences[0] if told else ""


def _is_sound(match: Match) -> bool:
    try:
        log.read(match)
    except Refused:
        return False
    return True


def _place(number: int, deadline: int | None) -> tuple[float, int]:
    return (float("inf") if deadline is None else deadline, number)

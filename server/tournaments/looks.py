"""Tournaments as pages show them: plain values, and nothing of a result that its reader wants to watch first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from server import home, log
from server.models import Entry, Match, Pairing, Seat, Tournament, User
from server.models.statements import Statement
from server.tournaments import chance, entering, results
from server.tournaments.standings import Line

# So many are listed of those that are over.
LISTED: Final = 50
_OF_MATCH: Final = Statement[Pairing](lambda match: Pairing.select().where(Pairing.match == match))


@dataclass(frozen=True, slots=True)
class Listed:
    """A tournament in a list: how many take part, and whether the reader does."""

    tournament: Tournament
    entered: int
    mine: bool


@dataclass(frozen=True, slots=True)
class Lists:
    """All tournaments: those one may enter, soonest first, those that run, and those that are over, newest first."""

    open: tuple[Listed, ...]
    running: tuple[Listed, ...]
    over: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class Paired:
    """A match of a round; `told` is whether its reader may be told how it ended, if it has."""

    match: Match
    seats: tuple[Seat, ...]
    told: bool


@dataclass(frozen=True, slots=True)
class Drawn:
    """A round: its matches, and who has it off."""

    number: int
    matches: tuple[Paired, ...]
    resting: tuple[User, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All that the page of a tournament shows.

    `people` are those who take part, of a tournament that has begun those who began it, by their numbers; `gone` who
    has withdrawn since. `untold` is how many matches the standing leaves out because the reader wants to watch them
    first. `next` is his running match of it, `entry` his own if he takes part; `seed` is empty as long as a match of it
    runs.
    """

    tournament: Tournament
    people: dict[int, User]
    gone: frozenset[int]
    lines: tuple[Line, ...]
    rounds: tuple[Drawn, ...]
    entry: Entry | None
    next: Match | None
    untold: int
    commitment: str
    seed: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Of which tournament and which round a match is."""

    tournament: Tournament
    round: int


def lists(reader: User | None) -> Lists:
    """Return all tournaments in three lists, of those that are over the last `LISTED`."""
    waiting = Tournament.select().where(Tournament.status == "open").order_by(Tournament.starts_at, Tournament.id)
    running = Tournament.select().where(Tournament.status == "running").order_by(Tournament.starts_at.desc())
    over = Tournament.select().where(Tournament.status.in_(["finished", "cancelled"]))
    newest = over.order_by(Tournament.starts_at.desc(), Tournament.id.desc()).limit(LISTED)
    found = [list(waiting.limit(100)), list(running.limit(100)), list(newest)]
    entries = _entries([each for group in found for each in group])
    return Lists(*(tuple(_listed(each, entries.get(each.id, []), reader) for each in group) for group in found))


def newest(statuses: Sequence[str], reader: User | None, before: int | None, limit: int) -> list[Listed]:
    """Return tournaments of these statuses, newest first: those before a number, if one is given."""
    query = Tournament.select().where(Tournament.status.in_(list(statuses)))
    query = query if before is None else query.where(Tournament.id < before)
    found = list(query.order_by(Tournament.id.desc()).limit(limit))
    entries = _entries(found)
    return [_listed(each, entries.get(each.id, []), reader) for each in found]


def page(number: int, reader: User | None) -> Page:
    """Return what the page of a tournament shows. Raises `Refused` (not-found)."""
    tournament = entering.find(number)
    entries = _entries([tournament]).get(number, [])
    people = {entry.user_id: entry.user for entry in entries}
    held = results.pairings(tournament)
    matches = results.matches(held)
    untold = home.kept(reader, matches)
    rounds = _rounds(held, untold)
    mine = next((entry for entry in entries if reader and entry.user_id == reader.id and not entry.withdrew_at), None)
    over = tournament.status in {"finished", "cancelled"} and all(match.status != "running" for match in matches)
    return Page(
        tournament=tournament,
        people=people,
        gone=frozenset(entry.user_id for entry in entries if entry.withdrew_at),
        lines=results.standing(people, held, untold) if tournament.round else (),
        rounds=rounds,
        entry=mine,
        next=_next(rounds, reader),
        untold=len(untold),
        commitment=chance.commitment(bytes(tournament.secret)),
        seed=bytes(tournament.secret).hex() if over else "",
    )


def origin(match: Match) -> Origin | None:
    """Return of which tournament a match is, None if of none."""
    found = _OF_MATCH.first(match=match.id)
    return Origin(Tournament.get_by_id(found.tournament_id), found.round) if found else None


def origins(matches: Iterable[Match]) -> dict[int, Origin]:
    """Return of which tournaments matches are, by the number of each that is of one."""
    numbers = [match.id for match in matches]
    query = Pairing.select(Pairing, Tournament).join(Tournament).where(Pairing.match.in_(numbers)) if numbers else ()
    return {each.match_id or 0: Origin(each.tournament, each.round) for each in query}


def _entries(tournaments: Sequence[Tournament]) -> dict[int, list[Entry]]:
    """Return by tournament who takes part, in the order of entering: of one that has begun, who began it."""
    begun = {each.id: bool(each.round) for each in tournaments}
    found: dict[int, list[Entry]] = {}
    query = Entry.select(Entry, User).join(User).where(Entry.tournament.in_(list(begun)))
    for entry in query.order_by(Entry.joined_at, Entry.user):
        if entry.lot is not None if begun[entry.tournament_id] else entry.withdrew_at is None:
            found.setdefault(entry.tournament_id, []).append(entry)
    return found


def _listed(tournament: Tournament, entries: Sequence[Entry], reader: User | None) -> Listed:
    mine = any(reader and entry.user_id == reader.id and not entry.withdrew_at for entry in entries)
    return Listed(tournament, len(entries), mine)


def _rounds(held: Sequence[Pairing], untold: Collection[int]) -> tuple[Drawn, ...]:
    """Return the rounds, the last first."""
    places = log.places_of(results.matches(held))
    off = User.select().where(User.id.in_([each.user_id for each in held if each.user_id is not None]))
    people = {user.id: user for user in off}
    found = []
    for number, pairings in groupby(held, key=lambda each: each.round):
        mine = list(pairings)
        matches = [
            Paired(match, tuple(places[match.id]), match.status == "finished" and match.id not in untold)
            for match in results.matches(mine)
        ]
        resting = [people[each.user_id] for each in mine if each.user_id is not None]
        found.append(Drawn(number, tuple(matches), tuple(resting)))
    return tuple(reversed(found))


def _next(rounds: Sequence[Drawn], reader: User | None) -> Match | None:
    """Return the reader's running match, of several that of the first round."""
    own = [
        paired.match
        for drawn in reversed(rounds)
        for paired in drawn.matches
        if paired.match.status == "running" and any(reader and seat.owner_id == reader.id for seat in paired.seats)
    ]
    return own[0] if own else None

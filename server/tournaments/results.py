"""What the matches of a tournament say: read off seats and logs each time, never stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any

from engine.replay import RESIGN, RESIGNATION
from server import log
from server.models import LogRow, Match, Pairing, Seat, Tournament
from server.tournaments import pairing, standings
from server.tournaments.standings import Finish, Line, Result


def pairings(tournament: Tournament) -> list[Pairing]:
    """Return the matches and the rounds off of a tournament, with the matches, in the order of the rounds."""
    mine = Pairing.select(Pairing, Match).left_outer_join(Match).where(Pairing.tournament == tournament)
    return list(mine.order_by(Pairing.round, Pairing.place))


def matches(held: Iterable[Pairing]) -> list[Match]:
    """Return the matches among pairings."""
    return [each.match for each in held if each.match is not None]


def standing(players: Collection[int], held: Sequence[Pairing], untold: Collection[int] = ()) -> tuple[Line, ...]:
    """Return where the players, people's numbers, stand by the matches that have ended, those `untold` left out."""
    ended = [match for match in matches(held) if match.status == "finished"]
    results = _results([match for match in ended if match.id not in untold])
    off = [[Finish(each.user_id, 1, Fraction(1))] for each in held if each.user_id is not None]
    return standings.table(players, [*results, *off])


def history(held: Sequence[Pairing]) -> pairing.History:
    """Return who has met whom, sat where, and had rounds off, whether or not the matches have ended."""
    places = log.places_of(matches(held))
    rounds: defaultdict[int, pairing.Round] = defaultdict(lambda: pairing.Round((), ()))
    for each in held:
        groups, resting = rounds[each.round]
        if each.match_id is not None:
            groups = (*groups, tuple(seat.owner_id for seat in places[each.match_id]))
        elif each.user_id is not None:
            resting = (*resting, each.user_id)
        rounds[each.round] = pairing.Round(groups, resting)
    return pairing.History(list(rounds.values()))


def _results(ended: Sequence[Match]) -> list[Result]:
    places, resigned = log.places_of(ended), _resigned(ended)
    return [finishes(places[match.id], resigned.get(match.id)) for match in ended]


def _resigned(ended: Sequence[Match]) -> dict[int, int]:
    """Return by match who ended it by resigning: he still has the seat that any other who resigns has lost to a bot."""
    numbers = [match.id for match in ended if match.reason == RESIGNATION]
    if not numbers:
        return {}
    last = LogRow.select(LogRow.match, LogRow.seat).join(Match).where(LogRow.seq == Match.length)
    rows: list[Any] = list(last.where(LogRow.match.in_(numbers) & (LogRow.kind == RESIGN)).tuples())
    return dict(rows)


def finishes(seats: Sequence[Seat], resigned: int | None) -> list[Finish]:
    """Return how those who began a finished match came out of it: the winners, the others by score, who did not stay.

    Whose seat somebody else has at the end, a bot say, or who resigned, did not stay; all who did not share the last
    place.
    """
    stayed = [seat for seat in seats if seat.user_id == seat.owner_id and seat.number != resigned]
    best = max((seat.score or 0 for seat in stayed), default=0)
    order = {seat.owner_id: _order(seat, seat in stayed) for seat in seats}
    return [
        Finish(
            seat.owner_id,
            1 + sum(other < order[seat.owner_id] for other in order.values()),
            _share(seat.score or 0, best) if seat in stayed else Fraction(),
        )
        for seat in seats
    ]


def _order(seat: Seat, stayed: bool) -> tuple[int, int]:
    if not stayed:
        return 2, 0
    return (0, 0) if seat.won else (1, -(seat.score or 0))


def _share(score: int, best: int) -> Fraction:
    return Fraction(max(score, 0), best) if best > 0 else Fraction(int(score == best))

"""How a tournament stands: points and tie-breaks, of results alone. Pure; docs/tournaments.md says it for players."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

# What a match is worth whose others one all leaves behind, of however many seats; so are shares of it whole numbers.
WIN: Final = 12


@dataclass(frozen=True, slots=True)
class Finish:
    """How a player came out of a match: `rank` 1 for the best, equal for those who are level.

    `share` is his score as a part of the best one, from 0 to 1; 0 for who did not stay to the end.
    """

    player: int
    rank: int
    share: Fraction


@dataclass(frozen=True, slots=True)
class Line:
    """Where a player stands; players with the same `rank` share it.

    `opponents` is how many points those have whom he met, on average; `direct`, in halves, how often he came out ahead
    of those who are level with him by that; `share` the part of the best score that he had, on average.
    """

    player: int
    rank: int
    points: int
    matches: int
    opponents: Fraction
    direct: int
    share: Fraction


Result = Sequence[Finish]  # of one match; of a round off the one player, with rank 1


def points(result: Result) -> dict[int, int]:
    """Return the points of a match: as many parts of `WIN` as others are left behind; half a part for who is level."""
    if len(result) == 1:
        return {result[0].player: WIN}
    return {
        finish.player: WIN
        * sum(_halves(finish, other) for other in result if other is not finish)
        // (2 * (len(result) - 1))
        for finish in result
    }


def table(players: Iterable[int], results: Iterable[Result]) -> tuple[Line, ...]:
    """Return where all players stand, the best first; equals in the order of their numbers.

    In whichever order the results come, the standing is the same.
    """
    known, done = sorted(set(players)), list(results)
    total: Counter[int] = Counter()
    for result in done:
        total.update(points(result))
    met, shares = _met(done), _shares(done)
    opponents = {player: _average([Fraction(total[other]) for other in met[player]]) for player in known}
    share = {player: _average(shares[player]) for player in known}
    direct = _direct(known, {player: (total[player], opponents[player]) for player in known}, done)
    order = {player: (-total[player], -opponents[player], -direct[player], -share[player]) for player in known}
    return tuple(
        Line(
            player,
            1 + sum(other < order[player] for other in order.values()),
            total[player],
            len(shares[player]),
            opponents[player],
            direct[player],
            share[player],
        )
        for player in sorted(known, key=lambda player: (order[player], player))
    )


def _halves(one: Finish, other: Finish) -> int:
    return 2 if one.rank < other.rank else int(one.rank == other.rank)


def _met(results: Iterable[Result]) -> defaultdict[int, list[int]]:
    """Return whom each player met, once for each time."""
    met: defaultdict[int, list[int]] = defaultdict(list)
    for result in results:
        for one, other in combinations(result, 2):
            met[one.player].append(other.player)
            met[other.player].append(one.player)
    return met


def _shares(results: Iterable[Result]) -> defaultdict[int, list[Fraction]]:
    """Return what part of the best score each player had in each match; a round off is none."""
    shares: defaultdict[int, list[Fraction]] = defaultdict(list)
    for result in results:
        if len(result) > 1:
            for finish in result:
                shares[finish.player].append(finish.share)
    return shares


def _direct(known: Sequence[int], level: dict[int, tuple[int, Fraction]], results: Iterable[Result]) -> Counter[int]:
    """Return by player, in halves, how often he came out ahead of one who is level with him."""
    found: Counter[int] = Counter(dict.fromkeys(known, 0))
    for result in results:
        for one, other in combinations(result, 2):
            if level[one.player] == level[other.player]:
                found[one.player] += _halves(one, other)
                found[other.player] += _halves(other, one)
    return found


def _average(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction()) / len(numbers) if numbers else Fraction()

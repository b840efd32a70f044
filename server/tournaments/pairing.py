"""Who meets whom: the groups of a round, for two to four seats. Pure; docs/tournaments.md says it for players.

Players are numbers. A group is a match, its players in the order of the seats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from typing import Final, NamedTuple

Pair = tuple[int, int]
Group = tuple[int, ...]
Cost = tuple[int, int]

# From so many beginnings a search for a round goes out, if the first has not led to one in which nobody meets again.
STARTS: Final = 8


class Round(NamedTuple):
    """The groups of a round, and who has it off."""

    groups: tuple[Group, ...]
    resting: tuple[int, ...]


class History:
    """What has been: how often two have met, who sat where how often, and who has had how many rounds off."""

    def __init__(self, rounds: Sequence[Round] = ()) -> None:
        self.met: Counter[Pair] = Counter()
        self.sat: Counter[Pair] = Counter()  # player and seat
        self.rested: Counter[int] = Counter()
        for each in rounds:
            self.add(each)

    def add(self, done: Round) -> None:
        """Count a round."""
        for group in done.groups:
            self.met.update(pairs(group))
            self.sat.update((player, seat) for seat, player in enumerate(group))
        self.rested.update(done.resting)


def pairs(group: Sequence[int]) -> list[Pair]:
    """Return all pairs of a group, each with the lower number first."""
    return list(combinations(sorted(group), 2))


def sizes(players: int, seats: int, allowed: Collection[int]) -> tuple[int, ...]:
    """Return how many play in each group, the larger ones first: as few rest as possible, then as few groups.

    `allowed` are the numbers of players that the game takes; no group is larger than `seats`, and none larger by more
    than one than another.
    """
    for playing in range(players, 0, -1):
        for groups in range(-(-playing // seats), playing + 1):
            small, larger = divmod(playing, groups)
            found = (small + 1,) * larger + (small,) * (groups - larger)
            if all(size in allowed and size > 1 for size in found):
                return found
    return ()


def most_rounds(players: int, seats: int) -> int:
    """Return after how many rounds, at most, somebody has met all others."""
    return max(1, (players - 1) // (seats - 1))


def swiss(order: Sequence[int], seats: int, allowed: Collection[int], history: History) -> Round:
    """Return the next round of players in the order of their standing, the best first.

    Off have those who were off least often, of them the last. The others meet as few as possible whom they have met,
    then those who stand close to them. With two seats nobody meets anybody twice in the first half as many rounds as
    there are players: by then each pair that has met can be broken up by a swap with another.
    """
    wanted = sizes(len(order), seats, allowed)
    place = {player: number for number, player in enumerate(order)}
    last_first = sorted(order, key=lambda player: (history.rested[player], -place[player]))
    resting = last_first[: len(order) - sum(wanted)]
    playing = [player for player in order if player not in resting]
    groups = _arranged(playing, wanted, history.met)
    return Round(tuple(seated(group, history.sat) for group in groups), tuple(sorted(resting)))


def seated(group: Sequence[int], sat: Counter[Pair]) -> Group:
    """Return a group in an order of seats that its players have had least often so far."""
    return min(permutations(group), key=lambda order: sum(sat[player, seat] for seat, player in enumerate(order)))


@lru_cache(maxsize=64)
def round_robin(players: int, seats: int, allowed: tuple[int, ...]) -> tuple[Round, ...]:
    """Return all rounds of the players 0, 1, ...: in each everybody plays who need not rest, and every pair meets.

    With two seats every pair meets once, and nobody has the first seat more than once more often than the second, or
    less often. With more, pairs meet as evenly as the search finds.
    """
    if seats == 2:
        return tuple(_circle(players))
    rounds: list[Round] = []
    history = History()
    everybody = range(players)
    while unmet := [pair for pair in combinations(everybody, 2) if not history.met[pair]]:
        rounds.append(_next(everybody, unmet, sizes(players, seats, allowed), history))
        history.add(rounds[-1])
    return tuple(rounds)


def _next(everybody: Sequence[int], unmet: Sequence[Pair], wanted: Sequence[int], history: History) -> Round:
    """Return a round in which at least one pair meets that has not."""
    alone = Counter(player for pair in unmet for player in pair)
    # Who has rested most plays, and is in a large group; among equals, who has most people yet to meet.
    order = sorted(everybody, key=lambda player: (-history.rested[player], -alone[player], player))
    playing, resting = order[: sum(wanted)], order[sum(wanted) :]
    groups = _arranged(playing, wanted, history.met, closely=False)
    if not any(pair in unmet for group in groups for pair in pairs(group)):
        first = [*unmet[0], *(player for player in order if player not in unmet[0])]
        groups, resting = _sliced(first, wanted), first[sum(wanted) :]
    return Round(tuple(seated(group, history.sat) for group in groups), tuple(sorted(resting)))


def _circle(players: int) -> list[Round]:
    """Return the rounds of the circle method: one stays, the others move on by one each round.

    With an odd number the one who stays is nobody. Who is first depends on how far apart two stand in the circle, so
    everybody is first and second once at each distance.
    """
    moving = players - 1 + players % 2
    rounds = []
    for turn in range(moving):
        groups = [] if players % 2 else [(turn, moving) if turn % 2 else (moving, turn)]
        for apart in range(1, (moving + 1) // 2):
            ahead, behind = (turn + apart) % moving, (turn - apart) % moving
            groups.append((ahead, behind) if apart % 2 else (behind, ahead))
        rounds.append(Round(tuple(groups), (turn,) if players % 2 else ()))
    return rounds


def _arranged(
    order: Sequence[int], wanted: Sequence[int], met: Counter[Pair], *, closely: bool = True
) -> list[list[int]]:
    """Return groups of these sizes in which fewest pairs meet again, and who is close in the order if that matters."""
    place = {player: number for number, player in enumerate(order)} if closely else {}
    found = []
    for start in range(min(STARTS, len(order))):
        groups = _sliced([*order[start:], *order[:start]], wanted)
        _improve(groups, met, place)
        found.append((sum(_cost(group, met, place)[0] for group in groups), groups))
        if not found[-1][0]:
            break
    return min(found, key=lambda each: each[0])[1] if found else []


def _sliced(order: Sequence[int], wanted: Sequence[int]) -> list[list[int]]:
    rest = iter(order)
    return [[next(rest) for _ in range(size)] for size in wanted]


def _improve(groups: list[list[int]], met: Counter[Pair], place: dict[int, int]) -> None:
    """Swap players of two groups as long as that makes things better."""
    while sum(_swapped(one, other, met, place) for one, other in combinations(groups, 2)):
        pass


def _swapped(one: list[int], other: list[int], met: Counter[Pair], place: dict[int, int]) -> bool:
    """Make each swap between two groups that makes things better; return whether there was one."""
    better = False
    before = _both(one, other, met, place)
    for here in range(len(one)):
        for there in range(len(other)):
            one[here], other[there] = other[there], one[here]
            after = _both(one, other, met, place)
            if after < before:
                before, better = after, True
            else:
                one[here], other[there] = other[there], one[here]
    return better


def _both(one: Sequence[int], other: Sequence[int], met: Counter[Pair], place: dict[int, int]) -> Cost:
    (again, apart), (more, further) = _cost(one, met, place), _cost(other, met, place)
    return again + more, apart + further


def _cost(group: Sequence[int], met: Counter[Pair], place: dict[int, int]) -> Cost:
    """Return how often pairs of the group have met, and how far apart they stand, squared so that far is worse."""
    found = list(combinations(group, 2))
    again = sum(met[(a, b) if a < b else (b, a)] for a, b in found)
    return again, sum((place[a] - place[b]) ** 2 for a, b in found) if place else 0

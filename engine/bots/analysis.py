"""How the chances of the seats changed over a finished match: the strong bot's view, with everything open.

From the true position after each step the strong bot searches as it does for a move, and a seat's chance is its share
of the wins to which its searches have come. Nothing is hidden from who judges so: he knows more than anybody could know
at the table. Bare playouts from the position foretell the winner no better, and jump more from step to step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from engine import games, replay
from engine.base import Plain, State
from engine.bots.mind import Chance, shares
from engine.bots.search import Thought, explore
from engine.replay import Position, Row

VERSION: Final = 1
"""To be raised when the same match would be judged otherwise: another mind, another way here. It is above 0."""
PLAYOUTS: Final = 1000
"""So many for each position: the standard error of a chance is 2 percentage points as a rule, seldom 5."""
SEARCHES: Final = 4
"""They are shared out among so many searches, because one alone may cling to one line of play."""


def steps(positions: Sequence[Position]) -> list[int]:
    """Return the numbers of the rows that may have changed the chances, from the setup on, and the last row."""
    found = [positions[0].seq]
    for before, after in pairwise(positions):
        if after.state is not before.state or after.resigned != before.resigned or after.outcome:
            found.append(after.seq)
    return found


def chances(position: Position, playouts: int, chance: Chance) -> tuple[float, ...]:
    """Return the share of the win that each seat has, from 0 to 1, in sum 1.

    Where the match has ended it is what came of it, however it ended; after one that was called off, what it stood at.
    Whoever has resigned has nothing. Raises `ValueError` for a game without a mind.
    """
    return _won(position) or _judged(position, playouts, chance)


def judge(
    kind: str,
    setup: Plain,
    seats: int,
    options: Mapping[str, str],
    rows: Sequence[Row],
    playouts: int,
    chance: Chance,
) -> tuple[float, ...]:
    """Return the chances after the last of the rows, which begin after the setup row; without rows, at the start.

    All that is handed in can be sent to another process. Raises what `replay`, `games.game` and `chances` raise.
    """
    return chances(replay.replay(games.game(kind), setup, seats, options, rows), playouts, chance)


def _won(position: Position) -> tuple[float, ...] | None:
    """Return how the winners shared the win, None if nobody has won yet."""
    outcome = position.outcome
    if outcome is None or not outcome.winners:
        return None
    share = 1 / len(outcome.winners)
    return tuple(share if seat in outcome.winners else 0.0 for seat in range(position.state.seats))


def _judged(position: Position, playouts: int, chance: Chance) -> tuple[float, ...]:
    """Search several times, and share the win as the ends of all playouts do."""
    mind = position.game.mind
    if mind is None:
        raise ValueError(f"bots have no mind for {position.game.kind}")
    sums = [0.0] * position.state.seats

    def playout(state: State, chance: Chance) -> Sequence[float]:
        found = shares(mind.ending(state, chance), position.resigned)
        for seat, share in enumerate(found):
            sums[seat] += share
        return found

    for _ in range(SEARCHES):
        explore(mind, [position.state], Thought(max(1, playouts // SEARCHES)), chance, playout=playout)
    return tuple(each / sum(sums) for each in sums)

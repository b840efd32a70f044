"""What bots know of Clans beyond its rules: worths of moves, beliefs about secret clans, playouts. See docs/bots.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from math import exp, log
from typing import Any, Final

from engine.base import View
from engine.bots.mind import Chance, Sight, shares
from engine.games.clans import notation
from engine.games.clans.board import CHIPS, CLANS, INDEX, TERRITORIES
from engine.games.clans.playouts import Board
from engine.games.clans.prospects import Survey
from engine.games.clans.rules import SIZE, Move, State, Table, Village

# The protocol hands every mind any `State`; a mind is only ever given its own game's.
Own = Any

SHARPNESS: Final = 1.0
"""How sharply a seat is believed to prefer the better of two moves, per point."""
LAXITY: Final = 0.1
"""The share of moves that are believed to be made for no reason that is understood here."""
TASTE: Final = 1.0
"""How sharply the search prefers to try moves that look good, per point."""
TRIED: Final = 24
"""How many moves the search looks at in one position."""
COVER: Final = 2.0
"""What it costs the strong bot at first to be known for sure, in even shares of the win: 1 of 2 seats, 1 of 4 ..."""


class ClansMind:
    """The mind of Clans; every method is described by `engine.bots.mind.Mind`."""

    def weigh(self, view: View) -> Sequence[float]:
        """Return how good each move looks one move ahead to the holder of the viewer's clan."""
        seat = view.viewer
        if seat is None or seat not in view.to_act:
            return ()
        state = rebuilt(view, ())
        survey = Survey(state, seat)
        return survey.worths(CLANS.index(view.table["own_clan"]))

    def worlds(self, sight: Sight, count: int, chance: Chance) -> Sequence[State]:
        """Return positions that differ only in the clans of others, each as often as the moves seen make it likely."""
        deals = beliefs(sight)
        states = {clans: rebuilt(sight.view, clans) for clans, _ in deals}
        picked: list[State] = []
        # One draw decides all, so that every deal comes as often as it should, give or take one.
        mark, passed = chance(), 0.0
        for clans, likely in deals:
            passed += likely * count
            while len(picked) < count and mark < passed:
                picked.append(states[clans])
                mark += 1.0
        picked += [states[deals[-1][0]]] * (count - len(picked))
        return shuffled(picked, chance)

    def secret(self, state: Own, seat: int) -> int:
        """Return the clan that the seat holds."""
        return int(state.table.clans[seat])

    def promise(self, state: Own, seat: int) -> Sequence[tuple[Move, float]]:
        """Return the moves that look best to the seat one move ahead, the likelier tried the better they look."""
        survey = Survey(state, seat)
        worths = survey.worths(state.table.clans[seat])
        ranked = sorted(zip(worths, survey.moves, strict=True), reverse=True)[:TRIED]
        top = ranked[0][0]
        odds = [exp(TASTE * (worth - top)) for worth, _ in ranked]
        total = sum(odds)
        return [(move, odd / total) for (_, move), odd in zip(ranked, odds, strict=True)]

    def playout(self, state: Own, chance: Chance) -> Sequence[float]:
        """Play on by rough measures to the end and return how the win is shared."""
        return shares(self.ending(state, chance))

    def ending(self, state: Own, chance: Chance) -> Sequence[float]:
        """Play on by rough measures to the end and return the scores."""
        return Board(state).finish(chance)

    def suspect(self, sight: Sight, seat: int) -> Sequence[tuple[int, float]]:
        """Return how likely a seat holds each clan to somebody who has seen its moves and looks at no other seat."""
        hints = hints_of(sight, seat)
        top = max(hints)
        odds = [exp(hint - top) for hint in hints]
        return [(clan, odd / sum(odds)) for clan, odd in enumerate(odds)]

    def telltale(self, sight: Sight, moves: Sequence[Move]) -> Sequence[float]:
        """Return what each move costs because a spectator would believe so much more in the viewer's true clan."""
        view, seat = sight.view, sight.view.viewer or 0
        own = CLANS.index(view.table["own_clan"])
        before = hints_of(sight, seat)
        survey = Survey(rebuilt(view, ()), seat)
        odds = [chances(survey.worths(clan)) for clan in range(len(CLANS))]
        cover = COVER / view.seats * view.table["open"] / CHIPS
        costs = []
        for move in moves:
            place = survey.moves.index(move)
            after = [exp(hint - max(before)) * odd[place] for hint, odd in zip(before, odds, strict=True)]
            costs.append(cover * after[own] / sum(after))
        return costs


def rebuilt(view: View, clans: Sequence[int]) -> State:
    """Return the position that a view shows, the seats holding these clans."""
    table = view.table
    seats = view.seats
    following = tuple(((seat + 1) % seats,) for seat in range(seats))
    huts = [0] * len(TERRITORIES)
    for name, counts in table["huts"].items():
        huts[INDEX[name]] = sum(count << 4 * clan for clan, count in enumerate(counts)) + (sum(counts) << SIZE)
    villages = tuple(
        Village(INDEX[each["territory"]], each["epoch"] - 1, each["founder"], each["value"], tuple(each["clans"]))
        for each in table["villages"]
    )
    return State(
        table=Table(tuple(clans), table["options"]["five_singles"], following),
        huts=tuple(huts),
        occupied=sum(1 << territory for territory, pile in enumerate(huts) if pile),
        settled=sum(1 << village.territory for village in villages),
        points=tuple(table["clan_points"][clan] for clan in CLANS),
        chips=tuple(table["chips"]),
        villages=villages,
        to_act=view.to_act,
    )


def beliefs(sight: Sight) -> list[tuple[tuple[int, ...], float]]:
    """Return the ways the clans may lie for all that the viewer knows, and how likely each is, in sum 1."""
    viewer, seats = sight.view.viewer, sight.view.seats
    held = sight.view.table["own_clan"]
    own = CLANS.index(held) if held else None
    hints = [[0.0] * len(CLANS) if seat == viewer else hints_of(sight, seat) for seat in range(seats)]
    deals = [clans for clans in permutations(range(len(CLANS)), seats) if viewer is None or clans[viewer] == own]
    sums = [sum(hints[seat][clan] for seat, clan in enumerate(clans)) for clans in deals]
    top = max(sums)
    odds = [exp(one - top) for one in sums]
    total = sum(odds)
    return [(clans, odd / total) for clans, odd in zip(deals, odds, strict=True)]


def hints_of(sight: Sight, seat: int) -> list[float]:
    """Return, by clan, the logarithm of how likely its holder would have made all the moves of the seat."""
    hints = [0.0] * len(CLANS)
    for glimpse in sight.past:
        if glimpse.seat == seat:
            found = hint_of(rebuilt(glimpse.view, ()), seat, glimpse.text)
            hints = [hint + more for hint, more in zip(hints, found, strict=True)]
    return hints


@lru_cache(4096)
def hint_of(state: State, seat: int, text: str) -> tuple[float, ...]:
    """Return, by clan, the logarithm of how likely its holder would have made this move."""
    survey = Survey(state, seat)
    place = survey.moves.index(notation.parse(state, seat, text))
    return tuple(log(chances(survey.worths(clan))[place]) for clan in range(len(CLANS)))


def chances(worths: Sequence[float]) -> list[float]:
    """Return how likely each move is to be made by somebody to whom they are worth this."""
    top = max(worths)
    odds = [exp(SHARPNESS * (worth - top)) for worth in worths]
    total = sum(odds)
    return [(1 - LAXITY) * odd / total + LAXITY / len(odds) for odd in odds]


def shuffled(items: list[Any], chance: Chance) -> list[Any]:
    """Return the items in random order."""
    mixed = list(items)
    for last in range(len(mixed) - 1, 0, -1):
        other = int(chance() * (last + 1))
        mixed[last], mixed[other] = mixed[other], mixed[last]
    return mixed


MIND = ClansMind()

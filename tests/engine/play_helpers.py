"""What the tests of the engine share: recorded matches, random matches, and the rules of Clans told a second time."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from engine import games
from engine.deal import stream_for
from engine.games.clans.board import EPOCH_OF_CHIP, NEIGHBOURS, TERRAIN, TERRITORIES
from engine.games.clans.rules import Move, State, Village, huts_of
from engine.record import RecordError, check

GAME = games.game("clans")
RECORDS = sorted((Path(__file__).parent.parent / "records").glob("clans-*.json"))
BAD_RECORDS = sorted((Path(__file__).parent.parent / "records" / "bad").glob("clans-*.json"))
CLANS = ("red", "blue", "green", "yellow", "black")
BORDERS = {name: [TERRITORIES[near] for near in NEIGHBOURS[index]] for index, name in enumerate(TERRITORIES)}
LAND = dict(zip(TERRITORIES, TERRAIN, strict=True))
TRACK = (
    [("forest", "mountain", 1)] * 4
    + [("mountain", "grassland", 2)] * 3
    + [("steppe", "forest", 3)] * 2
    + [("grassland", "steppe", 4)] * 2
    + [("any", "none", 5)]
)


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def record(name: str) -> dict[str, Any]:
    return next(read(path) for path in RECORDS if path.stem == f"clans-{name}")


def setup(seed: int, seats: int) -> dict[str, Any]:
    return GAME.deal(stream_for(seed.to_bytes(8, "big"), []), seats, {})


def beginning(seed: int = 1, seats: int = 3, options: Mapping[str, str] | None = None) -> State:
    return GAME.begin(setup(seed, seats), seats, options or {})


def random_match(
    seed: int, seats: int, options: Mapping[str, str] | None = None
) -> Iterator[tuple[State, int, Move, State]]:
    """Yield each state of a random match with the seat, its move, and the state after it."""
    rng = random.Random(seed)
    state = beginning(seed, seats, options)
    while state.to_act:
        seat = state.to_act[0]
        move = rng.choice(list(state.legal_moves(seat)))
        after = state.apply(seat, move)
        yield state, seat, move, after
        state = after


def position(huts: Mapping[str, str], taken: int = 0, seats: int = 2, five_singles: str = "all_leave") -> State:
    """Return a made-up position: huts as letters by territory ("rrb"), and how many chips are gone, all to seat 0."""
    state = beginning(1, seats, {"five_singles": five_singles})
    piles = [0] * 60
    for name, letters in huts.items():
        for letter in letters:
            piles[TERRITORIES.index(name)] += (1 << 4 * "rbgyk".index(letter)) + (1 << 20)
    occupied = sum(1 << index for index, pile in enumerate(piles) if pile)
    alone = [index for index, pile in enumerate(piles) if pile and not any(piles[near] for near in NEIGHBOURS[index])]
    return State(
        table=state.table,
        huts=tuple(piles),
        occupied=occupied,
        settled=sum(1 << index for index in alone),
        points=(0,) * 5,
        chips=(taken, *(0,) * (seats - 1)),
        villages=tuple(Village(0, EPOCH_OF_CHIP[chip], 0, 0, ()) for chip in range(taken)),
        to_act=(0,),
    )


class Plainly:
    """The rules of Clans once more, slow and by names, straight from the rule sheet."""

    def __init__(self, setup: Mapping[str, Any], five_singles: str = "all_leave") -> None:
        self.huts = {name: Counter([setup["huts"][name]]) for name in TERRITORIES}
        self.five_singles = five_singles
        self.villages: list[str] = []
        self.closed: set[str] = set()
        self.points = Counter(dict.fromkeys(CLANS, 0))
        self.chips = [0] * len(setup["clans"])

    def legal(self, source: str, target: str) -> bool:
        here, there = self.huts[source].total(), self.huts[target].total()
        return target in BORDERS[source] and here > 0 and there > 0 and (here <= 6 or here <= there)

    def pairs(self) -> list[tuple[str, str]]:
        return [(a, b) for a in TERRITORIES for b in BORDERS[a] if self.legal(a, b)]

    def born(self, source: str, target: str) -> list[str]:
        full = {name for name in TERRITORIES if self.huts[name].total()} - {source}
        return [n for n in sorted(full - self.closed) if not full & set(BORDERS[n])]

    def texts(self) -> list[str]:
        """Return the canonical text of every legal move."""
        found = []
        for source, target in self.pairs():
            born = self.born(source, target)
            left = min(len(born), 12 - len(self.villages))
            orders = permutations(born, left) if len(born) > 1 else [()]
            found += [f"{source}-{target}" + (f" / {' '.join(order)}" if order else "") for order in orders]
        return found

    def play(self, seat: int, text: str) -> None:
        ends, _, named = text.partition(" / ")
        source, target = ends.split("-")
        born = self.born(source, target)
        self.huts[target] += self.huts[source]
        self.huts[source] = Counter()
        for name in named.split() or born:
            self._found(seat, name)
        self.closed |= set(born)

    def over(self) -> bool:
        return len(self.villages) == 12 or not self.pairs()

    def _found(self, seat: int, name: str) -> None:
        good, bad, bonus = TRACK[len(self.villages)]
        self.villages.append(name)
        self.chips[seat] += 1
        pile = self.huts[name]
        if len(pile) == 5 and not (pile.total() == 5 and self.five_singles == "all_stay"):
            pile = self.huts[name] = Counter({clan: count for clan, count in pile.items() if count > 1})
        value = 0 if LAND[name] == bad else pile.total() + (bonus if LAND[name] == good or good == "any" else 0)
        for clan in pile:
            self.points[clan] += value


def counted(state: State) -> dict[str, dict[str, int]]:
    """Return the huts of a state by territory and clan, without the empty ones."""
    return {
        name: {clan: count for clan, count in zip(CLANS, huts_of(pile), strict=True) if count}
        for name, pile in zip(TERRITORIES, state.huts, strict=True)
        if pile
    }


def refused(found: Any) -> RecordError:
    with pytest.raises(RecordError) as error:
        check(found)
    return error.value


def changed(name: str, *path: str | int, to: Any) -> dict[str, Any]:
    """Return a recorded match with the value at the path changed."""
    found = record(name)
    place: Any = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return found

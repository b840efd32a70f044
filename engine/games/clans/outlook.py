"""What may come of a view of Clans, asked of the rules: which legal moves found villages, and whom that would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.base import View
from engine.games.clans.board import BIT, CLANS, INDEX, NEIGHBOURS, TERRITORIES
from engine.games.clans.rules import (
    HUT,
    Founding,
    Move,
    State,
    Table,
    Village,
    foundings,
    newborn,
    present,
    settle,
    value_of,
)


class Chance(NamedTuple):
    """A legal move that founds villages, as it is written, and what it founds with a chip."""

    text: str
    made: list[Founding]


class Nearing(NamedTuple):
    """A territory that may become a village, and the names of its neighbours that still hold huts, all of which can go.

    `gain` is what it would give to the viewer's clan if it became one now as it stands.
    """

    place: int
    left: tuple[str, ...]
    gain: int


def known(view: View) -> State:
    """Return the position as far as the viewer knows it: complete but for the secret clans."""
    huts = tuple(pile_of(view.table["huts"].get(name, ())) for name in TERRITORIES)
    villages = tuple(
        Village(INDEX[told["territory"]], told["epoch"] - 1, told["founder"], told["value"], tuple(told["clans"]))
        for told in view.table["villages"]
    )
    return State(
        table=Table((), view.table["options"]["five_singles"], ()),
        huts=huts,
        occupied=sum(BIT[territory] for territory, pile in enumerate(huts) if pile),
        settled=0,
        points=tuple(view.table["clan_points"].values()),
        chips=tuple(view.table["chips"]),
        villages=villages,
        to_act=view.to_act,
    )


def pile_of(huts: Sequence[int]) -> int:
    """Return the pile of so many huts of each clan."""
    return sum(count * hut for count, hut in zip(huts, HUT, strict=False))


def pair(text: str) -> str:
    """Return a written move without its order."""
    return text.partition(" / ")[0]


def ends(text: str) -> tuple[str, str]:
    """Return the territory that the huts leave by a written move, and the one they go to."""
    source, _, target = pair(text).partition("-")
    return source, target


def arising(state: State, moves: Sequence[str]) -> dict[str, list[int]]:
    """Return, by the territory that the huts leave, the villages that arise by some of these written moves."""
    sources = dict.fromkeys(text.partition("-")[0] for text in moves)
    found = ((name, newborn(state.occupied ^ BIT[INDEX[name]], INDEX[name])) for name in sources)
    return {name: born for name, born in found if born}


def chances(view: View) -> Iterator[Chance]:
    """Yield the viewer's legal moves that found villages."""
    state = known(view)
    founding = arising(state, view.moves)
    for text in view.moves if founding else ():
        source, target = ends(text)
        if source in founding:
            order = tuple(INDEX[name] for name in text.partition(" / ")[2].split())
            yield Chance(text, foundings(state, view.viewer or 0, Move(INDEX[source], INDEX[target], order)))


def nearing(view: View) -> list[Nearing]:
    """Return what may become a village, the nearest first, and of these what gives most to the viewer's clan."""
    state, movable = known(view), {ends(text)[0] for text in view.moves}
    found = []
    for place, pile in enumerate(state.huts):
        left = tuple(TERRITORIES[near] for near in NEIGHBOURS[place] if state.huts[near])
        if pile and left and movable.issuperset(left):
            found.append(Nearing(place, left, _promise(view, place, pile)))
    return sorted(found, key=lambda near: (len(near.left), -near.gain))


def _promise(view: View, place: int, pile: int) -> int:
    """Return what a territory would give to the viewer's clan as a village of this epoch."""
    rest, _ = settle(pile, view.table["options"]["five_singles"])
    stays = present(rest) >> 4 * CLANS.index(view.table["own_clan"]) & 1
    return value_of(place, view.table["epoch"] - 1, rest) if stays else 0


def gain(village: Village, clan: str) -> int:
    """Return what a village gives to a clan."""
    return village.value if clan in village.clans else 0


def use(chance: Chance, own: str) -> tuple[int, int]:
    """Return what a move gives to a clan, and how far that is above what it gives to the best of the others."""
    gains = {clan: sum(gain(founding.village, clan) for founding in chance.made) for clan in CLANS}
    return gains[own], gains[own] - max(points for clan, points in gains.items() if clan != own)

"""Clans as pure rules: an immutable position, the legal moves, and what a move does. Source: the rule sheet.

A territory holds a *pile*: an int with the number of huts of clan c in bits 4c to 4c+3 and their total from bit 20 up,
so that joining two piles is one addition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

from engine.base import IllegalMove, Outcome, Plain, Tally, listed
from engine.games.clans.board import (
    AROUND,
    BIT,
    CHIPS,
    CLANS,
    EPOCH_OF_CHIP,
    EPOCHS,
    MASK,
    NEIGHBOURS,
    TERRAIN,
    TERRITORIES,
)
from engine.language import gettext as _
from engine.language import later

ALL_LEAVE = "all_leave"
ALL_STAY = "all_stay"

SIZE = 20
HUT = tuple(1 << 4 * clan | 1 << SIZE for clan in range(len(CLANS)))
"""The pile of one hut, by clan."""
NUMBER = {clan: number for number, clan in enumerate(CLANS)}
"""The place of each clan in `CLANS`."""
SEVEN = 7 << SIZE
EVERY = 0x11111
"""One hut of every clan, without the total; also the set of all clans as `present` writes it."""
NAMES = {
    sum(1 << 4 * clan for clan in some): tuple(CLANS[clan] for clan in some)
    for count in range(len(CLANS) + 1)
    for some in combinations(range(len(CLANS)), count)
}
"""The names of each set of clans."""
NO_MOVE_LEFT, TWELFTH_VILLAGE = later("no move left"), later("twelfth village")
"""Why a match ended."""


class Move(NamedTuple):
    """All huts of `source` go to `target`; `order` holds the villages that take chips if two or more arise, else ()."""

    source: int
    target: int
    order: tuple[int, ...] = ()


class Village(NamedTuple):
    """A village that took a chip: `epoch` is an index in `EPOCHS`, `clans` names those that score `value`."""

    territory: int
    epoch: int
    founder: int
    value: int
    clans: tuple[str, ...]


class Founding(NamedTuple):
    """How one village comes to be: the village, the pile that stays, and the clans that strife drove out."""

    village: Village
    pile: int
    gone: tuple[str, ...]


class Table(NamedTuple):
    """What never changes in a match: the secret clan of each seat, the option, the seats awaited after each seat."""

    clans: tuple[int, ...]
    five_singles: str
    following: tuple[tuple[int, ...], ...]


def huts_of(pile: int) -> list[int]:
    """Return how many huts of each clan are in the pile."""
    return [pile >> 4 * clan & 15 for clan in range(len(CLANS))]


def present(pile: int) -> int:
    """Return the set of clans in the pile, with bit 4c for clan c."""
    return (pile | pile >> 1 | pile >> 2 | pile >> 3) & EVERY


def newborn(occupied: int, source: int) -> list[int]:
    """Return, ascending, the villages that arise when `source` has just been emptied. `occupied` is the set after it.

    Only its neighbours can qualify; none can be a village already, because a village has no neighbour with huts.
    """
    born = []
    # A loop, because a comprehension would cost another call at every move.
    for near, itself, around in AROUND[source]:
        if not occupied & around and occupied & itself:
            born.append(near)
    return born


def settle(pile: int, five_singles: str) -> tuple[int, tuple[str, ...]]:
    """Return the pile that strife leaves, and the names of the clans that go. Rule sheet: Founding villages."""
    if present(pile) != EVERY:
        return pile, ()
    singles = EVERY ^ present(pile - EVERY)
    if singles == EVERY and five_singles == ALL_STAY:
        return pile, ()
    return pile - singles - (singles.bit_count() << SIZE), NAMES[singles]


def value_of(territory: int, epoch: int, pile: int) -> int:
    """Return what each clan in the village scores; a village from which all left has no value even on good terrain."""
    _chips, favourable, hostile, bonus = EPOCHS[epoch]
    terrain = TERRAIN[territory]
    if terrain in hostile or not pile:
        return 0
    return (pile >> SIZE) + (bonus if terrain in favourable else 0)


class State(NamedTuple):
    """A position of Clans.

    `huts` holds a pile for each territory, `occupied` the territories with huts, `settled` those that are villages,
    `points` the points of each clan, `chips` those of each seat, `villages` those that took a chip, in founding order.
    """

    table: Table
    huts: tuple[int, ...]
    occupied: int
    settled: int
    points: tuple[int, ...]
    chips: tuple[int, ...]
    villages: tuple[Village, ...]
    to_act: tuple[int, ...]

    @property
    def seats(self) -> int:
        """How many seats play."""
        return len(self.chips)

    @property
    def open(self) -> int:
        """How many chips are left."""
        return CHIPS - len(self.villages)

    def legal_moves(self, seat: int) -> Iterator[Move]:
        """Yield every move the seat may make, by source, target and order, each once; nothing if it is not awaited."""
        if seat not in self.to_act:
            return
        huts = self.huts
        for source, pile in enumerate(huts):
            if not pile or not self.occupied & MASK[source]:
                continue
            choices = orders(self, source)
            for target in NEIGHBOURS[source]:
                if huts[target] and (pile < SEVEN or pile >> SIZE <= huts[target] >> SIZE):
                    for order in choices:
                        yield Move(source, target, order)

    def apply(self, seat: int, move: Move) -> State:
        """Return the position after the move. Raises `IllegalMove` with a sentence for the player."""
        source, target, order = move
        table, before, occupied, settled, points, chips, villages, to_act = self
        if seat not in to_act:
            raise IllegalMove(_("It is not your turn.") if to_act else _("The match is over."))
        pile, there = before[source], before[target]
        if not (pile and there and target in NEIGHBOURS[source] and (pile < SEVEN or pile >> SIZE <= there >> SIZE)):
            raise IllegalMove(obstacle(self, source, target))
        huts = list(before)
        huts[source] = 0
        huts[target] = pile + there
        occupied ^= BIT[source]
        born = newborn(occupied, source)
        if born:
            return _founded(self, seat, move, huts, born)
        if order:
            raise IllegalMove(_("No village arises: there is no order to name."))
        return State(table, tuple(huts), occupied, settled, points, chips, villages, table.following[seat])

    def outcome(self) -> Outcome | None:
        """Return how the match ended by its own rules, or None while it runs. Equal points share the win."""
        if self.to_act:
            return None
        scores, detail = self.tally()
        best = max(scores)
        winners = tuple(seat for seat, score in enumerate(scores) if score == best)
        reason = NO_MOVE_LEFT if self.open else TWELFTH_VILLAGE
        return Outcome(reason, scores, winners, detail)

    def tally(self) -> Tally:
        """Return the scores as they stand, points of the secret clan plus chips, with the account that records hold."""
        points, chips = self.points, self.chips
        scores = tuple(points[clan] + chips[seat] for seat, clan in enumerate(self.table.clans))
        detail: Plain = {
            "clan_points": dict(zip(CLANS, points, strict=True)),
            "chips": list(chips),
            "villages": [
                {
                    "territory": TERRITORIES[village.territory],
                    "epoch": village.epoch + 1,
                    "founder": village.founder,
                    "value": village.value,
                    "clans": list(village.clans),
                }
                for village in self.villages
            ],
        }
        return Tally(scores, detail)


def obstacle(state: State, source: int, target: int) -> str:
    """Return the sentence that tells a player why the huts of `source` cannot go to `target`, "" if they can."""
    size, size_there = state.huts[source] >> SIZE, state.huts[target] >> SIZE
    if source == target:
        said = _("{here} is both ends of this move. {here} borders {near}.")
    elif target not in NEIGHBOURS[source]:
        said = _("{here} and {there} are not neighbours. {here} borders {near}.")
    elif not size:
        said = _("{here} is empty: there are no huts to move.")
    elif not size_there:
        said = _("{there} is empty: huts move only to a neighbour that holds huts.")
    elif size > 6 and size > size_there:
        said = _(
            "{here} has {size} huts: seven or more stay put unless the neighbour holds at least as many; {there} holds"
            " {other}."
        )
    else:
        return ""
    near = ", ".join(TERRITORIES[each] for each in NEIGHBOURS[source])
    return said.format(here=TERRITORIES[source], there=TERRITORIES[target], near=near, size=size, other=size_there)


def orders(state: State, source: int) -> tuple[tuple[int, ...], ...]:
    """Return the orders of founding among which a legal move must choose: ((),) if fewer than two villages arise.

    An order names the villages that take a chip; those for which no chip is left are not named. Orders that give the
    same points are still different moves, because a record lists the villages as they were founded.
    """
    born = newborn(state.occupied ^ BIT[source], source)
    if len(born) < 2:
        return ((),)
    return tuple(permutations(born, min(len(born), state.open)))


def order_matters(state: State, source: int, target: int) -> bool:
    """Tell whether the orders of a legal move differ in what they score; they never differ in chips or in the end."""
    huts = list(state.huts)
    huts[target] += huts[source]
    return len({_gains(state, huts, order) for order in orders(state, source)}) > 1


def newborn_by(state: State, move: Move) -> list[int]:
    """Return, ascending, the villages that arise by a legal move, those without a chip too."""
    return newborn(state.occupied ^ BIT[move.source], move.source)


def foundings(state: State, seat: int, move: Move) -> list[Founding]:
    """Return the villages that a legal move founds with a chip, in founding order."""
    huts = list(state.huts)
    huts[move.target] += huts[move.source]
    return found(state, seat, huts, move.order or newborn_by(state, move))


def too_late(state: State, move: Move) -> tuple[int, ...]:
    """Return the territories that a legal move leaves as villages when no chip is left for them."""
    named = move.order
    return tuple(territory for territory in newborn_by(state, move) if named and territory not in named)


def found(state: State, seat: int, huts: Sequence[int], order: Sequence[int]) -> list[Founding]:
    """Found villages in this order while chips last; `huts` are the piles after the huts have moved."""
    made = []
    for chip, territory in enumerate(order[: state.open], len(state.villages)):
        epoch = EPOCH_OF_CHIP[chip]
        pile, gone = settle(huts[territory], state.table.five_singles)
        village = Village(territory, epoch, seat, value_of(territory, epoch, pile), NAMES[present(pile)])
        made.append(Founding(village, pile, gone))
    return made


def _gains(state: State, huts: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Return what each clan gains when the villages are founded in this order."""
    gains = [0] * len(CLANS)
    for village, _pile, _gone in found(state, 0, huts, order):
        for clan in village.clans:
            gains[NUMBER[clan]] += village.value
    return tuple(gains)


def _founded(state: State, seat: int, move: Move, huts: list[int], born: list[int]) -> State:
    """Return the position after a move by which the territories in `born` become villages; `huts` are moved already."""
    if len(born) > 1:
        if move.order not in orders(state, move.source):
            raise IllegalMove(unordered(born))
    elif move.order:
        raise IllegalMove(_("One village arises: there is no order to name."))
    made = found(state, seat, huts, move.order or born)
    points, chips, villages = list(state.points), list(state.chips), list(state.villages)
    chips[seat] += len(made)
    occupied, settled = state.occupied ^ BIT[move.source], state.settled
    for territory in born:
        settled |= BIT[territory]
    for village, pile, _gone in made:
        territory, _epoch, _founder, value, clans = village
        huts[territory] = pile
        if not pile:
            occupied ^= BIT[territory]
        for clan in clans:
            points[NUMBER[clan]] += value
        villages.append(village)
    # Two neighbours with huts always leave a legal move, the smaller pile onto the larger one; and a territory without
    # such a neighbour is a village. So a move is left exactly while some huts stand outside the villages.
    running = len(villages) < CHIPS and occupied & ~settled
    to_act = state.table.following[seat] if running else ()
    return State(state.table, tuple(huts), occupied, settled, tuple(points), tuple(chips), tuple(villages), to_act)


def unordered(born: Sequence[int]) -> str:
    """Return the sentence that asks in which order the villages are founded."""
    said = _("This move makes villages of {names}, and their order matters: name them after a slash, first to last.")
    return said.format(names=listed([TERRITORIES[territory] for territory in born]))

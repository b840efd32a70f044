"""Positions of Clans and Glory that agree with all a viewer has seen, rebuilt from views and public texts alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.base import View
from engine.bots.mind import Chance, Glimpse, Sight
from engine.games.glory.cards import CARD, IN_PLAY, MATCH, NEAR, SPOT, SPOTS_IN_PLAY
from engine.games.glory.clues import Clue, clue, likelihood
from engine.games.glory.rules import BARE, State, Table, face_down

MIXING: Final = 4
"""How often each hidden card is offered another place, so that no deal is likelier than another."""
SETTLING: Final = 30
"""How often it is offered another place before the first deal that is made likely by the moves."""
DRIFTING: Final = 3
"""How often from one such deal to the next."""
GUESSES: Final = 4
"""In so many hands that a seat may have held its move is looked at."""


def worlds(sight: Sight, count: int, chance: Chance) -> list[State]:
    """Return so many positions that may be the true one, each deal as likely as the moves of the others make it.

    A card that lies face down, and every card still in the hand of who laid it, fitted nowhere at that moment.
    """
    hidden = Hidden(sight)
    clues = _clues(sight, hidden.cards, chance)
    if not clues:
        return [hidden.dealt(chance) for _ in range(count)]
    deal = Deal(hidden, clues, chance)
    deal.drift(SETTLING)
    found = []
    for _ in range(count):
        deal.drift(DRIFTING)
        found.append(hidden.state(deal.cards))
    return found


def any_world(view: View) -> State:
    """Return some position that looks like the view, for whoever asks only about what the viewer sees."""
    return Hidden(Sight(view, ())).dealt(lambda: 0.0)


def unseen(view: View) -> list[int]:
    """Return the cards that the viewer sees nowhere, ascending."""
    table = view.table
    seen = {*table["cards"].values(), *(table["hand"] or ()), *(down["card"] for down in table["down"].values())}
    gone = {CARD[name] for name in seen if name}
    return [card for card in IN_PLAY[view.seats] if card not in gone]


def fitting(view: View) -> int:
    """Return the set of cards that fit somewhere."""
    table = view.table
    laid = {SPOT[spot]: CARD[card] for spot, card in table["cards"].items()}
    taken = {*laid, *(SPOT[spot] for spot in table["down"])}
    near = NEAR[table["options"]["row"]]
    found = 0
    for spot in SPOTS_IN_PLAY[view.seats]:
        if spot not in taken:
            for other in near[spot]:
                found |= MATCH[laid.get(other, 0)]
    return found


class Hidden:
    """The places where cards lie that a viewer cannot see, the cards themselves, and which can be where.

    Places are the face-down cards of others, then the hands of others card by card, then what was never dealt.
    """

    def __init__(self, sight: Sight) -> None:
        view = sight.view
        self.view = view
        self.cards = unseen(view)
        barred, at_spot = _barred(sight.past, view.viewer)
        self.spots = [SPOT[spot] for spot, down in view.table["down"].items() if down["card"] is None]
        self.holders = [
            seat for seat in range(view.seats) if seat != view.viewer for _ in range(view.table["counts"][seat])
        ]
        self.bars = [at_spot.get(spot, 0) for spot in self.spots] + [barred.get(seat, 0) for seat in self.holders]
        self.bars += [0] * (len(self.cards) - len(self.bars))

    def dealt(self, chance: Chance) -> State:
        """Return the position with the hidden cards dealt anew, each possible deal as likely as the others."""
        return self.state(self.order(chance))

    def order(self, chance: Chance) -> list[int]:
        """Return the cards in any order that puts none where it cannot be, each as likely as the others."""
        cards = _shuffled(self.cards, chance)
        return _mixed(_matched(cards, self.bars), self.bars, chance) if any(self.bars) else cards

    def state(self, cards: Sequence[int]) -> State:
        """Return the position with the hidden cards in the places in this order."""
        downs, hands = len(self.spots), [0] * self.view.seats
        for seat, card in zip(self.holders, cards[downs:], strict=False):
            hands[seat] |= 1 << card
        faces = dict(zip(self.spots, cards, strict=False))
        undealt = sum(1 << card for card in cards[downs + len(self.holders) :])
        return _state(self.view, hands, faces, undealt)


class Deal:
    """An order of the hidden cards that drifts: in the long run each is met as often as moves and clues make it likely.

    Source: Metropolis et al., "Equation of State Calculations by Fast Computing Machines" (1953).
    """

    def __init__(self, hidden: Hidden, clues: dict[int, list[Clue]], chance: Chance) -> None:
        self.cards = hidden.order(chance)
        self.bars = hidden.bars
        self.chance = chance
        self.clues = clues
        self.downs = len(hidden.spots)
        undealt = len(self.cards) - self.downs - len(hidden.holders)
        self.holders: list[int | None] = [*[None] * self.downs, *hidden.holders, *[None] * undealt]
        self.pulls = {
            seat: {card: [each.pulls.get(card, 0.0) for each in found] for card in self.cards}
            for seat, found in clues.items()
        }
        self.sums = {seat: [each.known for each in found] for seat, found in clues.items()}
        for holder, card in zip(self.holders, self.cards, strict=True):
            if holder in self.sums:
                self.sums[holder] = list(map(float.__add__, self.sums[holder], self.pulls[holder][card]))
        self.likely = {seat: likelihood(found, self.sums[seat]) for seat, found in clues.items()}

    def drift(self, times: int) -> None:
        """Offer each card so many times another place."""
        size, chance = len(self.cards), self.chance
        for _ in range(times * size):
            self._offer(int(chance() * size), int(chance() * size))

    def _offer(self, one: int, two: int) -> None:
        """Swap the cards of two places if nothing bars it, surely if that makes a likelier deal."""
        cards, holders = self.cards, self.holders
        mine, other = cards[one], cards[two]
        if (self.bars[one] >> other | self.bars[two] >> mine) & 1:
            return
        changes = []
        ratio = 1.0
        if holders[one] != holders[two]:
            for holder, gone, come in ((holders[one], mine, other), (holders[two], other, mine)):
                if holder in self.sums:
                    pulls = self.pulls[holder]
                    sums = [
                        total - less + more
                        for total, less, more in zip(self.sums[holder], pulls[gone], pulls[come], strict=True)
                    ]
                    likely = likelihood(self.clues[holder], sums)
                    ratio *= likely / self.likely[holder]
                    changes.append((holder, sums, likely))
        if ratio >= 1 or self.chance() < ratio:
            cards[one], cards[two] = other, mine
            for holder, sums, likely in changes:
                self.sums[holder], self.likely[holder] = sums, likely


def _clues(sight: Sight, cards: Sequence[int], chance: Chance) -> dict[int, list[Clue]]:
    """Return by seat what its moves tell of who holds the cards that the viewer cannot see."""
    found: dict[int, list[Clue]] = {}
    laid: dict[int, list[int]] = {}
    for view, seat, text in reversed(sight.past):
        name, _, *more = text.split()
        if seat != sight.view.viewer and "down" not in more:
            later = laid.setdefault(seat, [])
            later.append(CARD[name])
            hands = [_hand(later, cards, view.table["counts"][seat], chance) for _ in range(GUESSES)]
            found.setdefault(seat, []).append(clue(any_world(view), seat, later, hands, cards))
    return found


def _hand(known: Sequence[int], cards: Sequence[int], count: int, chance: Chance) -> int:
    """Return a hand of so many cards, the known ones and some of the others, as a set."""
    return sum(1 << card for card in [*known, *_shuffled(cards, chance)][:count])


def _barred(past: Iterable[Glimpse], viewer: int | None) -> tuple[dict[int, int], dict[int, int]]:
    """Return which cards each other seat cannot hold now, and which cannot lie face down on each spot."""
    by_seat: dict[int, int] = {}
    by_spot: dict[int, int] = {}
    for view, seat, text in past:
        _, spot, *more = text.split()
        if "down" in more and seat != viewer:
            by_seat[seat] = by_seat.get(seat, 0) | fitting(view)
            by_spot[SPOT[spot]] = by_seat[seat]
    return by_seat, by_spot


def _shuffled(cards: Sequence[int], chance: Chance) -> list[int]:
    left = list(cards)
    for last in range(len(left) - 1, 0, -1):
        other = int(chance() * (last + 1))
        left[last], left[other] = left[other], left[last]
    return left


def _matched(cards: Sequence[int], bars: Sequence[int]) -> list[int]:
    """Return the cards in an order in which none is where it is barred; there is one, for the true deal is one."""
    holder: dict[int, int] = {}

    def seat(place: int, tried: set[int]) -> bool:
        for card in cards:
            if card not in tried and not bars[place] >> card & 1:
                tried.add(card)
                if card not in holder or seat(holder[card], tried):
                    holder[card] = place
                    return True
        return False

    for place in sorted(range(len(bars)), key=lambda place: -bars[place].bit_count()):
        if not seat(place, set()):
            raise ValueError("no deal agrees with what was seen")
    order = [0] * len(bars)
    for card, place in holder.items():
        order[place] = card
    return order


def _mixed(cards: Sequence[int], bars: Sequence[int], chance: Chance) -> list[int]:
    """Return the cards after many random swaps, none of which puts a card where it is barred."""
    mixed = list(cards)
    size = len(mixed)
    for one in [*range(size)] * MIXING:
        two = int(chance() * size)
        if not (bars[one] >> mixed[two] | bars[two] >> mixed[one]) & 1:
            mixed[one], mixed[two] = mixed[two], mixed[one]
    return mixed


def _state(view: View, hands: list[int], faces: dict[int, int], undealt: int) -> State:
    """Return the position of a view, completed by the hands of others, their face-down cards and those never dealt."""
    table, seats = view.table, view.seats
    board = bytearray(BARE[seats])
    for name, card in table["cards"].items():
        board[SPOT[name]] = CARD[card]
    for name, down in table["down"].items():
        card = CARD[down["card"]] if down["card"] else faces.get(SPOT[name], 0)
        board[SPOT[name]] = face_down(down["seat"], card)
    if view.viewer is not None:
        hands[view.viewer] = sum(1 << CARD[card] for card in table["hand"])
    row = table["options"]["row"]
    return State(
        table=Table(
            seats=seats,
            places=table["places"],
            spots=SPOTS_IN_PLAY[seats],
            row=row,
            near=NEAR[row],
            following=tuple(((seat + 1) % seats,) for seat in range(seats)),
            last=table["last"],
            undealt=undealt,
        ),
        hands=tuple(hands),
        board=bytes(board),
        stacks=tuple(tuple(stack) for stack in table["stacks"].values()),
        shields=tuple(table["shields"]),
        to_act=view.to_act,
    )

"""Clans and Glory as pure rules: an immutable position, the legal moves, what a move does. Source: the rule sheet.

The board is bytes, one for each spot and one more for `NOWHERE`: 0 a free spot, a card's number if it lies face up,
`DOWN` and more if it lies face down (with its owner, who alone knows it), `NO_SPOT` where this table has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from engine.base import IllegalMove, Outcome, Plain, Tally
from engine.games.glory.cards import (
    CARDS,
    MATCH,
    PLACE,
    PLACE_SPOTS,
    SPOTS,
    SPOTS_IN_PLAY,
    STRENGTH,
    WIDE,
    colour_word,
)
from engine.language import gettext as _
from engine.language import later, ngettext

FREE = 0
DOWN = 64
NO_SPOT = 255

LAST_CARD_LAID = later("last card laid")
"""Why a match ended."""

BYTE = tuple(bytes((value,)) for value in range(256))
BARE = {
    seats: bytes(FREE if spot in spots else NO_SPOT for spot in range(len(SPOTS) + 1))
    for seats, spots in SPOTS_IN_PLAY.items()
}
"""The board without cards, by how many play."""
BESIDE = tuple(MATCH[value] if value < len(CARDS) else 0 for value in range(256))
"""For each byte of a board, the set of cards that fit beside it or opposite: none unless a card lies there face up."""
SHOWN = bytes(STRENGTH[value] if value < len(CARDS) else 0 for value in range(256))
"""For each byte of a board, the strength of the card that lies there face up, 0 if none does."""


class Move(NamedTuple):
    """A card goes from the hand to a spot, face up or `down`; with `shield` a shield follows onto that place."""

    card: int
    spot: int
    shield: bool = False
    down: bool = False


class Taking(NamedTuple):
    """What one shield takes: all face-up cards of one strength at its place."""

    seat: int
    strength: int
    cards: int


class Table(NamedTuple):
    """What never changes in a match: seats, places, spots, neighbours, who follows whom, who holds the small hand."""

    seats: int
    places: int
    spots: tuple[int, ...]
    row: str
    near: tuple[tuple[int, int, int], ...]
    following: tuple[tuple[int, ...], ...]
    last: int
    undealt: int


def face_down(seat: int, card: int) -> int:
    """Return the byte of a card that lies face down."""
    return DOWN + seat * len(CARDS) + card


def owner_and_card(value: int) -> tuple[int, int]:
    """Return whose face-down card a byte is, and which."""
    return divmod(value - DOWN, len(CARDS))


def members(cards: int) -> Iterator[int]:
    """Yield the cards of a set, ascending."""
    while cards:
        lowest = cards & -cards
        yield lowest.bit_length() - 1
        cards ^= lowest


class State(NamedTuple):
    """A position of Clans and Glory.

    `hands` holds a set of cards for each seat, `board` a byte for each spot, `stacks` for each place the seats of its
    shields, first placed first, `shields` how many each seat has left.
    """

    table: Table
    hands: tuple[int, ...]
    board: bytes
    stacks: tuple[tuple[int, ...], ...]
    shields: tuple[int, ...]
    to_act: tuple[int, ...]

    @property
    def seats(self) -> int:
        """How many seats play."""
        return self.table.seats

    def legal_moves(self, seat: int) -> Iterator[Move]:
        """Yield every move the seat may make, by card and spot, the one without a shield first; none if not awaited."""
        if seat not in self.to_act:
            return
        hand = self.hands[seat]
        shields = (False, True) if self.shields[seat] else (False,)
        fitting = fitting_by_spot(self)
        down = not any(hand & cards for _spot, cards in fitting)
        for card in members(hand):
            for spot, cards in fitting:
                if down or cards >> card & 1:
                    for shield in shields:
                        yield Move(card, spot, shield, down)

    def apply(self, seat: int, move: Move) -> State:
        """Return the position after the move. Raises `IllegalMove` with a sentence for the player."""
        if not allowed(self, seat, move):
            raise IllegalMove(obstacle(self, seat, move))
        card, spot, shield, down = move
        table, before, board, stacks, shields, _to_act = self
        hands = list(before)
        hands[seat] ^= 1 << card
        board = board[:spot] + BYTE[face_down(seat, card) if down else card] + board[spot + 1 :]
        if shield:
            place = PLACE[spot]
            stacks = (*stacks[:place], (*stacks[place], seat), *stacks[place + 1 :])
            shields = (*shields[:seat], shields[seat] - 1, *shields[seat + 1 :])
        over = seat == table.last and not hands[seat]
        return State(table, tuple(hands), board, stacks, shields, () if over else table.following[seat])

    def outcome(self) -> Outcome | None:
        """Return how the match ended by its own rules, or None while it runs. Equal points share the win."""
        if self.to_act:
            return None
        scores, detail = self.tally()
        best = max(scores)
        winners = tuple(seat for seat, score in enumerate(scores) if score == best)
        return Outcome(LAST_CARD_LAID, scores, winners, detail)

    def tally(self) -> Tally:
        """Return the scores as they stand and, by place, what each shield takes. In this game all of it is public."""
        scores = [0] * self.seats
        taken: dict[str, Plain] = {}
        for place in range(self.table.places):
            found = takings(self, place)
            if found:
                taken[str(place + 1)] = [list(taking) for taking in found]
            for seat, strength, cards in found:
                scores[seat] += strength * cards
        return Tally(tuple(scores), {"taken": taken})


def allowed(state: State, seat: int, move: Move) -> bool:
    """Tell whether the seat may make the move now."""
    card, spot, shield, down = move
    board = state.board
    if seat not in state.to_act or not state.hands[seat] >> card & 1 or board[spot]:
        return False
    if shield and not state.shields[seat]:
        return False
    if down:
        return not fits_at_all(state, state.hands[seat])
    return fitting_cards(state, spot) >> card & 1 == 1


def obstacle(state: State, seat: int, move: Move) -> str:
    """Return the sentence that tells a player why he cannot make the move, "" if he can."""
    card, spot, shield, down = move
    name, where, hand = CARDS[card], SPOTS[spot], state.hands[seat] if 0 <= seat < state.seats else 0
    if seat not in state.to_act:
        return _("It is not your turn.") if state.to_act else _("The match is over.")
    if state.board[spot] == NO_SPOT:
        last = WIDE * state.table.places
        said = _("There is no spot {spot} at this table: they are N1 to N{last} and S1 to S{last}.")
        return said.format(spot=where, last=last)
    if not hand >> card & 1:
        return _("You do not hold {card}.").format(card=name)
    if state.board[spot]:
        return _("{spot} is taken: a card goes onto a free spot.").format(spot=where)
    if down and fits_at_all(state, hand):
        return _("A card of yours fits face up: only when none does may one be laid face down.")
    if not down and not fits(state, card, spot):
        if fits_at_all(state, hand):
            return _misfit(state, card, spot)
        said = _("None of your cards fits anywhere, so you lay one face down: write {card} {spot} down.")
        return said.format(card=name, spot=where)
    if shield and not state.shields[seat]:
        return _("You have no shield left.")
    return ""


def fits(state: State, card: int, spot: int) -> bool:
    """Tell whether a face-up card opposite or beside the spot shares the card's colour or strength."""
    return fitting_cards(state, spot) >> card & 1 == 1


def matches(state: State, card: int, spot: int) -> list[int]:
    """Return the spots around this one whose face-up card shares the card's colour or strength."""
    return sorted(near for near in state.table.near[spot] if BESIDE[state.board[near]] >> card & 1)


def free_spots(state: State) -> list[int]:
    """Return the spots where no card lies, ascending."""
    board = state.board
    return [spot for spot in state.table.spots if not board[spot]]


def fitting_spots(state: State, card: int) -> list[int]:
    """Return the free spots where the card may lie face up, ascending."""
    return [spot for spot, cards in fitting_by_spot(state) if cards >> card & 1]


def fitting_by_spot(state: State) -> list[tuple[int, int]]:
    """Return the free spots, ascending, each with the set of cards that may lie there face up."""
    return [(spot, fitting_cards(state, spot)) for spot in free_spots(state)]


def fitting_cards(state: State, spot: int) -> int:
    """Return the set of cards that share colour or strength with a face-up card opposite or beside the spot."""
    board = state.board
    opposite, left, right = state.table.near[spot]
    return BESIDE[board[opposite]] | BESIDE[board[left]] | BESIDE[board[right]]


def fits_at_all(state: State, hand: int) -> bool:
    """Tell whether any of the cards may lie face up anywhere."""
    return any(hand & fitting_cards(state, spot) for spot in free_spots(state))


def takings(state: State, place: int) -> list[Taking]:
    """Return what the shields of a place take if it is scored now, in scoring order; those that get nothing left out.

    The shield placed first takes all face-up cards of the lowest strength, the next all of the next lowest. Face-down
    cards are not looked at; cards for which no shield is left go to nobody.
    """
    stack, board = state.stacks[place], state.board
    if not stack:
        return []
    strengths = [SHOWN[board[spot]] for spot in PLACE_SPOTS[place]]
    lowest_first = sorted({*strengths} - {0})
    return [
        Taking(seat, strength, strengths.count(strength)) for seat, strength in zip(stack, lowest_first, strict=False)
    ]


def _misfit(state: State, card: int, spot: int) -> str:
    """Return why a card does not fit on a spot, by what lies around it."""
    around = [near for near in sorted(state.table.near[spot]) if 0 < state.board[near] < DOWN]
    laid = _("{card} on {spot}")
    found = [laid.format(card=CARDS[state.board[near]], spot=SPOTS[near]) for near in around]
    if not found:
        said = _(
            "{card} does not fit on {spot}: around it lies no face-up card. It goes where a face-up card opposite or"
            " beside it is {colour} or a {strength}."
        )
    else:
        said = ngettext(
            "{card} does not fit on {spot}: around it lies {found}. It goes where a face-up card opposite or beside it"
            " is {colour} or a {strength}.",
            "{card} does not fit on {spot}: around it lie {found}. It goes where a face-up card opposite or beside it"
            " is {colour} or a {strength}.",
            len(found),
        )
    name = CARDS[card]
    colour = colour_word(name[0])
    return said.format(card=name, spot=SPOTS[spot], found=", ".join(found), colour=colour, strength=name[1])

"""What chance decides in Clans and Glory: the deal, and the first position made of it. Source: rule sheet, Setup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.base import InvalidSetup, Option, Plain, Stream
from engine.games.glory.cards import (
    CARDS,
    CONTINUOUS,
    DECKS,
    IN_PLAY,
    NAMED,
    NEAR,
    SEPARATE,
    SHIELDS,
    SPOTS,
    SPOTS_IN_PLAY,
    START_SPOTS,
    WHOLE,
)
from engine.games.glory.rules import BARE, State, Table
from engine.language import gettext as _

SEAT_COUNTS = range(2, 5)
KEYS = {"hands", "start_cards", "first"}


def options() -> tuple[Option, ...]:
    """Return the rules that a table may choose."""
    choices = (
        (CONTINUOUS, _("is one: a card also matches a neighbour at the next place")),
        (SEPARATE, _("ends at each place: a card matches only at its own place")),
    )
    return (Option("row", _("The row of spots"), choices),)


def deal(stream: Stream, seats: int) -> Plain:
    """Return a setup drawn from the stream: `hands` (by seat), `start_cards` (spot to card) and `first` (a seat).

    The order of the draws is part of docs/fair-deal.md: the cards, then the start seat. The shuffled cards go to the
    places first, then to the hands in turn order, so that the deal reads as it is done at a table.
    """
    cards = [CARDS[card] for card in stream.shuffled(IN_PLAY[seats])]
    first = stream.below(seats)
    start_cards = {SPOTS[spot]: cards.pop(0) for spot in START_SPOTS[seats]}
    hands: list[list[str]] = [[] for _ in range(seats)]
    for seat, size in sizes(seats, first).items():
        hands[seat] = cards[:size]
        del cards[:size]
    return {"hands": hands, "start_cards": start_cards, "first": first}


def begin(setup: Plain, seats: int, options: Mapping[str, str]) -> State:
    """Return the first position. Raises `InvalidSetup` for anything that is not a setup for so many seats."""
    if seats not in SEAT_COUNTS:
        raise InvalidSetup(_("Clans and Glory is for 2 to 4 players, not {n}.").format(n=seats))
    row = _option(options)
    if not isinstance(setup, dict) or set(setup) != KEYS:
        raise InvalidSetup(_("A setup of Clans and Glory has hands, start_cards and first, and nothing else."))
    first = setup["first"]
    if type(first) is not int or not 0 <= first < seats:
        raise InvalidSetup(_("The start seat must be a number from 0 to {last}.").format(last=seats - 1))
    starts = _start_cards(setup["start_cards"], seats)
    hands = _hands(setup["hands"], seats, first)
    dealt = [card for hand in hands for card in hand] + list(starts.values())
    if len(set(dealt)) < len(dealt):
        twice = next(CARDS[card] for card in dealt if dealt.count(card) > 1)
        raise InvalidSetup(_("{card} is dealt twice, but there is only one.").format(card=twice))
    places = DECKS[seats].places
    held = tuple(sum(1 << card for card in hand) for hand in hands)
    table = Table(
        seats=seats,
        places=places,
        spots=SPOTS_IN_PLAY[seats],
        row=row,
        near=NEAR[row],
        following=tuple(((seat + 1) % seats,) for seat in range(seats)),
        last=(first - 1) % seats,
        undealt=WHOLE[seats] - sum(1 << card for card in dealt),
    )
    board = bytearray(BARE[seats])
    for spot, card in starts.items():
        board[spot] = card
    return State(
        table=table,
        hands=held,
        board=bytes(board),
        stacks=((),) * places,
        shields=(SHIELDS,) * seats,
        to_act=(first,),
    )


def sizes(seats: int, first: int) -> dict[int, int]:
    """Return how many cards each seat is dealt, in turn order."""
    return {(first + turn) % seats: size for turn, size in enumerate(DECKS[seats].hands)}


def _option(options: Any) -> str:
    """Return the value of `row`; there is no other option."""
    if not isinstance(options, Mapping):
        raise InvalidSetup(_("Options must be names with values."))
    for name, value in options.items():
        if name != "row":
            raise InvalidSetup(_("Clans and Glory has no such option; it has row."))
        if value not in (CONTINUOUS, SEPARATE):
            why = _("The option row must be {one} or {other}.")
            raise InvalidSetup(why.format(one=CONTINUOUS, other=SEPARATE))
    return str(options.get("row", CONTINUOUS))


def _start_cards(found: Any, seats: int) -> dict[int, int]:
    """Return the start cards by spot."""
    spots = START_SPOTS[seats]
    if not isinstance(found, dict) or set(found) != {SPOTS[spot] for spot in spots}:
        why = _("There must be one start card on each of {spots}.")
        raise InvalidSetup(why.format(spots=", ".join(SPOTS[spot] for spot in spots)))
    return {spot: _card(found[SPOTS[spot]], seats) for spot in spots}


def _hands(found: Any, seats: int, first: int) -> list[list[int]]:
    """Return the cards of each hand."""
    if not isinstance(found, list) or len(found) != seats or not all(isinstance(hand, list) for hand in found):
        raise InvalidSetup(_("Each seat must have one hand of cards."))
    for seat, size in sizes(seats, first).items():
        if len(found[seat]) != size:
            why = _("Seat {seat} must hold {size} cards, not {found}: seat {first} starts.")
            raise InvalidSetup(why.format(seat=seat, size=size, found=len(found[seat]), first=first))
    return [[_card(card, seats) for card in hand] for hand in found]


def _card(name: Any, seats: int) -> int:
    card = NAMED[seats].get(name) if isinstance(name, str) else None
    if card is None:
        why = _("With {n} players a card is a letter of R O Y G B P W and a strength from 3 to {highest}.")
        raise InvalidSetup(why.format(n=seats, highest=DECKS[seats].highest))
    return card

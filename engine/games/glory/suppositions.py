"""Moves that a seat of Clans and Glory might make for all that somebody else knows.

What another holds is hidden: he may lay any card that the viewer has not seen, or one face down, as long as so many
unseen cards as he holds fit nowhere. Nothing here depends on which hidden card lies where.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.glory.rules import (
    BYTE,
    DOWN,
    NO_SPOT,
    Move,
    State,
    face_down,
    fitting_by_spot,
    members,
    owner_and_card,
)


def conceivable(state: State, viewer: int | None, seat: int) -> Iterator[tuple[State, Move]]:
    """Yield each move that the seat may make for all the viewer knows, with a position in which it may.

    The positions differ from this one in nothing but what the viewer must not know. Of a card face down one stands for
    all. Nothing is yielded for a seat that is not awaited.
    """
    if seat == viewer:
        yield from ((state, move) for move in state.legal_moves(seat))
    elif seat in state.to_act:
        unseen, fitting = _unseen(state, viewer), fitting_by_spot(state)
        shields = (False, True) if state.shields[seat] else (False,)
        for card in unseen:
            world = _holding(state, viewer, seat, [card])
            spots = [spot for spot, cards in fitting if cards >> card & 1]
            yield from ((world, Move(card, spot, shield)) for spot in spots for shield in shields)
        misfits = [card for card in unseen if not any(cards >> card & 1 for _spot, cards in fitting)]
        count = state.hands[seat].bit_count()
        if len(misfits) >= count:
            world = _holding(state, viewer, seat, misfits[:count])
            yield from (
                (world, Move(misfits[0], spot, shield, down=True)) for spot, _cards in fitting for shield in shields
            )


def _covered(state: State, viewer: int | None) -> list[int]:
    """Return the spots whose card the viewer must not know."""
    down = (spot for spot in state.table.spots if DOWN <= state.board[spot] < NO_SPOT)
    return [spot for spot in down if owner_and_card(state.board[spot])[0] != viewer]


def _unseen(state: State, viewer: int | None) -> list[int]:
    """Return the cards that the viewer has not seen, ascending."""
    hidden = state.table.undealt
    for seat, hand in enumerate(state.hands):
        hidden |= hand if seat != viewer else 0
    for spot in _covered(state, viewer):
        hidden |= 1 << owner_and_card(state.board[spot])[1]
    return list(members(hidden))


def _holding(state: State, viewer: int | None, seat: int, wanted: list[int]) -> State:
    """Return the position with these unseen cards in the seat's hand, each exchanged for one that is not wanted."""
    for card in wanted:
        hand = state.hands[seat]
        if not hand >> card & 1:
            state = _exchanged(state, viewer, card, next(other for other in members(hand) if other not in wanted))
    return state


def _exchanged(state: State, viewer: int | None, one: int, other: int) -> State:
    """Return the position in which two cards that the viewer has not seen have changed places."""
    both, named, board = 1 << one | 1 << other, {one: other, other: one}, state.board
    for spot in _covered(state, viewer):
        owner, card = owner_and_card(board[spot])
        board = board[:spot] + BYTE[face_down(owner, named.get(card, card))] + board[spot + 1 :]

    def swapped(cards: int) -> int:
        return cards if (cards & both).bit_count() != 1 else cards ^ both

    table = state.table._replace(undealt=swapped(state.table.undealt))
    return state._replace(table=table, hands=tuple(swapped(hand) for hand in state.hands), board=board)

"""What a viewer may know of a position of Clans and Glory, what a move does in words, and the move of the clock.

Secret while a match runs: the hands of others, the cards not dealt, the faces of others' face-down cards (rule sheet:
Public and secret). Hands are sets and always told in the order of `CARDS`, so their order tells nothing either.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.base import Outcome, Phrase, Plain, Stream, View, Who, listed
from engine.games.glory.cards import CARDS, PLACE, SPOTS
from engine.games.glory.notation import format as written
from engine.games.glory.rules import (
    BYTE,
    DOWN,
    NO_SPOT,
    Move,
    State,
    Taking,
    face_down,
    fitting_by_spot,
    matches,
    members,
    owner_and_card,
    takings,
)
from engine.language import gettext as _
from engine.language import later

KIND = "glory"
SUMS = {
    2: later("Points: {who0} {points0}, {who1} {points1}."),
    3: later("Points: {who0} {points0}, {who1} {points1}, {who2} {points2}."),
    4: later("Points: {who0} {points0}, {who1} {points1}, {who2} {points2}, {who3} {points3}."),
}
"""How the points are told at the end, by the number of seats."""
GIVES = later("Place {place} gives {takings}.")
WOULD_GIVE = later("If the match ended now, place {place} would give {takings}.")


def view(state: State, viewer: int | None, outcome: Outcome | None) -> View:
    """Return what the viewer may know; with an outcome, every card."""
    to_act = () if outcome else state.to_act
    moves: tuple[str, ...] = ()
    if viewer is not None and viewer in to_act:
        moves = tuple(written(move) for move in state.legal_moves(viewer))
    return View(
        kind=KIND,
        seats=state.seats,
        viewer=viewer,
        to_act=to_act,
        moves=moves,
        outcome=outcome,
        table=_table(state, viewer, to_act, outcome),
    )


def _table(state: State, viewer: int | None, to_act: tuple[int, ...], outcome: Outcome | None) -> Plain:
    """Return the public facts and what the viewer alone knows.

    `cards` (spot to card) lie face up, `down` (spot to owner and card, None if hidden) face down. `stacks` holds the
    seats of the shields of each place, first placed first; `standings` what they would take if the match ended now, as
    seat, strength and number of cards, in scoring order. `fits` holds, for each card of the own hand, the spots where
    it may lie face up. `last` is the seat with the small hand, `turns` how many moves are left.
    """
    scores, detail = state.tally()
    hand = None if viewer is None else list(members(state.hands[viewer]))
    fitting = [(SPOTS[spot], cards) for spot, cards in fitting_by_spot(state)]
    return {
        "places": state.table.places,
        "cards": {SPOTS[spot]: CARDS[card] for spot in state.table.spots if 0 < (card := state.board[spot]) < DOWN},
        "down": {
            SPOTS[spot]: _hidden(state.board[spot], viewer, outcome)
            for spot in state.table.spots
            if DOWN <= state.board[spot] < NO_SPOT
        },
        "stacks": {str(place + 1): list(stack) for place, stack in enumerate(state.stacks)},
        "standings": detail["taken"],
        "points": list(scores),
        "shields": list(state.shields),
        "counts": [hand.bit_count() for hand in state.hands],
        "turns": turns_left(state) if to_act else 0,
        "last": state.table.last,
        "hand": None if hand is None else [CARDS[card] for card in hand],
        "fits": None
        if hand is None
        else {CARDS[card]: [spot for spot, cards in fitting if cards >> card & 1] for card in hand},
        "hands": [[CARDS[card] for card in members(cards)] for cards in state.hands] if outcome else None,
        "undealt": [CARDS[card] for card in members(state.table.undealt)] if outcome else None,
        "options": {"row": state.table.row},
    }


def turns_left(state: State) -> int:
    """Return how many moves are left while somebody is awaited: until the small hand is laid."""
    to_go = (state.table.last - state.to_act[0]) % state.seats + 1
    return to_go + state.seats * (state.hands[state.table.last].bit_count() - 1)


def _hidden(value: int, viewer: int | None, outcome: Outcome | None) -> Plain:
    """Return whose face-down card it is, and which, if the viewer may know."""
    owner, card = owner_and_card(value)
    return {"seat": owner, "card": CARDS[card] if outcome or owner == viewer else None}


def words(state: State, seat: int, move: Move, viewer: int | None) -> tuple[Phrase, ...]:
    """Tell what a legal move does: the card and why it fits, the shield, what the place gives now, and the end."""
    place = PLACE[move.spot]
    after = state.apply(seat, move)
    phrases = [_laid(state, seat, move, viewer)]
    if move.shield:
        phrases.append(_shield(state, seat, place, after))
    now = takings(after, place)
    if after.to_act:
        if now != takings(state, place):
            phrases.append(_given(WOULD_GIVE, place, now))
        return tuple(phrases)
    phrases.append(Phrase("{mover} has laid the last card of the small hand: the match is over.", {"mover": Who(seat)}))
    for each in range(state.table.places):
        gives = takings(after, each)
        if gives:
            phrases.append(_given(GIVES, each, gives))
    scores = after.tally().scores
    sums = {f"who{n}": Who(n) for n in range(state.seats)} | {f"points{n}": score for n, score in enumerate(scores)}
    phrases.append(Phrase(SUMS[state.seats], sums))
    return tuple(phrases)


def _laid(state: State, seat: int, move: Move, viewer: int | None) -> Phrase:
    facts: dict[str, int | str] = {"mover": Who(seat), "spot": SPOTS[move.spot]}
    if not move.down:
        around = matches(state, move.card, move.spot)
        laid = _("{card} on {spot}")
        reasons = listed([laid.format(card=CARDS[state.board[near]], spot=SPOTS[near]) for near in around])
        facts |= {"card": CARDS[move.card], "reasons": reasons}
        return Phrase("{mover} laid {card} on {spot}, where it matches {reasons}.", facts)
    if viewer == seat:
        facts["card"] = CARDS[move.card]
        return Phrase("{mover} laid {card} face down on {spot}, because no card of the hand fits anywhere.", facts)
    return Phrase("{mover} laid a card face down on {spot}, because no card of the hand fits anywhere.", facts)


def _shield(state: State, seat: int, place: int, after: State) -> Phrase:
    before = len(state.stacks[place])
    facts: dict[str, int | str] = {"mover": Who(seat), "place": place + 1, "left": after.shields[seat]}
    if not before:
        put = Phrase("{mover} put the first shield on place {place}: it takes first there. {left} left.", facts)
    else:
        put = Phrase.plural(
            "{mover} put a shield on place {place}, after {n} other. {left} left.",
            "{mover} put a shield on place {place}, after {n} others. {left} left.",
            before,
            facts,
        )
    return put.then(Phrase("As it stands it takes nothing.")) if len(takings(after, place)) <= before else put


def _given(template: str, place: int, gives: Sequence[Taking]) -> Phrase:
    """Tell what the shields of a place take, one after the other."""
    told = [
        Phrase(
            "{who} {points} ({cards} of strength {strength})",
            {"who": Who(seat), "points": strength * cards, "cards": cards, "strength": strength},
        )
        for seat, strength, cards in gives
    ]
    whole = told.pop()
    while told:
        whole = Phrase("{taking}, then {next}", {"taking": told.pop(), "next": whole})
    return Phrase(template, {"place": place + 1, "takings": whole})


def touched(move: Move) -> tuple[str, ...]:
    """Return the spot of the card, and the place if a shield was put there: "N7", "place 3"."""
    spot = SPOTS[move.spot]
    return (spot, f"place {PLACE[move.spot] + 1}") if move.shield else (spot,)


def place_name(place: str) -> str:
    """Return what players call a touched spot or place, in the language spoken just now."""
    word, _space, number = place.partition(" ")
    return _("place {place}").format(place=number) if number else word


def timeout_move(state: State, seat: int) -> Move:
    """Return the first legal move, which puts no shield: the lowest card of the first colour, as far left as may be.

    So running out of time spends nothing that the person might have kept.
    """
    for move in state.legal_moves(seat):
        return move
    raise ValueError(f"seat {seat} is not awaited")


def reshuffled(state: State, viewer: int | None, stream: Stream) -> State:
    """Return a position in which all that the viewer must not know is dealt anew: hands, undealt and face-down cards.

    A seat that had a card to lay face up, or had none, may be in the other case then: that is secret as well.
    """
    table, board, hands = state.table, state.board, list(state.hands)
    covered = [
        spot for spot in table.spots if DOWN <= board[spot] < NO_SPOT and owner_and_card(board[spot])[0] != viewer
    ]
    others = [seat for seat in range(state.seats) if seat != viewer]
    secret = [owner_and_card(board[spot])[1] for spot in covered] + list(members(table.undealt))
    for seat in others:
        secret += members(hands[seat])
    # In an order of their own, so that what comes out depends on the stream and on what is known alone.
    cards = stream.shuffled(sorted(secret))
    for spot in covered:
        board = board[:spot] + BYTE[face_down(owner_and_card(board[spot])[0], cards.pop())] + board[spot + 1 :]
    for seat in others:
        hands[seat] = sum(1 << cards.pop() for _ in range(hands[seat].bit_count()))
    undealt = sum(1 << card for card in cards)
    return state._replace(table=table._replace(undealt=undealt), hands=tuple(hands), board=board)

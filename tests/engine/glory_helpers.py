"""What the tests of Clans and Glory share: records, random matches, made-up positions, the rules told a second time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine import games
from engine.deal import stream_for
from engine.games.glory.cards import CARD, SPOT
from engine.games.glory.rules import FREE, NO_SPOT, Move, State, face_down

GAME = games.game("glory")
FOLDER = Path(__file__).parent.parent / "records"
RECORDS = sorted(FOLDER.glob("glory-*.json"))
BAD_RECORDS = sorted((FOLDER / "bad").glob("glory-*.json"))
NAMES = ("Ailsa", "Bran", "Catrin", "Dugald")
PLACES = {2: 4, 3: 5, 4: 6}
HANDS = {2: (9, 8), 3: (9, 9, 8), 4: (8, 8, 8, 7)}


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def record(name: str) -> dict[str, Any]:
    return read(FOLDER / f"glory-{name}.json")


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


def position(
    laid: Mapping[str, str],
    hands: Sequence[str],
    *,
    stacks: Mapping[int, Sequence[int]] | None = None,
    shields: Sequence[int] | None = None,
    row: str = "continuous",
) -> State:
    """Return a made-up position with seat 0 to move and the last seat holding the small hand.

    `laid` is what lies where: "R5", or "R5 down by 1"; `hands` are names of cards; `stacks` the shields by place.
    """
    seats = len(hands)
    state = GAME.begin({**setup(1, seats), **_first(seats)}, seats, {"row": row})
    board = [FREE if value != NO_SPOT else NO_SPOT for value in state.board]
    for spot, card in laid.items():
        name, _, owner = card.partition(" down by ")
        board[SPOT[spot]] = face_down(int(owner), CARD[name]) if owner else CARD[name]
    return state._replace(
        hands=tuple(sum(1 << CARD[card] for card in hand.split()) for hand in hands),
        board=bytes(board),
        stacks=tuple(tuple((stacks or {}).get(place + 1, ())) for place in range(PLACES[seats])),
        shields=tuple(shields or (5,) * seats),
        to_act=(0,),
    )


def _first(seats: int) -> dict[str, Any]:
    """Return a deal in which seat 0 starts."""
    return next(dealt for seed in range(100) if (dealt := setup(seed, seats))["first"] == 0)


def play(state: State, *texts: str) -> State:
    for text in texts:
        seat = state.to_act[0]
        state = state.apply(seat, GAME.parse(state, seat, text))
    return state


def legal(state: State) -> list[str]:
    seat = state.to_act[0]
    return [GAME.format(state, seat, move) for move in state.legal_moves(seat)]


class Plainly:
    """The rules of Clans and Glory once more, slow and by names, straight from the rule sheet."""

    def __init__(self, dealt: Mapping[str, Any], row: str = "continuous") -> None:
        self.hands = [set(hand) for hand in dealt["hands"]]
        self.seats = len(self.hands)
        self.places = PLACES[self.seats]
        self.row = row
        self.up: dict[str, str] = dict(dealt["start_cards"])
        self.down: dict[str, str] = {}
        self.stacks: dict[int, list[int]] = {place: [] for place in range(1, self.places + 1)}
        self.left = [5] * self.seats
        self.small = min(range(self.seats), key=lambda seat: len(self.hands[seat]))
        self.turn = dealt["first"]
        self.over = False

    def spots(self) -> list[str]:
        return [f"{side}{column}" for side in "NS" for column in range(1, 3 * self.places + 1)]

    def free(self) -> list[str]:
        return [spot for spot in self.spots() if spot not in self.up and spot not in self.down]

    def around(self, spot: str) -> list[str]:
        side, column = spot[0], int(spot[1:])
        beside = [other for other in (column - 1, column + 1) if 1 <= other <= 3 * self.places]
        if self.row == "separate":
            beside = [other for other in beside if (other - 1) // 3 == (column - 1) // 3]
        return [f"{'S' if side == 'N' else 'N'}{column}", *(f"{side}{other}" for other in beside)]

    def fits(self, card: str, spot: str) -> bool:
        return any(set(card) & set(self.up.get(other, "")) for other in self.around(spot))

    def texts(self) -> set[str]:
        """Return the canonical text of every legal move of whoever is to move."""
        hand = self.hands[self.turn]
        plain = {f"{card} {spot}" for card in hand for spot in self.free() if self.fits(card, spot)}
        plain = plain or {f"{card} {spot} down" for card in hand for spot in self.free()}
        return plain | ({f"{text} shield" for text in plain} if self.left[self.turn] else set())

    def play(self, text: str) -> None:
        card, spot, *more = text.split()
        (self.down if "down" in more else self.up)[spot] = card
        self.hands[self.turn].remove(card)
        if "shield" in more:
            self.stacks[(int(spot[1:]) + 2) // 3].append(self.turn)
            self.left[self.turn] -= 1
        self.over = self.turn == self.small and not self.hands[self.turn]
        self.turn = (self.turn + 1) % self.seats

    def scores(self) -> list[int]:
        scores = [0] * self.seats
        for place, stack in self.stacks.items():
            cards = [int(card[1]) for spot, card in self.up.items() if (int(spot[1:]) + 2) // 3 == place]
            for seat in stack:
                if cards:
                    lowest = min(cards)
                    scores[seat] += lowest * cards.count(lowest)
                    cards = [strength for strength in cards if strength > lowest]
        return scores

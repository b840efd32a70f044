"""What bots know of Clans and Glory: worlds that may be true, moves that look good, and matches between bots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from glory_helpers import CARD, GAME, PLACES, SPOT, Plainly, beginning, legal, play, position, setup

from engine import bots
from engine.bots.mind import Chance, Glimpse, Sight
from engine.games.glory import worlds
from engine.games.glory.cards import CARDS, IN_PLAY
from engine.games.glory.mind import MIND
from engine.games.glory.prospects import FREE_SPOT, LEVELS, place_code, price, prospects
from engine.games.glory.rules import DOWN, Move, State, members, owner_and_card
from engine.games.glory.sketch import Sketch

TABLES = [(seats, row) for seats in (2, 3, 4) for row in ("continuous", "separate")]
BRIEF = bots.Thought(30)


def chance(seed: int = 1) -> Chance:
    return Random(seed).random


def sights(seed: int, seats: int, row: str, strengths: tuple[str, ...] = ()) -> Iterator[tuple[State, Sight, Move]]:
    """Yield each position of a match with what its mover has been shown, and the move he makes; random by default."""
    yield from followed(beginning(seed, seats, {"row": row}), seed, strengths)


def followed(state: State, seed: int, strengths: tuple[str, ...] = ()) -> Iterator[tuple[State, Sight, Move]]:
    """Yield the same from a position on."""
    rng, seats = Random(seed), state.seats
    past: list[list[Glimpse]] = [[] for _ in range(seats)]
    while state.to_act:
        seat = state.to_act[0]
        sight = Sight(GAME.view(state, seat, None), tuple(past[seat]))
        if strengths:
            text = bots.choose(strengths[seat], GAME, sight, rng.random, BRIEF)
        else:
            text = rng.choice(sight.view.moves)
        move = GAME.parse(state, seat, text)
        yield state, sight, move
        for viewer in range(seats):
            told = GAME.public_text(state, seat, move, viewer)
            past[viewer].append(Glimpse(GAME.view(state, viewer, None), seat, told))
        state = state.apply(seat, move)


def look(state: State, viewer: int = 0) -> Sight:
    return Sight(GAME.view(state, viewer, None), ())


def hidden(state: State, seat: int) -> list[tuple[str, str]]:
    """Return the spots and names of the face-down cards of a seat."""
    found = [(spot, owner_and_card(state.board[SPOT[spot]])) for spot in SPOT if DOWN <= state.board[SPOT[spot]] < 255]
    return [(spot, CARDS[card]) for spot, (owner, card) in found if owner == seat]


@pytest.mark.parametrize(("seats", "row"), TABLES)
def test_bots_make_legal_moves_to_the_end_of_every_match(seats: int, row: str) -> None:
    strengths = ("strong", "steady", "easy", "steady")[:seats]
    moves = 0
    for state, sight, move in sights(7, seats, row, strengths):
        assert GAME.format(state, state.to_act[0], move) in sight.view.moves
        moves += 1
    assert moves == {2: 16, 3: 24, 4: 28}[seats]


@pytest.mark.parametrize(("seats", "row"), TABLES)
def test_worlds_look_like_what_the_viewer_sees(seats: int, row: str) -> None:
    for seed in range(3):
        for state, sight, _ in sights(seed, seats, row):
            viewer = state.to_act[0]
            for world in MIND.worlds(sight, 3, chance(seed)):
                assert GAME.view(world, viewer, None) == sight.view
                everything = [*world.hands, world.table.undealt]
                faces = [owner_and_card(value)[1] for value in world.board if DOWN <= value < 255]
                shown = [value for value in world.board if 0 < value < DOWN]
                cards = [card for cards in everything for card in members(cards)] + faces + shown
                assert sorted(cards) == list(IN_PLAY[seats])


def test_who_laid_a_card_face_down_holds_none_that_fitted_then() -> None:
    found = covered = 0
    for seed in range(6):
        cards = Random(seed).sample([name for name in CARD if name[1] < "8"], 24)
        bare = position({"N8": cards[0]}, [" ".join(cards[1:9]), " ".join(cards[9:17]), " ".join(cards[17:])])
        shut: dict[int, set[str]] = {}
        faces: dict[str, set[str]] = {}
        for state, sight, move in followed(bare, seed):
            viewer = state.to_act[0]
            for world in MIND.worlds(sight, 4, chance(seed)):
                assert GAME.view(world, viewer, None) == sight.view
                for seat, barred in shut.items():
                    if seat != viewer:
                        found += 1
                        assert not barred & {CARDS[card] for card in members(world.hands[seat])}
                        covered += len(hidden(world, seat))
                        assert all(card not in faces[spot] for spot, card in hidden(world, seat))
            if move.down:
                fitting = {CARDS[card] for card in members(worlds.fitting(sight.view))}
                shut.setdefault(viewer, set()).update(fitting)
                faces[next(spot for spot in SPOT if SPOT[spot] == move.spot)] = set(shut[viewer])
    assert found > 20
    assert covered > 20


def test_what_fits_is_what_the_rules_say() -> None:
    for seed in range(4):
        dealt = setup(seed, 2)
        plainly = Plainly(dealt)
        view = GAME.view(beginning(seed, 2), 0, None)
        laid = set(plainly.up.values())
        fit = {name for name in CARD if name not in laid and any(plainly.fits(name, spot) for spot in plainly.free())}
        assert {CARDS[card] for card in members(worlds.fitting(view))} - laid == fit


def test_every_deal_that_may_be_true_is_as_likely_as_the_others() -> None:
    state = position({"N2": "R3"}, ["O4", "Y5 G6", "P5"])
    often = dict.fromkeys(CARD, 0)
    for world in MIND.worlds(look(state), 3000, chance()):
        for card in members(world.hands[1]):
            often[CARDS[card]] += 1
    unseen = [count for name, count in often.items() if name not in ("R3", "O4") and int(name[1]) <= 7]
    assert sum(unseen) == 6000
    assert max(unseen) < 1.45 * 6000 / 33
    assert min(unseen) > 0.6 * 6000 / 33


def test_worlds_guess_hands_better_from_moves_than_without() -> None:
    guessed = {True: 0, False: 0}
    for seed in range(3):
        for state, sight, _ in list(sights(seed, 4, "continuous", ("steady",) * 4))[12:20:4]:
            viewer = state.to_act[0]
            for informed, each in ((True, sight), (False, replace(sight, past=()))):
                for world in MIND.worlds(each, 30, chance(seed)):
                    guessed[informed] += sum(
                        (world.hands[seat] & state.hands[seat]).bit_count() for seat in range(4) if seat != viewer
                    )
    assert guessed[True] > 1.15 * guessed[False]


def test_the_same_chance_gives_the_same_move() -> None:
    for strength in bots.STRENGTHS:
        for _, sight, _ in list(sights(3, 3, "continuous"))[::9]:
            first = bots.choose(strength, GAME, sight, chance(5), BRIEF)
            assert first == bots.choose(strength, GAME, sight, chance(5), BRIEF)


def test_what_nobody_shows_a_bot_changes_nothing() -> None:
    for state, sight, _ in list(sights(4, 3, "separate"))[5::6]:
        other = MIND.worlds(sight, 1, chance(9))[0]
        assert other != state
        viewer = state.to_act[0]
        assert MIND.weigh(GAME.view(other, viewer, None)) == MIND.weigh(sight.view)
        assert MIND.promise(other, viewer) == MIND.promise(state, viewer)


def last_move(hand: str) -> State:
    """Return a position in which seat 0 makes the last move; a shield on place 2 takes 12, one on place 1 nothing."""
    laid = {"N2": "R3", "S2": "R4", "N4": "B6", "N5": "G6", "S4": "B5", "S5": "R5"}
    state = position(laid, [hand, "W3"], stacks={1: (1, 1), 2: (1,)}, shields=(1, 1))
    return state._replace(table=state.table._replace(last=0))


@pytest.mark.parametrize("strength", ["steady", "strong"])
def test_a_last_move_that_wins_is_made(strength: str) -> None:
    state = last_move("O6")
    text = bots.choose(strength, GAME, look(state), chance(), bots.Thought(100))
    after = play(state, text)
    assert text == "O6 N6 shield"
    assert after.outcome().winners == (0,)


def test_moves_worth_trying_are_legal_and_add_up() -> None:
    for state, _, _ in sights(2, 4, "continuous"):
        found = MIND.promise(state, state.to_act[0])
        assert sum(share for _, share in found) == pytest.approx(1)
        assert {GAME.format(state, state.to_act[0], move) for move, _ in found} <= set(legal(state))


def test_a_last_shield_is_not_kept() -> None:
    state = last_move("O6")
    worths = dict(zip(legal(state), MIND.weigh(look(state).view), strict=True))
    assert all(worths[f"{text} shield"] >= worth for text, worth in worths.items() if "shield" not in text)


def test_playouts_keep_the_rules_to_the_end() -> None:
    for seats in PLACES:
        state = beginning(3, seats)
        sketch = Sketch(state)
        draw = chance()
        sketch.play(draw, 99)
        assert sketch.turns == 0
        assert sum(hand.bit_count() for hand in sketch.hands) == seats - 1
        assert all(score >= 0 and score == int(score) for score in MIND.ending(state, draw))
        assert all(0 <= share <= 1 for share in MIND.playout(state, draw))


def test_a_sketch_follows_the_rules_move_by_move() -> None:
    for state, _, move in sights(6, 4, "separate"):
        sketch = Sketch(state)
        sketch.lay(*move)
        after = state.apply(state.to_act[0], move)
        drawn = Sketch(after)
        if after.to_act:
            assert {name: getattr(sketch, name) for name in ("keys", "masks", "free", "turns", "seat", "hands")} == {
                name: getattr(drawn, name) for name in ("keys", "masks", "free", "turns", "seat", "hands")
            }
        else:
            assert sketch.scores() == list(after.tally().scores)


def test_a_full_place_is_worth_what_it_gives() -> None:
    table = prospects(3)[LEVELS]
    assert table[place_code([0, 0, 3, 4, 4, 4], 0)][:4] == (6, 6, 21, 0)


def test_a_place_with_a_free_spot_is_worth_the_mean_of_what_may_come() -> None:
    code = place_code([1, 2, 2, 2, 2], 1)
    after = [prospects(2)[0][code - FREE_SPOT + 7**kind][0] for kind in range(4)]
    assert after == [3, 8, 4, 4]
    assert prospects(2)[LEVELS][code][0] == pytest.approx(sum(after) / 4)


def test_a_shield_is_dearer_while_many_turns_are_to_come() -> None:
    assert price(0, 3) == 0
    assert price(2, 3) < price(4, 3) < price(8, 3)
    assert price(5, 1) > price(5, 3) > price(5, 5)


def test_there_is_no_single_secret_to_guess() -> None:
    assert MIND.suspect(look(beginning()), 1) is None

"""What viewers are shown and told of Clans and Glory: nothing secret, everything public, in words and as text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from glory_helpers import GAME, NAMES, beginning, legal, play, position, random_match, record, setup
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import replay
from engine.base import InvalidMove, Outcome, View, Who
from engine.deal import stream_for
from engine.games.glory.cards import CARDS, SPOT
from engine.games.glory.rules import DOWN, NO_SPOT, Move, State, members
from engine.plaintext import columns
from engine.record import rows_of
from server import languages

seeds = st.integers(0, 10_000)
counts = st.integers(2, 4)
DOWN_THERE = position({"N2": "R5", "N5": "B6 down by 0", "S5": "Y4 down by 1"}, ["G3 W4", "P3 W6"])


def told(state: State, text: str, viewer: int | None = None) -> list[str]:
    seat = state.to_act[0]
    return [phrase.read(NAMES) for phrase in GAME.words(state, seat, GAME.parse(state, seat, text), viewer)]


def shown(state: State, viewer: int | None, outcome: Outcome | None = None) -> tuple[str, str, str]:
    """Return all of a position that a viewer is given."""
    view = GAME.view(state, viewer, outcome)
    return json.dumps(view.as_plain()), GAME.text(view, NAMES[: state.seats]), GAME.picture(view)


def table(state: State, viewer: int | None, outcome: Outcome | None = None) -> Any:
    return GAME.view(state, viewer, outcome).table


# Views


def test_a_view_is_plain_and_survives_json() -> None:
    view = GAME.view(DOWN_THERE, 0, None).as_plain()
    assert json.loads(json.dumps(view)) == view


def test_a_view_tells_what_lies_there_and_who_would_take_what() -> None:
    state = position(
        {"N2": "R5", "S2": "G5", "S3": "G3"}, ["R4 G4", "O3"], stacks={1: (1, 0, 0), 2: (0,)}, shields=(2, 4)
    )
    seen = table(state, None)
    assert seen["places"] == 4
    assert seen["cards"] == {"N2": "R5", "S2": "G5", "S3": "G3"}
    assert seen["stacks"] == {"1": [1, 0, 0], "2": [0], "3": [], "4": []}
    assert seen["standings"] == {"1": [[1, 3, 1], [0, 5, 2]]}
    assert seen["points"] == [10, 3]
    assert seen["shields"] == [2, 4]
    assert seen["counts"] == [2, 1]
    assert (seen["last"], seen["turns"]) == (1, 2)
    assert seen["options"] == {"row": "continuous"}


def test_only_the_awaited_viewer_is_given_moves() -> None:
    state = beginning(seats=3)
    awaited = state.to_act[0]
    for viewer in (None, 0, 1, 2):
        view = GAME.view(state, viewer, None)
        assert list(view.moves) == (legal(state) if viewer == awaited else [])


def test_a_hand_is_its_owners_alone_with_the_spots_where_each_card_fits() -> None:
    state = position({"N2": "R5"}, ["W4 R3", "P3"])
    assert table(state, 0)["hand"] == ["R3", "W4"]
    assert table(state, 0)["fits"] == {"R3": ["N1", "N3", "S2"], "W4": []}
    assert table(state, 1)["hand"] == ["P3"]
    assert table(state, None)["hand"] is table(state, None)["fits"] is None
    assert all(table(state, viewer)["hands"] is table(state, viewer)["undealt"] is None for viewer in (None, 0, 1))


def test_a_face_down_card_shows_its_owner_to_all_and_its_face_to_him() -> None:
    faces = {viewer: [down["card"] for down in table(DOWN_THERE, viewer)["down"].values()] for viewer in (None, 0, 1)}
    assert faces == {None: [None, None], 0: ["B6", None], 1: [None, "Y4"]}
    assert [down["seat"] for down in table(DOWN_THERE, None)["down"].values()] == [0, 1]


def test_the_moves_left_are_counted_down_to_none() -> None:
    for seats, whole in ((2, 16), (3, 24), (4, 28)):
        left = [table(state, None)["turns"] for state, _, _, _ in random_match(2, seats)]
        assert left == list(range(whole, 0, -1))


@pytest.mark.parametrize("reason", ["last card laid", "resignation"])
def test_an_outcome_reveals_every_card_to_everyone(reason: str) -> None:
    outcome = Outcome(reason, (0, 0), (0, 1), {})
    for viewer in (None, 0, 1):
        view = GAME.view(DOWN_THERE, viewer, outcome)
        assert (view.moves, view.to_act, view.table["turns"]) == ((), (), 0)
        assert view.table["hands"] == [["G3", "W4"], ["P3", "W6"]]
        assert [down["card"] for down in view.table["down"].values()] == ["B6", "Y4"]
        assert set(view.table["undealt"]) <= set(CARDS)
        assert "(B6)" in GAME.text(view, NAMES[:2])


def test_nothing_is_revealed_in_the_preview_of_the_last_move() -> None:
    after = play(position({"N2": "R5", "N5": "B6 down by 0"}, ["R4", "R3"]), "R4 N3", "R3 N1")
    view = GAME.view(after, 1, None)
    assert after.to_act == ()
    assert view.table["down"] == {"N5": {"seat": 0, "card": None}}
    assert view.table["hands"] is None
    assert "nobody" in GAME.text(view, NAMES[:2])


# Two worlds


@settings(max_examples=12)
@given(seeds, counts, st.integers(0, 3))
def test_views_do_not_change_when_what_is_secret_does(seed: int, seats: int, who: int) -> None:
    viewer = who if who < seats else None
    for number, (state, _, _, after) in enumerate(random_match(seed, seats)):
        if number % 5 == 4 or not after.to_act:
            other = GAME.reshuffled(after, viewer, stream_for(bytes((number,)), [str(seed)]))
            assert shown(other, viewer) == shown(after, viewer)
            assert state.seats == other.seats


def test_another_world_is_another_one_but_for_the_viewer() -> None:
    state = play_to_the_middle(4)
    other = GAME.reshuffled(state, 2, stream_for(b"x", []))
    assert other.hands[2] == state.hands[2]
    assert other.hands != state.hands
    assert [hand.bit_count() for hand in other.hands] == [hand.bit_count() for hand in state.hands]
    secret = [{card for hand in one.hands for card in members(hand)} for one in (state, other)]
    assert secret[0] != secret[1]
    whole = GAME.reshuffled(state, None, stream_for(b"x", []))
    assert whole.hands[2] != state.hands[2]


def play_to_the_middle(seats: int) -> State:
    return next(state for number, (state, _, _, _) in enumerate(random_match(5, seats)) if number == 12)


@settings(max_examples=12)
@given(st.data(), seeds, counts)
def test_a_whole_match_looks_the_same_in_two_worlds(data: st.DataObject, seed: int, seats: int) -> None:
    """World two deals the cards that nobody has shown otherwise; whatever can be played in both is told alike."""
    match = list(random_match(seed, seats))
    upto = data.draw(st.integers(1, len(match)))
    viewer = data.draw(st.sampled_from([None, *range(seats)]))
    dealt = setup(seed, seats)
    shown_cards = {CARDS[move.card] for _, seat, move, _ in match[:upto] if not move.down or seat == viewer}
    own = set(dealt["hands"][viewer]) if viewer is not None else set()
    known = shown_cards | own | set(dealt["start_cards"].values())
    undealt = [CARDS[card] for card in members(match[0][0].table.undealt)]
    hidden = [card for hand in [*dealt["hands"], undealt] for card in hand if card not in known]
    swap = dict(zip(hidden, data.draw(st.permutations(hidden)), strict=True))
    other = {**dealt, "hands": [[swap.get(card, card) for card in hand] for hand in dealt["hands"]]}
    state, twin = match[0][0], GAME.begin(other, seats, {})
    assert shown(twin, viewer) == shown(state, viewer)
    for number, (state, seat, move, after) in enumerate(match[:upto], 1):
        made = move._replace(card=CARDS.index(swap.get(CARDS[move.card], CARDS[move.card])))
        if made not in set(twin.legal_moves(seat)):
            return  # somebody who had no card to lay would have one there
        assert GAME.public_text(state, seat, move, viewer) == GAME.public_text(twin, seat, made, viewer)
        assert GAME.words(state, seat, move, viewer) == GAME.words(twin, seat, made, viewer)
        assert GAME.touched(state, seat, move) == GAME.touched(twin, seat, made)
        twin = twin.apply(seat, made)
        if number % 6 == 0 or number == upto:
            assert shown(twin, viewer) == shown(after, viewer)


# Words


def test_a_card_is_told_with_its_reasons() -> None:
    state = position({"N2": "R5", "S3": "G3", "N4": "B6"}, ["R3 G4", "Y3"])
    assert told(state, "R3 N3") == ["Ailsa laid R3 on N3, where it matches R5 on N2 and G3 on S3."]
    assert told(state, "G4 S2") == ["Ailsa laid G4 on S2, where it matches G3 on S3."]


def test_a_face_down_card_is_named_to_its_owner_only() -> None:
    state = position({"N2": "R5"}, ["G3 B6", "P3 W6"])
    down = "face down on S9, because no card of the hand fits anywhere."
    assert told(state, "B6 S9 down", 0) == [f"Ailsa laid B6 {down}"]
    for viewer in (None, 1):
        assert told(state, "B6 S9 down", viewer) == [f"Ailsa laid a card {down}"]
        phrases = GAME.words(state, 0, GAME.parse(state, 0, "B6 S9 down"), viewer)
        assert "B6" not in str(phrases)


def test_a_shield_is_told_with_its_turn_and_what_the_place_gives_now() -> None:
    state = position({"N2": "R5"}, ["R3 G4 R4", "R6 Y3"])
    assert told(state, "R3 N3 shield")[1:] == [
        "Ailsa put the first shield on place 1: it takes first there. 4 left.",
        "If the match ended now, place 1 would give Ailsa 3 (1 of strength 3).",
    ]
    state = play(state, "R3 N3 shield")
    assert told(state, "R6 N1 shield")[1:] == [
        "Bran put a shield on place 1, after 1 other. 4 left.",
        "If the match ended now, place 1 would give Ailsa 3 (1 of strength 3), then Bran 5 (1 of strength 5).",
    ]
    crowded = position({"N2": "R5"}, ["G4 R4 R3", "R6 Y3"], stacks={1: (0, 0)}, shields=(3, 5))
    assert told(crowded, "R4 N3 shield")[1] == (
        "Ailsa put a shield on place 1, after 2 others. 2 left. As it stands it takes nothing."
    )


def test_a_card_that_changes_what_a_place_gives_says_so() -> None:
    state = position({"N2": "R5"}, ["R3 G4", "R6"], stacks={1: (1,)})
    assert told(state, "R3 N3")[1] == "If the match ended now, place 1 would give Bran 3 (1 of strength 3)."


def test_the_end_is_told_with_every_point() -> None:
    state = position({"N2": "R5", "N5": "G8"}, ["R4", "R3"], stacks={1: (0, 1), 2: (0,)})
    last = play(state, "R4 N3")
    assert told(last, "R3 N1 shield") == [
        "Bran laid R3 on N1, where it matches R5 on N2.",
        "Bran put a shield on place 1, after 2 others. 4 left.",
        "Bran has laid the last card of the small hand: the match is over.",
        "Place 1 gives Ailsa 3 (1 of strength 3), then Bran 4 (1 of strength 4), then Bran 5 (1 of strength 5).",
        "Place 2 gives Ailsa 8 (1 of strength 8).",
        "Points: Ailsa 11, Bran 9.",
    ]


def test_players_in_phrases_are_seats() -> None:
    state = position({"N2": "R5"}, ["R3 G4", "R6"], stacks={1: (1,)})
    for phrase in GAME.words(state, 0, GAME.parse(state, 0, "R3 N3 shield"), None):
        assert all(isinstance(value, Who) for key, value in phrase.args.items() if key.startswith(("who", "mover")))


@given(seeds, counts)
def test_words_account_for_every_point(seed: int, seats: int) -> None:
    for state, seat, move, after in random_match(seed, seats):
        phrases = GAME.words(state, seat, move, None)
        assert all(phrase.read(NAMES).endswith(".") for phrase in phrases)
        if state.tally().scores != after.tally().scores:
            assert any("would give" in phrase.template or "gives" in phrase.template for phrase in phrases)
    sums = phrases[-1].args
    outcome = after.outcome()
    assert outcome is not None
    assert tuple(sums[f"points{each}"] for each in range(seats)) == outcome.scores


def test_a_move_touches_its_spot_and_the_place_of_its_shield() -> None:
    assert GAME.touched(DOWN_THERE, 0, Move(1, SPOT["N7"])) == ("N7",)
    assert GAME.touched(DOWN_THERE, 0, Move(1, SPOT["S16"], shield=True)) == ("S16", "place 6")


def test_a_touched_place_is_called_in_the_language_of_the_reader() -> None:
    assert [GAME.place_name(place) for place in ("S16", "place 6")] == ["S16", "place 6"]
    with languages.speaking("cs"):
        assert [GAME.place_name(place) for place in ("S16", "place 6")] == ["S16", "shromaždiště 6"]


def test_a_name_that_is_cut_short_ends_the_sentence_with_its_own_dot() -> None:
    text = GAME.text(GAME.view(DOWN_THERE, None, None), ["Bohuslava Čapková", "Bran"])
    assert " To move: Bohuslava Čapko.\n" in text


@given(seeds, counts)
def test_the_move_of_a_seat_out_of_time_is_legal_and_spends_no_shield(seed: int, seats: int) -> None:
    for state, seat, _, _ in random_match(seed, seats):
        move = GAME.timeout_move(state, seat)
        assert move == next(iter(state.legal_moves(seat)))
        assert not move.shield


def test_nobody_moves_for_a_seat_that_is_not_awaited() -> None:
    with pytest.raises(ValueError, match="not awaited"):
        GAME.timeout_move(DOWN_THERE, 1)


# Text

NASTY = st.text(max_size=40) | st.sampled_from(
    ["> a", "From a", "R5 N7", "r5 n7 down", "x\nR5 N7", "王小明" * 5, "\u202ereversed", "", "R5 N7 shield " * 5]
)


@given(seeds, counts, st.sampled_from(["continuous", "separate"]), st.lists(NASTY, min_size=4, max_size=4))
def test_the_text_is_narrow_and_no_line_of_it_is_a_move(seed: int, seats: int, row: str, names: list[str]) -> None:
    first = beginning(seed, seats)
    for number, (_, _, _, after) in enumerate(random_match(seed, seats, {"row": row})):
        if number % 8 and after.to_act:
            continue
        for viewer in (None, 0):
            lines = GAME.text(GAME.view(after, viewer, after.outcome()), names[:seats]).split("\n")
            for line in lines:
                assert columns(line) <= 76
                assert not line.startswith((">", "From "))
                assert line == line.rstrip()
                with pytest.raises(InvalidMove):
                    GAME.parse(first, first.to_act[0], line)


def test_the_text_of_a_separate_row_says_so() -> None:
    text = GAME.text(GAME.view(beginning(options={"row": "separate"}), None, None), NAMES[:3])
    assert "At this table a card matches only at its own place." in text


def view_after(name: str, seq: int, viewer: int | None) -> View:
    found = record(name)
    log = rows_of(found)[:seq]
    at = replay.replay(GAME, found["setup"], len(found["players"]), found["options"], log)
    return GAME.view(at.state, viewer, at.outcome)


def test_the_text_of_a_recorded_match_is_as_it_should_be() -> None:
    assert GAME.text(view_after("01", 25, 1), NAMES) == AFTER_25


def test_whoever_must_lay_a_card_face_down_is_told_so() -> None:
    text = GAME.text(GAME.view(position({"N2": "R5"}, ["G3 B6", "P3"]), 0, None), NAMES[:2])
    assert "  G3: nowhere\n  B6: nowhere\nNone fits, so you lay one face down on any free spot." in text


def test_the_picture_is_drawn_from_the_view_alone() -> None:
    assert GAME.picture(GAME.view(DOWN_THERE, 0, None), ("N2", "place 1")).startswith("<svg")
    assert all(value == 0 or value < DOWN or value == NO_SPOT for value in beginning().board)


AFTER_25 = """\
Clans and Glory, 3 moves left. To move: Dugald.

The places in their row; a dot is a free spot. Amid each, its shields: the
numbers of their players, in order; the one in brackets takes first.
(R5) is a card face down that you know.

        PLACE 1          PLACE 2          PLACE 3
      1    2    3  |   4    5    6  |   7    8    9
N    G4   W4   B4  |  O4    .  (R5) |   .   P7   B7
         (4) 4     |        -       |        -
S    G5   W8   W6  |  O6   Y3   Y8  |   .    .    .

        PLACE 4          PLACE 5          PLACE 6
     10   11   12  |  13   14   15  |  16   17   18
N    O3   R7   P8  |  B3   B8   B5  |  B6   Y6   W3
        (2) 2 2    |     (1) 2 1    |    (3) 1 4 4
S    O7   G7   P6  |  P3   G8   O5  |  R4   R6   R3

What the shields take as it stands (cards x strength), the lowest first:
  place 1: Dugald 12 (3x4), Dugald 5 (1x5)
  place 2: no shields
  place 3: no shields
  place 4: Bran 3 (1x3), Bran 6 (1x6), Bran 21 (3x7)
  place 5: Ailsa 6 (2x3), Bran 10 (2x5), Ailsa 16 (2x8)
  place 6: Catrin 6 (2x3), Ailsa 4 (1x4), Dugald 18 (3x6), Dugald nothing

Players:
  1. Ailsa: 26 points, 2 shields, 2 cards
  2. Bran: 40 points, 1 shield, 1 card, plays last
  3. Catrin: 6 points, 4 shields, 1 card
  4. Dugald: 35 points, 1 shield, 2 cards, to move

Your hand, 1 card, and where each fits:
  W5: nowhere
"""

"""What viewers are shown and told of Clans: nothing secret, everything public, in words and as text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play_helpers import CLANS, GAME, beginning, position, random_match, record, setup

from engine.base import MoveError, Who
from engine.games.clans.board import TERRITORIES
from engine.games.clans.rules import State
from engine.plaintext import columns

seeds = st.integers(0, 10_000)
counts = st.integers(2, 4)
NAMES = ("Ailsa", "Bran", "Catrin", "Dugald")


def told(state: State, text: str) -> list[str]:
    seat = state.to_act[0]
    return [phrase.read(NAMES) for phrase in GAME.words(state, seat, GAME.parse(state, seat, text), None)]


def shown(state: State, viewer: int | None) -> str:
    return json.dumps(GAME.view(state, viewer, state.outcome()).as_plain())


def test_a_view_is_plain_and_survives_json() -> None:
    view = GAME.view(beginning(), 0, None).as_plain()
    assert json.loads(json.dumps(view)) == view
    assert list(view["table"]["huts"]) == list(TERRITORIES)


def test_a_view_tells_epochs_chips_and_points() -> None:
    table = GAME.view(position({"A1": "r", "A2": "b"}, taken=5), 0, None).table
    assert table["open"] == 7
    assert table["epoch"] == 2
    assert [(epoch["chips"], epoch["done"]) for epoch in table["epochs"]] == [(4, 4), (3, 1), (2, 0), (2, 0), (1, 0)]
    assert table["epochs"][0] == {
        "chips": 4,
        "done": 4,
        "favourable": ["forest"],
        "hostile": ["mountain"],
        "bonus": 1,
    }
    assert table["chips"] == [5, 0]
    assert table["clan_points"] == dict.fromkeys(CLANS, 0)
    assert table["options"] == {"five_singles": "all_leave"}
    assert table["huts"] == {"A1": [1, 0, 0, 0, 0], "A2": [0, 1, 0, 0, 0]}


def test_only_the_awaited_viewer_is_given_moves() -> None:
    state = beginning(seats=3)
    awaited = state.to_act[0]
    for viewer in (None, 0, 1, 2):
        view = GAME.view(state, viewer, None)
        assert bool(view.moves) == (viewer == awaited)
        assert view.to_act == (awaited,)
    moves = GAME.view(state, awaited, None).moves
    assert len(moves) == len(set(moves)) == 2 * 135


def test_each_player_sees_his_own_clan_and_a_spectator_none() -> None:
    state = beginning(seats=3)
    mine = [GAME.view(state, viewer, None).table["own_clan"] for viewer in range(3)]
    assert mine == [CLANS[clan] for clan in state.table.clans]
    assert GAME.view(state, None, None).table["own_clan"] is None
    assert GAME.view(state, 0, None).table["clans"] is None


def test_the_end_reveals_every_clan_to_everyone() -> None:
    *_, (_, _, _, end) = random_match(3, 3)
    for viewer in (None, 0, 1, 2):
        view = GAME.view(end, viewer, end.outcome())
        assert view.table["clans"] == [CLANS[clan] for clan in end.table.clans]
        assert view.table["epoch"] is None
        assert view.moves == ()
        assert view.as_plain()["outcome"]["scores"] == list(end.tally().scores)


def test_a_resignation_ends_the_moves_of_a_position_that_has_some() -> None:
    state = beginning(seats=2)
    outcome = replace(random_end(2), reason="resignation")
    view = GAME.view(state, state.to_act[0], outcome)
    assert view.to_act == ()
    assert view.moves == ()
    assert view.table["epoch"] is None
    assert "The match is over: resignation." in GAME.text(view, NAMES[:2])


def random_end(seats: int):  # type: ignore[no-untyped-def]
    *_, (_, _, _, end) = random_match(5, seats)
    return end.outcome()


@given(seeds, counts, st.permutations(range(5)))
def test_views_do_not_change_when_the_clans_of_others_do(seed: int, seats: int, dealt: list[int]) -> None:
    for number, (state, seat, move, after) in enumerate(random_match(seed, seats)):
        if number % 9 or not after.to_act:
            continue
        for viewer in (None, *range(seats)):
            own = None if viewer is None else state.table.clans[viewer]
            others = [clan for clan in dealt if clan != own]
            clans = tuple(own if seat_ == viewer and own is not None else others.pop() for seat_ in range(seats))
            other = state._replace(table=state.table._replace(clans=clans))
            assert shown(other, viewer) == shown(state, viewer)
            assert GAME.words(other, seat, move, viewer) == GAME.words(state, seat, move, viewer)
            text, names = GAME.view(other, viewer, None), NAMES[:seats]
            assert GAME.text(text, names) == GAME.text(GAME.view(state, viewer, None), names)


@given(seeds, counts)
def test_the_move_of_a_seat_out_of_time_is_always_legal_and_founds_nothing_if_it_can(seed: int, seats: int) -> None:
    for state, seat, _, _ in random_match(seed, seats):
        moves = list(state.legal_moves(seat))
        move = GAME.timeout_move(state, seat)
        assert move in moves
        quiet = [other for other in moves if len(state.apply(seat, other).villages) == len(state.villages)]
        assert move == (quiet or moves)[0]


def test_nobody_moves_for_a_seat_that_is_not_awaited() -> None:
    state = beginning(seats=2)
    with pytest.raises(ValueError, match="not awaited"):
        GAME.timeout_move(state, 1 - state.to_act[0])


def test_a_move_is_told_with_its_huts() -> None:
    state = beginning(1, 2)
    mover = NAMES[state.to_act[0]]
    assert told(state, "A5-B1") == [f"{mover} moved 1 hut from A5 to B1."]
    assert told(position({"A5": "rrr", "B1": "b", "B2": "g"}), "A5-B1") == ["Ailsa moved 3 huts from A5 to B1."]


def test_the_mover_in_a_phrase_is_a_seat_and_clans_are_words() -> None:
    state = position({"A1": "rr", "A2": "b", "L1": "y", "L2": "k"})
    phrases = GAME.words(state, 0, GAME.parse(state, 0, "A2-A1"), 0)
    assert all(isinstance(phrase.args["mover"], Who) for phrase in phrases)
    assert phrases[1].args["clans"] == "red and blue"


def test_a_village_is_told_with_the_reason_of_every_point() -> None:
    plain = {"A1": "rr", "A2": "b", "L1": "y", "L2": "k"}
    assert told(position(plain), "A2-A1")[1:] == [
        "Ailsa founded a village at A1 in epoch I and took its chip (1 point)."
        " It gives 3 each to red and blue: 3 for the huts, nothing for steppe."
    ]
    assert told(position({"A1": "r", "A2": "r", "L1": "y", "L2": "k"}, taken=7), "A2-A1")[1:] == [
        "Ailsa founded a village at A1 in epoch III and took its chip (1 point)."
        " It gives 5 to red: 2 for the huts, 3 because steppe is favourable then."
    ]
    assert told(position(plain, taken=9), "A2-A1")[1:] == [
        "Ailsa founded a village at A1 in epoch IV and took its chip (1 point)."
        " It gives red and blue nothing: steppe is hostile then."
    ]


def test_strife_is_told_with_those_it_drove_out() -> None:
    assert told(position({"A1": "rrbgy", "A2": "k", "L1": "y", "L2": "k"}), "A2-A1")[1:] == [
        "Ailsa founded a village at A1 in epoch I and took its chip (1 point)."
        " All five clans met there, so strife drove out the single huts of blue, green, yellow and black."
        " It gives 2 to red: 2 for the huts, nothing for steppe."
    ]
    assert told(position({"A1": "rbgy", "A2": "k", "L1": "y", "L2": "k"}), "A2-A1")[1].endswith(
        "the single huts of red, blue, green, yellow and black. No hut remains, so no clan scores."
    )


def test_villages_that_came_too_late_and_the_end_are_told() -> None:
    last = position({"A1": "r", "A2": "b", "B1": "g", "L1": "y", "L2": "k"}, taken=11)
    assert told(last, "A2-B1 / B1")[2:] == [
        "A1 stands alone too, but no chip is left for it, so it scores nothing.",
        "The twelfth village ends the match.",
    ]
    assert told(position({"A1": "r", "A2": "b"}), "A2-A1")[-1] == "No legal move is left: the match is over."


def test_a_move_touches_its_ends_and_the_villages_that_arise() -> None:
    state = position({"A1": "r", "A2": "b", "B1": "g", "L1": "y", "L2": "k"}, taken=11)
    assert GAME.touched(state, 0, GAME.parse(state, 0, "A2-B1 / B1")) == ("A2", "B1", "A1")


@given(seeds, counts)
def test_words_account_for_every_point(seed: int, seats: int) -> None:
    for state, seat, move, after in random_match(seed, seats):
        phrases = GAME.words(state, seat, move, None)
        villages = [phrase for phrase in phrases if "value" in phrase.args]
        assert sum(after.chips) - sum(state.chips) == len(villages)
        gained = sum(
            int(phrase.args["value"]) * sum(clan in str(phrase.args["clans"]) for clan in CLANS) for phrase in villages
        )
        assert sum(after.points) - sum(state.points) == gained
        assert all(phrase.read(NAMES).endswith(".") for phrase in phrases)


NASTY = st.text(max_size=40) | st.sampled_from(
    ["> a", "From a", "A5-B1", "a5 b1", "x\nA5-B1", "王小明" * 5, "\u202ereversed", "", "A5-B1 / B1" * 5]
)


@given(seeds, counts, st.sampled_from(["all_leave", "all_stay"]), st.lists(NASTY, min_size=4, max_size=4))
def test_the_text_is_narrow_and_no_line_of_it_is_a_move(
    seed: int, seats: int, five_singles: str, names: list[str]
) -> None:
    first = beginning(seed, seats)
    for number, (_, _, _, after) in enumerate(random_match(seed, seats, {"five_singles": five_singles})):
        if number % 12 and after.to_act:
            continue
        for viewer in (None, 0):
            lines = GAME.text(GAME.view(after, viewer, after.outcome()), names[:seats]).split("\n")
            for line in lines:
                assert columns(line) <= 76
                assert not line.startswith((">", "From "))
                assert line == line.rstrip()
                with pytest.raises(MoveError):
                    GAME.parse(first, first.to_act[0], line)


def test_the_largest_piles_there_can_be_still_fit() -> None:
    full = dict.fromkeys(TERRITORIES, "r" * 12 + "b" * 12 + "g" * 12 + "y" * 12 + "k" * 12)
    text = GAME.text(GAME.view(position(full), 0, None), NAMES[:2])
    assert max(map(columns, text.split("\n"))) <= 76
    assert text.count("12r12b12g12y12k") == 60


def test_the_text_shows_every_territory_with_terrain_and_huts() -> None:
    state = position({"A1": "rrk", "A2": "b"}, taken=1, five_singles="all_stay")
    text = GAME.text(GAME.view(state, 0, None), NAMES[:2])
    assert "A1* S 2rk" in text
    assert "A2 M b" in text
    assert all(f"{name} " in text or f"{name}* " in text for name in TERRITORIES)
    assert "At this table a village of one hut of each clan keeps them all." in text
    assert "To move: Ailsa" in text


def test_the_text_of_a_recorded_match_is_as_it_should_be() -> None:
    recorded = record("08")
    state = GAME.begin(recorded["setup"], 4, {})
    for row in recorded["log"]:
        state = state.apply(row["seat"], GAME.parse(state, row["seat"], row["text"]))
    text = GAME.text(GAME.view(state, 1, state.outcome()), recorded["players"])
    assert text == END_OF_08


def test_a_position_without_a_move_is_drawn_before_its_end_is_told() -> None:
    recorded = record("08")
    state = GAME.begin(recorded["setup"], 4, {})
    for row in recorded["log"]:
        state = state.apply(row["seat"], GAME.parse(state, row["seat"], row["text"]))
    text = GAME.text(GAME.view(state, 1, None), recorded["players"])
    assert text.startswith("Clans. No move is left.")
    assert "wins" not in text


END_OF_08 = """\
Clans. The match is over: twelfth village.

Board: F forest, M mountain, S steppe, G grassland; a star marks a village;
huts r red, b blue, g green, y yellow, k black: 2rk is two red, one black.
  A1 S .      A2 M .     A3* G bgyk  A4 M .        A5 F .
  B1 G .      B2* S bg   B3 G .      B4* M r       B5 F .
  C1 F .      C2 G .     C3* M .     C4 S .        C5 F .
  D1 G .      D2* S 2b   D3 M .      D4 F .        D5 S .
  E1 S .      E2* F ryk  E3 G .      E4 G .        E5 M .
  F1 M bgy2k  F2 G .     F3 F ry     F4 S .        F5* M rg2y
  G1 M .      G2 S .     G3 G .      G4 M gk       G5 F by
  H1 S .      H2 G .     H3 F .      H4 M 3rbgy2k  H5 S .
  I1 S .      I2 F .     I3 G rbg    I4 F 2k       I5 M .
  J1 G .      J2* M r    J3 S .      J4* F bgy     J5 G .
  K1 G .      K2 S .     K3* F bg    K4 M .        K5* F y
  L1 G .      L2 S .     L3 F .      L4 S .        L5* M rbgk

Epoch  chips taken  favourable (bonus)     hostile (0 points)
  I    4 of 4       forest (+1)            mountain
  II   3 of 3       mountain (+2)          grassland
  III  2 of 2       steppe (+3)            forest
  IV   2 of 2       grassland (+4)         steppe
  V    1 of 1       every terrain (+5)     none

Villages, as they were founded:
   1. K3 epoch I by Bran: 3 to blue, green
   2. C3 epoch I by Catrin: 0 to nobody
   3. A3 epoch I by Dugald: 4 to blue, green, yellow, black
   4. L5 epoch I by Ailsa: 0 to red, blue, green, black
   5. K5 epoch II by Ailsa: 1 to yellow
   6. F5 epoch II by Bran: 6 to red, green, yellow
   7. B2 epoch II by Dugald: 2 to blue, green
   8. B4 epoch III by Dugald: 1 to red
   9. J4 epoch III by Ailsa: 0 to blue, green, yellow
  10. D2 epoch IV by Bran: 0 to blue
  11. E2 epoch IV by Catrin: 3 to red, yellow, black
  12. J2 epoch V by Dugald: 6 to red

Points of the clans: red 16, blue 9, green 15, yellow 14, black 7

Players:
  1. Ailsa: 3 chips + 14 for yellow = 17, wins
  2. Bran: 3 chips + 7 for black = 10
  3. Catrin: 2 chips + 15 for green = 17, wins
  4. Dugald: 4 chips + 9 for blue = 13
"""


def test_the_picture_is_drawn_from_the_view_alone() -> None:
    state = beginning(seats=2)
    assert GAME.picture(GAME.view(state, 0, None), ("A5", "B1")).startswith("<svg")


def test_own_clan_stands_in_the_text_while_it_is_secret() -> None:
    state = beginning(seats=2)
    mine = CLANS[state.table.clans[1]]
    assert f"Your secret clan: {mine}" in GAME.text(GAME.view(state, 1, None), NAMES[:2])
    assert "secret clan" not in GAME.text(GAME.view(state, None, None), NAMES[:2])
    assert setup(1, 2)["clans"][1] == mine

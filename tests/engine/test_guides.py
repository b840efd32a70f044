"""The guide of a first match: what it tells, when, and that every word of it is true of the position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from glory_helpers import position

from engine import games, record, replay
from engine.base import Lesson, State, View
from engine.deal import stream_for
from engine.games.clans.board import NEIGHBOURS, TERRITORIES
from engine.games.clans.rules import foundings, newborn_by
from engine.games.glory.cards import SPOT
from engine.games.glory.rules import fits, matches
from engine.lessons import LONGEST

FOLDER = Path(__file__).parent.parent / "records"
RECORDS = [path.stem for path in sorted(FOLDER.glob("*.json"))]
NAMES = ("Ailsa", "Bran", "Catrin", "Dugald")


class Moment(NamedTuple):
    """What a seat is told at one of its turns; `turn` counts from 0, and is that of the end in the last one."""

    seat: int
    turn: int
    state: State
    view: View
    lesson: Lesson | None


@cache
def moments(name: str) -> tuple[Moment, ...]:
    """Return what each seat of a recorded match is told at each of its turns, and at the end."""
    found = record.load((FOLDER / f"{name}.json").read_bytes())
    game, rows = games.game(found["game"]), record.rows_of(found)
    positions = list(replay.positions(game, found["setup"], len(found["players"]), found["options"], rows))
    told = []
    for seat in range(len(found["players"])):
        turns = [
            before
            for before, row in zip(positions, rows, strict=False)
            if row.kind == "move" and row.seat == seat and seat in before.to_act
        ]
        seen = [*turns, positions[-1]]
        views = [game.view(now.state, seat, now.outcome) for now in seen]
        for turn, (now, view, lesson) in enumerate(zip(seen, views, game.lessons(views), strict=True)):
            told.append(Moment(seat, turn, now.state, view, lesson))
    return tuple(told)


def lessons(kind: str, key: str) -> Iterator[tuple[Moment, Lesson]]:
    """Yield every time that a lesson is told in the recorded matches of a game."""
    for name in RECORDS:
        for moment in moments(name) if name.startswith(kind) else ():
            if moment.lesson and moment.lesson.key == key:
                yield moment, moment.lesson


def read(lesson: Lesson) -> str:
    return " ".join(phrase.read(NAMES) for phrase in lesson.text)


def facts(lesson: Lesson) -> dict[str, Any]:
    return {name: value for phrase in lesson.text for name, value in phrase.args.items()}


@pytest.mark.parametrize("name", RECORDS)
def test_each_lesson_is_told_once_and_is_short(name: str) -> None:
    for seat in {moment.seat for moment in moments(name)}:
        told = [moment.lesson for moment in moments(name) if moment.seat == seat and moment.lesson]
        keys = [lesson.key for lesson in told]
        assert len(set(keys)) == len(keys)
        for lesson in told:
            assert 0 < len(read(lesson).split()) <= LONGEST, lesson.key
            assert "{" not in read(lesson) + lesson.title.read(NAMES)
            assert len(set(lesson.places)) == len(lesson.places)


@pytest.mark.parametrize("name", RECORDS)
def test_the_first_turn_has_a_lesson_and_the_end_tells_the_sums(name: str) -> None:
    for moment in moments(name):
        if moment.turn == 0 and not moment.view.outcome:
            assert moment.lesson
        if moment.view.outcome:
            assert moment.lesson
            assert moment.lesson.key == "sums"
            assert str(moment.view.outcome.scores[moment.seat]) in read(moment.lesson)


@pytest.mark.parametrize("name", RECORDS)
def test_every_place_of_a_lesson_is_marked_on_the_board(name: str) -> None:
    game = games.game(name.partition("-")[0])
    for moment in moments(name):
        if moment.lesson and moment.lesson.places:
            drawn = game.picture(moment.view, moment.lesson.places, "pieces")
            assert drawn.count('class="mark-number"') == len(moment.lesson.places), moment.lesson


@pytest.mark.parametrize("name", RECORDS[::3])
def test_the_guide_tells_the_same_in_every_world_that_looks_the_same(name: str) -> None:
    game, chance = games.game(name.partition("-")[0]), stream_for(b"another world, quite another one", [])
    for seat in {moment.seat for moment in moments(name)}:
        turns = [moment for moment in moments(name) if moment.seat == seat and not moment.view.outcome]
        others = [game.view(game.reshuffled(moment.state, seat, chance), seat, None) for moment in turns]
        assert game.lessons(others) == tuple(moment.lesson for moment in turns)


@pytest.mark.parametrize("kind", ["clans", "glory"])
def test_who_waits_for_others_is_told_nothing(kind: str) -> None:
    game = games.game(kind)
    state = game.begin(game.deal(stream_for(b"any", []), 3, {}), 3, {})
    waiting = (state.to_act[0] + 1) % 3
    assert game.lessons([game.view(state, waiting, None), game.view(state, None, None)]) == (None, None)
    assert game.lessons([]) == ()


@pytest.mark.parametrize("name", RECORDS[::3])
def test_what_is_told_does_not_depend_on_what_comes_later(name: str) -> None:
    game = games.game(name.partition("-")[0])
    for seat in {moment.seat for moment in moments(name)}:
        views = [moment.view for moment in moments(name) if moment.seat == seat]
        told = game.lessons(views)
        assert all(game.lessons(views[:count]) == told[:count] for count in range(len(views)))


def test_a_beginner_meets_the_lessons_in_a_sensible_order() -> None:
    told = [moment.lesson.key for moment in moments("clans-01") if moment.seat == 0 and moment.lesson]
    assert told[:3] == ["clan", "becoming", "epoch-1"]
    assert told.index("village") < told.index("chip") < told.index("late") < told.index("sums")
    told = [moment.lesson.key for moment in moments("glory-face-down") if moment.seat == 0 and moment.lesson]
    assert told[:3] == ["hand", "shields", "taking"]
    assert told.index("end-in-sight") < told.index("sums")


def test_what_makes_a_village_is_told_by_the_third_turn() -> None:
    for name in RECORDS:
        for seat in {moment.seat for moment in moments(name)} if name.startswith("clans") else ():
            first = [moment.lesson for moment in moments(name) if moment.seat == seat][:3]
            texts = [read(lesson) for lesson in first if lesson]
            assert any("becomes a village as soon as all its neighbours are empty" in text for text in texts)
            keys = [lesson.key for lesson in first if lesson]
            assert keys == ["clan", "becoming", "epoch-1"][: len(keys)]


@pytest.mark.parametrize("name", RECORDS)
def test_the_first_ten_turns_are_never_quiet_twice_in_a_row(name: str) -> None:
    for seat in {moment.seat for moment in moments(name)}:
        told = [moment.lesson for moment in moments(name) if moment.seat == seat][:10]
        assert all(before or now for before, now in pairwise(told))


def test_the_first_lesson_of_glory_tells_when_a_card_fits() -> None:
    for name in RECORDS:
        for moment in moments(name) if name.startswith("glory") else ():
            if moment.turn == 0 and not moment.view.outcome:
                assert moment.lesson
                assert re.search(r"colour or strength with an?y? card opposite or beside it", read(moment.lesson))
                if moment.lesson.key == "hand":
                    assert {facts(moment.lesson)["spot"], facts(moment.lesson)["near"]} == set(moment.lesson.places)


def test_what_is_said_of_the_nearest_village_is_true() -> None:
    for key in ("becoming", "near", "step"):
        for moment, lesson in lessons("clans", key):
            place, *left = lesson.places
            huts = moment.view.table["huts"]
            around = [TERRITORIES[near] for near in NEIGHBOURS[TERRITORIES.index(place)]]
            assert [name for name in around if any(huts.get(name, ()))] == left
            assert key != "step" or len(left) == 2
            if len(left) == 1:
                moves = [text for text in moment.view.moves if text.startswith(f"{left[0]}-")]
                assert moves
                assert all(
                    TERRITORIES.index(place) in newborn_by(moment.state, move_of(moment, text)) for text in moves
                )


def test_what_the_nearest_village_would_give_is_told_right() -> None:
    for moment, lesson in lessons("clans", "near"):
        place, *left = lesson.places
        away = [text for text in moment.view.moves if text.startswith(f"{left[0]}-") and f"-{place}" not in text]
        if len(left) > 1 or not away:
            continue
        made = foundings(moment.state, moment.seat, move_of(moment, away[0]))
        village = next(found.village for found in made if TERRITORIES[found.village.territory] == place)
        own = moment.view.table["own_clan"]
        given = village.value if own in village.clans else 0
        assert (f"give {given} to {own}" in read(lesson)) == (given > 0)


def test_all_lessons_come_up_in_recorded_matches() -> None:
    told = {moment.lesson.key for name in RECORDS for moment in moments(name) if moment.lesson}
    assert told >= {"clan", "becoming", "village", "chip", "first-village", "strife", "seven", "order", "late"}
    assert told >= {"near", "step", "walking", "spread", "hiding", "ahead", "pace"}
    assert told >= {f"epoch-{number}" for number in range(1, 6)}
    assert told >= {"hand", "beside", "shields", "taking", "late-shield", "shifting", "keeping", "down"}
    assert told >= {"end-in-sight", "last-move", "sums"}


def test_the_clan_named_is_the_viewers_own() -> None:
    for moment, lesson in lessons("clans", "clan"):
        assert lesson.title.args["own"] == moment.view.table["own_clan"] == facts(lesson)["own"]
        assert any(text.startswith(facts(lesson)["text"]) for text in moment.view.moves)


def test_moves_named_as_founding_found_what_is_said() -> None:
    for moment, lesson in lessons("clans", "village"):
        told = facts(lesson)
        ways = [text for text in moment.view.moves if text.partition(" / ")[0] == told["move"]]
        made = [
            founding
            for text in ways
            for founding in foundings(moment.state, moment.seat, move_of(moment, text))
            if TERRITORIES[founding.village.territory] == told["place"]
        ]
        said = re.search(r" gives (\d+)(?: each)? to ([^:]+):", read(lesson))
        values = {(str(founding.village.value), *founding.village.clans) for founding in made}
        if said:
            assert (said[1], *re.split(", | and ", said[2])) in values
        else:
            assert "worth nothing" in read(lesson)
            assert 0 in {founding.village.value for founding in made}
        gains = any(moment.view.table["own_clan"] in f.village.clans and f.village.value for f in made)
        assert gains or "gains nothing" in read(lesson)
        for other in str(told.get("others", "")).split(" or "):
            assert not other or newborn_by(moment.state, move_of(moment, other))


def move_of(moment: Moment, text: str) -> Any:
    """Return a move of Clans as the viewer may write it, the first order if it needs one."""
    whole = next(way for way in moment.view.moves if way == text or way.partition(" / ")[0] == text)
    return games.game("clans").parse(moment.state, moment.seat, whole)


def test_no_move_founds_before_the_guide_has_told_of_it() -> None:
    for name in RECORDS:
        told: set[tuple[int, str]] = set()
        for moment in moments(name) if name.startswith("clans") else ():
            if moment.lesson:
                told.add((moment.seat, moment.lesson.key))
            founds = any(newborn_by(moment.state, move_of(moment, text)) for text in moment.view.moves)
            pressing = {"clan", "becoming", "epoch-1", "chip", "first-village"}
            assert not founds or (moment.seat, "village") in told or (moment.lesson and moment.lesson.key in pressing)


def test_villages_told_of_in_an_order_are_those_that_arise() -> None:
    for moment, lesson in lessons("clans", "order"):
        born = newborn_by(moment.state, move_of(moment, facts(lesson)["text"]))
        assert lesson.places == tuple(TERRITORIES[territory] for territory in born)
        assert len(born) > 1


def test_strife_and_large_groups_are_told_as_they_stand() -> None:
    for moment, lesson in lessons("clans", "strife"):
        huts = moment.view.table["huts"][lesson.places[0]]
        assert all(huts)
        assert lesson.places[0] not in {village["territory"] for village in moment.view.table["villages"]}
    for moment, lesson in lessons("clans", "seven"):
        place = lesson.places[0]
        assert sum(moment.view.table["huts"][place]) == facts(lesson)["size"] >= 7
        ways = {text.partition(" / ")[0].split("-")[1] for text in moment.view.moves if text.startswith(f"{place}-")}
        assert ways == set(filter(None, facts(lesson)["ways"].split(" or ")))


def test_an_epoch_is_told_of_in_the_epoch() -> None:
    for number in range(1, 6):
        for moment, lesson in lessons("clans", f"epoch-{number}"):
            assert moment.view.table["epoch"] == number
            epoch = moment.view.table["epochs"][number - 1]
            assert f"{epoch['bonus']}" in read(lesson)
            assert all(terrain in read(lesson) for terrain in epoch["hostile"])


def test_the_card_shown_to_a_beginner_fits_for_the_reason_given() -> None:
    for moment, lesson in lessons("glory", "hand"):
        told = facts(lesson)
        colour, strength = told["words"].split()
        written = f"{colour[0].upper()}{strength} {told['spot']}"
        card = games.game("glory").parse(moment.state, moment.seat, written).card
        assert fits(moment.state, card, SPOT[told["spot"]])
        assert SPOT[told["near"]] in matches(moment.state, card, SPOT[told["spot"]])
        assert ("opposite it" in read(lesson)) == (told["near"][1:] == told["spot"][1:])


def test_what_shields_take_is_told_as_it_stands() -> None:
    for moment, lesson in lessons("glory", "taking"):
        told = facts(lesson)
        standing = moment.state.tally().detail["taken"][str(told["place"])]
        assert standing[0] == [told["who"], told["strength"], told["cards"]]
    for moment, lesson in lessons("glory", "late-shield"):
        told = facts(lesson)
        stack = moment.view.table["stacks"][str(told["place"])]
        assert len(stack) > len(moment.state.tally().detail["taken"].get(str(told["place"]), ()))
        assert stack[len(told["strengths"].replace(" and ", ", ").split(", "))] == told["who"]


def test_a_card_that_another_laid_face_down_is_told_of() -> None:
    state = position({"N2": "R5", "N5": "B6 down by 0", "S5": "Y4 down by 1"}, ["G3 R4", "W4 W6"])
    view = games.game("glory").view(state, 0, None)
    told = games.game("glory").lessons([view] * 3)
    keys = [lesson.key if lesson else None for lesson in told]
    assert keys == ["hand", "shields", "others-down"]
    assert told[2]
    assert told[2].places == ("S5",)
    assert "Y4" not in read(told[2])


@pytest.mark.parametrize("name", [name for name in RECORDS if name.startswith("glory-0")])
def test_the_turns_left_are_counted_right(name: str) -> None:
    for seat in {moment.seat for moment in moments(name)}:
        turns = [moment for moment in moments(name) if moment.seat == seat]
        for moment in turns[:-1]:
            left = len(turns) - 1 - moment.turn
            if moment.lesson and moment.lesson.key == "end-in-sight":
                assert facts(moment.lesson)["own"] == left
            if moment.lesson and moment.lesson.key == "last-move":
                assert left == 1

"""Plays random matches of any installed game and checks that it keeps the contract of `engine.base`.

    python -m engine.check KIND [--count N] [--seed S]

The first match that breaks a law is written to a file as a record, and the exit code is 1. The same seed plays the same
matches again. docs/adding-a-game.md tells what to do with what this says.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from engine import games, record, replay
from engine.base import Game, InvalidSetup, MoveError, State, Veiled, View
from engine.deal import Stream, stream_for
from engine.lessons import LONGEST as LONGEST_LESSON
from engine.replay import Position, Row
from engine.selfplay import NAMES

LONGEST = 10_000
"""A match must end before so many moves: a record holds no more rows."""
THOROUGH = 8
"""One position in so many is looked at in every way; the others only in the quick ways."""
WIDTH = 76
JUNK: tuple[Any, ...] = (None, 0, "", [], {}, {"junk": 0}, [[]])
KEY = re.compile(r"[a-z0-9-]+")
FORBIDDEN = ("style", "script", "image", "a", "foreignObject")


class Broken(Exception):
    """A game breaks a law. `str(error)` says which; `record` is the match up to there, None if none began."""

    record: dict[str, Any] | None = None


def match(game: Game, seed: int, number: int) -> dict[str, Any]:
    """Play one match, chosen by seed and number, and return its record. Raises `Broken`."""
    chance = Stream(sha256(f"{game.kind} {seed} {number}".encode()).digest())
    seats = game.seat_counts[number % len(game.seat_counts)]
    options = {option.name: option.choices[chance.below(len(option.choices))][0] for option in game.options}
    secret = sha256(f"secret {seed} {number}".encode()).digest()
    setup = game.deal(stream_for(secret, [""] * seats), seats, options)
    _hold(json.loads(json.dumps(setup)) == setup, "the deal is not plain")
    for junk in JUNK:
        _hold(_refused(game, junk, seats), f"begin takes {junk!r} for a setup")
    rows: list[Row] = []
    beginner = number % seats
    views: list[View] = []

    def so_far(outcome: Any = None) -> dict[str, Any]:
        return record.build(
            game=game.kind,
            rules=game.rules,
            options=options,
            players=NAMES[:seats],
            setup=setup,
            rows=rows,
            outcome=outcome,
            seed=secret.hex(),
            contributions=[""] * seats,
        )

    try:
        position = replay.start(game, setup, seats, options)
        while position.to_act:
            _hold(len(rows) < LONGEST, "the match does not end")
            seat = position.to_act[chance.below(len(position.to_act))]
            moves = _moves(game, position.state, seat)
            move = moves[chance.below(len(moves))]
            text = game.format(position.state, seat, move)
            secret_move = game.public_text(position.state, seat, move, None) != text
            if chance.below(THOROUGH) == 0 or not rows or secret_move:
                _look(game, position, move, seat, chance)
            if seat == beginner and number % THOROUGH == 0:
                views.append(game.view(position.state, seat, None))
            row = Row(position.seq + 1, seat, replay.MOVE, text)
            rows.append(row)
            position = replay.advance(position, row)
        _ended(game, position)
        if views:
            _teach(game, [*views, game.view(position.state, beginner, position.outcome)])
        whole = so_far(position.outcome)
        again = record.check(record.load(record.dump(whole))).state
        _hold(again == position.state, "the record leads to another position")
    except Exception as error:  # whatever goes wrong is the game's, and its match is wanted
        broken = error if isinstance(error, Broken) else Broken(f"{type(error).__name__}: {error}")
        broken.record = so_far()
        raise broken from error
    return whole


def _moves(game: Game, state: State, seat: int) -> list[Any]:
    """Return the legal moves of an awaited seat, after the quick checks of a position."""
    _hold(tuple(sorted(set(state.to_act))) == state.to_act, "to_act is not ascending")
    _hold(state.outcome() is None, "there is an outcome while seats are awaited")
    moves = list(state.legal_moves(seat))
    _hold(bool(moves) and len(set(moves)) == len(moves), "an awaited seat has no move, or one twice")
    _hold(game.timeout_move(state, seat) in moves, "the move of a seat out of time is not legal")
    for other in set(range(state.seats)) - set(state.to_act):
        _hold(not list(state.legal_moves(other)), "a seat that is not awaited has moves")
    return moves


def _look(game: Game, position: Position, move: Any, seat: int, chance: Stream) -> None:
    """Look at a position in every way there is; `move` is the one about to be made."""
    state = position.state
    texts = []
    for legal in state.legal_moves(seat):
        texts.append(game.format(state, seat, legal))
        _hold(game.parse(state, seat, texts[-1]) == legal, f"{texts[-1]!r} is read as another move")
        _hold(game.public_text(state, seat, legal, seat) == texts[-1], f"the mover is not shown his own {texts[-1]!r}")
        state.apply(seat, legal)
    for legal in _some(state, seat):
        touched = game.touched(state, seat, legal)
        for viewer in (None, seat):
            for phrase in game.words(state, seat, legal, viewer):
                phrase.read(NAMES)  # a field without a value shows here
    game.picture(game.view(state, None, None), touched)
    _hold(len(set(texts)) == len(texts), "two moves have the same text")
    for viewer in (None, *range(state.seats)):
        view = game.view(state, viewer, None)
        _hold(viewer != seat or list(view.moves) == texts, "the view of the mover has other moves")
        _hold(bool(view.moves) == (viewer in state.to_act), "a view has the moves of another seat, or none")
        _show(game, state, viewer, position)
        _hide(game, state, viewer, move, seat, chance)


def _some(state: State, seat: int) -> list[Any]:
    """Return about a dozen of the legal moves, from all over the list: what is looked at closely takes time."""
    moves = list(state.legal_moves(seat))
    return moves[:: len(moves) // 12 + 1]


def _show(game: Game, state: State, viewer: int | None, position: Position) -> None:
    """Check what a viewer is shown of a position: plain view, text, picture."""
    view = game.view(state, viewer, position.outcome)
    plain = view.as_plain()
    _hold(json.loads(json.dumps(plain)) == plain, "the view is not plain")
    labels = [[figure[:2] for figure in game.figures(one)] for one in (view, game.view(state, None, None))]
    _hold(labels[0] == labels[1], "the figures of two views have other labels")
    for line in game.text(view, NAMES[: state.seats]).split("\n"):
        _hold(len(line) <= WIDTH, f"a line of the text is wider than {WIDTH} columns: {line!r}")
        _hold(not line.startswith((">", "From ")), f"a mail would change this line of the text: {line!r}")
        _hold(all(not _is_move(game, state, line, seat) for seat in position.to_act), f"{line!r} is read as a move")
    for drawing in (game.picture(view), game.picture(view, (), "ground"), game.picture(view, (), "pieces")):
        _sound(drawing)


def _sound(drawing: str) -> None:
    """Check that a drawing is a document of its own: no script, no style, nothing from outside."""
    for element in ElementTree.fromstring(drawing).iter():  # noqa: S314 - ours
        _hold(element.tag.rpartition("}")[2] not in FORBIDDEN, f"the picture has a {element.tag}")
        for name, value in element.attrib.items():
            inner = not name.endswith("href") or value.startswith("#")
            _hold(inner and name != "style" and not name.startswith("on"), f"the picture has {name}={value!r}")


def _hide(game: Game, state: State, viewer: int | None, move: Any, seat: int, chance: Stream) -> None:
    """Check that what a viewer is given is the same in another world that differs only in what he must not know."""
    other = game.reshuffled(state, viewer, chance)
    drawn = [game.reshuffled(world, viewer, Stream(sha256(b"drawn").digest())) for world in (state, other)]
    _hold(drawn[0] == drawn[1], f"what is drawn at random for {viewer} depends on a secret")
    if viewer != seat:
        looks = [_conceivable(game, world, viewer, seat) for world in (state, other)]
        _hold(looks[0] == looks[1], f"which moves {viewer} may suppose of others tells a secret")
        shown = game.public_text(state, seat, move, viewer)
        _hold(not looks[0] or shown in looks[0], f"{viewer} may not suppose the move that is made")
    names = NAMES[: state.seats]
    here, there = game.view(state, viewer, None), game.view(other, viewer, None)
    _hold(here == there, f"the view of {viewer} tells a secret")
    _hold(game.text(here, names) == game.text(there, names), f"the text for {viewer} tells a secret")
    _hold(game.picture(here) == game.picture(there), f"the picture for {viewer} tells a secret")
    alike: dict[Any, str] = {}
    for made in _some(state, seat) if viewer != seat else ():
        shown = json.dumps(game.view(state.apply(seat, made), viewer, None).as_plain(), sort_keys=True)
        text = game.public_text(state, seat, made, viewer)
        _hold(alike.setdefault(shown, text) == text, f"{text!r} tells {viewer} what the table does not show")
    said = game.public_text(state, seat, move, viewer)
    for twin in other.legal_moves(seat):
        if game.public_text(other, seat, twin, viewer) == said:
            told = [game.words(world, seat, made, viewer) for world, made in ((state, move), (other, twin))]
            _hold(told[0] == told[1], f"the words for {viewer} of {said!r} tell a secret")
            marks = [game.touched(world, seat, made) for world, made in ((state, move), (other, twin))]
            _hold(marks[0] == marks[1], f"the touched places of {said!r} tell a secret")
            after = [game.view(world.apply(seat, made), viewer, None) for world, made in ((state, move), (other, twin))]
            _hold(after[0] == after[1], f"the view of {viewer} after {said!r} tells a secret")


def _conceivable(game: Game, state: State, viewer: int | None, seat: int) -> dict[str, str]:
    """Return the moves that a viewer may suppose of another seat of a veiled game, each with what he would see then."""
    found: dict[str, str] = {}
    for world, move in game.conceivable(state, viewer, seat) if isinstance(game, Veiled) else ():
        _hold(
            game.view(world, viewer, None) == game.view(state, viewer, None), "a supposed position shows something else"
        )
        after = game.view(world.apply(seat, move), viewer, None)
        found[game.public_text(world, seat, move, viewer)] = json.dumps(after.as_plain(), sort_keys=True)
    return found


def _teach(game: Game, views: Sequence[View]) -> None:
    """Check what a newcomer is told at each of his views: a few words, each lesson once, nothing from hindsight."""
    lessons, told = game.lessons(views), set[str]()
    half = len(views) // 2
    _hold(len(lessons) == len(views), "there is not one lesson, or None, for each view")
    _hold(game.lessons(views[:half]) == lessons[:half], "what comes later changes what was told")
    for view, lesson in zip(views, lessons, strict=True):
        if lesson is None:
            continue
        words = " ".join(phrase.read(NAMES) for phrase in lesson.text).split()
        fair = bool(lesson.title.read(NAMES)) and 0 < len(words) <= LONGEST_LESSON
        _hold(fair, f"the lesson {lesson.key} is empty or too long")
        game.picture(view, lesson.places)
        _hold(lesson.key not in told, f"the lesson {lesson.key} is told twice")
        told.add(lesson.key)


def _illustrate(game: Game) -> None:
    """Check the pictures of the rules."""
    examples = game.examples()
    keys = [example.key for example in examples]
    _hold(len(set(keys)) == len(keys), "two examples have the same key")
    for example in examples:
        _hold(KEY.fullmatch(example.key) is not None, f"{example.key!r} cannot stand in an address")
        _hold(min(example.box[2:]) > 0, f"the box of {example.key} is empty")
        _hold(bool(example.caption.read(NAMES) and example.alt.read(NAMES)), f"{example.key} lacks words")
        _sound(game.picture(example.view, example.marks))


def _ended(game: Game, position: Position) -> None:
    """Check how a match ended, and what is shown of it then."""
    state, outcome = position.state, position.state.outcome()
    if outcome is None:
        raise Broken("nobody is awaited, but there is no outcome")
    _hold(outcome.winners == tuple(sorted(set(outcome.winners))) != (), "there are no winners, or out of order")
    _hold(set(outcome.winners) <= set(range(state.seats)) and len(outcome.scores) == state.seats, "odd scores")
    _hold(state.tally().scores == outcome.scores, "the tally at the end is not the result")
    for viewer in (None, *range(state.seats)):
        _hold(game.view(state, viewer, outcome).moves == (), "there are moves after the end")
        _show(game, state, viewer, position)


def _is_move(game: Game, state: State, text: str, seat: int) -> bool:
    try:
        game.parse(state, seat, text)
    except MoveError:
        return False
    return True


def _refused(game: Game, setup: Any, seats: int) -> bool:
    try:
        game.begin(setup, seats, {})
    except InvalidSetup:
        return True
    return False


def _hold(law: bool, broken: str) -> None:
    if not law:
        raise Broken(broken)


def matches(game: Game, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the records of so many matches, then look at the pictures of the rules.

    Raises `Broken`, its message with the number of the match.
    """
    for number in range(count):
        try:
            yield match(game, seed, number)
        except Broken as broken:
            broken.args = (f"match {number}: {broken}",)
            raise
    try:
        _illustrate(game)
    except Exception as error:
        raise error if isinstance(error, Broken) else Broken(f"examples: {type(error).__name__}: {error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a game as the command line asks; return the exit code."""
    parser = argparse.ArgumentParser(prog="engine.check", description="Check that a game keeps the contract.")
    parser.add_argument("kind", help="the game, such as clans")
    parser.add_argument("--count", type=int, default=200, help="how many matches are played (200)")
    parser.add_argument("--seed", type=int, default=1, help="which matches are played (1)")
    asked = parser.parse_args(arguments)
    try:
        game = games.game(asked.kind)
        moves = [len(found["log"]) for found in matches(game, asked.count, asked.seed)]
    except games.UnknownGame as error:
        print(error, file=sys.stderr)
        return 1
    except Broken as broken:
        print(f"{asked.kind}, seed {asked.seed}, {broken}", file=sys.stderr)
        if broken.record:
            file = Path(f"broken-{asked.kind}-{asked.seed}.json")
            file.write_text(record.dump(broken.record), encoding="utf-8")
            print(f"The match up to there is in {file}.", file=sys.stderr)
        return 1
    print(f"{asked.kind}: {len(moves)} matches, {sum(moves)} moves, every law holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""All that people read of a game passes through the catalogues, whole, and nothing that is kept is in one language.

A language is spoken here in which every sentence stands between ⟦ and ⟧, as it is in English otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from babel.messages.catalog import Catalog

from engine import counting, games, language, record, replay, timerule
from engine.base import InvalidSetup, MoveError, Outcome, Phrase, View, Who, either
from engine.plaintext import columns, filled, table
from engine.replay import Position, ReplayError, Row
from server import languages
from tools import messages

FOLDER = Path(__file__).parent.parent / "records"
RECORDS = sorted(path.stem for path in FOLDER.glob("*.json"))
FEW = [name for name in RECORDS if re.search(r"-end-|-01$|stay|leave|tie|separate|face-down|timeouts|undo|best", name)]
BAD = sorted(path.stem for path in (FOLDER / "bad").glob("*.json"))
KINDS = sorted(games.games())
NAMES = ("11", "22", "33", "44")
"""Display names without letters, so that every letter is of a sentence."""
TRIED = (
    *("", "x" * 300, "hello", "A1-A1", "A1-L5", "A1-A2", "A1-A2 / A1", "Z9-A1", "F1-B5 / Q", "F1-B5 / B5 B5", "B2-B3"),
    *("R3 N1", "B5 S2", "R3 N4", "R9 N1", "R3 N99", "R3 N18", "R3 S2 down", "R3 S2 shield", "W6 S11", "P4 N3"),
)
CLOCKS = (
    timerule.Rule(),
    timerule.Rule(move=86400, bank=90061, increment=3600, cap=172800, weekend=True, nights=True, takeback=False),
    timerule.Rule(bank=86400, missing="loss", vacations=False),
    timerule.Rule(bank=86400, increment=60, missing="vote"),
    timerule.Rule(move=86400, increment=60, daily="18:00 UTC", missing="at-once"),
)
NOTATION = re.compile(
    r"[A-L]([1-5]\*?)?|[NS](1?\d)?|[ROYGBPW][3-8]|[IV]+|\d+x\d"  # territories, spots, cards, epochs, cards x strength
)
BOARD_LINE = re.compile(r"^( +[A-L][1-5]\*? [FMSG] +(\.|[\drbgyk]+))+ *$", re.MULTILINE)
INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")


class Marked(NullTranslations):
    """The language of these tests; `asked` are the sentences that were said in it, each with its context."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[tuple[str, str | None]] = set()

    def gettext(self, message: str) -> str:
        self.asked.add((message, None))
        return f"⟦{message}⟧"

    def ngettext(self, one: str, many: str, number: int) -> str:
        self.asked.add((one, None))
        return f"⟦{one if number == 1 else many}⟧"

    def pgettext(self, context: str, message: str) -> str:
        self.asked.add((message, context))
        return f"⟦{message}⟧"


def outside(text: str) -> list[str]:
    """Return the words of a text that belong to no sentence that was said, and are no notation."""
    text = BOARD_LINE.sub("", text)
    while INNERMOST.search(text):
        text = INNERMOST.sub("", text)
    words = re.findall(r"\w[\w*]*", text)
    return [word for word in words if re.search(r"[^\W\d_]", word) and not NOTATION.fullmatch(word)]


@cache
def played(name: str) -> tuple[games.Game, int, list[Row], list[Position]]:
    """Return game, seats, rows and positions of a recorded match."""
    found = record.load((FOLDER / f"{name}.json").read_bytes())
    game, rows, seats = games.game(found["game"]), record.rows_of(found), len(found["players"])
    return game, seats, rows, list(replay.positions(game, found["setup"], seats, found["options"], rows))


def shown(name: str) -> Iterator[str]:
    """Yield what is shown of a recorded match, piece by piece."""
    game, seats, rows, positions = played(name)
    names = NAMES[:seats]
    for number, position in enumerate(positions):
        state, outcome = position.state, position.outcome
        if number < len(rows) and rows[number].kind == replay.MOVE:
            seat, text = rows[number].seat or 0, rows[number].text
            move = game.parse(state, seat, text)
            for viewer in (None, seat):
                yield from (phrase.read(names) for phrase in game.words(state, seat, move, viewer))
        if number % 15 and number < len(positions) - 1:
            continue
        for viewer in (None, *range(seats)):
            view = game.view(state, viewer, outcome)
            yield game.text(view, names)
        yield from (word for figure in game.figures(view) for word in figure[:2])
        yield from seen(game.picture(view, game.touched(state, seat, move) if position.to_act else ()))
        yield from refusals(game, position)


def seen(drawing: str) -> Iterator[str]:
    """Yield the words of a drawing, and what is read aloud of it."""
    for element in ElementTree.fromstring(drawing).iter():
        yield element.text or ""
        yield element.get("aria-label", "")


def refusals(game: games.Game, position: Position) -> Iterator[str]:
    """Yield what is said of moves that cannot be made."""
    for seat in range(position.state.seats):
        for text in TRIED:
            try:
                game.parse(position.state, seat, text)
            except MoveError as error:
                yield str(error)


def taught(name: str) -> Iterator[str]:
    """Yield what a newcomer is told in a recorded match, and whatever else he might have been told at each turn."""
    game, seats, _, positions = played(name)
    for seat in range(seats):
        turns = [now for now in positions if seat in now.to_act or now.outcome]
        views = [game.view(now.state, seat, now.outcome) for now in turns]
        for run in (views, *([view] * 12 for view in views[::4])):
            yield from (words for lesson in lessons(game, run) for words in lesson)


def lessons(game: games.Game, views: list[View]) -> Iterator[list[str]]:
    """Yield the words of the lessons at these views."""
    for lesson in game.lessons(views):
        if lesson:
            yield [phrase.read(NAMES) for phrase in (lesson.title, *lesson.text)]


def explained(kind: str) -> Iterator[str]:
    """Yield what a game says of itself."""
    game = games.game(kind)
    yield game.title
    for option in game.options:
        yield option.label
        yield from (label for _, label in option.choices)
    for example in game.examples():
        yield example.caption.read(NAMES)
        yield example.alt.read(NAMES)
        yield from seen(game.picture(example.view, example.marks))
    for setup, seats, options in ((None, 2, {}), ({}, 2, {}), ({}, 9, {}), ({}, 2, {"x": "y"})):
        try:
            game.begin(setup, seats, options)
        except InvalidSetup as error:
            yield str(error)


def refused() -> Iterator[str]:
    """Yield what is said of records, rows and time rules that cannot be."""
    for name in BAD:
        try:
            record.check(record.load((FOLDER / "bad" / f"{name}.json").read_bytes()))
        except record.RecordError as error:
            yield error.why
    for data in (b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"a": 1, "a": 2}'):
        try:
            record.load(data)
        except record.RecordError as error:
            yield error.why
    for values in ({"x": 1}, {"move": "x"}, {"move": 1}, {"misses": 9}, {"missing": "x"}, {"nights": True}, []):
        try:
            timerule.rule(values)  # type: ignore[arg-type]
        except timerule.WrongRule as error:
            yield str(error)
    for reader in (counting.instant, counting.span, counting.hours, counting.daily):
        try:
            reader("25:00")
        except ValueError as error:
            yield str(error)
    for name in RECORDS[:1]:
        for row in (Row(1, 9, "resign", ""), Row(1, 0, "x", ""), Row(1, 0, "undo", "1"), Row(7, 0, "move", "")):
            try:
                replay.advance(played(name)[3][0], row)
            except ReplayError as error:
                yield error.why


def told_of_clocks() -> Iterator[str]:
    """Yield time rules in words."""
    for rule in CLOCKS:
        yield timerule.sentence(rule)
    for misses in range(1, 6):
        yield timerule.sentence(replace(CLOCKS[1], misses=misses))


SOURCES = {
    **{f"match {name}": lambda name=name: shown(name) for name in FEW},
    **{f"guide {name}": lambda name=name: taught(name) for name in FEW},
    **{kind: lambda kind=kind: explained(kind) for kind in KINDS},
    "faults": refused,
    "clocks": told_of_clocks,
}


@pytest.fixture
def marked() -> Marked:
    return Marked()


@cache
def known() -> Catalog:
    """Return every sentence that the catalogues see in the sources."""
    return messages.said()


@pytest.mark.parametrize("source", SOURCES)
def test_every_sentence_is_said_whole_in_the_language_spoken(marked: Marked, source: str) -> None:
    before = list(SOURCES[source]())
    with language.speaking(marked):
        said = list(SOURCES[source]())
    assert said != before
    assert not {word for text in said for word in outside(text)}
    assert list(SOURCES[source]()) == before, "something kept is in the other language"
    assert "⟦" not in "".join(before)
    asked = {(message, context) for message, context in marked.asked if message}
    assert not {(message, context) for message, context in asked if known().get(message, context) is None}


def test_every_reason_for_an_end_is_a_sentence_of_the_catalogues() -> None:
    reasons = {end.reason for name in RECORDS if (end := played(name)[3][-1].outcome)}
    assert {"resignation", "twelfth village", "last card laid"} <= reasons
    assert all(known().get(reason) for reason in reasons | {replay.CANCELLED, replay.AGREEMENT})


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("code", [*languages.LANGUAGES, "marked"])
def test_boards_of_mails_fit_in_every_language(marked: Marked, name: str, code: str) -> None:
    game, seats, _, positions = played(name)
    long = ["Wilhelmina of Skye", "木" * 20, "x" * 40, "Ó" * 16][:seats]
    with language.speaking(marked if code == "marked" else languages.translations(code)):
        for position in (*positions[::12], positions[-1]):
            for viewer in (None, *range(seats)):
                for line in game.text(game.view(position.state, viewer, position.outcome), long).split("\n"):
                    assert columns(line) <= 76
                    assert not line.startswith((">", "From "))


def test_an_end_that_was_agreed_is_told_in_the_language_spoken(marked: Marked) -> None:
    game, seats, _, positions = played("clans-01")
    state = positions[5].state
    view = game.view(state, None, Outcome(replay.AGREEMENT, (0,) * seats, (0,), state.tally().detail))
    with language.speaking(marked):
        assert "⟦agreement⟧" in game.text(view, NAMES[:seats])


def test_lines_that_are_too_long_are_broken_between_words() -> None:
    assert filled("  1. short") == ["  1. short"]
    first, second = filled("  1. " + "word " * 15 + "end")
    assert first.startswith("  1. word")
    assert len(first) <= 76
    assert second.startswith("      ")
    assert second.endswith("end")


def test_a_table_is_as_wide_as_its_widest_cells() -> None:
    rows = [["a", "head", "last and long"], ["wide cell", "b", "c"], ["木", "d"]]
    assert [line.rstrip() for line in table(rows, (0, 6, 0))] == [
        "a          head    last and long",
        "wide cell  b       c",
        "木         d",
    ]


def test_a_phrase_holds_others_and_is_followed_by_others(marked: Marked) -> None:
    taking = Phrase("{who} {points}", {"who": Who(1), "points": 3})
    phrase = Phrase("Place {place} gives {takings}.", {"place": 2, "takings": taking})
    whole = phrase.then(Phrase("It is full.")).then(Phrase.plural("{n} hut.", "{n} huts.", 2))
    assert whole.read(("Ailsa", "Bran")) == "Place 2 gives Bran 3. It is full. 2 huts."
    with language.speaking(marked):
        assert whole.read(("Ailsa", "Bran")) == "⟦Place 2 gives ⟦Bran 3⟧.⟧ ⟦It is full.⟧ ⟦2 huts.⟧"


@pytest.mark.parametrize(("names", "said"), [([], ""), (["A1"], "A1"), (["A1", "A2", "A3"], "A1, A2 or A3")])
def test_a_choice_of_names_is_said_like_a_list(names: list[str], said: str) -> None:
    assert either(names) == said

"""The contract between a game and the rest of the house.

A game is one folder under `engine/games/` whose package has a `GAME` that satisfies `Game`. Everything the server
needs of a game goes through the names in this file; nothing else of a game is imported outside its folder.

Shapes used throughout: a *seat* is an int counted from 0; a *viewer* is a seat or None for a spectator; *plain* means
made of dict, list, str, int, bool and None only, so that it survives JSON unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from engine.language import gettext, ngettext

if TYPE_CHECKING:
    from engine.bots.mind import Mind

Plain = Any  # dict, list, str, int, bool or None, all the way down
Names = Sequence[str]  # display names in seat order
Layer = Literal["whole", "ground", "pieces", "above"]  # of a picture


class MoveError(Exception):
    """A move text was refused. `str(error)` is one sentence for the player who sent it; nothing changed."""


class InvalidMove(MoveError):
    """The text cannot be read as a move of this game."""


class IllegalMove(MoveError):
    """The text is a move, but the rules forbid it in this position."""


class AmbiguousMove(MoveError):
    """The text fits several moves. `choices` holds each of them in canonical notation, ready to be sent."""

    def __init__(self, message: str, choices: Sequence[str]) -> None:
        super().__init__(message)
        self.choices = tuple(choices)


class InvalidSetup(Exception):
    """What chance is said to have decided cannot be a setup of this game."""


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: Ailsa, Bran and Catrin."""
    if len(names) < 2:
        return "".join(names)
    return gettext("{some} and {last}").format(some=", ".join(names[:-1]), last=names[-1])


def either(names: Sequence[str]) -> str:
    """Return names as a choice in a sentence: Ailsa, Bran or Catrin."""
    if len(names) < 2:
        return "".join(names)
    return gettext("{some} or {last}").format(some=", ".join(names[:-1]), last=names[-1])


class Who(int):
    """A seat inside a phrase: replaced by that seat's display name when the phrase is read."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence whose wording and facts are apart, so that names and languages can be filled in at the edge.

    `template` is English with `{name}` fields; `args` holds their values: `Who`, int, another phrase, or what is said
    as it is, words among them in the language spoken already. `many` and `number` are for a wording that goes with a
    number; `rest` are the sentences that follow.
    """

    template: str
    args: Mapping[str, int | str | Phrase] = field(default_factory=dict)
    many: str = ""
    number: int = 1
    rest: tuple[Phrase, ...] = ()

    @classmethod
    def plural(cls, one: str, many: str, number: int, args: Mapping[str, int | str | Phrase] | None = None) -> Phrase:
        """Return a phrase whose wording goes with a number, which fills the field `{n}` of both templates."""
        return cls(one, {"n": number, **(args or {})}, many, number)

    def read(self, names: Names) -> str:
        """Return the sentence in the language spoken just now, seats replaced by `names`."""
        filled = {key: _filled(value, names) for key, value in self.args.items()}
        template = ngettext(self.template, self.many, self.number) if self.many else gettext(self.template)
        return " ".join((template.format(**filled), *(phrase.read(names) for phrase in self.rest)))

    def then(self, *phrases: Phrase) -> Phrase:
        """Return the phrase with other sentences behind it."""
        return replace(self, rest=(*self.rest, *phrases))


def _filled(value: int | str | Phrase, names: Names) -> int | str:
    """Return what stands in a field of a sentence."""
    if isinstance(value, Who):
        return names[value]
    return value.read(names) if isinstance(value, Phrase) else value


class Option(NamedTuple):
    """A rule that a table may choose. `choices` pairs each stored value with its label; the first is the default.

    Labels are in the language spoken when the option was asked for.
    """

    name: str
    label: str
    choices: tuple[tuple[str, str], ...]

    @property
    def default(self) -> str:
        """The value a table has that does not choose."""
        return self.choices[0][0]


class Tally(NamedTuple):
    """The scores as they stand: one int a seat, and the game's own plain account of them."""

    scores: tuple[int, ...]
    detail: Plain


class Figure(NamedTuple):
    """A number worth following over a match: what group it is shown with, its label and its value."""

    group: str
    label: str
    value: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a match ended: why, the score of each seat, the seats that won (ties share), the game's own account.

    `reason` is English, as records hold it: `gettext(reason)` says it to people.
    """

    reason: str
    scores: tuple[int, ...]
    winners: tuple[int, ...]
    detail: Plain

    def as_plain(self) -> dict[str, Plain]:
        """Return the outcome as the `result` of a record."""
        return {
            "scores": list(self.scores),
            "winners": list(self.winners),
            "reason": self.reason,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class View:
    """What one viewer may know of a position, and all that pages, mails, pictures and bots are given.

    `moves` are the viewer's own legal moves in canonical notation, empty when he is not awaited. `table` is plain and
    the game's own. With an `outcome` everything secret is revealed.
    """

    kind: str
    seats: int
    viewer: int | None
    to_act: tuple[int, ...]
    moves: tuple[str, ...]
    outcome: Outcome | None
    table: Plain

    def as_plain(self) -> dict[str, Plain]:
        """Return the view as a plain dict."""
        return {
            "kind": self.kind,
            "seats": self.seats,
            "viewer": self.viewer,
            "to_act": list(self.to_act),
            "moves": list(self.moves),
            "outcome": self.outcome.as_plain() if self.outcome else None,
            "table": self.table,
        }


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a newcomer is told at one moment of his first match, with `places` of the board to mark.

    `key` is its name, once in a match. `engine.lessons.LONGEST` says how many words it has at most.
    """

    key: str
    title: Phrase
    text: tuple[Phrase, ...]
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A picture for the rules: a view with marks, and the part of its drawing to show.

    `key` is its name in addresses: lower-case letters, digits and hyphens. `box` holds left, top, width and height in
    the units of the drawing. `caption` says what it shows, `alt` what is seen.
    """

    key: str
    view: View
    marks: tuple[str, ...]
    box: tuple[float, float, float, float]
    caption: Phrase
    alt: Phrase


class Stream(Protocol):
    """Where a deal takes its chance from; `engine.deal.Stream` specifies the one the server uses."""

    def below(self, bound: int) -> int:
        """Return an int from 0 to `bound` - 1, each as likely as the others."""
        ...

    def shuffled(self, items: Iterable[Any]) -> list[Any]:
        """Return the items in random order."""
        ...


class State(Protocol):
    """A position: an immutable value. A refused move leaves nothing half done because nothing is changed in place."""

    @property
    def seats(self) -> int:
        """How many seats play."""
        ...

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats awaited, ascending; empty when the match has ended by its own rules."""
        ...

    def legal_moves(self, seat: int) -> Iterable[Any]:
        """Yield every move the seat may make, each once, in a fixed order; nothing if it is not awaited."""
        ...

    def apply(self, seat: int, move: Any) -> State:
        """Return the position after the move. Raises `IllegalMove`."""
        ...

    def outcome(self) -> Outcome | None:
        """Return how the match ended by its own rules, or None while it runs."""
        ...

    def tally(self) -> Tally:
        """Return the scores as they would be if the match ended now. Holds secrets: not for a viewer before the end."""
        ...


class Game(Protocol):
    """A set of rules. Moves are the game's own hashable values; their canonical text is what logs and records hold."""

    @property
    def kind(self) -> str:
        """The name of the folder, of the `game` in records and of the address: lower-case letters."""
        ...

    @property
    def title(self) -> str:
        """The name players read, in the language spoken just now."""
        ...

    @property
    def rules(self) -> int:
        """The version of the rules that new matches get."""
        ...

    @property
    def seat_counts(self) -> range:
        """How many may play."""
        ...

    @property
    def options(self) -> tuple[Option, ...]:
        """The rules a table may choose, in the language spoken just now."""
        ...

    @property
    def example(self) -> str:
        """A move in canonical notation that shows a newcomer what to write."""
        ...

    @property
    def mind(self) -> Mind | None:
        """What bots know of the game beyond its rules; None if nothing, so that they make any legal move."""
        ...

    def deal(self, stream: Stream, seats: int, options: Mapping[str, str]) -> Plain:
        """Return a plain setup drawn from the stream."""
        ...

    def begin(self, setup: Plain, seats: int, options: Mapping[str, str]) -> State:
        """Return the first position. Raises `InvalidSetup`, in one clear sentence, for anything that is not a setup."""
        ...

    def parse(self, state: State, seat: int, text: str) -> Any:
        """Read a move, forgiving in form. Raises `InvalidMove`, `IllegalMove` or `AmbiguousMove`."""
        ...

    def format(self, state: State, seat: int, move: Any) -> str:
        """Return the canonical notation of a legal move: `parse` of it gives an equal move."""
        ...

    def public_text(self, state: State, seat: int, move: Any, viewer: int | None) -> str:
        """Return the notation of a legal move as the viewer may read it: `format`, unless that tells a secret.

        Whoever may read the same knows the same: the words and the touched places follow from it.
        """
        ...

    def head(self, text: str) -> str:
        """Return what the notation of a move begins with, which players choose first from a list: a card, say.

        The whole notation if there is nothing to choose first.
        """
        ...

    def words(self, state: State, seat: int, move: Any, viewer: int | None) -> tuple[Phrase, ...]:
        """Tell what a legal move does from `state`, every point with its reason, as far as the viewer may know."""
        ...

    def touched(self, state: State, seat: int, move: Any) -> tuple[str, ...]:
        """Return the public places of the board that the move touches, for marking it on the picture."""
        ...

    def place_name(self, place: str) -> str:
        """Return what players call a touched place, in the language spoken just now."""
        ...

    def timeout_move(self, state: State, seat: int) -> Any:
        """Return a simple legal move for a seat that is awaited and out of time."""
        ...

    def uncovers(self, state: State, seat: int, move: Any) -> bool:
        """Whether a legal move shows its player something that was hidden from him, so that it is never taken back."""
        ...

    def reshuffled(self, state: State, viewer: int | None, stream: Stream) -> State:
        """Return a position that differs from this one in nothing but what the viewer must not know, drawn at random.

        Which one depends on the stream and on what the viewer may know alone. It is how `engine.check` and the tests
        look for leaks, and where a viewer tries moves out. A game without secrets returns the position itself.
        """
        ...

    def view(self, state: State, viewer: int | None, outcome: Outcome | None) -> View:
        """Return what the viewer may know. `outcome` is the match's, which resignation may have ended."""
        ...

    def figures(self, view: View) -> tuple[Figure, ...]:
        """Return the public numbers of a view that are worth a chart, the same labels in every position; () if none."""
        ...

    def text(self, view: View, names: Names) -> str:
        """Draw the whole view as plain text, at most 76 columns, no line beginning with `>` or `From `."""
        ...

    def picture(self, view: View, marks: Sequence[str] = (), layer: Layer = "whole") -> str:
        """Draw the view as one SVG document without outside references; `marks` are touched places, in order.

        A `layer` is a document of the same size: the ground is the same for every view of a match, and with the
        pieces laid over it gives the whole. "above" is asked of games alone that have their ground as a file: the
        whole without the ground.
        """
        ...

    def lessons(self, views: Sequence[View]) -> tuple[Lesson | None, ...]:
        """Return what a newcomer is told at each of the views: None where nothing is new to him or there is no guide.

        `views` are his own: one for each of his turns so far, and the one of now. A lesson is told at the first of
        them to which it applies, and never at a later one; what comes later changes nothing of what was told.
        """
        ...

    def examples(self) -> tuple[Example, ...]:
        """Return the pictures that the rules of the game are explained by; () if there are none."""
        ...


@runtime_checkable
class Veiled(Protocol):
    """What a game has besides, in which it is hidden from others what a seat may do, as with cards in a hand."""

    def conceivable(self, state: State, viewer: int | None, seat: int) -> Iterator[tuple[State, Any]]:
        """Yield each move that the seat may make for all the viewer knows, with a position in which it may.

        The positions differ from this one in nothing but what the viewer must not know, and which moves there are
        depends on nothing of that. Of moves that look the same to the viewer one is enough.
        """
        ...

"""What there is beside a match: talk, the owner's notes, the guide, another match of the same people."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from server import guide, notes, rematch, talk
from server.api.callers import Caller
from server.api.moves import MADE, Made, made
from server.api.rooms import Room
from server.api.seen import visible
from server.api.shapes import Answer, Body, Done, Instant, Number

room = Room("asides", "What there is beside a match: talk, notes, the guide, a rematch.")

MOST: Final = 200
TAKES: Final = {
    "move": "play",
    "say": "play",
    "join": "tables",
    "start": "tables",
    "bots": "tables",
    "leave": "tables",
    "rematch": "tables",
    "resign": "play",
    "pause": "play",
    "vacation": "account",
    "back": "play",
    "status": "play",
    "help": "play",
    "stop": "account",
}
"""The scope that each word takes of a token when it is said at the table: the same as elsewhere."""


class Lines(Body, frozen=True):
    """How much of the talk is asked for."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST, description="How many lines from the end.")] = 50


class TalkLine(Answer, frozen=True):
    """A line of table talk."""

    id: int
    by: str
    text: str
    at: Instant


class Talk(Answer, frozen=True):
    """The last lines, oldest first."""

    items: list[TalkLine]


class Say(Body, frozen=True):
    """A line for all at the table. As on the page it may be a move: then `expected` is as for a move; or a command with
    a slash, which takes the scope that it takes elsewhere: `/join` takes `tables`, `/vacation` takes `account`."""

    text: Annotated[str, msgspec.Meta(max_length=talk.LONGEST)]
    expected: Number = 0


class Said(Answer, frozen=True):
    """What became of the line: talk, move, or the command; `made` is set for a move."""

    kind: str
    sentences: list[str]
    made: Made | None


class Note(Body, frozen=True):
    """A private note about a match; an empty one is none."""

    text: Annotated[str, msgspec.Meta(max_length=2 * notes.LONGEST)]


class Noted(Answer, frozen=True):
    """The owner's private note."""

    text: str


class Guided(Body, frozen=True):
    """Whether the guide of a first match is to be shown."""

    show: bool


class Again(Answer, frozen=True):
    """The table of the rematch, or the match it has become."""

    match: int
    status: str


@room.get("/matches/<int:match_id>/talk", public=True)
def lines(caller: Caller, match_id: int, query: Lines) -> Talk:
    """List the last lines of the table talk."""
    found = talk.lines(visible(caller, match_id), query.limit)
    return Talk([TalkLine(each.id, each.user.name, each.text, each.at) for each in found])


@room.post(
    "/matches/<int:match_id>/talk",
    scope="play",
    keyed=True,
    refuses=(*MADE, "already-seated", "damaged", "not-open", "table-full", "unconfirmed"),
)
def say(caller: Caller, match_id: int, body: Say) -> Said:
    """Say a line at the table."""
    visible(caller, match_id)
    caller.require(TAKES.get(talk.word(body.text), "play"))
    said = talk.say(match_id, caller.me, body.text, expected=body.expected, via="api", now=caller.now, key=caller.key)
    return Said(said.kind, list(said.sentences), made(said.done) if said.done else None)


@room.get("/matches/<int:match_id>/note")
def note(caller: Caller, match_id: int) -> Noted:
    """Read the owner's private note."""
    return Noted(notes.read(visible(caller, match_id), caller.me))


@room.post("/matches/<int:match_id>/note", scope="play", refuses=("unconfirmed",))
def write(caller: Caller, match_id: int, body: Note) -> Noted:
    """Keep a private note in place of what was noted before."""
    match = visible(caller, match_id)
    notes.write(match, caller.me, body.text, caller.now)
    return Noted(notes.read(match, caller.me))


@room.post("/matches/<int:match_id>/guide", scope="play", refuses=("not-yours",))
def switch(caller: Caller, match_id: int, body: Guided) -> Done:
    """Show the guide of a first match on its page, or no longer."""
    guide.switch(visible(caller, match_id), caller.me, body.show)
    return Done()


@room.post(
    "/matches/<int:match_id>/rematch",
    scope="tables",
    refuses=("already-seated", "not-open", "not-running", "not-yours", "table-full", "unconfirmed"),
)
def another(caller: Caller, match_id: int) -> Again:
    """Ask for a rematch, or agree to it."""
    visible(caller, match_id)
    table = rematch.ask(match_id, caller.me, now=caller.now)
    return Again(table.id, table.status)

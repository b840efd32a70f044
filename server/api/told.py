"""A match as programs are told of it: plain values, as whoever asks may know them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.timerule import WrongRule
from server import choices, dials, lobby, log, story
from server.api.callers import Caller
from server.api.seen import Look, look
from server.api.shapes import Answer, Instant, Plain
from server.choices import Choices, Looked, Wish
from server.dials import Dial
from server.errors import Refused
from server.models import Match as Stored
from server.models import Seat as Place
from server.models import User


class Person(Answer, frozen=True):
    """Somebody at a table. `number` is that of his seat, null before the match has begun."""

    number: int | None
    name: str
    bot: bool


class Listed(Answer, frozen=True):
    """A match in a list. `to_act` are the seats awaited and `deadline` is when the first clock acts; `seat` is the
    owner's own, `my_turn` whether he is awaited; `length` is the number of the last row."""

    id: int
    game: str
    title: str
    status: str
    seats: int
    people: list[Person]
    to_act: list[int]
    seat: int | None
    my_turn: bool
    deadline: Instant | None
    length: int
    rated: bool
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None


class Line(Answer, frozen=True):
    """A row of the log: whose and of which kind, its text in notation as far as the reader may know it, what it did in
    words, and the places of the board that it touched."""

    seq: int
    seat: int | None
    kind: str
    text: str
    at: Instant
    via: str | None
    sentences: list[str]
    touched: list[str]


class Clock(Answer, frozen=True):
    """The clock of a seat at this moment. `until` is when it acts, null if it never does; `left` is how many seconds of
    the time until then count, `bank` what is left in the time bank; `still` says why it stands still, empty if not."""

    number: int
    until: Instant | None
    left: float | None
    bank: float | None
    still: str


class Seat(Answer, frozen=True):
    """A seat of a match: who sits in it, and until when he has time. `offered` is whether anybody may take it over,
    `late` whether it is out of time, and `fate` what happens when the time is up."""

    number: int
    name: str
    bot: bool
    resigned: bool
    offered: bool
    until: Instant | None
    late: bool
    fate: str


class Outcome(Answer, frozen=True):
    """How a match ended: the reason, points by seat, the seats that won."""

    reason: str
    scores: list[int]
    winners: list[int]


class Proposal(Answer, frozen=True):
    """Something that players propose to each other: in words, who wants it, who has still to agree. `mine` is whether
    the owner wants it, `may` whether he has a say, `decides` whether it is done if he agrees."""

    topic: str
    text: str
    agreed: list[str]
    missing: list[str]
    mine: bool
    may: bool
    decides: bool


class Ready(Answer, frozen=True):
    """A move that the owner has ready for his next turn, to be made only after another if there is one; `dropped` says
    why it was not made after all."""

    move: str
    after: str
    dropped: str


class May(Answer, frozen=True):
    """What the owner may do besides moving. `take_back` is the row of the move that he may take back, `nudge` who would
    be told once more, `offer` and `take` are numbers of seats."""

    take_back: int | None = None
    nudge: tuple[str, ...] = ()
    offer: tuple[int, ...] = ()
    take: tuple[int, ...] = ()
    back: bool = False
    cancel: bool = False
    end: bool = False
    resume: bool = False
    pause: bool = False
    prepare: bool = False


class Match(Answer, frozen=True):
    """A match or table. `clock` is the time rule as the table has it and `rule` the same in a sentence; `commitment` is
    the SHA-256 of the house's part of the deal, and `hash` that of the last row, as everybody may read it.

    Of a match that has begun, `view` is what whoever asks may know of the position: kind, seats, viewer, to_act,
    `moves` (his own legal ones), outcome, and `table`, which is the game's own. `expected` is what a move of his must
    name. `frozen` says why a keeper of the house holds the match.
    """

    id: int
    game: str
    title: str
    status: str
    rules: int
    options: dict[str, str]
    clock: Plain
    rule: str
    seats: int
    rated: bool
    invited_only: bool
    host: str
    people: list[Person]
    commitment: str
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    length: int
    sentence: str = ""
    hash: str = ""
    deadline: Instant | None = None
    frozen: str = ""
    paused: Instant | None = None
    to_act: tuple[int, ...] = ()
    seat: int | None = None
    my_turn: bool = False
    expected: int | None = None
    places: tuple[Seat, ...] = ()
    view: Plain = None
    outcome: Outcome | None = None
    proposals: tuple[Proposal, ...] = ()
    may: May = May()
    ready: Ready | None = None


def listed(match: Stored, seats: Sequence[Place], user: User | None) -> Listed:
    """Return a match as lists have it, from its columns alone."""
    seat = next((place.number for place in seats if user and place.user_id == user.id), None)
    awaited = list(match.awaited) if match.status == "running" else []
    return Listed(
        id=match.id,
        game=match.game,
        title=log.title(match),
        status=match.status,
        seats=match.seats,
        people=_people(seats),
        to_act=awaited,
        seat=seat,
        my_turn=seat in awaited and not match.frozen_at,
        deadline=match.deadline,
        length=match.length,
        rated=match.rated,
        created_at=match.created_at,
        started_at=match.started_at,
        finished_at=match.finished_at,
    )


def line(told: story.Line) -> Line:
    """Return a row as it was told."""
    return Line(told.seq, told.seat, told.kind, told.text, told.at, told.via, list(told.sentences), list(told.touched))


def whole(match: Stored, caller: Caller) -> Match:
    """Return all of a match that whoever asks may know. Raises `Refused` (damaged)."""
    if match.status in {"open", "cancelled"}:
        return Match(**_terms(match, log.places(match)))
    found = look(match, caller)
    return Match(**_terms(found.played.match, found.seats), **_played(found, caller))


def _host(match: Stored, seats: Sequence[Place]) -> str:
    """Return the name of the host, who mostly sits at the table, so that nobody has to be asked for."""
    found: User | None = next((place.owner for place in seats if place.owner_id == match.host_id), None)
    return str((found or match.host).name)


def _people(seats: Sequence[Place]) -> list[Person]:
    called = story.names(seats)
    return [Person(place.number, name, bool(place.user.bot)) for name, place in zip(called, seats, strict=True)]


def _terms(match: Stored, seats: Sequence[Place]) -> dict[str, Any]:
    """Return what stands before the first move."""
    try:
        rule = log.rule_sentence(match)
    except WrongRule as fault:
        raise Refused("damaged", str(fault)) from fault
    return {
        "id": match.id,
        "game": match.game,
        "title": log.title(match),
        "status": match.status,
        "rules": match.rules,
        "options": match.options or {},
        "clock": match.clock,
        "rule": rule,
        "seats": match.seats,
        "rated": match.rated,
        "invited_only": match.invited_only,
        "host": _host(match, seats),
        "people": _people(seats),
        "commitment": lobby.commitment(match),
        "created_at": match.created_at,
        "started_at": match.started_at,
        "finished_at": match.finished_at,
        "length": match.length,
    }


def _played(found: Look, caller: Caller) -> dict[str, Any]:
    played, seat, match = found.played, found.seat, found.played.match
    position, outcome = played.position, played.outcome
    offered = choices.choices(Looked(played, found.seats, found.called, caller.user, seat, caller.now))
    ready = offered.ready
    return {
        "sentence": story.standing(played, found.called, seat),
        "hash": story.shown_hash(played),
        "deadline": match.deadline,
        "frozen": match.frozen_why if match.frozen_at and not outcome else "",
        "paused": None if outcome or match.frozen_at else played.clocks.paused(caller.now),
        "to_act": position.to_act,
        "seat": seat,
        "my_turn": seat in position.to_act and not match.frozen_at,
        "expected": None if seat is None else log.expected(played, seat),
        "places": _places(found, caller),
        "view": played.view(seat).as_plain(),
        "outcome": outcome and Outcome(outcome.reason, list(outcome.scores), list(outcome.winners)),
        "proposals": tuple(map(_proposal, _wishes(offered))),
        "may": _may(offered),
        "ready": ready and Ready(ready.text, ready.after, ready.dropped),
    }


def _wishes(offered: Choices) -> list[Wish]:
    return [*offered.wishes, *(wish for late in offered.late for wish in late.wishes)]


def _places(found: Look, caller: Caller) -> tuple[Seat, ...]:
    position = found.played.position
    shown = dials.dials(found.played, found.seats, caller.now)
    return tuple(
        Seat(
            number=dial.seat,
            name=name,
            bot=bool(place.user.bot),
            resigned=dial.seat in position.resigned,
            offered=dial.seat in position.offered,
            until=dial.until,
            late=dial.late,
            fate=dial.fate,
        )
        for name, place, dial in zip(found.called, found.seats, shown, strict=True)
    )


def clock(dial: Dial) -> Clock:
    """Return what a clock shows."""
    left, bank = (None if span is None else span.total_seconds() for span in (dial.left, dial.bank))
    return Clock(dial.seat, dial.until, left, bank, dial.still)


def _proposal(wish: Wish) -> Proposal:
    return Proposal(wish.topic, wish.text, list(wish.agreed), list(wish.missing), wish.mine, wish.may, wish.decides)


def _may(offered: Choices) -> May:
    return May(
        take_back=offered.take_back[0] if offered.take_back else None,
        nudge=offered.nudge,
        offer=tuple(seat for seat, _name in offered.offer),
        take=tuple(seat for seat, _name in offered.take),
        back=offered.back,
        cancel=offered.cancel,
        end=offered.end,
        resume=offered.resume,
        pause=offered.pause is not None,
        prepare=offered.prepare,
    )

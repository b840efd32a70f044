"""From services to what templates show: plain values, nothing that can be called upon to do something."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from engine.base import View
from engine.language import gettext as _
from engine.timerule import WrongRule
from server import (
    archive,
    companions,
    dials,
    guide,
    lobby,
    log,
    notes,
    rematch,
    seating,
    story,
    tale,
    talk,
    tournaments,
)
from server.choices import Looked, choices
from server.errors import Refused
from server.log import Played
from server.models import Match, Seat, User
from server.web.boards import drawn
from server.web.fragments import Keeper, showing

# Lines of talk that a page shows; nobody reads back further, and a flood must not weigh every page down.
SHOWN_TALK = 200
# Bytes that the lessons of a guide take.
LESSONS = 5000


@dataclass(frozen=True, slots=True)
class Card:
    """A table or match in a list. `free` are the seats of a running match that anybody may take over, as pairs of
    number and name, and `take` those that the reader may."""

    match: Match
    title: str
    people: tuple[str, ...]
    options: tuple[str, ...]
    rule: str
    free: tuple[tuple[int, str], ...] = ()
    take: tuple[tuple[int, str], ...] = ()


def table_cards(matches: Sequence[Match]) -> list[Card]:
    """Return open tables with who sits there, the time rule and the rules chosen, in words."""
    found, places = [], log.places_of(matches)
    for match in matches:
        # A table whose row is spoilt keeps nobody from the others.
        with suppress(Refused):
            found.append(_card(match, [seat.owner.name for seat in places[match.id]]))
    return found


def free_cards(user: User | None, now: datetime) -> list[Card]:
    """Return the running matches with a seat that anybody may take over, newest first."""
    matches = seating.offered()
    found, places = [], log.places_of(matches)
    for match in matches:
        with suppress(Refused):
            played, seats = log.read(match), places[match.id]
            called = story.names(seats)
            offered = choices(Looked(played, seats, called, user, log.own_number(match, user), now))
            found.append(replace(_card(match, called), free=offered.free, take=offered.take))
    return found


def _card(match: Match, people: Sequence[str]) -> Card:
    return Card(match, log.title(match), tuple(people), chosen(match), rule_sentence(match))


def rule_sentence(match: Match) -> str:
    """Return the table's time rule in a sentence. Raises `Refused` (damaged) if it is none."""
    try:
        return log.rule_sentence(match)
    except WrongRule as fault:
        raise Refused(
            "damaged", _("The time rule of match {number} cannot be read.").format(number=match.id)
        ) from fault


def chosen(match: Match) -> tuple[str, ...]:
    """Return the labels of the rule options that a table chose, defaults left out."""
    return tuple(
        _("{option}: {chosen}").format(option=option.label, chosen=label)
        for option in log.game_of(match).options
        for value, label in option.choices
        if (match.options or {}).get(option.name, option.default) == value != option.default
    )


class Scene:
    """What a viewer may know of the match as it stands, found out when it is first asked for: to draw it."""

    def __init__(self, played: Played, seat: int | None) -> None:
        self._played = played
        self._seat = seat

    @cached_property
    def view(self) -> View:
        """The view of the match."""
        return self._played.view(self._seat)

    def beginning(self, text: str) -> str:
        """Return the text if a legal move begins with it, so that a page depends on no other; else an empty one."""
        return text if text and any(move.startswith(text) for move in self.view.moves) else ""


def match_page(match: Match, user: User | None, now: datetime) -> dict[str, Any]:
    """Return what the page of a running or finished match shows to the person."""
    played = _current(match)
    match, seats = played.match, log.places(played.match)
    seat = _own_seat(seats, user)
    called, zone = story.names(seats), user.zone if user else "UTC"
    scene, keeper = Scene(played, seat), Keeper(showing(played, seats, seat, user))
    lines = keeper.lines(played, lambda after: story.lines(played, called, seat, after, zone))
    since = story.since_own(played, seat) if seat is not None else match.length
    news = [line for line in lines if line.seq > since and _is_news(line, seat)]
    # Who has just moved sees his own move marked.
    gone = story.undone(played)
    moves = [line for line in lines if line.touched and line.seq not in gone]
    marks = story.marks([line for line in news if line in moves][-6:] or moves[-1:])
    left = seat is not None and not seats[seat].guided
    guided = keeper.thing("guide", lambda: guide.read(played, seats, called, seat), lambda _told: LESSONS, left)
    if guided and guided.lesson:
        # The lesson's places come after those of the last move, which stay in sight.
        marks = tuple(dict.fromkeys((*marks, *guided.lesson.places)))
    shown = dials.dials(played, seats, now)
    my_turn = seat is not None and seat in played.position.to_act and not match.frozen_at
    return {
        "match": match,
        "length": played.position.seq,
        "title": log.title(match),
        "kind": match.game,
        "game": played.game,
        "seat": seat,
        "seats": seats,
        "called": called,
        "lines": lines,
        "news": news,
        "told": news or moves[-1:] or lines[-1:],
        "marks": marks,
        "guide": guided,
        "scene": scene,
        "kept": keeper.block,
        "board": keeper.text("board", lambda: drawn(played.game, scene.view, marks), marks),
        "position": keeper.text("position", lambda: played.game.text(scene.view, called)),
        "to_act": played.position.to_act,
        "my_turn": my_turn,
        "dials": shown,
        "dial": dials.next_to_act(() if match.frozen_at else [shown[seat]] if my_turn and seat is not None else shown),
        "frozen": log.frozen(match).sentence if match.frozen_at and not played.outcome else "",
        "paused": None if played.outcome or match.frozen_at else played.clocks.paused(now),
        "tale": tale.tell(played, called),
        "note": notes.read(match, user),
        "rematch": _rematch(match, seats, user, now),
        "tournament": tournaments.origin(match),
        "again": match.status == "finished" and seat is not None and companions.alone(seats),
        "choices": choices(Looked(played, seats, called, user, seat, now)),
        "expected": log.expected(played, seat),
        "example": keeper.text("example", lambda: story.example(played.game, scene.view)),
        "sentence": story.standing(played, called, seat),
        "public": story.standing(played, called, None) if lobby.may_see(match, None) else "",
        "acting": [called[number] for number in played.position.to_act],
        "outcome": played.outcome,
        "talk": talk.lines(match, SHOWN_TALK),
        "rule": rule_sentence(match),
        "options": chosen(match),
        "may_talk": user is not None and any(user.id in {seat.owner_id, seat.user_id} for seat in seats),
        "last_hash": keeper.text("hash", lambda: story.shown_hash(played)),
        "commitment": lobby.commitment(match),
        "fairness": archive.fairness(match, seats) if played.outcome else None,
    }


def _current(match: Match) -> Played:
    """Return the match, which has just been read, as its log tells it; with columns of another look if they differ."""
    played = log.read(match)
    return played if match.length == played.position.seq else log.current(match.id)


def _own_seat(seats: Sequence[Seat], user: User | None) -> int | None:
    """Return the number of the seat that the person sits in, None if he does not."""
    return next((number for number, seat in enumerate(seats) if user and seat.user_id == user.id), None)


def _is_news(line: story.Line, seat: int | None) -> bool:
    """Whether a row after the last own move is worth telling: not what its reader did himself, nor zones and nights."""
    return line.kind != "hours" and not (line.seat == seat and line.kind in {"vacation", "vote", "nudge", "undo"})


def _rematch(match: Match, seats: Sequence[Seat], user: User | None, now: datetime) -> tuple[bool, Match | None]:
    """Return whether the person may ask for a rematch, and its table if somebody has."""
    played_here = user is not None and any(user.id in {seat.owner_id, seat.user_id} for seat in seats)
    if match.status != "finished" or not played_here or companions.alone(seats):
        return False, None
    return True, rematch.offered(match, now)


def replay_page(match: Match, user: User | None, seq: int, opened: bool = False) -> dict[str, Any] | None:
    """Return what the page of one step shows: the board after row `seq` as the person may see it; None if none.

    With `opened` a finished match shows what was hidden then.
    """
    played, seats = log.read(match), log.places(match)
    seat = _own_seat(seats, user)
    called, zone = story.names(seats), user.zone if user else "UTC"
    step = story.step(played, called, seat, seq, zone)
    if step is None:
        return None
    opened = opened and played.outcome is not None
    view = story.opened(played, seat, seq) if opened else step.view
    return {
        "match": match,
        "title": log.title(match),
        "kind": match.game,
        "game": played.game,
        "seats": seats,
        "called": called,
        "step": step,
        "opened": opened,
        "last": played.position.seq,
        "public": lobby.may_see(match, None),
        "view": view,
        "board": drawn(played.game, view, step.line.touched if step.line else ()),
        "position": played.game.text(view, called),
        "lines": story.lines(played, called, seat, zone=zone),
        "outcome": played.outcome,
        "chances": tale.chances_at(played, called, seq),
    }


def table_page(match: Match, user: User | None) -> dict[str, Any]:
    """Return what the page of an open table shows."""
    seats: list[Seat] = log.places(match)
    seated = user is not None and any(seat.owner_id == user.id for seat in seats)
    return {
        "match": match,
        "title": log.title(match),
        "game": log.game_of(match),
        "seats": seats,
        "seated": seated,
        "public": lobby.may_see(match, None),
        "hosting": user is not None and match.host_id == user.id,
        "rule": rule_sentence(match),
        "options": chosen(match),
        "commitment": lobby.commitment(match),
        "strengths": companions.about(),
        "talk": talk.lines(match, SHOWN_TALK),
        "may_talk": user is not None and not user.visiting and match.status == "open",
    }

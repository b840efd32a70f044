"""From services to what templates show: plain values, nothing that can be called upon to do something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from server import archive, lobby, log, story, talk, wording
from server.log import Played
from server.models import Match, Seat, User

# Lines of talk that a page shows; nobody reads back further, and a flood must not weigh every page down.
SHOWN_TALK = 200


@dataclass(frozen=True, slots=True)
class Card:
    """An open table in a list."""

    match: Match
    title: str
    people: tuple[str, ...]
    options: tuple[str, ...]


def table_cards(matches: Sequence[Match]) -> list[Card]:
    """Return open tables with who sits there and the rules chosen, in words."""
    return [
        Card(match, log.game_of(match).title, tuple(seat.owner.name for seat in log.places(match)), chosen(match))
        for match in matches
    ]


def chosen(match: Match) -> tuple[str, ...]:
    """Return the labels of the rule options that a table chose, defaults left out."""
    return tuple(
        f"{option.label}: {label}"
        for option in log.game_of(match).options
        for value, label in option.choices
        if (match.options or {}).get(option.name, option.default) == value != option.default
    )


def match_page(match: Match, user: User | None) -> dict[str, Any]:
    """Return what the page of a running or finished match shows to the person."""
    played = log.current(match.id)
    match, seats = played.match, log.places(match)
    seat = log.own_number(match, user)
    called = story.names(seats)
    lines = story.lines(played, called, seat)
    since = story.since_own(played, seat) if seat is not None else max(0, match.length - 1)
    news = [line for line in lines if line.seq > since]
    # Who has just moved sees his own move marked.
    marks = story.marks(news[-6:] or lines[-1:])
    view = played.view(seat)
    return {
        "match": match,
        "title": log.title(match),
        "kind": match.game,
        "game": played.game,
        "seat": seat,
        "seats": seats,
        "called": called,
        "lines": lines,
        "news": news,
        "marks": marks,
        "view": view,
        "board": played.game.picture(view, marks),
        "my_turn": seat is not None and seat in played.position.to_act,
        "expected": expected(played, seat),
        "sentence": sentence(played, called, seat),
        "acting": [called[number] for number in played.position.to_act],
        "outcome": played.outcome,
        "talk": talk.lines(match, SHOWN_TALK),
        "pace": wording.pace(match.pace),
        "options": chosen(match),
        "may_talk": user is not None and any(place.owner_id == user.id for place in seats),
        "last_hash": story.shown_hash(played),
        "commitment": lobby.commitment(match),
        "fairness": archive.fairness(match, seats) if played.outcome else None,
    }


def expected(played: Played, seat: int | None) -> int:
    """Return the number that a move of this seat must name: the row since which it is awaited."""
    position = played.position
    if seat is not None and seat in position.to_act:
        return position.asked[seat] or 0
    return position.seq


def sentence(played: Played, called: Sequence[str], seat: int | None) -> str:
    """Return whose turn it is, or how the match ended, in one sentence: the same in title, heading and live region."""
    outcome = played.outcome
    if outcome:
        winners = wording.listed([called[number] for number in outcome.winners])
        return f"{winners} won: {outcome.reason}." if len(outcome.winners) == 1 else f"{winners} share the win."
    if seat is not None and seat in played.position.to_act:
        return "It is your turn."
    return f"It is {wording.listed([called[number] for number in played.position.to_act])}'s turn."


def replay_page(match: Match, user: User | None, seq: int) -> dict[str, Any] | None:
    """Return what the page of one step shows: the board after row `seq` as the person may see it; None if none."""
    played, seats = log.read(match), log.places(match)
    seat = log.own_number(match, user)
    called = story.names(seats)
    step = story.step(played, called, seat, seq)
    if step is None:
        return None
    return {
        "match": match,
        "title": log.title(match),
        "kind": match.game,
        "game": played.game,
        "seats": seats,
        "called": called,
        "step": step,
        "last": played.position.seq,
        "view": step.view,
        "board": played.game.picture(step.view, step.line.touched if step.line else ()),
        "lines": story.lines(played, called, seat),
        "outcome": played.outcome,
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
        "hosting": user is not None and match.host_id == user.id,
        "pace": wording.pace(match.pace),
        "options": chosen(match),
        "commitment": lobby.commitment(match),
        "talk": talk.lines(match, SHOWN_TALK),
        "may_talk": user is not None and match.status == "open",
    }

"""Rows of the log that are no moves, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from engine.replay import Row
from server import proposals, wording
from server.log import Played, instant
from server.models import User


def sentence(played: Played, row: Row, called: Sequence[str], zone: str = "UTC") -> str:
    """Return what a row did in one sentence, instants in the reader's zone. `called` are names in seat order."""
    name = called[row.seat] if row.seat is not None else ""
    return _TOLD[row.kind](played, row, name, called, zone)


def proposal(topic: str, called: Sequence[str], zone: str = "UTC") -> str:
    """Return what is proposed, to go on after "proposes", with instants in the reader's zone."""
    word, _, rest = topic.partition(" ")
    if word == "pause":
        return f"to pause the match until {wording.when(instant(rest), zone)}"
    if word == "wait":
        return f"to wait once more for {called[int(rest)]}"
    if word == "replace":
        return f"to let a bot, or whoever wants, take the seat of {called[int(rest)]}"
    return {"resume": "to end the pause", "end": "to end the match as it stands"}.get(word, "something")


def _span(text: str) -> tuple[datetime, datetime]:
    start, _, end = text.partition("/")
    return instant(start), instant(end)


def _takeover(played: Played, row: Row, name: str, _called: Sequence[str], _zone: str) -> str:
    if played.match.imported_at:
        # Whom a record means is known only where it comes from.
        who = "A bot" if row.seat in played.positions[row.seq].taken_over else "A person"
        return f"{who} took over the seat of {name}."
    number = row.text.removeprefix("person:")
    if number == row.text:
        return f"A bot took over the seat of {name}."
    if int(number) == played.head["people"][row.seat or 0]:
        return f"{name} took the seat back from the bot."
    user = User.get_or_none(User.id == int(number))
    return f"{user.name if user else 'Somebody'} took over a free seat."


def _vacation(_played: Played, row: Row, name: str, _called: Sequence[str], zone: str) -> str:
    start, end = _span(row.text)
    if end <= instant(row.at):
        return f"{name} is back from vacation."
    if end <= start:
        return f"{name} is not going on vacation after all."
    first, last = wording.when(start, zone), wording.when(end, zone)
    if start > instant(row.at):
        return f"{name} will be on vacation from {first} until {last}; the clock of the seat stands still then."
    return f"{name} is on vacation from {first} until {last}; the clock of the seat stands still."


def _outage(_played: Played, row: Row, _name: str, _called: Sequence[str], zone: str) -> str:
    first, last = (wording.when(moment, zone) for moment in _span(row.text))
    return f"The server was down from {first} until {last}; that time is given back."


def _hours(_played: Played, row: Row, name: str, _called: Sequence[str], _zone: str) -> str:
    place, _, nights = row.text.partition(" ")
    return f"{name} is in the time zone {place}" + (
        f", with nights from {nights.replace('-', ' to ')}." if nights else "."
    )


def _pause(_played: Played, row: Row, _name: str, _called: Sequence[str], zone: str) -> str:
    return f"All agreed to pause the match until {wording.when(instant(row.text), zone)}."


def _vote(played: Played, row: Row, name: str, called: Sequence[str], zone: str) -> str:
    if not row.text:
        return f"{name} proposes nothing any more."
    before = proposals.standing(played.rows[: row.seq - 1], instant(row.at))
    agrees = any(each.topic == row.text and row.seat not in each.seats for each in before)
    return f"{name} {'agrees' if agrees else 'proposes'} {proposal(row.text, called, zone)}."


def _simple(text: str) -> Callable[[Played, Row, str, Sequence[str], str], str]:
    return lambda _played, row, name, _called, _zone: text.format(name=name, text=row.text)


_TOLD: Final[dict[str, Callable[[Played, Row, str, Sequence[str], str], str]]] = {
    "resign": lambda _played, row, name, _called, _zone: (
        f"{name} loses on time." if row.via == "clock" else f"{name} resigned."
    ),
    "timeout": _simple("{name} ran out of time."),
    "undo": _simple("{name} took back move {text}."),
    "offer": _simple("The seat of {name} is free: whoever wants may take it over."),
    "end": lambda _played, row, name, _called, _zone: (
        f"{name} left, so the match ended as it stands."
        if row.via == "clock"
        else "All agreed to end the match as it stands."
    ),
    "cancel": lambda _played, row, name, _called, _zone: (
        f"{name} left before the first move, so there was no match."
        if row.via == "clock"
        else f"{name} called the match off before the first move."
    ),
    "resume": _simple("All agreed to go on; the clocks run again."),
    "wait": _simple("The others wait once more for {name}."),
    "nudge": _simple("{name} asks for a move."),
    "pause": _pause,
    "takeover": _takeover,
    "vacation": _vacation,
    "outage": _outage,
    "hours": _hours,
    "vote": _vote,
}

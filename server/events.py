"""Rows of the log that are no moves, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from engine.language import gettext as _
from engine.language import later
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
    word, facts = _proposed(topic, called, zone)
    return _(_PROPOSALS.get(word, _PROPOSALS[""])[0]).format_map(facts)


def _proposed(topic: str, called: Sequence[str], zone: str) -> tuple[str, dict[str, str]]:
    """Return the first word of a topic and what its sentences are filled with."""
    word, _space, rest = topic.partition(" ")
    if word == "pause":
        return word, {"when": wording.until(instant(rest), zone)}
    return word, {"seat": called[int(rest)]} if word in {"wait", "replace"} else {}


def _span(text: str) -> tuple[datetime, datetime]:
    start, _slash, end = text.partition("/")
    return instant(start), instant(end)


def _takeover(played: Played, row: Row, name: str, _called: Sequence[str], _zone: str) -> str:
    if played.match.imported_at:
        # Whom a record means is known only where it comes from.
        by_bot = row.seat in played.positions[row.seq].taken_over
        told = _("A bot took over the seat of {name}.") if by_bot else _("A person took over the seat of {name}.")
        return told.format(name=name)
    number = row.text.removeprefix("person:")
    if number == row.text:
        return _("A bot took over the seat of {name}.").format(name=name)
    if int(number) == played.head["people"][row.seat or 0]:
        return _("{name} took the seat back from the bot.").format(name=name)
    user = User.get_or_none(User.id == int(number))
    return _("{name} took over a free seat.").format(name=user.name if user else _("Somebody"))


def _vacation(_played: Played, row: Row, name: str, _called: Sequence[str], zone: str) -> str:
    start, end = _span(row.text)
    if end <= instant(row.at):
        return _("{name} is back from vacation.").format(name=name)
    if end <= start:
        return _("{name} is not going on vacation after all.").format(name=name)
    if start > instant(row.at):
        told = _("{name} will be on vacation from {first} until {last}; the clock of the seat stands still then.")
    else:
        told = _("{name} is on vacation from {first} until {last}; the clock of the seat stands still.")
    return told.format(name=name, first=wording.when(start, zone), last=wording.until(end, zone))


def _outage(_played: Played, row: Row, _name: str, _called: Sequence[str], zone: str) -> str:
    first, last = (wording.when(moment, zone) for moment in _span(row.text))
    told = _("The server was down from {first} until {last}; that time is given back.")
    return told.format(first=first, last=last)


def _hours(_played: Played, row: Row, name: str, _called: Sequence[str], _zone: str) -> str:
    place, _space, nights = row.text.partition(" ")
    if not nights:
        return _("{name} is in the time zone {place}.").format(name=name, place=place)
    dusk, _dash, dawn = nights.partition("-")
    told = _("{name} is in the time zone {place}, with nights from {dusk} to {dawn}.")
    return told.format(name=name, place=place, dusk=dusk, dawn=dawn)


def _pause(_played: Played, row: Row, _name: str, _called: Sequence[str], zone: str) -> str:
    if row.seat is None:
        return _("The keeper of this site holds the match for now; the clocks stand still.")
    return _("All agreed to pause the match until {when}.").format(when=wording.until(instant(row.text), zone))


def _resume(_played: Played, row: Row, _name: str, _called: Sequence[str], _zone: str) -> str:
    if row.seat is None:
        return _("The keeper of this site lets the match go on; the clocks run again.")
    return _("All agreed to go on; the clocks run again.")


def _vote(played: Played, row: Row, name: str, called: Sequence[str], zone: str) -> str:
    if not row.text:
        return _("{name} proposes nothing any more.").format(name=name)
    before = proposals.standing(played.rows[: row.seq - 1], instant(row.at))
    agrees = any(each.topic == row.text and row.seat not in each.seats for each in before)
    word, facts = _proposed(row.text, called, zone)
    _clause, proposes, agreed = _PROPOSALS.get(word, _PROPOSALS[""])
    return _(agreed if agrees else proposes).format(name=name, **facts)


def _simple(text: str) -> Callable[[Played, Row, str, Sequence[str], str], str]:
    return lambda _played, row, name, _called, _zone: _(text).format(name=name, text=row.text)


# By the first word of a topic: how it goes on after "proposes", and the sentences of who proposes and who agrees.
_PROPOSALS: Final = {
    "pause": (
        later("to pause the match until {when}"),
        later("{name} proposes to pause the match until {when}."),
        later("{name} agrees to pause the match until {when}."),
    ),
    "resume": (
        later("to end the pause"),
        later("{name} proposes to end the pause."),
        later("{name} agrees to end the pause."),
    ),
    "end": (
        later("to end the match as it stands"),
        later("{name} proposes to end the match as it stands."),
        later("{name} agrees to end the match as it stands."),
    ),
    "wait": (
        later("to wait once more for {seat}"),
        later("{name} proposes to wait once more for {seat}."),
        later("{name} agrees to wait once more for {seat}."),
    ),
    "replace": (
        later("to let a bot, or whoever wants, take the seat of {seat}"),
        later("{name} proposes to let a bot, or whoever wants, take the seat of {seat}."),
        later("{name} agrees to let a bot, or whoever wants, take the seat of {seat}."),
    ),
    "": (later("something"), later("{name} proposes something."), later("{name} agrees to something.")),
}
_TOLD: Final[dict[str, Callable[[Played, Row, str, Sequence[str], str], str]]] = {
    "resign": lambda _played, row, name, _called, _zone: (
        _("{name} loses on time.") if row.via == "clock" else _("{name} resigned.")
    ).format(name=name),
    "timeout": _simple(later("{name} ran out of time.")),
    "undo": _simple(later("{name} took back move {text}.")),
    "offer": _simple(later("The seat of {name} is free: whoever wants may take it over.")),
    "end": lambda _played, row, name, _called, _zone: (
        _("{name} left, so the match ended as it stands.").format(name=name)
        if row.via == "clock"
        else _("All agreed to end the match as it stands.")
    ),
    "cancel": lambda _played, row, name, _called, _zone: (
        _("{name} left before the first move, so there was no match.")
        if row.via == "clock"
        else _("{name} called the match off before the first move.")
    ).format(name=name),
    "resume": _resume,
    "wait": _simple(later("The others wait once more for {name}.")),
    "nudge": _simple(later("{name} asks for a move.")),
    "pause": _pause,
    "takeover": _takeover,
    "vacation": _vacation,
    "outage": _outage,
    "hours": _hours,
    "vote": _vote,
}

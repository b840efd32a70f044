"""The words that a person may write instead of a move: in table talk with a slash before them, in a mail without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from engine.language import gettext as _
from engine.language import later, ngettext
from server import accounts, lobby, log, play, proposals, rematch, seating, story, vacations, votes, wording
from server.errors import Refused
from server.models import Match, User


class Word(NamedTuple):
    """How a command is written, in every language, and what it does; docs/mail.md lists the same and a test compares
    them."""

    usage: str
    about: str


WORDS: Final = {
    "move": Word("move A5-B1", later("makes a move; the move alone does the same")),
    "say": Word("say TEXT", later("says a line to all at the table")),
    "join": Word("join", later("takes a seat at a table that waits for players")),
    "start": Word("start", later("starts the match with those who are there; for the host")),
    "bots": Word("bots easy", later("lets bots take all free seats: easy, steady or strong; for the host")),
    "leave": Word("leave", later("gives the seat up before the match has begun")),
    "rematch": Word("rematch", later("asks those you have just played with for another match, or agrees to it")),
    "resign": Word("resign", later("gives the match up; a bot plays on so that the others can finish")),
    "pause": Word("pause until 2026-12-24", later("proposes to stop all clocks, or agrees to that")),
    "vacation": Word(
        "vacation until 2026-12-24", later("stops your clocks in all your matches; from DATE until DATE too")
    ),
    "back": Word("back", later("takes your seat back from the bot that took it over")),
    "status": Word("status", later("tells whose turn it is and shows the position again")),
    "help": Word("help", later("lists these words and your legal moves")),
    "stop": Word("stop", later("stops the mails for each turn; those of start and end still come")),
}


# What can be done by words at a table or in a match, by its status.
AT: Final = {
    "open": ("say", "join", "start", "bots", "leave", "vacation", "status", "help", "stop"),
    "running": ("move", "say", "resign", "pause", "vacation", "back", "status", "help", "stop"),
    "finished": ("say", "rematch", "vacation", "status", "help", "stop"),
    "cancelled": ("say", "vacation", "status", "help", "stop"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks for something, where, and how. `expected`, `via`, `now` and `key` are as in `play.submit`; `invited` is
    whether he holds an invitation to the table."""

    match_id: int
    user: User
    expected: int
    via: str
    now: datetime
    key: str | None = None
    invited: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What was done, in sentences for the one who asked; `done` is set for a move."""

    sentences: tuple[str, ...]
    done: play.Done | None = None


def run(word: str, rest: str, asked: Asked) -> Told:
    """Carry out one command. Raises `Refused`; then nothing has changed."""
    if word not in _DOINGS:
        told = _("There is no command {word}. Known are {words}.")
        raise Refused("bad-input", told.format(word=word[:20], words=", ".join(WORDS)))
    return _DOINGS[word](rest, asked)


def _move(rest: str, asked: Asked) -> Told:
    seat = log.seat_of(log.places(log.get(asked.match_id)), asked.user)
    done = play.submit(asked.match_id, seat, rest, asked.expected, asked.user, asked.via, now=asked.now, key=asked.key)
    return Told(done.sentences, done)


def _join(_rest: str, asked: Asked) -> Told:
    lobby.join(asked.match_id, asked.user, now=asked.now, invited=asked.invited)
    return _seated(log.get(asked.match_id))


def _start(_rest: str, asked: Asked) -> Told:
    lobby.start(asked.match_id, asked.user, asked.now)
    return Told((_("{match} has begun.").format(match=_title(asked)),))


def _bots(rest: str, asked: Asked) -> Told:
    match = lobby.fill(asked.match_id, asked.user, rest.strip(" .!?,").casefold(), asked.now)
    told = _("Bots have taken the free seats of {match}.").format(match=_title(asked))
    return Told((f"{told} {_waiting_for(log.get(match.id))}",))


def _leave(_rest: str, asked: Asked) -> Told:
    match = lobby.leave(asked.match_id, asked.user)
    closed = match.status == "cancelled"
    told = (
        _("You have given up your seat at {match}. With it the table is closed.")
        if closed
        else _("You have given up your seat at {match}.")
    )
    return Told((told.format(match=_title(asked)),))


def _resign(_rest: str, asked: Asked) -> Told:
    seating.resign(asked.match_id, asked.user, asked.via, now=asked.now)
    return Told((_("You have resigned from {match}.").format(match=_title(asked)),))


def _pause(rest: str, asked: Asked) -> Told:
    until = _days(rest, asked.user.zone)[1]
    topic = _same_day(asked, until) or votes.pause_topic(until)
    decided = votes.vote(asked.match_id, asked.user, topic, asked.via, now=asked.now)
    when = wording.until(until, asked.user.zone)
    told = (
        _("All agree: {match} is paused until {when}.")
        if decided
        else _("You propose to pause {match} until {when}. It is when all have said the same.")
    )
    return Told((told.format(match=_title(asked), when=when),))


def _same_day(asked: Asked, until: datetime) -> str:
    """Return the pause that somebody proposes until the same day, in whatever time zone; "" if nobody does."""
    for proposal in proposals.standing(log.read(log.get(asked.match_id)).rows, asked.now):
        word, _space, rest = proposal.topic.partition(" ")
        if word == "pause" and abs(log.instant(rest) - until) < timedelta(hours=26):
            return proposal.topic
    return ""


def _vacation(rest: str, asked: Asked) -> Told:
    starts, ends = _days(rest, asked.user.zone)
    vacation = vacations.announce(asked.user, starts or asked.now, ends, asked.via, now=asked.now)
    start, end = wording.when(vacation.starts_at, asked.user.zone), wording.until(vacation.ends_at, asked.user.zone)
    told = _("Your clocks stand still from {start} until {end}, in all your matches that allow vacations.")
    return Told((told.format(start=start, end=end),))


def _days(rest: str, zone: str) -> tuple[datetime | None, datetime]:
    """Return the morning of a first day, if it is named, and the end of a last: "until D", "from D until D", "D"."""
    words = [word for word in rest.replace(",", " ").rstrip(".!").split() if word.casefold() not in BETWEEN]
    try:
        found = [wording.day(word) for word in words]
    except ValueError:
        found = []
    if not 1 <= len(found) <= 2:
        raise Refused("bad-input", _("Say until which day, as year-month-day: until 2026-12-24."))
    first = wording.morning(found[0], zone) if len(found) == 2 else None
    return first, wording.morning(found[-1] + timedelta(days=1), zone)


def _rematch(_rest: str, asked: Asked) -> Told:
    return _seated(rematch.ask(asked.match_id, asked.user, now=asked.now))


def _seated(table: Match) -> Told:
    told = _("You have a seat at {match}.").format(match=log.title(table))
    return Told((f"{told} {_waiting_for(table)}",))


def _back(_rest: str, asked: Asked) -> Told:
    seating.come_back(asked.match_id, asked.user, asked.via, now=asked.now)
    return Told((_("You have your seat in {match} back.").format(match=_title(asked)),))


def _status(_rest: str, asked: Asked) -> Told:
    return Told((status(log.get(asked.match_id), asked.user),))


def _help(_rest: str, asked: Asked) -> Told:
    words = AT[log.get(asked.match_id).status]
    return Told((_("You may write: {words}.").format(words="; ".join(f"/{WORDS[word].usage}" for word in words)),))


def _stop(_rest: str, asked: Asked) -> Told:
    accounts.stop_turn_mails(asked.user)
    return Told((_("Mails for each turn are stopped. The settings page starts them again."),))


# What may stand between the days of a pause or vacation.
BETWEEN: Final = frozenset({"from", "until", "to", "till", "-"})

_DOINGS: Final[dict[str, Callable[[str, Asked], Told]]] = {
    "move": _move,
    "join": _join,
    "start": _start,
    "bots": _bots,
    "leave": _leave,
    "rematch": _rematch,
    "back": _back,
    "resign": _resign,
    "pause": _pause,
    "vacation": _vacation,
    "status": _status,
    "help": _help,
    "stop": _stop,
}


def status(match: Match, user: User) -> str:
    """Return in a sentence how a table or match stands for the person."""
    if match.status == "cancelled":
        return _("This table is closed.")
    if match.status == "open":
        return _waiting_for(match)
    played = log.read(match)
    called, seat = story.names(log.places(match)), log.own_number(match, user)
    return story.standing(played, called, seat)


def _waiting_for(match: Match) -> str:
    if match.status != "open":
        return _("The match has begun.")
    free = match.seats - len(log.places(match))
    if not free:
        return _("Every seat is taken; {host} starts the match.").format(host=match.host.name)
    return ngettext("{n} seat is still free.", "{n} seats are still free.", free).format(n=free)


def _title(asked: Asked) -> str:
    return log.title(log.get(asked.match_id))

"""What is said by other ways than mail: a title, a sentence or two, an address; nothing but what everybody may know.

These messages pass through the machines of others, so they say of a match what a spectator sees, to its players too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from engine.language import gettext as _
from engine.language import ngettext
from server import columns, home, languages, log, quiet, story, tidings, wording
from server.channels import Brief, DeliveryError
from server.errors import Refused
from server.handing import Writer
from server.log import Played
from server.models import Outbox, Seat, User
from server.settings import Settings

# What is older says nothing of use; a turn and its reminder live as long as the turn.
LIVES: Final = {
    "start": timedelta(days=3),
    "end": timedelta(days=3),
    "digest": timedelta(hours=20),
    tidings.TRIAL: timedelta(hours=1),
}
# So much of a sentence of news is told, and so many matches of a list.
LONGEST: Final = 300
MOST_LISTED: Final = 10


@dataclass(frozen=True, slots=True)
class _Told:
    """Title and text of a brief, and the part of the site that it leads to."""

    title: str
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class _Work:
    """A brief that is being written: its row, its reader and the moment, and the name of the house."""

    mail: Outbox
    user: User
    now: datetime
    house: str


def writer(settings: Settings) -> Writer[Brief]:
    """Return the function that writes queued briefs."""

    def write(mail: Outbox, now: datetime) -> Brief | str | datetime:
        way, user, news = tidings.live(mail), mail.user, mail.facts["news"]
        if way is None or user is None or not (news in way.takes or news == tidings.TRIAL):
            return "nothing of the kind goes there any more"
        if news in LIVES and mail.created_at + LIVES[news] < now:
            return "too old to be of use"
        wake = quiet.over(user, now)
        if wake > now and news != tidings.TRIAL:
            return wake
        try:
            with languages.speaking(user.language):
                told = _WORDS[news](_Work(mail, user, now, settings.mail_name))
        except Refused as fault:
            raise DeliveryError(f"cannot be written: {fault.code}") from fault
        if isinstance(told, str):
            return told
        url = f"{settings.public_url}{told.path}"
        return Brief(way.address, mail.message_id, told.title, told.text, url, user.language)

    return write


def _trial(work: _Work) -> _Told:
    told = _("So {house} tells you of your matches here.").format(house=work.house)
    return _Told(_("A trial message"), told, "/settings")


def _turn(work: _Work) -> _Told | str:
    """Tell the last of what happened since the reader's last own move, and until when he is awaited."""
    found = _awaited(work)
    if isinstance(found, str):
        return found
    played, seat, seats = found
    news = story.lines(played, story.names(seats), None, story.since_own(played, seat), work.user.zone)
    # What followed from it, the page tells.
    last = [sentence for line in news[-1:] for sentence in line.sentences[:1]]
    title = _("{match}: it is your turn").format(match=log.title(played.match))
    return _Told(title, _joined(*last, _limit(work, played, seat)), _page(played))


def _reminder(work: _Work) -> _Told | str:
    found = _awaited(work)
    if isinstance(found, str):
        return found
    played, seat, seats = found
    facts = work.mail.facts
    why = _("{share} % of your time are gone.").format(share=facts.get("share", 0))
    if "asker" in facts:
        why = _("{name} asks for your move.").format(name=story.names(seats)[facts["asker"]])
    title = _("{match}: a reminder").format(match=log.title(played.match))
    return _Told(title, _joined(why, _limit(work, played, seat)), _page(played))


def _start(work: _Work) -> _Told | str:
    played, seats = _match(work)
    if _silent(work, seats):
        return "this match is silenced"
    if played.match.status != "running":
        return "the match is over"
    players = wording.listed([place.owner.name for place in seats])
    title = _("{match} has begun").format(match=log.title(played.match))
    told = f"{players}. {story.turn_of(story.names(seats), played.position.to_act)}"
    return _Told(title, told, _page(played))


def _end(work: _Work) -> _Told | str:
    played, seats = _match(work)
    if _silent(work, seats):
        return "this match is silenced"
    if played.outcome is None:
        return "the match goes on"
    title = _("{match} has ended").format(match=log.title(played.match))
    told = "" if work.user.keeps_results else story.standing(played, story.names(seats), None)
    return _Told(title, told, _page(played))


def _digest(work: _Work) -> _Told | str:
    """List the matches that await the reader, least time left first."""
    items = [item for item in home.due(work.user, work.now) if not item.mine.silent]
    if not items:
        return "nothing waits any more"
    count = len(items)
    title = ngettext("{n} match waits for you", "{n} matches wait for you", count).format(n=count)
    lines = [_listed(item) for item in items[:MOST_LISTED]]
    return _Told(title, "\n".join([*lines, *(["..."] if count > MOST_LISTED else [])]), "/")


_WORDS: Final[Mapping[str, Callable[[_Work], _Told | str]]] = {
    "turn": _turn,
    "reminder": _reminder,
    "start": _start,
    "end": _end,
    "digest": _digest,
    tidings.TRIAL: _trial,
}


def _match(work: _Work) -> tuple[Played, list[Seat]]:
    match = log.get(work.mail.match_id or 0)
    return log.read(match), log.places(match)


def _awaited(work: _Work) -> tuple[Played, int, list[Seat]] | str:
    """Return the match, the reader's seat and all seats while he is awaited as when he was to be told; else why not."""
    played, seats = _match(work)
    seat = work.mail.seat
    if seat is None or seat not in played.position.to_act or played.position.asked[seat] != work.mail.asked:
        return "the turn was taken meanwhile"
    if seats[seat].user_id != work.user.id:
        return "somebody else sits in the seat now"
    return "this match is silenced" if seats[seat].silent else (played, seat, seats)


def _silent(work: _Work, seats: list[Seat]) -> bool:
    return any(seat.silent and seat.user_id == work.user.id for seat in seats)


def _limit(work: _Work, played: Played, seat: int) -> str:
    until = columns.seat_deadline(played, seat)
    return _("You have until {when}.").format(when=wording.when(until, work.user.zone)) if until else ""


def _listed(item: home.Item) -> str:
    left, title = item.dial.left if item.dial else None, log.title(item.match)
    if left is None:
        return title
    told = _("{left} left").format(left=wording.span(left))
    return f"{title}: {told}"


def _page(played: Played) -> str:
    return f"/matches/{played.match.id}"


def _joined(*sentences: str) -> str:
    return " ".join(sentence[:LONGEST] for sentence in sentences if sentence)

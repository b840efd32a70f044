"""What a person may decide in a match beside moving, as its page offers it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from server import ahead, columns, events, log, play, proposals, seating, votes, wording
from server.log import Played
from server.models import Prepared, Seat, User

Named = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Wish:
    """Something that is proposed, or may be. `text` goes on after "proposes"; `agreed` and `missing` are names; `mine`
    is whether the viewer wants it, `may` whether he has a say, `decides` whether it is done if he says so (once more,
    should somebody have left who had not agreed)."""

    topic: str
    text: str
    agreed: tuple[str, ...]
    missing: tuple[str, ...]
    mine: bool
    may: bool
    decides: bool


@dataclass(frozen=True, slots=True)
class Late:
    """A seat out of time: until the instant the others may decide about it."""

    name: str
    until: datetime | None
    wishes: tuple[Wish, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """What the page of a match offers to one viewer; seats are pairs of number and name.

    `free` are the seats that anybody may take over and `take` those that the viewer may; `back` whether he may have his
    own back from the bot. `take_back` is row and text of his last move if he may take it back, `nudge` who would be
    told once more, `offer` the seats of bots that he may offer, `pause` the first and last day that a pause may end
    with. `ready` is the move he has ready, or one that was dropped; `prepare` whether he may have one ready.
    """

    wishes: tuple[Wish, ...] = ()
    late: tuple[Late, ...] = ()
    free: Named = ()
    take: Named = ()
    back: bool = False
    take_back: tuple[int, str] | None = None
    nudge: tuple[str, ...] = ()
    offer: Named = ()
    pause: tuple[date, date] | None = None
    resume: bool = False
    cancel: bool = False
    end: bool = False
    ready: Prepared | None = None
    prepare: bool = False


@dataclass(frozen=True, slots=True)
class Looked:
    """A match as one viewer looks at it: who he is, None for a stranger, and which seat he sits in, if any."""

    played: Played
    places: list[Seat]
    called: list[str]
    user: User | None
    seat: int | None
    now: datetime


def choices(look: Looked) -> Choices:
    """Return what players decide in the match, as the viewer sees it, and what he may do himself."""
    if look.played.outcome:
        return Choices()
    position, user = look.played.position, look.user
    return Choices(
        wishes=_wishes(look),
        late=_late(look),
        free=_named(look, position.offered),
        take=_named(
            look, (seat for seat in position.offered if user and not seating.knows_another(look.played, user, seat))
        ),
        back=user is not None and seating.own_lost_seat(look.played, look.places, user) is not None,
        **(_of_player(look, look.seat, user) if user is not None and look.seat is not None else {}),
    )


def _of_player(look: Looked, seat: int, user: User) -> dict[str, Any]:
    """Return what only somebody with a seat may do."""
    played, position = look.played, look.played.position
    begun = any(row.kind == "move" for row in played.rows)
    last = play.last_own_move(played, seat)
    others = [number for number in position.to_act if number != seat and not look.places[number].user.bot]
    return {
        "take_back": (last, played.rows[last - 1].text) if last else None,
        "nudge": tuple(look.called[number] for number in others if play.may_nudge(played, look.places, seat, look.now)),
        "offer": _named(look, position.taken_over - position.resigned - position.offered),
        "pause": _pause(look, user),
        "resume": played.clocks.paused(look.now) is not None,
        "cancel": not begun,
        "end": begun,
        "ready": ahead.ready(played.match, user),
        "prepare": seat not in position.to_act,
    }


def _pause(look: Looked, user: User) -> tuple[date, date] | None:
    if look.played.clocks.rule.limitless or not votes.pauses_left(look.played):
        return None
    today, last = (wording.today(moment, user.zone) for moment in (look.now, look.now + votes.LONGEST_PAUSE))
    # A pause lasts until the end of its last day.
    return today, last.fromordinal(last.toordinal() - 1)


def _wishes(look: Looked) -> tuple[Wish, ...]:
    """Return what is proposed, but for what about who is out of time."""
    found = proposals.standing(look.played.rows, look.now)
    return tuple(_wish(look, wanted.topic, wanted.seats) for wanted in found if _goes(look, wanted.topic))


def _goes(look: Looked, topic: str) -> bool:
    """Whether what is proposed can still be done."""
    word, _, rest = topic.partition(" ")
    if word == "pause":
        return log.instant(rest) > look.now
    return word not in votes.ABOUT_LATE and (word != "resume" or look.played.clocks.paused(look.now) is not None)


def _late(look: Looked) -> tuple[Late, ...]:
    wanted = {each.topic: each.seats for each in proposals.standing(look.played.rows, look.now)}
    late = [seat for seat in look.played.position.to_act if columns.undecided(look.played, seat)]
    return tuple(
        Late(
            name=look.called[seat],
            until=columns.seat_deadline(look.played, seat),
            wishes=tuple(
                _wish(look, f"{word} {seat}", wanted.get(f"{word} {seat}", ()))
                for word in votes.ABOUT_LATE
                if word != "wait" or votes.waits_left(look.played, seat)
            ),
        )
        for seat in late
    )


def _wish(look: Looked, topic: str, wanting: tuple[int, ...]) -> Wish:
    having = votes.voters(look.places, look.played, topic)
    may = look.seat in having
    zone = look.user.zone if look.user else "UTC"
    return Wish(
        topic=topic,
        text=events.proposal(topic, look.called, zone),
        agreed=tuple(look.called[seat] for seat in wanting),
        missing=tuple(look.called[seat] for seat in having if seat not in wanting),
        mine=look.seat in wanting,
        may=may,
        decides=may and look.seat is not None and votes.carried(topic, {*wanting, look.seat}, having),
    )


def _named(look: Looked, seats: Iterable[int]) -> Named:
    return tuple((seat, look.called[seat]) for seat in sorted(seats))

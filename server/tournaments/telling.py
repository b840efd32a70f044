"""What those who take part in a tournament are told by mail: that it begins, or does not, each round, and the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from engine.language import gettext as _
from engine.language import later
from server import home, log, outbox
from server.models import Entry, Match, Pairing, Seat, Tournament, User
from server.tournaments import results

# What the subject of a mail says, by the word for what has happened.
HEADLINES: Final = {
    "off": later("{tournament} does not take place"),
    "begun": later("{tournament} has begun"),
    "round": later("{tournament}: round {round} of {rounds}"),
    "ended": later("{tournament} has ended"),
}


def called_off(tournament: Tournament, now: datetime) -> None:
    """Tell everybody who has entered that it does not take place; the caller holds a transaction."""
    _queue(tournament, _entered(tournament), "off", now)


def begun(tournament: Tournament, entries: Iterable[Entry], now: datetime) -> None:
    """Tell everybody that it has begun; the caller holds a transaction."""
    _queue(tournament, [entry.user for entry in entries], "begun", now)


def next_round(tournament: Tournament, entries: Iterable[Entry], now: datetime) -> None:
    """Tell everybody who still takes part that the next round has begun; the caller holds a transaction."""
    _queue(tournament, [entry.user for entry in entries], "round", now)


def ended(tournament: Tournament, now: datetime) -> None:
    """Tell everybody who took part, whether or not to the end, how it has ended; the caller holds a transaction."""
    began = User.select().join(Entry).where((Entry.tournament == tournament) & Entry.lot.is_null(False))
    _queue(tournament, began, "ended", now)


def facts(told: Mapping[str, Any], user: User, site: str) -> dict[str, Any]:
    """Return what the templates of a mail are given; `told` is what was queued.

    The standing is that of the moment in which the mail is written, without the matches that its reader wants to watch.
    """
    tournament: Tournament = Tournament.get_by_id(told["tournament"])
    held = results.pairings(tournament)
    untold = home.kept(user, results.matches(held))
    number = told.get("round", 0)
    words = {"tournament": tournament.name, "round": number, "rounds": tournament.rounds}
    return {
        "headline": _(HEADLINES[told["news"]]).format(**words),
        "tournament": tournament.name,
        "number": number,
        "url": f"{site}/tournaments/{tournament.id}",
        "own": [_named(match, user, site) for match in _own(held, number, user)],
        "resting": any(each.round == number and each.user_id == user.id for each in held),
        "lines": _lines(tournament, held, untold, user) if told["news"] in {"round", "ended"} else [],
        "untold": len(untold),
    }


def _entered(tournament: Tournament) -> Iterable[User]:
    mine = (Entry.tournament == tournament) & Entry.withdrew_at.is_null()
    return list(User.select().join(Entry).where(mine))


def _queue(tournament: Tournament, people: Iterable[User], news: str, now: datetime) -> None:
    for user in people:
        if user.reachable:
            told = {"tournament": tournament.id, "news": news, "round": tournament.round}
            key = f"tournament {tournament.id} {news} {tournament.round} {user.id}"
            outbox.queue("tournament", key=key, now=now, user=user, facts=told)


def _own(held: Sequence[Pairing], number: int, user: User) -> list[Match]:
    """Return the person's match of a round, in a list that is empty if he has none."""
    matches = {match.id: match for match in results.matches(each for each in held if each.round == number)}
    seats = Seat.select(Seat.match).where(Seat.match.in_(list(matches)) & (Seat.owner == user))
    return [matches[seat.match_id] for seat in seats]


def _named(match: Match, user: User, site: str) -> dict[str, Any]:
    others = [seat.owner.name for seat in log.places(match) if seat.owner_id != user.id]
    return {"name": log.title(match), "others": others, "url": f"{site}/matches/{match.id}"}


def _lines(
    tournament: Tournament, held: Sequence[Pairing], untold: Iterable[int], user: User
) -> list[tuple[int, str, int, bool]]:
    """Return rank, name and points of everybody, and whether he is the reader."""
    began = Entry.select(Entry, User).join(User).where((Entry.tournament == tournament) & Entry.lot.is_null(False))
    names = {entry.user_id: entry.user.name for entry in began}
    lines = results.standing(names, held, list(untold))
    return [(line.rank, names[line.player], line.points, line.player == user.id) for line in lines]

"""Before a tournament begins: it is announced, people enter and withdraw, its host calls it off."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from engine import games, timerule
from engine.language import gettext as _
from server import accounts, db, lobby, throttle
from server.errors import Refused
from server.models import Entry, Tournament, User
from server.tournaments import telling

FORMS: Final = ("round-robin", "swiss")
# So many may take part: in a round robin everybody meets everybody, which must not take for ever.
MOST: Final = {"round-robin": 16, "swiss": 64}
MOST_ROUNDS: Final = 12
MOST_OPEN: Final = 5
SOONEST: Final = timedelta(hours=1)
LATEST: Final = timedelta(days=60)
LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tournament is announced with, as the form or program sent it. `rounds` matters to the Swiss form alone."""

    name: str
    game: str
    seats: int
    clock: Mapping[str, object]
    options: Mapping[str, str]
    form: str
    rounds: int
    least: int
    most: int
    starts_at: datetime
    rated: bool = True

    def terms(self) -> lobby.Terms:
        """Return the terms of its matches."""
        return lobby.Terms(self.game, self.seats, self.clock, self.options, "join", rated=self.rated)


def announce(host: User, plan: Plan, now: datetime) -> Tournament:
    """Announce a tournament, which its host may enter like everybody else. Raises `Refused`.

    (bad-input, unconfirmed, throttled)
    """
    name = _check(plan, now)
    throttle.count("tournament by", str(host.id), now)
    with db.transaction():
        accounts.require_confirmed(db.locked(User.select().where(User.id == host.id)).first())
        if Tournament.select().where((Tournament.host == host) & (Tournament.status == "open")).count() >= MOST_OPEN:
            raise Refused("bad-input", _("You have announced {n} tournaments already.").format(n=MOST_OPEN))
        made: Tournament = Tournament.create(
            name=name,
            game=plan.game,
            options=dict(plan.options),
            clock=timerule.plain(timerule.rule(plan.clock)),
            rated=plan.rated,
            seats=plan.seats,
            form=plan.form,
            rounds=plan.rounds if plan.form == "swiss" else 0,
            least=plan.least,
            most=plan.most,
            host=host,
            secret=secrets.token_bytes(32),
            created_at=now,
            starts_at=plan.starts_at,
        )
    return made


def find(number: int, *, hold: bool = False) -> Tournament:
    """Return the tournament; `hold` locks its row until the transaction ends. Raises `Refused` (not-found)."""
    query = Tournament.select().where(Tournament.id == (number if 0 < number < 2**31 else 0))
    found: Tournament | None = (db.locked(query) if hold else query).first()
    if found is None:
        raise Refused("not-found", _("There is no such tournament."))
    return found


def enter(number: int, user: User, now: datetime, contribution: str = "") -> Tournament:
    """Take part. Raises `Refused` (not-found, not-open, already-seated, table-full, unconfirmed, throttled)."""
    throttle.count("enter by", str(user.id), now)
    with db.transaction():
        tournament = _open(number, now)
        accounts.require_confirmed(db.locked(User.select().where(User.id == user.id)).first())
        there = Entry.tournament == tournament
        mine = Entry.get_or_none(there & (Entry.user == user))
        if mine is not None and mine.withdrew_at is None:
            raise Refused("already-seated", _("You take part already."))
        if Entry.select().where(there & Entry.withdrew_at.is_null()).count() >= tournament.most:
            raise Refused("table-full", _("Every place in this tournament is taken."))
        words = " ".join(db.storable(contribution).split())[:64] or secrets.token_hex(8)
        Entry.delete().where(there & (Entry.user == user)).execute()
        Entry.insert(tournament=tournament, user=user, contribution=words, joined_at=now).execute()
    return tournament


def withdraw(number: int, user: User, now: datetime) -> Tournament:
    """Take part no longer: before the start not at all, later in no further round; matches that run go on.

    Raises `Refused` (not-found, not-open, not-yours).
    """
    with db.transaction():
        tournament = find(number, hold=True)
        if tournament.status not in {"open", "running"}:
            raise Refused("not-open", _("This tournament is over."))
        mine = (Entry.tournament == tournament) & (Entry.user == user) & Entry.withdrew_at.is_null()
        if tournament.status == "running":
            mine &= Entry.lot.is_null(False)
        if not Entry.update(withdrew_at=now).where(mine).execute():
            raise Refused("not-yours", _("You do not take part in this tournament."))
    return tournament


def call_off(number: int, by: User, now: datetime) -> Tournament:
    """Call a tournament off before it begins; everybody who has entered is told.

    Its host may do so, and a keeper of the house. Raises `Refused` (not-found, not-open, not-yours).
    """
    with db.transaction():
        tournament = find(number, hold=True)
        if tournament.host_id != by.id and not by.admin:
            raise Refused("not-yours", _("Only its host calls a tournament off."))
        if tournament.status != "open":
            raise Refused("not-open", _("This tournament is no longer open."))
        Tournament.update(status="cancelled", finished_at=now).where(Tournament.id == tournament.id).execute()
        telling.called_off(tournament, now)
    return tournament


def leave_all(user: User, now: datetime) -> None:
    """Withdraw a person who is about to go from all that is not over, and call off what he hosts and has not begun."""
    hosted = (Tournament.host == user) & (Tournament.status == "open")
    for tournament in list(Tournament.select(Tournament.id).where(hosted)):
        # It may have begun just now; then it goes on without him.
        with suppress(Refused):
            call_off(tournament.id, user, now)
    going_on = Tournament.select(Tournament.id).where(Tournament.status.in_(["open", "running"]))
    entered = (Entry.user == user) & Entry.withdrew_at.is_null() & Entry.tournament.in_(going_on)
    for entry in list(Entry.select().where(entered)):
        with suppress(Refused):
            withdraw(entry.tournament_id, user, now)


def _open(number: int, now: datetime) -> Tournament:
    """Return the tournament, held, if one may still enter; its start may be due and not have come yet."""
    tournament = find(number, hold=True)
    if tournament.status != "open" or tournament.starts_at <= now:
        raise Refused("not-open", _("This tournament is no longer open."))
    return tournament


def _check(plan: Plan, now: datetime) -> str:
    """Return the name as it will be shown. Raises `Refused` (bad-input)."""
    game = lobby.check(plan.terms())
    name = " ".join(db.storable(plan.name).split())
    if not 3 <= len(name) <= LONGEST_NAME or not name.isprintable():
        told = _("The name of a tournament has 3 to {n} letters.").format(n=LONGEST_NAME)
        raise Refused("bad-input", told)
    if timerule.rule(plan.clock).limitless:
        raise Refused("bad-input", _("A tournament needs a time limit, or it might never end."))
    if plan.form not in FORMS:
        raise Refused("bad-input", _("A tournament is a round robin or goes by the Swiss system."))
    if plan.form == "swiss" and not 2 <= plan.rounds <= MOST_ROUNDS:
        raise Refused("bad-input", _("There are 2 to {n} rounds.").format(n=MOST_ROUNDS))
    least, most = max(3, games.game(game.kind).seat_counts[0]), MOST[plan.form]
    if not least <= plan.least <= plan.most <= most:
        told = _("A tournament takes {least} to {most} players, and the least number is not above the most.")
        raise Refused("bad-input", told.format(least=least, most=most))
    if not now + SOONEST <= plan.starts_at <= now + LATEST:
        told = _("A tournament begins after an hour at the earliest, and within {n} days.").format(n=LATEST.days)
        raise Refused("bad-input", told)
    return name

"""Tables before the first move: opening, joining, leaving, inviting, starting."""

from __future__ import annotations

import logging
import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from engine import deal, games, timerule
from engine.base import Game
from engine.language import gettext as _
from server import accounts, columns, companions, db, links, log, notify, seating, throttle, vacations
from server.errors import Refused
from server.models import Invited, Match, Seat, User

logger = logging.getLogger(__name__)

MOST_OPEN: Final = 20


@dataclass(frozen=True, slots=True)
class Terms:
    """What a table is opened with, as the form or program sent it."""

    game: str
    seats: int
    clock: Mapping[str, object]
    options: Mapping[str, str]
    seating: str = "random"
    autostart: bool = True
    invited_only: bool = False
    rated: bool = True


def open_table(host: User, terms: Terms, now: datetime) -> Match:
    """Open a table with the host in its first seat. Raises `Refused` (bad-input, unconfirmed, throttled)."""
    game = check(terms)
    throttle.count("open by", str(host.id), now)
    with db.transaction():
        _require_confirmed(host)
        if Match.select().where((Match.host == host) & (Match.status == "open")).count() >= MOST_OPEN:
            raise Refused("bad-input", _("You have {n} open tables already.").format(n=MOST_OPEN))
        return _create(host, game, terms, now)


def against_bots(host: User, terms: Terms, strength: str, now: datetime, *, unlisted: bool = False) -> Match:
    """Start a match of the host and bots of a strength, inside the caller's transaction; the host needs no account.

    An `unlisted` match is shown in no list. Raises `Refused` (bad-input).
    """
    match = _create(host, check(terms), terms, now, unlisted=unlisted)
    companions.sit(match, strength, terms.seats - 1, now)
    # He is there: a letter about his first turn can wait.
    Seat.update(visited_at=now).where((Seat.match == match) & (Seat.owner == host)).execute()
    _start(match, now)
    return match


def begin(host: User, terms: Terms, people: Sequence[tuple[User, str]], secret: bytes, now: datetime) -> Match:
    """Start a match of people in this order of seats, each with his words for the deal; there is no open table before.

    The caller holds a transaction, and the host need not be one of them. Raises `Refused` (bad-input).
    """
    match = _table(host, check(terms), replace(terms, seating="join"), now, secret)
    for user, words in people:
        _sit(match, user, words, now)
    _start(match, now)
    return match


def _create(host: User, game: Game, terms: Terms, now: datetime, *, unlisted: bool = False) -> Match:
    match = _table(host, game, terms, now, secrets.token_bytes(32), unlisted=unlisted)
    _sit(match, host, "", now)
    return match


def _table(host: User, game: Game, terms: Terms, now: datetime, secret: bytes, *, unlisted: bool = False) -> Match:
    match: Match = Match.create(
        game=game.kind,
        rules=game.rules,
        options=dict(terms.options),
        seats=terms.seats,
        clock=timerule.plain(_rule(terms)),
        seating=terms.seating,
        autostart=terms.autostart,
        invited_only=terms.invited_only,
        unlisted=unlisted,
        rated=terms.rated,
        host=host,
        created_at=now,
        secret=secret,
    )
    return match


def join(
    match_id: int,
    user: User,
    *,
    now: datetime,
    contribution: str = "",
    invitation: str = "",
    invited: bool = False,
) -> Match:
    """Take a seat; the last one starts the match if the table says so.

    A table for invited people only needs the token of an `invitation`, or that the caller knows the person as
    `invited`. Raises `Refused`
    (not-open, table-full, already-seated, not-found, unconfirmed, link-spent).
    """
    with db.transaction():
        match = log.get(match_id, hold=True)
        _require_open(match)
        _require_confirmed(user)
        seats = log.places(match)
        if any(seat.owner_id == user.id for seat in seats):
            raise Refused("already-seated", _("You already sit at this table."))
        if len(seats) >= match.seats:
            raise Refused("table-full", _("Every seat at this table is taken."))
        if match.invited_only and not invited and not is_invited(match, user):
            _require_invitation(match, invitation, now)
        _sit(match, user, contribution, now)
        if len(seats) + 1 == match.seats:
            if match.autostart:
                _start(match, now)
            else:
                notify.full(match, now)
    return match


def leave(match_id: int, user: User) -> Match:
    """Give the seat up before the start, or an invitation to one; when the host leaves the table is closed.

    Raises `Refused`.
    """
    with db.transaction():
        match = log.get(match_id, hold=True)
        _require_seen(match, user)
        _require_open(match)
        gone = Seat.delete().where((Seat.match == match) & (Seat.owner == user)).execute()
        if not gone:
            gone = Invited.delete().where((Invited.match == match) & (Invited.user == user)).execute()
        if not gone:
            raise Refused("not-yours", _("You do not sit at this table."))
        if match.host_id == user.id:
            Match.update(status="cancelled").where(Match.id == match.id).execute()
    return log.get(match_id)


def start(match_id: int, by: User, now: datetime) -> Match:
    """Start by the host's hand with whoever sits there. Raises `Refused` (not-yours, not-open, bad-input)."""
    with db.transaction():
        match = log.get(match_id, hold=True)
        _require_seen(match, by)
        _require_open(match)
        if match.host_id != by.id:
            raise Refused("not-yours", _("Only the host starts the match."))
        _start(match, now)
    return match


def fill(match_id: int, by: User, strength: str, now: datetime, count: int | None = None) -> Match:
    """Let bots of a strength take so many free seats of the host's table, or all.

    The last one starts the match if the table says so. Raises `Refused` (not-yours, not-open, table-full, bad-input).
    """
    with db.transaction():
        match = log.get(match_id, hold=True)
        _require_seen(match, by)
        _require_open(match)
        if match.host_id != by.id:
            raise Refused("not-yours", _("Only the host lets bots take seats."))
        free = match.seats - len(log.places(match))
        if not free:
            raise Refused("table-full", _("Every seat at this table is taken."))
        companions.sit(match, strength, free if count is None else count, now)
        if match.autostart and len(log.places(match)) == match.seats:
            _start(match, now)
    return match


def invitation(match_id: int, by: User, now: datetime) -> str:
    """Return the token of a new invitation to hand on. Raises `Refused` (not-yours, not-open, throttled)."""
    throttle.count("invite by", str(by.id), now)
    with db.transaction():
        match = _host_table(match_id, by)
        return links.mint("invite", now, match=match)


def invite(match_id: int, by: User, email: str, now: datetime) -> str:
    """Queue an invitation to a mail address and return that; whose it is finds it on his home page too.

    Raises `Refused`.
    """
    email = accounts.clean_email(email)
    _host_table(match_id, by)
    throttle.count("invite by", str(by.id), now)
    throttle.count("mail to", email.casefold(), now)
    with db.transaction():
        match = _host_table(match_id, by)
        if notify.invited(match, email, by, now):
            theirs = (User.email_key == email.casefold()) & User.confirmed_at.is_null(False)
            invite_people(match, User.select().where(theirs))
    return email


def invited_to(token: str, now: datetime) -> Match:
    """Return the table an invitation is for. Raises `Refused` (link-spent)."""
    return log.get(links.find("invite", token, now).match_id or 0)


def may_see(match: Match, user: User | None, invited: bool = False) -> bool:
    """Whether the person may see the table: those for invited people are shown to them and to who sits there."""
    if is_for_all(match) or invited:
        return True
    return user is not None and (match.id, user.id) in admitted([match])


def admitted(matches: Iterable[Match]) -> set[tuple[int, int]]:
    """Return who may see those of the tables that are not for all: numbers of match and person, asked for at once."""
    closed = [match.id for match in matches if not is_for_all(match)]
    if not closed:
        return set()
    asked: list[Any] = list(Invited.select(Invited.match, Invited.user).where(Invited.match.in_(closed)).tuples())
    seated: list[Any] = list(Seat.select(Seat.match, Seat.owner).where(Seat.match.in_(closed)).tuples())
    return {*asked, *seated}


def is_for_all(match: Match) -> bool:
    """Whether anybody may see the table: it is not for invited people, or it is played by now."""
    return not match.invited_only or match.status in {"running", "finished"}


def is_invited(match: Match, user: User) -> bool:
    """Whether the person's account is invited to the table."""
    return bool(Invited.select().where((Invited.match == match) & (Invited.user == user)).exists())


def commitment(match: Match) -> str:
    """Return the SHA-256 of the server's part of the deal, shown before anybody sits down."""
    return deal.commitment(bytes(match.secret))


def open_tables(limit: int = 100, *, game: str = "", before: int = 0) -> list[Match]:
    """Return the tables anybody may join, newest first: of one game if it is named, those `before` a number if any."""
    known = Match.game.in_([kind for kind in games.games() if game in {"", kind}])
    query = Match.select().where((Match.status == "open") & (Match.invited_only == False) & known)  # noqa: E712
    query = query.where(Match.id < before) if before else query
    return list(query.order_by(Match.id.desc()).limit(limit))


def running(limit: int, before: int | None = None, game: str = "") -> list[Match]:
    """Return matches that are played and anybody may watch, newest first, below the number `before`."""
    # Not by an equation: PostgreSQL would take the numbers of all matches for the order and pass over all that ended.
    last = db.together("running", 2**31 - 1 if before is None else before)
    query = Match.select().where((Match.status >= "running") & (db.together(Match.status, Match.id) < last))
    query = query.where(Match.unlisted == False)  # noqa: E712
    if game:
        query = query.where(Match.game == game)
    return list(query.order_by(Match.status.desc(), Match.id.desc()).limit(limit))


def invite_people(match: Match, people: Iterable[User]) -> None:
    """Let these people sit down at a table for invited people; the caller holds a transaction."""
    for user in people:
        Invited.insert(match=match, user=user).on_conflict_ignore().execute()


def close(match_id: int) -> None:
    """Close a table that has not begun; nothing happens to any other match."""
    with db.transaction():
        Match.update(status="cancelled").where((Match.id == match_id) & (Match.status == "open")).execute()


def leave_all(user: User, now: datetime) -> None:
    """Give up every seat of a person who is about to go: leave open tables, resign in running matches.

    Raises `Refused` (frozen) before anything is done, if a keeper holds one of them.
    """
    require_free(user)
    held = Match.select().join(Seat).where((Seat.user == user) & Seat.ended_at.is_null())
    for match in list(held.where(Match.status == "open")):
        # It may have begun just now: then it is among the running ones.
        with suppress(Refused):
            leave(match.id, user)
    for match in list(held.where(Match.status == "running")):
        try:
            seating.resign(match.id, user, "web", now=now)
        except Refused as fault:
            logger.warning("match %s cannot be resigned: %s", match.id, fault.code)


def require_free(user: User) -> None:
    """Raise `Refused` (frozen) if a keeper holds a match of the person, which can then not be left."""
    held = (Seat.user == user) & Seat.ended_at.is_null() & Match.frozen_at.is_null(False)
    for match in Match.select().join(Seat).where(held & (Match.status == "running")).limit(1):
        raise log.frozen(match)


def check(terms: Terms) -> Game:
    """Return the game of the terms, under which it can be played. Raises `Refused` (bad-input)."""
    try:
        game = games.game(terms.game)
    except LookupError:
        raise Refused("bad-input", _("There is no such game here.")) from None
    if terms.seats not in game.seat_counts:
        least, most = game.seat_counts[0], game.seat_counts[-1]
        told = _("{game} is for {least} to {most} players.").format(game=game.title, least=least, most=most)
        raise Refused("bad-input", told)
    _rule(terms)
    if terms.seating not in {"random", "join"}:
        raise Refused("bad-input", _("Seats are drawn at random or given in order of joining."))
    known = {option.name: {value for value, _label in option.choices} for option in game.options}
    for name, value in terms.options.items():
        if value not in known.get(name, ()):
            told = _("{game} has no rule option {name} with that value.").format(game=game.title, name=name[:40])
            raise Refused("bad-input", told)
    return game


def _rule(terms: Terms) -> timerule.Rule:
    try:
        return timerule.rule(terms.clock)
    except timerule.WrongRule as fault:
        raise Refused("bad-input", str(fault)) from None


def _require_confirmed(user: User) -> None:
    """Hold the person's row: what he does elsewhere just now, leaving for good say, comes before or after."""
    accounts.require_confirmed(db.locked(User.select().where(User.id == user.id)).first())


def _require_seen(match: Match, user: User) -> None:
    """A table that a person may not see is, to him, not there."""
    if not may_see(match, user):
        raise Refused("not-found", _("There is no such match."))


def _require_open(match: Match) -> None:
    if match.status != "open":
        raise Refused("not-open", _("This table is no longer open."))


def _require_invitation(match: Match, token: str, now: datetime) -> None:
    if not token:
        raise Refused("not-found", _("There is no such match."))
    if links.find("invite", token, now).match_id != match.id:
        raise Refused("link-spent", _("This invitation is for another table."))


def _host_table(match_id: int, by: User) -> Match:
    match = log.get(match_id, hold=True)
    _require_seen(match, by)
    _require_open(match)
    if match.host_id != by.id:
        raise Refused("not-yours", _("Only the host invites people."))
    return match


def _sit(match: Match, user: User, contribution: str, now: datetime) -> None:
    words = " ".join(db.storable(contribution).split())[:64] or secrets.token_hex(8)
    Seat.create(match=match, user=user, owner=user, contribution=words, joined_at=now)


def _start(match: Match, now: datetime) -> None:
    """Seat the people, deal, write row 0 and tell everybody, inside the caller's transaction."""
    seats: list[Any] = log.places(match)
    game = log.game_of(match)
    if len(seats) not in game.seat_counts:
        told = _("{game} needs at least {least} players.").format(game=game.title, least=game.seat_counts[0])
        raise Refused("bad-input", told)
    if match.seating == "random":
        random.SystemRandom().shuffle(seats)
    for number, seat in enumerate(seats):
        Seat.update(number=number).where(Seat.id == seat.id).execute()
    match.seats = len(seats)
    # Whoever plays against bots alone is compared with nobody.
    match.rated = match.rated and sum(not seat.owner.bot for seat in seats) > 1
    Match.update(seats=match.seats, rated=match.rated).where(Match.id == match.id).execute()
    contributions = [seat.contribution for seat in seats]
    setup = game.deal(deal.stream_for(bytes(match.secret), contributions), match.seats, match.options)
    played = log.open_log(match, setup, now)
    vacations.note_at_start(played, log.places(match), "web", now)
    columns.store(played, log.places(match), now)
    notify.started(played, now)

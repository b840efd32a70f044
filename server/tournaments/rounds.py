"""Tournaments as they go on: started at their date, one round after the other, ended. Each step is one transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from server import db, lobby
from server.errors import Refused
from server.models import Entry, Match, Pairing, Tournament, User
from server.models.statements import nothing
from server.tournaments import chance, entering, pairing, results, telling
from server.tournaments.pairing import Round

logger = logging.getLogger(__name__)


def run(now: datetime, limit: int = 100) -> int:
    """Do what is due: begin tournaments and their next rounds, end them; return how many moved on.

    Any number of schedulers may do this at once: each step belongs to the one that finds the tournament as it was.
    """
    begun = sum(_step(_begin, each.id, now) for each in list(due(now).limit(limit)))
    return begun + sum(_step(_go_on, each.id, now) for each in list(idle().limit(limit)))


def due(now: datetime) -> Any:
    """Return the query of the tournaments whose date has come."""
    late = (Tournament.status == "open") & (Tournament.starts_at <= now)
    return Tournament.select().where(late).order_by(Tournament.starts_at)


def idle() -> Any:
    """Return the query of the tournaments of whose last round no match runs any more."""
    mine = (Pairing.tournament == Tournament.id) & (Pairing.round == Tournament.round)
    running = Pairing.select(Pairing.place).join(Match).where(mine & (Match.status == "running"))
    return Tournament.select().where((Tournament.status == "running") & nothing(running)).order_by(Tournament.id)


def _step(step: Callable[[int, datetime], bool], number: int, now: datetime) -> bool:
    """Take a step; one that fails leaves the tournament as it was and keeps no other from going on."""
    try:
        with db.transaction():
            return step(number, now)
    except Refused as fault:
        logger.warning("tournament %s cannot go on: %s", number, fault.sentence)
    except Exception:
        logger.exception("tournament %s cannot go on", number)
    return False


def _begin(number: int, now: datetime) -> bool:
    mine = (Tournament.id == number) & (Tournament.status == "open") & (Tournament.starts_at <= now)
    if not Tournament.update(status="running", started_at=now).where(mine).execute():
        return False
    tournament: Tournament = Tournament.get_by_id(number)
    entries = _present(tournament)
    if len(entries) < tournament.least:
        Tournament.update(status="cancelled", finished_at=now).where(Tournament.id == number).execute()
        telling.called_off(tournament, now)
        return True
    words = [entry.contribution for entry in entries]
    for entry, lot in zip(entries, chance.lots(bytes(tournament.secret), words), strict=True):
        entry.lot = lot
        own = (Entry.tournament == tournament) & (Entry.user == entry.user_id)
        Entry.update(lot=lot).where(own).execute()
    tournament.rounds = _planned(tournament, len(entries))
    Tournament.update(rounds=tournament.rounds).where(Tournament.id == number).execute()
    _play(tournament, 1, entries, now)
    telling.begun(tournament, entries, now)
    return True


def _go_on(number: int, now: datetime) -> bool:
    """Begin the next round, or end the tournament, if its last round still is over."""
    tournament = entering.find(number, hold=True)
    # Asked anew now that it is held: another scheduler may have begun a round while this one waited.
    if not idle().where(Tournament.id == number).exists():
        return False
    here = (Tournament.id == number) & (Tournament.round == tournament.round) & (Tournament.status == "running")
    entries = [entry for entry in _present(tournament) if entry.lot is not None]
    if tournament.round >= tournament.rounds or len(entries) < 2:
        if not Tournament.update(status="finished", finished_at=now).where(here).execute():
            return False
        telling.ended(tournament, now)
        return True
    if not Tournament.update(round=tournament.round + 1).where(here).execute():
        return False
    _play(tournament, tournament.round + 1, entries, now)
    telling.next_round(tournament, entries, now)
    return True


def _present(tournament: Tournament) -> list[Entry]:
    """Return who takes part, in the order of entering, with their people held so that nobody leaves meanwhile."""
    mine = (Entry.tournament == tournament) & Entry.withdrew_at.is_null()
    numbers = [entry.user_id for entry in Entry.select(Entry.user).where(mine)]
    held = db.locked(User.select().where(User.id.in_(numbers) & User.deleted_at.is_null()).order_by(User.id))
    people = {user.id: user for user in held}
    found = [entry for entry in Entry.select().where(mine) if entry.user_id in people]
    for entry in found:
        entry.user = people[entry.user_id]
    return sorted(found, key=lambda entry: (entry.joined_at, entry.user_id))


def _planned(tournament: Tournament, players: int) -> int:
    """Return how many rounds there are with so many players: none in which somebody has nobody left to meet."""
    if tournament.form == "swiss":
        return min(tournament.rounds, pairing.most_rounds(players, tournament.seats))
    return len(_schedule(tournament, players))


def _schedule(tournament: Tournament, players: int) -> Sequence[Round]:
    return pairing.round_robin(players, tournament.seats, _allowed(tournament))


def _allowed(tournament: Tournament) -> tuple[int, ...]:
    """Return how many may play the game. Raises `Refused` (bad-input) if it is not installed any more."""
    return tuple(lobby.check(_terms(tournament)).seat_counts)


def _play(tournament: Tournament, number: int, entries: Sequence[Entry], now: datetime) -> None:
    """Make the matches of a round."""
    drawn = _robin(tournament, number, entries) if tournament.form == "round-robin" else _swiss(tournament, entries)
    planned = _without_the_lonely(drawn, _allowed(tournament))
    people = {entry.user_id: entry for entry in entries}
    tournament.round = number
    for place, group in enumerate(planned.groups):
        seats = [(people[each].user, people[each].contribution) for each in group]
        secret = chance.match_secret(bytes(tournament.secret), number, place)
        match = lobby.begin(tournament.host, _terms(tournament), seats, secret, now)
        Pairing.insert(tournament=tournament, round=number, place=place, match=match).execute()
    for place, player in enumerate(planned.resting, len(planned.groups)):
        Pairing.insert(tournament=tournament, round=number, place=place, user=player).execute()
    Tournament.update(round=number).where(Tournament.id == tournament.id).execute()


def _robin(tournament: Tournament, number: int, entries: Sequence[Entry]) -> Round:
    """Return a round of the schedule, made for those who began, without those who have withdrawn since."""
    began = Entry.select().where((Entry.tournament == tournament) & Entry.lot.is_null(False)).count()
    here = {entry.lot: entry.user_id for entry in entries}
    planned = _schedule(tournament, began)[number - 1]
    groups = tuple(tuple(here[lot] for lot in group if lot in here) for group in planned.groups)
    return Round(groups, tuple(here[lot] for lot in planned.resting if lot in here))


def _swiss(tournament: Tournament, entries: Sequence[Entry]) -> Round:
    """Return the next round by the standing; equals, as all are before the first, in the order of their lots."""
    held = results.pairings(tournament)
    lots = {entry.user_id: entry.lot or 0 for entry in entries}
    began = [
        entry.user_id
        for entry in Entry.select(Entry.user).where((Entry.tournament == tournament) & Entry.lot.is_null(False))
    ]
    ranks = {line.player: line.rank for line in results.standing(began, held)}
    order = sorted(lots, key=lambda player: (ranks[player], lots[player]))
    return pairing.swiss(order, tournament.seats, _allowed(tournament), results.history(held))


def _without_the_lonely(drawn: Round, allowed: Collection[int]) -> Round:
    """Return a round in which those have it off whose group has become too small for the game."""
    groups = tuple(group for group in drawn.groups if len(group) in allowed)
    lonely = [player for group in drawn.groups if len(group) not in allowed for player in group]
    return Round(groups, (*drawn.resting, *lonely))


def _terms(tournament: Tournament) -> lobby.Terms:
    return lobby.Terms(
        tournament.game, tournament.seats, tournament.clock, tournament.options or {}, "join", rated=tournament.rated
    )

"""Tournaments as they go on: started at their date, one round after the other, ended. Each step is one transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from server import db, lobby
from server.errors import Refused
from server.models import Entry, Match, Pairing, Tournament, User
from server.models.statements import nothing
from server.tournaments import chance, entering, pairing, results, telling
from server.tournaments.pairing import Round

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Start:
    """How a tournament begins: the lots of all people by their numbers, how many rounds there are, and the first."""

    lots: dict[int, int]
    rounds: int
    first: Round


def run(now: datetime, limit: int = 100) -> int:
    """Do what is due: begin tournaments and their next rounds, end them; return how many moved on.

    Any number of schedulers may do this at once: each step belongs to the one that finds the tournament as it was
    when the round was paired, which is done before anything is held.
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
        return step(number, now)
    except Refused as fault:
        logger.warning("tournament %s cannot go on: %s", number, fault.sentence)
    except Exception:
        logger.exception("tournament %s cannot go on", number)
    return False


def _begin(number: int, now: datetime) -> bool:
    """Begin a tournament, or call it off if it cannot be played; nothing happens if people come or go meanwhile."""
    found = entering.find(number)
    if found.status != "open":
        return False
    # To pair takes long, so nobody waits for it: what comes of it is good as long as the same people take part.
    before = _present(found)
    start = _start(found, before)
    with db.transaction():
        tournament = entering.find(number, hold=True)
        entries = _present(tournament, hold=True)
        if tournament.status != "open" or _who(entries) != _who(before):
            return False
        if start is None:
            Tournament.update(status="cancelled", finished_at=now).where(Tournament.id == number).execute()
            telling.called_off(tournament, now)
            return True
        for entry in entries:
            entry.lot = start.lots[entry.user_id]
            own = (Entry.tournament == tournament) & (Entry.user == entry.user_id)
            Entry.update(lot=entry.lot).where(own).execute()
        tournament.round, tournament.rounds = 1, start.rounds
        begun = {"status": "running", "started_at": now, "round": 1, "rounds": start.rounds}
        Tournament.update(begun).where(Tournament.id == number).execute()
        _play(tournament, start.first, entries, now)
        telling.begun(tournament, entries, now)
    return True


def _go_on(number: int, now: datetime) -> bool:
    """Begin the next round, or end the tournament, if its last round still is over and the same people take part."""
    found = entering.find(number)
    if not _is_idle(number):
        return False
    before = _staying(found)
    following = _following(found, before)
    with db.transaction():
        tournament = entering.find(number, hold=True)
        # Asked anew now that it is held: another scheduler may have begun a round while this one paired or waited.
        if tournament.round != found.round or not _is_idle(number):
            return False
        entries = _staying(tournament, hold=True)
        if _who(entries) != _who(before):
            return False
        if following is None:
            Tournament.update(status="finished", finished_at=now).where(Tournament.id == number).execute()
            telling.ended(tournament, now)
            return True
        tournament.round += 1
        Tournament.update(round=tournament.round).where(Tournament.id == number).execute()
        _play(tournament, following, entries, now)
        telling.next_round(tournament, entries, now)
    return True


def _is_idle(number: int) -> bool:
    return bool(idle().where(Tournament.id == number).exists())


def _present(tournament: Tournament, *, hold: bool = False) -> list[Entry]:
    """Return who takes part, in the order of entering; `hold` holds the people so that nobody leaves meanwhile."""
    mine = (Entry.tournament == tournament) & Entry.withdrew_at.is_null()
    numbers = [entry.user_id for entry in Entry.select(Entry.user).where(mine)]
    there = User.select().where(User.id.in_(numbers) & User.deleted_at.is_null()).order_by(User.id)
    people = {user.id: user for user in (db.locked(there) if hold else there)}
    found = [entry for entry in Entry.select().where(mine) if entry.user_id in people]
    for entry in found:
        entry.user = people[entry.user_id]
    return sorted(found, key=lambda entry: (entry.joined_at, entry.user_id))


def _staying(tournament: Tournament, *, hold: bool = False) -> list[Entry]:
    """Return who has begun and still takes part."""
    return [entry for entry in _present(tournament, hold=hold) if entry.lot is not None]


def _who(entries: Iterable[Entry]) -> list[tuple[int, str]]:
    """Return all that lots and rounds are made of and that may change until a round begins."""
    return [(entry.user_id, entry.contribution) for entry in entries]


def _start(tournament: Tournament, entries: Sequence[Entry]) -> Start | None:
    """Return how a tournament of these people begins, None if they are too few or its matches cannot be played here."""
    if len(entries) < tournament.least:
        return None
    try:
        rounds = _planned(tournament, len(entries))
    except Refused as fault:
        logger.warning("tournament %s cannot begin: %s", tournament.id, fault.sentence)
        return None
    words = [entry.contribution for entry in entries]
    lots = dict(zip(_numbers(entries), chance.lots(bytes(tournament.secret), words), strict=True))
    return Start(lots, rounds, _drawn(tournament, 1, lots, list(lots)))


def _following(tournament: Tournament, entries: Sequence[Entry]) -> Round | None:
    """Return the next round of a tournament with these people, None if there is none."""
    if tournament.round >= tournament.rounds or len(entries) < 2:
        return None
    entered = Entry.select(Entry.user, Entry.lot).where(Entry.tournament == tournament)
    lots = {entry.user_id: entry.lot for entry in entered if entry.lot is not None}
    return _drawn(tournament, tournament.round + 1, lots, _numbers(entries))


def _numbers(entries: Iterable[Entry]) -> list[int]:
    return [entry.user_id for entry in entries]


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


def _drawn(tournament: Tournament, number: int, lots: Mapping[int, int], here: Sequence[int]) -> Round:
    """Return who meets whom in a round: of those who began, by their lots, those who still are here."""
    allowed = _allowed(tournament)
    if tournament.form == "round-robin":
        drawn = _robin(_schedule(tournament, len(lots))[number - 1], {lots[player]: player for player in here})
    else:
        drawn = _swiss(tournament, lots, here, allowed)
    return _without_the_lonely(drawn, allowed)


def _robin(planned: Round, here: Mapping[int, int]) -> Round:
    """Return a round of the schedule, made for the lots of those who began, without those who have withdrawn since."""
    groups = tuple(tuple(here[lot] for lot in group if lot in here) for group in planned.groups)
    return Round(groups, tuple(here[lot] for lot in planned.resting if lot in here))


def _swiss(tournament: Tournament, lots: Mapping[int, int], here: Sequence[int], allowed: Collection[int]) -> Round:
    """Return the next round by the standing; equals, as all are before the first, in the order of their lots."""
    held = results.pairings(tournament)
    ranks = {line.player: line.rank for line in results.standing(lots, held)}
    order = sorted(here, key=lambda player: (ranks[player], lots[player]))
    return pairing.swiss(order, tournament.seats, allowed, results.history(held))


def _play(tournament: Tournament, drawn: Round, entries: Sequence[Entry], now: datetime) -> None:
    """Make the matches of the round that has begun."""
    people, number = {entry.user_id: entry for entry in entries}, tournament.round
    for place, group in enumerate(drawn.groups):
        seats = [(people[each].user, people[each].contribution) for each in group]
        secret = chance.match_secret(bytes(tournament.secret), number, place)
        match = lobby.begin(tournament.host, _terms(tournament), seats, secret, now)
        Pairing.insert(tournament=tournament, round=number, place=place, match=match).execute()
    for place, player in enumerate(drawn.resting, len(drawn.groups)):
        Pairing.insert(tournament=tournament, round=number, place=place, user=player).execute()


def _without_the_lonely(drawn: Round, allowed: Collection[int]) -> Round:
    """Return a round in which those have it off whose group has become too small for the game."""
    groups = tuple(group for group in drawn.groups if len(group) in allowed)
    lonely = [player for group in drawn.groups if len(group) not in allowed for player in group]
    return Round(groups, (*drawn.resting, *lonely))


def _terms(tournament: Tournament) -> lobby.Terms:
    return lobby.Terms(
        tournament.game, tournament.seats, tournament.clock, tournament.options or {}, "join", rated=tournament.rated
    )

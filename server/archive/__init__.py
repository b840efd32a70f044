"""Finished matches: finding them, and the record that anybody may take away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final

from engine import record
from server import accounts, log, story
from server.errors import Refused
from server.models import EPOCH, MILLISECOND, Match, Seat, User

PAGE: Final = 25


@dataclass(frozen=True, slots=True)
class Page:
    """One page of finished matches, newest end first; `more` is the mark of the next page, empty on the last."""

    matches: tuple[Match, ...]
    more: str


@dataclass(frozen=True, slots=True)
class Fairness:
    """What the deal was drawn from: the server's secret bytes in hex and, by seat, what each person added."""

    seed: str
    contributions: tuple[str, ...]


def find(
    *, game: str = "", player: str = "", since: date | None = None, until: date | None = None, after: str = ""
) -> Page:
    """Return finished matches by game, by the name of somebody who sat there, and by the date of the end (UTC).

    `after` is the `more` of the page before: pages never shift when matches end meanwhile. Raises `Refused`.
    """
    query = Match.select().where(Match.status == "finished")
    if game:
        query = query.where(Match.game == game)
    if player:
        who = User.select(User.id).where(User.name_key == accounts.name_key(player))
        query = query.where(Match.id.in_(Seat.select(Seat.match).where(Seat.owner.in_(who))))
    if since:
        query = query.where(Match.finished_at >= datetime.combine(since, time.min, UTC))
    if until:
        query = query.where(Match.finished_at <= datetime.combine(until, time.max, UTC))
    if after:
        end, number = _mark(after)
        query = query.where((Match.finished_at < end) | ((Match.finished_at == end) & (Match.id < number)))
    found = list(query.order_by(Match.finished_at.desc(), Match.id.desc()).limit(PAGE + 1))
    last = found[PAGE - 1] if len(found) > PAGE else None
    more = f"{(last.finished_at - EPOCH) // MILLISECOND}-{last.id}" if last else ""
    return Page(tuple(found[:PAGE]), more)


def export(match: Match) -> dict[str, Any]:
    """Return the record of a finished match. Raises `Refused` (not-found) before the end: it would show secrets."""
    if match.status != "finished":
        raise Refused("not-found", "The record of a match can be had when it has ended.")
    return whole_record(match)


def whole_record(match: Match) -> dict[str, Any]:
    """Return the record of a match, secrets included, for its own server's use."""
    played, seats = log.read(match), log.places(match)
    drawn_from = fairness(match, seats)
    return record.build(
        game=match.game,
        rules=played.head["rules"],
        options=played.head["options"],
        players=[seat.owner.name for seat in seats],
        setup=played.setup,
        rows=played.rows,
        outcome=played.outcome,
        match=match.id,
        people=played.head.get("people", ()),
        clock=played.head.get("clock"),
        started_at=played.setup_row.at,
        seed=drawn_from.seed,
        contributions=drawn_from.contributions,
    )


def fairness(match: Match, seats: Sequence[Seat]) -> Fairness:
    """Return what anybody needs to deal the match again; to be shown after the end only."""
    return Fairness(bytes(match.secret).hex(), tuple(seat.contribution for seat in seats))


def result(seats: Sequence[Seat]) -> str:
    """Return the result of a finished match in one line: Ailsa 50, Bran 39."""
    called = story.names(seats)
    order = sorted(zip(called, seats, strict=True), key=lambda place: (not place[1].won, -(place[1].score or 0)))
    return ", ".join(f"{name} {seat.score}" for name, seat in order)


# Milliseconds and a number, neither larger than the database's.
_MARK: Final = re.compile("([0-9]{1,14})-([0-9]{1,9})")


def _mark(text: str) -> tuple[datetime, int]:
    mark = _MARK.fullmatch(text)
    if not mark:
        raise Refused("bad-input", "This page of the archive does not exist.")
    return EPOCH + int(mark[1]) * MILLISECOND, int(mark[2])

"""Finished matches as the bots judge them: found, shared out among schedulers, worked off step by step, kept.

What is known of a match is stored after each step: so a tick may be short, and whoever is stopped has lost only one.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from random import Random
from typing import Any, Final

from engine import games
from engine.bots.analysis import PLAYOUTS, VERSION, judge, steps
from server import db, log
from server.errors import Refused
from server.log import Played
from server.models import Analysis, Match
from server.thinking import Thinker

logger = logging.getLogger(__name__)

# So many steps are judged in one tick, each in a second or two.
STEPS: Final = 8
# A scheduler that dies in the middle holds a match for so long; so does one that has failed.
LEASE: Final = timedelta(minutes=5)
# A match that comes to nothing so often in a row is given up.
TRIES: Final = 3
UNIT: Final = 1000


@dataclass(frozen=True, slots=True)
class Judgement:
    """The chances over a match: after each of the rows `steps`, by its number, the share of each seat from 0 to 1."""

    steps: tuple[int, ...]
    chances: tuple[tuple[float, ...], ...]
    playouts: int

    def after(self, seq: int) -> tuple[float, ...]:
        """Return the chances after row `seq`, 0 being the setup."""
        return self.chances[bisect_right(self.steps, seq) - 1]


def find(match: Match) -> Judgement | None:
    """Return how a finished match is judged, None if it is not, or not yet."""
    found = Analysis.get_or_none(Analysis.match == match) if match.status == "finished" else None
    if found is None or not found.chances:
        return None
    rows: list[list[int]] = found.chances
    chances = tuple(tuple(share / UNIT for share in shares) for _, *shares in rows)
    return Judgement(tuple(row[0] for row in rows), chances, found.playouts)


def awaited(match: Match) -> bool:
    """Whether the bots have still to judge the match."""
    return match.status == "finished" and match.judged != VERSION and match.game in _kinds() and _is_worth_it(match)


def run(thinkers: Thinker, now: Callable[[], datetime], limit: int = STEPS) -> int:
    """Judge up to `limit` steps of the matches that are due; return how many were judged.

    A match that cannot be judged is left alone for a while, and given up in the end.
    """
    done = 0
    for match in due(now(), limit):
        if not _is_worth_it(match):
            _pass_over(match)
        elif done < limit and (held := claim(match, now())):
            done += _try(thinkers, match, held, now, limit - done)
    return done


def due(now: datetime, limit: int) -> list[Match]:
    """Return finished matches that nobody is at: those never judged first, those played here first,
    game by game, the newest of each first."""
    held = Analysis.select(Analysis.match).where(Analysis.leased_until > now)
    over = Match.over() & Match.id.not_in(held)
    found: list[Match] = []
    for version, here, kind in product(range(VERSION), (True, False), _kinds()):
        # Game by game, each along the index: no look at a match that nobody can judge.
        mine = over & (Match.judged == version) & (Match.game == kind) & Match.imported_at.is_null(here)
        newest = Match.select().where(mine).order_by(Match.imported_at.desc(), Match.finished_at.desc()).limit(limit)
        found.extend(newest)
    return found[:limit]


def claim(match: Match, now: datetime) -> Analysis | None:
    """Take the match for one lease; return None if another scheduler was quicker."""
    free = Analysis.leased_until.is_null() | (Analysis.leased_until <= now)
    with db.transaction():
        Analysis.insert(match=match).on_conflict_ignore().execute()
        mine = (
            Analysis.update(leased_until=now + LEASE, tries=Analysis.tries + 1)
            .where((Analysis.match == match) & (Analysis.version != VERSION) & free)
            .execute()
        )
        found: Analysis = Analysis.get_by_id(match.id)
    return found if mine == 1 else None


def _kinds() -> list[str]:
    """Return the games of which bots know enough to judge them."""
    return [kind for kind, game in games.games().items() if game.mind]


def _is_worth_it(match: Match) -> bool:
    """Whether anybody has won, and somebody is there who may look at it."""
    # The host of a match that no list shows is its visitor.
    left = (match.unlisted and match.host.deleted_at) or all(seat.user.bot for seat in log.places(match))
    return match.reason != "cancelled" and not left


def _pass_over(match: Match) -> None:
    with db.transaction():
        Match.update(judged=VERSION).where(Match.id == match.id).execute()


def _try(thinkers: Thinker, match: Match, held: Analysis, now: Callable[[], datetime], limit: int) -> int:
    """Go on with a match; return how many steps were judged. What fails is noted, and the lease is left to run out."""
    if held.tries > TRIES:
        logger.warning("match %s is not judged: %s", match.id, held.fault)
        _close(held, fault=held.fault or "Whoever began it came to no end.")
        return 0
    try:
        return _go_on(thinkers, match, held, now, limit)
    except CancelledError:
        _store(held, leased_until=None, tries=0)
    except Refused as fault:
        logger.warning("match %s is not judged: %s", match.id, fault.sentence)
        _close(held, fault=fault.sentence[:200])
    except Exception as fault:
        logger.exception("match %s is not judged", match.id)
        _store(held, fault=f"{type(fault).__name__}: {fault}"[:200])
    return 0


def _go_on(thinkers: Thinker, match: Match, held: Analysis, now: Callable[[], datetime], limit: int) -> int:
    played = log.read(match)
    wanted, known = steps(played.positions), _known(held)
    asked = wanted[len(known) :][:limit]
    for seq in asked:
        known.append([seq, *_judged(thinkers, played, seq)])
        until = now() + LEASE
        if not _store(held, draft={"version": VERSION, "chances": known}, tries=0, leased_until=until):
            return asked.index(seq)
        held.leased_until = until
    if len(known) < len(wanted):
        _store(held, leased_until=None)
    else:
        _close(held, chances=known, playouts=PLAYOUTS, made_at=now())
    return len(asked)


def _known(held: Analysis) -> list[list[int]]:
    """Return what is known already, if it comes from this judge."""
    draft: dict[str, Any] = held.draft or {}
    return list(draft["chances"]) if draft.get("version") == VERSION else []


def _judged(thinkers: Thinker, played: Played, seq: int) -> list[int]:
    """Return the chances after a row, in thousandths."""
    # The same match is judged the same way wherever it is done.
    chance = Random(f"{played.match.id} {seq}").random  # noqa: S311
    head = played.head
    given = head["game"], head["setup"], head["seats"], head["options"], played.rows[:seq], PLAYOUTS, chance
    return [round(share * UNIT) for share in thinkers.submit(judge, *given).result()]


def _store(held: Analysis, **fields: Any) -> bool:
    """Write to the row of a match as long as the lease is ours; return whether it was."""
    ours = (Analysis.match == held.match_id) & (Analysis.leased_until == held.leased_until)
    with db.transaction():
        return bool(Analysis.update(**fields).where(ours).execute() == 1)


def _close(held: Analysis, **fields: Any) -> None:
    """Be done with a match, for good or ill, until a better judge comes."""
    with db.transaction():
        if _store(held, version=VERSION, draft=None, tries=0, leased_until=None, **{"fault": "", **fields}):
            Match.update(judged=VERSION).where(Match.id == held.match_id).execute()

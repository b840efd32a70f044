"""Bots at the table: they are handed a sight of views, think while nothing is held, and move through the same door."""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from queue import SimpleQueue
from typing import Any, Final

from engine.bots import Sight, mind
from server import deadlines, log, play, thinking
from server.errors import Refused
from server.models import Match, Seat, User
from server.models.statements import Statement
from server.thinking import Thinker

logger = logging.getLogger(__name__)

# Bots that think for long, and how many seconds one round of work may take for them.
SLOW: Final = frozenset({"strong"})
SPAN: Final = 10
# Where nobody watches a few matches go on in a round that has nothing else to do.
LEFTOVERS: Final = 10
# Where bots answer bots several rounds follow each other, unless they take long.
ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class Look:
    """What a bot thinks about, and the row at which it was asked; nothing is held meanwhile."""

    match: int
    seat: int
    user: User
    strength: str
    kind: str
    sight: Sight
    expected: int


def run(thinkers: Thinker, now: Callable[[], datetime], seconds: float = 2, limit: int = 100) -> int:
    """Have the bots that are awaited move, each thinking at most so many seconds; return how many moves were made.

    In each of up to `ROUNDS` rounds `limit` matches are looked at, and as many slow bots as can think in `SPAN`.
    """
    began, made = now(), 0
    for _ in range(ROUNDS):
        moved = _round(thinkers, now, seconds, limit)
        made += moved
        if not moved or now() - began > timedelta(seconds=SPAN / 2):
            break
    return made


def _round(thinkers: Thinker, now: Callable[[], datetime], seconds: float, limit: int) -> int:
    room = thinkers.count * max(1, int(SPAN / seconds))
    found = _due(now(), limit, room)
    free = Match.select().where(Match.id.in_([match.id for match in found]) & deadlines.free(now()))
    taken = set(deadlines.claim(free, now())) if found else set()
    looks = [look for match in found if match in taken for look in _looks(match)]
    made, again = _think(thinkers, looks, now, seconds)
    # The process may have died of one of them: thought about one by one, the others have nothing to do with it.
    return made + sum(_think(thinkers, [look], now, seconds)[0] for look in again)


def _due(now: datetime, limit: int, room: int) -> list[Match]:
    """Return matches in which a bot is awaited and that nobody holds; those whose bots move at once are first.

    Any may be among them, so that nobody who has many matches keeps another waiting for ever; of the slow ones each
    host has one before another has two. Matches that all people have left wait until there is nothing else to do.
    """
    if not _WAITING.tuples(now=now):
        return []
    waiting = _is_waiting(now)
    slow_ones, watched = _seating(User.bot.in_(list(SLOW))), _seating(User.bot == "")
    quick = _some(waiting & ~slow_ones & watched, limit)
    slow: list[Match] = []
    either = _some(waiting & slow_ones & watched, limit)
    places = log.places_of(either)
    for match in either:
        (slow if _is_slow(match, places[match.id]) else quick).append(match)
    found = quick + _by_turns(slow)[:room]
    return found or _some(waiting, LEFTOVERS)


def _is_waiting(now: Any) -> Any:
    return Match.bot_acts & (Match.status == "running") & deadlines.free(now)


_WAITING: Final = Statement[Match](lambda now: Match.select(Match.id).where(_is_waiting(now)).limit(1))


def _seating(whom: Any) -> Any:
    """Return the condition that such a user sits in a match."""
    # Asked match by match: the search ends when enough are found.
    return Match.id.in_(Seat.select(Seat.match).join(User, on=Seat.user).where((Seat.match == Match.id) & whom))


def _some(wanted: Any, limit: int) -> list[Match]:
    """Return up to so many matches by number, from any place on, around the end."""
    query = Match.select().where(wanted).order_by(Match.id)
    last = (
        Match.select(Match.id)
        .where(Match.bot_acts & (Match.status == "running"))
        .order_by(Match.id.desc())
        .limit(1)
        .scalar()
        or 0
    )
    start = secrets.randbelow(last + 1)
    found = list(query.where(Match.id > start).limit(limit))
    return found + list(query.where(Match.id <= start).limit(limit - len(found))) if len(found) < limit else found


def _by_turns(matches: Sequence[Match]) -> list[Match]:
    """Return the matches so that each host has one before another has two."""
    seen: Counter[int] = Counter()
    ranked = []
    for match in matches:
        ranked.append((seen[match.host_id], match))
        seen[match.host_id] += 1
    return [match for _, match in sorted(ranked, key=lambda entry: entry[0])]


def _is_slow(match: Match, seats: Sequence[Seat]) -> bool:
    """Whether one of the bots awaited thinks for long; another may sit beside it that does not."""
    return any(_strength(seats, seat) in SLOW for seat in seats if seat.user.bot and seat.number in match.awaited)


def _strength(seats: Sequence[Seat], seat: Seat) -> str:
    """Return how strong the bot in a seat is to play: steadily where no person is left to play against."""
    strength: str = seat.user.bot
    return strength if strength not in SLOW or any(not each.user.bot for each in seats) else "steady"


def _looks(match: Match) -> list[Look]:
    """Return what the bots of a match see, which has been claimed for the time of thinking."""
    # A damaged match stays leased for a while, so that it does not keep the others from their turn.
    try:
        played, seats = log.read(log.get(match.id)), log.places(match)
        return [
            Look(
                match=match.id,
                seat=number,
                user=seat.user,
                strength=_strength(seats, seat),
                kind=played.game.kind,
                sight=mind.sight(played.game, played.position, played.rows, number),
                expected=played.position.asked[number] or 0,
            )
            for number, seat in enumerate(seats)
            if seat.user.bot and number in played.position.to_act
        ]
    except Refused as fault:
        logger.info("no bot move in match %s: %s", match.id, fault.code)
    except Exception:
        logger.exception("no bot move in match %s", match.id)
    return []


def _think(
    thinkers: Thinker, looks: Sequence[Look], now: Callable[[], datetime], seconds: float
) -> tuple[int, list[Look]]:
    """Make the moves as they are thought out; return how many, and the looks whose process died before it had one."""
    pending: dict[Future[str], Look] = {}
    # Not `wait`: of a thought that is cancelled it would never hear.
    done: SimpleQueue[Future[str]] = SimpleQueue()
    for look in looks:
        thought = thinkers.submit(thinking.choose, look.strength, look.kind, look.sight, seconds)
        pending[thought] = look
        thought.add_done_callback(done.put)
    made, again = 0, list[Look]()
    while pending:
        thought = done.get()
        look = pending.pop(thought)
        if thought.cancelled():
            deadlines.release(look.match)
        elif isinstance(thought.exception(), BrokenExecutor):
            again.append(look)
        else:
            made += _move(look, thought, now())
    return made, again


def _move(look: Look, thought: Future[str], now: datetime) -> bool:
    """Make the move that was thought out, unless the match has moved on; return whether it was made."""
    try:
        play.submit(look.match, look.seat, thought.result(), look.expected, look.user, "bot", now=now)
    except Refused as fault:
        # The match has moved on meanwhile, or is damaged; the clock is there for the rest.
        logger.info("no bot move in match %s: %s", look.match, fault.code)
        return False
    except Exception:
        logger.exception("no bot move in match %s", look.match)
        return False
    return True

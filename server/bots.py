"""Bots at the table: they see a View, and move through the same door as people."""

from __future__ import annotations

import logging
import secrets
from datetime import datetime

from engine import bots
from engine.bots import mind
from server import deadlines, log, play
from server.errors import Refused
from server.models import Match

logger = logging.getLogger(__name__)


def run(now: datetime, limit: int = 50) -> int:
    """Make one move for each match in which a bot is awaited; return how many were made."""
    free = Match.leased_until.is_null() | (Match.leased_until <= now)
    waiting = Match.select().where((Match.bot_acts == True) & (Match.status == "running") & free)  # noqa: E712
    made = 0
    for match in list(waiting.order_by(Match.deadline).limit(limit)):
        try:
            # A damaged match stays leased for a while, so that it does not keep the others from their turn.
            made += move(match, now) if deadlines.claim(match, now) else 0
        except Refused as fault:
            # Another scheduler was quicker, or the match is damaged; the clock is there for the rest.
            logger.info("no bot move in match %s: %s", match.id, fault.sentence)
        except Exception:
            logger.exception("no bot move in match %s", match.id)
    return made


def move(match: Match, now: datetime) -> int:
    """Make the moves of the bots awaited in one match; return how many."""
    played = log.read(match)
    made = 0
    for seat in log.places(match):
        if seat.user.bot and seat.number in played.position.to_act:
            seen = mind.sight(played.game, played.position, played.rows, seat.number)
            text = bots.choose(seat.user.bot, played.game, seen, secrets.SystemRandom().random)
            play.submit(match.id, seat.number, text, played.position.asked[seat.number] or 0, seat.user, "bot", now=now)
            made += 1
    return made

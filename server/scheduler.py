"""Regular work: APScheduler only ticks, what is due is found and claimed in our own tables."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from apscheduler.schedulers.background import BackgroundScheduler

from server import (
    accounts,
    analysis,
    backup,
    bots,
    briefs,
    clock,
    db,
    deadlines,
    digests,
    hooks,
    inbound,
    journal,
    letters,
    links,
    outages,
    outbox,
    play,
    ratings,
    rematch,
    sessions,
    thinking,
    throttle,
    tidings,
    tokens,
    tournaments,
    visitors,
)
from server.inbound import work
from server.models import Job
from server.settings import Settings

logger = logging.getLogger(__name__)

# Jobs that are done every hour; all others are done in every tick.
HOURLY: Final = frozenset({"sweep", "backup"})
# How far the processes that think stand back behind all else: those for a move, and those for what can wait.
NICE: Final = 5
NICEST: Final = 19


class Scheduler:
    """The regular jobs of one process. Any number of processes may run one; claims keep them apart."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.channel = outbox.open_channel(settings)
        self.caller = outbox.open_caller(settings)
        self.ways = outbox.open_ways(settings)
        self.write = letters.writer(settings)
        self.thinkers: thinking.Thinker = thinking.Thinkers(settings.bots_thinking, NICE)
        self.idlers: thinking.Thinker = thinking.Thinkers(1, NICEST)
        self.ticker = BackgroundScheduler(timezone="UTC")
        self._door = threading.Lock()
        self._waits = False
        self.jobs: dict[str, Callable[[], Any]] = {
            "deadlines": self._deadlines,
            "digests": lambda: digests.run(clock.now()),
            "reminders": lambda: deadlines.remind(clock.now()),
            "bots": lambda: bots.run(self.thinkers, clock.now, settings.bots_seconds),
            "tournaments": lambda: tournaments.run(clock.now()),
            "outbox": self._deliver,
            "calls": lambda: hooks.run(settings, clock.now, self.caller),
            "ways": lambda: tidings.run(self.ways, briefs.writer(settings), clock.now),
            "ratings": lambda: ratings.count_up(clock.now()),
            "analyses": lambda: analysis.run(self.idlers, clock.now),
            "sweep": lambda: sweep(clock.now()),
            "backup": lambda: backup.keep(settings, clock.now()),
        }

    def start(self) -> None:
        """Begin ticking in a background thread, each job by itself."""
        logging.getLogger("apscheduler.scheduler").addFilter(is_news)
        for name in self.jobs:
            self.ticker.add_job(
                self.run,
                "interval",
                args=[name],
                seconds=3600 if name in HOURLY else self.settings.tick_seconds,
                coalesce=True,
                max_instances=1,
                misfire_grace_time=None,
            )
        self.ticker.start()

    def stop(self) -> None:
        """End the ticking after the work in hand; who still waits to think does so after the next start."""
        self.thinkers.stop()
        self.idlers.stop()
        self.ticker.shutdown(wait=True)
        if self.channel:
            self.channel.close()

    def _deadlines(self) -> None:
        # What has come in counts from when it came: so it is worked on before anybody is out of time.
        work.run(self.settings, clock.now)
        outages.beat(clock.now())
        outages.give_back(clock.now())
        deadlines.run(clock.now)

    def _deliver(self) -> None:
        # Without a way out mail waits in the queue; the mail page says so.
        if self.channel:
            outbox.deliver_due(self.channel, self.write, clock.now)

    def run(self, name: str) -> None:
        """Do one job once and note how it went; a fault is logged and never ends the ticking."""
        try:
            with db.connected():
                if self._may_write():
                    self._noted(name)
        except db.Unavailable as fault:
            # In a line: every job says so in every tick, for as long as it lasts.
            logger.error("job %s waits for the database: %s", name, str(fault.__context__ or fault).partition("\n")[0])
        except Exception:
            logger.exception("job %s failed", name)

    def _may_write(self) -> bool:
        """Whether the database takes writes; what has changed in that is logged once, not by every job."""
        waits = db.is_read_only()
        with self._door:
            changed, self._waits = waits != self._waits, waits
        if changed and waits:
            logger.warning("the database takes no writes: all regular work waits")
        elif changed:
            logger.warning("the database takes writes again: regular work goes on")
        return not waits

    def _noted(self, name: str) -> None:
        began = clock.now()
        try:
            self.jobs[name]()
        except Exception as fault:
            note(name, began, None, journal.kind(fault))
            raise
        note(name, began, clock.now())


def is_news(line: logging.LogRecord) -> bool:
    """Whether a line of the ticker tells more than that a job goes on for longer than a tick.

    That is no fault, because somebody thinks: the next tick goes on with it.
    """
    return "maximum number of running instances" not in line.getMessage()


def note(name: str, began: datetime, succeeded: datetime | None, fault: str = "") -> None:
    """Store when a job began and that it succeeded, or failed then and of what; the last of each is remembered."""
    with db.passing(db.BUSY_SECONDS):
        Job.insert(name=name, began_at=began).on_conflict_ignore().execute()
        ended = {"failed_at": began, "fault": fault[:200]} if succeeded is None else {"succeeded_at": succeeded}
        Job.update(began_at=began, **ended).where(Job.name == name).execute()


def sweep(now: datetime) -> None:
    """Forget what has expired."""
    links.sweep(now)
    throttle.sweep(now)
    accounts.sweep(now)
    sessions.sweep(now)
    tokens.sweep(now)
    outbox.sweep(now)
    play.sweep(now)
    inbound.sweep(now)
    rematch.sweep(now)
    visitors.sweep(now)

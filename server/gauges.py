"""What the database knows of how the house does: asked when somebody looks, along indexes, each count bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from prometheus_client.core import GaugeMetricFamily

from engine.bots.analysis import VERSION
from server import inbound, outbox
from server.models import Inbound, Job, Match, Outbox
from server.outages import BEAT

# Nothing is counted any further: the number says that there are so many at least.
MOST: Final = 10_000
DAY: Final = timedelta(days=1)
# A job that has not succeeded for this many ticks, or for so long if it is rare, is late.
LATE_TICKS: Final = 20
RARE: Final = {"sweep": timedelta(hours=3), "backup": timedelta(days=2)}
# Moves that nobody made in time are made by a scheduler within a tick or two.
OVERDUE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Work:
    """A regular job: when it last began, succeeded and failed, of which kind its last fault was, and whether it is late
    or its last run failed."""

    name: str
    began_at: datetime
    succeeded_at: datetime | None
    failed_at: datetime | None
    fault: str
    late: bool
    failing: bool


def works(now: datetime, tick: int) -> list[Work]:
    """Return the regular jobs by name; `tick` are the seconds between two runs."""
    return [_work(job, now, timedelta(seconds=tick * LATE_TICKS)) for job in Job.select().order_by(Job.name)]


def _work(job: Job, now: datetime, usual: timedelta) -> Work:
    late = job.succeeded_at is None or now - job.succeeded_at > RARE.get(job.name, usual)
    failing = job.failed_at is not None and (job.succeeded_at is None or job.succeeded_at < job.failed_at)
    return Work(job.name, job.began_at, job.succeeded_at, job.failed_at, job.fault, late, failing)


def lag(now: datetime) -> timedelta:
    """Return by how much the most overdue deadline of a running match is over."""
    first = Match.select(Match.deadline).where(_late(now)).order_by(Match.deadline).first()
    return now - first.deadline if first else timedelta(0)


def overdue(now: datetime) -> int:
    """Return how many deadlines are over for longer than a scheduler at work would let them be."""
    return count(Match.select(Match.id).where(_late(now - OVERDUE)))


def _late(before: datetime) -> Any:
    return (Match.status == "running") & (Match.deadline <= before) & Match.frozen_at.is_null()


def count(query: Any) -> int:
    """Return how many rows a query has, as far as `MOST`."""
    return int(query.limit(MOST).count())


def mails(now: datetime) -> dict[str, int]:
    """Return how many mails and calls are in each state: those that wait, and those done with in the last day."""
    open_ones = Outbox.done_at.is_null()
    states = {state: open_ones & (Outbox.state == state) for state in ("queued", "taken", "handed", "held")}
    lately = Outbox.done_at > now - DAY
    states |= {state: lately & (Outbox.state == state) for state in ("sent", "dropped", "failed")}
    return {state: count(Outbox.select(Outbox.id).where(which)) for state, which in states.items()}


def queues() -> dict[str, int]:
    """Return how much waits for bots, for the reading of mails, and for the judging of matches."""
    judged = Match.select(Match.id).where(Match.over() & (Match.judged < VERSION))
    acting = Match.bot_acts & (Match.status == "running") & Match.frozen_at.is_null()
    return {
        "bots": count(Match.select(Match.id).where(acting)),
        "inbound": count(Inbound.select(Inbound.id).where(Inbound.done_at.is_null())),
        "analyses": count(judged),
    }


class Collector:
    """The gauges of one look, for `prometheus_client`; `streams` are the open ones of this process."""

    def __init__(self, now: datetime, streams: int) -> None:
        self._now = now
        self._streams = streams

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield every gauge."""
        now = self._now
        yield _gauge("clachan_open_streams", "Open pages that are told of changes.", self._streams)
        yield _gauges("clachan_mails", "Mails: those that wait, and those done with in a day.", "state", mails(now))
        age = outbox.oldest_due(now).total_seconds()
        yield _gauge("clachan_outbox_age_seconds", "How long the oldest due mail has waited.", age)
        age = inbound.oldest(now).total_seconds()
        yield _gauge("clachan_inbound_age_seconds", "How long the oldest unread mail has waited.", age)
        yield _gauges("clachan_queue", "What waits for bots, for reading and for judging.", "queue", queues())
        over = lag(now).total_seconds()
        yield _gauge("clachan_deadline_lag_seconds", "By how much the most overdue deadline is over.", over)
        running = Match.select(Match.id)
        matches = {status: count(running.where(Match.status == status)) for status in ("open", "running")}
        yield _gauges("clachan_matches", "Open tables and running matches.", "status", matches)
        frozen = (Match.status == "running") & Match.frozen_at.is_null(False)
        yield _gauge("clachan_frozen_matches", "Matches that a keeper holds.", count(running.where(frozen)))
        yield from _jobs(now)


def _jobs(now: datetime) -> Iterator[GaugeMetricFamily]:
    jobs = [job for job in works(now, 1) if job.name != BEAT]
    ages = {job.name: (now - job.succeeded_at).total_seconds() for job in jobs if job.succeeded_at}
    yield _gauges("clachan_job_age_seconds", "How long ago each job last succeeded.", "job", ages)
    failing = {job.name: int(job.failing) for job in jobs}
    yield _gauges("clachan_job_failing", "Whether the last run of each job failed.", "job", failing)


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, about, value=value)


def _gauges(name: str, about: str, label: str, values: dict[str, Any]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, about, labels=(label,))
    for key, value in values.items():
        family.add_metric([key], value)
    return family

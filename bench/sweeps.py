"""Prints what a tick of a scheduler costs: with nothing due among very many running matches, and with many due at once.

Run from the root of the project: `python -m bench.sweeps URL`, with the address of an empty database. The first figures
are medians of 21; of the matches due at once as many are worked off by one scheduler as by two.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

import peewee

from bench import plenty
from server import bots, clock, db, deadlines, lasting
from server.models import LogRow, Match
from server.models.fields import MILLISECOND

ROUNDS: Final = 21
SIZES: Final = (100_000, 1_000_000)
DUE: Final = 3000
AFTER: Final = timedelta(days=1000)


class Idle:
    """A thinker that is never asked."""

    count = 1

    def submit(self, function: Callable[..., Any], *_given: Any) -> Any:
        """Refuse."""
        raise AssertionError(f"nothing is due, but {function.__name__} was asked")

    def stop(self) -> None:
        """Nothing to let go of."""


def crowd(size: int, now: datetime) -> None:
    """Have so many running matches in all, copies of one without logs; nothing is due in any of them before a day."""
    due = {"deadline": now + timedelta(days=2), "reminder_at": now + timedelta(days=1)}
    ended = {"status": "running", "finished_at": None, "bot_acts": False, "leased_until": None, "frozen_at": None}
    with db.transaction():
        Match.update(**due, **ended).execute()
        _copies(Match.select().count() + 1, size)
    db.count_on("match", "id")
    if not db.on_sqlite():
        db.database.execute_sql("VACUUM ANALYZE match")


def _copies(first: int, last: int) -> None:
    varied = {"deadline", "reminder_at"}
    names = [field.column_name for field in Match._meta.sorted_fields if field.name not in {"id", *varied}]
    given = ", ".join(("id", *sorted(varied), *names))
    moments = ", ".join(f"m.{name} + n * 7919 - n * 7919 / 86400000 * 86400000" for name in sorted(varied))
    taken = f"SELECT n, {moments}, {', '.join(f'm.{name}' for name in names)}"
    whence = "FROM numbers, (SELECT * FROM match ORDER BY id LIMIT 1) AS m"
    if db.on_sqlite():
        step = f"SELECT n + 1 FROM numbers WHERE n < {last}"  # noqa: S608
        numbers = f"numbers (n) AS (SELECT {first} UNION ALL {step})"
    else:
        numbers = f"numbers AS (SELECT generate_series({first}::bigint, {last}) AS n)"
    db.database.execute_sql(f"INSERT INTO match ({given}) WITH RECURSIVE {numbers} {taken} {whence}")


def idle(now: datetime) -> dict[str, float]:
    """Return the milliseconds of each kind of tick in which nothing is due, the median of `ROUNDS`."""
    ticks: dict[str, Callable[[], int]] = {
        "deadlines": lambda: deadlines.run(lambda: now),
        "reminders": lambda: deadlines.remind(now),
        "bots": lambda: bots.run(Idle(), lambda: now),
    }
    found = {}
    for name, tick in ticks.items():
        spans = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            if tick():
                raise AssertionError(f"something was due: {name}")
            spans.append(time.perf_counter() - began)
        found[name] = statistics.median(spans) * 1000
    return found


def burst(url: str, schedulers: int, due: int, now: datetime) -> tuple[float, float]:
    """Time out what is due with so many schedulers; return how many matches a second they did, and in how much CPU
    time, in milliseconds, each."""
    db.use(url)
    with db.connected():
        before = LogRow.select().where(LogRow.kind == "timeout").count()
    db.part()
    context = multiprocessing.get_context("fork")
    told: Any = context.SimpleQueue()
    gate = context.Event()
    children = [context.Process(target=_worker, args=(url, due, now, gate, told)) for _ in range(schedulers)]
    for child in children:
        child.start()
    time.sleep(1)
    gate.set()
    began = time.perf_counter()
    spent = [told.get() for _ in children]
    took = time.perf_counter() - began
    for child in children:
        child.join()
    db.use(url)
    with db.connected():
        done = LogRow.select().where(LogRow.kind == "timeout").count() - before
    db.part()
    return done / took, sum(spent) / max(1, done) * 1000


def _worker(url: str, due: int, now: datetime, gate: Any, told: Any) -> None:
    db.use(url)
    with db.connected():
        lasting.settle()
        gate.wait()
        began = time.process_time()
        deadlines.run(lambda: now, limit=due)
        told.put(time.process_time() - began)


def _shift(span: timedelta, which: Any) -> None:
    """Move the deadlines of some matches by a span, in the column that schedulers look at."""
    Match.update(deadline=peewee.SQL(f"deadline + {span // MILLISECOND}")).where(which).execute()


def main() -> None:
    """Fill, and measure."""
    parser = argparse.ArgumentParser(prog="python -m bench.sweeps", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--due", type=int, default=DUE)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    given = parser.parse_args()
    now = clock.now()
    later = now + timedelta(days=20)
    plenty.fill(given.url, 100, 2 * given.due, 1000, now)
    db.use(given.url)
    # One half of the matches is for one scheduler; the other, which is for two, is not due before.
    with db.connected(), db.transaction():
        half = Match.select(Match.id).where(Match.status == "running").order_by(Match.id).limit(given.due)
        _shift(AFTER, Match.id.in_(half))
    for schedulers in (1, 2):
        speed, cost = burst(given.url, schedulers, given.due, later)
        print(f"{schedulers} scheduler(s): {speed:.0f} matches/s timed out, {cost:.2f} ms of CPU each.", flush=True)
        db.use(given.url)
        with db.connected(), db.transaction():
            _shift(-AFTER, Match.deadline > later + AFTER / 2)
    for size in given.sizes:
        with db.connected():
            crowd(size, later)
            spans = idle(later)
        print(f"{size:,} running: " + ", ".join(f"{name} {span:.2f} ms" for name, span in spans.items()), flush=True)


if __name__ == "__main__":
    main()

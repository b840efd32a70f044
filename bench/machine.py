"""What this machine does just now: one-row commits and turns of a fixed loop a second, to compare with."""

from __future__ import annotations

import os
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import psycopg

TURNS = 200_000
ROW = "INSERT INTO one (text) VALUES ('a row of some forty characters or so')"
TICKS = os.sysconf("SC_CLK_TCK")


def sqlite_commits(folder: Path, seconds: float) -> float:
    """Return how many one-row commits a second SQLite makes in the folder, each written through to the disk."""
    path = folder / "commits.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("PRAGMA synchronous = full")
        connection.execute("CREATE TABLE IF NOT EXISTS one (id INTEGER PRIMARY KEY, text TEXT)")
        return _rate(lambda: connection.execute(ROW), seconds)


def postgresql_commits(url: str, seconds: float) -> float:
    """Return how many one-row commits a second a PostgreSQL database makes for one client that waits for each."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS one (id serial PRIMARY KEY, text text)")
        return _rate(lambda: connection.execute(ROW), seconds)


def loops() -> float:
    """Return how many turns of a fixed loop one processor makes a second."""
    began, total = time.perf_counter(), 0
    for n in range(TURNS):
        total += n & 7
    return TURNS / (time.perf_counter() - began)


def spread(rounds: Sequence[float]) -> float:
    """Return how far figures that ought to be one lie apart, in hundredths of their median."""
    return 100 * (max(rounds) - min(rounds)) / (statistics.median(rounds) or 1)


def processor(group: int) -> float:
    """Return how many seconds of processor a group of processes has taken, with those of it that have ended."""
    return sum(sum(map(int, words[11:15])) for words in _group(group)) / TICKS


def memory(group: int) -> float:
    """Return how many megabytes the largest process of a group holds in memory."""
    return max(int(words[21]) for words in _group(group)) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _group(group: int) -> Iterator[list[str]]:
    """Yield what the system says of each process of a group, from its state on; see proc(5)."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(words[2]) == group:
            yield words


def _rate(work: Callable[[], object], seconds: float) -> float:
    began, count = time.perf_counter(), 0
    while (now := time.perf_counter()) - began < seconds:
        work()
        count += 1
    return count / (now - began)

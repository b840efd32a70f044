"""Tells how much memory a process of the web takes after many requests over many matches.

Run from the root of the project: `python -m bench.memory [--quick] [--requests N] [--matches N]`. Eight clients, each
somebody else, look at every page there is of the matches in turn: as they stand, at their steps, at their ends, at
lists of them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Final

from bench import clients, figures, machine, plenty, stage
from bench.clients import Load, Request
from bench.figures import Figure
from bench.stage import Served
from server import create_app, db
from server.models import Match, User

REQUESTS: Final = 20_000
MATCHES: Final = 10_000
CLIENTS: Final = 8
GOAL: Final = 150.0
"""So many megabytes may a process hold, after 100,000 requests over 10,000 matches."""
PART: Final = 2000
LONGEST: Final = 3600.0


def main() -> None:
    """Ask as the command line says."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--quick", action="store_true", help="a few seconds, to see whether it runs")
    words.add_argument("--requests", type=int, default=REQUESTS)
    words.add_argument("--matches", type=int, default=MATCHES)
    given = words.parse_args()
    print(figures.table(measure(given.requests, given.matches, quick=given.quick)))


def measure(requests: int = REQUESTS, matches: int = MATCHES, *, quick: bool = False) -> list[Figure]:
    """Return what a process of the web holds at first, and after half of the requests and all of them."""
    requests, matches = (120, 40) if quick else (requests, matches)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = f"sqlite:///{folder / 'clachan.db'}"
        plenty.fill(url, matches // 2, matches - matches // 2, max(20, matches // 5), processes=plenty.PROCESSES)
        chosen = stage.begin(url, folder)
        with db.connected():
            people = list(User.select().where(User.bot == "").limit(CLIENTS))
            rows: Any = Match.select(Match.id, Match.length).order_by(Match.id).tuples()
            lengths: list[tuple[int, int]] = list(rows)
        app = create_app(chosen)
        cookies = [stage.cookie(app, user) for user in people]
        there = stack.enter_context(stage.serving(chosen, scheduler=False))
        held = [machine.memory(there.group)]
        work = [asked(lengths, there.port, cookie, n) for n, cookie in enumerate(cookies)]
        for _half in range(2):
            rate = ask(there, work, requests // 2)
            held.append(machine.memory(there.group))
    many = f"{requests:,} requests over {matches:,} matches"
    return [
        Figure("memory of a process of the web at first", held[0], "MB"),
        Figure(f"  after half of {many}", held[1], "MB"),
        Figure("  after all of them", held[2], "MB", GOAL, most=True),
        Figure("  pages a second meanwhile", rate, "/s"),
    ]


def asked(lengths: Sequence[tuple[int, int]], port: int, cookie: str, first: int) -> Iterator[Request]:
    """Yield requests without end: the matches in an order of its own for each client, and of each match some pages."""
    place, turn = first * len(lengths) // CLIENTS, first
    while True:
        number, length = lengths[place % len(lengths)]
        paths = (
            f"/matches/{number}",
            f"/matches/{number}/replay/{turn % (length + 1)}",
            f"/matches/{number}",
            "/archive",
        )
        path = paths[turn % len(paths)]
        yield path, clients.get(path, port, cookie)
        place, turn = place + 1, turn + 1


def ask(there: Served, work: Sequence[Iterator[Request]], count: int) -> float:
    """Ask for so many pages, some at a time, for the answers are kept until they are checked; return the last rate."""
    rate = 0.0
    for done in range(0, count, PART):
        each = max(1, min(PART, count - done) // CLIENTS)
        rate = checked(clients.run(there, [islice(one, each) for one in work], LONGEST)).rate
    return rate


def checked(load: Load) -> Load:
    """Return the load if each answer is a page. Raises `SystemExit` otherwise."""
    for path, answer in load.answers:
        if not answer.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(f"{path}: {answer[:300]!r}")
    return load


if __name__ == "__main__":
    main()

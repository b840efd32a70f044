"""Tells how many moves a second people can make through the site, beside the disk and the plain version of it all.

Run from the root of the project: `python -m bench.moves [--quick] [--database sqlite|postgresql]`. Sixteen clients
play matches of both games through `/api/v1`, against the commands that run in earnest, with a scheduler beside them. In
each of five rounds the disk, the plain version (`bench.yardstick`) and the house have their turn; every answer is read,
and at the end the house verifies all matches.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg

from bench import clients, figures, machine, stage, yardstick
from bench.clients import Load, Request
from bench.figures import Figure
from bench.scripts import Script
from bench.stage import Running, Served
from server.settings import Settings
from tests import postgresql

CLIENTS = 16
# Goals: times as fast as the plain version, part of one-row commits, milliseconds in which 99 of 100 answers come.
FASTER = 4
OF_THE_DISK = 0.6
SLOWEST = 25
ROUNDS = 5
SECONDS = 3.0
MATCHES = 1536
WORKERS = 2
"""So many processes answer."""

Ask = Callable[[int, int], bytes]
Site = tuple[Served, list[Iterator[Request]]]


class Round(NamedTuple):
    """What one round found: commits and turns of a fixed loop a second, the plain version with one process and with
    two, the house."""

    commits: float
    loops: float
    plain: Load
    plain_two: Load
    house: Load

    @property
    def ratio(self) -> float:
        """Moves of the house to those of the plain version, with as many processes as are best for it."""
        return self.house.rate / max(self.plain.rate, self.plain_two.rate)

    @property
    def cost(self) -> float:
        """Processor time that a move takes in the house to that in the plain version."""
        return self.house.cost / self.plain.cost


def main() -> None:
    """Play as the command line says."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--quick", action="store_true", help="a few seconds, to see whether it runs")
    words.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    given = words.parse_args()
    print(figures.table(measure(given.database, quick=given.quick)))


def measure(database: str, *, quick: bool = False) -> list[Figure]:
    """Return the figures of a database. Raises `SystemExit` if an answer was not the right one."""
    count, seconds, matches = (1, 0.4, 96) if quick else (ROUNDS, SECONDS, MATCHES)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        make, commits = stack.enter_context(databases(database, folder))
        chosen = stage.begin(make("house"), folder)
        running = stage.fill(chosen, matches)
        plain = [stack.enter_context(plain_site(folder, running, workers)) for workers in (1, 2)]
        house = stack.enter_context(site(chosen, running, WORKERS))
        sites = [*plain, house]
        for each in sites:
            # The first requests of a process read templates and catalogues.
            play(each, seconds / 3)
        rounds = [
            Round(commits(seconds / 3), machine.loops(), *(play(each, seconds) for each in sites)) for _ in range(count)
        ]
        stage.command(chosen, "match", "verify", "--all")
    return told(database, rounds)


def told(database: str, rounds: Sequence[Round]) -> list[Figure]:
    """Return the figures of the rounds."""
    names = {"house": "moves", "plain": "plain version, 1 process", "plain_two": "plain version, 2 processes"}
    found = []
    for field, name in names.items():
        loads: list[Load] = [getattr(each, field) for each in rounds]
        found += [
            figures.median(f"{name}, {database}", [load.rate for load in loads], "/s"),
            figures.median("  processor for one", [load.cost for load in loads], "ms"),
            figures.median("  p50", [load.milliseconds(0.5) for load in loads], "ms"),
            figures.median(
                "  p99",
                [load.milliseconds(0.99) for load in loads],
                "ms",
                SLOWEST if field == "house" else None,
                most=True,
            ),
        ]
    clients_took = [load.processor / load.seconds for each in rounds for load in each[2:]]
    return [
        *found,
        figures.median(f"one-row commits, {database}", [each.commits for each in rounds], "/s"),
        figures.median("moves to moves of the plain version", [each.ratio for each in rounds], "times", FASTER),
        figures.median("  processor for one to that of the plain version", [each.cost for each in rounds], "times"),
        figures.median(
            "  to one-row commits", [each.house.rate / each.commits for each in rounds], "times", OF_THE_DISK
        ),
        figures.median("a fixed loop, millions of turns", [each.loops / 1e6 for each in rounds], "/s"),
        figures.median("share of a processor that the clients took", [100 * share for share in clients_took], "%"),
    ]


def play(there: Site, seconds: float) -> Load:
    """Let all clients play for so long."""
    return checked(clients.run(*there, seconds))


@contextmanager
def databases(kind: str, folder: Path) -> Iterator[tuple[Callable[[str], str], Callable[[float], float]]]:
    """Yield what returns the address of an empty database of a name, and what counts one-row commits beside it for so
    many seconds."""
    if kind == "sqlite":
        yield lambda name: f"sqlite:///{folder / name}.db", lambda seconds: machine.sqlite_commits(folder, seconds)
        return
    with durable_server() as admin:

        def make(name: str) -> str:
            with psycopg.connect(admin, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return admin.removesuffix("postgres") + name

        yield make, lambda seconds: machine.postgresql_commits(admin, seconds)


@contextmanager
def durable_server() -> Iterator[str]:
    """Yield the maintenance database of a server of its own that waits for the disk at each commit."""
    programs = postgresql.binaries()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed: apt-get install postgresql")
    server = postgresql.Server(programs, fsync="on", synchronous_commit="on", autovacuum="on")
    try:
        yield server.url
    finally:
        server.stop()


@contextmanager
def plain_site(folder: Path, running: Sequence[Running], workers: int) -> Iterator[Site]:
    """Serve the plain version with matches of the same scripts."""
    path, told = str(folder / f"plain{workers}.db"), [match.script for match in running]
    tokens = yardstick.fill(path, told)
    with plain_server(path, workers) as there:

        def ask(match: int, seq: int) -> bytes:
            step = told[match].steps[seq - 1]
            fields = {"move": step.text, "expected": step.expected}
            cookie = f"token={tokens[match][step.seat]}"
            return clients.post(f"/matches/{match + 1}/moves", there.port, cookie, fields)

        yield there, shares(told, ask)


@contextmanager
def plain_server(path: str, workers: int = 1) -> Iterator[Served]:
    """Serve the plain version on a database file."""
    port = stage.free_port()
    many = f"--worker-class gthread --threads 16 --workers {workers} --bind 127.0.0.1:{port} --log-level warning"
    words = [sys.executable, "-m", "gunicorn", *many.split(), f"bench.yardstick:create_app({path!r})"]
    with stage.processes([words], stage.plain_environment()) as begun:
        stage.wait_for(port)
        yield Served(port, begun[0].pid)


@contextmanager
def site(chosen: Settings, running: Sequence[Running], workers: int, *, scheduler: bool = True) -> Iterator[Site]:
    """Serve the house."""
    with stage.serving(chosen, workers=workers, scheduler=scheduler) as there:
        told = [match.script for match in running]
        yield there, shares(told, lambda match, seq: asked(there.port, running[match], seq))


def shares(told: Sequence[Script], ask: Ask) -> list[Iterator[Request]]:
    """Return the work of each client: its share of the matches, a move in each in turn, until all are over."""
    return [_moves(told, range(first, len(told), CLIENTS), ask) for first in range(CLIENTS)]


def _moves(told: Sequence[Script], own: range, ask: Ask) -> Iterator[Request]:
    made = {match: told[match].made for match in own}
    while made:
        for match in list(made):
            made[match] += 1
            if made[match] > len(told[match].steps):
                del made[match]
            else:
                yield (match, made[match]), ask(match, made[match])


def asked(port: int, match: Running, seq: int) -> bytes:
    """Return the request by which a program makes the move that is to become a row."""
    step = match.script.steps[seq - 1]
    told: dict[str, object] = {"move": step.text, "expected": step.expected}
    return clients.call(
        f"/api/v1/matches/{match.number}/moves", port, match.badges[step.seat].token, f"{match.number} {seq}", told
    )


def checked(load: Load) -> Load:
    """Return the load if each answer tells of the row it asked for. Raises `SystemExit` otherwise."""
    for name, answer in load.answers:
        head, _, body = answer.partition(clients.END)
        if not head.startswith(b"HTTP/1.1 200 ") or json.loads(body)["seq"] != name[1]:
            raise SystemExit(f"match and row {name}: {answer.decode(errors='replace')}")
    if load.dry:
        raise SystemExit("The matches were over before the time was: begin more of them.")
    return load


if __name__ == "__main__":
    main()

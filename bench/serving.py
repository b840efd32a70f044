"""Tells how fast the page of a match is beside a plain one, and how speed holds when there is ten times as much.

Run from the root of the project: `python -m bench.serving [--quick] [--database sqlite|postgresql]`. Two houses are
served, one with ten times as many finished and running matches in its database as the other, and the plain version
beside them. In each of five rounds one client looks at pages of each, and sixteen play.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Final, NamedTuple

from bench import clients, figures, moves, plenty, stage, yardstick
from bench.clients import Load, Request
from bench.figures import Figure
from bench.moves import Site
from bench.stage import Running, Served

ROUNDS: Final = 5
SECONDS: Final = 2.0
FINISHED: Final = 400
MATCHES: Final = 768
TIMES: Final = 10
LIMIT: Final = 3.0
"""So many times as long as the plain page may the page of a match take."""
GROWTH: Final = 1.2
"""So many times as much processor may an answer take when there is ten times as much in the database."""
AGAIN: Final = 30
"""So many pages are looked at again and again."""
BYTES: Final = {"sqlite": 120.0, "postgresql": 160.0}
"""So much may a row of a log take on disk, with its hash and what finds it."""
BOARD: Final = b'id="match"'


class House(NamedTuple):
    """A house that is served: where, its players, one client's looks at their matches, bytes of a row of its logs."""

    there: Served
    players: Site
    fresh: Iterator[Request]
    again: Iterator[Request]
    running: list[Running]
    size: float


class Looks(NamedTuple):
    """What a round found of a house: looks at matches not seen before, looks at a few again and again, moves."""

    fresh: Load
    again: Load
    moves: Load


class Round(NamedTuple):
    """What one round found: the plain page, the small house, the large one."""

    plain: Load
    small: Looks
    large: Looks


def main() -> None:
    """Look as the command line says."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--quick", action="store_true", help="a few seconds, to see whether it runs")
    words.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    given = words.parse_args()
    print(figures.table(measure(given.database, quick=given.quick)))


def measure(database: str, *, quick: bool = False) -> list[Figure]:
    """Return the figures of a database. Raises `SystemExit` if an answer was not the right one."""
    count, seconds, matches, finished = (1, 0.3, 96, 20) if quick else (ROUNDS, SECONDS, MATCHES, FINISHED)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        make, _commits = stack.enter_context(moves.databases(database, folder))
        small, large = (
            stack.enter_context(house(make(name), folder / name, finished * times, matches))
            for name, times in (("small", 1), ("large", TIMES))
        )
        plain = stack.enter_context(plain_pages(folder, small.running))
        for each in (small, large):
            # The first requests of a process read templates and catalogues.
            looks(each, seconds / 3)
        rounds = [
            Round(seen(clients.run(*plain, seconds / 2), b"<table>"), looks(small, seconds), looks(large, seconds))
            for _ in range(count)
        ]
    return told(database, rounds, large.size)


def told(database: str, rounds: Sequence[Round], size: float) -> list[Figure]:
    """Return the figures of the rounds."""
    names = ("page of a match, looked at first", "page of a match, looked at again", "move")
    plain = [_p50(each.plain) for each in rounds]
    found = [figures.median(f"page of the plain version, {database}, p50", plain, "ms")]
    for n, name in enumerate(names):
        small, large = [each.small[n] for each in rounds], [each.large[n] for each in rounds]
        growth = [ten.cost / one.cost for ten, one in zip(large, small, strict=True)]
        if name != "move":
            times = [_p50(load) / one for load, one in zip(small, plain, strict=True)]
            found += [
                figures.median(f"{name}, {database}, p50", list(map(_p50, small)), "ms"),
                figures.median("  to the page of the plain version", times, "times", LIMIT, most=True),
            ]
        found.append(figures.median(f"{name}, {TIMES} times the data", growth, "times", GROWTH, most=True))
    return [*found, Figure(f"row of a log on disk, {database}", size, "bytes", BYTES[database], most=True)]


def _p50(load: Load) -> float:
    return load.milliseconds(0.5)


@contextmanager
def house(url: str, folder: Path, finished: int, matches: int) -> Iterator[House]:
    """Serve a house with so many finished and as many running matches, and so many more to play and to look at.

    No scheduler runs beside it: what there is to do for bots and clocks differs with what is in the database.
    """
    plenty.fill(url, finished, finished, max(20, finished // 4), processes=plenty.PROCESSES)
    _rows, size = plenty.bytes_a_row(url)
    chosen = stage.begin(url, folder)
    running = stage.fill(chosen, matches)
    with moves.site(chosen, running, 1, scheduler=False) as players:
        there = players[0]
        yield House(
            there, players, pages(running, there.port), cycle(islice(pages(running, there.port), AGAIN)), running, size
        )


def pages(running: Sequence[Running], port: int) -> Iterator[Request]:
    """Yield the look of each player at each match once."""
    for seat in range(4):
        for match in running:
            if seat < len(match.badges):
                path = f"/matches/{match.number}"
                yield path, clients.get(path, port, match.badges[seat].cookie)


@contextmanager
def plain_pages(folder: Path, running: Sequence[Running]) -> Iterator[tuple[Served, list[Iterator[Request]]]]:
    """Serve the plain version; yield where, and the looks of one client at its matches."""
    path = str(folder / "plain.db")
    yardstick.fill(path, [match.script for match in running])
    with moves.plain_server(path) as there:
        asked = [f"/matches/{number}" for number in range(1, len(running) + 1)]
        yield there, [cycle([(path, clients.get(path, there.port, "token=none")) for path in asked])]


def looks(one: House, seconds: float) -> Looks:
    """Look and play for so long."""
    fresh = seen(clients.run(one.there, [one.fresh], seconds / 2), BOARD)
    if fresh.dry:
        raise SystemExit("All matches have been looked at before the time was over: begin more of them.")
    # Each once without counting, as moves have changed them since the round before.
    seen(clients.run(one.there, [islice(one.again, AGAIN)], seconds), BOARD)
    again = seen(clients.run(one.there, [one.again], seconds / 2), BOARD)
    return Looks(fresh, again, moves.play(one.players, seconds))


def seen(load: Load, mark: bytes) -> Load:
    """Return the load if each answer is a page that holds the mark. Raises `SystemExit` otherwise."""
    for path, answer in load.answers:
        head, _, body = answer.partition(clients.END)
        page = gzip.decompress(body) if b"Content-Encoding: gzip" in head else body
        if not head.startswith(b"HTTP/1.1 200 ") or mark not in page:
            raise SystemExit(f"{path}: {head.decode()}\n{page.decode(errors='replace')[:2000]}")
    return load


if __name__ == "__main__":
    main()

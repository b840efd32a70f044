"""Prints how many requests web servers answer with the real application, and what processor time each costs.

Run from the root of the project: `python -m bench.webservers`. In each of five rounds every server is started in turn
on the same demo with one process of eight threads, and 16 clients ask it for a page and for a JSON answer. What is told
are medians, and the medians of the ratios to waitress in the same round. Granian is no dependency: with `pip install
granian` in the environment it is measured too.
"""

from __future__ import annotations

import http.client
import importlib.util
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

ROUNDS = 5
CLIENTS = 16
SECONDS = 3.0
THREADS = 8
PATHS = {"page": "/matches/1", "JSON": "/matches/1/pulse"}
BIN = Path(sys.executable).parent
TICKS = os.sysconf("SC_CLK_TCK")


class Figure(NamedTuple):
    """What a server did in one round: requests in a second, and milliseconds of processor time for each."""

    rate: float
    cost: float


def commands(port: int) -> dict[str, list[str]]:
    """Return how each server is started on the port."""
    here = ["--host", "127.0.0.1", "--port", str(port)]
    found = {
        "waitress": [f"{BIN}/waitress-serve", f"--threads={THREADS}", f"--listen=127.0.0.1:{port}", "wsgi:app"],
        "gunicorn": [f"{BIN}/clachan", "web"],
    }
    if importlib.util.find_spec("granian"):
        more = ["--interface", "wsgi", "--blocking-threads", str(THREADS), "--no-access-log", "--log-level", "error"]
        found["granian"] = [f"{BIN}/granian", *here, *more, "wsgi:app"]
    return found


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def spent(group: int) -> float:
    """Return the seconds of processor time that the processes of a group have used."""
    ticks = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS


@contextmanager
def started(command: list[str], port: int, environ: dict[str, str]) -> Iterator[int]:
    """Run a server for the block; yields the number of its group of processes."""
    process = subprocess.Popen(
        command, env=environ, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def asked(port: int, path: str, seconds: float) -> int:
    """Have all clients ask for a path, each over one connection, and return how many answers they got."""
    until, counts = time.monotonic() + seconds, []

    def client() -> None:
        connection, count = http.client.HTTPConnection("127.0.0.1", port, timeout=30), 0
        while time.monotonic() < until:
            connection.request("GET", path, headers={"Accept": "text/html,application/json;q=0.9"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{path} was answered {answer.status}")
            count += 1
        connection.close()
        counts.append(count)

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(counts) < CLIENTS:
        raise RuntimeError(f"of {CLIENTS} clients {CLIENTS - len(counts)} broke off")
    return sum(counts)


def measured(port: int, group: int, path: str) -> Figure:
    """Return what a server does when it is asked for a path."""
    asked(port, path, 0.5)
    began, before = time.monotonic(), spent(group)
    count = asked(port, path, SECONDS)
    return Figure(count / (time.monotonic() - began), (spent(group) - before) * 1000 / count)


def main() -> None:
    """Start each server `ROUNDS` times and compare."""
    port = free_port()
    found: dict[tuple[str, str], list[Figure]] = {}
    with tempfile.TemporaryDirectory(prefix="clachan-bench-") as folder:
        own = {"DATA": folder, "DEVELOPMENT": "1", "LISTEN": f"127.0.0.1:{port}", "WEB_THREADS": str(THREADS)}
        environ = {**os.environ, **{f"CLACHAN_{name}": value for name, value in own.items()}}
        for command in (["db", "migrate"], ["seed"]):
            subprocess.run(
                [f"{BIN}/clachan", *command],
                env=environ,
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        for _ in range(ROUNDS):
            for name, command in commands(port).items():
                with started(command, port, environ) as group:
                    for kind, path in PATHS.items():
                        found.setdefault((name, kind), []).append(measured(port, group, path))
    for (name, kind), figures in found.items():
        pairs = list(zip(figures, found["waitress", kind], strict=True))
        rate, cost = (statistics.median(one[part] for one in figures) for part in range(2))
        faster, dearer = (statistics.median(one[part] / other[part] for one, other in pairs) for part in range(2))
        low, high = min(one.rate / other.rate for one, other in pairs), max(o.rate / w.rate for o, w in pairs)
        print(
            f"{name}, {kind}: {rate:.0f} a second ({faster:.2f} of waitress, {low:.2f} to {high:.2f}),"
            f" {cost:.2f} ms of processor time each ({dearer:.2f} of waitress)"
        )


if __name__ == "__main__":
    main()

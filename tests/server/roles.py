"""The roles of a house as processes of their own: started, looked at, told to end."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import urlencode

import flask
from visitor import TOKEN, Visitor

from server import log
from server.models import Match, User

ROOT = Path(__file__).parent.parent.parent
CLACHAN = (sys.executable, "-m", "server.cli")


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Role:
    """A running process; what it prints is kept."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], folder: Path = ROOT) -> None:
        self._printed: Any = TemporaryFile("w+")  # noqa: SIM115 - closed by `close`
        self.process = subprocess.Popen(
            command, env={"PATH": os.environ["PATH"], **environ}, cwd=folder, stdout=self._printed, stderr=self._printed
        )

    def printed(self) -> str:
        """Return what it has printed so far."""
        return Path(f"/proc/self/fd/{self._printed.fileno()}").read_text()

    def says(self, words: str) -> None:
        """Wait until it has printed the words."""
        for _ in range(300):
            if words in self.printed():
                return
            assert self.process.poll() is None, self.printed()
            time.sleep(0.05)
        raise AssertionError(f"it never said {words!r}: {self.printed()}")

    def listens(self, port: int) -> None:
        """Wait until it takes connections."""
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                return
            assert self.process.poll() is None, self.printed()
            time.sleep(0.05)
        raise AssertionError(f"it never listened: {self.printed()}")

    def ends(self, number: signal.Signals = signal.SIGTERM, seconds: float = 20) -> int:
        """Tell it to end; return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(seconds)

    def close(self) -> None:
        """End it if it has not ended by itself, at last by force."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._printed.close()


@contextmanager
def running(command: Sequence[str], environ: Mapping[str, str], folder: Path = ROOT) -> Iterator[Role]:
    """Run a process for the block, and end it if it has not ended by itself."""
    role = Role(command, environ, folder)
    try:
        yield role
    finally:
        role.close()


def variables(url: str, data: Path, **more: str) -> dict[str, str]:
    """Return the environment of a role on a database, with the key of the tests' houses."""
    given = {"DATA": str(data), "DATABASE": url, "SECRET_KEY": "only for the tests, and long enough for a key"}
    return {f"CLACHAN_{name}": value for name, value in {**given, "BACKUPS_DAILY": "0", **more}.items()}


class Site:
    """A running web role, and who asks it: `app` is an application with the same key, for the cookies of people."""

    def __init__(self, role: Role, port: int, app: flask.Flask) -> None:
        self.role = role
        self.port = port
        self.app = app
        self._opened: list[http.client.HTTPConnection] = []

    def connected(self) -> http.client.HTTPConnection:
        """Return a connection that is established."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.connect()
        self._opened.append(connection)
        return connection

    def close(self) -> None:
        """Close all connections."""
        for connection in self._opened:
            connection.close()

    def cookie(self, user: User | None) -> dict[str, str]:
        """Return the headers of somebody's requests."""
        kept = Visitor(self.app, user).client.get_cookie("clachan") if user else None
        return {"Cookie": f"clachan={kept.value}"} if kept else {}

    def get(self, path: str, user: User | None = None) -> http.client.HTTPResponse:
        """Ask for a path over a connection of its own; the body is still to be read."""
        connection = self.connected()
        connection.request("GET", path, headers=self.cookie(user))
        return connection.getresponse()


def filled(site: Site, match: Match, mover: User) -> tuple[bytes, dict[str, str]]:
    """Return the form of a move, and the headers with the cookie that goes with it."""
    headers = site.cookie(mover)
    connection = site.connected()
    connection.request("GET", f"/matches/{match.id}", headers=headers)
    answer = connection.getresponse()
    page = answer.read().decode()
    token = TOKEN.search(page)
    assert token
    played = log.read(log.get(match.id))
    seat = played.position.to_act[0]
    fields = {
        "csrf_token": token.group(1),
        "move": played.view(seat).moves[0],
        "expected": str(played.position.asked[seat]),
    }
    kept = answer.headers["Set-Cookie"]
    return urlencode(fields).encode(), {"Cookie": kept.partition(";")[0] if kept else headers["Cookie"]}

"""A PostgreSQL server and its standby, on machines of the network."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import psycopg
from machines import NET, Network, Program
from postgresql import binaries

PORT: Final = 5432
DATABASE: Final = "clachan"
_HBA: Final = f"host all all {NET}.0/24 trust\nhost replication all {NET}.0/24 trust\n"


class Cluster:
    """One server. Make the first with `begin`, the second with `follow`; then `start` either."""

    def __init__(self, network: Network, name: str) -> None:
        found = binaries()
        assert found is not None
        self.network, self.name, self.programs = network, name, found
        self.folder = Path(tempfile.mkdtemp(prefix=f"clachan-{name}-"))
        self.data = self.folder / "data"
        # The server refuses to run as root.
        user = pwd.getpwnam("postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name)
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        self._as: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": self.folder}
        self.program: Program | None = None

    @property
    def address(self) -> str:
        """The address it listens at."""
        return self.network.address(self.name)

    def begin(self) -> None:
        """Make an empty server that the machines of the network may use."""
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "clachan", "--no-sync", "-E", "UTF8")
        with (self.data / "pg_hba.conf").open("a") as file:
            file.write(_HBA)

    def follow(self, primary: Cluster) -> None:
        """Make a standby of a server that runs, known to it by its own name."""
        origin = f"host={primary.address} port={PORT} user=clachan application_name={self.name}"
        self._run("pg_basebackup", "-d", origin, "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")

    def start(self, **more: str) -> None:
        """Start the server, and wait until it answers."""
        options = {
            "listen_addresses": self.address,
            "port": PORT,
            "unix_socket_directories": "",
            # What survives the crash of a whole machine is not what is tried here: the other machine has it too.
            "fsync": "off",
            "shared_buffers": "64MB",
            **more,
        }
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        command = [self.programs / "postgres", "-D", self.data, *words]
        self.program = self.network.start(self.name, command, **self._as)
        until = time.monotonic() + 30
        while not self.ask("SELECT true", quiet=True):
            if time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL on {self.name} did not start: {self.program.log()[-2000:]}")
            time.sleep(0.1)

    def ask(self, query: str, database: str = "postgres", *, quiet: bool = False) -> list[tuple[Any, ...]]:
        """Return what it answers, from its own machine; with `quiet` nothing if it does not."""
        known = f"host={self.address} port={PORT} user=clachan dbname={database} connect_timeout=3"
        try:
            with self.network.inside(self.name), psycopg.connect(known, autocommit=True) as connection:
                asked = connection.execute(query)
                return asked.fetchall() if asked.description else []
        except psycopg.OperationalError:
            if quiet:
                return []
            raise

    def crash(self) -> None:
        """Stop it at once, as `pg_ctl stop -m immediate` does: nothing is written any more."""
        assert self.program is not None
        self.program.tell(signal.SIGQUIT)
        self.program.process.wait(20)

    def promote(self) -> None:
        """Make a standby the server that takes writes."""
        assert self.ask("SELECT pg_promote(true, 30)") == [(True,)]

    def remove(self) -> None:
        """Remove its files; it must have ended."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, *words: object) -> None:
        with self.network.inside(self.name):
            subprocess.run(
                [str(word) for word in (self.programs / name, *words)],
                check=True,
                stdout=subprocess.DEVNULL,
                timeout=60,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
                **self._as,
            )

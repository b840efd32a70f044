"""A PostgreSQL server for one run of the tests, made and thrown away."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import psycopg

POSTGRES: Final = "TEST_POSTGRES_URL"
"""The variable of the environment that names the server's maintenance database, absent without a server."""


def binaries() -> Path | None:
    """Return the folder of the newest server programs on this machine, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: float(path.split("/")[4]))
    return Path(found[-1]).parent if found else None


class Server:
    """A running server on a free port of loopback; `url` names its maintenance database, `more` are options of it.

    It may follow another one, as its standby.
    """

    def __init__(self, programs: Path, follows: Server | None = None, **more: object) -> None:
        self.programs, self.more = programs, more
        self.folder = Path(tempfile.mkdtemp(prefix="clachan-pg-"))
        # The server refuses to run as root.
        self.user = pwd.getpwnam("postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name)
        os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        if follows:
            self._run(
                [programs / "pg_basebackup", "-d", follows.url, "-D", self._data, "-R", "-c", "fast", "--no-sync"]
            )
        else:
            words = ["-A", "trust", "-U", "clachan", "--no-sync", "-E", "UTF8"]
            self._run([programs / "initdb", "-D", self._data, *words])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"postgresql://clachan@127.0.0.1:{self.port}/postgres"
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "max_connections": 200,
            # What survives a crash of the whole machine is not what these tests ask.
            "fsync": "off",
            "shared_buffers": "64MB",
            "autovacuum": "off",
            **self.more,
        }
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            [self.programs / "postgres", "-D", self._data, *words],
            user=self.user.pw_uid,
            group=self.user.pw_gid,
            extra_groups=[],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ready = [self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-t", "1"]
        for _ in range(300):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            if self.process.poll() is not None:
                break
        raise RuntimeError("the PostgreSQL server of the tests did not start")

    def _run(self, command: list[object]) -> None:
        subprocess.run(
            [str(word) for word in command],
            user=self.user.pw_uid,
            group=self.user.pw_gid,
            extra_groups=[],
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        )

    def crash(self) -> None:
        """End the server without a word, as when its machine fails."""
        self.process.send_signal(3)
        self.process.wait(20)

    def stop(self) -> None:
        """End the server at once and remove everything."""
        self.process.send_signal(2)
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


class Copies:
    """Fresh databases of one worker, one after another: `template` is to be migrated first.

    A copy takes 50 ms and emptying its tables 10, so a copy serves many tests; one whose schema a test has changed, or
    which has gathered statistics for the planner, serves no other.
    """

    USES: Final = 60
    """After so many tests the dead rows would begin to be felt."""

    def __init__(self, admin: str, worker: str) -> None:
        self.admin = admin
        self.names = (f"template_{worker}", f"test_{worker}")
        self.template, self.copy = (self._address(name) for name in self.names)
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {self.names[0]}")
            connection.execute(f"CREATE DATABASE {self.names[0]}")
        self.shape: Any = None
        self.filled: dict[str, bytes] = {}
        self.uses = 0

    def fresh(self) -> str:
        """Return the address of a database that is as if just migrated."""
        self.uses = (self.uses + 1) % self.USES
        if self.uses == 1 or not self._emptied():
            self._copied()
        return self.copy

    def _address(self, name: str) -> str:
        return self.admin.replace("/postgres", f"/{name}")

    def _copied(self) -> None:
        template, copy = self.names
        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {copy} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {copy} TEMPLATE {template}")
        with psycopg.connect(self.copy) as connection:
            self.shape = _shape(connection)
            self.filled = {table: rows for (table,) in connection.execute(TABLES) if (rows := _rows(connection, table))}

    def _emptied(self) -> bool:
        """Empty all tables, put back what migrations have put there; return whether the database is as it was made."""
        with psycopg.connect(self.copy) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            if _shape(connection) != self.shape:
                return False
            # In this role the triggers that keep the log from being changed do not speak.
            connection.execute("SET LOCAL session_replication_role = replica")
            connection.execute(EMPTY)
            for table, rows in self.filled.items():
                with connection.cursor().copy(f'COPY "{table}" FROM STDIN') as copy:
                    copy.write(rows)
        return True


TABLES: Final = """
SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migration'
"""
EMPTY: Final = """
DO $$ DECLARE each text; BEGIN
FOR each IN SELECT format('DELETE FROM %I', tablename) FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'schema_migration'
UNION ALL SELECT format('ALTER SEQUENCE %I RESTART', sequencename) FROM pg_sequences
    WHERE schemaname = 'public' AND last_value IS NOT NULL AND sequencename NOT LIKE 'schema_migration%'
LOOP EXECUTE each; END LOOP; END $$
"""


SHAPE: Final = """
WITH ours AS (SELECT oid, xmin, reltuples FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind <> 'S')
SELECT (SELECT array_agg(xmin::text || ' ' || reltuples ORDER BY oid) FROM ours),
    (SELECT array_agg(c.xmin::text ORDER BY attrelid, attnum) FROM pg_attribute c JOIN ours ON ours.oid = attrelid),
    (SELECT array_agg(t.xmin::text || tgenabled::text ORDER BY t.oid) FROM pg_trigger t),
    (SELECT array_agg(m::text) FROM schema_migration m),
    (SELECT array_agg(p.xmin::text ORDER BY p.oid) FROM pg_proc p WHERE pronamespace = 'public'::regnamespace)
"""


def _shape(connection: psycopg.Connection[Any]) -> Any:
    """Return what shows that a test has changed the schema, or had statistics gathered."""
    return connection.execute(SHAPE).fetchone()


def _rows(connection: psycopg.Connection[Any], table: str) -> bytes:
    """Return all rows of a table as PostgreSQL copies them."""
    with connection.cursor().copy(f'COPY "{table}" TO STDOUT') as copy:
        return b"".join(copy)

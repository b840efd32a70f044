"""The whole database as one file, and back, in the way of each of the two databases."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from server import connections, contents, db
from server.contents import Contents, Unfit

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"


def kind(url: str) -> str:
    """Return which of the two databases an address names."""
    return SQLITE if url.startswith("sqlite:///") else POSTGRESQL


def take(url: str, dump: Path) -> Contents:
    """Write the database of an address to a file as it is at one moment, while others write; return what it holds.

    Raises `Unfit` when it cannot be done, or when the file would not be sound.
    """
    # It holds secrets; both ways write into a file that is there.
    dump.touch(mode=0o600)
    with db.apart(url) as there:
        if kind(url) == POSTGRESQL:
            with db.snapshot(there):
                (name,) = there.execute_sql("SELECT pg_export_snapshot()").fetchone()
                _run("pg_dump", url, "--format=custom", *BARE, f"--snapshot={name}", f"--file={dump}")
                return contents.of(there)
        there.execute_sql("VACUUM INTO ?", (str(dump),))
    return _sound(dump)


# Whose the tables are, and who may do what with them, is the affair of the database they come into.
BARE: Final = ("--no-owner", "--no-privileges")


@contextmanager
def put(url: str, dump: Path, expected: Contents) -> Iterator[None]:
    """Put what a file holds into the database of an address, in place of what is there, when the block ends.

    In the block the models are pointed at what was put, to be brought up to date and looked at. If it fails, an
    embedded database is as before; the other one is not used before another `put` has come to its end. Raises `Unfit`
    if the file does not hold what is expected.
    """
    if kind(url) == SQLITE:
        _compare(_sound(dump), expected)
        with db.instead(f"sqlite:///{dump}"):
            yield
        _write_over(dump, db.file(url))
        return
    _write_out(url, dump)
    with db.instead(url):
        with db.snapshot(db.database.obj):
            found = contents.of(db.database.obj)
        _compare(found, expected)
        yield
        db.end_filling()


def _compare(found: Contents, expected: Contents) -> None:
    if found != expected:
        raise Unfit("The backup does not hold what its manifest says.")


def _sound(dump: Path) -> Contents:
    """Return what an SQLite file holds. Raises `Unfit` if the database finds a fault in it."""
    try:
        with db.apart(f"sqlite:///{dump}") as there:
            found = [line for (line,) in there.execute_sql("PRAGMA integrity_check(1)").fetchall()]
            if found != ["ok"]:
                raise Unfit(f"The database is damaged: {found[0]}")
            return contents.of(there)
    except db.Broken as fault:
        raise Unfit(f"The database is damaged: {fault}") from None


def _write_over(dump: Path, target: Path) -> None:
    """Write an SQLite file over another in one transaction, so that whoever has that open sees the one or the other."""
    until = time.monotonic() + db.BUSY_SECONDS

    def waited(status: int, _left: int, _all: int) -> None:
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} and time.monotonic() > until:
            raise Unfit("The database is in use: stop the server and whatever else has it open.")

    with closing(sqlite3.connect(dump)) as made, closing(sqlite3.connect(target, timeout=1)) as there:
        there.execute("PRAGMA synchronous = full")
        made.backup(there, progress=waited)


def _write_out(url: str, dump: Path) -> None:
    """Empty a PostgreSQL database and fill it, in one transaction that also notes that it is not to be used yet."""
    script = dump.with_suffix(".sql")
    script.touch(mode=0o600)
    _run("pg_restore", url, *BARE, f"--file={script}", str(dump))
    with db.instead(url):
        emptied = db.clearing()
    wanted = [*emptied, f"CREATE TABLE {db.UNFINISHED} (id INTEGER)"]
    before = [word for statement in wanted for word in ("--command", statement)]
    words = ("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output=/dev/null")
    _run("psql", url, *words, *before, f"--file={script}")


def _run(tool: str, url: str, *words: str) -> None:
    """Run a tool of PostgreSQL on a database. Raises `Unfit` if it is not installed, or with what it says."""
    program = shutil.which(tool)
    if program is None:
        raise Unfit(f"{tool} is not installed here; on Debian it is in postgresql-client.")
    told = {
        # Not among the words, which everybody on the machine can read.
        **connections.told(url),
        "PGOPTIONS": f"-c client_min_messages=warning -c lock_timeout={db.BUSY_SECONDS}s",
    }
    environment = {**os.environ, **told}
    done = subprocess.run(  # noqa: S603 - our own words, and no shell
        [program, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise Unfit(f"{tool}: {said[0]}")


def has_tools(url: str) -> bool:
    """Whether what a backup of the database needs is installed."""
    return kind(url) == SQLITE or shutil.which("pg_dump") is not None

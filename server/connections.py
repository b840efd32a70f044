"""Connections to the database that are kept when a thread gives them back, for whichever thread asks next.

A thread holds one connection at most, so there are no more of them than threads that work at the same time. Which
database there is, and when a thread holds a connection, is for `db` to say.
"""

from __future__ import annotations

import os
import select
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import parse_qs, quote, urlsplit

import peewee
import psycopg
from psycopg import conninfo
from psycopg.pq import Conninfo, TransactionStatus

from server.line import Peers

# So many seconds a connection lives, and so many it is kept without work.
LIFE: Final = 600.0
IDLE: Final = 120.0

# What PostgreSQL's library is told unless the address says otherwise. A machine that has died says nothing: it is given
# up after 3 seconds when it is connected to, and after 11 when it does not acknowledge what it was sent, or owes an
# answer, or has nothing to do. So connections that wait have mostly noticed before anybody asks for one.
PATIENCE: Final = {
    "connect_timeout": 3,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
# Of several machines in an address, these ask for the one that takes writes.
WRITABLE: Final = frozenset({"read-write", "primary"})
# What a server of PostgreSQL says of itself, unasked, while it takes no writes.
NO_WRITES: Final = (b"in_hot_standby", b"default_transaction_read_only")


# What a process was born with belongs to its parent: it is the same socket, and the same locks of the same file. It is
# remembered here for ever, because what is forgotten is closed.
_inherited: Final[list[Any]] = []


Written: TypeAlias = tuple[str, Sequence[Any]]
"""A statement and its values."""


class TooEarly(Exception):
    """Something was to be changed while that is put off, and in a way that cannot be."""


@dataclass(slots=True)
class Postponed:
    """Statements that are carried out later; `spoilt` if something else was to be changed meanwhile."""

    statements: list[Written] = field(default_factory=list)
    spoilt: bool = False


class _Kept(NamedTuple):
    """A connection that waits.

    `mark` is what the database was when it was opened, and by which process; `born` and `since` count seconds.
    """

    connection: Any
    mark: tuple[int, object]
    born: float
    since: float


class Keeping:
    """What makes a peewee database keep its connections; beside one of its classes, before it."""

    _state: Any

    def __init__(self, *args: Any, **more: Any) -> None:
        self._kept: deque[_Kept] = deque()
        self._door = threading.Lock()
        self._ended = False
        super().__init__(*args, **more)
        # What peewee guards with it each thread has of its own; but whoever connects to a machine that does not answer
        # would keep all others waiting.
        self._lock = nullcontext()

    def postponed(self) -> Postponed | None:
        """Return where statements of this thread go that are carried out later; None if none are."""
        return getattr(self._state, "postponed", None)

    def postpone(self, found: Postponed | None) -> None:
        """Say where statements of this thread go that are carried out later; None to carry all out at once again."""
        self._state.postponed = found

    def require_now(self) -> None:
        """Raise `TooEarly` if this thread only reads now, and changes later."""
        postponed = self.postponed()
        if postponed is not None:
            postponed.spoilt = True
            raise TooEarly

    def begin(self, *given: Any) -> None:
        """Begin a transaction. Raises `TooEarly`."""
        self.require_now()
        super().begin(*given)  # type: ignore[misc]

    def execute_sql(self, sql: str, params: Sequence[Any] | None = None) -> Any:
        """Carry out a statement. Raises `TooEarly` if it changes something."""
        if not sql.startswith("SELECT"):
            self.require_now()
        return super().execute_sql(sql, params)  # type: ignore[misc]

    def execute_all(self, statements: Sequence[Written]) -> None:
        """Carry out statements that find nothing, one after the other."""
        for sql, values in statements:
            self.execute_sql(sql, values)

    def end(self) -> None:
        """Close what is kept, and the connection of this thread; what others give back is closed too."""
        self._ended = True
        self.let_go()

    def let_go(self) -> None:
        """Close what is kept, and the connection of this thread."""
        if not self._state.closed:
            self.close()  # type: ignore[attr-defined]
        with self._door:
            kept = list(self._kept)
            self._kept.clear()
        for one in kept:
            self._throw_away(one)

    def _connect(self) -> Any:
        while (one := self._newest()) is not None:
            if self._is_good(one):
                self._state.mark, self._state.born = one.mark, one.born
                return one.connection
            self._throw_away(one)
        # Looked at before: of a database that changes meanwhile the connection is not kept.
        self._state.mark, self._state.born = self._now(), time.monotonic()
        return self._open()

    def _close(self, connection: Any) -> None:
        now = time.monotonic()
        one = _Kept(connection, self._state.mark, self._state.born, now)
        if self._ended or _is_inherited(one) or not self._is_clean(connection):
            self._throw_away(one)
            return
        with self._door:
            self._kept.append(one)
            tired = []
            while now - self._kept[0].since > IDLE:
                tired.append(self._kept.popleft())
        for one in tired:
            self._throw_away(one)

    def _newest(self) -> _Kept | None:
        with self._door:
            return self._kept.pop() if self._kept else None

    def _is_good(self, one: _Kept) -> bool:
        now = time.monotonic()
        fresh = now - one.born < LIFE and now - one.since < IDLE
        return fresh and one.mark == self._now() and self._is_alive(one.connection)

    def _throw_away(self, one: _Kept) -> None:
        if _is_inherited(one):
            _inherited.append(one.connection)
            return
        with suppress(Exception):
            super()._close(one.connection)  # type: ignore[misc]

    def _open(self) -> Any:
        return super()._connect()  # type: ignore[misc]

    def _now(self) -> tuple[int, object]:
        return os.getpid(), self._mark()

    def _mark(self) -> object:
        """Return what the database is just now; a connection to another one is not used again."""
        raise NotImplementedError

    def _is_alive(self, connection: Any) -> bool:
        """Whether a connection that was kept can be used."""
        raise NotImplementedError

    def _is_clean(self, connection: Any) -> bool:
        """Whether a connection that comes back is worth keeping, with nothing going on in it any more."""
        raise NotImplementedError


def _is_inherited(one: _Kept) -> bool:
    """Whether another process opened the connection, and this one was born with it."""
    return one.mark[0] != os.getpid()


class Link(sqlite3.Connection):
    """A connection to a file that knows its cursors: one that is not at its end would go on reading the past."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.cursors: weakref.WeakSet[sqlite3.Cursor] = weakref.WeakSet()

    def cursor(self, *args: Any, **more: Any) -> Any:
        """Return a cursor, and remember it for as long as it lives."""
        made = super().cursor(*args, **more)
        self.cursors.add(made)
        return made


class Sqlite(Keeping, peewee.SqliteDatabase):
    """A file. When another has taken its place, or it may be written now or no more, those from before are not used."""

    def __init__(self, path: Path, **more: Any) -> None:
        self._folder = path.parent
        self.peers = Peers(f"{path}-line")
        super().__init__(str(path), factory=Link, check_same_thread=False, **more)

    def end(self) -> None:
        """Close what is kept, and with it the file by which processes take turns."""
        super().end()
        self.peers.end()

    def _mark(self) -> object:
        try:
            found = os.stat(self.database)
        except OSError:
            return None
        return found.st_dev, found.st_ino, os.access(self.database, os.W_OK), os.access(self._folder, os.W_OK)

    def _open(self) -> Any:
        beside = Path(f"{self.database}-wal")
        if os.access(self._folder, os.W_OK) or (beside.exists() and beside.stat().st_size):
            return super()._open()
        # Where nothing can be put beside it not even a reader could tell that he reads; but nobody writes there either.
        address = f"file:{quote(self.database)}?immutable=1"
        connection = sqlite3.connect(address, uri=True, isolation_level=None, **self.connect_params)
        self._add_conn_hooks(connection)  # type: ignore[attr-defined]
        return connection

    def _is_alive(self, connection: Any) -> bool:
        return True

    def _is_clean(self, connection: Any) -> bool:
        for cursor in list(connection.cursors):
            cursor.close()
        return not connection.in_transaction


class Postgresql(Keeping, peewee.PostgresqlDatabase):
    """A server, or several of which one takes writes. When a connection has broken those from before are not used."""

    def __init__(self, url: str, **more: Any) -> None:
        given = parse_qs(urlsplit(url).query)
        self._several = set(given.get("target_session_attrs", ())) & WRITABLE
        self._broken = 0
        patience = {name: value for name, value in PATIENCE.items() if name not in given}
        super().__init__(url, prefer_psycopg3=True, **patience, **more)

    def _open(self) -> Any:
        try:
            return super()._open()
        except psycopg.OperationalError:
            if not self._several:
                raise
        # None takes writes just now; from one that does not, pages can still be read. It is not kept.
        connection = psycopg.connect(self.database, **{**self.connect_params, "target_session_attrs": "any"})
        connection.autocommit = True
        return connection

    def execute_all(self, statements: Sequence[Written]) -> None:
        """Carry out statements that find nothing: all are sent before the first is answered."""
        with peewee.__exception_wrapper__, self.connection().pipeline():  # type: ignore[attr-defined, no-untyped-call]
            for sql, values in statements:
                self.execute_sql(sql, values)

    def _mark(self) -> object:
        return self._broken

    def _is_alive(self, connection: Any) -> bool:
        if connection.closed:
            return False
        # On a connection without work a server says something only when it ends it.
        watch = select.poll()
        watch.register(connection.fileno(), select.POLLIN)
        return not watch.poll(0)

    def _is_clean(self, connection: Any) -> bool:
        if connection.closed:
            self._broken += 1
            return False
        said = {connection.pgconn.parameter_status(name) for name in NO_WRITES}
        return connection.pgconn.transaction_status == TransactionStatus.IDLE and b"on" not in said


def told(url: str) -> dict[str, str]:
    """Return what the tools of PostgreSQL are to find in their environment for an address."""
    given = conninfo.conninfo_to_dict(url)
    names = {one.keyword.decode(): one.envvar.decode() for one in Conninfo.get_defaults() if one.envvar}
    return {names[name]: str(value) for name, value in given.items() if value is not None and name in names}

"""What is thought out before a transaction and stored all at once in it, so that others wait for nothing but that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from server import db
from server.connections import Postponed


class Overtaken(Exception):
    """What was read before a transaction is true no more when it begins: all is to be done anew."""


@contextmanager
def foreseen(holds: Callable[[], bool]) -> Iterator[None]:
    """Read and think in the block, and store what is put `later` when it ends.

    `holds`, asked in the transaction, says whether what was read is still true. If it is not, or if the block changes
    anything in another way, whatever becomes of that, it ends with `Overtaken`, and nothing is stored; so does a block
    inside a transaction. Raises `TooEarly` inside another such block, which is overtaken then.
    """
    database = db.database.obj
    if database.in_transaction():
        raise Overtaken
    database.require_now()
    postponed = Postponed()
    database.postpone(postponed)
    try:
        yield
    except Exception:
        if not postponed.spoilt:
            raise
    finally:
        database.postpone(None)
    if postponed.spoilt:
        raise Overtaken
    with db.transaction():
        if not holds():
            raise Overtaken
        database.execute_all(postponed.statements)


def later(sql: str, values: Sequence[Any]) -> None:
    """Carry out a statement that finds nothing: at once, or when the block that is `foreseen` ends."""
    postponed: Postponed | None = db.database.obj.postponed()
    if postponed is None:
        db.database.execute_sql(sql, values)
    else:
        postponed.statements.append((sql, values))

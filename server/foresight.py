"""What is thought out before a transaction and stored all at once in it, so that others wait for nothing but that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from server import db
from server.connections import PutOff, TooEarly


class Overtaken(Exception):
    """What was read before a transaction is true no more when it begins: all is to be done anew."""


@contextmanager
def foreseen(holds: Callable[[], bool]) -> Iterator[None]:
    """Read and think in the block, and store what is put `later` when it ends.

    `holds`, asked in the transaction, says whether what was read is still true. If it is not, or if the block changes
    anything in another way, it ends with `Overtaken`, and nothing is stored; so does a block inside a transaction.
    """
    if db.database.in_transaction():
        raise Overtaken
    put_off = PutOff()
    db.database.obj.put_off(put_off)
    try:
        with suppress(TooEarly):
            yield
    finally:
        db.database.obj.put_off(None)
    if put_off.spoilt:
        raise Overtaken
    with db.transaction():
        if not holds():
            raise Overtaken
        db.database.obj.execute_all(put_off.statements)


def later(sql: str, values: Sequence[Any]) -> None:
    """Carry out a statement that finds nothing: at once, or when the block that is `foreseen` ends."""
    put_off: PutOff | None = db.database.obj.is_put_off()
    if put_off is None:
        db.database.execute_sql(sql, values)
    else:
        put_off.statements.append((sql, values))

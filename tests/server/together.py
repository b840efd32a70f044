"""What the tests of the services share besides the house: doing things at the same time, and doing damage."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from server import db, raster
from server.errors import Refused
from server.models import TABLES, LogRow, Match


def quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let mails bear any bytes for a picture: drawing takes most of their time and is tested elsewhere."""
    for name in ("png", "board"):
        monkeypatch.setattr(raster, name, lambda *_: b"a picture")


def refused(code: str):
    """Expect a refusal with that code."""
    return pytest.raises(Refused, check=lambda fault: fault.code == code)


def in_parallel(*works: Callable[[], object]) -> list[object]:
    """Do the works at the same time, each with a connection of its own; return results, refusals' codes, or faults."""
    results: list[object] = [None] * len(works)
    gate = threading.Barrier(len(works))

    def one(number: int) -> None:
        with db.connected():
            gate.wait(20)
            try:
                results[number] = works[number]()
            except Refused as fault:
                results[number] = fault.code
            except Exception as fault:  # noqa: BLE001 - a traceback in a thread would be lost
                results[number] = repr(fault)

    threads = [threading.Thread(target=one, args=[number]) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def damage(match: Match, seq: int = 0, text: str = "{}") -> None:
    """Change a row behind the database's guard."""
    on = "" if db.on_sqlite() else " ON log"
    with db.transaction():
        db.database.execute_sql(f"DROP TRIGGER IF EXISTS log_never_changes{on}")
        LogRow.update(text=text).where((LogRow.match == match) & (LogRow.seq == seq)).execute()


def everything_stored() -> str:
    """Return all that is in the database, as a text in lower case to search."""
    return "\n".join(repr(row) for table in TABLES for row in table.select().dicts()).casefold()

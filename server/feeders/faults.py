"""What a log may say about a fault: mails and addresses hold tokens, and faults quote them."""

from __future__ import annotations

import traceback
from pathlib import Path

from server import db, journal


def told(fault: BaseException) -> str:
    """Return what kind of fault it was, and either the database's words or where it came up."""
    if isinstance(fault, db.Unavailable):
        # What peewee raises may hide them behind a failed rollback.
        return f"{type(fault).__name__}: {journal.origin(fault)}".strip()
    frames = traceback.extract_tb(fault.__traceback__)[-3:]
    where = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(fault).__name__} ({where})"

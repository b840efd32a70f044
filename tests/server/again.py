"""A house that is furnished once and begun from again and again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server import db


class Again:
    """What the embedded database of this address holds now, to come back to."""

    def __init__(self, url: str) -> None:
        self.file = db.file(url)
        self.kept = self.file.with_name("kept.db")
        with db.connected():
            db.database.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        self._leave()
        shutil.copy(self.file, self.kept)

    @contextmanager
    def anew(self) -> Iterator[None]:
        """Hold a connection to the database as it was, for the block; what is done in it comes to nothing."""
        self._leave()
        for beside in ("", "-wal", "-shm"):
            Path(f"{self.file}{beside}").unlink(missing_ok=True)
        shutil.copy(self.kept, self.file)
        with db.connected():
            db.database.execute_sql("PRAGMA synchronous = off")
            yield

    def _leave(self) -> None:
        """Let go of the file, also where a connection is kept for the next who needs one."""
        db.database.close()
        db.part()

"""The archive: records that matches were imported from, and the ways in which finished matches are looked for."""

from __future__ import annotations

from typing import Any

import peewee

STATEMENTS = """
ALTER TABLE match ADD COLUMN imported_at BIGINT;
CREATE INDEX match_status_game_finished_at ON match (status, game, finished_at, id);
CREATE INDEX match_status_reason_finished_at ON match (status, reason, finished_at, id);

CREATE TABLE imported (
    match_id INTEGER NOT NULL PRIMARY KEY REFERENCES match (id), digest {bytes} NOT NULL, text TEXT NOT NULL
);
CREATE UNIQUE INDEX imported_digest ON imported (digest);
"""


def up(_migrator: Any, db: Any) -> None:
    """Change the tables."""
    blob = "BLOB" if isinstance(db, peewee.SqliteDatabase) else "BYTEA"
    for statement in STATEMENTS.format(bytes=blob).split(";"):
        if statement.strip():
            db.execute_sql(statement)

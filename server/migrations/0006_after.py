"""What comes beside and after a match: private notes, invitations to accounts, rematches, results kept back."""

from __future__ import annotations

from typing import Any

import peewee

STATEMENTS = """
CREATE TABLE note (
    match_id INTEGER NOT NULL REFERENCES match (id), user_id INTEGER NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
    text TEXT NOT NULL, written_at BIGINT NOT NULL, PRIMARY KEY (match_id, user_id)
);
CREATE INDEX note_user ON note (user_id);
CREATE TABLE invited (
    match_id INTEGER NOT NULL REFERENCES match (id), user_id INTEGER NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
    PRIMARY KEY (match_id, user_id)
);
CREATE INDEX invited_user ON invited (user_id);
CREATE TABLE rematch (
    match_id INTEGER NOT NULL PRIMARY KEY REFERENCES match (id), table_id INTEGER NOT NULL REFERENCES match (id),
    expires_at BIGINT NOT NULL
);
CREATE INDEX rematch_expires_at ON rematch (expires_at);
CREATE INDEX rematch_table ON rematch (table_id);
ALTER TABLE "user" ADD COLUMN keeps_results BOOLEAN NOT NULL DEFAULT {no};
"""


def up(_migrator: Any, db: Any) -> None:
    """Make the tables."""
    no = "0" if isinstance(db, peewee.SqliteDatabase) else "FALSE"
    for statement in STATEMENTS.format(no=no).split(";"):
        if statement.strip():
            db.execute_sql(statement)

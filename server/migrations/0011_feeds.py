"""Feeds that need no session, and addresses that are called when it is somebody's turn."""

from __future__ import annotations

from typing import Any

import peewee

STATEMENTS = """
CREATE TABLE feed (
    hash {blob} NOT NULL PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
    kind VARCHAR(16) NOT NULL, made_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX feed_user_kind ON feed (user_id, kind);

CREATE TABLE webhook (
    user_id INTEGER NOT NULL PRIMARY KEY REFERENCES "user" (id) ON DELETE CASCADE, url VARCHAR(500) NOT NULL,
    secret VARCHAR(64) NOT NULL, made_at BIGINT NOT NULL, failing_since BIGINT, failures SMALLINT NOT NULL,
    stopped VARCHAR(200) NOT NULL
);
"""


def up(_migrator: Any, db: Any) -> None:
    """Make the tables."""
    blob = "BLOB" if isinstance(db, peewee.SqliteDatabase) else "BYTEA"
    for statement in STATEMENTS.format(blob=blob).split(";"):
        if statement.strip():
            db.execute_sql(statement)

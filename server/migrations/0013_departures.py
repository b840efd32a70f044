"""Sessions that have been ended, so that an old cookie brings none of them back."""

from __future__ import annotations

from typing import Any

import peewee

STATEMENTS = """
CREATE TABLE departure (hash {blob} NOT NULL PRIMARY KEY, expires_at BIGINT NOT NULL);
CREATE INDEX departure_expires_at ON departure (expires_at);
"""


def up(_migrator: Any, db: Any) -> None:
    """Make the table."""
    blob = "BLOB" if isinstance(db, peewee.SqliteDatabase) else "BYTEA"
    for statement in STATEMENTS.format(blob=blob).split(";"):
        if statement.strip():
            db.execute_sql(statement)

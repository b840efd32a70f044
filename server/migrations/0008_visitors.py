"""People who play without an account, matches that no list shows, and seats whose players are guided."""

from __future__ import annotations

from typing import Any

import peewee

STATEMENTS = """
ALTER TABLE "user" ADD COLUMN visitor_until BIGINT;
CREATE INDEX user_visitor_until ON "user" (visitor_until);
ALTER TABLE seat ADD COLUMN guided BOOLEAN NOT NULL DEFAULT {no};
ALTER TABLE match ADD COLUMN unlisted BOOLEAN NOT NULL DEFAULT {no};
DROP INDEX match_status_finished_at;
DROP INDEX match_status_game_finished_at;
DROP INDEX match_status_reason_finished_at;
CREATE INDEX match_listed ON match (status, unlisted, finished_at, id);
CREATE INDEX match_listed_game ON match (status, unlisted, game, finished_at, id);
CREATE INDEX match_listed_reason ON match (status, unlisted, reason, finished_at, id);
"""


def up(_migrator: Any, db: Any) -> None:
    """Change the tables."""
    no = "0" if isinstance(db, peewee.SqliteDatabase) else "FALSE"
    for statement in STATEMENTS.format(no=no).split(";"):
        if statement.strip():
            db.execute_sql(statement)

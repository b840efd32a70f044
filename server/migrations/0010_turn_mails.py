"""How people are told of their turns: a word for all matches and one for each seat, and the digest of a day."""

from __future__ import annotations

from typing import Any

STATEMENTS = """
ALTER TABLE "user" ADD COLUMN turn_word VARCHAR(8) NOT NULL DEFAULT 'at-once';
UPDATE "user" SET turn_word = 'off' WHERE NOT turn_mail;
ALTER TABLE "user" DROP COLUMN turn_mail;
ALTER TABLE "user" RENAME COLUMN turn_word TO turn_mail;
ALTER TABLE "user" ADD COLUMN digest_hour SMALLINT NOT NULL DEFAULT 7;
ALTER TABLE "user" ADD COLUMN digest_at BIGINT;
CREATE INDEX user_digest_at ON "user" (digest_at);
ALTER TABLE "user" ADD COLUMN seen_at BIGINT;
ALTER TABLE seat ADD COLUMN turn_mail VARCHAR(8) NOT NULL DEFAULT '';
"""


def up(_migrator: Any, db: Any) -> None:
    """Change the tables."""
    for statement in STATEMENTS.split(";"):
        if statement.strip():
            db.execute_sql(statement)

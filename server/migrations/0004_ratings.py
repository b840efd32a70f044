"""What people did in finished matches, read off each log once, and the ratings that follow from it."""

from __future__ import annotations

from typing import Any

import peewee

STATEMENTS = """
ALTER TABLE match ADD COLUMN rated BOOLEAN NOT NULL DEFAULT {no};
ALTER TABLE match ADD COLUMN counted BOOLEAN NOT NULL DEFAULT {no};
CREATE INDEX match_counted ON match (status, counted, finished_at, id);

CREATE TABLE part (
    match_id INTEGER NOT NULL REFERENCES match (id), user_id INTEGER NOT NULL REFERENCES "user" (id),
    game VARCHAR(32) NOT NULL, finished_at BIGINT NOT NULL, seat SMALLINT NOT NULL, rank SMALLINT,
    won BOOLEAN NOT NULL, shared BOOLEAN NOT NULL, moves INTEGER NOT NULL, timeouts INTEGER NOT NULL,
    lost INTEGER NOT NULL, resigned BOOLEAN NOT NULL, pending BOOLEAN NOT NULL, mu BIGINT, sigma BIGINT, shown INTEGER,
    PRIMARY KEY (match_id, user_id)
) {compact};
CREATE INDEX part_user ON part (user_id, game, finished_at, match_id);
CREATE INDEX part_pending ON part (pending, finished_at, match_id);

CREATE TABLE pace (
    user_id INTEGER NOT NULL REFERENCES "user" (id), month INTEGER NOT NULL, counts TEXT NOT NULL,
    PRIMARY KEY (user_id, month)
);

CREATE TABLE rating (
    user_id INTEGER NOT NULL REFERENCES "user" (id), game VARCHAR(32) NOT NULL, mu BIGINT NOT NULL,
    sigma BIGINT NOT NULL, shown INTEGER NOT NULL, matches INTEGER NOT NULL, last_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, game)
);
CREATE INDEX rating_game_shown ON rating (game, shown, user_id);

CREATE TABLE watermark (name VARCHAR(16) NOT NULL PRIMARY KEY, finished_at BIGINT, match_id INTEGER NOT NULL);
INSERT INTO watermark (name, match_id) VALUES ('ratings', 0);
"""


def up(_migrator: Any, db: Any) -> None:
    """Change the tables."""
    sqlite = isinstance(db, peewee.SqliteDatabase)
    words = {"no": "0" if sqlite else "FALSE", "compact": "WITHOUT ROWID" if sqlite else ""}
    for statement in STATEMENTS.format(**words).split(";"):
        if statement.strip():
            db.execute_sql(statement)

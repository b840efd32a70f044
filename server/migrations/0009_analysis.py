"""How the bots judge finished matches: what has been judged, and which match is next."""

from __future__ import annotations

from typing import Any

STATEMENTS = """
ALTER TABLE match ADD COLUMN judged SMALLINT NOT NULL DEFAULT 0;
CREATE INDEX match_judged ON match (judged, game, status, imported_at, finished_at);

CREATE TABLE analysis (
    match_id INTEGER NOT NULL PRIMARY KEY REFERENCES match (id), chances TEXT, playouts INTEGER NOT NULL,
    made_at BIGINT, draft TEXT, version SMALLINT NOT NULL, tries SMALLINT NOT NULL, leased_until BIGINT,
    fault VARCHAR(200) NOT NULL
);
CREATE INDEX analysis_leased_until ON analysis (leased_until);
"""


def up(_migrator: Any, db: Any) -> None:
    """Change the tables."""
    for statement in STATEMENTS.split(";"):
        if statement.strip():
            db.execute_sql(statement)

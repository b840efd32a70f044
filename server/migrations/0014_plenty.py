"""Indexes for very many matches: those of matches that have ended hold no others, and a person's seats that wait for
nothing any more are told from those that do."""

from __future__ import annotations

from typing import Any

STATEMENTS = """
DROP INDEX match_counted;
DROP INDEX match_judged;
DROP INDEX match_offers;
DROP INDEX match_status_deadline;
DROP INDEX match_status_reminder_at;
DROP INDEX match_bot_acts_deadline;
DROP INDEX match_listed;
DROP INDEX match_listed_game;
DROP INDEX match_listed_reason;
CREATE INDEX match_status ON match (status, id);
CREATE INDEX match_counted ON match (status, counted, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX match_judged ON match (judged, game, status, imported_at, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX match_listed ON match (status, unlisted, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX match_listed_game ON match (status, unlisted, game, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX match_listed_reason ON match (status, unlisted, reason, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX match_deadline ON match (status, deadline) WHERE deadline IS NOT NULL;
CREATE INDEX match_reminder_at ON match (status, reminder_at) WHERE reminder_at IS NOT NULL;
CREATE INDEX match_bot_acts ON match (status, id) WHERE bot_acts;
CREATE INDEX match_offers ON match (status, id) WHERE offers;
CREATE INDEX match_frozen ON match (id) WHERE frozen_at IS NOT NULL;

ALTER TABLE seat ADD COLUMN ended_at BIGINT;
UPDATE seat SET ended_at = (SELECT finished_at FROM match WHERE match.id = seat.match_id)
    WHERE EXISTS (SELECT 1 FROM match WHERE match.id = seat.match_id AND status = 'finished' AND seen >= length)
    OR (EXISTS (SELECT 1 FROM match WHERE match.id = seat.match_id AND status = 'finished') AND NOT EXISTS (
        SELECT 1 FROM "user" WHERE id IN (seat.user_id, seat.owner_id) AND bot = '' AND deleted_at IS NULL
    ));
DROP INDEX seat_user;
DROP INDEX seat_owner;
CREATE INDEX seat_user ON seat (user_id, ended_at, match_id);
CREATE INDEX seat_owner ON seat (owner_id, ended_at, match_id);

DROP INDEX outbox_match_user;
CREATE INDEX outbox_user ON outbox (user_id, match_id, id);
CREATE INDEX outbox_state ON outbox (state, done_at, id) WHERE done_at IS NOT NULL;
CREATE INDEX inbound_state ON inbound (state, received_at);
CREATE INDEX inbound_verdict ON inbound (verdict, id);
CREATE INDEX user_unconfirmed ON "user" (visitor_until, created_at) WHERE confirmed_at IS NULL;
"""


def up(_migrator: Any, db: Any) -> None:
    """Change the tables."""
    for statement in STATEMENTS.split(";"):
        if statement.strip():
            db.execute_sql(statement)

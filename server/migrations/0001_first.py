"""The first schema: people, matches, the append-only log, talk, mails and what guards them."""

from __future__ import annotations

from typing import Any

import peewee

TABLES = """
CREATE TABLE "user" (
    id {id}, name VARCHAR(40) NOT NULL, name_key VARCHAR(80) NOT NULL, email VARCHAR(254), email_key VARCHAR(254),
    confirmed_at BIGINT, password VARCHAR(200) NOT NULL, session_key VARCHAR(32) NOT NULL, zone VARCHAR(64) NOT NULL,
    language VARCHAR(8) NOT NULL, turn_mail BOOLEAN NOT NULL, mail_stopped VARCHAR(200) NOT NULL,
    bot VARCHAR(16) NOT NULL, created_at BIGINT NOT NULL, deleted_at BIGINT
);
CREATE UNIQUE INDEX user_name_key ON "user" (name_key);
CREATE UNIQUE INDEX user_email_key ON "user" (email_key);

CREATE TABLE match (
    id {id}, game VARCHAR(32) NOT NULL, rules SMALLINT NOT NULL, options TEXT NOT NULL, seats SMALLINT NOT NULL,
    pace INTEGER NOT NULL, seating VARCHAR(8) NOT NULL, autostart BOOLEAN NOT NULL, invited_only BOOLEAN NOT NULL,
    host_id INTEGER NOT NULL REFERENCES "user" (id), created_at BIGINT NOT NULL, secret {bytes} NOT NULL,
    status VARCHAR(10) NOT NULL, started_at BIGINT, finished_at BIGINT, length INTEGER NOT NULL, last_hash {bytes},
    to_act VARCHAR(16) NOT NULL, asked INTEGER NOT NULL, bot_acts BOOLEAN NOT NULL, deadline BIGINT,
    reminder_at BIGINT, leased_until BIGINT, reason VARCHAR(40) NOT NULL
);
CREATE INDEX match_status_deadline ON match (status, deadline);
CREATE INDEX match_status_reminder_at ON match (status, reminder_at);
CREATE INDEX match_bot_acts_deadline ON match (bot_acts, deadline);
CREATE INDEX match_status_finished_at ON match (status, finished_at, id);

CREATE TABLE seat (
    id {id}, match_id INTEGER NOT NULL REFERENCES match (id), number SMALLINT,
    user_id INTEGER NOT NULL REFERENCES "user" (id), owner_id INTEGER NOT NULL REFERENCES "user" (id),
    contribution VARCHAR(64) NOT NULL, joined_at BIGINT NOT NULL, seen INTEGER NOT NULL, visited_at BIGINT,
    score INTEGER, won BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX seat_match_owner ON seat (match_id, owner_id);
CREATE UNIQUE INDEX seat_match_number ON seat (match_id, number);
CREATE INDEX seat_user ON seat (user_id);
CREATE INDEX seat_owner ON seat (owner_id);

CREATE TABLE log (
    match_id INTEGER NOT NULL REFERENCES match (id), seq INTEGER NOT NULL, seat SMALLINT, kind VARCHAR(10) NOT NULL,
    text TEXT NOT NULL, at BIGINT NOT NULL, via VARCHAR(5), hash {bytes} NOT NULL, PRIMARY KEY (match_id, seq)
) {compact};

CREATE TABLE talk (
    id {id}, match_id INTEGER NOT NULL REFERENCES match (id), user_id INTEGER NOT NULL REFERENCES "user" (id),
    text TEXT NOT NULL, key VARCHAR(64), at BIGINT NOT NULL
);
CREATE INDEX talk_match ON talk (match_id);
CREATE UNIQUE INDEX talk_user_key ON talk (user_id, key);

CREATE TABLE client_key (
    user_id INTEGER NOT NULL REFERENCES "user" (id), key VARCHAR(64) NOT NULL,
    match_id INTEGER NOT NULL REFERENCES match (id), seq INTEGER NOT NULL, at BIGINT NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX client_key_at ON client_key (at);

CREATE TABLE link (
    hash {bytes} NOT NULL PRIMARY KEY, purpose VARCHAR(16) NOT NULL,
    user_id INTEGER REFERENCES "user" (id) ON DELETE CASCADE, match_id INTEGER REFERENCES match (id),
    expires_at BIGINT NOT NULL, used_at BIGINT
);
CREATE INDEX link_expires_at ON link (expires_at);

CREATE TABLE reply_token (
    hash {bytes} NOT NULL PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES "user" (id) ON DELETE CASCADE,
    match_id INTEGER NOT NULL REFERENCES match (id), seat SMALLINT NOT NULL, asked INTEGER NOT NULL,
    created_at BIGINT NOT NULL, revoked_at BIGINT
);
CREATE INDEX reply_token_created_at ON reply_token (created_at);

CREATE TABLE outbox (
    id {id}, key VARCHAR(120) NOT NULL, kind VARCHAR(16) NOT NULL,
    user_id INTEGER REFERENCES "user" (id) ON DELETE CASCADE, address VARCHAR(254) NOT NULL,
    match_id INTEGER REFERENCES match (id), seat SMALLINT, asked INTEGER, facts TEXT NOT NULL,
    message_id VARCHAR(64) NOT NULL, created_at BIGINT NOT NULL, due_at BIGINT NOT NULL, state VARCHAR(8) NOT NULL,
    unsure BOOLEAN NOT NULL, alarm BOOLEAN NOT NULL, attempts SMALLINT NOT NULL,
    lease VARCHAR(32) NOT NULL, done_at BIGINT, note VARCHAR(200) NOT NULL
);
CREATE UNIQUE INDEX outbox_key ON outbox (key);
CREATE INDEX outbox_done_at_due_at ON outbox (done_at, due_at);
CREATE INDEX outbox_match_user ON outbox (match_id, user_id, id);

CREATE TABLE attempt (
    key VARCHAR(100) NOT NULL, stretch BIGINT NOT NULL, count INTEGER NOT NULL, expires_at BIGINT NOT NULL,
    PRIMARY KEY (key, stretch)
);
CREATE INDEX attempt_expires_at ON attempt (expires_at);

CREATE TABLE job (
    name VARCHAR(32) NOT NULL PRIMARY KEY, began_at BIGINT NOT NULL, succeeded_at BIGINT, fault VARCHAR(200) NOT NULL
);
"""

# INSERT OR REPLACE deletes without a delete trigger; the insert trigger refuses it, since the number is not the next.
GUARDS_SQLITE = (
    """CREATE TRIGGER log_never_changes BEFORE UPDATE ON log
       BEGIN SELECT RAISE(ABORT, 'log rows are never changed'); END""",
    """CREATE TRIGGER log_never_shrinks BEFORE DELETE ON log
       BEGIN SELECT RAISE(ABORT, 'log rows are never deleted'); END""",
    """CREATE TRIGGER log_has_no_gaps BEFORE INSERT ON log
       WHEN NEW.seq <> (SELECT coalesce(max(seq) + 1, 0) FROM log WHERE match_id = NEW.match_id)
       BEGIN SELECT RAISE(ABORT, 'log rows follow each other without gaps'); END""",
)
GUARDS_POSTGRESQL = (
    """CREATE FUNCTION log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'log rows are never changed or deleted'; END $$""",
    """CREATE FUNCTION log_has_no_gaps() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         IF NEW.seq <> (SELECT coalesce(max(seq) + 1, 0) FROM log WHERE match_id = NEW.match_id) THEN
           RAISE EXCEPTION 'log rows follow each other without gaps';
         END IF;
         RETURN NEW;
       END $$""",
    """CREATE TRIGGER log_never_changes BEFORE UPDATE OR DELETE ON log
       FOR EACH ROW EXECUTE FUNCTION log_is_append_only()""",
    """CREATE TRIGGER log_never_shrinks BEFORE TRUNCATE ON log
       FOR EACH STATEMENT EXECUTE FUNCTION log_is_append_only()""",
    "CREATE TRIGGER log_has_no_gaps BEFORE INSERT ON log FOR EACH ROW EXECUTE FUNCTION log_has_no_gaps()",
)


def up(_migrator: Any, db: Any) -> None:
    """Create everything."""
    sqlite = isinstance(db, peewee.SqliteDatabase)
    words = {
        "id": "INTEGER NOT NULL PRIMARY KEY" if sqlite else "INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
        "bytes": "BLOB" if sqlite else "BYTEA",
        "compact": "WITHOUT ROWID" if sqlite else "",
    }
    for statement in TABLES.format(**words).split(";"):
        if statement.strip():
            db.execute_sql(statement)
    for statement in GUARDS_SQLITE if sqlite else GUARDS_POSTGRESQL:
        db.execute_sql(statement)

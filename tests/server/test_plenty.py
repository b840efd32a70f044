"""A house filled with plenty: what is put in beside the services is what they would have made of it."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from house import START, House

from bench import plenty
from server import archive, audit, db, home, log, outbox, ratings
from server.models import LogRow, Match, Outbox, Pace, Part, Rating, Seat, Talk, User

FINISHED, RUNNING, PEOPLE = 60, 50, 30
migration = import_module("server.migrations.0014_plenty")
NOW = START + timedelta(days=900)


@pytest.fixture
def full(database: str) -> Any:
    """A database of each kind with matches in it, and the number of rows of their logs."""
    rows = plenty.fill(database, FINISHED, RUNNING, PEOPLE, NOW)
    with db.connected():
        yield rows


def noted(model: Any) -> list[Any]:
    """Return all that is in a table."""
    return sorted(model.select().tuples(), key=str)


def test_every_match_is_what_its_log_says_and_was_dealt_fairly(full: int) -> None:
    assert LogRow.select().count() == full
    for match in Match.select():
        assert audit.verify(match.id) == []
        if match.status == "finished":
            assert archive.doubts(match) == []
    statuses = [match.status for match in Match.select().order_by(Match.id)]
    assert statuses == ["finished"] * FINISHED + ["running"] * RUNNING


def test_the_guards_of_the_log_are_there_again(full: int) -> None:
    last = log.get(FINISHED + RUNNING)
    gap = {"seat": None, "kind": "move", "text": "x", "at": NOW, "via": "web", "hash": bytes(32)}
    with pytest.raises(db.Broken, match="follow each other without gaps"), db.transaction():
        LogRow.insert(match=last, seq=last.length + 2, **gap).execute()
    assert db.triggers() >= {"log_has_no_gaps", "log_never_changes", "log_never_shrinks"}
    db.require_current()


def test_what_is_counted_of_people_is_what_a_count_from_the_logs_gives(full: int) -> None:
    before = [noted(table) for table in (Part, Pace, Rating)]
    assert all(before)
    ratings.rebuild(NOW)
    assert [noted(table) for table in (Part, Pace, Rating)] == before


def test_people_and_mails_are_as_in_a_house_that_is_used(full: int, database: str) -> None:
    ailsa = User.get(User.name == "Ailsa")
    assert home.finished(ailsa, 5)
    assert Talk.select().exists()
    told = Outbox.select().where((Outbox.kind == "turn") & (Outbox.state == "sent"))
    assert told.exists()
    assert all(outbox.told("turn", mail.user, mail.match, mail.asked) for mail in told)
    seen = Seat.select().where(Seat.ended_at.is_null(False))
    assert 0 < seen.count() < Seat.select().join(Match).where(Match.status == "finished").count()
    due = Match.select().where((Match.deadline <= NOW) | (Match.reminder_at <= NOW))
    assert not due.exists()


def test_the_filled_house_goes_on_with_the_next_match(full: int) -> None:
    match = Match.create(
        game="clans",
        rules=1,
        options={},
        seats=2,
        clock={},
        seating="join",
        autostart=True,
        invited_only=False,
        host=User.get(User.name == "Ailsa"),
        created_at=NOW,
        secret=b"",
    )
    assert match.id == FINISHED + RUNNING + 1


def test_only_an_empty_database_is_filled(house: House, database: str) -> None:
    with pytest.raises(ValueError, match="not empty"):
        plenty.fill(database, 1, 1, 10, NOW)


def test_the_report_tells_what_a_row_takes(full: int, database: str) -> None:
    assert f"{full:,} rows of logs take" in plenty.report(database)


def test_seats_of_an_older_house_are_filed_as_those_of_a_new_one(full: int) -> None:
    before = noted(Seat)
    with db.transaction():
        Seat.update(ended_at=None).execute()
        (filing,) = [each for each in migration.STATEMENTS.split(";") if "UPDATE seat" in each]
        db.database.execute_sql(filing)
    assert noted(Seat) == before

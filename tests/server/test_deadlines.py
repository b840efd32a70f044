"""Deadlines and reminders: found by a query, claimed with a lease, fired once and never early."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from house import START, House
from together import damage, in_parallel, quick_pictures

from server import audit, columns, db, deadlines, letters, lobby, log, outbox, play, seating, wording
from server import timeouts as server_timeouts
from server.errors import Refused
from server.models import LogRow, Match, Outbox


@pytest.fixture(autouse=True)
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of a mail's time and is tested elsewhere."""
    quick_pictures(monkeypatch)


def timeouts(match: Match) -> int:
    """Return how many time-outs a match has in its log."""
    return LogRow.select().where((LogRow.match == match) & (LogRow.kind == "timeout")).count()


def plan(statement: str, values: list[object]) -> str:
    """Return how the database would carry the statement out if the table were too large to read through."""
    if db.on_sqlite():
        return str(list(db.database.execute_sql(f"EXPLAIN QUERY PLAN {statement}", values)))
    with db.transaction():
        db.database.execute_sql("SET LOCAL enable_seqscan = off")
        return str(list(db.database.execute_sql(f"EXPLAIN {statement}", values)))


@pytest.mark.parametrize(
    ("search", "index"),
    [
        (lambda now: list(deadlines.due(now, 100)), "match_deadline"),
        (lambda now: list(deadlines.to_remind(now, 100)), "match_reminder_at"),
        (lambda now: outbox.deliver_due(None, None, lambda: now), "outbox_done_at_due_at"),
    ],
)
def test_due_work_is_found_by_one_indexed_query(
    house: House, caplog: pytest.LogCaptureFixture, search: Callable, index: str
) -> None:
    match = house.started("Ailsa", "Bran")
    with db.transaction():
        Outbox.update(state="sent", done_at=house.now).execute()
        for number in range(1, 600):
            # Half of them have ended, the others have time.
            status, instant = ("running", START + timedelta(days=number)) if number % 2 else ("finished", None)
            fields = {**match.__data__, "status": status, "deadline": instant, "reminder_at": instant}
            Match.insert(**{name: value for name, value in fields.items() if name != "id"}).execute()
    db.database.execute_sql("ANALYZE")
    caplog.set_level(logging.DEBUG, "peewee")
    search(house.now)
    queries = [record.msg for record in caplog.records if record.name == "peewee" and "ORDER BY" in record.msg[0]]
    queries = queries or [record.msg for record in caplog.records if "SELECT" in str(record.msg[0])]
    caplog.set_level(logging.WARNING, "peewee")
    assert len(queries) == 1
    assert index in plan(*queries[0])


def test_a_deadline_fires_at_its_instant_and_not_before(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    house.now = match.deadline - timedelta(milliseconds=1)
    assert deadlines.run(lambda: house.now) == 0
    assert house.played(match).rows[2:] == []
    house.later(milliseconds=1)
    assert deadlines.run(lambda: house.now) == 1
    assert [row.kind for row in house.played(match).rows[2:]] == ["timeout", "move"]


def test_the_sweep_may_run_twice_at_the_same_instant(house: House) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin")
    house.later(days=1)
    assert deadlines.run(lambda: house.now) == 1
    before = house.played(match).rows, Outbox.select().count()
    assert deadlines.run(lambda: house.now) == 0
    assert (house.played(match).rows, Outbox.select().count()) == before


def test_a_match_nobody_visits_comes_to_its_end(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin", pace=3600)
    for _ in range(400):
        house.later(hours=1)
        deadlines.run(lambda: house.now)
    match = log.get(match.id)
    assert match.status == "finished"
    assert audit.verify(match.id) == []
    assert timeouts(match) <= 2 * 3
    assert deadlines.run(lambda: house.later(days=30)) == 0


@pytest.mark.parametrize("status", ["open", "cancelled", "finished"])
def test_only_running_matches_run_out_of_time(house: House, status: str) -> None:
    match = house.table("Ailsa", seats=2) if status != "finished" else house.started("Ailsa", "Bran")
    if status == "cancelled":
        lobby.leave(match.id, house.people["Ailsa"])
    elif status == "finished":
        seating.resign(match.id, house.people["Bran"], "web", now=house.now)
    house.later(days=50)
    assert deadlines.run(lambda: house.now) == deadlines.remind(house.now) == 0
    # Even a stale column does not bring a finished match back to life.
    with db.transaction():
        Match.update(status="running", deadline=START).where(Match.id == match.id).execute()
    if status == "finished":
        assert deadlines.run(lambda: house.now) == 0


def test_of_three_schedulers_one_wins(house: House) -> None:
    matches = [house.begun("Ailsa", "Bran", "Catrin") for _ in range(4)]
    house.later(days=1)
    moved = in_parallel(*[lambda: deadlines.run(lambda: house.now)] * 3)
    assert sum(moved) == 4
    assert [timeouts(match) for match in matches] == [1] * 4
    keys = [mail.key for mail in Outbox.select()]
    assert len(keys) == len(set(keys))


def test_a_claim_is_for_one(house: House) -> None:
    house.started("Ailsa", "Bran")
    house.later(days=1)
    first, second = deadlines.due(house.now, 9), deadlines.due(house.now, 9)
    assert len(deadlines.claim(first, house.now)) == 1
    assert deadlines.claim(second, house.now) == []
    assert list(deadlines.due(house.now, 9)) == []


def test_schedulers_that_look_at_the_same_moment_take_different_matches(house: House) -> None:
    for _ in range(6):
        house.started("Ailsa", "Bran")
    house.later(days=1)

    def take() -> list[int]:
        return [match.id for match in deadlines.claim(deadlines.due(house.now, 2), house.now)]

    taken = in_parallel(*[take] * 3)
    assert sorted(number for some in taken for number in some) == list(range(1, 7))


def test_the_lease_of_a_scheduler_that_died_runs_out(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    house.later(days=1)
    assert deadlines.claim(deadlines.due(house.now, 9), house.now) == [match]
    house.later(seconds=119)
    assert deadlines.run(lambda: house.now) == 0
    house.later(seconds=1)
    assert deadlines.run(lambda: house.now) == 1
    assert timeouts(match) == 1


def test_a_claim_on_a_deadline_that_has_moved_is_nobodys(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    late = deadlines.due(house.later(hours=24), 9)
    assert list(late.clone()) == [match]
    house.now = START + timedelta(hours=23)
    house.move(match)
    assert deadlines.claim(late, house.later(hours=1)) == []


def test_a_damaged_match_does_not_hold_up_the_others(house: House, caplog: pytest.LogCaptureFixture) -> None:
    bad, good = house.started("Ailsa", "Bran"), house.started("Ailsa", "Bran")
    damage(bad)
    house.later(days=1)
    assert deadlines.run(lambda: house.now) == 1
    assert f"match {bad.id} cannot be timed out" in caplog.text
    assert timeouts(good) == 1
    assert log.get(bad.id).length == 0


def test_a_fault_of_the_program_in_one_match_does_not_hold_up_the_others(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = house.started("Ailsa", "Bran"), house.started("Ailsa", "Bran")
    time_out = server_timeouts.time_out

    def faulty(match_id: int, **given: object) -> bool:
        if match_id == bad.id:
            raise ZeroDivisionError
        return time_out(match_id, **given)

    monkeypatch.setattr(server_timeouts, "time_out", faulty)
    house.later(days=1)
    assert deadlines.run(lambda: house.now) == 1
    assert timeouts(good) == 1
    assert "ZeroDivisionError" in caplog.text


def test_one_reminder_when_four_fifths_are_gone(house: House) -> None:
    match = house.started("Ailsa", "Bran", pace=10 * 3600)
    house.later(hours=8, seconds=-1)
    assert deadlines.remind(house.now) == 0
    house.later(seconds=1)
    assert deadlines.remind(house.now) == 1
    assert deadlines.remind(house.now) == 0
    (mail,) = house.queued(kind="reminder")
    assert mail.key.endswith(f" {match.deadline.timestamp():.0f} 80")
    assert mail.user == log.places(match)[house.played(match).position.to_act[0]].user
    (message,) = [one for one in house.mail() if "a reminder" in one.text]
    assert "that is 2 hours." in message.text.replace("\n", " ")
    house.move(match)
    house.later(hours=8)
    assert deadlines.remind(house.now) == 1, "another deadline has a reminder of its own"


def test_a_reminder_is_withdrawn_when_the_move_arrives(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    house.mail()
    house.later(hours=20)
    deadlines.remind(house.now)
    house.move(match)
    assert [message.text.count("a reminder") for message in house.mail()] == [0]
    assert Outbox.get(Outbox.kind == "reminder").note == "the turn was taken meanwhile"
    house.now = match.reminder_at
    assert deadlines.remind(house.now) == 0


def test_nobody_is_reminded_of_a_time_that_is_over(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    house.later(days=1)
    assert deadlines.remind(house.now) == 0
    deadlines.run(lambda: house.now)
    assert log.get(match.id).reminder_at == house.now + timedelta(seconds=86400 * 4 / 5)


def test_schedulers_remind_once(house: House) -> None:
    house.started("Ailsa", "Bran")
    house.later(hours=20)
    assert sum(in_parallel(*[lambda: deadlines.remind(house.now)] * 3)) == 1
    assert len(house.queued(kind="reminder")) == 1


def test_a_reminder_that_was_overtaken_by_a_move_is_not_queued(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.started("Ailsa", "Bran")
    house.later(hours=20)
    inner = db.transaction
    monkeypatch.setattr(db, "transaction", lambda: (monkeypatch.undo(), house.move(match), inner())[-1])
    assert deadlines.remind(house.now) == 0
    assert house.queued(kind="reminder") == []


def test_a_bot_is_not_reminded(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    seat = house.played(match).position.to_act[0]
    seating.resign(match.id, log.places(match)[seat].user, "web", now=house.now)
    assert deadlines.remind(house.later(hours=20)) == 0
    assert house.queued(kind="reminder") == []


def test_a_clock_that_jumps_a_day_ahead_and_back_fires_nothing_twice_or_early(house: House) -> None:
    match, other = house.begun("Ailsa", "Bran"), house.begun("Ailsa", "Bran", pace=3 * 86400)
    house.mail()
    house.later(days=1, hours=1)
    assert deadlines.run(lambda: house.now) == 1
    deadlines.remind(house.now)
    house.mail()
    after = log.get(match.id)
    house.later(days=-1)
    for _ in range(24 * 2):
        house.later(minutes=30)
        assert deadlines.run(lambda: house.now) == deadlines.remind(house.now) == 0
        assert house.mail() == []
    assert timeouts(match) == 1
    assert after.deadline == START + timedelta(days=2, hours=1), "a day from the time-out, as the clock then said"
    assert log.get(other.id).deadline == START + timedelta(days=3)
    # A person may go on at once, and time is counted from his move.
    house.move(match)
    assert log.get(match.id).deadline == house.now + timedelta(days=1)
    assert audit.verify(match.id) == []


def test_a_move_and_a_time_out_in_the_same_instant_have_one_winner(house: House) -> None:
    won = set()
    for number in range(8):
        match = house.begun("Ailsa", "Bran", "Catrin")
        played = house.played(match)
        seat, asked = played.position.to_act[0], played.position.seq
        by, text = log.places(match)[seat].user, played.view(seat).moves[-1]
        house.now = match.deadline

        def move(match: Match = match, seat: int = seat, by: object = by, text: str = text, asked: int = asked) -> str:
            return play.submit(match.id, seat, text, asked, by, "web", now=house.now).text

        works = [move, lambda match=match: server_timeouts.time_out(match.id, now=house.now)]
        results = in_parallel(*works) if number % 2 else in_parallel(*works[::-1])[::-1]
        rows = [row.kind for row in house.played(match).rows[3:]]
        assert (rows, *results) in [(["move"], text, False), (["timeout", "move"], "stale", True)]
        assert audit.verify(match.id) == []
        won.add(len(rows))
        with pytest.raises(Refused) as caught:
            move()
        assert bool("ran out of time" in str(caught.value.since)) == (len(rows) == 2)


def test_the_deadline_shown_is_the_one_enforced(house: House) -> None:
    chance = random.Random(7)
    for _ in range(6):
        match = house.started("Ailsa", "Bran", pace=chance.randrange(3600, 30 * 86400))
        for _ in range(chance.randrange(3)):
            house.later(milliseconds=chance.randrange(10**6))
            house.move(match)
        match = log.get(match.id)
        assert match.deadline == columns.deadline(house.played(match))
        house.now = match.deadline - timedelta(seconds=chance.randrange(1, 3000))
        with db.transaction():
            Outbox.update(state="dropped", done_at=house.now).where(Outbox.match != match).execute()
        told = [message.text for message in house.mail() if "You have until" in message.text]
        assert len(told) == 1
        text = told[0].replace("\n", " ")
        assert f"until {wording.when(match.deadline, 'UTC')}" in text
        assert f"that is {wording.span(match.deadline - house.now)}." in text
        assert server_timeouts.time_out(match.id, now=match.deadline - timedelta(milliseconds=1)) is False
        assert server_timeouts.time_out(match.id, now=match.deadline) is True


def test_a_table_says_its_whole_time_rule(house: House) -> None:
    clock = {"move": 2 * 86400, "bank": 86400, "weekend": True, "missing": "vote"}
    match = house.table("Ailsa", seats=2, clock=clock)
    lobby.invite(match.id, house.people["Ailsa"], "eve@example.org", house.now)
    house.started("Bran", "Catrin", clock=clock)
    said = log.rule_sentence(match)
    assert "2 days for each move" in said
    for message in house.mail():
        assert said in " ".join(message.text.split())
    assert letters.LIVES["start"] <= timedelta(days=3)

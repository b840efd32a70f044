"""The ticking: every job is noted, none ends the others, and a fault is seen from outside."""

from __future__ import annotations

import dataclasses
import logging
import threading
from datetime import timedelta

import pytest
from apscheduler.events import EVENT_JOB_MAX_INSTANCES
from house import House
from together import quick_pictures

from server import clock, db, deadlines, log, outages, outbox, scheduler, throttle
from server.models import Attempt, ClientKey, Job, Link, LogRow, Outbox
from server.scheduler import Scheduler


@pytest.fixture
def at(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """A house whose clock is everybody's."""
    monkeypatch.setattr(clock, "now", lambda: house.now)
    quick_pictures(monkeypatch)
    return house


def ticking(house: House) -> Scheduler:
    """Return a scheduler that delivers into the house's own post."""
    made = Scheduler(house.settings)
    made.channel, made.thinkers = house.post, house.thinkers
    return made


def test_every_job_does_its_work_and_is_noted(at: House) -> None:
    match = at.begun("Ailsa", "Bran", "Catrin")
    made = ticking(at)
    made.run("outbox")
    assert len(at.post.messages) == 3
    at.later(hours=20)
    made.run("reminders")
    made.run("outbox")
    assert "a reminder" in at.post.messages[-1].text
    at.later(hours=4)
    for name in made.jobs:
        made.run(name)
    assert [row.kind for row in at.played(match).rows[3:]] == ["timeout", "move"]
    jobs = {job.name: job for job in Job.select().where(Job.name != outages.BEAT)}
    assert set(jobs) == set(made.jobs)
    assert {(job.began_at, job.succeeded_at, job.fault) for job in jobs.values()} == {(at.now, at.now, "")}


def test_a_job_that_fails_is_noted_with_its_fault_and_the_others_go_on(
    at: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = ticking(at)
    made.run("deadlines")
    before = at.now
    at.later(minutes=5)
    monkeypatch.setattr(deadlines, "run", lambda _: 1 // 0)
    made.run("deadlines")
    made.run("bots")
    job = Job.get(Job.name == "deadlines")
    assert (job.began_at, job.succeeded_at) == (at.now, before)
    assert job.failed_at == at.now
    assert job.fault.startswith("ZeroDivisionError in ")
    assert "job deadlines failed" in caplog.text
    assert Job.get(Job.name == "bots").fault == ""
    monkeypatch.undo()
    monkeypatch.setattr(clock, "now", lambda: at.now)
    made.run("deadlines")
    job = Job.get(Job.name == "deadlines")
    assert (job.succeeded_at, job.failed_at) == (at.now, at.now)
    assert job.fault.startswith("ZeroDivisionError"), "the last fault is remembered"


def test_without_a_way_out_mail_waits(at: House) -> None:
    at.started("Ailsa", "Bran")
    made = Scheduler(at.settings)
    assert made.channel is None
    made.run("outbox")
    assert len(at.queued()) == 2
    assert Job.get(Job.name == "outbox").fault == ""
    made.ticker.start()
    made.stop()


def test_what_has_expired_is_forgotten_and_nothing_else(at: House) -> None:
    match = at.started("Ailsa", "Bran")
    at.move(match, key="once")
    throttle.count("talk by", "1", at.now)
    at.mail()
    links, rows = Link.select().count(), LogRow.select().count()
    assert links
    scheduler.sweep(at.later(days=29))
    assert (ClientKey.select().count(), Link.select().count(), Attempt.select().count()) == (1, links, 0)
    scheduler.sweep(at.later(days=2))
    assert ClientKey.select().count() == 0
    scheduler.sweep(at.later(days=400))
    assert Link.select().count() == 0
    assert LogRow.select().count() == rows
    assert Outbox.select().count() > 0


def test_a_started_scheduler_ticks_until_it_is_stopped(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ticked, closed = threading.Event(), threading.Event()
    made = Scheduler(dataclasses.replace(cottage.settings, tick_seconds=1))
    made.channel = cottage.post
    monkeypatch.setattr(cottage.post, "close", closed.set)
    monkeypatch.setattr(outbox, "deliver_due", lambda *_: ticked.set())
    made.start()
    jobs = made.ticker.get_jobs()
    assert {str(job.trigger.interval) for job in jobs} == {"0:00:01", "1:00:00"}
    for job in jobs:
        assert (job.coalesce, job.max_instances, job.misfire_grace_time, job.trigger.jitter) == (True, 1, None, None)
        assert str(job.trigger.timezone) == "UTC"
    assert ticked.wait(10)
    made.stop()
    assert closed.is_set()
    assert not made.ticker.running
    with db.connected():
        assert Job.get(Job.name == "outbox").succeeded_at is not None


def test_a_job_that_outlasts_a_tick_is_not_worth_a_line_and_all_else_is(
    cottage: House, caplog: pytest.LogCaptureFixture
) -> None:
    made = Scheduler(dataclasses.replace(cottage.settings, tick_seconds=1))
    free, late = threading.Event(), threading.Event()
    made.jobs = {"outbox": free.wait}
    made.ticker.add_listener(lambda _: late.set(), EVENT_JOB_MAX_INSTANCES)
    made.start()
    assert late.wait(10)
    free.set()
    made.stop()
    assert not caplog.records
    logging.getLogger("apscheduler.scheduler").warning("something else")
    assert [line.getMessage() for line in caplog.records] == ["something else"]


def test_a_tick_missed_by_a_sleeping_machine_is_made_up_for_by_what_is_due(at: House) -> None:
    """Work is found by what is due, not by when a job should have run."""
    match = at.begun("Ailsa", "Bran")
    at.now += timedelta(days=3)
    made = ticking(at)
    for name in made.jobs:
        made.run(name)
    assert log.get(match.id).length == 4
    assert log.get(match.id).deadline == at.now + timedelta(days=1)


def test_a_scheduler_that_is_told_to_stop_ends_after_the_job_in_hand(
    cottage: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, done = threading.Event(), threading.Event()
    made = Scheduler(dataclasses.replace(cottage.settings, tick_seconds=1))
    made.channel = cottage.post

    def slow(*_: object) -> None:
        begun.set()
        threading.Event().wait(0.5)
        done.set()

    monkeypatch.setattr(outbox, "deliver_due", slow)
    made.start()
    assert begun.wait(10)
    made.stop()
    assert done.is_set()

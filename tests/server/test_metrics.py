"""How the house tells Prometheus, and whoever asks whether it is ready, how it does."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from house import House, house_settings
from prometheus_client.parser import text_string_to_metric_families
from visitor import Visitor, application, error

from server import db, gauges, keeping, log, scheduler
from server.inbound import door
from server.models import Match, Outbox
from server.shelf import Shelf
from server.web import streams

TOKEN = "only-for-the-tests-and-long"
GIVEN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def told(house: House, monkeypatch: pytest.MonkeyPatch) -> Visitor:
    """A stranger at a house that tells."""
    house.settings = house_settings(house.settings.database, house.settings.data, METRICS_TOKEN=TOKEN)
    return Visitor(application(house, monkeypatch))


def numbers(visitor: Visitor) -> dict[str, float]:
    """Return every number that is told, by its name and labels."""
    answer = visitor.get("/metrics", headers=GIVEN)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return {
        f"{sample.name} {' '.join(sample.labels.values())}".strip(): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_only_who_knows_the_token_is_told(told: Visitor) -> None:
    for given in ({}, {"Authorization": "Bearer x"}, {"Authorization": TOKEN}, {"Authorization": "Bearer é"}):
        answer = told.get("/metrics", headers={**given, "Accept": "application/json"})
        assert (answer.status_code, error(answer)) == (403, "bad-credentials")


def test_without_a_token_there_is_no_such_page(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(application(cottage, monkeypatch))
    assert visitor.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_what_waits_is_told_as_the_database_knows_it(house: House, told: Visitor) -> None:
    match = house.begun("Ailsa", "Bran")
    house.table("Catrin", seats=3)
    door.take(b"Subject: Hello\n\n", door.Envelope("smtp"), house.now)
    scheduler.note("deadlines", house.now, house.now)
    scheduler.note("bots", house.now, None, "ZeroDivisionError in server/bots.py:1 run")
    house.later(days=2)
    found = numbers(told)
    assert found["clachan_deadline_lag_seconds"] == (house.now - log.get(match.id).deadline).total_seconds()
    assert found["clachan_outbox_age_seconds"] == found["clachan_inbound_age_seconds"] == 2 * 86400
    assert found["clachan_mails queued"] == Outbox.select().count()
    assert found["clachan_queue inbound"] == 1
    assert (found["clachan_matches open"], found["clachan_matches running"]) == (1, 1)
    assert found["clachan_job_age_seconds deadlines"] == 2 * 86400
    assert (found["clachan_job_failing deadlines"], found["clachan_job_failing bots"]) == (0, 1)
    assert "clachan_job_age_seconds bots" not in found, "it has never succeeded"
    house.mail()
    assert numbers(told)["clachan_mails queued"] == 0
    assert numbers(told)["clachan_open_streams"] == 0


def test_what_this_process_did_is_counted(house: House, told: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.begun("Ailsa", "Bran")
    before = numbers(told)
    told.get(f"/matches/{match.id}")
    told.get("/matches/999")
    house.move(match)
    monkeypatch.setattr(log, "_shelf", Shelf())  # as after a new start
    told.get(f"/matches/{match.id}")
    found = numbers(told)

    def more(name: str) -> float:
        return found[name] - before.get(name, 0)

    assert more("clachan_rows_total move") == 1
    assert more("clachan_requests_total match.show 200") == 2
    assert more("clachan_requests_total match.show 404") == 1
    assert more("clachan_request_seconds_count match.show") == 3
    assert more("clachan_replay_seconds_count") == 1
    told.get("/no/such/page")
    assert numbers(told)["clachan_requests_total none 404"] >= 1


def test_open_streams_are_those_of_the_web_server(told: Visitor) -> None:
    answer = told.get("/metrics", headers=GIVEN, environ_overrides={streams.OFFER: ["one", "another"]})
    assert "clachan_open_streams 2.0" in answer.text


def test_no_name_and_no_secret_is_told(house: House, told: Visitor) -> None:
    match = house.begun("Ailsa", "Bran")
    secret = bytes(match.secret).hex()
    keeping.freeze(match.id, house.person("Fearghas", admin=True), "A reason", house.now)
    text = told.get("/metrics", headers=GIVEN).text
    for word in ("Ailsa", "ailsa", "example.org", "A reason", TOKEN, secret):
        assert word not in text
    assert not re.search(r'(?:match|user|seat)="', text)


def test_counting_ends_somewhere(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        house.table("Ailsa", seats=2)
    monkeypatch.setattr(gauges, "MOST", 2)
    assert gauges.count(Match.select(Match.id)) == 2


def test_what_is_asked_goes_along_indexes(cottage: House) -> None:
    asked: list[str] = []
    original = db.database.obj.execute_sql

    def noted(sql: str, params: object = None, *more: object) -> object:
        asked.append((sql, params))
        return original(sql, params, *more)

    db.database.obj.execute_sql = noted
    try:
        gauges.mails(cottage.now)
        gauges.queues()
        gauges.lag(cottage.now)
        gauges.overdue(cottage.now)
    finally:
        del db.database.obj.execute_sql
    assert len(asked) >= 10
    for sql, params in asked:
        plan = original(f"EXPLAIN QUERY PLAN {sql}", params).fetchall()
        scans = [
            line for *_, line in plan if re.match(r"SCAN \w+$", line) and "subq" not in line and "_wrapped" not in line
        ]
        assert not scans, sql


def test_readiness_counts_overdue_jobs_and_deadlines(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(application(cottage, monkeypatch))
    cottage.begun("Ailsa", "Bran")
    for name in ("deadlines", "bots"):
        scheduler.note(name, cottage.now, cottage.now)
    answer = visitor.get("/readyz")
    assert (answer.status_code, answer.get_json()["overdue"]) == (200, {"jobs": 0, "deadlines": 0})
    scheduler.note("bots", cottage.later(seconds=5), None, "ZeroDivisionError")
    assert visitor.get("/readyz").get_json()["failing"] == ["bots"]
    cottage.later(days=2)
    scheduler.note("deadlines", cottage.now, cottage.now)
    answer = visitor.get("/readyz")
    assert answer.status_code == 503
    assert answer.get_json()["overdue"] == {"jobs": 1, "deadlines": 1}
    assert answer.get_json()["late"] == ["bots"]


def test_a_rare_job_is_late_only_after_hours(cottage: House) -> None:
    scheduler.note("sweep", cottage.now, cottage.now)
    assert not gauges.works(cottage.now + timedelta(hours=2), 5)[0].late
    assert gauges.works(cottage.now + timedelta(hours=4), 5)[0].late

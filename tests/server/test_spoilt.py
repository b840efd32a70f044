"""One spoilt row harms nobody but its own match, mail or person."""

from __future__ import annotations

from datetime import datetime

import flask
import pytest
from house import House
from visitor import Visitor, application

from server import audit, db, deadlines, home, log, outbox
from server.letters import writer
from server.models import LogRow, Outbox


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def spoil(table: str, number: int, **values: object) -> None:
    """Write into a row past all models."""
    with db.transaction():
        for name, value in values.items():
            db.database.execute_sql(f"UPDATE {table} SET {name} = ? WHERE id = ?", (value, number))


def test_the_way_to_the_next_match_leads_past_one_that_is_frozen(cottage: House) -> None:
    first, frozen, last = (cottage.started("Ailsa", "Bran", clock={"move": day * 86400}) for day in (1, 2, 3))
    ailsa = cottage.people["Ailsa"]
    for match in (first, frozen, last):
        if cottage.played(match).position.to_act != (0,):
            cottage.move(match)
    assert home.next_waiting(ailsa, log.get(first.id)) == frozen
    db.database.execute_sql("DROP TRIGGER log_never_changes")
    LogRow.update(text="{").where((LogRow.match == frozen) & (LogRow.seq == 0)).execute()
    assert home.next_waiting(ailsa, log.get(first.id)) == last
    assert home.next_waiting(ailsa, log.get(frozen.id)) == last
    assert home.next_waiting(ailsa, log.get(last.id)) == first
    while cottage.played(first).position.to_act == (0,):
        cottage.move(first)
    assert home.next_waiting(ailsa, log.get(last.id)) is None


@pytest.mark.parametrize(
    "values",
    [{"options": "{"}, {"options": "[]"}, {"deadline": 9 * 10**18}, {"to_act": "x"}],
    ids=str,
)
def test_a_spoilt_match_keeps_nobody_from_the_others(
    cottage: House, app: flask.Flask, values: dict[str, object]
) -> None:
    spoilt, sound = cottage.started("Ailsa", "Bran"), cottage.started("Ailsa", "Bran")
    spoil("match", spoilt.id, **values)
    ailsa = Visitor(app, cottage.people["Ailsa"])
    for path in ("/", "/tables", "/archive", f"/matches/{sound.id}", f"/matches/{spoilt.id}", "/rules/clans"):
        assert ailsa.get(path).status_code == 200, path
    assert audit.verify(spoilt.id)
    assert audit.verify(sound.id) == []
    cottage.later(days=2)
    deadlines.run(lambda: cottage.now)
    assert [row.kind for row in cottage.played(sound).rows] == ["timeout", "takeover", "offer"]


@pytest.mark.parametrize("values", [{"options": "{"}, {"options": "[]"}, {"game": "gone"}], ids=str)
def test_a_spoilt_table_keeps_nobody_from_the_others(
    cottage: House, app: flask.Flask, values: dict[str, object]
) -> None:
    spoilt, sound = cottage.table("Ailsa", seats=2), cottage.table("Bran", seats=2)
    spoil("match", spoilt.id, **values)
    for visitor in (Visitor(app), Visitor(app, cottage.people["Ailsa"])):
        for path in ("/", "/tables", f"/matches/{sound.id}"):
            assert visitor.get(path).status_code == 200, path


def test_a_zone_that_is_no_more_is_read_as_utc(cottage: House, app: flask.Flask) -> None:
    cottage.started("Ailsa", "Bran")
    spoil('"user"', cottage.people["Ailsa"].id, zone="Mars/Olympus")
    assert "UTC" in Visitor(app, cottage.people["Ailsa"]).get("/").text


def test_a_spoilt_instant_in_the_log_freezes_its_match(cottage: House, app: flask.Flask) -> None:
    match = cottage.started("Ailsa", "Bran")
    cottage.move(match)
    with db.transaction():
        db.database.execute_sql("DROP TRIGGER log_never_changes")
        db.database.execute_sql("UPDATE log SET at = 9223372036854775807 WHERE seq = 1")
    assert "frozen" in Visitor(app).get(f"/matches/{match.id}").text


def test_a_spoilt_mail_does_not_hold_up_the_others(cottage: House) -> None:
    cottage.started("Ailsa", "Bran")
    first, *_ = cottage.queued()
    spoil("outbox", first.id, facts="{")
    assert len(cottage.mail()) == 1
    assert Outbox.get_by_id(first.id).state == "queued"


def test_a_mail_that_nobody_was_handed_is_never_given_up(cottage: House) -> None:
    cottage.started("Ailsa", "Bran")

    def dies(mail: Outbox, now: datetime) -> str:
        raise SystemExit  # before the mail is written

    for _ in range(4):
        for _ in range(2):
            with pytest.raises(SystemExit):
                outbox.deliver_due(cottage.post, dies, lambda: cottage.now)
        cottage.later(minutes=6)
    sent = outbox.deliver_due(cottage.post, writer(cottage.settings), lambda: cottage.now)
    assert sent == 2
    assert {mail.unsure for mail in Outbox.select()} == {False}


def test_a_form_too_large_is_refused_with_a_page(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    for accept in ("text/html", "application/json"):
        answer = visitor.client.post("/signin", data={"name": "x" * 100_000}, headers={"Accept": accept})
        assert answer.status_code == 413
        assert answer.headers["Content-Security-Policy"]
        assert "too large" in answer.text


def test_a_host_that_is_none_gets_a_calm_answer(cottage: House, app: flask.Flask) -> None:
    answer = Visitor(app).get("/nowhere", headers={"Host": f"{'a' * 80}.example"})
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text


def test_a_database_that_is_none_gets_a_calm_answer(
    cottage: House, app: flask.Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise db.Broken("file is not a database")

    monkeypatch.setattr(db.database.obj, "execute_sql", broken)
    for visitor in (Visitor(app), Visitor(app)):
        for path in ("/", "/tables", "/archive"):
            assert visitor.get(path).status_code == 503, path

"""Whoever doubts a match can check it; whatever was changed is said plainly, and harms no other match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import flask
import pytest
from click.testing import CliRunner
from house import PEOPLE, House
from visitor import Visitor, application

from engine import record
from server import archive, audit, db, log, seating, story
from server.cli import main
from server.models import LogRow, Match, Seat

RECORDS = Path(__file__).parent.parent / "records"
FACE_DOWN = record.load((RECORDS / "glory-row-separate.json").read_bytes())


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.fixture
def match(cottage: House) -> Match:
    """A finished match of eleven steps."""
    match = cottage.started("Ailsa", "Bran")
    for _ in range(10):
        cottage.move(match)
    seating.resign(match.id, cottage.people["Bran"], "web", now=cottage.now)
    return log.get(match.id)


def spoil(match: Match, seq: int, **values: Any) -> None:
    """Change a stored row behind the database's guard."""
    on = "" if db.on_sqlite() else " ON log"
    with db.transaction():
        db.database.execute_sql(f"DROP TRIGGER IF EXISTS log_never_changes{on}")
        db.database.execute_sql(f"DROP TRIGGER IF EXISTS log_never_shrinks{on}")
        row = (LogRow.match == match) & (LogRow.seq == seq)
        (LogRow.update(**values) if values else LogRow.delete()).where(row).execute()


def wrong(match: Match) -> list[archive.Finding]:
    return [finding for finding in archive.check(log.get(match.id)) if finding.holds is False]


def test_all_of_an_untouched_match_holds(house: House) -> None:
    for game in ("clans", "glory"):
        match = house.finish(house.started("Ailsa", "Bran", "Catrin", game=game))
        findings = archive.check(match)
        assert [finding.holds for finding in findings] == [True] * 5
        told = " ".join(finding.sentence for finding in findings)
        assert bytes(match.last_hash).hex() in told
        assert match.reason in told
        assert archive.fairness(match, log.places(match)).commitment in told
        assert archive.doubts(match) == []


def test_what_a_record_does_not_tell_cannot_be_said(cottage: House) -> None:
    match = archive.add((RECORDS / "clans-01.json").read_bytes(), cottage.now)
    findings = archive.check(match)
    assert [finding.holds for finding in findings] == [True, True, None, True, True]


@pytest.mark.parametrize("seq", [0, 1, 7, 20])
@pytest.mark.parametrize("name", ["text", "seat", "kind", "via", "hash", "at"])
def test_whatever_of_a_row_is_changed_the_chain_breaks_there(
    cottage: House, app: flask.Flask, seq: int, name: str
) -> None:
    match, other = (
        archive.add((RECORDS / f"{file}.json").read_bytes(), cottage.now) for file in ("clans-undo", "clans-01")
    )
    row = archive.stored(match)[seq]
    changed = {"text": f"{row.text} ", "seat": 1 - (row.seat or 0), "kind": "nudge", "via": "api", "at": cottage.now}
    spoil(match, seq, **{name: {**changed, "hash": b"\0" * 32}[name]})
    assert wrong(match)[0].row == seq
    assert f"step {seq}" in wrong(match)[0].sentence
    visitor, place = Visitor(app), f"/matches/{match.id}"
    page = visitor.get(f"{place}/verify?check=1")
    assert page.status_code == 200
    assert "Something does not hold" in page.text
    assert page.text.count('<li id="row-') == match.length + 1
    assert f'<li id="row-{seq}" class="bad">' in page.text
    assert visitor.get(place).status_code == 200
    assert visitor.get("/archive").status_code == 200
    assert "All of it holds" in visitor.get(f"/matches/{other.id}/verify?check=1").text
    assert audit.verify(other.id) == []


def test_a_row_that_is_gone_is_missed(cottage: House, match: Match) -> None:
    spoil(match, 9)
    assert wrong(match)[0] == archive.Finding("Step 9 is missing from the log.", False, 9)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"game":"chess"}', '{"game":"clans","setup":[]}'])
def test_a_setup_that_cannot_be_read_is_said_to_be(cottage: House, app: flask.Flask, match: Match, text: str) -> None:
    spoil(match, 0, text=text)
    assert [finding.row for finding in wrong(match)[:2]] == [0, 0]
    assert Visitor(app).get(f"/matches/{match.id}/verify?check=1").status_code == 200


def test_a_log_without_a_row_holds_nothing(cottage: House, match: Match) -> None:
    for seq in range(match.length + 1):
        spoil(match, seq)
    assert len(wrong(match)) == 3


def test_who_changes_a_row_and_all_hashes_after_it_is_betrayed_by_an_old_mail(cottage: House, match: Match) -> None:
    mailed = bytes(match.last_hash).hex()
    assert archive.row_of(match, mailed) == match.length
    rows = [log.read(match).setup_row, *log.read(match).rows]
    rows[5] = rows[5]._replace(via="api")
    previous = ""
    for row in rows:
        previous = record.row_hash(previous, row)
        spoil(match, row.seq, via=row.via, hash=bytes.fromhex(previous))
    Match.update(last_hash=bytes.fromhex(previous)).where(Match.id == match.id).execute()
    assert wrong(match) == []
    assert archive.row_of(match, mailed) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda match: Match.update(reason="agreement").where(Match.id == match.id), "not the result which is shown"),
        (lambda match: Seat.update(score=99).where(Seat.number == 0), "not the result which is shown"),
        (lambda match: Seat.update(won=True), "not the result which is shown"),
        (lambda match: Seat.update(contribution="other").where(Seat.number == 1), "begins otherwise"),
        (lambda match: Match.update(secret=b"\1" * 32).where(Match.id == match.id), "not those that were committed to"),
        (lambda match: Match.update(length=3).where(Match.id == match.id), "The column length"),
    ],
)
def test_what_stands_beside_the_log_is_held_against_it(cottage: House, match: Match, change: Any, said: str) -> None:
    with db.transaction():
        change(match).execute()
    assert any(said in finding.sentence for finding in wrong(match))
    environment = {
        "CLACHAN_DATA": str(cottage.settings.data),
        "CLACHAN_DATABASE": cottage.settings.database,
        "CLACHAN_SECRET_KEY": cottage.settings.secret_key,
    }
    assert CliRunner().invoke(main, ["match", "verify", str(match.id)], env=environment).exit_code == 1


# Hashes out of mails


def test_every_hash_that_was_ever_shown_is_found_again_at_its_row(house: House) -> None:
    match = house.started(*PEOPLE, setup=FACE_DOWN["setup"], game="glory", options=FACE_DOWN["options"])
    shown = {story.shown_hash(house.played(match)): 0}
    for number, row in enumerate(FACE_DOWN["log"], 1):
        running = log.get(match.id)
        assert {digest: archive.row_of(running, digest) for digest in shown} == shown
        house.move(match, row["text"])
        shown[story.shown_hash(house.played(match))] = number
    over = log.get(match.id)
    assert over.status == "finished"
    assert {digest: archive.row_of(over, digest) for digest in shown} == shown
    kept = archive.export(over)
    for row in kept["log"]:
        assert archive.row_of(over, row["hash"]) == row["seq"]
        assert archive.row_of(over, record.seal(row["hash"], kept["fairness"]["seed"])) == row["seq"]
    assert archive.row_of(over, "0" * 64) is None


def test_a_hash_that_was_never_shown_is_not_known_while_the_match_runs(house: House) -> None:
    """Or the few cards that a row may hide could be tried one by one."""
    match = house.started(*PEOPLE, setup=FACE_DOWN["setup"], game="glory", options=FACE_DOWN["options"])
    first = next(row["seq"] for row in FACE_DOWN["log"] if row["text"].endswith("down"))
    for row in FACE_DOWN["log"][: first + 2]:
        house.move(match, row["text"])
    running, stored = log.get(match.id), archive.stored(match)
    assert running.status == "running"
    seed = bytes(running.secret).hex()
    for row in stored:
        plain = bytes(row.hash).hex()
        hidden = row.seq >= first
        assert archive.row_of(running, plain) == (None if hidden else row.seq)
        assert archive.row_of(running, record.seal(plain, seed)) == (row.seq if hidden else None)


def test_the_hashes_of_a_records_own_chain_are_found_too(cottage: House) -> None:
    found = json.loads((RECORDS / "clans-undo.json").read_text())
    for row in found["log"]:
        row["at"] = row["at"].replace("Z", "456Z")
    rows, previous = record.rows_of(found), found["setup_hash"]
    for row, entry in zip(rows, found["log"], strict=True):
        entry["hash"] = previous = record.row_hash(previous, row)
    match = archive.add(record.dump(found).encode(), cottage.now)
    assert bytes(match.last_hash).hex() != previous
    assert archive.row_of(match, previous) == len(rows)
    assert archive.row_of(match, found["setup_hash"]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "{0}",
        "  {0}\n",
        "> {0}",
        "Row 12 of the log has the hash {0}; keep this mail",
        "{1}\n> {2}",
        "{1}\r\n{2}.",
        "{3}",
    ],
)
def test_a_hash_is_read_however_it_was_copied(text: str) -> None:
    digest = "0123456789abcdef" * 4
    pasted = text.format(digest, digest[:40], digest[40:], digest.upper())
    assert archive.read_hash(pasted) == digest


@pytest.mark.parametrize("text", ["", "abc", "0" * 63, "0" * 65, "g" * 64, "٣" * 64, "\0" * 64, "> " * 50_000])
def test_what_is_no_hash_is_none(text: str) -> None:
    assert archive.read_hash(text) == ""


# The page


def test_the_page_finds_the_step_of_a_hash(cottage: House, app: flask.Flask, match: Match) -> None:
    visitor, place = Visitor(app), f"/matches/{match.id}/verify"
    digest = bytes(archive.stored(match)[7].hash).hex()
    page = visitor.get(place, query_string={"hash": digest}).text
    assert f'<a href="/matches/{match.id}/replay/7">step 7</a>' in page
    assert ", the last" in visitor.get(place, query_string={"hash": bytes(match.last_hash).hex()}).text
    assert "not a hash of this match" in visitor.get(place, query_string={"hash": "0" * 64}).text
    assert "That is no hash" in visitor.get(place, query_string={"hash": "<b>7</b>"}).text
    assert "<b>7" not in visitor.get(place, query_string={"hash": "<b>7</b>"}).text


def test_the_page_says_where_an_imported_match_comes_from(cottage: House, app: flask.Flask) -> None:
    match = archive.add((RECORDS / "clans-undo.json").read_bytes(), cottage.now)
    visitor, place = Visitor(app), f"/matches/{match.id}/verify"
    assert "it came as a record on 2 March 2026. There it was match 108." in visitor.get(place).text
    with db.transaction():
        db.database.execute_sql("UPDATE imported SET text = '{}'")
    page = visitor.get(f"{place}?check=1").text
    assert "it came as a record" not in page
    assert "is not as it came" in page


def test_while_a_match_runs_only_what_is_public_is_shown(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    for user in (None, cottage.people["Ailsa"]):
        page = Visitor(app, user).get(f"/matches/{match.id}/verify?check=1").text
        assert story.shown_hash(cottage.played(match)) in page
        assert "All of it holds" not in page
        assert bytes(match.secret).hex() not in page
        assert not any(clan in page for clan in ("yellow", "green"))


def test_a_running_match_that_is_frozen_shows_no_text_of_its_rows(cottage: House, app: flask.Flask) -> None:
    match = cottage.begun("Ailsa", "Bran")
    text = archive.stored(match)[1].text
    spoil(match, 2, text="A1-A1")
    page = Visitor(app).get(f"/matches/{match.id}/verify?check=1&hash={'0' * 64}")
    assert page.status_code == 200
    assert "frozen" in page.text
    assert text not in page.text


def test_there_is_nothing_to_check_before_a_match_has_begun(cottage: House, app: flask.Flask) -> None:
    match = cottage.table("Ailsa", seats=2)
    for user in (None, cottage.people["Ailsa"]):
        assert Visitor(app, user).get(f"/matches/{match.id}/verify").status_code == 404
    assert Visitor(app).get("/matches/99/verify").status_code == 404

"""Bad days: a disk that is full, a bit that flips, an old database, a house without mail, and very many matches."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from house import House, house_settings
from playhouse.migrations import Runner
from postgresql import POSTGRES
from together import damage
from visitor import Visitor, application, error

from server import audit, db, deadlines, log, story, talk, timeouts
from server.models import TABLES, LogRow, Outbox, User
from server.scheduler import Scheduler

SMALL = "16m"
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="a small disk of its own takes root")


@pytest.fixture
def small() -> Iterator[Path]:
    """A disk of few megabytes, where the server of the other database can reach it."""
    folder = Path(tempfile.mkdtemp(prefix="clachan-small-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "none", folder], check=True)
    shutil.chown(folder, "postgres")
    try:
        yield folder
    finally:
        db.database.close()
        db.part()
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def cramped(request: pytest.FixtureRequest, small: Path, tmp_path: Path) -> Iterator[House]:
    """A house whose database lies on a small disk."""
    if request.param == "sqlite":
        url, drop = f"sqlite:///{small / 'clachan.db'}", None
    else:
        admin = os.environ[POSTGRES]
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{small}'")  # type: ignore[arg-type]
            connection.execute("CREATE DATABASE small TABLESPACE small")
        url, drop = admin.replace("/postgres", "/small"), admin
    db.use(url)
    db.migrate()
    with db.connected():
        yield House(house_settings(url, tmp_path))
    db.part()
    if drop:
        with psycopg.connect(drop, autocommit=True) as connection:
            connection.execute("DROP DATABASE small WITH (FORCE)")
            connection.execute("DROP TABLESPACE small")


def fill(folder: Path) -> Path:
    """Fill a disk to the last byte; return the file that does."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (2**16, 2**12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


@root_only
def test_r3_on_a_full_disk_all_is_read_nothing_is_lost_and_the_log_says_why(
    cramped: House, small: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    match, other = cramped.begun("Ailsa", "Bran"), cramped.begun("Ailsa", "Bran", game="glory")
    app = application(cramped, monkeypatch)
    # A house at work keeps connections; on a full disk SQLite opens none.
    assert Visitor(app).get("/").status_code == 200
    filler = fill(small)

    def move(number: int) -> Any:
        played = cramped.played(log.get(number))
        seat = played.position.to_act[0]
        by = log.places(played.match)[seat].user
        form = {"move": played.view(seat).moves[0], "expected": str(played.position.asked[seat])}
        return Visitor(app, by).post(f"/matches/{number}/moves", json=True, **form)

    made = 0
    for turn in range(400):
        answer = move((match.id, other.id)[turn % 2])
        if answer.status_code != 200:
            break
        made += 1
        assert log.get(match.id).status == log.get(other.id).status == "running", "too large a disk"
    assert (answer.status_code, error(answer)) == (503, "busy")
    assert answer.headers["Retry-After"]
    assert "full" in caplog.text or "No space left" in caplog.text
    assert "cannot rollback" not in caplog.text
    rows = LogRow.select().where(LogRow.seq > 0).count()
    assert rows == 4 + made, "what was said to be stored is"
    for path in ("/", "/tables", "/archive", f"/matches/{match.id}", f"/matches/{other.id}/replay/1", "/people/Bran"):
        assert Visitor(app, User.get_by_id(cramped.people["Ailsa"].id)).get(path).status_code == 200, path
    filler.unlink()
    assert move(match.id).status_code == 200
    assert LogRow.select().where(LogRow.seq > 0).count() == rows + 1
    assert audit.verify(match.id) == audit.verify(other.id) == []


def test_r14_whichever_bit_flips_its_match_stands_still_and_the_others_go_on(
    cottage: House, sqlite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = application(cottage, monkeypatch)
    match, other = cottage.begun("Ailsa", "Bran"), cottage.begun("Ailsa", "Bran")
    file, chance = db.file(sqlite), random.Random(3)
    db.database.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    text = str(LogRow.get((LogRow.match == match) & (LogRow.seq == 0)).text).encode()
    db.database.close()
    db.part()
    whole = file.read_bytes()
    for _ in range(6):
        place = whole.index(text) + chance.randrange(len(text))
        flipped = bytearray(whole)
        flipped[place] ^= 1 << chance.randrange(7)
        file.write_bytes(flipped)
        with db.connected():
            ailsa = Visitor(app, User.get_by_id(cottage.people["Ailsa"].id))
            told, page = audit.verify(match.id), ailsa.get(f"/matches/{match.id}")
            assert told, "the row is named"
            assert page.status_code == 200
            assert "frozen" in page.text or "damaged" in page.text
            assert audit.verify(other.id) == []
            assert ailsa.get(f"/matches/{other.id}").status_code == ailsa.get("/").status_code == 200
            cottage.move(other)
        db.part()
    file.write_bytes(whole)
    db.database.connect()


def test_r14_a_changed_row_stops_its_match_alone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    app = application(house, monkeypatch)
    match, other = house.begun("Ailsa", "Bran"), house.begun("Ailsa", "Bran")
    damage(match, 1, "A1-A3")
    ailsa = Visitor(app, house.people["Ailsa"])
    for number, codes in ((match.id, {"damaged"}), (other.id, {"stale", "not-your-turn"})):
        assert error(ailsa.post(f"/matches/{number}/moves", json=True, move="A1-A2", expected="0")) in codes
        assert ailsa.get(f"/matches/{number}").status_code == 200
    house.later(days=2)
    deadlines.run(lambda: house.now)
    assert log.get(other.id).length > 2, "the clock goes on with the other"
    assert log.get(match.id).length == 2
    assert audit.verify(other.id) == []
    assert audit.verify(match.id)


def upto(count: int) -> None:
    """Bring an empty database to the schema of the first migrations."""
    Runner(db.database.obj, str(db.MIGRATIONS)).up(target=db.known_migrations()[count - 1])


def contents() -> dict[str, list[dict[str, Any]]]:
    """Return all rows of all tables, as they are stored."""
    found = {}
    for model in TABLES:
        table = model._meta.table_name
        keys = ", ".join(f'"{field.column_name}"' for field in model._meta.get_primary_keys())
        cursor = db.database.execute_sql(f'SELECT * FROM "{table}" ORDER BY {keys}')
        names = [column[0] for column in cursor.description]
        found[table] = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return found


def put(kept: Mapping[str, list[dict[str, Any]]]) -> None:
    """Put the rows into the tables that there are, as far as these have the columns, as in a house of that age."""
    for table in [name for name in kept if name in db.database.get_tables() and name != "watermark"]:
        columns = {column.name: column for column in db.database.get_columns(table)}
        for row in kept[table]:
            given = {name: value for name, value in row.items() if name in columns}
            if "pace" in columns:
                given["pace"] = 86400
            if table == "user" and "digest_hour" not in columns:
                given["turn_mail"] = True
            db.insert_rows(table, list(given), [list(given.values())])
        if "id" in columns:
            db.count_on(table, "id")


def shape() -> list[Any]:
    """Return the tables and their columns."""
    named = sorted(set(db.database.get_tables()) - {"sqlite_sequence"})
    return [
        (table, sorted((column.name, column.data_type, column.null) for column in db.database.get_columns(table)))
        for table in named
    ]


class PowerCut(BaseException):
    """Everything ends here."""


# By default from the first schema, one in the middle, and the last before the newest; else from all of them.
@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.hardship)])
def test_r16_from_every_schema_there_was_a_house_comes_whole_to_the_newest_however_often_it_is_cut_off(
    house: House, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    running, over = house.begun("Ailsa", "Bran"), house.finish(house.begun("Bran", "Catrin"))
    talk.say(running.id, house.people["Ailsa"], "Well met", expected=0, via="web", now=house.now)
    kept, newest, moves = contents(), shape(), list(LogRow.select().dicts())
    chance, execute, steps = random.Random(16), db.database.obj.execute_sql, db.known_migrations()
    for count in range(len(steps) - 1, 0, -step):
        db.clear()
        db.database.execute_sql("DROP TABLE IF EXISTS schema_migration")
        upto(count)
        put(kept)
        left = chance.randrange(2, 12)

        def cut(sql: str, *rest: Any, count: list[int] = [left], **more: Any) -> Any:  # noqa: B006
            if sql.lstrip().upper().startswith(("ALTER", "CREATE", "UPDATE", "INSERT", "DROP")):
                count[0] -= 1
                if count[0] == 0:
                    raise PowerCut
            return execute(sql, *rest, **more)

        with monkeypatch.context() as patch:
            patch.setattr(db.database.obj, "execute_sql", cut)
            with suppress(PowerCut):
                db.migrate()
        assert db.pending() == steps[len(steps) - len(db.pending()) :], "each is whole or not at all"
        db.migrate()
        db.require_current()
        assert shape() == newest
        assert list(LogRow.select().dicts()) == moves
        assert audit.verify(running.id) == audit.verify(over.id) == []
        if db.on_sqlite():
            assert db.database.execute_sql("PRAGMA foreign_key_check").fetchall() == []
        house.move(running)
        ailsa = Visitor(application(house, monkeypatch), User.get_by_id(house.people["Ailsa"].id))
        for path in ("/", f"/matches/{running.id}", f"/matches/{over.id}/replay/3", "/archive", "/people/Bran"):
            assert ailsa.get(path).status_code == 200, (steps[count - 1], path)


def test_r25_without_a_mail_server_all_goes_on_by_page_and_the_page_about_mail_says_so(
    cottage: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not cottage.settings.mails
    app = application(cottage, monkeypatch)
    ailsa, bran = (Visitor(app, cottage.people[name]) for name in ("Ailsa", "Bran"))
    assert ailsa.post("/tables/new", game="glory", seats="2", limit="move", move="86400").status_code == 302
    assert bran.post("/matches/1/join").status_code == 302
    scheduler = Scheduler(cottage.settings)
    while (match := log.get(1)).status == "running":
        played = cottage.played(match)
        seat = played.position.to_act[0]
        player = ailsa if log.places(match)[seat].user.name == "Ailsa" else bran
        form = {"move": played.view(seat).moves[0], "expected": str(played.position.asked[seat])}
        assert player.post("/matches/1/moves", **form).status_code == 302
        cottage.later(minutes=1)
        scheduler.run("outbox")
    assert match.status == "finished"
    assert {mail.state for mail in Outbox.select()} <= {"queued", "dropped"}
    assert "no mail server" in Visitor(app).get("/sent").text
    for path in ("/", "/settings", "/matches/1", "/archive"):
        assert ailsa.get(path).status_code == 200


def test_r12_both_sides_read_the_same_of_a_move_that_came_as_the_time_ran_out(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, said = application(house, monkeypatch), []
    for late in (True, False):
        match = house.begun("Ailsa", "Bran")
        played = house.played(match)
        seat, asked = played.position.to_act[0], played.position.asked[played.position.to_act[0]]
        house.now = log.get(match.id).deadline
        mover, other = (log.places(match)[number].user for number in (seat, 1 - seat))
        if late:
            assert timeouts.time_out(match.id, now=house.now)
        form = {"move": played.view(seat).moves[0], "expected": str(asked)}
        told = Visitor(app, mover).post(f"/matches/{match.id}/moves", json=True, **form)
        assert told.status_code == (409 if late else 200)
        if not late:
            assert not timeouts.time_out(match.id, now=house.now)
        lines = [
            [line.sentences for line in story.lines(house.played(match), ["Ailsa", "Bran"], viewer)][2:]
            for viewer in (seat, 1 - seat)
        ]
        assert lines[0] == lines[1]
        said.append("ran out of time" in str(lines[0]))
        pages = [Visitor(app, user).get(f"/matches/{match.id}").text for user in (mover, other)]
        assert ["ran out of time" in page for page in pages] == [late, late]
    assert said == [True, False]

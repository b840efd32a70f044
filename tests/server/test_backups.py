"""Backups: whole while others write, never over anything, and all there again when they are put back."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from house import House, house_settings
from postgresql import POSTGRES
from test_cli import run, variables
from test_hardship import apart, fork, mailed, move
from together import damage

from server import audit, backup, clock, contents, db, dumps, log, outbox
from server.contents import Unfit
from server.models import Job, LogRow, Match, Outage, Outbox, User
from server.scheduler import Scheduler
from server.settings import Settings


@pytest.fixture
def elsewhere(database: str, tmp_path: Path, worker_id: str) -> Iterator[str]:
    """The address of a second database of the same kind, in which there is nothing."""
    if database.startswith("sqlite:///"):
        yield f"sqlite:///{tmp_path / 'elsewhere' / 'clachan.db'}"
        return
    with psycopg.connect(os.environ[POSTGRES], autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS elsewhere_{worker_id} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE elsewhere_{worker_id}")
        yield f"{os.environ[POSTGRES].rpartition('/')[0]}/elsewhere_{worker_id}"
        connection.execute(f"DROP DATABASE elsewhere_{worker_id} WITH (FORCE)")


@contextmanager
def moved(house: House, url: str, **more: str) -> Iterator[Settings]:
    """Be at another database for the block; yield settings for it."""
    with db.instead(url):
        yield house_settings(url, house.settings.data, **more)


def held(there: db.Database) -> contents.Contents:
    """Return what a database holds."""
    with db.snapshot(there):
        return contents.of(there)


def whole_log(match_id: int) -> list[tuple[int, bytes]]:
    """Return numbers and hashes of a match's rows but the last if that tells of a restore."""
    rows = list(LogRow.select().where(LogRow.match == match_id).order_by(LogRow.seq))
    return [(row.seq, bytes(row.hash)) for row in rows if (row.seq, row.kind) != (rows[-1].seq, "outage")]


def test_a_backup_says_what_is_in_it_and_only_its_owner_may_read_it(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    file = house.settings.backups / "by hand.zip"
    made = backup.make(house.settings, file, house.now)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == ["by hand.zip"], "nothing else stays"
    assert backup.check(file) == made
    assert (made.made_at, made.database) == (house.now, dumps.kind(house.settings.database))
    assert made.contents == held(db.database.obj)
    assert made.contents.counts["log"] == match.length + 1
    assert made.contents.migrations == db.known_migrations()


def test_a_backup_is_written_over_nothing(cottage: House, tmp_path: Path) -> None:
    file = tmp_path / "mine.zip"
    file.write_text("mine")
    with pytest.raises(backup.Exists):
        backup.make(cottage.settings, file, cottage.now)
    assert file.read_text() == "mine"


def test_of_two_who_make_the_same_backup_one_comes_too_late(
    cottage: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, take = tmp_path / "both.zip", dumps.take

    def slowly(url: str, dump: Path) -> contents.Contents:
        file.write_text("theirs")
        return take(url, dump)

    monkeypatch.setattr(dumps, "take", slowly)
    with pytest.raises(backup.Exists):
        backup.make(cottage.settings, file, cottage.now)
    assert file.read_text() == "theirs"
    file.unlink()
    monkeypatch.setattr(os, "link", lambda *_: no_link())
    with pytest.raises(backup.Exists):
        backup.make(cottage.settings, file, cottage.now)
    assert file.read_text() == "theirs"


def no_link() -> None:
    raise PermissionError(1, "no links here")


def test_where_files_have_one_name_only_a_backup_is_made_all_the_same(
    cottage: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", lambda *_: no_link())
    assert backup.make(cottage.settings, tmp_path / "one.zip", cottage.now) == backup.check(tmp_path / "one.zip")


def test_a_backup_comes_back_on_an_empty_machine(house: House, elsewhere: str) -> None:
    running, over = house.begun("Ailsa", "Bran", "Catrin"), house.finish(house.started("Ailsa", "Bran"))
    file = house.settings.backups / "one.zip"
    made = backup.make(house.settings, file, house.now)
    logs = {match.id: whole_log(match.id) for match in (running, over)}
    with moved(house, elsewhere) as settings:
        done = backup.restore(settings, file, house.now)
        assert (done.manifest, done.before, done.migrated) == (made, None, [])
        assert (done.verified.checked, done.verified.faults) == (2, {})
        assert {number: whole_log(number) for number in logs} == logs
        assert User.select().count() == len(house.people)
        assert not db.unfinished()
        db.require_current()
        house.move(log.get(running.id))
        house.person("Eilidh")
        with pytest.raises(db.Broken):
            LogRow.update(text="").execute()


def test_a_database_with_people_is_replaced_only_on_request_and_kept(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    file = house.settings.backups / "one.zip"
    backup.make(house.settings, file, house.now)
    rows = whole_log(match.id)
    house.move(match)
    with pytest.raises(Unfit, match="not empty"):
        backup.restore(house.settings, file, house.now)
    assert whole_log(match.id) != rows
    later = whole_log(match.id)
    done = backup.restore(house.settings, file, house.later(minutes=1), replace=True)
    assert whole_log(match.id)[: len(rows)] == rows
    assert [row.kind for row in house.played(log.get(match.id)).rows[len(rows) - 1 :]] == ["outage"]
    assert done.before is not None
    backup.restore(house.settings, done.before, house.later(minutes=1), replace=True)
    assert whole_log(match.id)[: len(later)] == later


def test_a_restore_that_stops_in_the_middle_changes_nothing_or_is_begun_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = house.begun("Ailsa", "Bran")
    file = house.settings.backups / "one.zip"
    backup.make(house.settings, file, house.now)
    rows = whole_log(match.id)
    house.move(match)
    before = held(db.database.obj)
    monkeypatch.setattr(contents, "verify", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        backup.restore(house.settings, file, house.now, replace=True)
    monkeypatch.undo()
    if db.on_sqlite():
        assert held(db.database.obj) == before
        db.require_current()
        return
    with pytest.raises(db.PendingMigration, match="has not come to its end"):
        db.require_current()
    backup.restore(house.settings, file, house.now)
    db.require_current()
    assert whole_log(match.id) == rows


def test_a_database_is_emptied_and_filled_in_one_step(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.begun("Ailsa", "Bran")
    file = house.settings.backups / "one.zip"
    backup.make(house.settings, file, house.now)
    house.move(match)
    before, clearing = held(db.database.obj), db.clearing
    monkeypatch.setattr(db, "clearing", lambda: [*clearing(), "SELECT 1 / 0"])
    if not db.on_sqlite():
        with pytest.raises(Unfit, match=r"psql: .*division by zero"):
            backup.restore(house.settings, file, house.now, replace=True)
    monkeypatch.undo()
    assert held(db.database.obj) == before
    db.require_current()


def test_nothing_is_restored_under_a_scheduler_at_work(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: cottage.now)
    file = cottage.settings.backups / "one.zip"
    backup.make(cottage.settings, file, cottage.now)
    Scheduler(cottage.settings).run("deadlines")
    with pytest.raises(Unfit, match="stop the server"):
        backup.restore(cottage.settings, file, cottage.later(seconds=5), replace=True)
    backup.restore(cottage.settings, file, cottage.later(seconds=30), replace=True)


def test_what_waited_to_be_sent_is_held_until_it_is_released_or_dropped(cottage: House) -> None:
    cottage.started("Ailsa", "Bran")
    waiting = cottage.queued()
    with db.transaction():
        Outbox.update(state="handed").where(Outbox.id == waiting[0].id).execute()
    file = cottage.settings.backups / "one.zip"
    backup.make(cottage.settings, file, cottage.now)
    done = backup.restore(cottage.settings, file, cottage.later(days=3), replace=True)
    assert done.held == len(waiting) == 2
    assert {mail.kind for mail in cottage.queued()} == {"outage"}
    assert len(cottage.mail()) == 2
    assert Outbox.get_by_id(waiting[0].id).unsure, "it may have arrived even before the backup"
    assert outbox.release(cottage.now) == 2
    assert [mail.id for mail in cottage.queued()] == [mail.id for mail in waiting]
    backup.restore(cottage.settings, file, cottage.later(days=1), replace=True)
    assert outbox.release(cottage.now, drop=True) == 2
    assert outbox.release(cottage.now) == 0
    assert {mail.kind for mail in cottage.queued()} == {"outage"}


def test_after_a_restore_deadlines_have_moved_on_and_everybody_is_told(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    until = match.deadline
    file = house.settings.backups / "one.zip"
    backup.make(house.settings, file, house.now)
    backup.restore(house.settings, file, house.later(days=2), replace=True)
    assert log.get(match.id).deadline == until + timedelta(days=2)
    assert audit.verify(match.id) == []
    told = [message for message in house.mail() if "come back from a backup" in message.text]
    assert {message.to_name for message in told} == {"Ailsa", "Bran"}
    assert "come back from a backup" in told[0].html
    assert [(each.began_at, each.done_at) for each in Outage.select()] == [(house.now - timedelta(days=2), house.now)]


def test_an_answer_to_a_turn_after_the_backup_is_refused_and_says_so(cottage: House) -> None:
    match = cottage.begun("Ailsa", "Bran")
    file = cottage.settings.backups / "one.zip"
    backup.make(cottage.settings, file, cottage.now)
    cottage.move(match)
    seat = cottage.played(match).position.to_act[0]
    by = log.places(match)[seat].user
    send = mailed(match, seat, by, cottage.played(match).position.asked[seat], cottage.later(hours=1), cottage.settings)
    text = cottage.played(match).view(seat).moves[0]
    backup.restore(cottage.settings, file, cottage.now, replace=True)
    before = whole_log(match.id)
    assert send(text) in {"no-token", "unknown-address"}
    assert whole_log(match.id) == before


def spoil(file: Path, how: Callable[[dict[str, object]], object]) -> Path:
    """Write another backup with a changed manifest."""
    spoilt = file.with_name("spoilt.zip")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(spoilt, "w") as new:
        told = json.loads(old.read(backup.MANIFEST))
        how(told)
        new.writestr(backup.MANIFEST, json.dumps(told))
        new.writestr(backup.DUMP, old.read(backup.DUMP))
    return spoilt


FAULTS: dict[str, tuple[Callable[[dict[str, object]], object], str]] = {
    "another format": (lambda told: told.update(format="clachan-backup-9"), "another format"),
    "a newer program": (lambda told: told["migrations"].append("0999_novelty"), "newer program, with 0999_novelty"),
    "another checksum": (lambda told: told.update(sha256="00"), "checksum"),
    "another size": (lambda told: told.update(size=1), "checksum"),
    "no counts": (lambda told: told.pop("counts"), "manifest"),
    "another time": (lambda told: told.update(made_at="yesterday"), "manifest"),
    "fewer rows": (lambda told: told["counts"].update(log=0), "does not hold"),
    "other logs": (lambda told: told.update(logs="00"), "does not hold"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_backup_that_is_not_what_it_says_changes_nothing(cottage: House, fault: str) -> None:
    match = cottage.begun("Ailsa", "Bran")
    file = cottage.settings.backups / "one.zip"
    backup.make(cottage.settings, file, cottage.now)
    cottage.move(match)
    before = held(db.database.obj)
    how, why = FAULTS[fault]
    with pytest.raises(Unfit, match=why):
        backup.restore(cottage.settings, spoil(file, how), cottage.now, replace=True)
    assert held(db.database.obj) == before


def test_a_backup_of_the_other_database_is_refused(cottage: House) -> None:
    file = cottage.settings.backups / "one.zip"
    backup.make(cottage.settings, file, cottage.now)
    with pytest.raises(Unfit, match=r"of postgresql, but the database is sqlite.*clachan db copy"):
        backup.restore(cottage.settings, spoil(file, lambda told: told.update(database="postgresql")), cottage.now)


def test_a_damaged_file_is_refused_wherever_the_damage_is(cottage: House, tmp_path: Path) -> None:
    file, bad = tmp_path / "one.zip", tmp_path / "bad.zip"
    backup.make(cottage.settings, file, cottage.now)
    data = file.read_bytes()
    for place in range(0, len(data), len(data) // 60):
        changed = bytearray(data)
        changed[place] ^= 0x55
        bad.write_bytes(changed)
        try:
            found = backup.check(bad)
        except Unfit:
            continue
        # Not every byte of a ZIP means something.
        assert found == backup.check(file)
    for size in (0, 10, len(data) // 2, len(data) - 1):
        bad.write_bytes(data[:size])
        with pytest.raises(Unfit):
            backup.check(bad)
    with pytest.raises(Unfit, match="cannot be read"):
        backup.check(tmp_path / "none.zip")


def test_a_full_disk_leaves_no_half_backup(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unfit, match="No space left"):
        backup.make(cottage.settings, cottage.settings.backups / "one.zip", cottage.now)
    assert list(cottage.settings.backups.iterdir()) == []


def test_a_damaged_database_makes_no_backup(cottage: House, sqlite: str) -> None:
    cottage.finish(cottage.started("Ailsa", "Bran"))
    (page,) = db.database.execute_sql("SELECT rootpage FROM sqlite_master WHERE name = 'log'").fetchone()
    db.part()
    file = Path(sqlite.removeprefix("sqlite:///"))
    data = bytearray(file.read_bytes())
    # The schema stays, or nothing could be opened at all.
    data[(page - 1) * 4096 : (page - 1) * 4096 + 64] = b"\xff" * 64
    file.write_bytes(data)
    code, printed = run("backup", **variables(cottage))
    assert code == 1
    assert printed.startswith("Error: The ")
    db.database.connect()
    with pytest.raises(Unfit):
        backup.make(cottage.settings, cottage.settings.backups / "one.zip", cottage.now)
    assert list(cottage.settings.backups.iterdir()) == []


def test_what_is_no_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "clachan.db").write_text("not a database" * 1000)
    code, printed = run("backup", CLACHAN_DATA=str(tmp_path), CLACHAN_DEVELOPMENT="1")
    assert (code, printed) == (1, "Error: The database cannot be used: file is not a database\n")


def test_without_its_tool_postgresql_is_not_backed_up_and_says_so(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    file = house.settings.backups / "one.zip"
    if db.on_sqlite():
        backup.make(house.settings, file, house.now)
        return
    with pytest.raises(Unfit, match=r"pg_dump is not installed.*postgresql-client"):
        backup.make(house.settings, file, house.now)
    assert not file.exists()


def test_a_damaged_match_is_backed_up_as_it_is_and_named_when_it_comes_back(house: House, elsewhere: str) -> None:
    good, bad = house.begun("Ailsa", "Bran"), house.begun("Ailsa", "Bran")
    damage(bad, seq=1, text="A1-B1")
    file = house.settings.backups / "one.zip"
    backup.make(house.settings, file, house.now)
    with moved(house, elsewhere) as settings:
        done = backup.restore(settings, file, house.now)
        assert list(done.verified.faults) == [bad.id]
        assert audit.verify(good.id) == []
    db.database.execute_sql("CREATE TABLE spoilt (id INTEGER)")  # so that the copy serves no other test
    db.database.execute_sql("DROP TABLE spoilt")


def test_an_older_backup_is_brought_up_to_date(cottage: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    match = cottage.begun("Ailsa", "Bran")
    file = cottage.settings.backups / "one.zip"
    backup.make(cottage.settings, file, cottage.now)
    folder = tmp_path / "migrations"
    shutil.copytree(db.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "0999_novelty.py").write_text('def up(_, db):\n    db.execute_sql("CREATE TABLE novelty (id INTEGER)")\n')
    monkeypatch.setattr(db, "MIGRATIONS", folder)
    code, printed = run("restore", str(file), "--replace", **variables(cottage))
    assert code == 0, printed
    assert "applied 0999_novelty\n" in printed
    assert audit.verify(match.id) == []


def test_before_a_migration_what_is_there_is_kept(
    cottage: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cottage.begun("Ailsa", "Bran")
    assert run("db", "migrate", **variables(cottage)) == (0, "")
    assert not cottage.settings.backups.exists(), "there was nothing to do"
    folder = tmp_path / "migrations"
    shutil.copytree(db.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(db, "MIGRATIONS", folder)
    for number, (environment, backups) in enumerate(
        [({"CLACHAN_BACKUP_BEFORE_MIGRATION": "0"}, 0), ({}, 1)], start=998
    ):
        (folder / f"0{number}_more.py").write_text(
            f'def up(_, db):\n    db.execute_sql("CREATE TABLE more{number} (id INTEGER)")\n'
        )
        code, printed = run("db", "migrate", **variables(cottage), **environment)
        assert (code, printed.splitlines()[-1]) == (0, f"applied 0{number}_more")
        assert len(list(cottage.settings.backups.glob("before-migration-*.zip"))) == backups
    (kept,) = cottage.settings.backups.iterdir()
    assert backup.check(kept).contents.migrations[-1] == "0998_more"


@pytest.fixture
def pending(cottage: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have people in the house and a migration to apply."""
    folder = tmp_path / "migrations"
    shutil.copytree(db.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "0999_novelty.py").write_text("def up(_, db):\n    pass\n")
    monkeypatch.setattr(db, "MIGRATIONS", folder)


def test_where_no_backup_can_be_made_for_want_of_a_tool_the_migration_says_so(
    cottage: House, pending: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumps, "has_tools", lambda _: False)
    code, printed = run("db", "migrate", **variables(cottage))
    assert (code, printed.splitlines()) == (
        0,
        ["There is no backup of what was there before: pg_dump is not installed here.", "applied 0999_novelty"],
    )


def test_where_the_backup_fails_nothing_is_migrated(cottage: House, pending: None) -> None:
    cottage.settings.backups.write_text("no folder")
    code, printed = run("db", "migrate", **variables(cottage))
    assert code == 1
    assert printed.endswith("Nothing is migrated; see CLACHAN_BACKUP_BEFORE_MIGRATION.\n")
    assert db.pending() == ["0999_novelty"]


def test_a_new_database_is_migrated_without_a_backup(tmp_path: Path) -> None:
    code, _ = run("db", "migrate", CLACHAN_DATA=str(tmp_path), CLACHAN_DEVELOPMENT="1")
    assert code == 0
    assert not (tmp_path / "backups").exists()


def daily(cottage: House, kept: int) -> Settings:
    return house_settings(cottage.settings.database, cottage.settings.data, BACKUPS_DAILY="1", BACKUPS_KEPT=str(kept))


def test_there_is_one_backup_a_day_and_old_ones_go(cottage: House) -> None:
    settings = daily(cottage, 3)
    by_hand = settings.backups / "mine.zip"
    backup.make(settings, by_hand, cottage.now)
    left = settings.backups / f"{backup.MAKING}left"
    left.mkdir()
    os.utime(left, (0, 0))
    for day in range(6):
        assert backup.keep(settings, cottage.now) == settings.backups / f"clachan-2026-03-0{2 + day}.zip"
        assert backup.keep(settings, cottage.later(hours=1)) is None
        cottage.later(hours=23)
    names = sorted(file.name for file in settings.backups.iterdir())
    assert names == [*(f"clachan-2026-03-0{day}.zip" for day in (5, 6, 7)), "mine.zip"]


def test_the_last_good_backup_is_never_forgotten(cottage: House) -> None:
    settings = daily(cottage, 2)
    settings.backups.mkdir()
    good = settings.backups / "clachan-2026-03-02.zip"
    backup.make(settings, good, cottage.now)
    for day in (1, 3, 4, 5):
        (settings.backups / f"clachan-2026-03-0{day}.zip").write_bytes(good.read_bytes()[:-9])
    gone = backup.prune(settings, cottage.now)
    assert [file.name for file in gone] == ["clachan-2026-03-03.zip", "clachan-2026-03-01.zip"]
    assert good.exists()


def test_the_scheduler_makes_the_backup_of_the_day_where_the_settings_say_so(
    cottage: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", lambda: cottage.now)
    Scheduler(cottage.settings).run("backup")
    assert not cottage.settings.backups.exists()
    made = Scheduler(daily(cottage, 3))
    made.run("backup")
    assert len(list(cottage.settings.backups.iterdir())) == 1
    cottage.later(days=1)
    monkeypatch.setattr(dumps, "take", lambda *_: (_ for _ in ()).throw(Unfit("The database is damaged: a page")))
    made.run("backup")
    assert Job.get(Job.name == "backup").fault
    assert len(list(cottage.settings.backups.iterdir())) == 1


def test_daily_backups_are_the_default_of_the_embedded_database_alone(tmp_path: Path) -> None:
    assert house_settings("sqlite:////x/y.db", tmp_path, BACKUPS_DAILY="").backups_daily
    assert not house_settings("postgresql://x@y/z", tmp_path, BACKUPS_DAILY="").backups_daily
    assert house_settings("postgresql://x@y/z", tmp_path, BACKUPS_DAILY="1").backups_daily


def test_the_commands_tell_what_they_do(house: House, elsewhere: str) -> None:
    house.begun("Ailsa", "Bran")
    file = house.settings.data / "one.zip"
    db.database.close()
    code, printed = run("backup", str(file), **variables(house))
    assert (code, printed) == (0, f"1 matches and all else are in {file}\n")
    assert run("backup", str(file), **variables(house))[0] == 1
    assert run("backup", **variables(house))[0] == 0
    assert len(list(house.settings.backups.iterdir())) == 1
    code, printed = run("restore", str(file), **variables(house))
    assert (code, printed.split()[:2]) == (1, ["Error:", "The"])
    told = {**variables(house), "CLACHAN_DATABASE": elsewhere}
    code, printed = run("restore", str(file), **told)
    assert code == 0, printed
    lines = printed.splitlines()
    assert lines[0].startswith("All is as it was at 20")
    assert lines[1].endswith("mails and calls are held; see `clachan outbox release --help`.")
    assert lines[2] == "1 checked, 0 with faults"
    number = lines[1].split()[0]
    assert run("outbox", "release", **told) == (0, f"{number} released\n")
    assert run("outbox", "release", "--drop", **told) == (0, "0 dropped\n")
    db.use(house.settings.database)
    db.database.connect()


def playing(matches: list[int], house: House) -> Callable[[int], None]:
    """Return the work of a writer: to play its matches without end, and to say of each row that it is stored."""

    def work(pipe: int) -> None:
        for number in matches:
            while log.get(number).status == "running":
                move(number, house.now)
                os.write(pipe, f"{number} {log.get(number).length}\n".encode())

    return work


def said(pipe: int) -> list[tuple[int, int]]:
    """Return what a writer has said so far: matches and the numbers of rows."""
    lines = os.read(pipe, 1_000_000).decode().split("\n")[:-1]
    return [(int(match), int(seq)) for match, seq in map(str.split, lines)]


@pytest.mark.parametrize("rounds", [1, pytest.param(12, marks=pytest.mark.hardship)])
def test_every_row_that_was_stored_when_a_backup_began_is_in_it(
    house: House, database: str, elsewhere: str, rounds: int
) -> None:
    names = ("Ailsa", "Bran", "Catrin")
    for turn in range(rounds):
        house.later(hours=1)
        plans = [[house.started(names[n], names[n - 1]).id for _ in range(4)] for n in range(3)]
        file = house.settings.backups / f"{turn}.zip"
        with apart():
            writers = [fork(database, playing(plan, house)) for plan in plans]
            stored = [row for _, pipe in writers for row in said(pipe)]
            with db.connected():
                backup.make(house.settings, file, house.now)
            later = [row for _, pipe in writers for row in said(pipe)]
            for child, pipe in writers:
                os.kill(child, signal.SIGKILL)
                os.close(pipe)
                os.waitpid(child, 0)
        assert stored
        assert later, "they wrote meanwhile"
        with moved(house, elsewhere) as settings:
            done = backup.restore(settings, file, house.later(seconds=2), replace=True)
            assert done.verified.faults == {}
            lengths = {match.id: match.length for match in Match.select()}
            assert all(lengths[number] >= seq for number, seq in stored)
        for plan in plans:
            for number in plan:
                ours = whole_log(number)
                with moved(house, elsewhere):
                    theirs = whole_log(number)
                assert ours[: len(theirs)] == theirs


def test_who_has_the_database_open_sees_all_of_the_old_or_all_of_the_new(cottage: House, sqlite: str) -> None:
    match = cottage.begun("Ailsa", "Bran")
    file = cottage.settings.backups / "one.zip"
    backup.make(cottage.settings, file, cottage.now)
    cottage.move(match)
    with closing(sqlite3.connect(sqlite.removeprefix("sqlite:///"))) as reader:
        reader.execute("BEGIN")
        count = "SELECT count(*) FROM log"
        (before,) = reader.execute(count).fetchone()
        backup.restore(cottage.settings, file, cottage.now, replace=True)
        assert reader.execute(count).fetchone() == (before,)
        reader.execute("COMMIT")
        assert reader.execute(count).fetchone() == (before - 1,)


def test_a_database_that_others_write_to_is_not_written_over(
    cottage: House, sqlite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = cottage.settings.backups / "one.zip"
    backup.make(cottage.settings, file, cottage.now)
    with closing(sqlite3.connect(sqlite.removeprefix("sqlite:///"))) as writer:
        writer.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(db, "BUSY_SECONDS", 0.5)
        with pytest.raises(Unfit, match="in use"):
            backup.restore(cottage.settings, file, cottage.now, replace=True)

"""`clachan doctor` says of everything whether it is well and what to do, and `clachan admin` who may keep the house."""

from __future__ import annotations

import dataclasses
import shutil
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from house import House, house_settings

from server import db, doctor, raster, scheduler
from server.cli import main
from server.doctor import FAIL, OK, WARN
from server.feeders import check
from server.models import Deed, User
from server.settings import Settings

MEGABYTE = 1024 * 1024


@pytest.fixture(autouse=True)
def _no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_thinks", lambda: True)


def run(house: House, *words: str, **environment: str) -> tuple[int, str]:
    """Return the exit code and what was printed; the command has a connection of its own."""
    chosen = house.settings
    given = {"DATA": str(chosen.data), "DATABASE": chosen.database, "SECRET_KEY": chosen.secret_key, **environment}
    db.database.close()
    try:
        result = CliRunner().invoke(main, words, env={f"CLACHAN_{name}": value for name, value in given.items()})
    finally:
        db.use(chosen.database)
        db.database.connect(reuse_if_open=True)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def found(house: House, **fields: object) -> list[str]:
    """Return the lines about a house whose settings differ in these fields."""
    settings: Settings = dataclasses.replace(house.settings, **fields)
    return [str(finding) for finding in doctor.examine(settings, house.now)]


def about(lines: list[str], words: str) -> str:
    """Return the one line with these words."""
    [line] = [line for line in lines if words in line]
    return line


def tended(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clocks agree, and a scheduler have run."""
    monkeypatch.setattr(db, "instant", lambda: house.now)
    scheduler.note("deadlines", house.now, house.now)


def test_a_house_in_good_order_is_ok_throughout(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    tended(house, monkeypatch)
    smtp = house_settings(house.settings.database, house.settings.data, SMTP_URL="smtp://mail.example.org").smtp
    lines = found(house, public_url="https://play.example.org", smtp=smtp)
    assert [line for line in lines if not line.startswith("ok: ")] == []
    assert len(lines) >= 10


def test_the_clock_of_the_database_is_read(house: House) -> None:
    assert abs(db.instant() - doctor.datetime.now(doctor.UTC)) < timedelta(minutes=1)


def test_each_fault_is_named_with_a_remedy(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    tended(cottage, monkeypatch)
    assert about(found(cottage, public_url="http://play.example.org"), "https://").startswith(FAIL)
    assert about(found(cottage), "this machine only").startswith(WARN)
    assert about(found(cottage, secret_key="ab" * 20), "CLACHAN_SECRET_KEY").startswith(FAIL)
    assert about(found(cottage), "CLACHAN_SMTP_URL").startswith(WARN)
    (cottage.settings.data / "file").write_text("")
    assert about(found(cottage, data=cottage.settings.data / "file"), "CLACHAN_DATA").startswith(FAIL)
    for free, verdict in ((100, FAIL), (500, WARN), (5000, OK)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free * MEGABYTE))
        assert about(found(cottage), "MB are free").startswith(verdict)


def test_a_file_that_others_may_read_is_told(cottage: House) -> None:
    file = Path(cottage.settings.database.removeprefix("sqlite:///"))
    file.chmod(0o600)
    assert not [line for line in found(cottage) if "Others" in line]
    file.chmod(0o644)
    assert about(found(cottage), "Others on this machine").startswith(WARN)


def test_guards_that_are_missing_are_named(house: House) -> None:
    with db.transaction():
        on = "" if db.on_sqlite() else " ON log"
        db.database.execute_sql(f"DROP TRIGGER log_never_shrinks{on}")
    assert about(found(house), "log_never_shrinks").startswith(FAIL)


def test_a_wrong_clock_is_told(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert about(found(cottage), "let both follow NTP").startswith(FAIL)
    tended(cottage, monkeypatch)
    scheduler.note("bots", cottage.now + timedelta(hours=1), cottage.now)
    assert about(found(cottage), "still to come").startswith(FAIL)
    cottage.now -= timedelta(days=9999)
    assert about(found(cottage), "set it").startswith(FAIL)


def test_a_scheduler_that_does_not_run_is_told(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db, "instant", lambda: cottage.now)
    assert about(found(cottage), "No scheduler").startswith(WARN)
    scheduler.note("deadlines", cottage.now, cottage.now)
    cottage.later(hours=1)
    assert about(found(cottage), "deadlines").startswith(WARN)


def test_a_tool_that_fails_is_told_by_its_kind(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> bytes:
        raise OSError("hush")

    monkeypatch.setattr(raster, "png", fails)
    monkeypatch.setattr(doctor, "_knows_zones", lambda: False)
    lines = found(cottage)
    assert about(lines, "(OSError)").startswith(FAIL)
    assert about(lines, "tzdata").startswith(FAIL)
    assert "hush" not in "".join(lines)


def test_letters_are_drawn_and_zones_known() -> None:
    assert doctor._draws()
    assert doctor._knows_zones()


def test_the_command_exits_with_one_if_anything_failed(cottage: House) -> None:
    code, told = run(cottage, "doctor", PUBLIC_URL="http://play.example.org")
    assert code == 1
    assert "fail: The site is at http://play.example.org" in told
    code, told = run(cottage, "doctor")
    assert (code, "fail" in told) == (0, False)


def test_wrong_settings_and_a_database_out_of_reach_are_findings(cottage: House) -> None:
    assert run(cottage, "doctor", SECRET_KEY="short") == (
        1,
        "fail: CLACHAN_SECRET_KEY: must have at least 32 characters.\n",
    )
    code, told = run(cottage, "doctor", DATABASE="postgresql://clachan:hush@127.0.0.1:1/none")
    assert code == 1
    assert "fail: The database cannot be used (OperationalError)" in told
    assert "hush" not in told
    old = cottage.settings.data / "old.db"
    code, told = run(cottage, "doctor", DATABASE=f"sqlite:///{old}")
    assert (code, "run `clachan db migrate`" in told) == (1, True)


def test_mail_and_dns_are_asked_only_if_wanted(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "reached", lambda _: [check.Finding(check.PROBLEM, "No way out.")])
    monkeypatch.setattr(check, "published", lambda _: [check.Finding(check.UNKNOWN, "No answer.")])
    assert "No way out." not in run(cottage, "doctor")[1]
    assert run(cottage, "doctor", "--mail")[0] == 1
    code, told = run(cottage, "doctor", "--dns")
    assert (code, told.splitlines()[-1]) == (0, "warn: No answer.")


def test_the_right_to_keep_is_given_and_taken_by_command(cottage: House) -> None:
    assert run(cottage, "admin", "ailsa") == (0, "Ailsa keeps this house.\n")
    assert User.get(User.name == "Ailsa").admin
    assert run(cottage, "admin", "Ailsa", "--revoke") == (0, "Ailsa keeps this house no more.\n")
    assert not User.get(User.name == "Ailsa").admin
    assert run(cottage, "admin", "Nobody") == (1, "Error: There is nobody of that name.\n")
    assert [(deed.act, deed.admin) for deed in Deed.select().order_by(Deed.id)] == [("appoint", None), ("revoke", None)]

"""The `clachan` command, and that every command and make target is documented."""

from __future__ import annotations

import json
import re
import signal
import smtplib
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from house import House

from engine import record
from server import archive, db, lobby, log
from server.cli import main
from server.models import Inbound, LogRow, Match

ROOT = Path(__file__).parent.parent.parent
RECORDS = ROOT / "tests" / "records"


def run(*words: str, **environment: str) -> tuple[int, str]:
    """Return the exit code and what was printed."""
    result = CliRunner().invoke(main, words, env=environment)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def variables(house: House) -> dict[str, str]:
    chosen = house.settings
    return {
        "CLACHAN_DATA": str(chosen.data),
        "CLACHAN_DATABASE": chosen.database,
        "CLACHAN_SECRET_KEY": chosen.secret_key,
    }


def commands(group: click.Group, path: str = "clachan") -> list[tuple[str, click.Command]]:
    found = []
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found += commands(command, f"{path} {name}")
        else:
            found.append((f"{path} {name}", command))
    return found


def test_every_command_has_help_and_is_documented() -> None:
    written = (ROOT / "docs" / "commands.md").read_text()
    for name, command in commands(main):
        assert command.help, name
        assert f"`{name}" in written, name
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert targets
    for target in targets:
        assert f"`make {target}`" in written, target


def test_records_are_checked_line_by_line() -> None:
    good = [str(file) for file in sorted(RECORDS.glob("clans-0*.json"))]
    code, printed = run("record", "check", *good)
    assert code == 0
    assert printed.splitlines() == [f"{file}: ok" for file in good]
    for file in sorted((RECORDS / "bad").glob("*.json")):
        at = json.loads(file.read_text())["fault"]["at_seq"]
        code, printed = run("record", "check", good[0], str(file))
        assert code == 1
        place = "the result" if at is None else f"row {at}"
        assert printed.splitlines()[1].startswith(f"{file}: refused at {place}: ")


def test_a_file_that_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = str(next(iter(sorted(RECORDS.glob("clans-0*.json")))))
    (tmp_path / "junk.json").write_bytes(b"\x00[1,")
    code, printed = run("record", "check", str(tmp_path), str(tmp_path / "none"), str(tmp_path / "junk.json"), good)
    assert code == 1
    assert printed.splitlines()[-1] == f"{good}: ok"
    assert len(printed.splitlines()) == 4


def test_a_deal_is_drawn_again(cottage: House, tmp_path: Path) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran", "Catrin"))
    found = archive.export(match)
    file = tmp_path / "record.json"
    file.write_text(record.dump(found))
    code, printed = run("record", "verify-deal", str(file))
    assert (code, printed.split()[-1]) == (0, lobby.commitment(match))
    for key, value in (("contributions", ["x", "y", "z"]), ("seed", "00" * 32)):
        file.write_text(record.dump({**found, "fairness": {**found["fairness"], key: value}}))
        assert run("record", "verify-deal", str(file))[0] == 1
    file.write_text(record.dump({key: value for key, value in found.items() if key not in {"fairness", "setup_hash"}}))
    code, printed = run("record", "verify-deal", str(file))
    assert code == 1
    assert "does not say" in printed


def test_self_play_writes_records_that_pass_the_check(tmp_path: Path) -> None:
    words = ["selfplay", "clans", "--seats", "3", "--count", "4", "--seed", "7", "--out"]
    assert run(*words, str(tmp_path / "a"))[0] == run(*words, str(tmp_path / "b"))[0] == 0
    files = sorted((tmp_path / "a").glob("*.json"))
    assert len(files) == 4
    assert [file.read_bytes() for file in files] == [(tmp_path / "b" / file.name).read_bytes() for file in files]
    assert run("record", "check", *map(str, files))[0] == 0
    assert run("selfplay", "clans", "--seats", "9", "--out", str(tmp_path))[0] == 1
    assert run("selfplay", "ludo", "--seats", "2", "--out", str(tmp_path))[0] == 1


def test_matches_are_verified_and_rebuilt(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    cottage.move(match)
    assert run("match", "verify", "--all", **variables(cottage)) == (0, "1 checked, 0 with faults\n")
    with db.transaction():
        Match.update(length=9).where(Match.id == match.id).execute()
    code, printed = run("match", "verify", str(match.id), **variables(cottage))
    assert code == 1
    assert "length" in printed
    assert run("match", "rebuild", str(match.id), **variables(cottage))[0] == 0
    assert run("match", "verify", "--all", **variables(cottage))[0] == 0
    assert run("match", "verify", "77", **variables(cottage)) == (1, "Error: There is no such match.\n")
    assert log.get(match.id).length == LogRow.select().count() - 1


def test_demo_people_are_for_newcomers_machines_only(cottage: House) -> None:
    code, printed = run("seed", **variables(cottage))
    assert code == 1
    assert "DEVELOPMENT" in printed


def test_a_wrong_setting_is_one_sentence() -> None:
    code, printed = run("match", "verify", "--all", CLACHAN_TICK_SECONDS="soon", CLACHAN_SECRET_KEY="k" * 32)
    assert code == 1
    assert printed == "Error: CLACHAN_TICK_SECONDS: must be a whole number from 1 to 60.\n"
    assert run("db", "migrate", CLACHAN_NONSENSE="1")[0] == 1


def test_an_old_schema_is_not_served(tmp_path: Path) -> None:
    code, printed = run("serve", CLACHAN_DATA=str(tmp_path), CLACHAN_DEVELOPMENT="1")
    assert code == 1
    assert "clachan db migrate" in printed


def test_the_scheduler_runs_alone_until_it_is_told_to_stop(cottage: House) -> None:
    cottage.started("Ailsa", "Bran", pace=3600)
    environment = {**variables(cottage), "CLACHAN_TICK_SECONDS": "1", "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen([sys.executable, "-m", "server.cli", "scheduler"], env=environment, cwd=ROOT)
    try:
        for _ in range(100):
            time.sleep(0.1)
            if LogRow.select().where(LogRow.kind == "timeout").exists():
                break
        else:
            pytest.fail("nobody was timed out")
    finally:
        process.terminate()
        assert process.wait(20) == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_mail_comes_in_alone_until_it_is_told_to_stop(cottage: House) -> None:
    port = free_port()
    environment = {**variables(cottage), "CLACHAN_MAIL_IN": f"smtp://127.0.0.1:{port}", "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen([sys.executable, "-m", "server.cli", "mail-in"], env=environment, cwd=ROOT)
    try:
        for _ in range(100):
            time.sleep(0.1)
            try:
                with smtplib.SMTP("127.0.0.1", port, timeout=5) as server:
                    server.sendmail("x@example.org", ["abuse@localhost"], "Subject: Hello\n\n")
                break
            except OSError:
                continue
        assert Inbound.get().verdict == "for-keepers"
    finally:
        process.terminate()
        assert process.wait(20) == 0


def test_mail_comes_in_only_where_the_settings_say(cottage: House) -> None:
    code, printed = run("mail-in", **variables(cottage), CLACHAN_MAIL_IN="pipe")
    assert code == 1
    assert printed.startswith("Error: CLACHAN_MAIL_IN: ")


def test_a_port_of_mail_that_is_taken_is_one_sentence(cottage: House) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, printed = run("mail-in", **variables(cottage), CLACHAN_MAIL_IN=f"smtp://127.0.0.1:{port}")
    assert code == 1
    assert printed == f"Error: CLACHAN_MAIL_IN: smtp://127.0.0.1:{port} cannot be used (Address already in use).\n"


def test_the_players_lines_of_a_mail_are_printed_one_a_line(tmp_path: Path) -> None:
    assert run("mail", "lines", str(ROOT / "tests" / "mail" / "thunderbird_inline.eml")) == (
        0,
        "A5-B1\nsay well played\n",
    )
    assert run("mail", "lines", str(ROOT / "tests" / "mail" / "only_quote.eml")) == (0, "")
    bad = tmp_path / "bad.eml"
    bad.write_bytes(b"x" * 300_000)
    code, printed = run("mail", "lines", str(bad))
    assert code == 1
    assert printed.startswith("Error: The mail cannot be read: ")


def test_a_mail_server_hands_a_mail_over_on_standard_input(cottage: House) -> None:
    result = CliRunner().invoke(
        main,
        ["mail", "receive", "--to", "abuse@localhost", "--from", "x@example.org"],
        env=variables(cottage),
        input=b"Subject: Hello\n\nHello\n",
    )
    assert (result.exit_code, result.output) == (0, "")
    assert (Inbound.get().via, Inbound.get().verdict) == ("stdin", "for-keepers")


def test_a_mail_that_cannot_be_kept_is_to_come_again(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_: object) -> int:
        raise db.Unavailable[0]("database is locked")

    monkeypatch.setattr("server.inbound.door.take", locked)
    result = CliRunner().invoke(main, ["mail", "receive"], env=variables(cottage), input=b"Subject: Hello\n\n")
    assert result.exit_code == 75


def test_what_mail_needs_is_looked_at(cottage: House) -> None:
    code, printed = run("mail", "check", **variables(cottage), CLACHAN_MAIL_IN="off")
    assert code == 1
    assert all(line.startswith(("ok: ", "problem: ", "cannot tell: ")) for line in printed.splitlines())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_and_stops_when_told(tmp_path: Path, number: signal.Signals) -> None:
    port, mail_port = free_port(), free_port()
    site = f"http://127.0.0.1:{port}"
    environment = {
        "CLACHAN_DATA": str(tmp_path),
        "CLACHAN_DEVELOPMENT": "1",
        "CLACHAN_LISTEN": f"127.0.0.1:{port}",
        "CLACHAN_MAIL_IN": f"smtp://127.0.0.1:{mail_port}",
        "CLACHAN_PUBLIC_URL": site,
        "CLACHAN_TICK_SECONDS": "1",
        "PATH": "/usr/bin:/bin",
    }
    clachan = [sys.executable, "-m", "server.cli"]
    for step in ("db migrate", "seed"):
        subprocess.run([*clachan, *step.split()], env=environment, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    process = subprocess.Popen(
        [*clachan, "serve"], env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        for _ in range(100):
            time.sleep(0.1)
            try:
                with urllib.request.urlopen(f"{site}/readyz", timeout=2) as answer:
                    assert json.load(answer)["ok"]
                    break
            except OSError:
                continue
        else:
            pytest.fail("it never became ready")
        with urllib.request.urlopen(f"{site}/mailbox", timeout=5) as answer:
            assert b"Clans" in answer.read()
        with smtplib.SMTP("127.0.0.1", mail_port, timeout=5) as mail_server:
            assert mail_server.sendmail("", ["postmaster@localhost"], "Subject: Hello\n\n") == {}
    finally:
        process.send_signal(number)
        printed, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert f"Clachan is at {site}" in printed
    assert "Sign in as Ailsa" in printed
    assert printed.strip().endswith("Clachan has stopped.")

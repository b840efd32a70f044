"""What is deployed: the units of systemd start what they say, are a house together, and each ends when it is told."""

from __future__ import annotations

import configparser
import json
import shlex
import shutil
import smtplib
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from house import House
from roles import ROOT, Role, Site, filled, free_port, running, variables
from smtp_sink import Sink
from visitor import application

from server import clock, log, settings
from server.cli import main
from server.models import Inbound

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
# So many of what hardens a service may not be lacking in any unit.
HARDENED = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "Restart": "on-failure",
    "KillMode": "mixed",
    "User": "clachan",
}


def service(unit: Path) -> dict[str, str]:
    """Return the section [Service] of a unit."""
    read = configparser.ConfigParser(interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read(unit)
    return dict(read["Service"])


def started(unit: Path, environ: dict[str, str], stack: ExitStack) -> Role:
    """Start what a unit starts, in its folder, which is the one of this program, with the variables of its file."""
    told = service(unit)
    command = told["ExecStart"].replace(told["WorkingDirectory"], str(ROOT))
    return stack.enter_context(running(shlex.split(command), environ))


def until(true: Callable[[], object]) -> None:
    """Wait for something that another process does."""
    for _ in range(200):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


@pytest.mark.postgres
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_the_units_together_are_a_house_and_each_ends_when_told(
    house: House, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.now = clock.now()
    match = house.begun("Ailsa", "Bran")
    house.mail()
    played = house.played(match)
    mover = log.places(match)[played.position.to_act[0]].user
    web_port, mail_port = free_port(), free_port()
    with Sink() as sink, ExitStack() as stack:
        environ = variables(
            database,
            tmp_path,
            LISTEN=f"127.0.0.1:{web_port}",
            MAIL_IN=f"smtp://127.0.0.1:{mail_port}",
            MAIL_FROM="clachan@play.example.org",
            SMTP_URL=f"smtp+plain://127.0.0.1:{sink.port}",
            TICK_SECONDS="1",
        )
        web, scheduler, mail_in = (
            started(DEPLOY / "systemd" / f"clachan-{name}.service", environ, stack)
            for name in ("web", "scheduler", "mail-in")
        )
        web.listens(web_port)
        site = stack.enter_context(closing(Site(web, web_port, application(house, monkeypatch))))
        form, headers = filled(site, match, mover)
        connection = site.connected()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", f"/matches/{match.id}/moves", body=form, headers={**headers, **kind})
        assert connection.getresponse().status == 302
        assert len(house.played(match).rows) > len(played.rows)
        until(lambda: sink.mails)
        mail_in.says("Mail comes in.")
        with smtplib.SMTP("127.0.0.1", mail_port, timeout=10) as post:
            assert post.sendmail("", ["postmaster@play.example.org"], "Subject: Hello\n\n") == {}
        assert Inbound.select().count() == 1
        codes = {role: role.ends() for role in (web, scheduler, mail_in)}
        assert set(codes.values()) == {0}, [role.printed() for role, code in codes.items() if code]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_is_hardened_and_gives_its_role_time_to_end(unit: Path) -> None:
    told = service(unit)
    assert HARDENED.items() <= told.items()
    assert int(told["TimeoutStopSec"]) >= 30
    program, *words = shlex.split(told["ExecStart"])
    assert Path(program).name == "clachan"
    assert words == [unit.stem.removeprefix("clachan-")]
    assert words[0] in main.commands


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        there = Path(sys.executable).parent / "clachan"
        text = unit.read_text().replace("/srv/clachan/.venv/bin/clachan", str(there))
        (tmp_path / unit.name).write_text(text.replace("/srv/clachan", str(ROOT)))
    files = [str(tmp_path / unit.name) for unit in UNITS]
    done = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if "clachan" in line]
    assert (said, done.returncode) == ([], 0)


def test_the_variables_of_the_example_are_settings_that_can_be_used() -> None:
    lines = [line for line in (DEPLOY / "clachan.env").read_text().splitlines() if line and line[0] != "#"]
    given = dict(line.split("=", 1) for line in lines)
    assert given["CLACHAN_SECRET_KEY"] == "", "everybody has to make one of his own"
    chosen = settings.load({**given, "CLACHAN_SECRET_KEY": "x" * 40})
    assert chosen.secure
    assert chosen.trusted_proxies == 1
    assert str(chosen.data) == "/var/lib/" + service(UNITS[0])["StateDirectory"]


def test_what_the_image_is_made_of_is_here_and_what_it_starts_is_ours() -> None:
    steps = [line.split(None, 1) for line in (DEPLOY / "Containerfile").read_text().splitlines() if line[:1].isupper()]
    copied = [name for step, rest in steps if step == "COPY" for name in rest.split()[:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = project["requires-python"].removeprefix(">=")
    assert dict(steps[:1]) == {"FROM": f"docker.io/library/python:{least}-slim"}
    (command,) = [rest for step, rest in steps if step == "CMD"]
    program, role = json.loads(command)
    assert program in project["scripts"]
    assert role in main.commands
    told = [rest for step, rest in steps if step == "ENV"]
    variables_of_ours = [word.partition("=")[0].removeprefix("CLACHAN_") for rest in told for word in rest.split()]
    assert set(variables_of_ours) <= set(settings.KNOWN)


def test_the_document_shows_every_file_that_is_deployed() -> None:
    told = (ROOT / "docs" / "deploying.md").read_text()
    files = [path.relative_to(ROOT).as_posix() for path in DEPLOY.rglob("*") if path.is_file()]
    assert [name for name in files if name not in told] == []

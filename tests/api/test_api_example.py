"""The example for authors of programs plays whole matches against a real server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from house import House
from roles import CLACHAN, free_port, running, variables

from server import audit, log, story, tokens

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "play.py"


@pytest.mark.parametrize("game", ["clans", pytest.param("glory", marks=pytest.mark.hardship)])
def test_two_programs_play_a_match_to_its_end(cottage: House, sqlite: str, tmp_path: Path, game: str) -> None:
    match = cottage.started("Ailsa", "Bran", game=game, pace=0)
    seats = {
        name: tokens.make(cottage.people[name], "A bot", ["read", "play"], cottage.now) for name in ("Ailsa", "Bran")
    }
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environ = variables(sqlite, tmp_path, LISTEN=f"127.0.0.1:{port}", PUBLIC_URL=address, MAIL_IN="pipe")
    with running((*CLACHAN, "web"), environ) as role:
        role.listens(port)
        played = [
            subprocess.Popen(
                [sys.executable, EXAMPLE, address, token, str(match.id), "0.2"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for token in seats.values()
        ]
        told = [each.communicate(timeout=120) for each in played]
    assert [each.returncode for each in played] == [0, 0], told
    over = log.get(match.id)
    assert over.status == "finished"
    assert audit.verify(match.id) == []
    last = story.standing(log.read(over), list(seats), None)
    assert {out.splitlines()[-1] for out, _fault in told} == {last}
    assert {row.via for row in log.read(over).rows} == {"api"}


def test_whoever_has_no_good_token_is_told_so(cottage: House, sqlite: str, tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environ = variables(sqlite, tmp_path, LISTEN=f"127.0.0.1:{port}", PUBLIC_URL=address, MAIL_IN="pipe")
    with running((*CLACHAN, "web"), environ) as role:
        role.listens(port)
        asked = subprocess.run([sys.executable, EXAMPLE, address, "clachan_x", "1"], capture_output=True, text=True)
    assert asked.returncode == 1
    assert "not-signed-in" in asked.stderr


def test_how_it_is_used_is_said_without_arguments() -> None:
    asked = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True)
    assert asked.returncode == 1
    assert "python play.py https://play.example.org TOKEN MATCH" in asked.stderr
    assert "Traceback" not in asked.stderr


def test_at_a_table_that_waits_it_says_so_and_ends(cottage: House, sqlite: str, tmp_path: Path) -> None:
    table, token = cottage.table("Ailsa", seats=2), tokens.make(cottage.people["Ailsa"], "A bot", ["read"], cottage.now)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environ = variables(sqlite, tmp_path, LISTEN=f"127.0.0.1:{port}", PUBLIC_URL=address, MAIL_IN="pipe")
    with running((*CLACHAN, "web"), environ) as role:
        role.listens(port)
        called = [sys.executable, EXAMPLE, address, token, str(table.id)]
        asked = subprocess.run(called, capture_output=True, text=True, timeout=60)
    assert (asked.returncode, asked.stderr.strip()) == (1, "This match has not begun.")

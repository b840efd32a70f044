"""Every command that the documents show is run, each block in a house of its own, or it is told here why it is not."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import documents
import pytest
import yaml
from documents import ROOT, Block
from roles import free_port, running

from server import clock, db, log, tokens
from server.models import Match, User

BIN = Path(sys.executable).parent
CURL = "curl "
SECRET = "CLACHAN_SECRET_KEY="
# What a reader puts something of his own for, what would take long, and what leaves the machine.
STANDS_FOR = {
    f"{SECRET}...": f"{SECRET}made-for-this-test-and-long-enough-for-a-key",
    "YOUR-NAME": "Ailsa",
    "postgresql://clachan@db.example.org/clachan": "sqlite:///{scratch}/copy.db",
    "/mnt/usb/": "{scratch}/",
    "/tmp/matches": "{scratch}/matches",
    "/etc/": "{scratch}/etc/",
    "/srv/clachan/.venv/bin/": f"{BIN}/",
    "/srv/clachan": str(ROOT),
    ".venv/bin/": f"{BIN}/",
    "--matches 100": "--matches 1 --playouts 5",
    "bench.playouts": "bench.playouts --quick",
    "--count 5000": "--count 20",
    " --dns": "",
}
NOT_RUN = {
    "useradd": "makes an account of the machine",
    "git": "fetches the program from wherever it is kept",
    "systemd-run": "asks the systemd of the machine",
    "systemctl": "asks the systemd of the machine",
    "podman": "fetches an image and builds another",
}
# What never ends by itself, and what it says when it is there.
ENDLESS = {"clachan serve": "Clachan is at"}
FORMS: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
FOLDERS = "server|engine|tests|tools|bench|deploy|templates|docs|translations|examples|requirements"


class Workshop:
    """Where the commands of a block are carried out, one after the other."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        (scratch / "etc/systemd/system").mkdir(parents=True)
        port, mail = free_port(), free_port()
        self.environ = {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(scratch),
            # The game of another package, as if it had been installed.
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests/games'}",
            "CLACHAN_DATA": str(scratch / "var"),
            "CLACHAN_DEVELOPMENT": "1",
            "CLACHAN_LISTEN": f"127.0.0.1:{port}",
            "CLACHAN_PUBLIC_URL": f"http://127.0.0.1:{port}",
            "CLACHAN_MAIL_IN": f"smtp://127.0.0.1:{mail}",
        }

    def from_nothing(self) -> None:
        """Leave it to the commands to say of what kind the house is."""
        del self.environ["CLACHAN_DEVELOPMENT"]

    def do(self, command: str) -> None:
        """Carry a command out as it is shown, but for what stands for something else."""
        command = replaced(command, STANDS_FOR).replace("{scratch}", str(self.scratch))
        words = shlex.split(command, comments=True)
        program, *rest = words
        if program == "export":
            self.environ |= dict(word.split("=", 1) for word in rest)
        elif program in NOT_RUN:
            assert missing(words) == [], f"not run, since it {NOT_RUN[program]}"
        elif program == "make":
            self.make(rest)
        elif (last := " ".join(Path(word).name for word in words[-2:])) in ENDLESS:
            self.serve(words, ENDLESS[last])
        else:
            self.run(command, {0, 1} if "doctor" in rest else {0})

    def make(self, words: list[str]) -> None:
        """See what make would do; of `make run`, do that but for what sets the machine up."""
        shown = ("make", "-n", "--no-print-directory", "-o", ".venv/run.done", "-o", ".venv/dev.done", *words)
        told = subprocess.run(shown, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        if words == ["run"]:
            for line in told.splitlines():
                self.do(line.removeprefix("exec "))

    def serve(self, words: list[str], greeting: str) -> None:
        """Start what never ends by itself, and tell it to end once it has said that it is there."""
        with running(words, self.environ) as role:
            role.says(greeting)
            assert role.ends() == 0, role.printed()

    def run(self, command: str, codes: set[int]) -> None:
        """Run a command in the folder of the project; its exit code has to be one of these."""
        line = ["bash", "-c", command]
        done = subprocess.run(line, env=self.environ, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in codes, f"{command}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr


def replaced(command: str, stands_for: Mapping[str, str]) -> str:
    """Return the command with all that stands for something else in it replaced, the longest first."""
    shown = "|".join(map(re.escape, sorted(stands_for, key=len, reverse=True)))
    return re.sub(shown, lambda found: stands_for[found[0]], command)


def missing(words: list[str]) -> list[str]:
    """Return what a command that is not run names and what there is not: files of ours, units, commands."""
    files = [word.removeprefix(f"{ROOT}/") for word in words if word.startswith(("deploy/", f"{ROOT}/"))]
    files += [f"deploy/systemd/{word}.service" for word in words if word.startswith("clachan-")]
    found = [name for name in files if not list(ROOT.glob(name))]
    for number, word in enumerate(words):
        # Of a container the second of two, after the name of the image.
        if word == f"{BIN}/clachan" or words[number - 1 : number + 1] == ["clachan", "clachan"]:
            found += documents.refused(words[number + 1 :])
    return found


def awaited(data: Path, name: str) -> dict[str, str]:
    """Return what stands, in requests to the API, for the token of a person, a match that awaits him and his move."""
    db.use(f"sqlite:///{data / 'clachan.db'}")
    with db.connected():
        user = User.get(User.name == name)
        token = tokens.make(user, "shown", tokens.SCOPES, clock.now())
        for match in Match.select().where(Match.status == "running"):
            played = log.read(match)
            for seat in played.position.to_act:
                if log.places(match)[seat].user == user:
                    move, expected = json.dumps(played.view(seat).moves[0]), played.position.asked[seat]
                    found = {
                        "/matches/7": f"/matches/{match.id}",
                        '"A5-B1"': move,
                        '"expected": 12': f'"expected": {expected}',
                    }
                    return {"clachan_...": token, "$TOKEN": token, **found}
    raise AssertionError(f"nobody waits for {name}")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a house with the demo people in it."""
    workshop = Workshop(tmp_path_factory.mktemp("demo"))
    for command in ("clachan db migrate", "clachan seed"):
        workshop.do(command)
    return workshop.scratch / "var"


@pytest.mark.parametrize("block", [block for block in documents.blocks("sh") if CURL not in block.text], ids=str)
def test_the_commands_of_a_block_can_be_carried_out_one_after_the_other(
    block: Block, demo: Path, tmp_path: Path
) -> None:
    workshop = Workshop(tmp_path)
    if SECRET in block.text or "make run" in block.text:
        workshop.from_nothing()
    else:
        shutil.copytree(demo, tmp_path / "var")
    for command in documents.commands(block):
        workshop.do(command)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize("block", [block for block in documents.blocks("sh") if CURL in block.text], ids=str)
def test_the_requests_of_a_block_are_answered_by_a_house(block: Block, demo: Path, tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    shutil.copytree(demo, tmp_path / "var")
    stands_for = awaited(tmp_path / "var", "Ailsa")
    stands_for |= {
        "https://play.example.org": workshop.environ["CLACHAN_PUBLIC_URL"],
        CURL: f"{CURL}-sS --fail-with-body ",
    }
    with running([f"{BIN}/clachan", "web"], workshop.environ) as role:
        role.listens(int(workshop.environ["CLACHAN_LISTEN"].rpartition(":")[2]))
        for command in documents.commands(block):
            workshop.run(replaced(command, stands_for), {0})


@pytest.mark.parametrize("block", documents.blocks(*FORMS), ids=str)
def test_a_block_of_data_can_be_read(block: Block) -> None:
    assert FORMS[block.language](block.text)


def test_the_entry_point_that_is_shown_leads_to_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests/games")
    shown = [tomllib.loads(block.text) for block in documents.blocks("toml")]
    points = {kind: there for each in shown for kind, there in each["project"]["entry-points"]["clachan.games"].items()}
    assert points
    for kind, there in points.items():
        assert EntryPoint(kind, there, "clachan.games").load().title == "Noughts and Crosses"


def test_every_block_says_in_which_language_it_is() -> None:
    known = {"sh", "text", *FORMS}
    assert [str(block) for block in documents.blocks() if block.language not in known] == []


def test_nothing_stands_for_what_no_block_shows() -> None:
    shown = "".join(block.text for block in documents.blocks("sh"))
    assert [words for words in (*STANDS_FOR, *NOT_RUN, *ENDLESS) if words not in shown] == []


def test_every_command_named_in_passing_is_one() -> None:
    clachan = documents.named(r"(\.venv/bin/)?clachan [^`]+")
    assert clachan
    found = [(page, words) for page, words in clachan if documents.refused(words.split()[1:])]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    found += [(page, words) for page, words in documents.named(r"make \w+") if words.split()[1] not in targets]
    modules = documents.named(r"python -m [^`]+")
    found += [(page, words) for page, words in modules if not importlib.util.find_spec(words.split()[2])]
    assert found == []


def test_every_file_named_in_passing_is_there() -> None:
    files = documents.named(rf"(?:{FOLDERS})/[\w./-]+")
    assert files
    assert [(page, name) for page, name in files if not (ROOT / name).exists()] == []

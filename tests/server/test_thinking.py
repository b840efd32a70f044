"""Processes in which bots think: what they are handed, how they die, and that nothing is lost with them."""

from __future__ import annotations

import json
import os
import pickle
import pickletools
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from pathlib import Path
from random import Random
from typing import Any

import pytest
from house import House, Musing
from test_secrets import OTHER, RECORDS

from engine import games, replay
from engine.bots import Sight, mind
from engine.replay import Row
from server import bots, seating, thinking
from server.thinking import Thinkers

SEVERAL = RECORDS[::2]


@pytest.fixture
def thinkers() -> Iterator[Thinkers]:
    made = Thinkers(1, 3)
    yield made
    made.stop()


def sight_of(found: dict[str, Any], setup: Any, texts: list[str]) -> Sight:
    """Return what the seat to act sees after these moves of a record's match, dealt so."""
    game, seats = games.game(found["game"]), len(found["players"])
    rows = [
        Row(number, row["seat"], "move", text)
        for number, (row, text) in enumerate(zip(found["log"], texts, strict=False), 1)
    ]
    position = replay.replay(game, setup, seats, found["options"], rows)
    return mind.sight(game, position, rows, position.state.to_act[0])


def begun(number: int) -> tuple[dict[str, Any], list[str]]:
    """Return a record and the texts of its moves up to the middle."""
    found = json.loads(SEVERAL[number].read_text())
    return found, [row["text"] for row in found["log"]][: len(found["log"]) // 2]


def about_myself() -> tuple[int, int]:
    """Return the number of the process this runs in, and how far it stands back."""
    return os.getpid(), os.getpriority(os.PRIO_PROCESS, 0)


def die() -> None:
    """End the process this runs in as the system does that is out of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def shrug_off() -> str:
    """Be told to leave, as all processes of a service are, and stay."""
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
    return "still here"


def never_end() -> None:
    """Think of nothing, for longer than anybody waits."""
    time.sleep(60)


@pytest.mark.parametrize("number", range(0, len(SEVERAL), 3))
def test_a_bot_moves_legally_after_thinking_somewhere_else(thinkers: Thinkers, number: int) -> None:
    found, texts = begun(number)
    sight = sight_of(found, found["setup"], texts)
    pid, nice = thinkers.submit(about_myself).result()
    assert pid != os.getpid()
    assert nice >= 3
    for strength in ("easy", "steady", "strong"):
        text = thinkers.submit(thinking.choose, strength, found["game"], sight, 1).result()
        assert text in sight.view.moves
    assert thinkers.submit(about_myself).result()[0] == pid, "one process thinks about them all"


def test_nothing_starts_before_somebody_thinks() -> None:
    before = children()
    made = Thinkers(4, 5)
    assert children() == before
    made.stop()
    assert children() == before


def children() -> set[str]:
    """Return the numbers of the processes that belong to this one."""
    tasks = Path(f"/proc/{os.getpid()}/task")
    return {pid for task in tasks.iterdir() for pid in (task / "children").read_text().split()}


class Scales(Musing):
    """A thinker that keeps what it is handed, as bytes."""

    def __init__(self) -> None:
        self.handed: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def submit(self, function: Callable[..., Any], *given: Any) -> Any:
        self.handed.append((function, pickle.loads(pickle.dumps(given))))
        return super().submit(function, *given)


def test_a_process_is_handed_strength_game_and_sight(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", "Catrin")
    seat = cottage.played(match).position.to_act[0]
    seating.resign(match.id, cottage.people[("Ailsa", "Bran", "Catrin")[seat]], "web", now=cottage.now)
    seen = cottage.played(match).view(seat)
    cottage.thinkers = Scales()
    assert cottage.bots() == 1
    [(function, handed)] = cottage.thinkers.handed
    assert (function, handed) == (thinking.choose, ("steady", "clans", Sight(seen, ()), 2))


@pytest.mark.parametrize("number", range(len(SEVERAL)))
def test_what_is_handed_over_holds_no_secret_of_others(number: int) -> None:
    found, texts = begun(number)
    viewer = sight_of(found, found["setup"], texts).view.viewer
    other, changed = OTHER[found["game"]](found, viewer, len(texts), Random(number))
    assert other != found["setup"]
    bytes_of = [
        pickle.dumps(("strong", found["game"], sight_of(found, setup, moves)))
        for setup, moves in ((found["setup"], texts), (other, changed[: len(texts)]))
    ]
    assert bytes_of[0] == bytes_of[1]
    words = {arg for _, arg, _ in pickletools.genops(bytes_of[0]) if isinstance(arg, str)}
    state = type(games.game(found["game"]).begin(found["setup"], len(found["players"]), found["options"]))
    assert {"Sight", "View"} <= words
    assert not {"State", state.__name__, state.__module__, found["setup"].get("seed", "State")} & words


def test_a_process_that_dies_is_replaced_when_the_next_thought_comes(thinkers: Thinkers) -> None:
    before, _ = thinkers.submit(about_myself).result()
    with pytest.raises(BrokenExecutor):
        thinkers.submit(die).result()
    after, _ = thinkers.submit(about_myself).result()
    assert before != after


def test_a_thought_without_an_end_ends_its_process_and_holds_nobody_up() -> None:
    hasty = Thinkers(1, 3, longest=1)
    try:
        with pytest.raises(BrokenExecutor):
            hasty.submit(never_end).result(30)
        assert hasty.submit(about_myself).result(30)
    finally:
        hasty.stop()


def test_who_thinks_does_not_leave_before_the_house_does(thinkers: Thinkers) -> None:
    assert thinkers.submit(shrug_off).result() == "still here"


def test_after_the_end_nothing_is_thought_about(cottage: House) -> None:
    made = Thinkers(1, 5)
    made.stop()
    with pytest.raises(CancelledError):
        made.submit(about_myself).result()
    match = cottage.started("Ailsa", "Bran", "Catrin")
    seat = cottage.played(match).position.to_act[0]
    seating.resign(match.id, cottage.people[("Ailsa", "Bran", "Catrin")[seat]], "web", now=cottage.now)
    assert bots.run(made, lambda: cottage.now) == 0
    assert cottage.bots() == 1, "and nobody has to wait for a lease afterwards"


HOUSE = """
import sys, time
from server.thinking import Thinkers
from test_thinking import about_myself

if __name__ == "__main__":
    print(Thinkers(1, 5).submit(about_myself).result()[0], flush=True)
    time.sleep(60)
"""


def test_who_thinks_ends_with_the_house_also_when_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "house_that_ends.py"
    script.write_text(HOUSE)
    path = os.pathsep.join(folder for folder in sys.path if folder)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()

"""What measures speed runs; how fast it is, `make bench` tells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench.figures import Figure, median, table

ROOT = Path(__file__).parent.parent
LONG = {
    "moves": (pytest.mark.hardship,),
    "memory": (pytest.mark.hardship,),
    "serving": (pytest.mark.hardship,),
    "mails": (pytest.mark.hardship,),
    "moves-postgresql": (pytest.mark.hardship, pytest.mark.postgres),
    "serving-postgresql": (pytest.mark.hardship, pytest.mark.postgres),
    "pages": (pytest.mark.hardship, pytest.mark.browser),
}


@pytest.mark.parametrize("part", [pytest.param(name, marks=LONG.get(name, ())) for name in bench.PARTS])
def test_each_part_of_the_table_runs(part: str) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("CLACHAN_")}
    command = [sys.executable, "-m", "bench", "--quick", part]
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["what", "reached", "goal", "met", "apart"] in lines[:-1]


def test_the_table_says_which_goals_are_met() -> None:
    told = table(
        [Figure("mails", 250, "/s", 200), Figure("memory", 180.5, "MB", 150, most=True), Figure("p50", 2.345, "ms")]
    )
    assert [line.split() for line in told.splitlines()[1:]] == [
        ["mails", "250", "/s", "at", "least", "200", "/s", "yes"],
        ["memory", "180", "MB", "at", "most", "150", "MB", "NO"],
        ["p50", "2.35", "ms"],
    ]


def test_a_figure_is_the_median_and_says_how_far_the_rounds_lie_apart() -> None:
    one = median("moves", [90, 100, 120])
    assert (one.reached, one.apart) == (100, 30)


def test_one_round_lies_apart_from_nothing() -> None:
    assert median("moves", [90]).apart is None

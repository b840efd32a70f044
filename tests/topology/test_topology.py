"""A house on many machines while they fail in turn: nothing that was acknowledged is lost, halved or doubled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import failures
import pytest
from machines import Network, lacking
from trial import MACHINES, Trial, wait_for

# A dead machine is given up sooner than by default, for the sake of those who wait for the tests.
IMPATIENT: Final = "&tcp_user_timeout=3000&keepalives_idle=2&keepalives_interval=1"

pytestmark = [pytest.mark.postgres, pytest.mark.skipif(bool(lacking()), reason=lacking())]


@contextmanager
def on_trial(folder: Path, silent: list[float], **more: Any) -> Iterator[Trial]:
    """Have a house on many machines, with people who play."""
    with Network(MACHINES, folder) as network, network.inside("client"):
        trial = Trial(network, folder, **more)
        try:
            trial.open(silent)
            wait_for("people playing", lambda: len(trial.players.diary.told) > trial.tables, 60)
            yield trial
        except AssertionError as fault:
            raise AssertionError("\n".join((*trial.said, str(fault), trial.logs()))) from fault
        finally:
            trial.close()


def test_a_house_on_many_machines_outlives_its_web_server_and_its_database(tmp_path: Path) -> None:
    with on_trial(tmp_path, [3, 6, 9, 12], tables=4, pause=(0.5, 1.5), patience=IMPATIENT) as trial:
        trial.run("sched2")
        failures.cut_web(trial, 3)
        failures.fail_over(trial, 1)
        trial.settle(leases=False)
        assert "\n".join(trial.faults()) == ""
        assert trial.report()[-1] == "8 checked, 0 with faults"


@pytest.mark.hardship
def test_while_machines_fail_in_turn_each_move_deadline_and_mail_comes_once(
    tmp_path: Path, did: Callable[[object], None]
) -> None:
    burst, staggered = 45.0, [float(seconds) for seconds in range(15, 240, 9)]
    with on_trial(tmp_path, [burst] * 20 + staggered, tables=24, pause=(2, 5)) as trial:
        failures.kill_scheduler(trial, burst)
        failures.cut_web(trial, 20)
        failures.abandon_match(trial)
        time.sleep(10)
        failures.fail_over(trial, 10)
        trial.settle(leases=True)
        faults, report = trial.faults(), trial.report()
        did("\n    ".join(("", *report)))
        assert "\n".join(faults) == ""
        assert report[-1].endswith(" 0 with faults")

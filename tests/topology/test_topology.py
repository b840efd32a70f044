"""A house on many machines while they fail in turn: nothing that was acknowledged is lost, halved or doubled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import failures
import pytest
from deployment import MACHINES, Deployment, wait_for
from machines import Network, lacking

# A dead machine is given up sooner than by default, for the sake of those who wait for the tests.
IMPATIENT: Final = "&tcp_user_timeout=3000&keepalives_idle=2&keepalives_interval=1"

pytestmark = [pytest.mark.postgres, pytest.mark.machines, pytest.mark.skipif(bool(lacking()), reason=lacking())]


@contextmanager
def on_trial(folder: Path, silent: list[float], **more: Any) -> Iterator[Deployment]:
    """Have a house on many machines, with people who play."""
    with Network(MACHINES, folder) as network, network.inside("client"):
        deployment = Deployment(network, folder, **more)
        try:
            deployment.open(silent)
            wait_for("people playing", lambda: len(deployment.players.diary.told) > deployment.tables, 60)
            yield deployment
        except AssertionError as fault:
            raise AssertionError("\n".join((*deployment.said, str(fault), deployment.logs()))) from fault
        finally:
            deployment.close()


def test_a_house_on_many_machines_outlives_its_web_server_and_its_database(tmp_path: Path) -> None:
    with on_trial(tmp_path, [3, 6, 9, 12], tables=4, pause=(0.5, 1.5), patience=IMPATIENT) as deployment:
        deployment.run("sched2")
        failures.cut_web(deployment, 3)
        failures.fail_over(deployment, 1)
        deployment.settle(leases=False)
        assert "\n".join(deployment.faults()) == ""
        assert deployment.report()[-1] == "8 checked, 0 with faults"


@pytest.mark.hardship
def test_while_machines_fail_in_turn_each_move_deadline_and_mail_comes_once(
    tmp_path: Path, did: Callable[[object], None]
) -> None:
    burst, staggered = 45.0, [float(seconds) for seconds in range(15, 240, 9)]
    with on_trial(tmp_path, [burst] * 20 + staggered, tables=24, pause=(2, 5)) as deployment:
        failures.kill_scheduler(deployment, burst)
        failures.cut_web(deployment, 20)
        failures.abandon_match(deployment)
        time.sleep(10)
        failures.fail_over(deployment, 10)
        deployment.settle(leases=True)
        faults, report = deployment.faults(), deployment.report()
        did("\n    ".join(("", *report)))
        assert "\n".join(faults) == ""
        assert report[-1].endswith(" 0 with faults")

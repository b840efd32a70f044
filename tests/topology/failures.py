"""What happens to the machines of a trial; each failure returns when all that it stopped goes on."""

from __future__ import annotations

import signal
import sys
import time
from functools import partial
from typing import Final

import psycopg
from clusters import DATABASE, PORT
from deployment import Deployment, wait_for
from machines import Program

from server import clock

# A program that begins to write in a match and comes to no end.
HOLDING: Final = """
import sys, time
from server import db, log
db.use(sys.argv[1])
with db.connected(), db.transaction():
    log.get(int(sys.argv[2]), hold=True)
    print("held", flush=True)
    time.sleep(3600)
"""
_LEASED: Final = "SELECT 1 FROM match WHERE status = 'running' AND deadline <= {now} AND leased_until > {now}"
_TICKED: Final = "SELECT 1 FROM job WHERE name = 'deadlines' AND succeeded_at > {now}"


def kill_scheduler(deployment: Deployment, burst: float) -> None:
    """Kill the only scheduler with a mail and a match in hand; another begins, and it comes back later.

    `burst` says how many seconds after `open` many deadlines are over at once. What was in hand is not waited for: that
    takes a lease.
    """
    wait_for("many deadlines", lambda: time.monotonic() - deployment.opened > burst - 8, burst)
    deployment.sink.mute = True
    handed = "SELECT 1 FROM outbox WHERE state = 'handed'"
    wait_for("a mail in hand", lambda: deployment.first.ask(handed, DATABASE), 60)
    victim = deployment.programs["sched1"]
    known = f"host={deployment.first.address} port={PORT} user=clachan dbname={DATABASE}"
    with psycopg.connect(known, autocommit=True) as connection:
        wait_for("a match in hand", partial(_caught, victim, connection), 60, pause=0.004)
    victim.kill()
    deployment.sink.mute = False
    began = time.monotonic()
    deployment.tell(f"sched1 was killed with mails and {len(deployment.asked(_LEASED))} matches in hand; sched2 begins")
    ticked = _TICKED.format(now=int(clock.now().timestamp() * 1000))
    deployment.run("sched2")
    deployment.tell(f"sched2 was at work {wait_for('a tick', lambda: deployment.asked(ticked), 60):.1f} s later")
    wait_for("a while", lambda: time.monotonic() - began > 5, 10)
    deployment.run("sched1")


def _caught(program: Program, connection: psycopg.Connection[tuple[int]]) -> bool:
    """Stop the program where it stands, and let it go on unless it has a match in hand."""
    program.tell(signal.SIGSTOP)
    if connection.execute(_LEASED.format(now=int(clock.now().timestamp() * 1000))).fetchone():
        return True
    program.tell(signal.SIGCONT)
    return False


def cut_web(deployment: Deployment, seconds: float) -> None:
    """Pull the cable of a web server for a time, then put it back."""
    began = time.monotonic()
    deployment.network.cut("web1")
    time.sleep(seconds)
    deployment.network.mend("web1")
    mended = time.monotonic()
    deployment.tell(f"web1 was cut off for {mended - began:.1f} s; {deployment.seen(began, mended)}")
    deployment.players.proxy.place = 0
    back = wait_for("web1 answering again", lambda: deployment.served("web1"), 60)
    deployment.tell(f"web1 answered {back:.1f} s after its cable was back")


def abandon_match(deployment: Deployment) -> None:
    """Cut a web server off in the middle of a write: the match is held, and nobody is there who will let go of it."""
    match = next(iter(deployment.due))
    holder = deployment.network.start(
        "web1", [sys.executable, "-c", HOLDING, deployment.url, match], env=deployment.environment("web1")
    )
    wait_for("a match held", lambda: "held" in holder.log(), 30)
    deployment.network.cut("web1")
    began = time.monotonic()
    free = partial(deployment.lockable, match)
    assert not free()
    deployment.tell(
        f"web1 was cut off while it held a match: free again after {wait_for('a free match', free, 90):.1f} s"
    )
    holder.kill()
    deployment.network.mend("web1")
    deployment.tell(f"meanwhile: {deployment.seen(began, time.monotonic())}")


def fail_over(deployment: Deployment, seconds: float) -> None:
    """Let the database fail, with its cable, and after a time promote the other."""
    began = time.monotonic()
    deployment.network.cut("db1")
    deployment.first.crash()
    time.sleep(seconds)
    deployment.second.promote()
    promoted = time.monotonic()
    deployment.database = deployment.second
    deployment.tell(f"db1 failed with its cable; db2 was promoted after {promoted - began:.1f} s")

    def moved() -> bool:
        # One that was asked for after the promotion: others may only have been told late.
        return any(one.asked_at > promoted or one.told_at > promoted for one in deployment.players.diary.told)

    wait_for("a move after the failover", moved, 60)
    first = next(one.told_at for one in deployment.players.diary.told if one.told_at > promoted)
    deployment.tell(f"the first move was acknowledged {first - promoted:.1f} s after the promotion")
    ticked = _TICKED.format(now=int(clock.now().timestamp() * 1000))
    deployment.tell(f"a scheduler was at work {wait_for('a tick', lambda: deployment.asked(ticked), 60):.1f} s later")
    for name in ("web1", "web2"):
        wait_for(f"{name} answering again", lambda name=name: deployment.served(name), 60)
    deployment.tell(f"both web servers answer; {deployment.seen(began, time.monotonic())}")

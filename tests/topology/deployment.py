"""A house on many machines, with people who play in it, set up for a trial."""

from __future__ import annotations

import http.client
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import argon2
import findings
import psycopg
from clusters import DATABASE, Cluster
from house import House
from machines import ROOT, Network, Program, environment
from players import PASSWORD, PORT, SITE, Person, Players
from smtp_sink import HANG, Sink

from server import clock, db, settings

MACHINES: Final = ("web1", "web2", "sched1", "sched2", "mailin", "smtp", "client", "db1", "db2")
GAMES: Final = ("clans", "glory")
HOUR: Final = timedelta(hours=1)
CLACHAN: Final = Path(sys.executable).with_name("clachan")


class Sorting(Sink):
    """The mail server of everybody: while it is `mute` it keeps a mail and never says so."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.host, self.mute = address, False

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        """Keep the mail and answer, or be silent."""
        taken = await super().handle_DATA(server, session, envelope)
        if self.mute:
            await server.say(HANG)
        return taken


def wait_for(what: str, found: Callable[[], object], seconds: float, pause: float = 0.1) -> float:
    """Wait until something is found, and return how many seconds that took."""
    began = time.monotonic()
    while not found():
        assert time.monotonic() - began < seconds, f"after {seconds} seconds: not yet {what}"
        time.sleep(pause)
    return time.monotonic() - began


class Deployment:
    """The house, its machines and its people. `open` before anything else, inside the block of the network.

    `tables` matches are played at browsers and by mail in turn. In those of `silent`, each an instant in seconds from
    `open` on, nobody answers, and a deadline is over then. `patience` is what else the address of the database says.
    """

    def __init__(
        self, network: Network, folder: Path, *, tables: int, pause: tuple[float, float], patience: str = ""
    ) -> None:
        self.network, self.folder, self.tables = network, folder, tables
        self.first, self.second = Cluster(network, "db1"), Cluster(network, "db2")
        self.database = self.first  # the one that takes writes
        self.programs: dict[str, Program] = {}
        self.played: set[int] = set()
        self.due: dict[int, datetime] = {}
        self.said: list[str] = []
        self.sink = Sorting(network.address("smtp"))
        self.players = Players(network, ("web1", "web2"), self.sink, pause)
        hosts = f"{self.first.address},{self.second.address}"
        self.url = f"postgresql://clachan@{hosts}/{DATABASE}?target_session_attrs=read-write{patience}"
        self.key = secrets.token_urlsafe(48)
        self.began = self.opened = time.monotonic()

    def open(self, silent: list[float]) -> None:
        """Begin with everything in order."""
        self._databases()
        self.command("db", "migrate")
        with self.network.inside("smtp"):
            self.sink.hostname, self.sink.port = self.sink.host, 25
            self.sink.start()
        db.use(self.url)
        with db.connected():
            tables, writers = self._people(silent)
        self.played = set(tables)
        db.part()
        for name in ("web1", "web2", "sched1", "mailin"):
            self.run(name)
        wait_for("mail taken in", lambda: "Mail comes in." in self.programs["mailin"].log(), 60)
        wait_for("both web servers answering", lambda: all(self.served(name) for name in ("web1", "web2")), 60)
        self.players.begin(tables, writers)

    def close(self) -> None:
        """End what the network does not end by itself."""
        self.players.over.set()
        self.sink.__exit__()
        db.part()
        for cluster in (self.first, self.second):
            if cluster.program:
                cluster.program.kill()
            cluster.remove()

    def run(self, name: str) -> None:
        """Start the program of a machine, with the command and the settings of the documentation."""
        role = {"web": "web", "sched": "scheduler", "mailin": "mail-in"}[name.rstrip("12")]
        self.programs[name] = self.network.start(name, [CLACHAN, role], env=self.environment(name))

    def environment(self, name: str) -> dict[str, str]:
        """Return the settings of a machine: the same everywhere, but for the addresses it listens at."""
        data = self.folder / name
        data.mkdir(exist_ok=True)
        own = self.network.address(name)
        return dict(
            environment(
                DATA=str(data),
                DATABASE=self.url,
                LISTEN=f"{own}:{PORT}",
                MAIL_FROM=f"clachan@{SITE}",
                MAIL_IN=f"smtp://{own}:25" if name == "mailin" else "pipe",
                PUBLIC_URL=f"http://{SITE}",
                SECRET_KEY=self.key,
                SMTP_URL=f"smtp+plain://{self.network.address('smtp')}:25",
                TICK_SECONDS="1",
                TRUSTED_PROXIES="1",
            )
        )

    def served(self, name: str) -> bool:
        """Whether a web server answers, with the database behind it."""
        try:
            connection = http.client.HTTPConnection(self.network.address(name), PORT, timeout=5)
            connection.request("GET", "/signin", headers={"Host": SITE})
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def asked(self, query: str) -> list[tuple[Any, ...]]:
        """Return what the database that takes writes answers; `{now}` in the query is now."""
        return self.database.ask(query.format(now=int(clock.now().timestamp() * 1000)), DATABASE)

    def lockable(self, match: int) -> bool:
        """Whether nobody holds a match."""
        try:
            return bool(self.asked(f"SELECT 1 FROM match WHERE id = {match} FOR NO KEY UPDATE NOWAIT"))
        except psycopg.errors.LockNotAvailable:
            return False

    def seen(self, since: float, until: float) -> str:
        """Return what people saw of a failure."""
        diary = self.players.diary
        silent, slow = diary.silence(since, until), diary.slowest(since, until)
        return f"longest silence {silent:.1f} s, slowest acknowledgement {slow:.1f} s"

    def tell(self, what: str) -> None:
        """Add a line to the report."""
        self.said.append(f"{time.monotonic() - self.began:6.1f} s  {what}")

    def settle(self, *, leases: bool) -> None:
        """Let what is under way come to its end, with nobody playing any more; then end all programs.

        What a program had in hand that has died waits for its lease to end; `leases` says whether to wait with it.
        """
        fired = "SELECT count(*) FROM log WHERE kind = 'timeout'"
        over = wait_for("all deadlines fired", lambda: self.asked(fired)[0][0] >= len(self.due), 240, 0.5)
        self.tell(f"all deadlines have fired, after {over:.1f} s more")
        self.players.stop()
        waiting = "SELECT kind, state, note FROM outbox WHERE state = 'queued' AND due_at <= {now}"
        waiting += " OR state IN ('taken', 'handed')" if leases else ""
        drained = wait_for("no mail waiting", lambda: not self.asked(waiting), 400 if leases else 60, 0.5)
        wait_for("no mail unread", lambda: not self.asked("SELECT 1 FROM inbound WHERE done_at IS NULL"), 60)
        self.tell(f"all mails have left, after {drained:.1f} s more")
        for program in self.programs.values():
            program.tell(signal.SIGTERM)
        ended = {name: program.process.wait(60) for name, program in self.programs.items()}
        assert not any(ended.values()), f"not every program ended well: {ended}"

    def faults(self) -> list[str]:
        """Return what is wrong in the database that is left, and with what people were told."""
        diary, now = self.players.diary, clock.now()
        db.use(f"postgresql://clachan@{self.database.address}/{DATABASE}")
        with db.connected():
            return [
                *diary.broken,
                *diary.refused,
                *findings.of_moves(diary.told, self.played),
                *findings.of_answers(diary.sent),
                *findings.of_deadlines(self.due),
                *findings.of_turns(self.sink.mails, now),
                *findings.of_work(now),
            ]

    def report(self) -> list[str]:
        """Return what happened, a line each."""
        diary = self.players.diary
        with db.connected():
            lags = findings.lags(self.due)
        again = sum(one.tries > 1 for one in diary.told)
        return [
            *self.said,
            f"{len(diary.told)} moves acknowledged, {again} of them after more than one try",
            f"{len(diary.sent)} answers by mail taken in",
            f"{len(self.sink.mails)} mails came, {findings.twice(self.sink.mails)} of them for the second time",
            f"requests that failed: {dict(diary.faults)}; mails not taken at first: {dict(diary.mail_faults)}",
            f"{len(lags)} deadlines, {lags[len(lags) // 2]:.1f} s late in the middle and {lags[-1]:.1f} s at most",
            self.command("match", "verify", "--all"),
        ]

    def logs(self) -> str:
        """Return the end of what each program has said."""
        return "\n".join(f"--- {each.said.name}\n{each.log()[-1500:]}" for each in self.network.running)

    def command(self, *words: str) -> str:
        """Run a command of ours on the machine `client` and return what it said."""
        with self.network.inside("client"):
            done = subprocess.run(
                [CLACHAN, *words],
                env=self.environment("client"),
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
        assert done.returncode == 0, f"clachan {' '.join(words)}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
        return done.stdout.strip()

    def _databases(self) -> None:
        self.first.begin()
        # A commit is acknowledged when both have it: so whoever was told of a move finds it after a failover.
        self.first.start(synchronous_standby_names="db2", synchronous_commit="on")
        self.second.follow(self.first)
        self.second.start(cluster_name="db2")
        wait_for("a standby", lambda: self.first.ask("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"), 30)
        self.first.ask(f"CREATE DATABASE {DATABASE}")

    def _people(self, silent: list[float]) -> tuple[dict[int, list[Person]], dict[str, int]]:
        """Begin all matches; return who plays at browsers, by match, and the addresses of those who write mails."""
        chosen = settings.load(self.environment("client"))
        house = House(chosen)
        password = argon2.PasswordHasher().hash(PASSWORD)
        tables: dict[int, list[Person]] = {}
        writers: dict[str, int] = {}
        for number in range(self.tables):
            names = [f"Player{number}a", f"Writer{number}" if number % 2 else f"Player{number}b"]
            for name in names:
                house.people[name] = house.person(name, password=password)
            house.now = clock.now()
            match = house.started(*names, game=GAMES[number // 2 % 2])
            people = [
                Person(name, house.people[name].id, f"198.51.100.{2 * number + place}")
                for place, name in enumerate(names)
            ]
            tables[match.id] = [person for person in people if person.name.startswith("Player")]
            writers |= {person.address: match.id for person in people if person.name.startswith("Writer")}
        begin, self.opened = clock.now(), time.monotonic()
        for number, seconds in enumerate(silent):
            names = [f"Silent{number}a", f"Silent{number}b"]
            for name in names:
                house.people[name] = house.person(name)
            # The shortest time for a move is an hour; so what runs out soon was begun an hour ago.
            house.now = begin + timedelta(seconds=seconds) - HOUR
            match = house.begun(*names, game=GAMES[number % 2], pace=int(HOUR.total_seconds()))
            assert match.deadline is not None
            self.due[match.id] = match.deadline
        return tables, writers

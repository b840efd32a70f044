"""The house as it runs in earnest: a database with running matches, people signed in, processes of its commands."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import cycle, islice, product
from pathlib import Path
from typing import NamedTuple, cast

import flask
from flask.sessions import SecureCookieSessionInterface

from bench import scripts
from bench.scripts import ROOT, Script
from engine import games
from server import clock, create_app, db, lobby, tokens
from server.desk import writing
from server.models import User
from server.settings import Settings
from server.web.account import Person
from tests.house import house_settings

PACE = 30 * 86400


class Badge(NamedTuple):
    """A person: the cookie of a browser that is signed in, and a token for programs."""

    cookie: str
    token: str


class Running(NamedTuple):
    """A running match: its number, the script it follows, and the badges of its seats."""

    number: int
    script: Script
    badges: list[Badge]


def begin(url: str, folder: Path) -> Settings:
    """Make an empty database; return the settings of a house on it, with its data in the folder."""
    chosen = house_settings(url, folder)
    db.use(url)
    db.migrate()
    return chosen


def fill(chosen: Settings, count: int) -> list[Running]:
    """Start so many matches of both games, each played some way, with people of its own who are signed in."""
    began, begun = clock.now() - timedelta(hours=1), []
    with db.connected(), db.transaction():
        for number, (kind, seats) in enumerate(islice(cycle(product(games.games(), (2, 3, 4))), count)):
            people = [_person(f"P{number} {seat}", began) for seat in range(seats)]
            begun.append((_begin(kind, people, number, began), people))
    app = create_app(chosen)
    with db.connected():
        return [Running(*match, [badge(app, user) for user in people]) for match, people in begun]


def _person(name: str, now: datetime) -> User:
    """Make a person with a confirmed address; without the cost of hashing a password."""
    key = name.replace(" ", ".").casefold()
    email = f"{key}@example.org"
    found: User = User.create(
        name=name,
        name_key=name.casefold(),
        email=email,
        email_key=email,
        confirmed_at=now,
        session_key=secrets.token_hex(16),
        created_at=now,
    )
    return found


def _begin(kind: str, people: Sequence[User], number: int, now: datetime) -> tuple[int, Script]:
    terms = lobby.Terms(kind, len(people), seating="join", options={}, clock={"move": PACE})
    match = lobby.open_table(people[0], terms, now)
    for user in people[1:]:
        lobby.join(match.id, user, now=now)
    with writing(match.id, now) as desk:
        script = scripts.write(kind, desk.played.setup, len(people), number)
        for step in script.steps[: script.made]:
            desk.put("move", step.seat, step.text, "web")
    return match.id, script


def badge(app: flask.Flask, user: User) -> Badge:
    """Return what the browser and the programs of somebody hold."""
    token = tokens.make(user, "bench", tokens.SCOPES, clock.now())
    # Its first use of a day is noted, which is no part of a move.
    tokens.holder(token, clock.now())
    return Badge(cookie(app, user), token)


def cookie(app: flask.Flask, user: User) -> str:
    """Return the cookie of a browser in which somebody has signed in and seen a page today."""
    signer = cast(SecureCookieSessionInterface, app.session_interface).get_signing_serializer(app)
    if signer is None:
        raise ValueError("sessions need a secret key")
    with app.test_request_context():
        says = {"_user_id": Person(user).get_id(), "_fresh": True, "_permanent": True}
    says |= {"renewed": clock.now().date().isoformat(), "csrf_token": secrets.token_hex(20)}
    return f"{app.config['SESSION_COOKIE_NAME']}={signer.dumps(says)}"


def environment(chosen: Settings, port: int, **more: str) -> dict[str, str]:
    """Return the environment of a command of the house; `more` are further settings without their prefix."""
    given = {"DATA": str(chosen.data), "DATABASE": chosen.database, "SECRET_KEY": chosen.secret_key}
    given |= {"LISTEN": f"127.0.0.1:{port}", "PUBLIC_URL": f"http://127.0.0.1:{port}", "MAIL_IN": "off"}
    given |= {"BACKUPS_DAILY": "0", **more}
    return plain_environment() | {f"CLACHAN_{name}": value for name, value in given.items()}


def plain_environment() -> dict[str, str]:
    """Return the environment of this process without settings of the house."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CLACHAN_")}


class Served(NamedTuple):
    """Programs that serve on a port; `group` is the number of the group of processes that answer there."""

    port: int
    group: int


@contextmanager
def serving(chosen: Settings, *, workers: int = 1, scheduler: bool = True) -> Iterator[Served]:
    """Serve the house, with a scheduler beside it or without."""
    port = free_port()
    own = environment(chosen, port, WEB_WORKERS=str(workers))
    roles = ("web", "scheduler") if scheduler else ("web",)
    with processes([[sys.executable, "-m", "server.cli", role] for role in roles], own) as begun:
        wait_for(port)
        yield Served(port, begun[0].pid)


def command(chosen: Settings, *words: str) -> str:
    """Carry a command of the house out; return what it says. Raises `CalledProcessError`."""
    own = environment(chosen, free_port())
    done = subprocess.run(
        [sys.executable, "-m", "server.cli", *words], env=own, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


@contextmanager
def processes(all_words: Sequence[Sequence[str]], own: dict[str, str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run programs from the root of the project for the block; what they say is shown if one of them has ended."""
    with tempfile.TemporaryFile() as said:
        begun = [
            subprocess.Popen(words, env=own, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT, process_group=0)
            for words in all_words
        ]
        try:
            yield begun
        finally:
            early = [process.args for process in begun if process.poll() is not None]
            for process in begun:
                process.send_signal(signal.SIGTERM)
            for process in begun:
                process.wait(30)
            if early:
                said.seek(0)
                sys.stderr.write(f"{early} ended early:\n{said.read().decode(errors='replace')[-4000:]}\n")


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int, patience: float = 20) -> None:
    """Return when somebody listens on the port. Raises `TimeoutError`."""
    for _ in range(int(patience * 20)):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nobody listens on port {port}")

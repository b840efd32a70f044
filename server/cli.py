"""The `clachan` command."""

from __future__ import annotations

import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO

import click

from engine import bots, games, record, selfplay
from engine.base import Game
from engine.bots import arena
from server import archive, audit, clock, create_app, db, feeders, inbound, log, ratings, seeding, settings
from server.errors import Refused
from server.feeders import check as checks
from server.inbound import lines, parse
from server.scheduler import Scheduler

# How many seconds requests in hand are given when the server is told to stop.
PATIENCE = 10
# Bytes; the site itself refuses smaller ones with a page of its own.
LARGEST_REQUEST = 1024 * 1024


@click.group()
def main() -> None:
    """Clachan: slow board games, by mail. Settings come from the environment; see docs/settings.md."""


def needs_database(command: Callable[..., Any]) -> Callable[..., Any]:
    """Read the settings and hold a connection for the command; say in one sentence what is wrong with either."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            chosen = settings.load(os.environ)
            db.use(chosen.database)
            with db.connected():
                return command(chosen, *args, **kwargs)
        except (settings.WrongSetting, db.PendingMigration, Refused) as fault:
            raise click.ClickException(str(fault)) from None
        except db.Unavailable as fault:
            raise click.ClickException(f"The database cannot be used: {fault}") from None

    return run


@main.command()
@needs_database
def serve(chosen: settings.Settings) -> None:
    """Serve web, scheduler and mail in one process, until interrupted."""
    import waitress

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    app = create_app(chosen)
    try:
        server = waitress.create_server(
            app,
            host=chosen.host,
            port=chosen.port,
            threads=chosen.web_threads,
            # Slow or silent clients must not use up what others need.
            connection_limit=1000,
            channel_timeout=60,
            asyncore_use_poll=True,
            max_request_body_size=LARGEST_REQUEST,
            ident="",
            clear_untrusted_proxy_headers=False,
        )
    except OSError as fault:
        listen = f"{chosen.host}:{chosen.port}"
        why = f"CLACHAN_LISTEN: {listen} cannot be used ({fault.strerror})."
        raise click.ClickException(f"{why} Choose another, and CLACHAN_PUBLIC_URL with it.") from None
    ways_in = open_ways_in(chosen)
    scheduler = Scheduler(chosen)
    scheduler.start()

    leave_gracefully(server)
    click.echo(f"Clachan is at {chosen.public_url}" + seeding.hint(chosen))
    try:
        server.run()
    finally:
        ways_in.stop()
        scheduler.stop()
        click.echo("Clachan has stopped.")


@main.command("scheduler")
@needs_database
def only_scheduler(chosen: settings.Settings) -> None:
    """Run the scheduler alone, until interrupted: deadlines, reminders, bots and mail, beside any number of others."""
    db.require_current()
    scheduler = Scheduler(chosen)
    scheduler.start()
    stay_until_told("The scheduler is running.")
    scheduler.stop()


@main.command("mail-in")
@needs_database
def only_mail_in(chosen: settings.Settings) -> None:
    """Run the ways in for mail alone, until interrupted; another process runs the scheduler."""
    db.require_current()
    if not {way.kind for way in chosen.mail_in} - {"pipe"}:
        raise settings.WrongSetting("MAIL_IN", "names nothing to listen on and no mailbox to read.")
    ways_in = open_ways_in(chosen)
    stay_until_told("Mail comes in.")
    ways_in.stop()


def open_ways_in(chosen: settings.Settings) -> feeders.Feeders:
    """Open the ways in for mail that the settings name."""
    return feeders.start(chosen, lambda raw, envelope: inbound.receive(raw, envelope, chosen, clock.now), clock.now)


def stay_until_told(greeting: str) -> None:
    """Say that all is running, and return when the process is told to end."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    click.echo(greeting)
    ended.wait()


def leave_gracefully(server: Any) -> None:
    """On SIGTERM or SIGINT take no new connection, let the requests in hand be answered, then end the server's loop."""
    answered = threading.Event()

    def drain() -> None:
        server.accepting = False
        for _ in range(PATIENCE * 10):
            if not any(
                channel.requests or channel.total_outbufs_len for channel in list(server.active_channels.values())
            ):
                break
            time.sleep(0.1)
        answered.set()
        signal.raise_signal(signal.SIGTERM)

    def leave(_number: int, _frame: Any) -> None:
        if answered.is_set():
            raise SystemExit
        threading.Thread(target=drain, daemon=True).start()

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)


@main.group("db")
def database() -> None:
    """Look after the database."""


@database.command()
def migrate() -> None:
    """Bring the database's schema up to date."""
    try:
        db.use(settings.load(os.environ).database)
    except settings.WrongSetting as fault:
        raise click.ClickException(str(fault)) from None
    for name in db.migrate():
        click.echo(f"applied {name}")


@main.command()
@needs_database
def seed(chosen: settings.Settings) -> None:
    """Fill an empty development database with demo people and matches; does nothing when there are people."""
    if not chosen.development:
        raise click.ClickException("Demo people are for CLACHAN_DEVELOPMENT=1 only.")
    click.echo("Demo people and matches are there." if seeding.fill() else "There are people already; nothing done.")


@main.group("mail")
def mails() -> None:
    """Mail that comes in."""


@mails.command("lines")
@click.argument("file", type=click.File("rb"))
def mail_lines(file: BinaryIO) -> None:
    """Print what the receiver reads as the player's own lines in a mail, one a line; - is standard input."""
    try:
        for line in lines.own_lines(parse.parse(file.read()).text):
            click.echo(line)
    except parse.Unreadable as fault:
        raise click.ClickException(f"The mail cannot be read: {fault}.") from None


@mails.command("check")
@click.option("--selector", default="", help="The name of the DKIM key, as in NAME._domainkey.")
@needs_database
def mail_check(chosen: settings.Settings, selector: str) -> None:
    """Look at all that mail needs, in the settings, on the net and in the DNS; exit 1 if something is wrong."""
    findings = checks.check(chosen, selector=selector)
    for finding in findings:
        click.echo(str(finding))
    if any(finding.verdict == "problem" for finding in findings):
        sys.exit(1)


@mails.command("receive")
@click.option("--to", "recipient", help="The recipient, as the mail server knows it.")
@click.option("--from", "sender", help="The envelope's sender; empty for a report.")
@needs_database
def mail_receive(chosen: settings.Settings, recipient: str | None, sender: str | None) -> None:
    """Take one mail from standard input, as a mail server hands it over; exit 75 if it should try again."""
    db.require_current()
    try:
        inbound.receive(sys.stdin.buffer.read(), inbound.Envelope("stdin", sender, recipient), chosen, clock.now)
    except (*db.Unavailable, db.Broken):
        # What sendmail's friends understand as: keep it and come again.
        sys.exit(os.EX_TEMPFAIL)


@main.group("match")
def matches() -> None:
    """Look after matches."""


@matches.command()
@click.argument("numbers", nargs=-1, type=int)
@click.option("--all", "every", is_flag=True, help="Every match that has a log.")
@needs_database
def verify(_chosen: settings.Settings, numbers: tuple[int, ...], every: bool) -> None:
    """Check the chain, the replay, the deal and the cached columns of matches; exit 1 if anything is wrong."""
    if not (numbers or every):
        raise click.UsageError("Name matches by their numbers, or say --all.")
    chosen = audit.running_or_over() if every else numbers
    bad = 0
    for number in chosen:
        faults = [*audit.verify(number), *archive.doubts(log.get(number))]
        bad += bool(faults)
        for fault in faults:
            click.echo(f"match {number}: {fault}")
    click.echo(f"{len(chosen)} checked, {bad} with faults")
    if bad:
        sys.exit(1)


@matches.command()
@click.argument("number", type=int)
@needs_database
def rebuild(_chosen: settings.Settings, number: int) -> None:
    """Write the cached columns of a match again from its log."""
    audit.rebuild(number, clock.now())
    click.echo(f"match {number} is rebuilt")


@main.group("ratings")
def ladders() -> None:
    """Look after ratings."""


@ladders.command("rebuild")
@needs_database
def ratings_rebuild(_chosen: settings.Settings) -> None:
    """Count all ratings, and what else is told of people, again from the logs of finished matches."""
    db.require_current()
    ratings.rebuild(clock.now())
    click.echo("ratings are rebuilt")


@main.group("record")
def records() -> None:
    """Work with record files."""


@records.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def check(files: tuple[Path, ...]) -> None:
    """Replay record files and print a line for each: ok, or refused and why; exit 1 if any was refused."""

    def replay(data: bytes) -> str:
        record.check(record.load(data))
        return "ok"

    one_by_one(files, replay)


@records.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@needs_database
def import_records(_chosen: settings.Settings, files: tuple[Path, ...]) -> None:
    """Make finished matches of record files, and print a line for each; exit 1 if any was refused, the others go on."""
    db.require_current()
    one_by_one(files, lambda data: f"imported as match {archive.add(data, clock.now()).id}")


def one_by_one(files: tuple[Path, ...], work: Callable[[bytes], str]) -> None:
    """Print of each record file what the work says of it, or why it is refused; exit 1 if any was."""
    refused = 0
    for file in files:
        try:
            said = work(file.read_bytes())
        except OSError as fault:
            refused, said = refused + 1, f"cannot be read: {fault.strerror}"
        except record.RecordError as fault:
            refused, said = refused + 1, record.refusal(fault)
        except Refused as fault:
            refused, said = refused + 1, f"refused: {fault}"
        click.echo(f"{file}: {said}")
    if refused:
        sys.exit(1)


@records.command("verify-deal")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def verify_deal(file: Path) -> None:
    """Deal a record again from its seed and contributions and compare; exit 1 if it was not dealt so."""
    try:
        found = record.load(file.read_bytes())
        commitment = record.verify_deal(found)
    except record.RecordError as fault:
        raise click.ClickException(f"{file}: {record.refusal(fault)}") from None
    click.echo(f"{file}: the deal follows from the seed and the contributions; committed to as {commitment}")


@main.command("selfplay")
@click.argument("kind")
@click.option("--seats", type=int, required=True, help="How many play.")
@click.option("--count", type=int, default=1, show_default=True, help="How many matches.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same matches.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the records.")
def self_play(kind: str, seats: int, count: int, seed: int, out: Path) -> None:
    """Write records of finished matches of random legal play."""
    game = game_for(kind, seats)
    out.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    for number in range(1, count + 1):
        played = selfplay.play(game, seats, chance, {})
        (out / f"{kind}-{number:04d}.json").write_text(record.dump(played), encoding="utf-8")
    click.echo(f"{count} records of {game.title} are in {out}")


@main.command("arena")
@click.argument("kind")
@click.option("--seats", required=True, help="A bot for each seat, such as strong,steady,steady,steady.")
@click.option("--matches", type=click.IntRange(1), default=100, show_default=True, help="How many matches.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same matches.")
@click.option("--playouts", type=click.IntRange(1), default=bots.THOUGHT.playouts, show_default=True, help="Of strong.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count(), help="Matches at once.  [default: one a core]")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for the records.")
def bot_arena(kind: str, seats: str, matches: int, seed: int, playouts: int, jobs: int, out: Path | None) -> None:
    """Let bots play each other, shifted around the table, and print how often each wins, with 95 % intervals."""
    strengths = tuple(seats.split(","))
    game = game_for(kind, len(strengths))
    if not set(strengths) <= set(bots.STRENGTHS):
        raise click.ClickException(f"The bots are {', '.join(bots.STRENGTHS)}.")
    thought = bots.Thought(playouts)
    with ProcessPoolExecutor(jobs) as pool:
        played = [pool.submit(arena.bout, game, strengths, seed, number, thought) for number in range(matches)]
        bouts = [each.result() for each in played]
    for line in arena.summary(strengths, bouts):
        click.echo(line)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        for number, each in enumerate(bouts, 1):
            (out / f"{kind}-{number:04d}.json").write_text(record.dump(each.record), encoding="utf-8")
        click.echo(f"{matches} records of {game.title} are in {out}")


def game_for(kind: str, seats: int) -> Game:
    """Return the game of this kind if so many can play it; say in one sentence what is wrong otherwise."""
    try:
        game = games.game(kind)
    except games.UnknownGame as fault:
        raise click.ClickException(str(fault)) from None
    if seats not in game.seat_counts:
        raise click.ClickException(f"{game.title} is for {game.seat_counts[0]} to {game.seat_counts[-1]} players.")
    return game


if __name__ == "__main__":
    main()

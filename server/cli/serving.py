"""Commands that run until they are interrupted: the site, the scheduler, the ways in for mail."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import click

from server import clock, create_app, db, feeders, inbound, journal, lasting, seeding, settings
from server.cli.base import main, needs_database
from server.scheduler import Scheduler
from server.web.bounds import PATIENCE

# Bytes; the site itself refuses smaller ones with a page of its own.
LARGEST_REQUEST = 1024 * 1024


@main.command()
@needs_database
def serve(chosen: settings.Settings) -> None:
    """Serve web, scheduler and mail in one process, until interrupted."""
    from server.web import serving

    journal.begin(chosen.log_format)
    app = create_app(chosen)
    try:
        server = serving.open_server(
            app,
            host=chosen.host,
            port=chosen.port,
            threads=chosen.web_threads,
            max_request_body_size=LARGEST_REQUEST,
            ident="",
            clear_untrusted_proxy_headers=False,
        )
    except OSError as fault:
        raise taken(chosen, fault) from None
    ways_in = open_ways_in(chosen)
    scheduler = Scheduler(chosen)
    lasting.settle()
    scheduler.start()

    leave_gracefully(server)
    click.echo(f"Clachan is at {chosen.public_url}" + seeding.hint(chosen))
    try:
        server.run()
    finally:
        server.streams.stop()
        ways_in.stop()
        scheduler.stop()
        click.echo("Clachan has stopped.")


@main.command()
@needs_database
def web(chosen: settings.Settings) -> None:
    """Serve the web alone, until interrupted, beside any number of others; another process runs the scheduler."""
    from server.web import workers

    journal.begin(chosen.log_format)
    db.require_current()
    try:
        listener = workers.listen(chosen.host, chosen.port)
    except OSError as fault:
        raise taken(chosen, fault) from None
    # Each process begins with none; one that came with it from here would be ended for both.
    db.part()
    click.echo(f"Clachan is at {chosen.public_url}")
    workers.run(chosen, listener)


@main.command("scheduler")
@needs_database
def only_scheduler(chosen: settings.Settings) -> None:
    """Run the scheduler alone, until interrupted: deadlines, reminders, bots and mail, beside any number of others."""
    journal.begin(chosen.log_format)
    db.require_current()
    db.part()
    scheduler = Scheduler(chosen)
    lasting.settle()
    scheduler.start()
    stay_until_told("The scheduler is running.")
    scheduler.stop()


@main.command("mail-in")
@needs_database
def only_mail_in(chosen: settings.Settings) -> None:
    """Run the ways in for mail alone, until interrupted; another process runs the scheduler."""
    journal.begin(chosen.log_format)
    db.require_current()
    if not {way.kind for way in chosen.mail_in} - {"pipe"}:
        raise settings.WrongSetting("MAIL_IN", "names nothing to listen on and no mailbox to read.")
    db.part()
    ways_in = open_ways_in(chosen)
    stay_until_told("Mail comes in.")
    ways_in.stop()


def taken(chosen: settings.Settings, fault: OSError) -> click.ClickException:
    """Return what is said of an address that cannot be listened on."""
    why = f"CLACHAN_LISTEN: {chosen.host}:{chosen.port} cannot be used ({fault.strerror})."
    return click.ClickException(f"{why} Choose another, and CLACHAN_PUBLIC_URL with it.")


def open_ways_in(chosen: settings.Settings) -> feeders.Feeders:
    """Open the ways in for mail that the settings name."""
    return feeders.start(chosen, lambda raw, envelope: inbound.receive(raw, envelope, chosen, clock.now), clock.now)


def stay_until_told(greeting: str) -> None:
    """Say that all is running, and return when the process is told to end."""
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

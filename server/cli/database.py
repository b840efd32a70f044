"""Commands that look after the database as a whole."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from server import backup, clock, contents, db, dumps, moving, outbox, seeding, settings
from server.cli.base import main, needs_database


@main.group("db")
def database() -> None:
    """Look after the database."""


@database.command()
@needs_database
def migrate(chosen: settings.Settings) -> None:
    """Bring the database's schema up to date, after a backup of what is in it."""
    now = clock.now()
    if dumps.has_tools(chosen.database):
        try:
            kept = backup.before_migration(chosen, now)
        except contents.Unfit as fault:
            raise click.ClickException(f"{fault} Nothing is migrated; see CLACHAN_BACKUP_BEFORE_MIGRATION.") from None
        if kept:
            click.echo(f"what was there before is in {kept}")
    elif backup.wanted_before_migration(chosen):
        click.echo("There is no backup of what was there before: pg_dump is not installed here.")
    for name in db.migrate():
        click.echo(f"applied {name}")


def address(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    """Return the address of a database that was given as an argument."""
    try:
        return settings.database_address("URL", text)
    except settings.WrongSetting as fault:
        raise click.BadParameter(str(fault).partition(": ")[2]) from None


@database.command("copy")
@click.argument("url", callback=address)
@needs_database
def copy_database(chosen: settings.Settings, url: str) -> None:
    """Copy everything into the empty database at URL, of either kind, and compare; the server must not run."""
    counts, verified = moving.copy(chosen, url, clock.now())
    click.echo(f"{sum(counts.values())} rows in {len(counts)} tables are copied, and the same there")
    click.echo("Set CLACHAN_DATABASE to the new address before you start the server again.")
    tell(verified)


@main.command("backup")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@needs_database
def make_backup(chosen: settings.Settings, file: Path | None) -> None:
    """Write a backup of the whole database to a new file, in CLACHAN_BACKUPS if none is named; the server may run."""
    now = clock.now()
    file = file or backup.named(chosen, "clachan", now)
    made = backup.make(chosen, file, now)
    click.echo(f"{made.contents.counts.get('match', 0)} matches and all else are in {file}")


@main.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--replace", is_flag=True, help="Put it in the place of what is there, after a backup of that.")
@needs_database
def restore(chosen: settings.Settings, file: Path, replace: bool) -> None:
    """Put a backup into the database, which must be empty; the server must not run. Exit 1 if a match has faults."""
    done = backup.restore(chosen, file, clock.now(), replace=replace)
    if done.before:
        click.echo(f"what was there before is in {done.before}")
    for name in done.migrated:
        click.echo(f"applied {name}")
    click.echo(f"All is as it was at {done.manifest.made_at:%Y-%m-%d %H:%M:%S} UTC.")
    if done.held:
        click.echo(f"{done.held} mails and calls are held; see `clachan outbox release --help`.")
    tell(done.verified)


def tell(verified: contents.Verified) -> None:
    """Print what was found in the matches of a database that has just been filled; exit 1 if anything is wrong."""
    for number, faults in verified.faults.items():
        for fault in faults:
            click.echo(f"match {number}: {fault}")
    click.echo(f"{verified.checked} checked, {len(verified.faults)} with faults")
    if verified.faults:
        sys.exit(1)


@main.group("outbox")
def letters() -> None:
    """Look after mails that wait."""


@letters.command()
@click.option("--drop", is_flag=True, help="Drop them instead.")
@needs_database
def release(_chosen: settings.Settings, drop: bool) -> None:
    """Let the mails and calls go out that are held after a restore, or drop them."""
    db.require_current()
    count = outbox.release(clock.now(), drop=drop)
    click.echo(f"{count} dropped" if drop else f"{count} released")


@main.command()
@needs_database
def seed(chosen: settings.Settings) -> None:
    """Fill an empty development database with demo people and matches; does nothing when there are people."""
    if not chosen.development:
        raise click.ClickException("Demo people are for CLACHAN_DEVELOPMENT=1 only.")
    click.echo("Demo people and matches are there." if seeding.fill() else "There are people already; nothing done.")

"""Commands that look after matches, and what is counted of them."""

from __future__ import annotations

import sys

import click

from server import archive, audit, clock, db, log, ratings, settings
from server.cli.base import main, needs_database


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

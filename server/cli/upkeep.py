"""Commands of who keeps a house: who may, and whether all is well."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

from server import clock, db, doctor, keeping, settings
from server.cli.base import main, needs_database
from server.doctor import FAIL, OK, WARN, Finding
from server.feeders import check as checks

VERDICTS = {checks.OK: OK, checks.PROBLEM: FAIL, checks.UNKNOWN: WARN}


@main.command("admin")
@click.argument("name")
@click.option("--revoke", is_flag=True, help="Take the right away.")
@needs_database
def appoint(_chosen: settings.Settings, name: str, revoke: bool) -> None:
    """Give a person the right to keep the house, on the pages under /admin."""
    db.require_current()
    user = keeping.appoint(name, clock.now(), revoke=revoke)
    click.echo(f"{user.name} {'keeps this house no more' if revoke else 'keeps this house'}.")


@main.command("doctor")
@click.option("--mail", is_flag=True, help="Connect to mail servers and mailboxes too; nothing is sent or fetched.")
@click.option("--dns", is_flag=True, help="Look up what the DNS says of the mail domain too.")
def examine(mail: bool, dns: bool) -> None:
    """Look at the whole house, and say of each thing: ok, warn or fail, and what to do; exit 1 if anything failed."""
    bad = False
    for finding in findings(mail, dns):
        click.echo(str(finding))
        bad = bad or finding.verdict == FAIL
    if bad:
        sys.exit(1)


def findings(mail: bool, dns: bool) -> Iterator[Finding]:
    """Yield what is found, as far as there are settings and a database to look at."""
    try:
        chosen = settings.load(os.environ)
        db.use(chosen.database)
    except settings.WrongSetting as fault:
        yield Finding(FAIL, str(fault))
        return
    except OSError as fault:
        yield Finding(FAIL, f"CLACHAN_DATABASE: the file cannot be made or written ({fault.strerror}).")
        return
    yield Finding(OK, "The settings can be read.")
    yield from doctor.examine(chosen, clock.now())
    asked = [*(checks.reached(chosen) if mail else ()), *(checks.published(chosen) if dns else ())]
    for found in asked:
        yield Finding(VERDICTS[found.verdict], found.sentence)

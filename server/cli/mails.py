"""Commands for mail that comes in."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import click

from server import clock, db, inbound, settings
from server.cli.base import main, needs_database
from server.feeders import check as checks
from server.inbound import lines, parse


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

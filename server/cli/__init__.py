"""The `clachan` command; each module holds the commands of one theme."""

from server.cli import database, mails, matches, records, serving, upkeep
from server.cli.base import main

__all__ = ["database", "mails", "main", "matches", "records", "serving", "upkeep"]

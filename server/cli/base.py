"""What every command hangs on: the group of them all, and settings with a database."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from server import db, settings
from server.contents import Unfit
from server.errors import Refused


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
        except (settings.WrongSetting, db.PendingMigration, Refused, Unfit) as fault:
            raise click.ClickException(str(fault)) from None
        except db.Unavailable as fault:
            raise click.ClickException(f"The database cannot be used: {fault}") from None
        except db.Broken as fault:
            # This very kind is what a damaged file is; the others are faults of ours, to be seen in full.
            if type(fault) is not db.Broken:
                raise
            raise click.ClickException(f"The database cannot be used: {fault}") from None

    return run

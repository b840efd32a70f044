"""Commands for record files, and for bots that make them."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click

from engine import bots, games, record, selfplay
from engine.base import Game
from engine.bots import arena
from server import archive, clock, db, settings
from server.cli.base import main, needs_database
from server.errors import Refused


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

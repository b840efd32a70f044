"""Tells how many turn mails a second one process sends, and what the picture in each costs: medians of five rounds.

Run from the root of the project: `python -m bench.mails [--quick]`. Matches of both games, each at a place of its own,
have one turn mail each in the queue. The house claims them, writes them (text, HTML, picture of the board) and hands
them over one connection to a mail server in another process, which swallows them. Beside it pictures are drawn as a
whole, without anything kept but the ground. Processor time is that of this process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import socketserver
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from bench import figures, machine, stage
from bench.figures import Figure
from engine import games
from engine.base import Game, View
from server import clock, db, letters, log, outbox, raster
from server.channels import Channel
from server.models import Match, Outbox, User
from server.settings import Settings
from tests.house import house_settings

ROUNDS = 5
MAILS = 300
GOAL = 200.0
"""So many turn mails a second is one processor to send."""
WHOLE = 50
"""For one mail in so many a picture of each game is drawn as a whole in each round, which takes long."""


class Round(NamedTuple):
    """What one round found, a second: turns of a loop, mails, mails by the clock, pictures of each game in two ways."""

    loops: float
    mails: float
    by_the_clock: float
    quick: dict[str, float]
    whole: dict[str, float]


def main() -> None:
    """Send as the command line says."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--quick", action="store_true", help="a few seconds, to see whether it runs")
    given = words.parse_args()
    print(figures.table(measure(quick=given.quick)))


def measure(*, quick: bool = False) -> list[Figure]:
    """Return the figures of turn mails and their pictures."""
    return told(rounds_of(quick=quick))


def rounds_of(*, quick: bool = False) -> tuple[float, list[Round]]:
    """Return how many mails a second the first ones are, of a process that has drawn nothing yet, and the rounds."""
    rounds, count = (1, 36) if quick else (ROUNDS, MAILS)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = stack.enter_context(mail_server())
        chosen = house(folder, port, count)
        stack.enter_context(db.connected())
        channel = outbox.open_channel(chosen)
        if channel is None:
            raise SystemExit("there is no way out")
        stack.callback(channel.close)
        views = present_views(count)
        cold, _clock = sent(chosen, channel, count)
        return cold, [_round(chosen, channel, count, views) for _ in range(rounds)]


def house(folder: Path, port: int, count: int) -> Settings:
    """Make a house with so many running matches, whose way out is the mail server on the port."""
    chosen = house_settings(f"sqlite:///{folder / 'clachan.db'}", folder, SMTP_URL=f"smtp+plain://127.0.0.1:{port}")
    db.use(chosen.database)
    db.migrate()
    stage.fill(chosen, count)
    with db.connected(), db.transaction():
        for user in User.select():
            User.update(email=f"p{user.id}@example.org").where(User.id == user.id).execute()
        # An address is that of the mail, too.
        Outbox.update(address=User.select(User.email).where(User.id == Outbox.user)).execute()
    return chosen


def present_views(count: int) -> dict[str, list[tuple[Game, View]]]:
    """Return what a spectator sees of the matches, by game."""
    found: dict[str, list[tuple[Game, View]]] = {kind: [] for kind in games.games()}
    for number in range(1, count + 1):
        played = log.read(log.get(number))
        found[played.game.kind].append((played.game, played.view(None)))
    return found


def _round(chosen: Settings, channel: Channel, count: int, views: dict[str, list[tuple[Game, View]]]) -> Round:
    loops = machine.loops()
    mails, by_the_clock = sent(chosen, channel, count)
    quick = {kind: rate(raster.board, some) for kind, some in views.items()}
    whole = {kind: rate(raster.whole, some[: max(1, count // WHOLE)]) for kind, some in views.items()}
    return Round(loops, mails, by_the_clock, quick, whole)


def sent(chosen: Settings, channel: Channel, count: int) -> tuple[float, float]:
    """Send the turn mails of all matches; return how many a second of processor time, and by the clock."""
    queue_again()
    write, began, begun = letters.writer(chosen), time.process_time(), time.perf_counter()
    gone = outbox.deliver_due(channel, write, clock.now, limit=count)
    processor, passed = time.process_time() - began, time.perf_counter() - begun
    if gone != count:
        raise SystemExit(f"{gone} mails were sent instead of {count}: {[mail.note for mail in Outbox.select()][:3]}")
    return gone / processor, gone / passed


def queue_again() -> None:
    """Let the mails about the present turns be due, and no others."""
    with db.transaction():
        Outbox.update(done_at=clock.now(), state="dropped").execute()
        present = Outbox.select(Outbox.id).join(Match).where((Outbox.kind == "turn") & (Outbox.asked == Match.asked))
        again = {"state": "queued", "done_at": None, "attempts": 0, "due_at": clock.now(), "lease": ""}
        Outbox.update(**again).where(Outbox.id.in_([mail.id for mail in present])).execute()


def rate(draw: Callable[[str, str, int], bytes], views: Sequence[tuple[Game, View]]) -> float:
    """Return how many pictures a second of processor time are drawn in a way."""
    began = time.process_time()
    for game, view in views:
        draw(game.picture(view, (), "ground"), game.picture(view, (), "pieces"), letters.PICTURE_WIDTH)
    return len(views) / (time.process_time() - began)


@contextmanager
def mail_server() -> Iterator[int]:
    """Run a mail server in a process of its own for the block; yield its port."""
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    server = processes.Process(target=swallow, args=(there,), daemon=True)
    server.start()
    try:
        yield here.recv()
    finally:
        server.terminate()
        server.join()


def swallow(told: Connection) -> None:
    """Take mails on a free port, which is told, for ever."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Swallower) as server:
        told.send(server.server_address[1])
        server.serve_forever()


class _Swallower(socketserver.StreamRequestHandler):
    """Says yes to all it is told."""

    wbufsize = 0

    def handle(self) -> None:
        self.wfile.write(b"220 sink\r\n")
        for line in self.rfile:
            word = line[:4].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                while self.rfile.readline() != b".\r\n":
                    pass
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 yes\r\n")


def told(found: tuple[float, list[Round]]) -> list[Figure]:
    """Return the figures of the rounds."""
    cold, rounds = found
    figures_found = [
        figures.median("turn mails, one processor", [each.mails for each in rounds], "/s", GOAL),
        figures.median("  by the clock", [each.by_the_clock for each in rounds], "/s"),
        Figure("  the first ones of a process, one processor", cold, "/s"),
        figures.median("  turns of a fixed loop meanwhile", [each.loops for each in rounds], "/s"),
    ]
    for kind in rounds[0].quick:
        ratios = [each.quick[kind] / each.whole[kind] for each in rounds]
        figures_found += [
            figures.median(f"pictures of {kind}, one processor", [each.quick[kind] for each in rounds], "/s"),
            figures.median("  to pictures drawn as a whole", ratios, "times"),
        ]
    return figures_found


if __name__ == "__main__":
    main()

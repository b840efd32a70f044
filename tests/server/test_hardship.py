"""Processes that are killed, files copied in the middle of things, and crowds: nothing is lost, halved or doubled."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from email.parser import BytesHeaderParser
from pathlib import Path

import pytest
from house import START, House
from together import quick_pictures

from server import audit, clock, db, deadlines, inbound, letters, links, log, outbox, play
from server.channels import Message, email
from server.errors import Refused
from server.models import Inbound, LogRow, Match, Outbox, ReplyToken, User
from server.scheduler import Scheduler
from server.settings import Settings

KILLS = 30
MANY_KILLS = 200
SENDER = email.Sender("Clachan", "clachan@localhost", "localhost")


def fork(url: str, work: Callable[[int], None]) -> tuple[int, int]:
    """Do the work in a child with a connection of its own; return its number and a pipe it writes to.

    The parent must hold no connection meanwhile: a child that inherits one would end it for both.
    """
    assert db.database.is_closed()
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 1
    try:
        os.close(read)
        db.use(url)
        with db.connected():
            work(write)
        status = 0
    finally:
        os._exit(status)


def reap(child: int, pipe: int) -> int:
    """Wait for the child to end and return how it did."""
    os.close(pipe)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def apart() -> Iterator[None]:
    """Let go of the parent's connection for the block."""
    db.part()
    try:
        yield
    finally:
        db.database.connect()


def short(mail: Outbox, now: datetime) -> Message | str:
    """Write a mail of a line: what is killed here is the queue, not the drawing."""
    return letters.untrue(mail, now) or Message(
        mail.user.name, mail.address, "A turn", f"{mail.key}\n", "", f"{mail.message_id}@localhost", mail.created_at
    )


def move(match_id: int, now: datetime, key: str | None = None) -> str:
    """Make the first legal move for whoever is awaited."""
    played = log.read(log.get(match_id))
    seat = played.position.to_act[0]
    by, text = log.places(played.match)[seat].user, played.view(seat).moves[0]
    return play.submit(match_id, seat, text, played.position.asked[seat] or 0, by, "web", now=now, key=key).text


def delivered(mailbox: Path) -> Counter[str]:
    """Return how often each message id is in the mailbox."""
    files = [file for folder in ("new", "cur") for file in (mailbox / folder).glob("*")]
    return Counter(BytesHeaderParser().parsebytes(file.read_bytes())["Message-ID"] for file in files)


def check_whole(match: Match) -> None:
    """Check that log, columns and queue of a match agree: every row is whole, and each had its mails queued with it."""
    assert audit.verify(match.id) == []
    played = log.read(match)
    turns = {mail.key for mail in Outbox.select().where((Outbox.match == match) & (Outbox.kind == "turn"))}
    moves = [row.seq for row in played.rows]
    asked = [0, *moves[:-1]] if played.outcome else [0, *moves]
    assert {int(key.split()[3]) for key in turns} == set(asked)
    assert len(turns) == len(asked)
    ends = Outbox.select().where((Outbox.match == match) & (Outbox.kind == "end")).count()
    assert ends == (2 if played.outcome else 0)


def play_and_deliver(match_id: int, mailbox: Path, now: datetime) -> Callable[[int], None]:
    """Return the work of a child: to send mail and to play without end, with a sign at each round."""

    def work(pipe: int) -> None:
        channel = email.LocalMailbox(mailbox, SENDER)
        while log.get(match_id).status == "running":
            os.write(pipe, b".")
            outbox.deliver_due(channel, short, lambda: now)
            move(match_id, now)
        outbox.deliver_due(channel, short, lambda: now)

    return work


def interrupt(child: int, pipe: int, how: signal.Signals, chance: random.Random) -> None:
    """Send the signal somewhere in the child's second round, or in what comes after it."""
    if os.read(pipe, 1):
        began = time.monotonic()
        os.read(pipe, 1)
        time.sleep(chance.uniform(0, 1.2) * (time.monotonic() - began))
    os.kill(child, how)


@pytest.mark.parametrize("kills", [KILLS, pytest.param(MANY_KILLS, marks=pytest.mark.hardship)])
def test_a_process_killed_at_any_point_of_a_move_leaves_it_whole_or_absent(
    house: House, database: str, did: Callable[[object], None], kills: int
) -> None:
    chance, mailbox = random.Random(11), house.settings.data / "mailbox"
    match, matches, rows, killed = None, [], 0, 0
    while killed < kills:
        house.later(minutes=6)  # longer than any lease
        if match is None or match.status != "running":
            match = house.started("Ailsa", "Bran")
            matches.append(match)
        with apart():
            child, pipe = fork(database, play_and_deliver(match.id, mailbox, house.now))
            interrupt(child, pipe, signal.SIGKILL, chance)
            killed += reap(child, pipe) == -signal.SIGKILL
        match = log.get(match.id)
        assert match.length >= rows, "a row that was there is never lost"
        rows = match.length if match.status == "running" else 0
        check_whole(match)
    assert LogRow.select().count() > kills, "between the kills the matches went on"
    for _ in range(3):
        house.later(minutes=6)
        outbox.deliver_due(email.LocalMailbox(mailbox, SENDER), short, lambda: house.now, limit=10_000)
    for match in matches:
        check_whole(log.get(match.id))
    copies = delivered(mailbox)
    assert set(copies.values()) <= {1, 2}
    mails = {f"<{mail.message_id}@localhost>": mail for mail in Outbox.select().where(Outbox.kind != "start")}
    starts = {f"<{mail.message_id}@localhost>" for mail in Outbox.select().where(Outbox.kind == "start")}
    assert set(copies) <= set(mails) | starts
    for number, mail in mails.items():
        assert mail.state in {"sent", "dropped", "failed"}, "nothing stays in the queue for ever"
        assert copies[number] >= (mail.state == "sent")
        # Only a mail that may have arrived is given up without being sent, or found untrue after it has gone out.
        assert mail.state != "failed" or mail.note == "cut off twice while sending"
    did(f"{killed} kills, {len(matches)} matches, {LogRow.select().count()} rows, {len(mails)} mails")


def crowd(url: str, size: int, work: Callable[[int], str]) -> Counter[str]:
    """Let so many processes do the work at the same time; return what they answered, one answer a line."""
    gate, opener = os.pipe()

    def one(number: int) -> Callable[[int], None]:
        def run(pipe: int) -> None:
            os.close(opener)
            os.write(pipe, b"ready\n")
            os.read(gate, 1)
            os.write(pipe, work(number).encode())

        return run

    children = [fork(url, one(number)) for number in range(size)]
    for _, pipe in children:
        assert os.read(pipe, 6) == b"ready\n"
    os.close(opener)
    os.close(gate)
    answers: Counter[str] = Counter()
    for child, pipe in children:
        with os.fdopen(os.dup(pipe)) as file:
            answers.update(file.read().split())
        assert reap(child, pipe) == 0
    return answers


def mailed(match: Match, seat: int, by: User, asked: int, now: datetime, settings: Settings) -> Callable[[str], str]:
    """Return what sends a text as a mail to the answer's address of a turn, and says what became of it."""
    token = secrets.token_hex(12)
    with db.transaction():
        ReplyToken.insert(
            hash=links.digest(token), user=by, match=match, seat=seat, asked=asked, created_at=now
        ).execute()

    def send(text: str) -> str:
        raw = f"From: {by.email}\nTo: move+{token}@localhost\nMessage-ID: <{secrets.token_hex(8)}@x>\n\n{text}\n"
        number = inbound.receive(raw.encode(), inbound.Envelope("smtp"), settings, lambda: now)
        return str(Inbound.get_by_id(number).verdict)

    return send


def clicks(match_id: int, now: datetime, count: int, settings: Settings) -> Callable[[int], str]:
    """Return the work of a client that sends one move again and again: by page, by page with a key, by mail."""
    played = log.read(log.get(match_id))
    seat = played.position.to_act[0]
    by, text = log.places(played.match)[seat].user, played.view(seat).moves[0]
    asked, before = played.position.asked[seat], len(played.rows)
    send = mailed(played.match, seat, by, asked or 0, now, settings)

    def click(number: int) -> str:
        answers = []
        for turn in range(count):
            if number % 4 == 3:
                answers.append({"done": "mailed"}.get(word := send(f"{text}\nand thanks, {number} {turn}"), word))
                continue
            key = f"again and again {before}" if number % 2 else None
            try:
                done = play.submit(match_id, seat, text, asked, by, "web", now=now, key=key)
                answers.append("keyed" if key else "done")
                assert done.seq == before + 1
            except Refused as fault:
                answers.append(fault.code)
        return "\n".join(answers)

    return click


# Two hundred submits a round, so a thousand in the long trials.
@pytest.mark.parametrize("rounds", [2, pytest.param(5, marks=pytest.mark.hardship)])
def test_of_very_many_double_submits_each_move_is_taken_once(
    house: House, database: str, did: Callable[[object], None], rounds: int
) -> None:
    match, submits = house.started("Ailsa", "Bran"), 0
    for number in range(1, rounds + 1):
        house.later(hours=1)  # nobody may send more mails than sixty in an hour
        click = clicks(match.id, house.now, 25, house.settings)
        with apart():
            answers = crowd(database, 8, click)
        submits += answers.total()
        assert len(house.played(match).rows) == number
        # A page without a key was first, or a mail, or a page with a key: then all with it are given the same answer.
        assert answers in (
            {"done": 1, "stale": 149, "refused-stale": 50},
            {"mailed": 1, "stale": 150, "refused-stale": 49},
            {"keyed": 50, "stale": 100, "refused-stale": 50},
        )
    check_whole(log.get(match.id))
    did(f"{submits} submits, {rounds} moves")


def test_fifty_who_write_at_once_to_their_own_matches_all_get_through(house: House, database: str) -> None:
    names = ("Ailsa", "Bran", "Catrin")
    matches = [house.started(names[number % 3], names[number % 3 - 1]).id for number in range(50)]
    with apart():
        answers = crowd(database, 50, lambda number: " ".join(move(matches[number], START) and "ok" for _ in range(4)))
    assert answers == {"ok": 200}
    for number in matches:
        match = log.get(number)
        assert match.length == 4
        check_whole(match)


def test_three_schedulers_of_which_one_dies_do_each_job_once(
    house: House, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_pictures(monkeypatch)
    matches = [house.begun("Ailsa", "Bran", "Catrin").id for _ in range(6)]
    early = [house.started("Ailsa", "Bran", pace=100_000).id for _ in range(4)]
    with db.transaction():
        Outbox.update(state="sent", done_at=house.now).execute()
    mailbox = house.settings.data / "mailbox"
    now = house.later(days=1)

    def killed(_mail: Outbox, _now: datetime) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    def die(_number: int) -> None:
        """Take a match and a mail, and die with both in hand."""
        assert deadlines.claim(deadlines.due(now, 1), now)
        outbox.deliver_due(email.LocalMailbox(mailbox, SENDER), killed, lambda: now)

    with db.transaction():
        outbox.queue("known", key="first", now=now - timedelta(seconds=1), user=house.people["Catrin"])
    with apart():
        child, pipe = fork(database, die)
        assert reap(child, pipe) == -signal.SIGKILL

    def tick(_number: int) -> str:
        scheduler = Scheduler(house.settings)
        scheduler.channel = email.LocalMailbox(mailbox, SENDER)
        for name in ("deadlines", "reminders", "bots", "outbox", "sweep"):
            scheduler.run(name)
        return "ok"

    for when, moved in ((now, 5), (now + timedelta(minutes=6), 6), (now + timedelta(minutes=7), 6)):
        monkeypatch.setattr(clock, "now", lambda when=when: when)
        with apart():
            assert crowd(database, 3, tick) == {"ok": 3}
        assert LogRow.select().where(LogRow.kind == "timeout").count() == moved
    assert [log.get(number).length for number in matches] == [3 + 2] * 6
    assert [log.get(number).length for number in early] == [0] * 4
    reminders = Outbox.select().where(Outbox.kind == "reminder")
    assert {mail.match_id for mail in reminders} == set(early)
    assert reminders.count() == 4
    copies = delivered(mailbox)
    assert set(copies.values()) == {1}
    assert [mail.note for mail in house.queued()] == []
    sent = Outbox.select().where((Outbox.state == "sent") & (Outbox.created_at >= now - timedelta(seconds=1)))
    assert {f"<{mail.message_id}@localhost>" for mail in sent} == set(copies)
    for number in matches:
        assert audit.verify(number) == []


def test_files_copied_at_any_moment_open_as_a_whole_database(cottage: House, sqlite: str) -> None:
    """As a power cut leaves them: the writer stands still while they are copied, and the last frames may be torn."""
    chance, source = random.Random(12), Path(sqlite.removeprefix("sqlite:///"))
    match = cottage.started("Ailsa", "Bran")
    lengths = set()
    for number in range(40):
        if log.get(match.id).status != "running":
            match = cottage.started("Ailsa", "Bran")
        before = log.get(match.id).length
        with apart():
            child, pipe = fork(sqlite, play_and_deliver(match.id, cottage.settings.data / "mailbox", cottage.now))
            interrupt(child, pipe, signal.SIGSTOP, chance)
            stopped = os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
            copy = source.with_name(f"copy{number}.db")
            shutil.copy(source, copy)
            wal = Path(f"{source}-wal")
            if wal.exists():
                data = wal.read_bytes()
                torn = number % 2 and chance.randrange(1, 5000)
                Path(f"{copy}-wal").write_bytes(data[: len(data) - torn] if torn else data)
            if stopped:
                os.kill(child, signal.SIGKILL)
                reap(child, pipe)
            with sqlite3.connect(copy) as raw:
                assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            raw.close()
            db.use(f"sqlite:///{copy}")
            with db.connected():
                copied = log.get(match.id)
                assert copied.length >= (0 if number % 2 else before)
                check_whole(copied)
                lengths.add((match.id, copied.length))
            db.use(sqlite)
    assert len(lengths) > 20

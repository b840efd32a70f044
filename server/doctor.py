"""What `clachan doctor` looks at in the house itself: settings, files, database, clock, and what it draws and thinks
with. What the net says of its mail is looked at by `server/feeders/check.py`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from server import db, gauges, outbox, raster, thinking
from server.models import Job
from server.settings import Settings

OK, WARN, FAIL = "ok", "warn", "fail"

# Triggers that the database must have, or it would let a log be changed.
GUARDS: Final = frozenset(
    ("log_never_changes", "log_never_shrinks", "log_has_no_gaps", "deed_never_changes", "deed_never_shrinks")
)
MEGABYTE: Final = 1024 * 1024
LITTLE, ENOUGH = 200 * MEGABYTE, 1024 * MEGABYTE
# Nobody runs this program before it was written.
WRITTEN: Final = datetime(2026, 1, 1, tzinfo=UTC)
SKEW: Final = timedelta(minutes=1)
ZONES: Final = ("Europe/Prague", "America/New_York", "Asia/Kolkata")
FEWEST_ZONES, VARIETY = 300, 10
DRAWING: Final = '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20"><text x="2" y="15">{}</text></svg>'


class Finding(NamedTuple):
    """One thing looked at: the verdict is ok, warn or fail; the sentence says what to do about it, if anything."""

    verdict: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.sentence}"


def examine(settings: Settings, now: datetime) -> Iterator[Finding]:
    """Yield what is found, most important first; the database is in use, but may not be reachable."""
    yield _address(settings)
    yield _key(settings)
    yield from _folder(settings)
    yield from _database(settings, now)
    yield _mail(settings)
    yield _push(settings)
    yield from _tools()


def _address(settings: Settings) -> Finding:
    host = urlsplit(settings.public_url).hostname or ""
    if settings.secure:
        return Finding(OK, f"The site is at {settings.public_url}.")
    if settings.development or host in {"127.0.0.1", "localhost", "::1"}:
        return Finding(
            WARN, f"The site is at {settings.public_url}, which is this machine only: set CLACHAN_PUBLIC_URL."
        )
    return Finding(FAIL, f"The site is at {settings.public_url}, so passwords go unprotected: use https://.")


def _key(settings: Settings) -> Finding:
    if settings.development:
        return Finding(WARN, "CLACHAN_DEVELOPMENT is 1: that is for a newcomer's own machine only.")
    if len(set(settings.secret_key)) < VARIETY:
        return Finding(FAIL, "CLACHAN_SECRET_KEY is easy to guess: make another with 48 random bytes.")
    return Finding(OK, f"The secret key has {len(settings.secret_key)} characters.")


def _folder(settings: Settings) -> Iterator[Finding]:
    folder = settings.data
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
            file.flush()
    except OSError as fault:
        yield Finding(FAIL, f"Nothing can be stored in CLACHAN_DATA, {folder}: {fault.strerror}.")
        return
    yield Finding(OK, f"The data folder {folder} takes files.")
    if _open_to_others(settings):
        yield Finding(WARN, f"Others on this machine may read what lies in {folder}: chmod -R go= {folder}")
    free = shutil.disk_usage(folder).free
    told = f"{free // MEGABYTE} MB are free on the disk of {folder}"
    if free < LITTLE:
        yield Finding(FAIL, f"Only {told}: make room before moves are refused.")
    else:
        yield Finding(OK, f"{told}.") if free >= ENOUGH else Finding(WARN, f"Only {told}: make room soon.")


def _open_to_others(settings: Settings) -> bool:
    names = [settings.data / "secret_key"]
    if settings.database.startswith("sqlite:///"):
        names.append(Path(settings.database.removeprefix("sqlite:///")))
    return any(file.exists() and file.stat().st_mode & 0o077 for file in names)


def _database(settings: Settings, now: datetime) -> Iterator[Finding]:
    try:
        with db.connected():
            yield from _schema(settings, now)
    except (*db.Unavailable, db.Broken) as fault:
        # What the database says may repeat its address, and so the password.
        why = type(fault).__name__
        yield Finding(FAIL, f"The database cannot be used ({why}): check CLACHAN_DATABASE and whether it runs.")


def _schema(settings: Settings, now: datetime) -> Iterator[Finding]:
    if not db.is_current():
        yield Finding(FAIL, "The database is older than this program: run `clachan db migrate`.")
        return
    yield Finding(OK, f"The database is reached, and its schema is that of this program ({_kind()}).")
    missing = sorted(GUARDS - db.triggers())
    if missing:
        told = f"The database lacks the guards {', '.join(missing)}, so logs can be changed: restore a good backup"
        yield Finding(FAIL, f"{told}, then run `clachan match verify --all`.")
    else:
        yield Finding(OK, "The database refuses to change logs.")
    yield _clock(now)
    yield _jobs(settings, now)


def _kind() -> str:
    return "SQLite" if db.on_sqlite() else "PostgreSQL"


def _clock(now: datetime) -> Finding:
    if now < WRITTEN:
        return Finding(FAIL, f"The clock of this machine says {now:%Y-%m-%d %H:%M} UTC: set it.")
    ahead = db.instant() - now
    if abs(ahead) > SKEW:
        return Finding(FAIL, f"The clock of the database is {ahead} ahead of this machine's: let both follow NTP.")
    last = Job.select().order_by(Job.began_at.desc()).first()
    if last and last.began_at > now + SKEW:
        return Finding(
            FAIL, f"A scheduler ran at {last.began_at:%Y-%m-%d %H:%M} UTC, which is still to come: set the clock."
        )
    return Finding(OK, f"The clock says {now:%Y-%m-%d %H:%M} UTC.")


def _jobs(settings: Settings, now: datetime) -> Finding:
    works = gauges.works(now, settings.tick_seconds)
    if not works:
        return Finding(WARN, "No scheduler has run yet: `clachan serve` or `clachan scheduler` runs one.")
    if late := [work.name for work in works if work.late]:
        return Finding(WARN, f"Jobs have not succeeded for long: {', '.join(late)}. Is a scheduler running?")
    return Finding(OK, "All regular jobs have succeeded lately.")


def _mail(settings: Settings) -> Finding:
    if settings.smtp:
        return Finding(OK, f"Mail goes out through {settings.smtp.host}; --mail asks whether it lets us in.")
    if settings.mailbox:
        return Finding(WARN, "No mail leaves: mails go into the local mailbox, the page /mailbox.")
    return Finding(WARN, "Mails wait in the outbox, and nobody can confirm an address: set CLACHAN_SMTP_URL.")


def _push(settings: Settings) -> Finding:
    if outbox.push_key(settings) is None:
        return Finding(OK, "Nothing is shown on phones and desktops; with `pip install 'clachan[push]'` it can be.")
    return Finding(OK, "Phones and desktops can be told (web push).")


def _tools() -> Iterator[Finding]:
    """Look at what is installed beside the program."""
    tried: tuple[tuple[str, Callable[[], bool], str], ...] = (
        ("Time zones are known", _knows_zones, "install the package tzdata"),
        ("Pictures are drawn, with letters", _draws, "install the program again: resvg or its fonts are missing"),
        ("A process thinks", _thinks, "bots cannot move: is there memory for another process?"),
    )
    for sentence, works, remedy in tried:
        try:
            good = works()
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is what we look for
            yield Finding(FAIL, f"{sentence}: no ({type(fault).__name__}); {remedy}.")
        else:
            yield Finding(OK, f"{sentence}.") if good else Finding(FAIL, f"{sentence}: no; {remedy}.")


def _knows_zones() -> bool:
    return all(ZoneInfo(name) for name in ZONES) and len(available_timezones()) >= FEWEST_ZONES


def _draws() -> bool:
    return raster.png(DRAWING.format("Clachan"), 80) != raster.png(DRAWING.format(""), 80)


def _thinks() -> bool:
    thinkers = thinking.Thinkers(1, 0)
    try:
        return thinkers.submit(pow, 2, 5).result(timeout=60) == 32
    except (BrokenExecutor, TimeoutError):
        return False
    finally:
        thinkers.stop()

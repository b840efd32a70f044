"""Backups: the whole database in one file that says what it holds, and its way back. See docs/backups.md."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

from server import contents, db, dumps, log, outages, outbox
from server.contents import Contents, Unfit, Verified
from server.settings import Settings

FORMAT: Final = "clachan-backup-1"
MANIFEST: Final = "manifest.json"
DUMP: Final = "database"
# Bytes; a manifest names the tables and the migrations.
LARGEST_MANIFEST: Final = 1024 * 1024
DAILY: Final = re.compile(r"clachan-\d{4}-\d\d-\d\d\.zip")
MAKING: Final = ".making-"
# A backup takes minutes; what is older was left by a process that died.
LEFT_BEHIND: Final = timedelta(days=1)


class Exists(Unfit):
    """There is a file of that name already, and a backup is never written over anything."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself: when and of which database it was made, what that held, size and SHA-256 of it."""

    made_at: datetime
    database: str
    contents: Contents
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Restored:
    """How a restore went: its backup, where that is kept which was there before, the migrations applied to what came
    back, how many mails are held, and what the verification of the matches found."""

    manifest: Manifest
    before: Path | None
    migrated: list[str]
    held: int
    verified: Verified


def named(settings: Settings, what: str, now: datetime) -> Path:
    """Return where a backup made at this instant is put: `what` begins its name."""
    return settings.backups / f"{what}-{now:%Y%m%dT%H%M%SZ}.zip"


def make(settings: Settings, file: Path, now: datetime) -> Manifest:
    """Write a backup of the database in use to a new file. Raises `Exists`, or `Unfit` with what is in the way."""
    if file.exists():
        raise Exists(f"{file} is there already; a backup is written over nothing.")
    if db.unfinished():
        raise Unfit("A copy or a restore into the database has not come to its end; there is nothing whole to keep.")
    try:
        with _workshop(file.parent) as folder:
            made = folder / DUMP
            found = dumps.take(settings.database, made)
            with made.open("rb") as data:
                digest = hashlib.file_digest(data, "sha256").hexdigest()
            manifest = Manifest(now, dumps.kind(settings.database), found, made.stat().st_size, digest)
            _publish(_pack(folder, made, manifest), file)
    except OSError as fault:
        raise Unfit(f"The backup cannot be written to {file}: {fault.strerror}.") from None
    except (*db.Unavailable, db.Broken) as fault:
        raise Unfit(f"The backup cannot be made: {str(fault).strip()}") from None
    return manifest


@contextmanager
def _workshop(place: Path) -> Iterator[Path]:
    """Yield a folder for the block that nobody else may look into."""
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix=MAKING, dir=place) as folder:
        yield Path(folder)


def _pack(folder: Path, made: Path, manifest: Manifest) -> Path:
    """Put manifest and database into one file, and have it all on the disk."""
    pack = folder / "pack"
    # PostgreSQL's own format is packed already.
    how = zipfile.ZIP_DEFLATED if manifest.database == dumps.SQLITE else zipfile.ZIP_STORED
    with os.fdopen(os.open(pack, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b") as file:
        with zipfile.ZipFile(file, "w", how) as archive:
            archive.writestr(MANIFEST, json.dumps(_told(manifest), indent=1) + "\n")
            archive.write(made, DUMP)
        file.flush()
        os.fsync(file.fileno())
    return pack


def _publish(pack: Path, file: Path) -> None:
    """Give the whole file its name, unless something has that."""
    try:
        os.link(pack, file)
    except FileExistsError:
        raise Exists(f"{file} is there already; a backup is written over nothing.") from None
    except OSError:
        # Some disks know no second name of a file.
        if file.exists():
            raise Exists(f"{file} is there already; a backup is written over nothing.") from None
        pack.rename(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _told(manifest: Manifest) -> dict[str, Any]:
    fields = asdict(manifest)
    held = fields.pop("contents")
    return {"format": FORMAT, **fields, **held, "made_at": log.stamp(manifest.made_at)}


def _understood(text: bytes) -> Manifest:
    try:
        told = json.loads(text)
        if told["format"] != FORMAT:
            raise Unfit(f"It is of another format than {FORMAT}: {str(told['format'])[:40]}.")
        held = Contents(list(told["migrations"]), dict(told["counts"]), str(told["logs"]))
        return Manifest(log.instant(told["made_at"]), told["database"], held, int(told["size"]), told["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unfit("Its manifest cannot be read.") from None


@contextmanager
def _opened(file: Path) -> Iterator[tuple[Manifest, IO[bytes]]]:
    """Yield the manifest of a backup, and its database to read. Raises `Unfit` if it is none or is damaged."""
    with ExitStack() as stack:
        with _blaming(file):
            archive = stack.enter_context(zipfile.ZipFile(file))
            with archive.open(MANIFEST) as words:
                manifest = _understood(words.read(LARGEST_MANIFEST))
            data = stack.enter_context(archive.open(DUMP))
        yield manifest, data


def _pour(file: Path, data: IO[bytes], manifest: Manifest, into: IO[bytes] | None = None) -> None:
    """Read the database of a backup, and write it somewhere. Raises `Unfit` if it is not what the manifest says."""
    digest, size = hashlib.sha256(), 0
    with _blaming(file):
        while part := data.read(1024 * 1024):
            digest.update(part)
            size += len(part)
            if into:
                into.write(part)
    if (size, digest.hexdigest()) != (manifest.size, manifest.sha256):
        raise Unfit(f"{file} is damaged: its checksum is not that of its manifest.")


@contextmanager
def _blaming(file: Path) -> Iterator[None]:
    """Raise what reading a damaged file can raise as `Unfit`."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError) as fault:
        raise Unfit(f"{file} is damaged, or is no backup: {str(fault).strip()}") from None


def check(file: Path) -> Manifest:
    """Read a backup to its end and return its manifest. Raises `Unfit` if it is damaged."""
    try:
        with _opened(file) as (manifest, data):
            _pour(file, data, manifest)
    except OSError as fault:
        raise Unfit(f"{file} cannot be read: {fault.strerror}.") from None
    return manifest


def restore(settings: Settings, file: Path, now: datetime, *, replace: bool = False) -> Restored:
    """Put a backup into the database in use, which must be empty, or is kept in a backup of its own first (`replace`).

    What comes back is brought up to date, mails that were waiting in it are held, deadlines move on by the time since
    the backup was made, and every match is verified. Raises `Unfit` before anything is changed if the backup is
    damaged, of the other database, or of a newer program.
    """
    try:
        with _opened(file) as (manifest, data), _workshop(settings.data) as folder:
            _require_fitting(manifest, settings)
            dump = folder / DUMP
            with os.fdopen(os.open(dump, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as into:
                _pour(file, data, manifest, into)
            before = _make_room(settings, now, replace)
            with dumps.put(settings.database, dump, manifest.contents):
                migrated = db.migrate()
                with db.transaction():
                    held = outbox.hold()
                outages.restored(manifest.made_at, now)
                verified = contents.verify()
    except OSError as fault:
        raise Unfit(f"{file} cannot be restored: {fault.strerror}.") from None
    except (*db.Unavailable, db.Broken) as fault:
        raise Unfit(f"{file} cannot be restored: {str(fault).strip()}") from None
    return Restored(manifest, before, migrated, held, verified)


def _require_fitting(manifest: Manifest, settings: Settings) -> None:
    if manifest.database != dumps.kind(settings.database):
        told = (
            "It is a backup of {its}, but the database is {ours}: restore it where it is from, then `clachan db copy`."
        )
        raise Unfit(told.format(its=manifest.database, ours=dumps.kind(settings.database)))
    if newer := sorted(set(manifest.contents.migrations) - set(db.known_migrations())):
        raise Unfit(f"It was made by a newer program, with {', '.join(newer)}: restore it with that one.")


def _make_room(settings: Settings, now: datetime, replace: bool) -> Path | None:
    """See to it that nothing is lost by writing over the database; return where that is kept which is there."""
    if db.unfinished():
        return None
    require_rest(settings, now)
    if not contents.occupied(db.database.obj):
        return None
    if not replace:
        raise Unfit("The database is not empty. --replace makes a backup of what is there, and puts this in its place.")
    kept = named(settings, "before-restore", now)
    make(settings, kept, now)
    return kept


def require_rest(settings: Settings, now: datetime) -> None:
    """Raise `Unfit` while a scheduler is at work on the database in use."""
    if outages.at_work(now, timedelta(seconds=3 * settings.tick_seconds)):
        raise Unfit("A scheduler is at work on the database, or was a moment ago: stop the server, and try again.")


def wanted_before_migration(settings: Settings) -> bool:
    """Whether a migration is about to change a database with people in it, and the settings ask for a backup then."""
    return settings.backup_before_migration and bool(db.pending()) and contents.occupied(db.database.obj)


def before_migration(settings: Settings, now: datetime) -> Path | None:
    """Make a backup if one is wanted before the schema changes; return where it is."""
    if not wanted_before_migration(settings):
        return None
    kept = named(settings, "before-migration", now)
    make(settings, kept, now)
    return kept


def keep(settings: Settings, now: datetime) -> Path | None:
    """Make the backup of the day if the settings ask for it and it is not there, and forget old ones; return it."""
    # One name for each day: of several schedulers the second finds it there.
    file = settings.backups / f"clachan-{now:%Y-%m-%d}.zip"
    if not settings.backups_daily or file.exists():
        return None
    try:
        make(settings, file, now)
    except Exists:
        return None
    prune(settings, now)
    return file


def prune(settings: Settings, now: datetime) -> list[Path]:
    """Remove the daily backups that are older than those to be kept, never the last good one; return what is gone."""
    daily = sorted((file for file in settings.backups.iterdir() if DAILY.fullmatch(file.name)), reverse=True)
    kept, old = daily[: settings.backups_kept], daily[settings.backups_kept :]
    if old and not any(map(_good, kept)):
        # Those before the first good one are of no more use than these.
        last = next(filter(_good, old), None)
        old = [file for file in old if file != last]
    for file in old:
        file.unlink(missing_ok=True)
    for folder in settings.backups.glob(f"{MAKING}*"):
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < (now - LEFT_BEHIND).timestamp():
                shutil.rmtree(folder, ignore_errors=True)
    return old


def _good(file: Path) -> bool:
    try:
        check(file)
    except Unfit:
        return False
    return True

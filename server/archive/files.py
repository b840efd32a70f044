"""What anybody may take away of a finished match, and everybody of all his own."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any, Final

from engine import record
from engine.language import gettext as _
from server import db, log, notes, story
from server.archive import imports
from server.archive.telling import told
from server.errors import Refused
from server.models import Match, Seat, User

KIND: Final = re.compile("[a-z]{1,32}")


def export(match: Match) -> dict[str, Any]:
    """Return the record of a finished match. Raises `Refused` (not-found) before the end: it would show secrets."""
    if match.status != "finished":
        raise Refused("not-found", _("The record of a match can be had when it has ended."))
    return whole_record(match)


def whole_record(match: Match) -> dict[str, Any]:
    """Return the record of a match, secrets included, for its own server's use.

    A match that came as a record has that very record. Raises `Refused` (damaged).
    """
    if match.imported_at:
        return imports.kept(match)
    played, seats = log.read(match), log.places(match)
    return record.build(
        game=match.game,
        rules=played.head["rules"],
        options=played.head["options"],
        players=[seat.owner.name for seat in seats],
        setup=played.setup,
        rows=played.rows,
        outcome=played.outcome,
        match=match.id,
        people=played.head.get("people", ()),
        clock=played.head.get("clock"),
        started_at=played.setup_row.at,
        seed=bytes(match.secret).hex(),
        contributions=[seat.contribution for seat in seats],
    )


def result(seats: Sequence[Seat]) -> str:
    """Return the result of a finished match in one line: Ailsa 50, Bran 39."""
    called = story.names(seats)
    order = sorted(zip(called, seats, strict=True), key=lambda place: (not place[1].won, -(place[1].score or 0)))
    return ", ".join(f"{name} {seat.score}" for name, seat in order)


def file_name(match: Match, ending: str) -> str:
    """Return what a file about the match is called: clans-17.json. Safe in a header and in a folder."""
    kind = match.game if KIND.fullmatch(match.game) else "match"
    return f"{kind}-{match.id}{ending}"


def bundle(user: User) -> Iterator[bytes]:
    """Yield a ZIP file piece by piece: records and texts of all finished matches of the person, with his notes.

    A match that cannot be replayed is there with the reason. The pieces are made as they are taken, one match in
    memory at a time, with a connection of their own.
    """
    with db.connected():
        sink = _Sink()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as pack:
            for match in _finished(user):
                for name, text in _about(match, user):
                    pack.writestr(zipfile.ZipInfo(name, _date(match)), text, zipfile.ZIP_DEFLATED)
                yield sink.take()
        yield sink.take()


class _Sink:
    """A file that can only be written to, and that gives away what it was given."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, piece: bytes, /) -> int:
        self.pieces.append(piece)
        return len(piece)

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """Nothing is held here."""

    def take(self) -> bytes:
        taken = b"".join(self.pieces)
        self.pieces.clear()
        return taken


def _date(match: Match) -> tuple[int, int, int, int, int, int]:
    """Return when the match ended as ZIP files write it: they know no years outside of 1980 to 2107."""
    at = match.finished_at or match.created_at
    return (min(max(at.year, 1980), 2107), at.month, at.day, at.hour, at.minute, at.second)


def _finished(user: User) -> Iterator[Match]:
    """Yield the finished matches by number in which the person sat, from the start or later."""
    seats = Seat.select(Seat.match).where((Seat.owner == user) | (Seat.user == user))
    mine = Match.select().where((Match.status == "finished") & Match.id.in_(seats))
    last = 0
    while some := list(mine.where(Match.id > last).order_by(Match.id).limit(100)):
        yield from some
        last = some[-1].id


def _about(match: Match, user: User) -> Iterator[tuple[str, str]]:
    """Yield the files about one match, each with its name."""
    try:
        yield file_name(match, ".json"), record.dump(export(match))
        yield file_name(match, ".txt"), told(match)
    except Refused as fault:
        yield file_name(match, "-frozen.txt"), f"{fault.sentence}\n"
    if note := notes.read(match, user):
        yield file_name(match, "-notes.txt"), f"{note}\n"

"""Records that come in as files and become finished matches. docs/records.md tells what is kept of them, and how."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from engine import record
from engine.language import gettext as _
from engine.record import RecordError
from engine.replay import MOVE, Position, Row
from server import columns, companions, db, events, log, story
from server.archive import guests
from server.errors import Refused
from server.log import Played
from server.models import EPOCH, Imported, LogRow, Match, Seat, User

# Nobody played outside of these, and with others time zones and lists could not be reckoned.
EARLIEST: Final = EPOCH
LATEST: Final = datetime(3000, 1, 1, tzinfo=UTC)
LONGEST_VIA: Final = LogRow.via.max_length
LONGEST_CONTRIBUTION: Final = Seat.contribution.max_length


def add(data: bytes, now: datetime) -> Match:
    """Make a finished match of a record file and return it. It counts for no rating, and nobody is told.

    Raises `RecordError` for what `record check` refuses, for a match that has not ended and for rows that this server
    could not tell, and `Refused` (imported-before) if the match is here already.
    """
    found = record.load(data)
    position = record.check(found)
    if "result" not in found:
        raise RecordError(None, "There is none: only matches that have ended are imported.")
    try:
        with db.transaction():
            return _stored(found, position, now)
    except db.Duplicate as fault:
        # Somebody else brought the same record in by a moment earlier.
        raise Refused("imported-before", _("The match of this record is in the archive already.")) from fault


def _stored(found: Mapping[str, Any], position: Position, now: datetime) -> Match:
    """Store everything, inside the caller's transaction."""
    text = record.dump(found)
    _require_new(found, text)
    match = _match(found, position, now)
    Imported.insert(match=match, digest=digest(text), text=text).execute()
    played = _write(found, match, now)
    _require_tellable(played)
    columns.store(played, log.places(match), now)
    return log.get(match.id)


def digest(text: str) -> bytes:
    """Return what makes two record files the same: the SHA-256 of the record as we write it."""
    return hashlib.sha256(text.encode()).digest()


def kept(match: Match) -> dict[str, Any]:
    """Return the record that a match was imported from. Raises `Refused` (damaged) if it is not as it came."""
    stored = Imported.get_or_none(Imported.match == match)
    if stored is None or digest(stored.text) != bytes(stored.digest):
        told = _("The record that match {match} was imported from is not as it came.")
        raise Refused("damaged", told.format(match=match.id))
    return record.load(stored.text)


def undated(match: Match) -> frozenset[int]:
    """Return the numbers of the rows of which the record of an imported match does not say when they came.

    The log has an instant for each all the same; see `_rows`.
    """
    if not match.imported_at:
        return frozenset()
    found = kept(match)
    rows = {row.seq for row in record.rows_of(found) if not _believed(row.at)}
    return frozenset(rows if _believed(found.get("started_at")) else rows | {0})


def hashes(match: Match) -> list[str]:
    """Return the hashes in the record that a match came as, that of row 0 first; [] if there are none."""
    found = kept(match) if match.imported_at else {}
    return [found["setup_hash"], *(row["hash"] for row in found["log"])] if "setup_hash" in found else []


def _require_new(found: Mapping[str, Any], text: str) -> None:
    stored = Imported.get_or_none(Imported.digest == digest(text))
    last = found["log"][-1].get("hash") if found["log"] else None
    same = last and Match.get_or_none((Match.status == "finished") & (Match.last_hash == bytes.fromhex(last)))
    number = stored.match_id if stored else same.id if same else None
    if number:
        told = _("The match of this record is in the archive already, as number {number}.")
        raise Refused("imported-before", told.format(number=number))


def _match(found: Mapping[str, Any], position: Position, now: datetime) -> Match:
    """Store the match and who sat there: guests by the names of the record, and bots where they played to the end."""
    fairness = found.get("fairness", {})
    people = guests.seated(found["players"], now)
    match = Match.create(
        game=found["game"],
        rules=found["rules"],
        options=found["options"],
        seats=len(people),
        clock=found.get("clock", {}),
        seating="join",
        autostart=False,
        invited_only=False,
        host=people[0],
        created_at=now,
        secret=bytes.fromhex(fairness.get("seed", "")),
        rated=False,
        imported_at=now,
    )
    contributions = fairness.get("contributions", [])
    for number, owner in enumerate(people):
        user: User = companions.stand_in(now) if number in position.taken_over else owner
        part = "".join(contributions[number : number + 1])[:LONGEST_CONTRIBUTION]
        Seat.create(match=match, number=number, user=user, owner=owner, contribution=part, joined_at=now)
    return match


def _write(found: Mapping[str, Any], match: Match, now: datetime) -> Played:
    """Write the log of the record. Raises `RecordError` for what clocks cannot make of it."""
    try:
        return log.fill(match, _rows(found, match, now))
    except Refused as fault:
        cause = fault.__cause__
        raise RecordError(getattr(cause, "seq", 0), str(getattr(cause, "why", cause))) from fault


def _rows(found: Mapping[str, Any], match: Match, now: datetime) -> list[Row]:
    """Return the rows to store: those of the record, so that they have its hashes, with what no log can be without.

    Where the record does not say when a row came, it is given the instant of the row before.
    """
    rows = record.rows_of(found)
    at = _believed(found.get("started_at")) or next(filter(None, (_believed(row.at) for row in rows)), now)
    text = record.setup_text(
        found.get("match", match.id),
        found["game"],
        found["rules"],
        found["options"],
        len(found["players"]),
        found["setup"],
        found.get("fairness", {}).get("seed", ""),
        found.get("people", ()),
        found.get("clock"),
    )
    stored = [record.setup_row(text, log.stamp(at))]
    for row in rows:
        at = _believed(row.at) or at
        via = row.via if row.via and len(row.via) <= LONGEST_VIA else None
        stored.append(row._replace(at=log.stamp(at), via=via))
    return stored


def _believed(text: str | None) -> datetime | None:
    """Return an instant of the record if a match can have been played then."""
    at = log.instant(text) if text else None
    return at if at and EARLIEST <= at < LATEST else None


def _require_tellable(played: Played) -> None:
    """Raise `RecordError` for a row that says something of which no page could make a sentence."""
    called = story.names(log.places(played.match))
    for row in played.rows:
        if row.kind != MOVE:
            try:
                events.sentence(played, row, called)
            except (ValueError, LookupError) as fault:
                raise RecordError(row.seq, f"Nobody can tell what this {row.kind} says.") from fault


def agrees(match: Match) -> bool:
    """Whether the log of an imported match says what its record says. Raises `Refused` (damaged), as `kept` does."""
    told = [(row.seq, row.seat, row.kind, row.text) for row in record.rows_of(kept(match))]
    stored = LogRow.select(LogRow.seq, LogRow.seat, LogRow.kind, LogRow.text)
    return told == list(stored.where((LogRow.match == match) & (LogRow.seq > 0)).order_by(LogRow.seq).tuples())

"""A match as one file, and the chain of hashes that shows tampering. The format is docs/records.md.

Row 0 of a log is the setup; its text holds the match, the options, the deal and the secret seed. While a match runs,
the last hash of its log is public. Without the seed inside, a player could try every way the hidden part of the setup
may have fallen, until one leads to the published hash, and so learn what is secret; 32 secret bytes put an end to that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any

from engine import deal, games, replay
from engine.base import Game, Outcome, Plain
from engine.language import gettext as _
from engine.replay import Position, ReplayError, Row
from engine.shape import FORMAT, VERSION, RecordError, check_shape, read

__all__ = [
    "RecordError",
    "build",
    "check",
    "dump",
    "load",
    "refusal",
    "row_hash",
    "rows_of",
    "seal",
    "setup_row",
    "setup_text",
    "verify_deal",
]

KEYS = (
    "format",
    "version",
    "match",
    "game",
    "rules",
    "options",
    "players",
    "people",
    "clock",
    "started_at",
    "setup",
    "setup_hash",
    "fairness",
    "log",
    "result",
)
"""The order in which our export writes the keys of a record; others follow in alphabetical order."""
ROW_KEYS = (*Row._fields, "hash")


def canonical(value: Plain) -> str:
    """Return the one JSON text of a plain value: keys sorted, no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def setup_text(
    match_id: int | str,
    game: str,
    rules: int,
    options: Mapping[str, str],
    seats: int,
    setup: Plain,
    seed_hex: str,
    people: Sequence[int] = (),
    clock: Plain = None,
) -> str:
    """Return the text of row 0: everything the match depends on, with the secret seed ("" if there is none).

    `people` are the server's numbers of those who sit down, in seat order, `clock` the table's time rule; nothing of
    them is stored if there are none.
    """
    return canonical(
        ({"people": list(people)} if people else {})
        | ({} if clock is None else {"clock": clock})
        | {
            "match": match_id,
            "game": game,
            "rules": rules,
            "options": dict(options),
            "seats": seats,
            "setup": setup,
            "seed": seed_hex,
        }
    )


def setup_row(text: str, at: str | None) -> Row:
    """Return row 0 for a `setup_text`: no seat, and no way it came by."""
    return Row(0, None, replay.SETUP, text, at, None)


def row_hash(previous_hex: str, row: Row) -> str:
    """Return the hash of a row as hex: SHA-256 of the previous row's hash, a newline and the row's canonical JSON.

    The previous hash of row 0 is "".
    """
    # As `canonical` writes it, in a third of the time: this is done for every row that is read.
    seq, seat, kind, text, at, via = row
    fields = f'"at":{_text(at)},"kind":{_text(kind)},"seat":{_number(seat)},"seq":{seq},"text":{_text(text)}'
    return sha256(f'{previous_hex}\n{{{fields},"via":{_text(via)}}}'.encode("ascii")).hexdigest()


def _text(value: str | None) -> str:
    return "null" if value is None else encode_basestring_ascii(value)


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def seal(hash_hex: str, seed_hex: str) -> str:
    """Return what stands for a hash in public while the texts of some rows are secret, as hex.

    The hash itself would tell: who knows the one before can try the few texts that a row may have. The seed is shown at
    the end, so that whoever kept a seal can redo it then.
    """
    return sha256(f"{seed_hex}\n{hash_hex}".encode("ascii")).hexdigest()


def build(
    *,
    game: str,
    rules: int,
    options: Mapping[str, str],
    players: Sequence[str],
    setup: Plain,
    rows: Sequence[Row],
    outcome: Outcome | None,
    match: int | str | None = None,
    people: Sequence[int] = (),
    clock: Plain = None,
    started_at: str | None = None,
    seed: str = "",
    contributions: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the record of a match; `rows` are those after row 0, `seed` the secret bytes in hex.

    With a `match` the record carries the hash chain, with a `seed` the proof of a fair deal. It shows every secret:
    before the end it is for the server's own backup only.
    """
    record: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "game": game,
        "rules": rules,
        "options": dict(options),
        "players": list(players),
        "setup": setup,
    }
    if started_at is not None:
        record["started_at"] = started_at
    if seed:
        commitment = deal.commitment(bytes.fromhex(seed))
        record["fairness"] = {"commitment": commitment, "seed": seed, "contributions": list(contributions)}
    log = [{key: value for key, value in row._asdict().items() if value is not None or key == "seat"} for row in rows]
    if match is not None:
        record["match"] = match
        if people:
            record["people"] = list(people)
        if clock is not None:
            record["clock"] = clock
        record["setup_hash"] = previous = _setup_hash(record)
        for row, entry in zip(rows, log, strict=True):
            entry["hash"] = previous = row_hash(previous, row)
    record["log"] = log
    if outcome:
        record["result"] = outcome.as_plain()
    return record


def load(data: bytes | str) -> dict[str, Any]:
    """Return the record in a file, its shape checked but no rule asked. Raises `RecordError` and nothing else."""
    return read(data)


def dump(record: Mapping[str, Any]) -> str:
    """Return the file of a record: JSON for reading, one line a row, always the same bytes for the same record."""
    keys = [key for key in KEYS if key in record] + sorted(set(record) - set(KEYS))
    return "{\n" + ",\n".join(f" {_json(key)}: {_value(key, record[key])}" for key in keys) + "\n}\n"


def check(record: Mapping[str, Any]) -> Position:
    """Replay a record and return where it ends. Raises `RecordError` if anything in it does not hold.

    Checked are the shape, the setup, every row, the result, and as far as they are there the hash chain, the
    commitment and that the deal follows from seed and contributions.
    """
    check_shape(record)
    game = _game(record)
    _check_fairness(record, game)
    rows = rows_of(record)
    fault = next(_breaks(record, rows), None)
    try:
        position = replay.replay(game, record["setup"], len(record["players"]), record["options"], rows)
    except ReplayError as error:
        if fault is None or error.seq < (fault.at_seq or 0):
            raise RecordError(error.seq, error.why) from error
    if fault:
        raise fault
    if "result" in record:
        _check_result(record["result"], position.outcome)
    return position


def rows_of(record: Mapping[str, Any]) -> list[Row]:
    """Return the rows after row 0 of a record that has the shape of one."""
    return [
        Row(entry["seq"], entry.get("seat"), entry["kind"], entry["text"], entry.get("at"), entry.get("via"))
        for entry in record["log"]
    ]


def verify_deal(record: Mapping[str, Any]) -> str:
    """Deal again from the seed and the contributions and return the commitment. Raises `RecordError` if it differs."""
    check_shape(record)
    game, fairness = _game(record), record.get("fairness", {})
    if "seed" not in fairness or "contributions" not in fairness:
        raise RecordError(0, _("The record does not say what the deal was drawn from."))
    _check_fairness(record, game)
    return str(fairness["commitment"])


def refusal(error: RecordError) -> str:
    """Return what a command prints behind the name of a refused file."""
    place = "the result" if error.at_seq is None else f"row {error.at_seq}"
    return f"refused at {place}: {error.why}"


def _game(record: Mapping[str, Any]) -> Game:
    try:
        game = games.game(record["game"])
    except games.UnknownGame as error:
        raise RecordError(0, str(error)) from error
    if record["rules"] > game.rules:
        why = _("Rules {number} of {game} are newer than this program.")
        raise RecordError(0, why.format(number=record["rules"], game=game.title))
    if len(record["players"]) not in game.seat_counts:
        why = _("{game} is not played by {n}.").format(game=game.title, n=len(record["players"]))
        raise RecordError(0, why)
    return game


def _setup_hash(record: Mapping[str, Any]) -> str:
    """Return the hash of row 0 as it follows from the other keys."""
    text = setup_text(
        record["match"],
        record["game"],
        record["rules"],
        record["options"],
        len(record["players"]),
        record["setup"],
        record.get("fairness", {}).get("seed", ""),
        record.get("people", ()),
        record.get("clock"),
    )
    return row_hash("", setup_row(text, record.get("started_at")))


def _check_fairness(record: Mapping[str, Any], game: Game) -> None:
    fairness = record.get("fairness", {})
    if "seed" not in fairness:
        return
    secret = bytes.fromhex(fairness["seed"])
    if deal.commitment(secret) != fairness["commitment"]:
        raise RecordError(0, _("The seed is not the one that was committed to."))
    if "contributions" in fairness:
        stream = deal.stream_for(secret, fairness["contributions"])
        dealt = game.deal(stream, len(record["players"]), record["options"])
        if canonical(dealt) != canonical(record["setup"]):
            raise RecordError(0, _("The setup does not follow from the seed and the contributions."))


def _breaks(record: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[RecordError]:
    """Yield the places where the hash chain is broken; a record may have no chain, but not half of one."""
    log = record["log"]
    if "setup_hash" not in record:
        hashed = next((row.seq for row, entry in zip(rows, log, strict=True) if "hash" in entry), None)
        if hashed is not None:
            why = _('The row has a hash, but there is no "setup_hash" for the chain to start from.')
            yield RecordError(hashed, why)
        return
    previous = record["setup_hash"]
    if "match" not in record:
        yield RecordError(0, _('With a "setup_hash" the record must name its "match".'))
    elif _setup_hash(record) != previous:
        why = _("The hash of the setup does not fit it: the setup or what goes with it was changed.")
        yield RecordError(0, why)
    for seq, (row, entry) in enumerate(zip(rows, log, strict=True), 1):
        previous = row_hash(previous, row)
        if entry.get("hash") != previous:
            why = _("The hash of the row does not follow from the row before: one of them was changed.")
            yield RecordError(seq, why)


def _check_result(result: Mapping[str, Any], outcome: Outcome | None) -> None:
    if outcome is None:
        raise RecordError(None, _("The record has a result, but the match still runs."))
    for key, value in outcome.as_plain().items():
        if key in result and canonical(result[key]) != canonical(value):
            if key == "detail":
                raise RecordError(None, _("By the rules the {key} are otherwise.").format(key=key))
            why = _("By the rules the {key} are {right}, not {wrong}.")
            said = why.format(key=key, right=canonical(value), wrong=canonical(result[key]))
            raise RecordError(None, said[:300])


def _json(value: Plain) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _value(key: str, value: Plain) -> str:
    """Return a value of the record as JSON; the rows of the log stand each on a line of its own."""
    if key != "log" or not value:
        return _json(value)
    return "[\n" + ",\n".join(f"  {_entry(entry)}" for entry in value) + "\n ]"


def _entry(entry: Mapping[str, Plain]) -> str:
    keys = [key for key in ROW_KEYS if key in entry] + sorted(set(entry) - set(ROW_KEYS))
    return "{" + ", ".join(f"{_json(key)}: {_json(entry[key])}" for key in keys) + "}"

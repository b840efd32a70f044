"""Whether a file has the shape of a record, before any rule is asked: safe against whatever a stranger may send."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from engine.timerule import WrongRule, rule

FORMAT, VERSION = "clachan-record", 1
MOST_BYTES = 2 * 1024 * 1024
MOST_ROWS = 10_000
DEEPEST = 12
LARGEST = 2**53
"""Whole numbers up to here are the same in every language that reads JSON."""
LONGEST = {
    "game": 40,
    "match": 64,
    "name": 100,
    "contribution": 1000,
    "kind": 20,
    "text": 500,
    "via": 20,
    "reason": 100,
}
"""The most characters that a text of each sort has."""

_HASH = re.compile(r"[0-9a-f]{64}")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


class RecordError(Exception):
    """A record is refused.

    `at_seq` is the row to blame: 0 for the setup and all that stands before the log, None for the result; `why` is one
    sentence.
    """

    def __init__(self, at_seq: int | None, why: str) -> None:
        super().__init__(why)
        self.at_seq = at_seq
        self.why = why


def read(data: bytes | str) -> dict[str, Any]:
    """Return the JSON object in the file, its shape checked. Raises `RecordError`, whatever the bytes are."""
    if len(data) > MOST_BYTES:
        raise RecordError(0, f"The file is larger than a record may be ({MOST_BYTES // 1024} KiB).")
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        record = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise RecordError(0, "The file is nested too deeply.") from None
    except ValueError as error:
        raise RecordError(0, f"The file is not JSON in UTF-8: {str(error)[:100]}.") from None
    check_shape(record)
    return dict(record)


def check_shape(record: Any) -> None:
    """Check every key that a record has by itself. Raises `RecordError` for the first that is not as it should be."""
    _plain(record)
    _need(0, isinstance(record, dict), "A record is one JSON object.")
    _need(0, record.get("format") == FORMAT, f'This is no record: its "format" is not "{FORMAT}".')
    _need(0, _is_int(record.get("version")) and record["version"] == VERSION, "Only version 1 of the format is known.")
    _need(0, _is_text(record.get("game"), "game"), '"game" must be the name of a game.')
    _need(0, _is_int(record.get("rules")) and record["rules"] > 0, '"rules" must be the number of the rules.')
    _need(0, _is_texts(record.get("players"), "name"), '"players" must be a list of names.')
    options = record.get("options")
    _need(0, isinstance(options, dict), '"options" must be an object.')
    _need(0, all(isinstance(value, str) for value in options.values()), "The value of an option must be a text.")
    _need(0, isinstance(record.get("setup"), dict), '"setup" must be an object.')
    _head(record)
    log = record.get("log")
    _need(0, isinstance(log, list), '"log" must be a list of rows.')
    _need(0, len(log) <= MOST_ROWS, f"A record has at most {MOST_ROWS} rows.")
    for seq, row in enumerate(log, 1):
        _row(seq, row)
    if "result" in record:
        _result(record["result"])


def _head(record: Mapping[str, Any]) -> None:
    """Check the optional keys before the log."""
    if "match" in record:
        match = record["match"]
        _need(0, _is_int(match) or _is_text(match, "match"), '"match" must be a number or a short text.')
    if "people" in record:
        people = record["people"]
        numbers = isinstance(people, list) and all(_is_int(number) and number > 0 for number in people)
        _need(0, numbers and len(people) == len(record["players"]), '"people" must be a number for each player.')
    if "clock" in record:
        try:
            rule(record["clock"])
        except WrongRule as error:
            raise RecordError(0, str(error)) from error
    if "started_at" in record:
        _need(0, _is_instant(record["started_at"]), '"started_at" must be an instant like 2026-11-30T07:12:15.123Z.')
    if "setup_hash" in record:
        _need(0, _is_hash(record["setup_hash"]), '"setup_hash" must be 64 hexadecimal digits.')
    if "fairness" in record:
        fairness = record["fairness"]
        _need(0, isinstance(fairness, dict), '"fairness" must be an object.')
        _need(0, _is_hash(fairness.get("commitment")), "The commitment must be 64 hexadecimal digits.")
        _need(0, "seed" not in fairness or _is_hash(fairness["seed"]), "The seed must be 64 hexadecimal digits.")
        contributions = fairness.get("contributions", [])
        _need(0, isinstance(contributions, list), "The contributions must be a list.")
        good = all(isinstance(text, str) and len(text) <= LONGEST["contribution"] for text in contributions)
        _need(0, good, "A contribution must be a text.")


def _row(seq: int, row: Any) -> None:
    _need(seq, isinstance(row, dict), "A row must be an object.")
    _need(seq, _is_int(row.get("seq")), 'The "seq" of a row must be its number.')
    _need(seq, row.get("seat") is None or _is_int(row["seat"]), 'The "seat" of a row must be a number or null.')
    _need(seq, _is_text(row.get("kind"), "kind"), 'The "kind" of a row must be a word.')
    text = row.get("text")
    _need(seq, isinstance(text, str) and len(text) <= LONGEST["text"], 'The "text" of a row must be a short text.')
    at, via = row.get("at"), row.get("via")
    _need(seq, at is None or _is_instant(at), 'The "at" of a row must be an instant like 2026-11-30T07:12:15.123Z.')
    _need(seq, via is None or _is_text(via, "via"), 'The "via" of a row must be a word.')
    _need(seq, "hash" not in row or _is_hash(row["hash"]), 'The "hash" of a row must be 64 hexadecimal digits.')


def _result(result: Any) -> None:
    _need(None, isinstance(result, dict), '"result" must be an object.')
    for key in ("scores", "winners"):
        numbers = result.get(key)
        good = isinstance(numbers, list) and all(_is_int(number) for number in numbers)
        _need(None, good, f'"{key}" must be a list of numbers.')
    _need(None, _is_text(result.get("reason"), "reason"), '"reason" must be a text.')


def _need(seq: int | None, holds: bool, why: str) -> None:
    if not holds:
        raise RecordError(seq, why)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as an object. Two values under one key would let two readers see two records."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RecordError(0, "The file has two values under one key.")
    return found


def _plain(value: Any) -> None:
    """Check all the way down, without recursion, that only plain values are there, and not too deep."""
    level = [value]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                below += one
                below += one.values()
            elif isinstance(one, list):
                below += one
            else:
                _plain_leaf(one)
        level = below
    _need(0, not level, "The file is nested too deeply.")


def _plain_leaf(value: Any) -> None:
    if isinstance(value, str):
        # Lone surrogates have no bytes in UTF-8, and databases refuse NUL inside a text.
        good = value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value)
        _need(0, good and "\0" not in value, "A text in the file has characters that no text may have.")
    elif value is not None and not isinstance(value, bool):
        _need(0, isinstance(value, int) and abs(value) < LARGEST, "Numbers in a record are whole and not huge.")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any, what: str) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST[what]


def _is_texts(value: Any, what: str) -> bool:
    return isinstance(value, list) and all(_is_text(text, what) for text in value)


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and bool(_HASH.fullmatch(value))


def _is_instant(value: Any) -> bool:
    if not isinstance(value, str) or not value.isascii() or not _INSTANT.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True

"""Whether a file has the shape of a record, before any rule is asked: safe against whatever a stranger may send."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from engine.language import gettext as _
from engine.language import later
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
        raise RecordError(0, _("The file is larger than a record may be ({n} KiB).").format(n=MOST_BYTES // 1024))
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        record = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise RecordError(0, _("The file is nested too deeply.")) from None
    except ValueError as error:
        why = _("The file is not JSON in UTF-8: {why}.").format(why=str(error)[:100])
        raise RecordError(0, why) from None
    check_shape(record)
    return dict(record)


def check_shape(record: Any) -> None:
    """Check every key that a record has by itself. Raises `RecordError` for the first that is not as it should be."""
    _plain(record)
    _need(0, isinstance(record, dict), later("A record is one JSON object."))
    _need(0, record.get("format") == FORMAT, later('This is no record: its "format" is not "{format}".'), format=FORMAT)
    _need(
        0,
        _is_int(record.get("version")) and record["version"] == VERSION,
        later("Only version 1 of the format is known."),
    )
    _need(0, _is_text(record.get("game"), "game"), later('"game" must be the name of a game.'))
    _need(0, _is_int(record.get("rules")) and record["rules"] > 0, later('"rules" must be the number of the rules.'))
    _need(0, _is_texts(record.get("players"), "name"), later('"players" must be a list of names.'))
    options = record.get("options")
    _need(0, isinstance(options, dict), later('"options" must be an object.'))
    _need(0, all(isinstance(value, str) for value in options.values()), later("The value of an option must be a text."))
    _need(0, isinstance(record.get("setup"), dict), later('"setup" must be an object.'))
    _head(record)
    log = record.get("log")
    _need(0, isinstance(log, list), later('"log" must be a list of rows.'))
    _need(0, len(log) <= MOST_ROWS, later("A record has at most {n} rows."), n=MOST_ROWS)
    for seq, row in enumerate(log, 1):
        _row(seq, row)
    if "result" in record:
        _result(record["result"])


def _head(record: Mapping[str, Any]) -> None:
    """Check the optional keys before the log."""
    if "match" in record:
        match = record["match"]
        _need(0, _is_int(match) or _is_text(match, "match"), later('"match" must be a number or a short text.'))
    if "people" in record:
        people = record["people"]
        numbers = isinstance(people, list) and all(_is_int(number) and number > 0 for number in people)
        _need(0, numbers and len(people) == len(record["players"]), later('"people" must be a number for each player.'))
    if "clock" in record:
        try:
            rule(record["clock"])
        except WrongRule as error:
            raise RecordError(0, str(error)) from error
    if "started_at" in record:
        _need(
            0,
            _is_instant(record["started_at"]),
            later('"started_at" must be an instant like 2026-11-30T07:12:15.123Z.'),
        )
    if "setup_hash" in record:
        _need(0, _is_hash(record["setup_hash"]), later('"setup_hash" must be 64 hexadecimal digits.'))
    if "fairness" in record:
        fairness = record["fairness"]
        _need(0, isinstance(fairness, dict), later('"fairness" must be an object.'))
        _need(0, _is_hash(fairness.get("commitment")), later("The commitment must be 64 hexadecimal digits."))
        _need(0, "seed" not in fairness or _is_hash(fairness["seed"]), later("The seed must be 64 hexadecimal digits."))
        contributions = fairness.get("contributions", [])
        _need(0, isinstance(contributions, list), later("The contributions must be a list."))
        good = all(isinstance(text, str) and len(text) <= LONGEST["contribution"] for text in contributions)
        _need(0, good, later("A contribution must be a text."))


def _row(seq: int, row: Any) -> None:
    _need(seq, isinstance(row, dict), later("A row must be an object."))
    _need(seq, _is_int(row.get("seq")), later('The "seq" of a row must be its number.'))
    _need(seq, row.get("seat") is None or _is_int(row["seat"]), later('The "seat" of a row must be a number or null.'))
    _need(seq, _is_text(row.get("kind"), "kind"), later('The "kind" of a row must be a word.'))
    text = row.get("text")
    _need(
        seq, isinstance(text, str) and len(text) <= LONGEST["text"], later('The "text" of a row must be a short text.')
    )
    at, via = row.get("at"), row.get("via")
    _need(
        seq, at is None or _is_instant(at), later('The "at" of a row must be an instant like 2026-11-30T07:12:15.123Z.')
    )
    _need(seq, via is None or _is_text(via, "via"), later('The "via" of a row must be a word.'))
    _need(seq, "hash" not in row or _is_hash(row["hash"]), later('The "hash" of a row must be 64 hexadecimal digits.'))


def _result(result: Any) -> None:
    _need(None, isinstance(result, dict), later('"result" must be an object.'))
    for key in ("scores", "winners"):
        numbers = result.get(key)
        good = isinstance(numbers, list) and all(_is_int(number) for number in numbers)
        _need(None, good, later('"{key}" must be a list of numbers.'), key=key)
    _need(None, _is_text(result.get("reason"), "reason"), later('"reason" must be a text.'))


def _need(seq: int | None, holds: bool, why: str, **facts: object) -> None:
    """Refuse the record unless something holds; only then the reason is said."""
    if not holds:
        raise RecordError(seq, _(why).format(**facts))


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as an object. Two values under one key would let two readers see two records."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RecordError(0, _("The file has two values under one key."))
    return found


def _plain(value: Any) -> None:
    """Check all the way down, without recursion, that only plain values are there, and not too deep."""
    level = [value]
    for _level in range(DEEPEST):
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
    _need(0, not level, later("The file is nested too deeply."))


def _plain_leaf(value: Any) -> None:
    if isinstance(value, str):
        # Lone surrogates have no bytes in UTF-8, and databases refuse NUL inside a text.
        good = value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value)
        _need(0, good and "\0" not in value, later("A text in the file has characters that no text may have."))
    elif value is not None and not isinstance(value, bool):
        _need(0, isinstance(value, int) and abs(value) < LARGEST, later("Numbers in a record are whole and not huge."))


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

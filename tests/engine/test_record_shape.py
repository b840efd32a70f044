"""Files and records made to do harm: whatever is in them, they are refused in a sentence and nothing breaks."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play_helpers import RECORDS, changed, read, record, refused

from engine.record import RecordError, check, load
from engine.shape import DEEPEST, MOST_BYTES, MOST_ROWS


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"nonsense",
        b"[]",
        b"null",
        b"1",
        b'"text"',
        b"{",
        b'{"format": "clachan-record", "format": "clachan-record"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 100_000,
        b"NaN",
        b'{"version": NaN}',
        b'{"version": 1e999}',
        b'{"format": "\\ud800"}',
        b'{"\\u0000": 1}',
        b" " * (MOST_BYTES + 1),
    ],
    ids=range(18),
)
def test_a_file_that_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError) as error:
        load(data)
    assert error.value.at_seq == 0
    assert error.value.why.endswith(".")


def test_a_file_may_begin_with_a_byte_order_mark() -> None:
    path = RECORDS[0]
    assert load(b"\xef\xbb\xbf" + path.read_bytes()) == read(path)


def test_a_file_nested_deeper_than_any_record_is_refused() -> None:
    deep: Any = 1
    for _ in range(DEEPEST + 1):
        deep = [deep]
    assert "nested" in refused({**record("01"), "more": deep}).why


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "pgn"),
        ("version", 2),
        ("version", True),
        ("game", "ludo"),
        ("game", 5),
        ("rules", 0),
        ("rules", 2),
        ("rules", True),
        ("rules", 2**60),
        ("players", []),
        ("players", ["Ailsa"]),
        ("players", ["A", "B", "C", "D", "E"]),
        ("players", ["Ailsa", ""]),
        ("players", "Ailsa"),
        ("players", ["Ailsa", "x" * 101]),
        ("players", ["Ailsa", "B\0"]),
        ("players", ["Ailsa", "B\ud800"]),
        ("options", []),
        ("options", {"five_singles": 1}),
        ("options", {"five_singles": "maybe"}),
        ("setup", []),
        ("setup", {}),
        ("log", {}),
        ("log", [{}] * (MOST_ROWS + 1)),
        ("match", True),
        ("match", ""),
        ("match", None),
        ("started_at", "yesterday"),
        ("started_at", "2026-13-30T07:12:15Z"),
        ("setup_hash", "abc"),
        ("setup_hash", "A" * 64),
        ("fairness", []),
        ("fairness", {}),
        ("fairness", {"commitment": "0" * 64, "seed": "00"}),
        ("fairness", {"commitment": "0" * 64, "contributions": "x"}),
        ("fairness", {"commitment": "0" * 64, "contributions": [1]}),
        ("extra", 1.5),
        ("extra", float("nan")),
    ],
)
def test_a_head_of_the_wrong_shape_is_refused_before_the_log(key: str, value: Any) -> None:
    error = refused({**record("01"), key: value})
    assert error.at_seq == 0
    assert error.why.endswith(".")


@pytest.mark.parametrize("key", ["format", "version", "game", "rules", "options", "players", "setup", "log"])
def test_a_head_without_a_key_it_needs_is_refused(key: str) -> None:
    found = record("01")
    del found[key]
    assert refused(found).at_seq == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seq", "4"),
        ("seq", True),
        ("seq", None),
        ("seat", "0"),
        ("seat", False),
        ("kind", ""),
        ("kind", 1),
        ("kind", "x" * 21),
        ("text", None),
        ("text", "x" * 501),
        ("at", "2026-11-30 07:12"),
        ("at", "2026-11-31T07:12:15Z"),
        ("at", "２026-11-30T07:12:15Z"),
        ("at", 5),
        ("via", ""),
        ("via", 5),
        ("hash", None),
        ("hash", "0" * 63),
    ],
)
def test_a_row_of_the_wrong_shape_is_refused_where_it_stands(key: str, value: Any) -> None:
    error = refused(changed("01", "log", 3, key, to=value))
    assert error.at_seq == 4
    assert error.why.endswith(".")


def test_a_row_that_is_no_object_is_refused_where_it_stands() -> None:
    assert refused(changed("01", "log", 3, to=["seq"])).at_seq == 4


@pytest.mark.parametrize(
    ("key", "value"), [("scores", None), ("scores", [True, 1]), ("winners", "0"), ("reason", None), ("reason", "")]
)
def test_a_result_of_the_wrong_shape_is_refused_at_the_result(key: str, value: Any) -> None:
    assert refused(changed("01", "result", key, to=value)).at_seq is None


def test_a_result_that_is_no_object_is_refused_at_the_result() -> None:
    assert refused({**record("01"), "result": None}).at_seq is None


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 70)
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["move", "undo", "resign", "takeover", "A5-B1", "red", "bot", "0" * 64]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.data(), st.sampled_from(["01", "08", "undo", "end-resignation"]))
def test_a_record_changed_anywhere_holds_or_is_refused_but_never_breaks_anything(
    data: st.DataObject, name: str
) -> None:
    found = copy.deepcopy(record(name))
    for _ in range(data.draw(st.integers(1, 3))):
        _spoil(data, found)
    fault = None
    try:
        check(load(json.dumps(found)))
    except RecordError as error:
        fault = error
    assert fault is None or (fault.why and (fault.at_seq is None or fault.at_seq >= 0))


def _spoil(data: st.DataObject, found: Any) -> None:
    """Walk down to some place in the record and change, drop, double or swap what is there."""
    place: Any = found
    for _ in range(data.draw(st.integers(0, 4))):
        keys = [
            key
            for key, value in (place.items() if isinstance(place, dict) else enumerate(place))
            if isinstance(value, dict | list) and value
        ]
        if not keys:
            break
        place = place[data.draw(st.sampled_from(keys))]
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    if not keys:
        return
    key = data.draw(st.sampled_from(keys))
    how = data.draw(st.sampled_from(["change", "drop", "double", "swap"]))
    if how == "drop":
        del place[key]
    elif how == "double" and isinstance(place, list):
        place.insert(key, copy.deepcopy(place[key]))
    elif how == "swap":
        other = data.draw(st.sampled_from(keys))
        place[key], place[other] = place[other], place[key]
    else:
        place[key] = data.draw(junk)


@given(st.binary(max_size=80))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    with pytest.raises(RecordError):
        load(data)

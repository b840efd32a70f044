"""Records: what holds, what is refused and where, the chain of hashes, and files made to do harm."""

from __future__ import annotations

import copy
import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play_helpers import BAD_RECORDS, GAME, RECORDS, read, record, setup

from engine import replay, selfplay
from engine.deal import commitment
from engine.record import RecordError, build, check, dump, load, refusal, row_hash, rows_of, setup_row, setup_text
from engine.replay import Row
from engine.shape import DEEPEST, MOST_BYTES, MOST_ROWS

OURS = [path for path in RECORDS if not path.stem[-2:].isdigit()]


def refused(found: Any) -> RecordError:
    with pytest.raises(RecordError) as error:
        check(found)
    return error.value


def changed(name: str, *path: str | int, to: Any) -> dict[str, Any]:
    """Return a recorded match with the value at the path changed."""
    found = record(name)
    place: Any = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return found


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_every_recorded_match_holds(path: Path) -> None:
    position = check(load(path.read_bytes()))
    assert position.outcome is not None
    assert position.outcome.as_plain() == read(path)["result"]


@pytest.mark.parametrize("path", BAD_RECORDS, ids=lambda path: path.stem)
def test_every_bad_record_is_refused_where_its_fault_is(path: Path) -> None:
    fault = read(path)["fault"]
    error = refused(load(path.read_bytes()))
    assert error.at_seq == fault["at_seq"]
    place = "the result" if fault["at_seq"] is None else f"row {fault['at_seq']}"
    assert refusal(error) == f"refused at {place}: {error.why}"


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_own_export_comes_back_byte_for_byte(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert dump(load(text)) == text


def test_the_same_record_is_the_same_bytes_in_whatever_order_its_keys_come() -> None:
    found = record("undo")
    mixed = dict(sorted(found.items(), reverse=True))
    mixed["log"] = [dict(sorted(row.items(), reverse=True)) for row in found["log"]]
    mixed["setup"] = {**found["setup"], "huts": dict(reversed(found["setup"]["huts"].items()))}
    assert dump(mixed) == dump(found)


def test_keys_that_others_added_are_kept_behind_ours() -> None:
    found = {**record("01"), "zebra": 1, "about": [True, None]}
    found["log"][0]["note"] = "hm"
    again = load(dump(found))
    assert again == found
    assert list(again)[-2:] == ["about", "zebra"]
    check(again)


def test_an_empty_log_is_written_as_a_list() -> None:
    assert load(dump({**record("01"), "log": []}))["log"] == []


def test_a_record_of_a_running_match_holds_without_a_result() -> None:
    found = record("01")
    del found["result"]
    found["log"] = found["log"][:7]
    assert check(found).outcome is None


def test_a_result_of_a_match_that_still_runs_is_refused() -> None:
    found = record("01")
    found["log"].pop()
    error = refused(found)
    assert error.at_seq is None
    assert "still runs" in error.why


def test_a_result_may_leave_out_the_detail() -> None:
    found = record("01")
    del found["result"]["detail"]
    check(found)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scores", [39, 51]),
        ("scores", [39]),
        ("winners", [0]),
        ("winners", []),
        ("reason", "resignation"),
        ("detail", {}),
        ("detail", None),
    ],
)
def test_a_result_that_is_not_what_the_rules_say_is_refused(key: str, value: Any) -> None:
    error = refused(changed("01", "result", key, to=value))
    assert error.at_seq is None
    assert key in error.why


def test_true_is_not_the_number_one_in_a_result() -> None:
    assert refused(changed("01", "result", "winners", to=[True])).at_seq is None
    assert refused(changed("01", "result", "detail", "chips", to=[6, 6.0])).at_seq == 0
    villages = record("01")["result"]["detail"]["villages"]
    place = next(n for n, village in enumerate(villages) if village["founder"] == 1)
    assert refused(changed("01", "result", "detail", "villages", place, "founder", to=True)).at_seq is None


def test_timeouts_takeovers_undos_and_resignations_have_records() -> None:
    kinds = {row["kind"] for path in RECORDS for row in read(path)["log"]}
    assert kinds == {"move", "resign", "timeout", "takeover", "undo"}


# The chain of hashes


def test_the_hash_of_a_row_is_the_documented_one() -> None:
    row = Row(1, 0, "move", "A5→B1", "2026-11-30T07:12:15.123Z", None)
    text = '{"at":"2026-11-30T07:12:15.123Z","kind":"move","seat":0,"seq":1,"text":"A5\\u2192B1","via":null}'
    assert row_hash("abc", row) == sha256(f"abc\n{text}".encode()).hexdigest()


def test_row_nought_holds_the_seed_so_that_its_hash_cannot_be_guessed() -> None:
    texts = [setup_text(7, "clans", 1, {}, 2, setup(1, 2), seed) for seed in ("00" * 32, "11" * 32)]
    assert json.loads(texts[0])["seed"] == "00" * 32
    hashes = {row_hash("", setup_row(text, None)) for text in texts}
    assert len(hashes) == 2
    assert " " not in texts[0]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_records_carry_an_unbroken_chain(path: Path) -> None:
    found = read(path)
    text = setup_text(
        found["match"],
        "clans",
        1,
        found["options"],
        len(found["players"]),
        found["setup"],
        found["fairness"]["seed"],
    )
    previous = row_hash("", setup_row(text, found["started_at"]))
    assert found["setup_hash"] == previous
    for row, entry in zip(rows_of(found), found["log"], strict=True):
        previous = row_hash(previous, row)
        assert entry["hash"] == previous


@pytest.mark.parametrize("key", ["at", "via", "hash"])
def test_a_row_changed_afterwards_breaks_the_chain_there(key: str) -> None:
    new = {"at": "2026-03-05T00:00:00Z", "via": "api", "hash": "0" * 64}[key]
    found = changed("undo", "log", 8, key, to=new)
    if record("undo")["log"][8][key] == new:
        found["log"][8][key] = "web"
    error = refused(found)
    assert error.at_seq == 9
    assert "does not follow" in error.why


def test_a_move_replaced_by_another_legal_one_is_noticed_where_it_stands() -> None:
    found = record("end-twelfth-village")
    position = list(replay.positions(GAME, found["setup"], 4, {}, rows_of(found)))[4]
    seat = position.to_act[0]
    other = [GAME.format(position.state, seat, move) for move in position.state.legal_moves(seat)]
    found["log"][4]["text"] = next(text for text in other if text != found["log"][4]["text"])
    assert refused(found).at_seq == 5


def test_an_illegal_move_is_named_before_a_later_break_in_the_chain() -> None:
    found = record("end-twelfth-village")
    rows = rows_of(found)
    rows[3] = rows[3]._replace(text="A1-L5")
    previous = found["setup_hash"]
    for row, entry in zip(rows, found["log"], strict=True):
        entry["text"] = row.text
        entry["hash"] = previous = row_hash(previous, row)
    found["log"][9]["hash"] = "0" * 64
    error = refused(found)
    assert error.at_seq == 4
    assert "not neighbours" in error.why


@pytest.mark.parametrize("key", ["match", "started_at", "setup_hash"])
def test_what_row_nought_says_cannot_be_changed(key: str) -> None:
    new = {"match": 999, "started_at": "2020-01-01T00:00:00Z", "setup_hash": "0" * 64}[key]
    error = refused({**record("undo"), key: new})
    assert error.at_seq == 0
    assert "hash of the setup" in error.why


def test_half_a_chain_is_refused() -> None:
    found = record("undo")
    del found["log"][5]["hash"]
    assert refused(found).at_seq == 6
    found = record("undo")
    del found["setup_hash"]
    error = refused(found)
    assert error.at_seq == 1
    assert "setup_hash" in error.why
    found = record("undo")
    del found["match"]
    assert "must name its" in refused(found).why


# A fair deal


def test_a_seed_that_was_not_committed_to_is_refused() -> None:
    error = refused(changed("undo", "fairness", "commitment", to="0" * 64))
    assert error.at_seq == 0
    assert "committed" in error.why


def test_a_setup_that_does_not_follow_from_seed_and_contributions_is_refused() -> None:
    error = refused(changed("undo", "fairness", "contributions", to=["pebble 0", "stone"]))
    assert error.at_seq == 0
    assert "does not follow from the seed" in error.why


def test_a_commitment_alone_is_taken_on_trust_and_so_is_a_seed_without_contributions() -> None:
    seed = "ab" * 32
    for fairness in ({"commitment": "0" * 64}, {"commitment": commitment(bytes.fromhex(seed)), "seed": seed}):
        check({**record("01"), "fairness": fairness})


# What a record is built from


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("five_singles", ["all_leave", "all_stay"])
def test_a_random_match_makes_a_record_that_holds(seats: int, five_singles: str) -> None:
    found = selfplay.play(GAME, seats, random.Random(seats), {"five_singles": five_singles})
    assert load(dump(found)) == found
    assert check(found).outcome is not None
    assert found == selfplay.play(GAME, seats, random.Random(seats), {"five_singles": five_singles})


def test_a_record_needs_neither_seed_nor_match_nor_end() -> None:
    found = build(
        game="clans",
        rules=1,
        options={},
        players=["Ailsa", "Bran"],
        setup=setup(1, 2),
        rows=[],
        outcome=None,
    )
    assert set(found) == {"format", "version", "game", "rules", "options", "players", "setup", "log"}
    check(found)


def test_a_chain_can_stand_without_a_seed_and_a_match_can_have_a_name() -> None:
    found = build(
        game="clans",
        rules=1,
        options={},
        players=["Ailsa", "Bran"],
        setup=setup(1, 2),
        rows=[Row(1, 0, "resign", "", "2026-11-30T07:12:15.123Z", "web")],
        outcome=None,
        match="spring-cup-1",
    )
    check(found)
    assert set(found["log"][0]) == {"seq", "seat", "kind", "text", "at", "via", "hash"}


# Files made to do harm


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
    try:
        check(load(json.dumps(found)))
    except RecordError as error:
        assert error.why
        assert error.at_seq is None or error.at_seq >= 0


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

"""Records: what holds, what is refused and where, the chain of hashes, and files made to do harm."""

from __future__ import annotations

import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play_helpers import BAD_RECORDS, GAME, RECORDS, changed, read, record, refused, setup

from engine import replay, selfplay
from engine.deal import commitment
from engine.record import build, canonical, check, dump, load, refusal, row_hash, rows_of, setup_row, setup_text
from engine.replay import Row

OURS = [path for path in RECORDS if not path.stem[-2:].isdigit()]


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
        started_at="2026-11-30T07:00:00.000Z",
    )
    check(found)
    assert set(found["log"][0]) == {"seq", "seat", "kind", "text", "at", "via", "hash"}


@given(
    st.builds(
        Row,
        st.integers(0, 10**6),
        st.none() | st.integers(0, 9),
        st.sampled_from(["move", "vote"]),
        st.text(),
        st.none() | st.text(max_size=30),
        st.none() | st.text(max_size=5),
    ),
    st.text(alphabet="0123456789abcdef", max_size=64),
)
def test_a_row_is_hashed_as_its_canonical_text(row: Row, previous: str) -> None:
    text = f"{previous}\n{canonical(row._asdict())}"
    assert row_hash(previous, row) == sha256(text.encode()).hexdigest()

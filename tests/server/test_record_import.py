"""Records become finished matches: nothing is lost, nothing is made up, and nobody here is taken for a player."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flask
import pytest
from house import House
from together import everything_stored, in_parallel, refused
from visitor import Visitor, application

from engine import record
from engine.record import RecordError
from server import accounts, archive, audit, db, log, story
from server.models import Imported, LogRow, Match, Outbox, Seat, User
from server.web.account import Person

FOLDER = Path(__file__).parent.parent / "records"
RECORDS = sorted(FOLDER.glob("*.json"))
BAD = sorted((FOLDER / "bad").glob("*.json"))


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def read(name: str) -> dict[str, Any]:
    return record.load((FOLDER / f"{name}.json").read_bytes())


def bring(house: House, found: dict[str, Any]) -> Match:
    """Import a record."""
    return archive.add(record.dump(found).encode(), house.now)


def unchained(found: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the record without its chain of hashes and without some other keys."""
    bare = copy.deepcopy({key: value for key, value in found.items() if key not in {"setup_hash", *keys}})
    for row in bare["log"]:
        row.pop("hash", None)
    return bare


def test_every_recorded_match_becomes_a_finished_match_with_the_same_figures(house: House) -> None:
    for number, path in enumerate(RECORDS, 1):
        found = record.load(path.read_bytes())
        match = archive.add(path.read_bytes(), house.now)
        seats, result = log.places(match), found["result"]
        assert (match.id, match.status, match.game, match.rules) == (number, "finished", found["game"], found["rules"])
        assert (match.options, match.length, match.reason) == (found["options"], len(found["log"]), result["reason"])
        assert [seat.owner.name for seat in seats] == [f"{name}*" for name in found["players"]]
        assert [seat.score for seat in seats] == result["scores"]
        assert [seat.number for seat in seats if seat.won] == result["winners"]
        outcome = log.read(match).outcome.as_plain()
        assert {key: outcome[key] for key in result} == result
        assert record.dump(archive.export(match)) == record.dump(found)
        assert audit.verify(match.id) == archive.doubts(match) == []
    assert User.select().where(User.deleted_at.is_null(False)).count() == 4
    assert Outbox.select().count() == 0
    assert not Match.select().where(Match.rated | Match.imported_at.is_null()).exists()


def test_what_was_exported_comes_back_byte_for_byte_with_its_hashes_in_the_log(house: House) -> None:
    for path in RECORDS:
        text = path.read_text(encoding="utf-8")
        found = record.load(text)
        if "setup_hash" not in found:
            continue
        match = archive.add(text.encode(), house.now)
        assert record.dump(archive.export(match)) == text
        stored = [bytes(row.hash).hex() for row in LogRow.select().where(LogRow.match == match).order_by(LogRow.seq)]
        assert stored == [found["setup_hash"], *(row["hash"] for row in found["log"])]


def test_a_match_of_one_house_is_the_same_in_another(cottage: House, sqlite_template: Path, tmp_path: Path) -> None:
    match = cottage.started("Ailsa", "Bran", "Catrin", options={"five_singles": "all_stay"}, pace=7200)
    cottage.move(match)
    match = cottage.finish(match)
    exported = record.dump(archive.export(match))
    assert {"people", "clock", "match", "fairness"} <= set(json.loads(exported))
    hashes = [bytes(row.hash) for row in LogRow.select().order_by(LogRow.seq)]
    db.database.close()
    shutil.copy(sqlite_template, tmp_path / "other.db")
    db.use(f"sqlite:///{tmp_path / 'other.db'}")
    with db.connected():
        other = House(cottage.settings)
        again = archive.add(exported.encode(), other.now)
        assert record.dump(archive.export(again)) == exported
        assert [bytes(row.hash) for row in LogRow.select().order_by(LogRow.seq)] == hashes
        # The numbers of its people mean others here.
        assert not Seat.select().where(Seat.owner.in_(list(other.people.values()))).exists()
        assert audit.verify(again.id) == archive.doubts(again) == []
        third = other.finish(other.started("Ailsa", "Bran"))
        assert audit.verify(third.id) == []
        db.database.close()


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_record_is_refused_at_its_row_and_leaves_nothing(cottage: House, path: Path) -> None:
    before = everything_stored()
    with pytest.raises(RecordError) as caught:
        archive.add(path.read_bytes(), cottage.now)
    assert caught.value.at_seq == json.loads(path.read_text())["fault"]["at_seq"]
    assert everything_stored() == before


def test_a_match_that_still_runs_is_not_imported(cottage: House) -> None:
    found = read("clans-01")
    del found["result"]
    for log_ in (found["log"][:7], found["log"]):
        with pytest.raises(RecordError, match="only matches that have ended are imported") as caught:
            bring(cottage, {**found, "log": log_})
        assert caught.value.at_seq is None
    assert Match.select().count() == 0


def test_a_record_is_imported_once_however_it_is_written(house: House) -> None:
    found = read("clans-01")
    match = bring(house, found)
    for data in (json.dumps(found), json.dumps(found, indent=3, sort_keys=True)):
        with refused("imported-before") as caught:
            archive.add(data.encode(), house.now)
        assert f"as number {match.id}" in caught.value.sentence
    chained = read("clans-undo")
    bring(house, chained)
    with refused("imported-before"):
        bring(house, {**chained, "remark": "the same match"})
    assert Match.select().count() == 2


def test_of_two_who_bring_the_same_record_at_once_one_is_refused(house: House) -> None:
    results = in_parallel(*[lambda: bring(house, read("clans-01")).status] * 3)
    assert sorted(results) == ["finished", "imported-before", "imported-before"]
    assert Match.select().count() == Imported.select().count() == 1


def test_a_match_that_was_played_here_is_not_imported_beside_itself(house: House) -> None:
    match = house.finish(house.started("Ailsa", "Bran"))
    with refused("imported-before"):
        bring(house, archive.export(match))


@pytest.mark.parametrize("keys", [(), ("match",), ("fairness",), ("started_at",), ("fairness", "match", "started_at")])
def test_what_a_record_does_not_say_stays_unsaid(cottage: House, keys: tuple[str, ...]) -> None:
    found = unchained(read("clans-timeouts-and-takeover"), *keys)
    match = bring(cottage, found)
    assert archive.export(match) == found
    assert archive.doubts(match) == []
    assert audit.verify(match.id) == []
    assert (archive.fairness(match, log.places(match)) is None) == ("fairness" in keys)


def without_instants(found: dict[str, Any]) -> None:
    del found["started_at"]
    for row in found["log"]:
        del row["at"]


def strange_instants(found: dict[str, Any]) -> None:
    for row, at in zip(
        found["log"],
        ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "1969-12-31T23:59:59Z", "2026-03-02T09:00:00.123456Z"),
        strict=False,
    ):
        row["at"] = at
    found["log"][-1]["at"] = "9999-12-31T23:59:59Z"


def other_ways(found: dict[str, Any]) -> None:
    found["log"][0]["via"] = "carrier pigeon"
    found["log"][1]["via"] = None
    del found["log"][2]["via"]


def more_keys(found: dict[str, Any]) -> None:
    found["about"] = {"site": ["elsewhere", None]}
    found["log"][0]["remark"] = "well played"
    found["result"]["crowd"] = 7


def less_result(found: dict[str, Any]) -> None:
    del found["result"]["detail"]


def long_contributions(found: dict[str, Any]) -> None:
    del found["fairness"]["seed"]
    found["fairness"]["contributions"] = ["x" * 1000, "y", "z", "one too many"]


@pytest.mark.parametrize(
    "change",
    [without_instants, strange_instants, other_ways, more_keys, less_result, long_contributions],
    ids=lambda change: change.__name__,
)
def test_odd_records_are_kept_as_they_are_and_shown(
    cottage: House, app: flask.Flask, change: Callable[[dict[str, Any]], None]
) -> None:
    found = unchained(read("clans-end-resignation"))
    change(found)
    match = bring(cottage, found)
    assert archive.export(match) == found
    assert audit.verify(match.id) == archive.doubts(match) == []
    far = cottage.person("Eilidh", zone="Pacific/Apia")
    visitor = Visitor(app, far)
    place = f"/matches/{match.id}"
    for path in ("/archive", place, f"{place}/replay/5", f"{place}/record.txt", f"{place}/verify?check=1"):
        assert visitor.get(path).status_code == 200, path
    assert "does not hold" not in visitor.get(f"{place}/verify?check=1").text.casefold()


def test_where_a_record_says_no_time_none_is_told(cottage: House) -> None:
    found = unchained(read("clans-end-resignation"))
    without_instants(found)
    match = bring(cottage, found)
    assert match.finished_at == cottage.now
    assert "UTC" not in archive.told(match)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("pause", "tomorrow"),
        ("vacation", "2026-01-01T00:00:00Z"),
        ("outage", ""),
        ("hours", "Mars/Olympus"),
        ("vote", "wait x"),
        ("vote", "wait 9"),
        ("vote", "pause noon"),
        ("resume", "now"),
    ],
)
def test_a_row_of_which_nobody_could_make_a_sentence_is_refused(cottage: House, kind: str, text: str) -> None:
    found = unchained(read("clans-01"))
    for row in found["log"][3:]:
        row["seq"] += 1
    found["log"].insert(3, {"seq": 4, "seat": 0, "kind": kind, "text": text})
    record.check(found)
    before = everything_stored()
    with pytest.raises(RecordError) as caught:
        bring(cottage, found)
    assert caught.value.at_seq == 4
    assert everything_stored() == before


def test_a_record_with_a_clock_no_table_can_have_is_refused(cottage: House) -> None:
    with pytest.raises(RecordError) as caught:
        bring(cottage, {**read("clans-01"), "clock": {"move": 1}})
    assert caught.value.at_seq == 0


# The people of a record


def guests() -> list[str]:
    return [user.name for user in User.select().where(User.deleted_at.is_null(False)).order_by(User.id)]


def test_a_name_is_one_guest_in_all_records_and_nobody_who_lives_here(house: House) -> None:
    first = bring(house, {**read("clans-01"), "players": ["Ailsa", "Zoë"]})
    second = bring(house, {**read("clans-03"), "players": ["zoë*", "AILSA"]})
    assert guests() == ["Ailsa*", "Zoë*"]
    assert [seat.owner.name for seat in log.places(second)] == ["Zoë*", "Ailsa*"]
    assert archive.export(second)["players"] == ["zoë*", "AILSA"]
    own = house.finish(house.started("Ailsa", "Bran"))

    def found(**terms: object) -> set[int]:
        return {match.id for match in archive.find(**terms).matches}

    assert found(player="Ailsa") == {first.id, second.id, own.id}
    assert found(player="Zoë") == found(player="ZOË *") == {first.id, second.id}
    assert found(player="Ailsa", opponent="Zoë") == {first.id, second.id}
    assert found(player="Ailsa", opponent="Bran") == {own.id}


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["Bot", "Bot"], ["Bot*", "Bot 2*"]),
        (["Former player 1", "former  player 1"], ["Former player 1*", "former player 1 2*"]),
        (["\u202egnuj\u202c", "a\nb\tc"], ["gnuj*", "a b c*"]),
        (["\u200b", "***"], ["Somebody*", "Somebody 2*"]),
        (["<b>", "x" * 100], ["<b>*", "x" * 32 + "*"]),
        (["ﷺ" * 50, "ﷺ" * 60], ["ﷺ" * 4 + "*", "ﷺ" * 4 + " 2*"]),
    ],
)
def test_whatever_players_are_called_they_can_be_read(
    cottage: House, app: flask.Flask, names: list[str], shown: list[str]
) -> None:
    match = bring(cottage, {**read("clans-01"), "players": names})
    assert [seat.owner.name for seat in log.places(match)] == shown
    assert archive.export(match)["players"] == names
    page = Visitor(app).get("/archive").text
    assert "<b>*" not in page
    assert "\u202e" not in page


def test_a_guest_can_never_sign_in_and_is_never_swept_away(cottage: House, app: flask.Flask) -> None:
    match = bring(cottage, read("clans-01"))
    guest = log.places(match)[0].owner
    assert not guest.reachable
    for name in (guest.name, guest.name_key, "Ailsa*"):
        with refused("bad-credentials"):
            accounts.sign_in(name, "", source="here", now=cottage.now)
    visitor = Visitor(app)
    with visitor.client.session_transaction() as session:
        session["_user_id"] = Person(guest).get_id()
    assert visitor.get("/settings").status_code == 302
    cottage.later(days=60)
    accounts.sweep(cottage.now)
    assert guests() == ["Ailsa*", "Bran*"]
    with refused("bad-input"):
        accounts.clean_name("Ailsa*")


def test_who_took_a_seat_over_elsewhere_is_not_mixed_up_with_people_here(cottage: House) -> None:
    found = unchained(read("clans-timeouts-and-takeover"))
    taken = next(row for row in found["log"] if row["kind"] == "takeover" and row["text"] != "bot")
    taken["text"] = f"person:{cottage.people['Dugald'].id}"
    match = bring(cottage, found)
    told = archive.told(match)
    assert "A bot took over the seat of Bran*." in told
    assert "A person took over the seat of Bran*." in told
    assert "Dugald" not in told


def test_a_seat_that_a_bot_played_to_the_end_is_shown_so(cottage: House) -> None:
    match = bring(cottage, read("glory-resigned-best-score"))
    called = story.names(log.places(match))
    assert called == ["Ailsa* (bot)", "Bran*", "Catrin*"]
    assert story.standing(log.read(match), called, None).endswith("won: last card laid. Ailsa* (bot) had resigned.")
    assert audit.verify(match.id) == []


def test_a_record_that_was_changed_in_the_database_is_noticed(cottage: House) -> None:
    match = bring(cottage, read("clans-01"))
    stored = Imported.get()
    with db.transaction():
        Imported.update(text=stored.text.replace("Ailsa", "Elsie")).where(Imported.match == match).execute()
    assert "not as it came" in archive.doubts(match)[0]
    with refused("damaged"):
        archive.export(match)


def test_a_log_that_says_otherwise_than_its_record_is_noticed(cottage: House) -> None:
    match = bring(cottage, read("clans-01"))
    text = record.dump(read("clans-03"))
    with db.transaction():
        Imported.update(text=text, digest=archive.imports.digest(text)).where(Imported.match == match).execute()
    assert archive.doubts(match) == ["The log does not say what the record says that the match came as."]

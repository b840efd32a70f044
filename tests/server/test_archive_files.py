"""The archive on pages, and what may be taken away: records, texts, and all one's own matches in one file."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import flask
import pytest
from house import House
from together import damage, refused
from visitor import Visitor, application, error

from engine import record
from server import archive, db, home, log, notes, seating, timeouts
from server.models import Match, Seat, User

RECORDS = Path(__file__).parent.parent / "records"


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


def ended(house: House, *names: str, **terms: object) -> Match:
    """Return a match that all but the first of these people have given up."""
    match = house.started(*(names or ("Ailsa", "Bran")), **terms)
    for name in names[1:] or ["Bran"]:
        seating.resign(match.id, house.people[name], "web", now=house.now)
    return log.get(match.id)


def unpacked(answer: bytes) -> dict[str, str]:
    """Return the files in a ZIP by their names."""
    with zipfile.ZipFile(io.BytesIO(answer)) as pack:
        assert pack.testzip() is None
        return {name: pack.read(name).decode() for name in pack.namelist()}


# The list


def test_each_line_tells_who_won_how_when_and_where_to_see_more(cottage: House, app: flask.Flask) -> None:
    match = cottage.finish(cottage.started("Ailsa", "Bran", "Catrin"))
    page = Visitor(app).get("/archive").text
    seats = log.places(match)
    for seat in seats:
        assert f"<bdi>{seat.owner.name}</bdi>" in page
    assert page.count("<small>won</small>") == sum(seat.won for seat in seats)
    assert f'{match.reason}, <span class="num">{match.length}</span> steps' in page
    assert f'datetime="{match.finished_at.isoformat(timespec="seconds")}"' in page
    for path in ("", "/replay/0", "/record.json", "/record.txt", "/verify"):
        assert f'href="/matches/{match.id}{path}"' in page


def test_the_form_keeps_what_was_asked_and_so_does_the_next_page(cottage: House, app: flask.Flask) -> None:
    for _ in range(archive.PAGE + 1):
        ended(cottage)
    asked = {"player": "Ailsa", "opponent": "Bran", "result": "won", "game": "clans", "since": "2026-01-01"}
    asked |= {"least": "1", "most": "90", "reason": "resignation", "rated": "yes", "until": "2026-12-31"}
    visitor = Visitor(app)
    page = visitor.get("/archive", query_string=asked).text
    for name, value in asked.items():
        kept = rf'name="{name}"[^>]*value="{value}"|<option value="{value}" selected>'
        assert re.search(kept, page), name
    assert "<details open>" in page
    older = re.search(r'rel="next" href="([^"]+)"', page)
    assert older
    second = visitor.get(older[1].replace("&amp;", "&")).text
    assert second.count('<th scope="row">') == 1
    assert 'value="Bran"' in second


@pytest.mark.parametrize(
    "asked",
    [
        {"since": "yesterday"},
        {"least": "few"},
        {"most": "-1"},
        {"least": "9" * 10},
        {"result": "won"},
        {"result": "drawn"},
        {"rated": "maybe"},
        {"after": "x"},
    ],
    ids=str,
)
def test_what_cannot_be_asked_so_is_shown_again_with_the_reason(
    cottage: House, app: flask.Flask, asked: dict[str, str]
) -> None:
    ended(cottage)
    visitor = Visitor(app)
    answer = visitor.get("/archive", query_string={**asked, "opponent": "Eilidh"})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert 'value="Eilidh"' in answer.text
    answer = visitor.get("/archive", query_string=asked, headers={"Accept": "application/json"})
    assert (answer.status_code, error(answer)) == (422, "bad-input")


def test_an_empty_archive_and_an_empty_answer_say_so(cottage: House, app: flask.Flask) -> None:
    visitor = Visitor(app)
    assert "No match has ended here yet" in visitor.get("/archive").text
    assert "No finished match is like that" in visitor.get("/archive?player=Nobody").text
    assert "No finished match is like that" in visitor.get("/archive?least=0").text


def test_who_wants_to_watch_first_is_not_told_in_the_list(cottage: House, app: flask.Flask) -> None:
    match = ended(cottage)
    ailsa = cottage.people["Ailsa"]
    User.update(keeps_results=True).execute()
    watcher, other = Visitor(app, ailsa), Visitor(app, cottage.people["Catrin"])
    assert "won</small>" not in watcher.get("/archive").text
    assert "resignation," not in watcher.get("/archive").text
    assert "won</small>" in other.get("/archive").text
    home.visit(match, ailsa, cottage.now)
    assert "won</small>" in watcher.get("/archive").text


# The text


def test_the_text_tells_everything_that_the_record_holds(house: House) -> None:
    match = house.started("Ailsa", "Bran", "Catrin", options={"five_singles": "all_stay"})
    house.move(match)
    timeouts.time_out(match.id, now=house.later(days=1))
    match = house.finish(match)
    told, kept = archive.told(match), archive.export(match)
    lines = told.splitlines()
    assert lines[0] == f"Clans {match.id}"
    for number, name in enumerate(kept["players"], 1):
        score = kept["result"]["scores"][number - 1]
        won = ", won" if number - 1 in kept["result"]["winners"] else ""
        assert re.search(rf"^Seat {number} +{name}( \(bot\))? +{score} points?{won}$", told, re.MULTILINE)
    for row in kept["log"]:
        at = row["at"].replace("T", " ")[:19]
        what = row["text"] if row["kind"] == "move" else row["kind"]
        assert re.search(
            rf"^ *{row['seq']}\. {at} UTC, {kept['players'][row['seat']]}.*: {re.escape(what)}", told, re.MULTILINE
        )
    for fact in (kept["fairness"]["commitment"], kept["fairness"]["seed"], *kept["fairness"]["contributions"]):
        assert fact in told
    flat = " ".join(told.split())
    for fact in (kept["log"][-1]["hash"], match.reason, "all huts stay", "1 day for each move", "ran out of time"):
        assert fact in flat, fact
    for territory, hut in kept["setup"]["huts"].items():
        assert f"{territory} {hut}" in flat
    assert max(map(len, lines)) <= 100
    assert "\u00a0" not in told


def test_texts_of_all_recorded_matches_are_told(cottage: House) -> None:
    for path in sorted(RECORDS.glob("*.json")):
        match = archive.add(path.read_bytes(), cottage.now)
        told = archive.told(match)
        assert "\nWHAT HAPPENED\n\n   1. " in told
        assert all(line == line.rstrip() for line in told.splitlines()), path.stem


def test_before_the_end_there_is_nothing_to_take(cottage: House, app: flask.Flask) -> None:
    for match in (cottage.begun("Ailsa", "Bran"), cottage.table("Ailsa", seats=2)):
        for name in ("record.json", "record.txt"):
            for user in (None, cottage.people["Ailsa"]):
                assert Visitor(app, user).get(f"/matches/{match.id}/{name}").status_code == 404
        with refused("not-found"):
            archive.told(match)


def test_files_are_sent_to_be_kept_under_safe_names(cottage: House, app: flask.Flask) -> None:
    match = ended(cottage)
    visitor = Visitor(app, cottage.people["Ailsa"])
    for path, kind, name in (
        (f"/matches/{match.id}/record.json", "application/json", f"clans-{match.id}.json"),
        (f"/matches/{match.id}/record.txt", "text/plain; charset=utf-8", f"clans-{match.id}.txt"),
        ("/archive/mine.zip", "application/zip", "clachan-matches.zip"),
    ):
        answer = visitor.get(path)
        assert answer.headers["Content-Type"] == kind
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "private, no-cache"
    for game in ('x"; y', "../etc", "a\nb", ""):
        assert archive.file_name(Match(id=7, game=game), ".json") == "match-7.json"


# All one's own


def test_everybody_takes_all_his_finished_matches_with_him(cottage: House, app: flask.Flask) -> None:
    ailsa, bran = cottage.people["Ailsa"], cottage.people["Bran"]
    first, second = ended(cottage, "Ailsa", "Bran"), cottage.finish(cottage.started("Bran", "Ailsa", "Catrin"))
    ended(cottage, "Catrin", "Bran")
    cottage.begun("Ailsa", "Bran")
    notes.write(first, ailsa, "Never again.", cottage.now)
    notes.write(first, bran, "A secret of Bran.", cottage.now)
    files = unpacked(Visitor(app, ailsa).get("/archive/mine.zip").data)
    assert sorted(files) == sorted(
        [f"clans-{match.id}{ending}" for match in (first, second) for ending in (".json", ".txt")]
        + [f"clans-{first.id}-notes.txt"]
    )
    assert files[f"clans-{first.id}-notes.txt"] == "Never again.\n"
    for match in (first, second):
        assert files[f"clans-{match.id}.txt"] == archive.told(match)
        assert json.loads(files[f"clans-{match.id}.json"]) == archive.export(match)
        record.check(record.load(files[f"clans-{match.id}.json"]))


def test_who_took_a_seat_over_has_the_match_among_his_own(cottage: House) -> None:
    match = ended(cottage, "Ailsa", "Bran")
    Seat.update(user=cottage.people["Dugald"]).where(Seat.owner == cottage.people["Bran"]).execute()
    for name in ("Ailsa", "Bran", "Dugald"):
        assert f"clans-{match.id}.json" in unpacked(b"".join(archive.bundle(cottage.people[name])))


def test_a_frozen_match_does_not_keep_the_others_back(cottage: House, app: flask.Flask) -> None:
    good, bad, last = ended(cottage), ended(cottage), ended(cottage)
    damage(bad)
    files = unpacked(Visitor(app, cottage.people["Ailsa"]).get("/archive/mine.zip").data)
    assert {f"clans-{good.id}.json", f"clans-{last.id}.txt"} <= set(files)
    assert "cannot be replayed" in files[f"clans-{bad.id}-frozen.txt"]


def test_who_has_finished_nothing_gets_a_file_with_nothing(cottage: House) -> None:
    assert unpacked(b"".join(archive.bundle(cottage.people["Dugald"]))) == {}


def test_the_file_is_made_as_it_is_sent_for_the_signed_in_only(cottage: House, app: flask.Flask) -> None:
    for _ in range(3):
        ended(cottage)
    pieces = list(archive.bundle(cottage.people["Ailsa"]))
    assert len(pieces) == 4
    assert all(pieces)
    stranger = Visitor(app)
    assert stranger.get("/archive/mine.zip").headers["Location"].startswith("/signin")
    ailsa = Visitor(app, cottage.people["Ailsa"])
    answers = [ailsa.get("/archive/mine.zip").status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]
    assert db.database.is_closed()


@pytest.mark.parametrize("year", [1970, 2500])
def test_a_match_of_another_age_is_packed_too(cottage: House, year: int) -> None:
    match = ended(cottage)
    with db.transaction():
        Match.update(finished_at=match.finished_at.replace(year=year)).where(Match.id == match.id).execute()
    assert unpacked(b"".join(archive.bundle(cottage.people["Ailsa"])))

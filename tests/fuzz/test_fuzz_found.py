"""What fuzzing has found, each as it was found, so that it is looked for at every run."""

from __future__ import annotations

import json

import pytest
from house import RECORDS, House
from visitor import Visitor, application

from engine import counting, timerule
from server import archive, audit, preferences, settings
from server.errors import Refused
from server.preferences import Wishes

DIGITS = "1" * 5000
"""More than the language turns into a number."""
HUGE = [2**52, 2**40]


@pytest.mark.parametrize("name", ["0/" * 5000 + "0", "Europe/" * 4 + "Prague", "Europe/..", "Europe/Prague\n"])
def test_a_time_zone_of_very_many_folders_is_none(name: str) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        counting.zone(name)
    with pytest.raises(timerule.WrongRule):
        timerule.rule({"move": 86400, "daily": f"18:00 {name}"})


def test_reminders_of_very_many_digits_are_refused(cottage: House) -> None:
    with pytest.raises(Refused, match="percentages"):
        preferences.settle(cottage.people["Ailsa"], Wishes("UTC", reminders=DIGITS), cottage.now)


def test_a_setting_of_very_many_digits_is_refused() -> None:
    with pytest.raises(settings.WrongSetting, match="CLACHAN_WEB_THREADS"):
        settings.load({"CLACHAN_SECRET_KEY": "k" * 40, "CLACHAN_WEB_THREADS": DIGITS})


@pytest.mark.parametrize(
    ("number", "people"),
    [("Ailsa", [1, 2]), (DIGITS[:190], HUGE), (str(2**63), [1, 2]), ("\u00b2", HUGE), ("", [1, 2]), ("3", [1, 2])],
    ids=["name", "digits", "huge", "raised", "empty", "of-ours"],
)
def test_whoever_a_record_says_took_a_seat_over_its_match_is_shown(
    cottage: House, monkeypatch: pytest.MonkeyPatch, number: str, people: list[int]
) -> None:
    found = json.loads((RECORDS / "clans-timeouts-and-takeover.json").read_text(encoding="utf-8"))
    rows = [{name: value for name, value in row.items() if name != "hash"} for row in found["log"]]
    takeover = next(row for row in rows if row["text"] == "player")
    takeover["text"] = f"person:{number}"
    bare = {name: value for name, value in found.items() if name not in {"setup_hash", "fairness"}}
    whole = {**bare, "people": [*people, *range(3, 3 + len(found["players"]))][: len(found["players"])], "log": rows}
    match = archive.add(json.dumps(whole).encode(), cottage.now)
    stranger = Visitor(application(cottage, monkeypatch))
    steps = ("/replay/0", f"/replay/{takeover['seq']}")
    for path in ("", *steps, "/verify?check=1", "/record.txt", "/record.json", "/feed.atom"):
        assert stranger.get(f"/matches/{match.id}{path}").status_code == 200, path
    for path in ("/archive", "/people/Ailsa*"):
        assert stranger.get(path).status_code == 200, path
    assert audit.verify(match.id) == []


def test_a_host_that_is_none_fills_no_log(
    cottage: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answer = Visitor(application(cottage, monkeypatch)).get("/", headers={"Host": f"{'a' * 80}.example"})
    assert 400 <= answer.status_code < 500
    assert "could not be understood" in answer.text
    assert caplog.records == []

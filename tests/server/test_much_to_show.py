"""Pages in a house in which ten thousand matches have ended, a person sat in all of them: they are as quick as ever."""

from __future__ import annotations

import statistics
import time
from datetime import timedelta

import pytest
from house import START, house_settings
from visitor import Visitor, application

from bench import plenty
from server import db
from server.models import Match, User

FINISHED, RUNNING, PEOPLE = 10_000, 200, 60
NOW = START + timedelta(days=900)
ROUNDS = 7


class Full:
    """What `application` asks of a house."""

    def __init__(self, database: str, data: object) -> None:
        self.settings = house_settings(database, data)
        self.now = NOW


def took(visitor: Visitor, path: str) -> float:
    """Return how many milliseconds an answer takes, the median of `ROUNDS` after one to warm up."""
    assert visitor.get(path).status_code == 200, path
    spans = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        visitor.get(path)
        spans.append((time.perf_counter() - began) * 1000)
    return statistics.median(spans)


@pytest.mark.hardship
def test_r19_with_ten_thousand_finished_matches_home_archive_and_replay_are_quick(
    database: str, tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plenty, "FREQUENT", 1.0)
    plenty.fill(database, FINISHED, RUNNING, PEOPLE, NOW)
    with db.connected():
        app = application(Full(database, tmp_path), monkeypatch)
        ailsa, bran = (User.get(User.name == name) for name in ("Ailsa", "Bran"))
        assert Match.select().where(Match.status == "finished").count() == FINISHED
        bounds = {
            200: [(ailsa, "/"), (bran, "/")],
            500: [
                (ailsa, f"/archive?{asked}")
                for asked in (
                    "",
                    "game=glory",
                    "player=Ailsa",
                    "player=Ailsa&opponent=Catrin",
                    "player=Catrin&result=lost",
                    "result=shared",
                    "least=48",
                    "since=2026-05-01&until=2026-05-02",
                )
            ],
            100: [(ailsa, f"/matches/{number}/replay/{seq}") for number in (1, FINISHED) for seq in (0, 9, 20)],
        }
        found = [
            (took(Visitor(app, who), path), most, who.name, path)
            for most, asked in bounds.items()
            for who, path in asked
        ]
    with capsys.disabled():
        for span, most, who, path in found:
            print(f"\n{span:.0f} ms of {most}: {path} for {who}", end="")
    assert not [each for each in found if each[0] > each[1]]

"""Bots at the table: they see a view, move through the same door, and hold nobody up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from house import House
from together import damage, in_parallel

from engine import bots as players
from engine.bots import Sight
from server import audit, bots, deadlines, log, seating
from server.models import Match, Outbox, User


def handed_over(house: House, *names: str) -> Match:
    """Return a match in which whoever was to move first has resigned, so that a bot is awaited."""
    match = house.started(*(names or ("Ailsa", "Bran", "Catrin")))
    seat = house.played(match).position.to_act[0]
    seating.resign(match.id, log.places(match)[seat].user, "web", now=house.now)
    return log.get(match.id)


def test_a_bot_makes_one_move_when_it_is_awaited(house: House) -> None:
    match = handed_over(house)
    assert match.bot_acts
    assert bots.run(house.now) == 1
    row = house.played(match).rows[-1]
    assert (row.kind, row.via) == ("move", "bot")
    assert not log.get(match.id).bot_acts
    assert bots.run(house.now) == 0
    assert audit.verify(match.id) == []
    assert len(house.queued(kind="turn")) >= 1


def test_a_bot_is_handed_the_view_of_its_seat_and_nothing_else(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = handed_over(house)
    seat = match.awaited[0]
    seen = []
    choose = players.choose
    monkeypatch.setattr(
        players,
        "choose",
        lambda strength, game, sight, *rest: (seen.append(sight), choose(strength, game, sight, *rest))[1],
    )
    known = house.played(match).view(seat)
    bots.run(house.now)
    assert [type(sight) for sight in seen] == [Sight]
    assert (seen[0].view, seen[0].past) == (known, ())
    assert (known.viewer, known.outcome) == (seat, None)


def test_nobody_writes_to_a_bot(house: House) -> None:
    match = handed_over(house)
    for _ in range(4):
        bots.run(house.now)
        if not log.get(match.id).bot_acts:
            house.move(match)
    house.mail()
    assert not Outbox.select().join(User).where(User.bot != "").exists()


def test_a_bot_plays_a_resigned_seat_to_the_end_and_cannot_win(house: House) -> None:
    match = handed_over(house)
    gone = match.awaited[0]
    while log.get(match.id).status == "running":
        house.later(minutes=1)
        if not bots.run(house.now):
            house.move(match)
    match = log.get(match.id)
    assert not log.places(match)[gone].won
    assert any(seat.won for seat in log.places(match))
    assert audit.verify(match.id) == []
    assert bots.run(house.now) == 0


def test_of_three_schedulers_one_moves_for_the_bot(house: House) -> None:
    matches = [handed_over(house) for _ in range(3)]
    made = in_parallel(*[lambda: bots.run(house.now)] * 3)
    assert sum(made) == 3
    for match in matches:
        assert [row.kind for row in house.played(match).rows] == ["resign", "takeover", "move"]


def test_a_bot_that_another_scheduler_moved_for_does_not_move_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = handed_over(house)
    choose = players.choose

    def slow(*given: Any) -> str:
        monkeypatch.undo()
        assert bots.run(house.now) == 0, "the match is taken"
        return choose(*given)

    monkeypatch.setattr(players, "choose", slow)
    assert bots.run(house.now) == 1
    assert [row.kind for row in house.played(match).rows] == ["resign", "takeover", "move"]


def test_a_damaged_match_does_not_keep_the_other_bots_waiting(house: House) -> None:
    bad, good = handed_over(house), handed_over(house)
    damage(bad)
    assert bots.run(house.now) == 1
    assert house.played(good).rows[-1].via == "bot"


def test_a_bot_that_fails_does_not_keep_the_others_waiting(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    handed_over(house)
    good = handed_over(house)
    faults = [ValueError("no idea")]
    choose = players.choose

    def moody(*given: Any) -> str:
        if faults:
            raise faults.pop()
        return choose(*given)

    monkeypatch.setattr(players, "choose", moody)
    assert bots.run(house.now) == 1
    assert house.played(good).rows[-1].via == "bot"
    assert "no idea" in caplog.text


def test_a_bot_that_never_moves_is_moved_for_by_the_clock(house: House) -> None:
    match = handed_over(house)
    house.now += timedelta(days=1)
    assert deadlines.run(lambda: house.now) == 1
    assert [row.via for row in house.played(match).rows] == ["web", "web", "clock"]

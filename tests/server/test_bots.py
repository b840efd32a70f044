"""Bots at the table: they see a view, move through the same door, and hold nobody up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from datetime import timedelta
from typing import Any

import pytest
from house import House, Musing
from together import damage, in_parallel

from engine import bots as players
from engine.bots import Sight
from server import audit, bots, deadlines, lobby, log, seating, talk, thinking
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
    assert house.bots() == 1
    row = house.played(match).rows[-1]
    assert (row.kind, row.via) == ("move", "bot")
    assert not log.get(match.id).bot_acts
    assert house.bots() == 0
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
    house.bots()
    assert [type(sight) for sight in seen] == [Sight]
    assert (seen[0].view, seen[0].past) == (known, ())
    assert (known.viewer, known.outcome) == (seat, None)


def test_nobody_writes_to_a_bot(house: House) -> None:
    match = handed_over(house)
    for _ in range(4):
        house.bots()
        if not log.get(match.id).bot_acts:
            house.move(match)
    house.mail()
    assert not Outbox.select().join(User).where(User.bot != "").exists()


def test_a_bot_plays_a_resigned_seat_to_the_end_and_cannot_win(house: House) -> None:
    match = handed_over(house)
    gone = match.awaited[0]
    while log.get(match.id).status == "running":
        house.later(minutes=1)
        if not house.bots():
            house.move(match)
    match = log.get(match.id)
    assert not log.places(match)[gone].won
    assert any(seat.won for seat in log.places(match))
    assert audit.verify(match.id) == []
    assert house.bots() == 0


def test_of_three_schedulers_one_moves_for_the_bot(house: House) -> None:
    matches = [handed_over(house) for _ in range(3)]
    made = in_parallel(*[lambda: house.bots()] * 3)
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
        assert house.bots() == 0, "the match is taken"
        return choose(*given)

    monkeypatch.setattr(players, "choose", slow)
    assert house.bots() == 1
    assert [row.kind for row in house.played(match).rows] == ["resign", "takeover", "move"]


def test_a_damaged_match_does_not_keep_the_other_bots_waiting(house: House) -> None:
    bad, good = handed_over(house), handed_over(house)
    damage(bad)
    assert house.bots() == 1
    assert house.played(good).rows[-1].via == "bot"


def test_a_bot_that_fails_does_not_keep_the_others_waiting(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    both = handed_over(house), handed_over(house)
    faults = [ValueError("no idea")]
    choose = players.choose

    def moody(*given: Any) -> str:
        if faults:
            raise faults.pop()
        return choose(*given)

    monkeypatch.setattr(players, "choose", moody)
    assert house.bots() == 1
    assert sum(house.played(match).rows[-1].via == "bot" for match in both) == 1
    assert "no idea" in caplog.text


class Breaking(Musing):
    """A thinker whose process dies of some thoughts, and of those that it had taken on beside them."""

    def __init__(self, *poisons: int) -> None:
        self.poisons, self.tried, self.broken = set(poisons), [], False

    def submit(self, function: Callable[..., Any], *given: Any) -> Future[Any]:
        """Break at the thoughts of these numbers, and at all that come before somebody looks."""
        self.tried.append(given[0])
        if len(self.tried) in self.poisons:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool("a process died"))
            return future
        return super().submit(function, *given)


def test_three_bots_of_one_table_answer_each_other_in_one_tick(house: House) -> None:
    match = house.table("Ailsa", seats=4)
    lobby.fill(match.id, house.people["Ailsa"], "steady", house.now)
    seat = next(seat.number for seat in log.places(match) if not seat.user.bot)
    assert house.bots() == house.played(match).position.seq
    while house.played(match).position.to_act != (seat,):
        assert house.bots()
    house.move(match)
    assert house.bots() == 3
    rows = house.played(match).rows[-3:]
    assert [row.via for row in rows] == ["bot"] * 3
    assert len({row.seat for row in rows}) == 3
    assert log.get(match.id).awaited == (seat,)


def test_a_move_made_meanwhile_makes_the_thought_stale_and_nothing_else(house: House) -> None:
    match = handed_over(house)
    mine = match.awaited[0]

    class Interrupted(Musing):
        def submit(self, function: Callable[..., Any], *given: Any) -> Future[Any]:
            """Let the clock move for the bot while it thinks."""
            thought = super().submit(function, *given)
            house.now += timedelta(days=2)
            assert deadlines.run(lambda: house.now) == 1
            return thought

    house.thinkers = Interrupted()
    assert house.bots() == 0
    played = house.played(match)
    assert [(row.kind, row.via) for row in played.rows if row.seat == mine][-1] == ("move", "clock")
    assert sum(row.seat == mine and row.kind == "move" for row in played.rows) == 1
    assert audit.verify(match.id) == []


def test_a_process_that_dies_loses_no_move(house: House) -> None:
    matches = [handed_over(house) for _ in range(3)]
    house.thinkers = Breaking(1, 2, 3)
    assert house.bots() == 3
    assert len(house.thinkers.tried) == 6
    for match in matches:
        assert [row.kind for row in house.played(match).rows] == ["resign", "takeover", "move"]


def test_a_thought_of_which_processes_die_keeps_no_other_waiting(house: House) -> None:
    matches = [handed_over(house) for _ in range(3)]
    house.thinkers = Breaking(1, 2, 3, 4)
    assert house.bots() == 2
    assert sorted(log.get(match.id).bot_acts for match in matches) == [False, False, True]
    house.thinkers = Musing()
    assert house.bots() == 0, "it is left alone for a while"
    house.later(minutes=3)
    assert house.bots() == 1


def test_real_processes_play_for_two_schedulers_and_make_each_move_once(house: House) -> None:
    matches = [handed_over(house) for _ in range(3)]
    pools = [thinking.Thinkers(1, 5), thinking.Thinkers(2, 5)]
    try:
        made = in_parallel(*[lambda pool=pool: bots.run(pool, lambda: house.now) for pool in pools])
    finally:
        for pool in pools:
            pool.stop()
    assert sum(made) == 3
    for match in matches:
        assert [row.kind for row in house.played(match).rows] == ["resign", "takeover", "move"]


def test_quick_bots_do_not_wait_for_slow_ones_and_a_round_has_an_end(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(players, "choose", lambda _strength, _game, sight, *_: sight.view.moves[0])
    ailsa = house.people["Ailsa"]
    matches = {}
    for strength in ("strong",) * 4 + ("steady",) * 4:
        match = house.table("Ailsa", seats=2)
        lobby.fill(match.id, ailsa, strength, house.now)
        if ailsa in [log.places(match)[seat].user for seat in log.get(match.id).awaited]:
            house.move(match)
        matches[match.id] = strength
    house.thinkers = Breaking()
    assert bots.run(house.thinkers, lambda: house.now, seconds=5) >= 8
    assert house.thinkers.tried[:6] == ["steady"] * 4 + ["strong"] * 2, "two at most in ten seconds"
    assert house.thinkers.tried.count("strong") == 4, "the others in the next round"
    slow = iter(house.now + timedelta(seconds=20 * count) for count in range(1000))
    for match in map(log.get, matches):
        if not match.bot_acts and match.status == "running":
            house.move(match)
    house.thinkers = Breaking()
    bots.run(house.thinkers, lambda: next(slow), seconds=5)
    assert house.thinkers.tried.count("strong") == 2, "a round that takes long is the last"


def test_strong_bots_do_not_think_for_long_where_no_person_is_left(house: House) -> None:
    match = house.table("Ailsa", seats=4)
    lobby.fill(match.id, house.people["Ailsa"], "strong", house.now)
    seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    house.thinkers = Breaking()
    assert house.bots() == bots.ROUNDS
    assert set(house.thinkers.tried) == {"steady"}


@pytest.mark.parametrize("why", ["resigned", "lost"])
def test_a_bot_says_one_line_when_it_takes_a_seat_over(house: House, why: str) -> None:
    match = house.begun("Ailsa", "Bran", "Catrin", clock={"move": 86400, "missing": "at-once"})
    gone = log.places(match)[match.awaited[0]].user
    if why == "resigned":
        seating.resign(match.id, gone, "web", now=house.now)
        said = "Good day. I play on in this seat, so that the others can finish."
    else:
        house.later(days=2)
        deadlines.run(lambda: house.now)
        said = "Good day. I keep this seat for whoever sat here, who may have it back."
    house.bots()
    house.later(hours=1)
    house.bots()
    assert [(line.user.name, line.text) for line in talk.lines(match)] == [("Bot", said)]
    row = next(row for row in house.played(match).rows if row.kind == "takeover")
    assert row.text == "bot"
    assert log.places(match)[row.seat].user.bot == "steady"


def test_a_seat_that_goes_to_and_fro_is_greeted_once_each_time(house: House) -> None:
    match = house.begun("Ailsa", "Bran", clock={"move": 86400, "missing": "at-once"})
    for count in (1, 2):
        gone = log.places(match)[log.get(match.id).awaited[0]].user
        house.later(days=2)
        deadlines.run(lambda: house.now)
        seating.come_back(match.id, gone, "web", now=house.now)
        assert len(talk.lines(match)) == count


def test_a_line_by_a_bot_is_no_cause_of_a_mail(house: House) -> None:
    match = house.table("Ailsa", "Bran", seats=4, autostart=False)
    before = len(house.queued())
    lobby.fill(match.id, house.people["Ailsa"], "easy", house.now)
    assert len(talk.lines(match)) == 2
    assert len(house.queued()) == before


def test_a_bot_that_never_moves_is_moved_for_by_the_clock(house: House) -> None:
    match = handed_over(house)
    house.now += timedelta(days=1)
    assert deadlines.run(lambda: house.now) == 1
    assert [row.via for row in house.played(match).rows] == ["web", "web", "clock"]


def against(house: House, host: str, strength: str) -> Match:
    """Return a match of two in which the host has moved, or is second, so that his bot is awaited."""
    match = house.table(host, seats=2)
    lobby.fill(match.id, house.people[host], strength, house.now)
    if not log.get(match.id).bot_acts:
        house.move(match)
    return log.get(match.id)


def test_matches_with_slow_bots_do_not_keep_quick_ones_from_being_looked_at(house: House) -> None:
    for _ in range(3):
        against(house, "Ailsa", "strong")
    quick = against(house, "Bran", "steady")
    due = bots._due(house.now, 3, 1)
    assert (len(due), due[0]) == (2, quick)


def test_of_those_who_play_slow_bots_each_has_an_answer_before_another_has_two(house: House) -> None:
    for _ in range(6):
        against(house, "Ailsa", "strong")
    last = against(house, "Bran", "strong")
    assert last in bots._due(house.now, 100, 2)


def test_matches_that_all_people_have_left_wait_until_nothing_else_is_to_do(house: House) -> None:
    left = [against(house, "Ailsa", "steady") for _ in range(3)]
    for match in left:
        seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    over = [match for match in left if log.get(match.id).status == "finished"]
    assert over == left, "of two seats nobody plays on"
    match = house.table("Ailsa", seats=3)
    lobby.fill(match.id, house.people["Ailsa"], "steady", house.now)
    seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    other = against(house, "Bran", "easy")
    assert bots._due(house.now, 100, 5) == [other]
    house.bots()
    assert match.id in {each.id for each in bots._due(house.now, 100, 5)}

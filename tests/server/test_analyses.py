"""Finished matches are judged by the bots: once, in the background, step by step, and never before the end."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest
from house import House, Musing
from smallmind import noughts_with_a_mind
from together import damage, in_parallel

from engine.bots import analysis as judging
from server import analysis, db, log, seating
from server.models import Analysis, Match, User
from server.thinking import Thinker, Thinkers

WON = ("a1", "b2", "b1", "c3", "c1")


@pytest.fixture(autouse=True)
def _noughts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(analysis, "PLAYOUTS", 20)
    for _ in noughts_with_a_mind(monkeypatch):
        yield


class Watched(Musing):
    """A thinker that remembers which steps it was asked for, and fails when told to."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.sent: list[bytes] = []
        self.fault: Exception | None = None

    def submit(self, function: Any, *given: Any) -> Future[Any]:
        self.sent.append(pickle.dumps((function, given)))
        self.asked.append(len(given[4]))
        if self.fault:
            future: Future[Any] = Future()
            future.set_exception(self.fault)
            return future
        return super().submit(function, *given)


def over(house: House, texts: tuple[str, ...] = WON) -> Match:
    """Return a finished match of noughts and crosses; the first to move wins."""
    house.later(hours=1)
    match = house.started("Ailsa", "Bran", game="noughts", setup={"first": 0})
    return house.finish(match, texts)


def run(house: House, thinker: Thinker | None = None, **more: int) -> int:
    return analysis.run(thinker or house.thinkers, lambda: house.now, **more)


def judged(match: Match) -> analysis.Judgement | None:
    return analysis.find(log.get(match.id))


def playouts(match: Match) -> int:
    found = judged(match)
    assert found
    return found.playouts


def row(match: Match) -> Analysis:
    found: Analysis = Analysis.get_by_id(match.id)
    return found


def test_a_finished_match_is_judged_once_and_kept(house: House) -> None:
    match = over(house)
    assert judged(match) is None
    assert analysis.awaited(match)
    thinker = Watched()
    assert run(house, thinker) == 6
    found = judged(match)
    assert found
    assert found.steps == (0, 1, 2, 3, 4, 5)
    assert found.after(0) == found.chances[0]
    assert found.after(5) == (1, 0)
    assert not analysis.awaited(log.get(match.id))
    assert run(house, thinker) == 0
    assert thinker.asked == [0, 1, 2, 3, 4, 5]
    assert row(match).made_at == house.now


def test_before_the_end_nothing_is_judged_and_nothing_is_told(house: House) -> None:
    match = house.started("Ailsa", "Bran", game="noughts", setup={"first": 0})
    for text in WON[:-1]:
        house.move(match, text)
    assert run(house) == 0
    assert Analysis.select().count() == 0
    Analysis.insert(match=match, chances=[[0, 500, 500]]).execute()
    assert judged(match) is None
    assert not analysis.awaited(log.get(match.id))


def test_what_changed_nothing_has_the_chances_before_it(house: House) -> None:
    match = house.started("Ailsa", "Bran", game="noughts", setup={"first": 0})
    house.move(match, "a1")
    seating.resign(match.id, house.people["Ailsa"], "web", now=house.now)
    run(house)
    found = judged(match)
    assert found
    assert found.steps == (0, 1, 2)
    assert found.after(2) == (0, 1)


def test_two_schedulers_judge_each_step_once(house: House) -> None:
    matches = [over(house) for _ in range(3)]
    thinkers = [Watched(), Watched()]
    for _ in range(6):
        in_parallel(*(lambda thinker=thinker: run(house, thinker, limit=4) for thinker in thinkers))
    asked = thinkers[0].asked + thinkers[1].asked
    assert sorted(asked) == sorted([0, 1, 2, 3, 4, 5] * 3)
    assert all(judged(match) for match in matches)


def test_while_one_is_at_a_match_another_goes_on_with_the_next(house: House) -> None:
    older, newer = over(house), over(house)
    held = analysis.claim(newer, house.now)
    assert held
    assert analysis.claim(newer, house.now) is None
    assert analysis.due(house.now, 5) == [older]
    run(house)
    assert judged(older)
    assert not judged(newer)


def test_who_is_stopped_has_lost_only_a_step(house: House) -> None:
    match, thinker = over(house), Watched()
    assert run(house, thinker, limit=2) == 2
    assert [seq for seq, *_ in row(match).draft["chances"]] == [0, 1]
    assert judged(match) is None
    thinker.fault = CancelledError()
    assert run(house, thinker) == 0
    thinker.fault = None
    assert run(house, thinker) == 4
    assert thinker.asked == [0, 1, 2, 2, 3, 4, 5]
    assert judged(match)


def test_when_the_thinkers_have_stopped_nothing_is_held_up(house: House) -> None:
    match, stopped = over(house), Thinkers(1, 0)
    stopped.stop()
    assert run(house, stopped) == 0
    assert (row(match).fault, row(match).tries, row(match).leased_until) == ("", 0, None)
    run(house)
    assert judged(match)


def test_a_scheduler_that_died_holds_a_match_for_one_lease_and_its_late_word_is_not_taken(house: House) -> None:
    match = over(house)
    dead = analysis.claim(match, house.now)
    assert dead
    assert run(house) == 0
    house.later(seconds=analysis.LEASE.total_seconds())
    assert run(house) == 6
    before = row(match).chances
    assert not analysis._store(dead, chances=[])
    assert row(match).chances == before


def test_a_match_that_fails_is_noted_and_given_up_and_the_others_are_judged(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    match = over(house)
    thinker = Watched()
    thinker.fault = ZeroDivisionError("by a mind")
    for number in range(1, analysis.TRIES + 1):
        assert run(house, thinker) == run(house, thinker) == 0
        assert (row(match).tries, row(match).fault) == (number, "ZeroDivisionError: by a mind")
        house.later(seconds=analysis.LEASE.total_seconds())
    assert len(thinker.sent) == analysis.TRIES, "after a fault the match is left alone for a while"
    thinker.fault = None
    sound = over(house)
    run(house, thinker)
    assert judged(sound)
    assert judged(match) is None
    assert not analysis.awaited(log.get(match.id))
    assert analysis.due(house.now, 5) == []
    assert f"match {match.id} is not judged: ZeroDivisionError: by a mind" in caplog.text


def test_a_frozen_match_is_given_up_at_once(house: House) -> None:
    frozen, sound = over(house), over(house)
    damage(frozen, 2, "a3")
    run(house)
    assert "frozen" in row(frozen).fault
    assert judged(sound)
    assert analysis.due(house.later(days=1), 5) == []


def test_a_better_judge_judges_again_and_the_old_view_stands_until_then(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = over(house)
    run(house)
    fresh = over(house)
    run(house, limit=2)
    monkeypatch.setattr(analysis, "VERSION", analysis.VERSION + 1)
    monkeypatch.setattr(analysis, "PLAYOUTS", 10)
    assert analysis.due(house.now, 5) == [fresh, match]
    assert playouts(match) == 20
    thinker = Watched()
    run(house, thinker, limit=7)
    assert thinker.asked == [0, 1, 2, 3, 4, 5, 0], "what the old judge had begun is begun anew"
    assert playouts(match) == 20
    run(house)
    assert [playouts(each) for each in (match, fresh)] == [10, 10]
    assert analysis.due(house.now, 5) == []


def test_a_bettered_judge_tries_again_what_was_given_up(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = over(house)
    analysis._close(analysis.claim(match, house.now), fault="no")
    assert run(house) == 0
    monkeypatch.setattr(analysis, "VERSION", analysis.VERSION + 1)
    run(house)
    assert judged(match)
    assert row(match).fault == ""


def test_the_newest_end_comes_first_and_what_was_imported_last(house: House) -> None:
    oldest, older, imported, newest = (over(house) for _ in range(4))
    Match.update(imported_at=house.now).where(Match.id == imported.id).execute()
    assert analysis.due(house.now, 5) == [newest, older, oldest, imported]
    assert analysis.due(house.now, 2) == [newest, older]
    while run(house):
        pass
    assert judged(imported)


def test_what_was_called_off_and_what_nobody_will_look_at_is_not_judged(house: House) -> None:
    off = house.started("Ailsa", "Bran", game="noughts", setup={"first": 0})
    seating.cancel(off.id, house.people["Ailsa"], "web", now=house.now)
    gone, alive = over(house), over(house)
    Match.update(unlisted=True).where(Match.id.in_([gone.id, alive.id])).execute()
    User.update(deleted_at=house.now).where(User.id == gone.host_id).execute()
    Match.update(host=house.people["Bran"]).where(Match.id == alive.id).execute()
    assert not analysis.awaited(log.get(gone.id))
    run(house)
    assert [judged(match) is not None for match in (off, gone, alive)] == [False, False, True]
    assert analysis.due(house.now, 5) == []


def test_a_game_without_a_mind_is_not_judged(house: House) -> None:
    match = house.finish(house.started("Ailsa", "Bran", game="clans"))
    assert not analysis.awaited(match)
    assert analysis.due(house.now, 5) == []


def test_what_is_handed_over_is_a_kind_and_a_log_and_no_more(house: House) -> None:
    match, thinker = over(house), Watched()
    run(house, thinker)
    function, given = pickle.loads(thinker.sent[3])
    assert function is judging.judge
    kind, setup, seats, options, rows, count, _ = given
    assert (kind, setup, seats, options, count) == ("noughts", {"first": 0}, 2, {}, 20)
    assert [each.text for each in rows] == list(WON[:3]), "nor what came after the step in question"
    assert bytes(match.secret).hex().encode() not in thinker.sent[0]


def test_what_is_due_is_found_by_an_index(house: House) -> None:
    over(house)
    asked: list[tuple[str, Any]] = []
    execute = db.database.obj.execute_sql
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(db.database.obj, "execute_sql", lambda *given: asked.append(given) or execute(*given))
        analysis.due(house.now, 5)
    assert asked
    if db.on_sqlite():
        plans = ["; ".join(line[3] for line in execute(f"EXPLAIN QUERY PLAN {sql}", given)) for sql, given in asked]
        assert all("match_judged" in plan and "TEMP B-TREE" not in plan for plan in plans), plans

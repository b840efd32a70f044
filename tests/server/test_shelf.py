"""What is kept of replayed matches: never anything that the database does not say."""

from __future__ import annotations

import pytest
from house import House

from engine import replay
from server import audit, lobby, log
from server.models.statements import Statement
from server.shelf import Shelf


def test_what_is_kept_is_found_by_the_rows_it_was_made_of() -> None:
    shelf: Shelf[str] = Shelf()
    shelf.keep(1, [(0, "a"), (1, "b")], "two rows")
    assert shelf.find(1, [(0, "a"), (1, "b"), (2, "c")]) == "two rows"
    assert shelf.find(1, [(0, "a")]) is None
    assert shelf.find(1, [(0, "a"), (1, "x"), (2, "c")]) is None
    assert shelf.find(2, [(0, "a"), (1, "b")]) is None


def test_what_was_asked_for_last_stays() -> None:
    shelf: Shelf[str] = Shelf(most=5)
    shelf.keep(1, [(0,), (1,)], "first")
    shelf.keep(2, [(0,), (1,)], "second")
    assert shelf.find(1, [(0,), (1,)]) == "first"
    shelf.keep(3, [(0,), (1,)], "third")
    assert shelf.find(2, [(0,), (1,)]) is None
    assert shelf.find(1, [(0,), (1,)]) == "first"
    shelf.keep(4, [(n,) for n in range(6)], "too long for it")
    assert shelf.find(4, [(n,) for n in range(6)]) is None


def test_a_match_goes_on_from_where_it_stood(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.begun("Ailsa", "Bran")
    log.read(match)
    monkeypatch.setattr(replay, "positions", lambda *_: pytest.fail("it was replayed from the start"))
    for _move in range(4):
        house.move(match)
    assert log.read(log.get(match.id)).position.seq == 6


def test_going_on_leads_where_a_replay_from_the_start_leads(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.started("Ailsa", "Bran", clock={"move": 0, "bank": 86400, "increment": 3600, "takeback": True})
    for _move in range(8):
        house.later(minutes=7)
        house.move(match)
        gone_on = log.read(log.get(match.id))
        monkeypatch.setattr(log, "_shelf", Shelf())
        anew = log.read(log.get(match.id))
        assert (gone_on.rows, gone_on.positions, gone_on.last_hash) == (anew.rows, anew.positions, anew.last_hash)
        for seat in range(2):
            assert gone_on.clocks.clock(seat) == anew.clocks.clock(seat)
            assert gone_on.clocks.used(seat, house.now) == anew.clocks.used(seat, house.now)
        assert audit.verify(match.id) == []


def test_what_was_read_stays_as_it_was_when_the_match_goes_on(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    before = log.read(match)
    clocks = [before.clocks.clock(seat) for seat in range(2)]
    house.move(match)
    log.read(log.get(match.id))
    assert before.position.seq == len(before.rows) == 2
    assert [before.clocks.clock(seat) for seat in range(2)] == clocks


def test_a_move_that_fails_half_way_leaves_nothing_behind(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.begun("Ailsa", "Bran")
    monkeypatch.setattr("server.notify.advanced", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        house.move(match)
    monkeypatch.undo()
    assert log.read(log.get(match.id)).position.seq == 2
    house.move(match)
    assert audit.verify(match.id) == []


def test_a_match_of_another_database_with_the_same_number_is_another(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    log.read(match)
    other = house.begun("Catrin", "Dugald")
    own, others = (log._ROWS.tuples(match=number) for number in (match.id, other.id))
    assert log._shelf.find(match.id, own) is not None
    assert log._shelf.find(match.id, others) is None


def test_whoever_sits_down_while_others_look_breaks_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    table = house.table("Ailsa", seats=3)
    rows = Statement.rows
    seen = []

    def rows_and_then_somebody_comes(self: object, **values: object) -> object:
        found = rows(self, **values)
        if not seen:
            seen.append(True)
            lobby.join(table.id, house.people["Bran"], now=house.now)
        return found

    monkeypatch.setattr(Statement, "rows", rows_and_then_somebody_comes)
    assert len(log.places(table)) in {1, 2}
    assert len(log.places(table)) == 2

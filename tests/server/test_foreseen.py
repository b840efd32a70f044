"""A move is thought out before its match is held, and what happens meanwhile is as if it had been held all along."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from house import House
from together import in_parallel, refused

from engine.base import State
from server import accounts, ahead, audit, db, foresight, keeping, log, play, preferences, seating
from server.desk import Desk, foreseeing
from server.errors import Refused
from server.models import ClientKey, LogRow, Match, Outbox, Prepared, Seat, User
from server.models.statements import insertion


def moving(house: House, match: Match, key: str = "k") -> Callable[[], play.Done]:
    """Return what makes the next move, as its player's page or program does."""
    played = house.played(match)
    seat = played.position.to_act[0]
    text, by = played.view(seat).moves[0], log.places(match)[seat].user
    asked = log.expected(played, seat)
    return lambda: play.submit(match.id, seat, text, asked, by, "web", now=house.now, key=key)


def waiting(match: Match) -> User:
    """Return somebody who is not awaited."""
    return next(seat.user for seat in log.places(match) if seat.number not in match.awaited)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let something happen once, by another thread, when a move has been thought out and is not yet stored."""
    follow, left = ahead.follow, [act]

    def after(desk: Desk) -> None:
        follow(desk)
        if left:
            (result,) = in_parallel(left.pop())
            assert not isinstance(result, str), result

    monkeypatch.setattr(ahead, "follow", after)


def stored() -> tuple[int, ...]:
    return tuple(table.select().count() for table in (LogRow, Outbox, ClientKey))


def held(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the first words of all statements that are carried out while others wait."""
    kind, found = type(db.database.obj), []
    execute = kind.execute_sql

    def noted(self: Any, sql: str, params: Any = None) -> Any:
        if self.in_transaction():
            found.append(" ".join(sql.split()[:3]).replace('"', ""))
        return execute(self, sql, params)

    monkeypatch.setattr(kind, "execute_sql", noted)
    return found


def test_a_match_is_held_for_no_longer_than_its_move_is_stored(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.started("Ailsa", "Bran")
    move, statements = moving(house, match), held(monkeypatch)
    move()
    asked = [one for one in statements if one.startswith("SELECT")]
    assert len(asked) == 3, "as the match is, what people wish for, and whether the next player has a move ready"
    told = [one for one in statements if not one.startswith("SELECT")]
    assert told == ["INSERT INTO log", "INSERT INTO client_key", "UPDATE match SET", told[-1]]
    assert "INTO outbox" in told[-1] or told[-1] == "INSERT OR IGNORE"


def test_others_write_while_a_move_is_thought_out(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match, other = house.started("Ailsa", "Bran"), house.started("Ailsa", "Bran")
    move, done = moving(house, match), []
    meanwhile(monkeypatch, lambda: done.append(moving(house, other, "another")()))
    move()
    assert [len(house.played(each).rows) for each in (match, other)] == [1, 1]
    assert len(done) == 1


def test_a_move_that_is_overtaken_by_another_row_is_judged_anew(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    move, opponent = moving(house, match), waiting(log.get(match.id))
    meanwhile(monkeypatch, lambda: seating.resign(match.id, opponent, "web", now=house.now))
    move()
    assert [row.kind for row in house.played(match).rows] == ["resign", "takeover", "move"]
    assert audit.verify(match.id) == []


def test_of_two_who_send_the_same_move_at_once_the_later_is_told_what_happened(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = house.started("Ailsa", "Bran")
    first, second = moving(house, match, "one"), moving(house, match, "two")
    meanwhile(monkeypatch, first)
    with refused("stale"):
        second()
    assert len(house.played(match).rows) == 1
    assert [key.key for key in ClientKey.select()] == ["one"]


def test_a_match_that_is_frozen_meanwhile_takes_no_move(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.started("Ailsa", "Bran")
    move = moving(house, match)
    meanwhile(monkeypatch, lambda: keeping.freeze(match.id, house.people["Catrin"], "a look", house.now))
    with refused("frozen"):
        move()
    assert "move" not in [row.kind for row in house.played(match).rows]
    assert not ClientKey.select().exists()


def test_a_move_that_is_readied_meanwhile_is_made(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.started("Ailsa", "Bran")
    move, opponent = moving(house, match), waiting(log.get(match.id))
    text = _fitting(house, match)
    meanwhile(monkeypatch, lambda: ahead.prepare(match.id, opponent, text, now=house.now))
    move()
    assert [row.via for row in house.played(match).rows] == ["web", "auto"]


def _fitting(house: House, match: Match) -> str:
    """Return a move that the second player can make after the first move of the first, whichever that is."""
    played = house.played(match)
    after = _after_first(played)
    return played.game.view(after, after.to_act[0], None).moves[-1]


def _after_first(played: log.Played) -> State:
    """Return where the match stands after the first of the moves that may be made."""
    seat, state = played.position.to_act[0], played.position.state
    return state.apply(seat, played.game.parse(state, seat, _first(played)))


def _first(played: log.Played) -> str:
    return played.view(played.position.to_act[0]).moves[0]


def test_who_chooses_meanwhile_when_to_be_reminded_is_reminded_then(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = house.started("Ailsa", "Bran")
    move, opponent = moving(house, match), waiting(log.get(match.id))
    wishes = preferences.Wishes(zone=opponent.zone, nights=opponent.nights, reminders="10")
    meanwhile(monkeypatch, lambda: preferences.settle(opponent, wishes, house.now))
    move()
    assert log.get(match.id).reminder_at == house.now + timedelta(seconds=match.clock["move"] / 10)


def test_who_takes_mails_again_meanwhile_is_told_of_his_turn(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    match = house.started("Ailsa", "Bran")
    move, opponent = moving(house, match), waiting(log.get(match.id))
    User.update(mail_stopped="bounced").where(User.id == opponent.id).execute()
    meanwhile(monkeypatch, lambda: accounts.try_mail_again(opponent, house.now))
    move()
    assert [mail.kind for mail in Outbox.select().where(Outbox.user == opponent)] == ["start", "turn"]


def test_a_match_in_which_somebody_is_reminded_meanwhile_is_looked_at_anew(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    chosen = house.now + timedelta(minutes=5)

    def remind() -> None:
        Match.update(reminder_at=chosen).where(Match.id == match.id).execute()

    def nudge() -> None:
        with foreseeing(match.id, house.now) as desk:
            desk.put("nudge", 0, "", "web")
            in_parallel(remind)

    with pytest.raises(foresight.Overtaken):
        nudge()
    assert log.get(match.id).reminder_at == chosen


def test_a_move_readied_meanwhile_by_somebody_who_is_moved_for_is_looked_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = house.started("Ailsa", "Bran", "Catrin")
    next_seat = _after_first(house.played(match)).to_act[0]
    forced = log.places(match)[next_seat].user
    User.update(forced=True).where(User.id == forced.id).execute()
    # Of his many moves one is the only one.
    monkeypatch.setattr(
        ahead,
        "_only_move",
        lambda played, seat: _first(played) if (seat, played.position.seq) == (next_seat, 1) else "",
    )
    text = _fitting(house, match)
    meanwhile(monkeypatch, lambda: ahead.prepare(match.id, forced, text, now=house.now))
    moving(house, match)()
    assert [row.text for row in house.played(match).rows][1:] == [text]
    assert not Prepared.select().exists()


def _in_another_way(house: House, match: Match) -> None:
    with foreseeing(match.id, house.now) as desk:
        desk.put("nudge", 0, "", "web")
        Seat.update(guided=True).execute()


def _in_another_way_that_is_passed_over(house: House, match: Match) -> None:
    with foreseeing(match.id, house.now) as desk:
        desk.put("nudge", 0, "", "web")
        with suppress(Exception):
            Seat.update(guided=True).execute()


def _inside_a_transaction(house: House, match: Match) -> None:
    with db.transaction(), foreseeing(match.id, house.now) as desk:
        desk.put("nudge", 0, "", "web")


def _in_another_way_that_is_told_otherwise(house: House, match: Match) -> None:
    with foreseeing(match.id, house.now) as desk:
        desk.put("nudge", 0, "", "web")
        try:
            Seat.update(guided=True).execute()
        except Exception as fault:
            raise Refused("bad-input", "no") from fault


def _in_a_transaction_that_is_undone(house: House, match: Match) -> None:
    with foreseeing(match.id, house.now) as desk, suppress(Exception), db.transaction():
        desk.put("nudge", 0, "", "web")


def _inside_another(house: House, match: Match) -> None:
    with foreseeing(match.id, house.now) as desk:
        with suppress(Exception), foreseeing(match.id, house.now):
            pass
        desk.put("nudge", 0, "", "web")


@pytest.mark.parametrize(
    "change",
    [
        _in_another_way,
        _in_another_way_that_is_passed_over,
        _in_another_way_that_is_told_otherwise,
        _in_a_transaction_that_is_undone,
        _inside_a_transaction,
        _inside_another,
    ],
)
def test_what_is_stored_in_another_way_is_not_stored_without_the_rest(
    house: House, change: Callable[[House, Match], None]
) -> None:
    match = house.started("Ailsa", "Bran")
    before = stored()
    with pytest.raises(foresight.Overtaken):
        change(house, match)
    assert stored() == before
    assert not Seat.select().where(Seat.guided).exists()


def test_after_a_fault_all_is_stored_at_once_again(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    before = stored()
    with suppress(ZeroDivisionError), foreseeing(match.id, house.now) as desk:
        desk.put("nudge", 0, "", "web")
        raise ZeroDivisionError
    assert stored() == before
    Seat.update(guided=True).execute()
    assert Seat.select().where(Seat.guided).exists()


def test_of_what_is_stored_together_the_fault_of_the_first_that_fails_is_told(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    insert = insertion(ClientKey, "user", "key", "match", "seq", "at")
    by, before = house.people["Ailsa"].id, stored()
    # So much that the first is answered before the last is sent.
    many = [("x" * 60, 1), ("x" * 60, 1), *((f"{n:030}" * 2, n) for n in range(3000))]

    def store() -> None:
        with foresight.foreseen(lambda: True):
            for key, seq in many:
                insert.put(user=by, key=key, match=match.id, seq=seq, at=house.now)

    with pytest.raises(db.Duplicate):
        store()
    assert stored() == before


def test_a_move_that_ends_a_match_is_stored_with_its_scores(house: House) -> None:
    match = house.finish(house.started("Ailsa", "Bran"))
    assert audit.verify(match.id) == []
    assert all(seat.score is not None for seat in log.places(match))

"""Statements that are written once: they find and store what the same query would."""

from __future__ import annotations

from datetime import timedelta

import peewee
import pytest
from house import START, House

from server import db
from server.models import LogRow, Match, Outbox, Seat, User
from server.models.statements import Sized, Statement, change, insertion


def test_a_statement_finds_what_the_query_finds(house: House) -> None:
    match = house.begun("Ailsa", "Bran")
    for model, query in (
        (Match, lambda match: Match.select().where(Match.id == match)),
        (Seat, lambda match: Seat.select().where(Seat.match == match).order_by(Seat.id)),
        (User, lambda match: User.select().where(User.id.in_(Seat.select(Seat.user).where(Seat.match == match)))),
        (LogRow, lambda match: LogRow.select().where(LogRow.match == match).order_by(LogRow.seq)),
    ):
        found = Statement[model](query).rows(match=match.id)
        assert [one.__data__ for one in found] == [one.__data__ for one in query(match.id)]
        assert not any(one.dirty_fields for one in found)


def test_a_statement_is_written_once_and_filled_each_time(house: House) -> None:
    written = []

    def write(name: object) -> object:
        written.append(name)
        return User.select().where(User.name == name)

    statement = Statement[User](write)
    assert [statement.first(name=name).id for name in ("Ailsa", "Bran")] == [
        house.people[name].id for name in ("Ailsa", "Bran")
    ]
    assert statement.first(name="nobody") is None
    assert len(written) <= 2  # once for the words, once for what it reads


def test_a_statement_about_numbers_takes_as_many_as_there_are(house: House) -> None:
    statement = Sized[User](lambda numbers: User.select().where(User.id.in_(numbers)).order_by(User.id))
    numbers = [user.id for user in User.select().order_by(User.id)]
    for count in range(len(numbers) + 1):
        assert [user.id for user in statement.among(numbers[:count])] == numbers[:count]
    assert [user.name for user in statement.among({numbers[0], 10**6})] == ["Ailsa"]


def test_a_statement_about_more_numbers_than_a_database_takes_asks_in_parts(house: House) -> None:
    """PostgreSQL takes 65,535 values in a statement, SQLite 32,766."""
    statement = Sized[User](lambda numbers: User.select().where(User.id.in_(numbers)))
    numbers = [user.id for user in User.select().order_by(User.id)]
    many = [*numbers, *range(10**6, 10**6 + 70_000), *numbers]
    assert sorted(user.id for user in statement.among(many)) == numbers, "each is found once"


def test_a_change_stores_what_the_fields_want(house: House) -> None:
    match = house.started("Ailsa", "Bran")
    fields = {"deadline": START + timedelta(days=1), "bot_acts": True, "options": {"a": "b"}, "reason": "a\0b"}
    assert change(Match, fields).run(id=match.id, **fields) == 1
    changed = Match.get_by_id(match.id)
    assert (changed.deadline, changed.bot_acts, changed.options) == (START + timedelta(days=1), True, {"a": "b"})
    assert changed.reason == "ab"  # no database of ours holds NUL
    assert change(Match, ["reason"]).run(id=10**6, reason="") == 0


def test_an_insertion_takes_the_defaults_of_what_is_not_named(house: House) -> None:
    given = {
        "key": "k",
        "kind": "turn",
        "address": "a@example.org",
        "facts": {},
        "message_id": "m",
        "created_at": START,
        "due_at": START,
    }
    with db.transaction():
        assert insertion(Outbox, *given, ignoring=True).run(**given) == 1
        assert insertion(Outbox, *given, ignoring=True).run(**given) == 0
    mail = Outbox.get(Outbox.key == "k")
    assert (mail.state, mail.attempts, mail.user, mail.facts, mail.due_at) == ("queued", 0, None, {}, START)
    with pytest.raises(peewee.IntegrityError), db.transaction():
        insertion(Outbox, *given).run(**given)


def test_a_statement_refuses_what_it_was_not_written_for(house: House) -> None:
    with pytest.raises(KeyError):
        Statement[User](lambda name: User.select().where(User.name == name)).rows(nme="Ailsa")

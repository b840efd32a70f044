"""Personal tokens: made, used, taken away, and ended with whatever ends their owner's sessions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from house import House

from server import accounts, db, links, tokens
from server.errors import Refused
from server.models import Token, User


def fresh(house: House, name: str = "Ailsa") -> User:
    return User.get_by_id(house.people[name].id)


def test_a_token_says_whose_it_is_and_what_it_is_for(house: House) -> None:
    ailsa = house.people["Ailsa"]
    token = tokens.make(ailsa, " My  bot ", ["play", "read"], house.now)
    held = tokens.holder(token, house.now)
    assert held is not None
    assert (held.user.id, held.user.name, held.scopes) == (ailsa.id, "Ailsa", {"read", "play"})
    assert [(one.label, one.scopes, one.number) for one in tokens.made(ailsa, house.now)] == [
        ("My bot", "read play", held.number)
    ]


def test_the_database_knows_only_the_hash_of_a_token(house: House) -> None:
    token = tokens.make(house.people["Ailsa"], "A bot", ["read"], house.now)
    assert token.startswith("clachan_")
    kept = Token.get()
    assert bytes(kept.hash) == links.digest(token)
    assert token not in str(kept.__data__)


def test_what_is_no_token_is_nobodys(house: House) -> None:
    tokens.make(house.people["Ailsa"], "A bot", ["read"], house.now)
    for text in ("", "clachan_", "clachan_x", "x", "\ud800", "clachan_\0"):
        assert tokens.holder(text, house.now) is None


def test_a_token_that_was_taken_away_does_nothing_any_more(house: House) -> None:
    ailsa = house.people["Ailsa"]
    token, other = (tokens.make(ailsa, name, ["read"], house.now) for name in ("One", "Two"))
    number = tokens.made(ailsa, house.now)[0].number
    with pytest.raises(Refused, match="no such token"):
        tokens.revoke(house.people["Bran"], number)
    tokens.revoke(ailsa, number)
    assert tokens.holder(token, house.now) is None
    assert tokens.holder(other, house.now) is not None
    for gone in (number, 0, 2**40):
        with pytest.raises(Refused) as refused:
            tokens.revoke(ailsa, gone)
        assert refused.value.code == "not-found"


def test_a_token_ends_when_its_time_is_over(house: House) -> None:
    ailsa = house.people["Ailsa"]
    token = tokens.make(ailsa, "A bot", ["read"], house.now, days=30)
    assert tokens.holder(token, house.later(days=29)) is not None
    assert tokens.holder(token, house.later(days=1)) is None
    assert tokens.made(ailsa, house.now) == []
    tokens.sweep(house.now)
    assert Token.select().count() == 0


def test_ending_all_sessions_ends_all_tokens(house: House) -> None:
    token = tokens.make(house.people["Ailsa"], "A bot", ["read"], house.now)
    accounts.sign_out_everywhere(house.people["Ailsa"])
    assert tokens.holder(token, house.now) is None
    assert tokens.made(fresh(house), house.now) == []
    again = tokens.make(fresh(house), "A bot", ["read"], house.now)
    assert tokens.holder(again, house.now) is not None
    assert Token.select().count() == 1  # the other is forgotten


def test_the_tokens_of_a_deleted_account_end(house: House) -> None:
    token = tokens.make(house.people["Ailsa"], "A bot", ["read"], house.now)
    accounts.forget(house.people["Ailsa"], house.now)
    assert tokens.holder(token, house.now) is None
    assert Token.select().count() == 0, "nor is what they were called kept"


def test_use_is_noted_once_a_day(house: House) -> None:
    ailsa, began = house.people["Ailsa"], house.now
    token = tokens.make(ailsa, "A bot", ["read"], began)
    assert tokens.made(ailsa, began)[0].used_at is None
    for _ in range(3):
        tokens.holder(token, house.later(hours=1))
    assert tokens.made(ailsa, house.now)[0].used_at == began + timedelta(hours=1)
    tokens.holder(token, house.later(days=1))
    assert tokens.made(ailsa, house.now)[0].used_at == house.now


def test_a_token_is_good_while_nothing_can_be_stored(cottage: House) -> None:
    token = tokens.make(cottage.people["Ailsa"], "A bot", ["read"], cottage.now)
    db.database.execute_sql("PRAGMA query_only = 1")
    try:
        assert tokens.holder(token, cottage.now) is not None
    finally:
        db.database.execute_sql("PRAGMA query_only = 0")


@pytest.mark.parametrize(
    ("label", "scopes", "days"),
    [("", ["read"], None), ("x" * 61, ["read"], None), ("x", [], None), ("x", ["read", "all"], None)]
    + [("x", ["read"], days) for days in (0, -1, 3651)],
)
def test_a_token_has_a_name_and_known_scopes(house: House, label: str, scopes: list[str], days: int | None) -> None:
    with pytest.raises(Refused) as refused:
        tokens.make(house.people["Ailsa"], label, scopes, house.now, days=days)
    assert refused.value.code == "bad-input"
    assert Token.select().count() == 0


def test_nobody_has_more_than_twenty_tokens(house: House) -> None:
    for day in range(tokens.MOST):
        tokens.make(house.people["Ailsa"], str(day), ["read"], house.later(hours=6))
    with pytest.raises(Refused, match="20 tokens"):
        tokens.make(house.people["Ailsa"], "x", ["read"], house.later(hours=6))


def test_a_visitor_makes_no_token(house: House) -> None:
    visitor = house.person("Eimhir", confirmed_at=None, visitor_until=house.now + timedelta(days=1))
    with pytest.raises(Refused) as refused:
        tokens.make(visitor, "A bot", ["read"], house.now)
    assert refused.value.code == "unconfirmed"

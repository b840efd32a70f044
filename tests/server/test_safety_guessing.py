"""Guessing: nobody learns who has an account, and whoever tries too often is put off."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from statistics import median
from types import SimpleNamespace
from typing import Any

import argon2
import flask
import pytest
from house import House
from visitor import Visitor, application

from server import accounts, db
from server.errors import Refused

PASSWORD = "correct horse battery"


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> argon2.PasswordHasher:
    """Let passwords be hashed in a moment, where it is not the time that matters."""
    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", hasher)
    monkeypatch.setattr(accounts, "_DECOY", hasher.hash("nobody"))
    return hasher


def furnished(house: House) -> tuple[str, ...]:
    """Have people of every kind with a password; return their names, and those of nobody."""
    stored_as = accounts.hashed({"password": PASSWORD})["password"]
    house.person("Eimhir", password=stored_as)
    house.person("Fearghas", password=stored_as, confirmed_at=None)
    house.person("Gillean", deleted_at=house.now)
    return ("Eimhir", "Fearghas", "Gillean", "Ailsa", "nobody", "nobody@example.org")


def wrong(house: House, name: str, turn: int) -> None:
    """Try to sign in with a wrong password."""
    with pytest.raises(Refused, check=lambda fault: fault.code == "bad-credentials"):
        accounts.sign_in(name, f"wrong {turn}", source=f"192.0.2.{turn}", now=house.now)


def test_s5_signing_in_asks_for_one_hash_whoever_is_meant(
    cottage: House, monkeypatch: pytest.MonkeyPatch, cheap: argon2.PasswordHasher
) -> None:
    hashed: list[str] = []
    names = furnished(cottage)
    keeping = SimpleNamespace(verify=lambda stored_as, word: hashed.append(stored_as) or cheap.verify(stored_as, word))
    monkeypatch.setattr(accounts, "_hasher", keeping)
    for count, name in enumerate(names, 1):
        wrong(cottage, name, 1)
        assert len(hashed) == count
    assert len({text.rsplit("$", 2)[0] for text in hashed}) == 1, "of one price"


@pytest.mark.hardship
def test_s5_signing_in_takes_the_same_time_whoever_is_meant(house: House) -> None:
    took: dict[str, list[float]] = {name: [] for name in furnished(house)}
    for turn in range(9):
        for name, times in took.items():
            began = time.process_time()
            wrong(house, name, turn)
            times.append(time.process_time() - began)
    middle = [median(times) for times in took.values()]
    # A hash takes tens of milliseconds, all else together hardly one.
    assert max(middle) < 1.5 * min(middle), took


def test_s5_asking_for_a_new_password_writes_as_much_for_nobody(
    house: House, app_of: Callable[[House], flask.Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = Visitor(app_of(house))
    answers, writes = [], []
    for address in ("ailsa@example.org", "nobody@example.org"):
        token, told = stranger.token(), Statements(db.database.obj)
        with monkeypatch.context() as patch:
            patch.setattr(db.database.obj, "execute_sql", told)
            page = stranger.client.post("/forgot", data={"csrf_token": token, "email": address}, follow_redirects=True)
        answers.append((page.status_code, re.sub(r'"csrf[^>]+', "", page.text)))
        writes.append(sum(sql.startswith(("INSERT", "UPDATE", "DELETE")) for sql in told.seen))
    assert answers[0] == answers[1]
    assert writes[0] == writes[1]


class Statements:
    """Passes statements on to a database, and keeps them."""

    def __init__(self, database: Any) -> None:
        self.pass_on, self.seen = database.execute_sql, []

    def __call__(self, sql: str, *rest: Any, **more: Any) -> Any:
        """Keep a statement and pass it on."""
        self.seen.append(sql)
        return self.pass_on(sql, *rest, **more)


@pytest.fixture
def app_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[House], flask.Flask]:
    return lambda house: application(house, monkeypatch)


@pytest.mark.usefixtures("cheap")
def test_s6_who_guesses_is_stopped_whatever_address_he_says_and_his_victim_is_not(
    cottage: House, app: flask.Flask
) -> None:
    cottage.person("Eimhir", password=accounts.hashed({"password": PASSWORD})["password"])

    def enter(password: str, source: str, **headers: str) -> int:
        visitor = Visitor(app)
        data = {"csrf_token": visitor.token(), "name": "Eimhir", "password": password}
        asked = visitor.client.post("/signin", data=data, headers=headers, environ_base={"REMOTE_ADDR": source})
        return int(asked.status_code)

    guesses = [enter(f"wrong {turn}", "192.0.2.7", X_Forwarded_For=f"198.51.100.{turn}") for turn in range(14)]
    assert guesses == [403] * 12 + [429] * 2
    assert enter(PASSWORD, "192.0.2.7") == 429, "not even the right one, or guessing would go on"
    assert enter(PASSWORD, "203.0.113.9") == 302

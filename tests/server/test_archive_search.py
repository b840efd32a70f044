"""The archive is searched: every question has the answer that going through all matches would give, and has it soon."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from house import START, House
from together import refused

from server import archive, companions, db
from server.models import Match, Seat, User

REASONS = ("twelfth village", "no move left", "last card laid", "resignation", "agreement", "cancelled")
NAMES = [f"Player {number}" for number in range(200)]


def insert(model: Any, rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), 500):
        model.insert_many(rows[start : start + 500]).execute()


def fill(count: int, names: list[str]) -> list[dict[str, Any]]:
    """Write finished matches past all services; return what is true of each, newest first."""
    chance = random.Random(count)
    with db.transaction():
        insert(
            User,
            [{"name": name, "name_key": name.casefold(), "session_key": "", "created_at": START} for name in names],
        )
        people = {user.name: user.id for user in User.select().where(User.name.in_(names))}
        bot = companions.stand_in(START)
        facts = [fact(number, chance, names) for number in range(1, count + 1)]
        matches, seats = [], []
        for each in facts:
            matches.append(
                {
                    "id": each["id"],
                    "game": each["game"],
                    "rules": 1,
                    "options": {},
                    "seats": len(each["seats"]),
                    "clock": {},
                    "seating": "join",
                    "autostart": True,
                    "invited_only": False,
                    "host": people[each["seats"][0][0]],
                    "created_at": START,
                    "secret": b"",
                    "status": "finished",
                    "finished_at": each["at"],
                    "length": each["length"],
                    "reason": each["reason"],
                    "rated": each["rated"],
                }
            )
            seats += [
                {
                    "match": each["id"],
                    "number": number,
                    "owner": people[owner],
                    "user": bot if user == "Bot" else people[user],
                    "contribution": "",
                    "joined_at": START,
                    "score": 7,
                    "won": won,
                }
                for number, (owner, user, won) in enumerate(each["seats"])
            ]
        insert(Match, matches)
        insert(Seat, seats)
    return sorted(facts, key=lambda each: (each["at"], each["id"]), reverse=True)


def fact(number: int, chance: random.Random, names: list[str]) -> dict[str, Any]:
    """Return what is true of a match: its seats hold who sat there first, who last, and whether he won."""
    # A few are in most matches, most in a few.
    people = sorted(set(chance.choices(names, weights=[1 / (place + 1) for place in range(len(names))], k=5)))
    chance.shuffle(people)
    owners, spare = people[: min(len(people) - 1, chance.choice([2, 3, 4]))], people[-1]
    if len(owners) < 2:
        owners, spare = [*people, *[name for name in names if name not in people][: 2 - len(people)]], names[-1]
    users = [chance.choices([owner, "Bot", spare], weights=[9, 1, 1])[0] for owner in owners]
    reason = chance.choice(REASONS)
    winners = () if reason == "cancelled" else chance.sample(range(len(owners)), chance.choice([1, 1, 1, 2]))
    return {
        "id": number,
        "game": chance.choice(["clans", "glory"]),
        "at": START + timedelta(minutes=chance.randrange(3_000_000)),
        "length": chance.randint(5, 120),
        "reason": reason,
        "rated": chance.random() < 0.7,
        "seats": [(owner, user, seat in winners) for seat, (owner, user) in enumerate(zip(owners, users, strict=True))],
    }


def fits(each: dict[str, Any], terms: dict[str, Any]) -> bool:
    """Whether a match is asked for, worked out without a database."""
    length, day = each["length"], each["at"].date()
    return (
        sat(each["seats"], terms)
        and each["game"] == terms.get("game", each["game"])
        and each["reason"] == terms.get("reason", each["reason"])
        and each["rated"] == terms.get("rated", each["rated"])
        and terms.get("least", length) <= length <= terms.get("most", length)
        and terms.get("since", day) <= day <= terms.get("until", day)
    )


def sat(seats: list[tuple[str, str, bool]], terms: dict[str, Any]) -> bool:
    """Whether the people asked for sat in different seats, and the first had the result asked for."""
    people, result = [terms[key] for key in ("player", "opponent") if key in terms], terms.get("result", "")
    winners = [place for place, (_, _, won) in enumerate(seats) if won]
    if not people:
        return not result or len(winners) > 1
    for places in itertools.permutations(range(len(seats)), len(people)):
        came_to = {
            "": True,
            "won": winners == [places[0]],
            "shared": places[0] in winners and len(winners) > 1,
            "lost": bool(winners) and places[0] not in winners,
        }
        if came_to[result] and all(name in seats[at][:2] for name, at in zip(people, places, strict=True)):
            return True
    return False


def questions(chance: random.Random, names: list[str], count: int) -> list[dict[str, Any]]:
    """Return questions in which each thing is asked or not."""
    found = []
    for _ in range(count):
        since = (START + timedelta(days=chance.randrange(2000))).date()
        least = chance.randint(5, 100)
        player, opponent = chance.sample(names, 2)
        terms = {
            "game": chance.choice(["clans", "glory", "chess"]),
            "player": player,
            "opponent": opponent,
            "result": chance.choice(archive.RESULTS),
            "reason": chance.choice(REASONS),
            "since": since,
            "until": since + timedelta(days=chance.randrange(900)),
            "least": least,
            "most": least + chance.randint(0, 60),
            "rated": chance.random() < 0.5,
        }
        asked = {key: value for key, value in terms.items() if chance.random() < 0.35}
        if asked.get("result") in {"won", "lost"}:
            asked["player"] = player
        found.append(asked)
    return found


def every(**terms: Any) -> list[int]:
    """Return the numbers of all matches that are found, page by page."""
    found, more = [], ""
    while True:
        page = archive.find(**terms, after=more)
        found += [match.id for match in page.matches]
        if not (more := page.more):
            return found


def test_every_question_is_answered_as_if_all_matches_were_gone_through(house: House) -> None:
    facts = fill(400, NAMES[:12])
    chance = random.Random(7)
    answers = 0
    for terms in questions(chance, NAMES[:12], 150):
        wanted = [each["id"] for each in facts if fits(each, terms)]
        assert every(**terms) == wanted, terms
        answers += len(wanted)
    assert answers > 1000


def test_the_same_matches_are_found_from_every_players_side(house: House) -> None:
    facts = fill(300, NAMES[:8])
    for one, other in itertools.permutations(NAMES[:8], 2):
        both = every(player=one, opponent=other)
        assert both == every(player=other, opponent=one)
        assert set(both) <= set(every(player=one)) & set(every(player=other))
    for name in NAMES[:8]:
        theirs = [each["id"] for each in facts if any(name in seat[:2] for seat in each["seats"])]
        assert every(player=name) == theirs


@pytest.mark.parametrize(
    "terms", [{"result": "won"}, {"result": "lost", "opponent": "Bran"}, {"result": "drawn"}, {"result": "won\0"}]
)
def test_a_result_is_somebodys(cottage: House, terms: dict[str, str]) -> None:
    with refused("bad-input"):
        archive.find(**terms)


def test_the_reasons_to_ask_for_are_those_for_which_matches_ended(house: House) -> None:
    assert archive.reasons() == []
    fill(100, NAMES[:4])
    Match.update(status="running").where(Match.reason == "agreement").execute()
    assert archive.reasons() == sorted({*REASONS} - {"agreement"})


def plans(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> list[str]:
    """Return how the database would go about each question that the work asks, where it has a choice by an index."""
    asked = []
    execute = db.database.obj.execute_sql

    def listen(sql: str, params: Any = None) -> Any:
        asked.append((sql, params))
        return execute(sql, params)

    with monkeypatch.context() as patched:
        patched.setattr(db.database.obj, "execute_sql", listen)
        work()
    if db.on_sqlite():
        return ["; ".join(row[3] for row in execute(f"EXPLAIN QUERY PLAN {sql}", params)) for sql, params in asked]
    with db.transaction():
        execute("SET LOCAL enable_seqscan = off")
        return ["; ".join(row[0] for row in execute(f"EXPLAIN {sql}", params)) for sql, params in asked]


WHOLE = re.compile(r"\bSCAN (?!CONSTANT)|Seq Scan")
TERMS: dict[str, Any] = {
    "game": "glory",
    "player": NAMES[0],
    "opponent": NAMES[150],
    "result": "shared",
    "reason": "cancelled",
    "since": START.date() + timedelta(days=200),
    "until": START.date() + timedelta(days=1900),
    "least": 110,
    "most": 118,
    "rated": True,
}


@pytest.mark.hardship
def test_ten_thousand_matches_are_searched_in_half_a_second_whatever_is_asked(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the deepest page, and what nothing fits; no question makes the database go through a whole table."""
    facts = fill(10_000, NAMES)
    if not db.on_sqlite():
        db.database.execute_sql("ANALYZE")
    old = facts[-30]
    deep = f"{int(old['at'].timestamp() * 1000)}-{old['id']}"
    asked = [dict(some) for size in range(3) for some in itertools.combinations(TERMS.items(), size)]
    asked += [TERMS, {"player": "Nobody"}, {"opponent": NAMES[199]}, {"game": "chess"}, {"reason": "none"}]
    asked += [{"player": NAMES[0], "result": result, "after": deep} for result in archive.RESULTS]
    asked += [{"after": deep}, {"least": 121}]
    spent = {}
    for terms in asked:
        began = time.perf_counter()
        page = archive.find(**terms)
        archive.players(page.matches)
        spent[str(terms)] = time.perf_counter() - began
        for plan in plans(monkeypatch, lambda terms=terms: archive.find(**terms)):
            assert not WHOLE.search(plan), (terms, plan)
    assert max(spent.values()) < 0.5
    assert not any(WHOLE.search(plan) for plan in plans(monkeypatch, archive.reasons))

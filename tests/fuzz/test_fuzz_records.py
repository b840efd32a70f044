"""Whatever is sent as a record is one that holds or is refused, and so are its parts, the time rules among them."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from fuzzing import Effort, chances, efforts, signs, spoilt, texts, told
from house import RECORDS, START, House
from hypothesis import strategies as some

from engine import counting, record, timerule
from engine.record import RecordError
from server import archive, db
from server.errors import Refused
from server.models import Imported, Match

NAMES = ("clans-01", "clans-undo", "clans-timeouts-and-takeover", "glory-face-down", "glory-end-four-players")
numbers = some.integers() | some.sampled_from((-1, 0, 1, 2**31, 2**63, 10**400)) | some.floats()
plain = some.recursive(
    some.none() | some.booleans() | numbers | texts | some.text(signs).map(lambda text: text * 900),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@cache
def original(name: str) -> tuple[str, dict[str, Any]]:
    """Return a record as it is written, and read."""
    text = (RECORDS / f"{name}.json").read_text(encoding="utf-8")
    return text, json.loads(text)


def holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list and object of a record with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from holders(value[key])


def changed(name: str, changes: list[tuple[int, Any]]) -> bytes:
    """Return a record in which some values anywhere are others."""
    found = copy.deepcopy(original(name)[1])
    for place, value in changes:
        places = list(holders(found))
        holder, key = places[place % len(places)]
        holder[key] = value
    return json.dumps(found).encode("utf-8", "surrogatepass")


def nested(chance: random.Random) -> bytes:
    """Return what is deep, long or numerous without end."""
    depth = chance.choice((50, 1000, 60_000))
    opened, closed, number = b"[" * depth, b"]" * depth, b"9" * depth
    return chance.choice((opened, opened + closed, b'{"log":' * depth, b'{"version":' + number + b"}"))


def files(name: str, changes: list[tuple[int, Any]], chance: random.Random) -> bytes:
    """Return a file that is nearly a record, or far from one."""
    return chance.choices(
        (changed(name, changes), spoilt(original(name)[0].encode(), chance), nested(chance)), (6, 3, 1)
    )[0]


drawn = {
    "name": some.sampled_from(NAMES),
    "changes": some.lists(some.tuples(some.integers(0, 10_000), plain), min_size=1, max_size=3),
    "chance": chances,
}


@efforts(120, 60)
def test_any_file_is_a_record_that_holds_or_refused_as_one(effort: Effort) -> None:
    def read(name: str, changes: list[tuple[int, Any]], chance: random.Random) -> None:
        try:
            found = record.load(files(name, changes, chance))
            record.check(found)
        except RecordError as fault:
            told(fault)
        else:
            assert record.load(record.dump(found)) == found

    effort.of(read, **drawn)


@efforts(25, 60)
def test_any_file_becomes_a_match_or_leaves_nothing(cottage: House, effort: Effort) -> None:
    db.database.execute_sql("PRAGMA synchronous = off")

    def brought(name: str, changes: list[tuple[int, Any]], chance: random.Random) -> None:
        before = (Match.select().count(), Imported.select().count())
        try:
            match = archive.add(files(name, changes, chance), START)
        except (RecordError, Refused):
            assert (Match.select().count(), Imported.select().count()) == before
        else:
            assert archive.doubts(match) == []
            archive.told(match)

    effort.of(brought, **drawn)


READERS = (counting.instant, counting.span, counting.hours, counting.daily)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@efforts(150, 20)
def test_any_words_about_time_are_read_or_refused(reader: Callable[[str], Any], effort: Effort) -> None:
    zones = some.sampled_from(("Europe/Prague", "../../etc/passwd", "/etc/localtime", "Europe", "", "a" * 300, "\0"))
    times = some.from_regex(r"[0-9]{1,2}:[0-9]{2}(-[0-9]{1,2}:[0-9]{2})?", fullmatch=True)
    instants = some.from_regex(r"[0-9]{1,5}-[0-9]{2}-[0-9]{2}T[0-9:.]{1,12}Z?(/[0-9TZ:.-]+)?", fullmatch=True)
    near = some.tuples(zones | texts, times | texts).map(" ".join) | some.tuples(times, zones).map(" ".join) | instants

    def read(text: str, times: int) -> None:
        try:
            assert reader(text * times) is not None
        except ValueError as fault:
            told(fault)

    effort.of(read, text=near | texts, times=some.sampled_from((1, 1, 1, 5000)))


@efforts(200, 30)
def test_any_values_are_a_time_rule_or_refused(effort: Effort) -> None:
    fields = [each.name for each in dataclasses.fields(timerule.Rule)]
    values = plain | some.integers(0, 10**7) | some.booleans() | some.sampled_from(("bot", "at-once", "loss", "vote"))
    given = some.dictionaries(some.sampled_from(fields) | texts, values, max_size=6)

    def read(found: Any) -> None:
        try:
            rule = timerule.rule(found)
        except timerule.WrongRule as fault:
            told(fault)
        else:
            assert timerule.rule(timerule.plain(rule)) == rule
            assert timerule.sentence(rule)

    effort.of(read, found=given | plain)

"""The document of the API is whole: every name is there, and every operation is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from server.api.app import BELOW, ROOMS
from server.api.document import ALWAYS, codes, document
from server.errors import CODES

DOCUMENT = document(ROOMS, BELOW)


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for each in part.values():
            yield from references(each)
    elif isinstance(part, list):
        for each in part:
            yield from references(each)


def test_every_reference_leads_somewhere() -> None:
    for reference in set(references(DOCUMENT)):
        found = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            assert step in found, reference
            found = found[step]


def test_no_two_shapes_have_the_same_name() -> None:
    # Of two that have, the names are told with their modules, and what refers to them goes astray.
    assert [name for name in DOCUMENT["components"]["schemas"] if "." in name] == []


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does() -> None:
    told = [one for path in DOCUMENT["paths"].values() for one in path.values()]
    assert len({one["operationId"] for one in told}) == len(told) == sum(len(room.operations) for room in ROOMS)
    assert all(one["summary"].endswith(".") for one in told)


@pytest.mark.parametrize("one", [one for room in ROOMS for one in room.operations], ids=lambda one: one.name)
def test_every_code_of_an_operation_is_listed_once(one: Any) -> None:
    assert set(codes(one)) <= set(CODES)
    assert set(one.refuses) & set(ALWAYS) == set(), "any operation may"
    assert one.scope in {"read", "play", "tables", "account"}
    assert (one.method == "GET") == (one.scope == "read")

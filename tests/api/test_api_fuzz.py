"""Whatever is sent to the API, it answers as its document says: Schemathesis makes requests of the document.

The default run sends some of each kind to every operation; `make hardship` sends many more.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import pytest
import schemathesis
from house import DAY, House, house_settings
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.errors import Unsatisfiable
from programs import Program
from schemathesis import Case
from schemathesis.checks import CheckContext, not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from together import quick_pictures
from visitor import application

from server import db, outbox, throttle, tokens, tournaments, ways
from server.api import callers

DOCUMENT: Final = json.loads(
    (Path(__file__).parent.parent.parent / "docs" / "openapi.json").read_text(encoding="utf-8")
)
NAMES: Final = [one["operationId"] for path in DOCUMENT["paths"].values() for one in path.values()]
CHECKS: Final = (
    allow_header_conformance,
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
# So many cases of those that cover a document by plan, and so many made by chance, go to one operation.
PLANNED, CHANCE = 16, 4
MANY: Final = 400


def operation(name: str) -> Any:
    """Return what Schemathesis makes of an operation."""
    return _operations()[name]


@cache
def _operations() -> dict[str, Any]:
    read = (found.ok() for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations())
    return {one.definition.raw["operationId"]: one for one in read}


class Furnished(NamedTuple):
    """A house in a file, in which there is one of everything, and a token of Ailsa's for all scopes."""

    file: Path
    now: datetime
    token: str


@pytest.fixture(scope="module")
def furnished(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    """Such a house; each test has a copy of it, since most of what it takes is to furnish it."""
    folder = tmp_path_factory.mktemp("furnished")
    file = Path(shutil.copy(sqlite_template, folder / "clachan.db"))
    db.use(f"sqlite:///{file}")
    with db.connected(), pytest.MonkeyPatch.context() as patch:
        quick_pictures(patch)
        house = House(house_settings(f"sqlite:///{file}", folder))
        ailsa = house.people["Ailsa"]
        house.recorded("clans-end-no-move-left")
        house.begun("Ailsa", "Bran", "Catrin")
        house.started("Ailsa", "Bran", game="glory")
        house.table("Ailsa", seats=3)
        terms: dict[str, Any] = {"game": "clans", "seats": 2, "clock": {"move": DAY}, "options": {}, "form": "swiss"}
        numbers = {"rounds": 3, "least": 3, "most": 8, "starts_at": house.now.replace(day=5)}
        tournaments.announce(ailsa, tournaments.Plan("The cup", **terms, **numbers), house.now)
        ways.add(ailsa, "ntfy", {"url": "a-topic"}, outbox.open_ways(house.settings), house.now)
        token = tokens.make(ailsa, "A program", tokens.SCOPES, house.now)
        # Into one file, without a log beside it, so that it can be copied.
        db.database.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return Furnished(file, house.now, token)


@pytest.fixture
def program(furnished: Furnished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """A program that may do all, and nobody counts how often it asks."""
    quick_pictures(monkeypatch)
    monkeypatch.setattr(throttle, "count", lambda *_: None)
    monkeypatch.setattr(callers, "MOST", 10**9)
    url = f"sqlite:///{shutil.copy(furnished.file, tmp_path / 'clachan.db')}"
    db.use(url)
    house = SimpleNamespace(now=furnished.now, settings=house_settings(url, tmp_path))
    asking = Program(application(house, monkeypatch))
    asking.token = furnished.token
    yield asking
    db.database.close()


def unfit_is_refused(asked: CheckContext, response: Response, case: Case) -> bool | None:
    """Check that what does not fit the document is refused, also if it is refused for its size."""
    return None if response.status_code == 413 else negative_data_rejection(asked, response, case)


def there(name: str) -> Iterator[dict[str, Any]]:
    """Yield without end what to put into the path of an operation so that it leads to something."""
    asked = operation(name).path_parameters
    for match, seat in itertools.cycle(itertools.product((2, 4, 1, 3), (0, 1))):
        known = {"match_id": match, "seq": 1, "seat": seat, "which": 1, "name": "Ailsa", "kind": "clans", "token": "x"}
        known["way"] = 1
        yield {each.name: known[each.name] for each in asked}


def send(case: Case, program: Program, places: Iterator[dict[str, Any]]) -> None:
    """Send a case as it was made, and again with a path that leads to something; check what is answered."""
    asked = {"headers": program.headers(), "app": program.client.application}
    case.call_and_validate(checks=[*CHECKS, unfit_is_refused], **asked)
    if case.path_parameters:
        case.path_parameters = next(places)
        case.call_and_validate(checks=list(CHECKS), **asked)


def by_plan(name: str, program: Program, most: int) -> None:
    """Send cases that go through what the document says of an operation: `most` of all there are, evenly chosen."""
    one, places = operation(name), there(name)
    chosen = one.schema.config.generation_for(operation=one)
    cases = one.schema.iter_coverage_cases(one, generation_modes=list(GenerationMode), generation_config=chosen)
    found = list(cases)
    for case in found[:: max(1, len(found) // most)]:
        send(case, program, places)


def by_chance(name: str, program: Program, most: int) -> None:
    """Send so many cases that fit the document, and as many that do not."""
    places = there(name)
    for mode in GenerationMode:
        strategy = operation(name).as_strategy(mode)

        @seed(20)
        @settings(max_examples=most, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=strategy)
        def sent(case: Case) -> None:
            send(case, program, places)

        # Of something that takes nothing there is nothing that does not fit.
        with suppress(Unsatisfiable) if mode is GenerationMode.NEGATIVE else nullcontext():
            sent()


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_answers_as_the_document_says(program: Program, name: str) -> None:
    by_plan(name, program, PLANNED)
    by_chance(name, program, CHANCE)


@pytest.mark.hardship
@pytest.mark.parametrize("name", NAMES)
def test_an_operation_answers_so_whatever_is_sent(program: Program, name: str) -> None:
    by_plan(name, program, MANY)
    by_chance(name, program, MANY)

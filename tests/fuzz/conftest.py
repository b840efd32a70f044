"""What fuzzing tells in the report of the long trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(autouse=True)
def _told(request: pytest.FixtureRequest, did: Callable[[object], None]) -> Iterator[None]:
    """Say how many examples there were."""
    yield
    values = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if "effort" in values:
        # The cases of a test share what says how long they last.
        while values["effort"].done:
            did(values["effort"].done.pop())

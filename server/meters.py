"""What this process counts of its own work, for `/metrics`: nothing here names a person, a match or an address."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

# When each number was first counted is nothing anybody asks for, and doubles what is told.
disable_created_metrics()  # type: ignore[no-untyped-call]

REGISTRY: Final = CollectorRegistry()
"""All that is counted in this process; what the database knows is asked when it is scraped, see server/gauges.py."""

ROWS: Final = Counter(
    "clachan_rows",
    "Rows put into logs of matches, moves and others; one that is undone at once counts too.",
    ("kind",),
    registry=REGISTRY,
)
REPLAYS: Final = Histogram(
    "clachan_replay_seconds",
    "How long it took to replay a match that was not kept, from its first row on.",
    registry=REGISTRY,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
REQUESTS: Final = Counter(
    "clachan_requests", "Requests answered, by endpoint and status.", ("endpoint", "status"), registry=REGISTRY
)
DURATIONS: Final = Histogram(
    "clachan_request_seconds",
    "How long requests took to answer, by endpoint.",
    ("endpoint",),
    registry=REGISTRY,
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)

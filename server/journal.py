"""What is logged and in which form: lines for people, or one JSON object a line for programs that read them.

No line holds what was asked for: neither query strings nor bodies, tokens or addresses of people. Of a fault the JSON
tells its kind and its places in the program, never its words, which may repeat what somebody sent.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final

TEXT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
ROOT: Final = Path(__file__).parent.parent
# What a line may hold besides, in this order; whoever logs gives it as `extra`.
FACTS: Final = ("request", "method", "endpoint", "status", "ms", "match")

requests: Final = logging.getLogger("server.requests")
"""Where a line is written for each request."""

_now: ContextVar[Mapping[str, object]] = ContextVar("request", default=MappingProxyType({}))


def begin(form: str) -> None:
    """Have everything of this process logged to standard error, as "text" or as "json".

    In text, requests are told only if they failed: for the others a proxy in front has a log of its own.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if form == "json" else logging.Formatter(TEXT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    requests.setLevel(logging.INFO if form == "json" else logging.ERROR)


def enter(facts: Mapping[str, object]) -> None:
    """Add facts to every line that this thread logs from now on, in place of those it had."""
    _now.set(facts)


class JsonLines(logging.Formatter):
    """A record as one line of JSON: at, level, logger, message, the facts, and of a fault its kind and places."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        known = {**_now.get(), **{name: getattr(record, name) for name in FACTS if hasattr(record, name)}}
        line |= {name: known[name] for name in FACTS if known.get(name) is not None}
        if record.exc_info and record.exc_info[1]:
            line |= {"fault": type(record.exc_info[1]).__name__, "places": _places(record.exc_info[2])}
        return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def kind(fault: BaseException) -> str:
    """Return of which kind a fault is and where it happened, without its words: they may repeat a secret."""
    places = _places(fault.__traceback__)
    ours = [place for place in places if place.startswith(("server/", "engine/"))] or places
    return f"{type(fault).__name__} in {ours[-1]}" if ours else type(fault).__name__


def origin(fault: BaseException) -> BaseException:
    """Return the fault that came first of those that led to this one, such as a full disk before a failed rollback."""
    while before := fault.__cause__ or fault.__context__:
        fault = before
    return fault


def _places(trace: TracebackType | None) -> list[str]:
    """Return where a fault went through, the place it happened last."""
    return [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]


def _short(name: str) -> str:
    path = Path(name)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name

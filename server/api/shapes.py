"""What several operations of the API have in common: kinds of values, a page of a list, a refusal."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec

Item = TypeVar("Item")

Number = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""A number of a match, a row, a seat."""
Many = Annotated[int, msgspec.Meta(ge=1, le=100, description="How many items to give at most.")]
"""How many items a page of a list has."""
Cursor = Annotated[str, msgspec.Meta(max_length=200, description="`next` of the page before; empty for the first.")]
"""Where a page of a list begins, see server/api/cursors.py."""
Day = Annotated[str, msgspec.Meta(min_length=10, max_length=10, extra_json_schema={"format": "date"})]
"""A day as year-month-day, to be read with server/http/days.py."""
Instant = Annotated[datetime, msgspec.Meta(tz=True, description="In UTC, as RFC 3339 writes it, in whole seconds.")]
"""A moment."""


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a program sends: a field that is not known is refused."""


class Answer(msgspec.Struct, frozen=True):
    """What a program is answered; fields may be added to it in later versions. Its instants are whole seconds."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, datetime) and value.microsecond:
                msgspec.structs.force_setattr(self, name, value.replace(microsecond=0))


class Listing(Body, frozen=True):
    """Which part of a list is asked for."""

    limit: Many = 20
    cursor: Cursor = ""


class Page(Answer, Generic[Item], frozen=True):
    """A part of a list, and the cursor of the next one; null when there is no more."""

    items: list[Item]
    next: str | None


class Why(Answer, frozen=True):
    """Why a request was refused: a code of the list of errors, a sentence for people, moves to pick from, and what has
    happened since the program last looked."""

    code: str
    sentence: str
    choices: list[str]
    since: list[str]


class Error(Answer, frozen=True):
    """A refusal; nothing has changed."""

    error: Why


class Done(Answer, frozen=True):
    """That something was done, and what there is to say of it."""

    done: bool = True
    sentences: tuple[str, ...] = ()


Plain = Any
"""A value as JSON has it, of which the game says more."""

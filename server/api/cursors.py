"""Where a page of a list goes on: the last item's key, written so that nobody takes it for anything else."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from engine.language import gettext as _
from server.api.shapes import Page
from server.errors import Refused

Found = TypeVar("Found")
Shown = TypeVar("Shown")


def write(*key: int | str) -> str:
    """Return the cursor behind an item with this key."""
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).rstrip(b"=").decode()


def read(cursor: str, *kinds: type) -> tuple[Any, ...] | None:
    """Return the key of a cursor, None for an empty one. Raises `Refused` (bad-input) unless it has these kinds."""
    if not cursor:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        key: tuple[Any, ...] = msgspec.json.decode(text, type=tuple.__class_getitem__(kinds))
        if any(isinstance(part, int) and not 0 <= part < 2**63 for part in key) or write(*key) != cursor:
            raise ValueError(cursor)
    except (ValueError, msgspec.DecodeError):
        raise Refused("bad-input", _("This is no cursor of this list.")) from None
    return key


def page(
    found: Sequence[Found], limit: int, key: Callable[[Found], tuple[int | str, ...]], shown: Callable[[Found], Shown]
) -> Page[Shown]:
    """Return the first `limit` of what was found, with a cursor if there is more: so one more is to be asked for."""
    more = len(found) > limit
    return Page([shown(each) for each in found[:limit]], write(*key(found[limit - 1])) if more else None)

"""Fields and the table that all tables are."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import peewee
from peewee import (
    BigIntegerField,
)

from server.db import database, storable

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)


class CharField(peewee.CharField):
    """A short text. What strangers send is made storable here, in every row and every search."""

    def adapt(self, value: Any) -> str:
        """Return the text as it can be stored."""
        return storable(super().adapt(value))


class TextField(peewee.TextField):
    """A text of any length, made storable."""

    def adapt(self, value: Any) -> str:
        """Return the text as it can be stored."""
        return storable(super().adapt(value))


class InstantField(BigIntegerField):
    """An aware UTC datetime, stored as whole milliseconds since 1970."""

    def db_value(self, value: datetime | None) -> int | None:
        """Return the milliseconds."""
        return None if value is None else (value - EPOCH) // MILLISECOND

    def python_value(self, value: int | None) -> datetime | None:
        """Return the datetime; None, too, for a number that is none: one spoilt row must not hide all the others."""
        try:
            return None if value is None else EPOCH + value * MILLISECOND
        except (OverflowError, TypeError):
            return None


class JsonField(TextField):
    """A plain value, stored as compact JSON."""

    def db_value(self, value: Any) -> str | None:
        """Return the JSON."""
        return None if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    def python_value(self, value: str | None) -> Any:
        """Return the plain value; None, too, for what is no JSON, as above."""
        try:
            return None if value is None else json.loads(value)
        except (ValueError, RecursionError):
            return None


class Model(peewee.Model):
    """What all tables share."""

    class Meta:
        database = database
        legacy_table_names = False

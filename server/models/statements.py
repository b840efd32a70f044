"""Queries that are written once: to write one takes peewee longer than a database takes to answer it.

What runs with every move and every page is such a statement; all else is an ordinary query.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import peewee

from server.db import database
from server.foresight import later
from server.models.fields import InstantField, JsonField, Model

Read = TypeVar("Read", bound=Model)

# So many numbers a statement is asked about at once: PostgreSQL takes 65,535 values, SQLite 32,766.
_MOST: Final = 1 << 13

# What these fields hold is something else than what the database returns.
_CONVERTED: Final = (InstantField, JsonField, peewee.BooleanField, peewee.BlobField)


class _Gap(NamedTuple):
    """A place in the values of a statement that is filled each time it is carried out."""

    name: str
    stored: Callable[[Any], Any] | None


class _Slot(peewee.Node):
    """A value that is not known yet; it is stored as the field wants that it is compared with or assigned to."""

    def __init__(self, name: str, field: peewee.Field | None = None) -> None:
        self.name = name
        self.field = field

    def __sql__(self, context: Any) -> Any:
        stored = self.field.db_value if self.field else context.state.converter
        return context.value(_Gap(self.name, stored), converter=False)


class _Written(NamedTuple):
    """A statement in the words of one kind of database."""

    sql: str
    values: list[Any]


class Statement(Generic[Read]):
    """A query with values to be filled in; `write` is given a slot for each of its parameters and returns the query."""

    def __init__(self, write: Callable[..., Any]) -> None:
        self._write = write
        self._written: dict[type, _Written] = {}
        self._read: Callable[[Sequence[Any]], Read] | None = None

    def rows(self, **values: Any) -> list[Read]:
        """Return what the query finds, as instances of its model."""
        found = self._execute(values).fetchall()
        if self._read is None:
            self._read = _reader(self._query())
        return [self._read(row) for row in found]

    def first(self, **values: Any) -> Read | None:
        """Return the first of `rows`, None if there is none."""
        return next(iter(self.rows(**values)), None)

    def tuples(self, **values: Any) -> list[tuple[Any, ...]]:
        """Return what the query finds, as the database returns it: instants as milliseconds."""
        found: list[tuple[Any, ...]] = self._execute(values).fetchall()
        return found

    def run(self, **values: Any) -> int:
        """Carry out a statement that finds nothing; return how many rows it touched."""
        return int(self._execute(values).rowcount)

    def put(self, **values: Any) -> None:
        """Carry out a statement that finds nothing, at once or when all that is foreseen is stored (`foreseen`)."""
        later(*self._in_words(values))

    def _execute(self, values: dict[str, Any]) -> Any:
        return database.execute_sql(*self._in_words(values))

    def _in_words(self, values: dict[str, Any]) -> tuple[str, list[Any]]:
        """Return the statement in the words of the database, and its values."""
        kind = type(database.obj)
        written = self._written.get(kind)
        if written is None:
            written = self._written[kind] = _Written(*self._query().sql())
        return written.sql, [_filled(value, values) if isinstance(value, _Gap) else value for value in written.values]

    def _query(self) -> Any:
        return self._write(*map(_Slot, inspect.signature(self._write).parameters))


class Sized(Statement[Read]):
    """The same about some numbers, each time as many as there are; `write` is given the list of their slots."""

    def __init__(self, write: Callable[[list[Any]], Any]) -> None:
        super().__init__(write)
        self._sizes: dict[int, Statement[Read]] = {}

    def among(self, numbers: Iterable[int]) -> list[Read]:
        """Return what the query finds about these numbers, as instances of its model; nothing is asked about none.

        More than 8192 are asked about in parts, and the order and the limit of the query hold within each of them.
        """
        given = list(dict.fromkeys(numbers))
        found: list[Read] = []
        for start in range(0, len(given), _MOST):
            found += self._among(given[start : start + _MOST])
        return found

    def _among(self, given: list[int]) -> list[Read]:
        # Written for one, two, four, eight ...: the last number stands for those that are missing.
        size = 1 << (len(given) - 1).bit_length()
        given += given[-1:] * (size - len(given))
        names = [f"number{at}" for at in range(size)]
        if size not in self._sizes:
            self._sizes[size] = Statement(lambda: self._write([_Slot(name) for name in names]))
        return self._sizes[size].rows(**dict(zip(names, given, strict=True)))


def nothing(query: Any) -> Any:
    """Return the condition that a query finds nothing."""
    return ~peewee.fn.EXISTS(query)


def insertion(model: type[Model], *names: str, ignoring: bool = False) -> Statement[Model]:
    """Return the statement that inserts a row with values for these fields, and the defaults of the others.

    `ignoring`: nothing happens if there is such a row already.
    """

    def write() -> Any:
        query = model.insert(slots(model, names))
        return query.on_conflict_ignore() if ignoring else query

    return Statement(write)


def change(model: type[Model], names: Iterable[str]) -> Statement[Model]:
    """Return the statement that gives these fields new values in the row with the given `id`."""
    named = tuple(names)
    key = model._meta.primary_key
    return Statement(lambda id: model.update(slots(model, named)).where(key == id))  # noqa: A006


def at_least(field: peewee.Field, slot: Any) -> Any:
    """Return the new value of a field that only grows: what the slot holds, or what is there already."""
    return peewee.Case(None, [(field < slot, slot)], field)


def slots(model: type[Model], names: Iterable[str]) -> dict[Any, _Slot]:
    """Return the places of new values of fields, each filled with what is given under the name of its field."""
    fields = [model._meta.fields[name] for name in names]
    return {field: _Slot(field.name, field) for field in fields}


def _filled(gap: _Gap, values: dict[str, Any]) -> Any:
    value = values[gap.name]
    return value if gap.stored is None or value is None else gap.stored(value)


def _reader(query: Any) -> Callable[[Sequence[Any]], Any]:
    """Return the function that makes an instance of what the query finds."""
    model, fields = query.model, query.selected_columns
    names = [field.name for field in fields]
    converted = [(at, field.python_value) for at, field in enumerate(fields) if isinstance(field, _CONVERTED)]

    def read(row: Sequence[Any]) -> Any:
        values = list(row)
        for at, convert in converted:
            values[at] = convert(values[at])
        found = model(__no_default__=True)
        found.__data__.update(zip(names, values, strict=True))
        return found

    return read

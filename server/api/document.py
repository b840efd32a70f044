"""The document of the API in the form of OpenAPI 3.1, made of the operations and their types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from apispec import APISpec

from server import errors
from server.api.about import ABOUT, ALLOWED
from server.api.rooms import JSON, Operation, Room
from server.api.shapes import Error
from server.play import LONGEST_KEY
from server.tokens import SCOPES

VERSION: Final = "1.0"
ALWAYS: Final = ("not-found", "bad-input", "throttled", "internal", "busy", "read-only")
"""Codes that any operation may refuse with."""
PLACES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "match_id": ("The number of a match.", {"type": "integer", "minimum": 0, "maximum": 999_999_999}),
    "seq": ("The number of a row; 0 is the setup.", {"type": "integer", "minimum": 0, "maximum": 999_999_999}),
    "seat": ("The number of a seat, counted from 0.", {"type": "integer", "minimum": 0, "maximum": 999_999_999}),
    "way": ("The number of one of your ways.", {"type": "integer", "minimum": 0, "maximum": 999_999_999}),
    "which": ("The number of a tournament.", {"type": "integer", "minimum": 0, "maximum": 999_999_999}),
    "name": ("The name of a person or bot, in any case.", {"type": "string"}),
    "token": ("The last part of the address of an invitation.", {"type": "string"}),
    "kind": ("The kind of a game, such as clans.", {"type": "string"}),
}
"""What stands in paths."""
REFERENCE: Final = "#/components/schemas/{name}"
_PART: Final = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")


def document(rooms: Sequence[Room], address: str) -> dict[str, Any]:
    """Return the document of these rooms, below an address."""
    spec = APISpec(
        title="Clachan",
        version=VERSION,
        openapi_version="3.1.0",
        info={"description": ABOUT, "x-scopes": ALLOWED},
        servers=[{"url": address}],
    )
    spec.components.security_scheme(
        "token", {"type": "http", "scheme": "bearer", "description": f"A personal token; scopes: {', '.join(SCOPES)}."}
    )
    operations = [one for room in rooms for one in room.operations]
    schemas = _schemas(operations)
    for name, schema in sorted(schemas.items()):
        spec.components.schema(name, schema)
    for name, told in _refusals(operations).items():
        spec.components.response(name, told)
    for room in rooms:
        spec.tag({"name": room.theme, "description": room.about})
    for one in operations:
        spec.path(path=_PART.sub(r"{\1}", one.path), operations={one.method.lower(): _told(one)})
    return spec.to_dict()


def _schemas(operations: Iterable[Operation]) -> dict[str, Any]:
    shapes = {one.body for one in operations if one.body} | {one.gives for one in operations if one.kind == JSON}
    shapes = {shape for shape in shapes if _is_struct(shape)} | {Error}
    ordered = sorted(shapes, key=str)
    return msgspec.json.schema_components(ordered, ref_template=REFERENCE)[1]


def _is_struct(shape: Any) -> bool:
    return issubclass(getattr(shape, "__origin__", shape), msgspec.Struct)


def _schema(shape: Any) -> dict[str, Any]:
    """Return a schema that refers to the shared ones."""
    return msgspec.json.schema_components([shape], ref_template=REFERENCE)[0][0]


def _told(one: Operation) -> dict[str, Any]:
    words = inspect.getdoc(one.view) or ""
    summary, _blank, more = words.partition("\n\n")
    told: dict[str, Any] = {
        "operationId": one.name,
        "tags": [one.theme],
        "summary": " ".join(summary.split()),
        "parameters": [*_places(one), *_asked(one), *_headers(one)],
        "responses": _answers(one),
        # An empty one says that it can be had without a token.
        "security": [{"token": [one.scope]}, *([{}] if one.public else [])],
    }
    if more:
        told["description"] = more
    if one.body:
        told["requestBody"] = {"required": one.needed, "content": {JSON: {"schema": _schema(one.body)}}}
    return told


def _places(one: Operation) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "description": PLACES[name][0], "schema": PLACES[name][1]}
        for name in _PART.findall(one.path)
    ]


def _asked(one: Operation) -> list[dict[str, Any]]:
    """Return what may stand behind the question mark."""
    if one.query is None:
        return []
    schema = msgspec.json.schema_components([one.query], ref_template=REFERENCE)[1][one.query.__name__]
    found = []
    for name, each in schema["properties"].items():
        about = each.pop("description", "")
        told = {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": each}
        found.append({**told, **({"description": about} if about else {})})
    return found


def _headers(one: Operation) -> list[dict[str, Any]]:
    if not one.keyed:
        return []
    about = "A key of your own: the same request with the same key is carried out once, and answered alike each time."
    schema = {"type": "string", "maxLength": LONGEST_KEY}
    return [{"name": "Idempotency-Key", "in": "header", "required": False, "description": about, "schema": schema}]


def codes(one: Operation) -> list[str]:
    """Return all codes that an operation may refuse with."""
    of_tokens = ("not-signed-in", "out-of-scope")
    of_bodies = ("not-json", "too-large") if one.body else ()
    return sorted({*ALWAYS, *one.refuses, *of_tokens, *of_bodies})


def _answers(one: Operation) -> dict[str, Any]:
    schema = _schema(one.gives) if one.kind == JSON and _is_struct(one.gives) else {}
    found: dict[str, Any] = {
        str(one.status): {
            "description": "It is done." if one.method == "POST" else "Here it is.",
            "content": {one.kind: {"schema": schema}},
        }
    }
    if one.method == "GET":
        found["304"] = {"description": "It is as it was when the ETag in If-None-Match was given."}
    for status, held in _by_status(one).items():
        found[str(status)] = {"$ref": f"#/components/responses/{_named(held)}"}
    return found


def _by_status(one: Operation) -> dict[int, list[str]]:
    """Return the codes that an operation may refuse with, by status."""
    found: dict[int, list[str]] = {}
    for code in codes(one):
        found.setdefault(errors.CODES[code][0], []).append(code)
    return dict(sorted(found.items()))


def _named(held: Sequence[str]) -> str:
    return ".".join(held)


def _refusals(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return each refusal that there is, by name: several codes of one status are one."""
    sets = {_named(held): held for one in operations for held in _by_status(one).values()}
    return {name: _refusal(held) for name, held in sorted(sets.items())}


def _refusal(held: Sequence[str]) -> dict[str, Any]:
    about = " ".join(f"`{code}`: {errors.CODES[code][1]}" for code in held)
    headers = {"schema": {"type": "integer"}, "description": "After so many seconds it is worth while to ask again."}
    told: dict[str, Any] = {"description": about, "content": {JSON: {"schema": _schema(Error)}}}
    return {**told, **({"headers": {"Retry-After": headers}} if errors.CODES[held[0]][0] in {429, 503} else {})}

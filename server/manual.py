"""The document of the API as its page shows it: themes, operations, shapes; plain values, read off OpenAPI 3.1."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

METHODS: Final = ("get", "post")
# What the types of JSON Schema are called.
KINDS: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}
FORMATS: Final = {"date": "day", "date-time": "instant"}
MOMENTS: Final = {"date": "2026-12-01", "date-time": "2026-12-01T09:30:00Z"}
# The most that a number in the database can be; so high a bound says nothing.
MOST_STORED: Final = 2**31 - 1
# How long the body of an example is before it is broken into lines.
NARROW: Final = 60

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value is, in words; `shape` names the shape of the document that it has, "" if none."""

    words: str
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a shape; `usual` is its value where it is left out, "" if none is told."""

    name: str
    kinds: tuple[Kind, ...]
    needed: bool
    usual: str
    told: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What may be answered: its status, when, and as what."""

    status: str
    told: str
    kinds: tuple[Kind, ...]
    media: str


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that may be asked for.

    `scopes` are those a token needs, `open` says that none is needed at all; `about` says what its body is as a whole.
    `call` is an example for a command line, `reply` what might be answered to it, "" if that is no JSON.
    """

    key: str
    method: str
    path: str
    title: str
    told: tuple[str, ...]
    scopes: tuple[str, ...]
    open: bool
    parameters: tuple[Field, ...]
    body: tuple[Kind, ...]
    about: str
    fields: tuple[Field, ...]
    answers: tuple[Answer, ...]
    refusals: tuple[Answer, ...]
    call: str
    reply: str


@dataclass(frozen=True, slots=True)
class Theme:
    """Operations that belong together."""

    key: str
    title: str
    told: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """What an object of a name holds: in a sentence, and what else there is to say."""

    name: str
    summary: str
    told: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Manual:
    """All that the document says."""

    title: str
    version: str
    told: tuple[str, ...]
    scopes: tuple[tuple[str, str], ...]
    themes: tuple[Theme, ...]
    shapes: tuple[Shape, ...]


def read(document: Mapping[str, Any], address: str) -> Manual:
    """Return what an OpenAPI document says; examples ask the site at this address."""
    info = document["info"]
    return Manual(
        title=info["title"],
        version=info["version"],
        told=_paragraphs(info.get("description", "")),
        scopes=tuple(info.get("x-scopes", {}).items()),
        themes=tuple(_themes(document, address)),
        shapes=tuple(_shapes(document)),
    )


def _themes(document: Mapping[str, Any], address: str) -> Iterator[Theme]:
    found: dict[str, list[Operation]] = {tag["name"]: [] for tag in document["tags"]}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                operation = _operation(document, method, path, item[method], address)
                found[item[method]["tags"][0]].append(operation)
    for tag in document["tags"]:
        name = tag["name"]
        if found[name]:
            yield Theme(key(name), name[:1].upper() + name[1:], tag.get("description", ""), tuple(found[name]))


def key(text: str) -> str:
    """Return a name as an anchor in a page."""
    return re.sub("[^a-z0-9]+", "-", text.casefold()).strip("-")


def _operation(document: Mapping[str, Any], method: str, path: str, told: Schema, address: str) -> Operation:
    content = told.get("requestBody", {}).get("content", {})
    schema: Schema = next((each["schema"] for each in content.values()), {})
    parameters = [_resolved(document, each) for each in told.get("parameters", ())]
    answers = [_answer(status, _resolved(document, each)) for status, each in told["responses"].items()]
    security = told.get("security", document.get("security", ()))
    return Operation(
        key=told["operationId"],
        method=method.upper(),
        path=path,
        title=told["summary"],
        told=_paragraphs(told.get("description", "")),
        scopes=tuple(dict.fromkeys(scope for way in security for scopes in way.values() for scope in scopes)),
        open=not security or {} in security,
        parameters=tuple(_parameter(each) for each in parameters),
        body=tuple(kinds(schema)) if content else (),
        about=" ".join(_resolved(document, schema).get("description", "").split()),
        fields=tuple(_fields(_resolved(document, schema))),
        answers=tuple(each for each in answers if each.status < "4"),
        refusals=tuple(each for each in answers if each.status >= "4"),
        call=_call(document, method, path, told, address, bool(security)),
        reply=_reply(document, told["responses"]),
    )


def _parameter(told: Schema) -> Field:
    return _field(told["name"], told["schema"], bool(told.get("required")), told.get("description", ""))


def _answer(status: str, told: Schema) -> Answer:
    content = told.get("content", {})
    media, schema = next(((media, each.get("schema", {})) for media, each in content.items()), ("", {}))
    return Answer(status, told.get("description", ""), tuple(kinds(schema)) if content else (), media)


def _shapes(document: Mapping[str, Any]) -> Iterator[Shape]:
    for name, schema in sorted(document["components"]["schemas"].items()):
        summary, stop, more = " ".join(schema.get("description", "").split()).partition(". ")
        yield Shape(name, summary + stop.strip(), more, tuple(_fields(schema)))


def _fields(schema: Schema) -> Iterator[Field]:
    needed = set(schema.get("required", ()))
    for name, each in schema.get("properties", {}).items():
        yield _field(name, each, name in needed, each.get("description", ""))


def _field(name: str, schema: Schema, needed: bool, told: str) -> Field:
    usual = schema.get("default")
    shown = "" if usual in (None, "") or isinstance(usual, dict | list) else json.dumps(usual, ensure_ascii=False)
    return Field(name, tuple(kinds(schema)), needed, shown, " ".join(told.split()))


def kinds(schema: Schema) -> list[Kind]:
    """Return what a value that fits a schema may be; several if it is one of them."""
    if "$ref" in schema:
        return [Kind("", schema["$ref"].rpartition("/")[2])]
    if "anyOf" in schema:
        return [kind for each in schema["anyOf"] for kind in kinds(each)]
    if "enum" in schema:
        return [Kind(" · ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"]))]
    names = schema.get("type", "any value")
    return [kind for name in ([names] if isinstance(names, str) else names) for kind in _plain(name, schema)]


def _plain(name: str, schema: Schema) -> list[Kind]:
    if name == "array":
        return [Kind(f"list of {kind.words}".strip(), kind.shape) for kind in kinds(schema.get("items", {}))]
    more = schema.get("additionalProperties")
    if name == "object" and isinstance(more, Mapping) and more:
        return [Kind(f"object with values: {kind.words}".strip(), kind.shape) for kind in kinds(more)]
    if name == "string":
        return [Kind(FORMATS.get(schema.get("format", ""), KINDS["string"]) + _span(schema, "Length", " characters"))]
    return [Kind(KINDS.get(name, name) + (_span(schema, "imum", "") if name in {"integer", "number"} else ""))]


def _span(schema: Schema, suffix: str, unit: str) -> str:
    """Return between which bounds a value lies, as far as a schema says so."""
    least, most = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
    most = None if most == MOST_STORED else most
    if least is not None and most is not None:
        return f", {least} to {most}{unit}"
    if most is not None:
        return f", at most {most}{unit}"
    return f", at least {least}{unit}" if least else ""


def _resolved(document: Mapping[str, Any], told: Schema) -> Schema:
    """Return what a reference leads to; anything else is returned as it is."""
    while "$ref" in told:
        found: Any = document
        for part in told["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        told = found
    return told


def _call(document: Mapping[str, Any], method: str, path: str, told: Schema, address: str, signed: bool) -> str:
    """Return an example for a command line, with values in place of the parameters that are needed."""
    parameters = [_resolved(document, each) for each in told.get("parameters", ())]
    values = {each["name"]: _plain_value(document, each) for each in parameters}
    filled = re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[1])), path)
    lines = [f"curl {address}{filled}" if method == "get" else f"curl -X {method.upper()} {address}{filled}"]
    if signed:
        lines.append('-H "Authorization: Bearer $TOKEN"')
    content = told.get("requestBody", {}).get("content", {})
    for media, each in content.items():
        body = each.get("example") or example(document, each["schema"])
        lines += [f'-H "Content-Type: {media}"', f"-d '{_written(body)}'"]
    return " \\\n  ".join(lines)


def _plain_value(document: Mapping[str, Any], parameter: Schema) -> Any:
    """Return a value for a part of a path: a number, or the name of what belongs there, in capitals."""
    value = example(document, parameter["schema"], parameter["name"])
    return 7 if isinstance(value, int) else value


def _written(body: object) -> str:
    text = json.dumps(body, ensure_ascii=False)
    return text if len(text) <= NARROW else json.dumps(body, ensure_ascii=False, indent=2).replace("\n", "\n  ")


def _reply(document: Mapping[str, Any], answers: Schema) -> str:
    """Return what might be answered where all goes well."""
    told = next((_resolved(document, each) for status, each in answers.items() if status < "3"), {})
    schema = told.get("content", {}).get("application/json", {}).get("schema")
    return json.dumps(example(document, schema, whole=True), ensure_ascii=False, indent=2) if schema else ""


def example(document: Mapping[str, Any], schema: Schema, name: str = "", *, whole: bool = False) -> Any:
    """Return a value that fits a schema: its own example, or the simplest; of an object the fields that are needed, or
    all of the `whole`."""
    schema = _resolved(document, schema)
    if schema.get("examples"):
        return schema["examples"][0]
    if not whole and schema.get("default") not in (None, ""):
        return schema["default"]
    if "anyOf" in schema:
        return example(document, schema["anyOf"][0], name, whole=whole)
    if "enum" in schema:
        return schema["enum"][0]
    names = schema.get("type", "object")
    kind = names if isinstance(names, str) else names[0]
    if kind == "object":
        fields = schema.get("properties", {})
        wanted = list(fields) if whole else schema.get("required", ()) or list(fields)[:1]
        return {each: example(document, fields[each], each, whole=whole) for each in wanted}
    if kind == "array":
        return [example(document, schema.get("items", {}), name, whole=whole)]
    if kind == "string":
        return MOMENTS.get(schema.get("format", "")) or name.upper() or "TEXT"
    return {"integer": schema.get("minimum", 0) or 7, "number": 0.5, "boolean": True}.get(kind)


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip())

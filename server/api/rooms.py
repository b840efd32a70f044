"""Operations of the API: how one is written down, how a request becomes its arguments, and its result an answer.

A room holds the operations of one theme. What an operation is given and gives is told by the types of its function, and
the document of the API is made of the same (server/api/document.py):

- the first argument is the `Caller`;
- `body`, a `Body`, is the JSON that was sent; `query`, a `Body`, what stands in the address behind the question mark;
- all others are parts of the path;
- what is returned is an `Answer`, encoded as JSON, or a `File`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar, get_type_hints

import flask
import msgspec

from engine.language import gettext as _
from server.api import callers
from server.errors import Refused

View = TypeVar("View", bound=Callable[..., Any])
JSON: Final = "application/json"
_encoder: Final = msgspec.json.Encoder()


class File(NamedTuple):
    """An answer that is no value: its bytes, and what it is called when it is kept."""

    content: bytes
    name: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a program may ask for or do. `name` is unique and never changes.

    `scope` is what it takes of a token, and a `public` one takes none. `keyed` is whether it heeds `Idempotency-Key`.
    `refuses` are the codes that it refuses with, besides those that any may (`document.ALWAYS`). `needed` is whether
    its body may not be left out.
    """

    name: str
    theme: str
    method: str
    path: str
    view: Callable[..., Any]
    scope: str
    public: bool
    keyed: bool
    status: int
    kind: str
    refuses: tuple[str, ...]
    body: Any
    needed: bool
    query: Any
    gives: Any
    decoder: msgspec.json.Decoder[Any] | None

    def answer(self, **values: Any) -> flask.Response:
        """Carry the request out. Raises `Refused`."""
        caller = callers.asking(self.scope, public=self.public)
        if self.decoder is not None:
            values["body"] = _sent(self.decoder, needed=self.needed)
        if self.query is not None:
            values["query"] = _asked(self.query)
        given = self.view(caller, **values)
        if not isinstance(given, File):
            return self._told(_encoder.encode(given))
        response = self._told(given.content)
        if given.name:
            response.headers["Content-Disposition"] = f'attachment; filename="{given.name}"'
        return response

    def _told(self, content: bytes) -> flask.Response:
        if self.method == "GET":
            tag = hashlib.sha256(content).hexdigest()[:32]
            if tag in flask.request.if_none_match:
                response = flask.Response(status=304)
            else:
                response = flask.Response(content, self.status, content_type=self.kind)
            response.headers["ETag"] = f'"{tag}"'
            return response
        return flask.Response(content, self.status, content_type=self.kind)


class Room:
    """The operations of a theme; `about` says in a sentence what they are for."""

    def __init__(self, theme: str, about: str) -> None:
        self.theme = theme
        self.about = about
        self.operations: list[Operation] = []

    def get(
        self, path: str, *, public: bool = False, kind: str = JSON, refuses: tuple[str, ...] = ()
    ) -> Callable[[View], View]:
        """Note that a function answers GET; it takes the scope `read`."""
        return self._noted("GET", path, scope="read", public=public, kind=kind, refuses=refuses)

    def post(
        self, path: str, *, scope: str, keyed: bool = False, status: int = 200, refuses: tuple[str, ...] = ()
    ) -> Callable[[View], View]:
        """Note that a function answers POST."""
        return self._noted("POST", path, scope=scope, keyed=keyed, status=status, refuses=refuses)

    def _noted(self, method: str, path: str, **more: Any) -> Callable[[View], View]:
        def noted(view: View) -> View:
            hints = get_type_hints(view, include_extras=True)
            body = hints.get("body")
            shape = {
                "body": body,
                "needed": body is not None and any(each.required for each in msgspec.structs.fields(body)),
                "query": hints.get("query"),
                "gives": hints["return"],
                "decoder": msgspec.json.Decoder(body) if body else None,
            }
            usual = {"public": False, "keyed": False, "status": 200, "kind": JSON}
            self.operations.append(
                Operation(f"{self.theme}.{view.__name__}", self.theme, method, path, view, **{**usual, **more, **shape})
            )
            return view

        return noted


def _sent(decoder: msgspec.json.Decoder[Any], *, needed: bool) -> Any:
    """Return what was sent, or what nothing stands for. Raises `Refused` (not-json, bad-input, too-large)."""
    request = flask.request
    if request.mimetype != JSON and (needed or request.mimetype):
        raise Refused("not-json", _("What is sent here is JSON, with the header Content-Type: application/json."))
    content = request.get_data(cache=False)
    if not (needed or content):
        content = b"{}"
    # Of a body that does not say how long it is only so much is read, and nobody is told that there was more.
    if request.content_length is None and len(content) >= (request.max_content_length or 0):
        raise Refused("too-large", _("That is too large."))
    try:
        return decoder.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise Refused("bad-input", _unfit(fault)) from None


def _asked(shape: Any) -> Any:
    """Return what stands in the address. Raises `Refused` (bad-input)."""
    try:
        return msgspec.convert(flask.request.args.to_dict(), shape, strict=False)
    except msgspec.ValidationError as fault:
        raise Refused("bad-input", _unfit(fault)) from None


def _unfit(fault: Exception) -> str:
    return _("What was sent does not fit: {why}").format(why=fault)

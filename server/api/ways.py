"""How somebody is told besides by mail: channels of services and devices, added, tried out, changed, removed."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from engine.language import gettext as _
from server import accounts, tidings, ways
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.shapes import Answer, Body, Done, Instant
from server.channels import Kind
from server.http.kinds import kinds
from server.models import Way as Stored

room = Room("ways", "How you are told of your matches besides by mail: channels of services, and devices.")

News = Annotated[
    list[Literal["turn", "reminder", "start", "end", "digest"]],
    Meta(max_length=len(tidings.NEWS), description="Which news it takes.", examples=[list(ways.USUAL)]),
]
Label = Annotated[str, Meta(max_length=ways.LONGEST_LABEL, description="What you call it.")]


class Blank(Answer, frozen=True):
    """What a service needs to know: the name under which it is sent, and what it is in words."""

    name: str
    label: str
    hint: str
    secret: bool
    optional: bool


class Service(Answer, frozen=True):
    """A service by which this house can tell you something, and what has to be given for it."""

    kind: str
    name: str
    blanks: list[Blank]


class Way(Answer, frozen=True):
    """One of your ways. `shown` is what may be seen of its address; since `stopped_at` it is not tried any more."""

    id: int
    kind: str
    label: str
    shown: str
    news: list[str]
    fault: str
    failing_since: Instant | None
    stopped_at: Instant | None


class Ways(Answer, frozen=True):
    """Your ways, oldest first, and the services of this house."""

    items: list[Way]
    services: list[Service]


class Adding(Body, frozen=True):
    """A new way: its kind, and what its blanks are filled in with."""

    kind: Annotated[str, Meta(max_length=16, examples=["ntfy"])]
    given: Annotated[dict[str, str], Meta(description="What its service needs to know, by the names of the blanks.")]
    label: Label = ""
    news: News = msgspec.field(default_factory=lambda: list(ways.USUAL))


class Changing(Body, frozen=True):
    """What a way is called, and which news it takes."""

    news: News
    label: Annotated[Label, Meta(description="Empty leaves its name as it is.")] = ""


@room.get("/ways")
def index(caller: Caller) -> Ways:
    """List your ways and the services of this house."""
    opened = kinds()
    services = [_service(word, kind) for word, kind in opened.items() if kind.blanks]
    return Ways([_way(way, opened) for way in ways.of(caller.me)], services)


@room.post("/ways", scope="account", status=201, refuses=("unconfirmed",))
def add(caller: Caller, body: Adding) -> Way:
    """Store a way, and send a trial message there. One with the same address is that way, changed."""
    accounts.require_confirmed(caller.me)
    opened = kinds()
    way = ways.add(caller.me, body.kind, body.given, opened, caller.now, label=body.label, news=body.news)
    return _way(ways.own(caller.me, way.id), opened)


@room.post("/ways/<int:way>", scope="account", refuses=("unconfirmed",))
def change(caller: Caller, way: int, body: Changing) -> Way:
    """Change what one of your ways is called and which news it takes."""
    accounts.require_confirmed(caller.me)
    ways.change(caller.me, way, body.label, body.news, caller.now)
    return _way(ways.own(caller.me, way), kinds())


@room.post("/ways/<int:way>/trial", scope="account", refuses=("unconfirmed",))
def try_out(caller: Caller, way: int) -> Done:
    """Send a trial message, and try a way again that was given up. What became of it is seen in the list soon."""
    accounts.require_confirmed(caller.me)
    ways.try_out(caller.me, way, caller.now)
    return Done()


@room.post("/ways/<int:way>/remove", scope="account", refuses=("unconfirmed",))
def remove(caller: Caller, way: int) -> Done:
    """Remove a way; nothing is sent there any more."""
    accounts.require_confirmed(caller.me)
    ways.remove(caller.me, way, caller.now)
    return Done()


def _service(word: str, kind: Kind) -> Service:
    blanks = [
        Blank(each.name, _(each.label), _(each.hint) if each.hint else "", each.secret, each.optional)
        for each in kind.blanks
    ]
    return Service(word, kind.name, blanks)


def _way(way: Stored, opened: dict[str, Kind]) -> Way:
    return Way(
        id=way.id,
        kind=way.kind,
        label=way.label,
        shown=ways.shown(way, opened)[1],
        news=[word for word in tidings.NEWS if word in way.takes],
        fault=_(way.fault) if way.fault else "",
        failing_since=way.failing_since,
        stopped_at=way.stopped_at,
    )

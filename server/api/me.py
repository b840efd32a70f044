"""Who the token belongs to, and whether anything awaits him."""

from __future__ import annotations

from server import beats
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.shapes import Answer

room = Room("me", "Who the token belongs to, and whether anything awaits him.")


class Me(Answer, frozen=True):
    """The owner of the token. `language` and `zone` are those of his pages and mails."""

    id: int
    name: str
    language: str
    zone: str


class Pulse(Answer, frozen=True):
    """`waiting` is how much waits for the owner: turns, invitations, ends of matches; `rows` is how many rows the
    matches that he plays have together, so that something has happened in one of them if it has changed."""

    waiting: int
    rows: int


@room.get("/me")
def show(caller: Caller) -> Me:
    """Say whose token it is."""
    user = caller.me
    return Me(user.id, user.name, user.language, user.zone)


@room.get("/me/pulse")
def pulse(caller: Caller) -> Pulse:
    """Say in a few bytes whether anything has changed for the owner; meant to be asked for again and again."""
    told = beats.beat(None, caller.me)
    return Pulse(int(told["waiting"]), int(told["rows"]))

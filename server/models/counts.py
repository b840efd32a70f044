"""What is counted from finished matches: parts, paces, ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import peewee
from peewee import (
    BigIntegerField,
    BooleanField,
    CompositeKey,
    ForeignKeyField,
    IntegerField,
    SmallIntegerField,
)

from server.models.fields import CharField, InstantField, JsonField, Model
from server.models.matches import Match
from server.models.people import User


class Part(Model):
    """What one person did in one finished match, read off its log once; only for who sat there first or last.

    `rank` is 1 for the best of the people, None where the match does not count, see server/parts.py. `moves`,
    `timeouts` and `lost` count moves, time-outs, and how often a bot took the seat without his resigning. The last
    three are the rating after the match, in millionths and as people read it, None where it is not rated.
    """

    if TYPE_CHECKING:
        match_id: int
        user_id: int

    match = ForeignKeyField(Match, index=False)
    user = ForeignKeyField(User, index=False)
    game = CharField(32)
    finished_at = InstantField()
    seat = SmallIntegerField()
    rank = SmallIntegerField(null=True)
    won = BooleanField()
    shared = BooleanField()  # whether others won with him
    moves = IntegerField()
    timeouts = IntegerField()
    lost = IntegerField()
    resigned = BooleanField()
    pending = BooleanField()  # whether it has still to be rated
    mu = BigIntegerField(null=True)
    sigma = BigIntegerField(null=True)
    shown = IntegerField(null=True)

    class Meta:
        primary_key = CompositeKey("match", "user")
        without_rowid = True
        indexes = ((("user", "game", "finished_at", "match"), False), (("pending", "finished_at", "match"), False))


class Pace(Model):
    """How long a person took for his moves in the matches that ended in a month (UTC, like 202611): how many moves by
    minutes, see server/parts.py."""

    user = ForeignKeyField(User, index=False)
    month = IntegerField()
    counts = JsonField()

    class Meta:
        primary_key = CompositeKey("user", "month")


class Rating(Model):
    """A person's rating in a game after his last rated match; the first two are in millionths."""

    if TYPE_CHECKING:
        user_id: int

    user = ForeignKeyField(User, index=False)
    game = CharField(32)
    mu = BigIntegerField()
    sigma = BigIntegerField()
    shown = IntegerField()
    matches = IntegerField()
    last_at = InstantField()

    class Meta:
        primary_key = CompositeKey("user", "game")
        indexes = ((("game", "shown", "user"), False),)


class Watermark(Model):
    """The last match that has been rated, in the order of their ends. Who holds its row is the one at work."""

    name = CharField(16, primary_key=True)
    finished_at = InstantField(null=True)
    match_id = IntegerField(default=0)


def total(value: Any, when: Any = None) -> Any:
    """Return the expression that adds up a value over a group, or over the rows of it for which a condition holds."""
    return peewee.fn.SUM(value if when is None else peewee.Case(None, ((when, value),), 0))

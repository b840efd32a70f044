"""Matches, their seats and their log, and what stands beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from peewee import (
    AutoField,
    BlobField,
    BooleanField,
    CompositeKey,
    ForeignKeyField,
    IntegerField,
    SmallIntegerField,
)

from server.models.fields import CharField, InstantField, JsonField, Model, TextField
from server.models.people import User


class Match(Model):
    """A match and what is remembered of it for lists; the columns from `status` to `offers` follow from the log."""

    if TYPE_CHECKING:
        host_id: int

    id = AutoField()
    game = CharField(32)
    rules = SmallIntegerField()
    options = JsonField()
    seats = SmallIntegerField()
    clock = JsonField()  # the table's time rule, see engine/timerule.py
    seating = CharField(8)  # "random" or "join"
    autostart = BooleanField()  # starts by itself when full
    invited_only = BooleanField()
    unlisted = BooleanField(default=False)  # whether no list shows it: a visitor plays it, see server/visitors.py
    host = ForeignKeyField(User, index=False)
    created_at = InstantField()
    secret = BlobField()  # the server's 32 bytes of the fair deal; shown after the end

    status = CharField(10, default="open")  # open, running, finished, cancelled
    started_at = InstantField(null=True)
    finished_at = InstantField(null=True)
    length = IntegerField(default=0)  # number of the last row
    last_hash = BlobField(null=True)
    to_act = CharField(16, default="")  # seats awaited, ascending, like "0" or "0,2"
    asked = IntegerField(default=0)  # number of the row since which they are awaited
    bot_acts = BooleanField(default=False)  # whether a bot is among them
    deadline = InstantField(null=True)
    reminder_at = InstantField(null=True)
    leased_until = InstantField(null=True)  # a scheduler is at work on the deadline until then
    reason = CharField(40, default="")
    offers = BooleanField(default=False)  # whether anybody may take over one of its seats
    rated = BooleanField(default=False)  # a term of the table, like `options`
    counted = BooleanField(default=False)  # whether what people did in it has been noted, see server/parts.py
    judged = SmallIntegerField(default=0)  # the version of the judge who is done with it, see server/analysis.py
    frozen_at = InstantField(null=True)  # since when a keeper holds it: nothing happens in it then
    frozen_why = CharField(200, default="")  # his reason, for the players
    imported_at = InstantField(null=True)  # for a match that was not played here but came as a record

    class Meta:
        indexes = ((("status", "id"), False),)

    @staticmethod
    def over() -> Any:
        """Return the condition that a match has ended, in the words of the indexes of such matches."""
        return (Match.status == "finished") & Match.finished_at.is_null(False)

    @staticmethod
    def listed() -> Any:
        """Return the condition that a match has ended and is not a visitor's."""
        return Match.over() & (Match.unlisted == False)  # noqa: E712

    @property
    def awaited(self) -> tuple[int, ...]:
        """The seats awaited."""
        return tuple(int(seat) for seat in self.to_act.split(",") if seat.isdecimal())


# Each holds the matches alone that it is asked for: so a move touches few of them, and what has ended burdens none.
_OVER: Final = Match.finished_at.is_null(False)
for _fields, _held in (
    ((Match.status, Match.counted, Match.finished_at, Match.id), _OVER),
    ((Match.judged, Match.game, Match.status, Match.imported_at, Match.finished_at), _OVER),
    ((Match.status, Match.unlisted, Match.finished_at, Match.id), _OVER),
    ((Match.status, Match.unlisted, Match.game, Match.finished_at, Match.id), _OVER),
    ((Match.status, Match.unlisted, Match.reason, Match.finished_at, Match.id), _OVER),
    ((Match.status, Match.deadline), Match.deadline.is_null(False)),
    ((Match.status, Match.reminder_at), Match.reminder_at.is_null(False)),
    ((Match.status, Match.id), Match.bot_acts),
    ((Match.status, Match.id), Match.offers),
    ((Match.id,), Match.frozen_at.is_null(False)),
):
    Match.add_index(Match.index(*_fields, where=_held))


class Seat(Model):
    """A place at a table. `number` is given when the match starts; until then people sit in order of joining."""

    if TYPE_CHECKING:
        match_id: int
        user_id: int
        owner_id: int

    id = AutoField()
    match = ForeignKeyField(Match, index=False)
    number = SmallIntegerField(null=True)
    user = ForeignKeyField(User, index=False)  # who sits there now
    owner = ForeignKeyField(User, index=False)  # who sat there first
    contribution = CharField(64)  # the person's part of the fair deal
    joined_at = InstantField()
    seen = IntegerField(default=0)  # the last row the person has seen on a page
    visited_at = InstantField(null=True)
    guided = BooleanField(default=False)  # whether each step is explained to the person
    turn_mail = CharField(8, default="")  # how he is told of his turns in this match, "" as in all his matches
    silent = BooleanField(default=False)  # whether no way but mail tells him of this match
    score = IntegerField(null=True)
    won = BooleanField(default=False)
    # When the match ended, noted once the end is no news to whoever sat there: what has it waits for nobody.
    ended_at = InstantField(null=True)

    class Meta:
        indexes = (
            (("match", "owner"), True),
            (("match", "number"), True),
            (("user", "ended_at", "match"), False),
            (("owner", "ended_at", "match"), False),
        )

    @property
    def wish(self) -> str:
        """How the person is told of his turns in this match."""
        return str(self.turn_mail or self.user.turn_mail)


class LogRow(Model):
    """One row of a match's log; the database itself refuses to change, delete or replace it (see migrations)."""

    if TYPE_CHECKING:
        match_id: int

    match = ForeignKeyField(Match, index=False)
    seq = IntegerField()
    seat = SmallIntegerField(null=True)
    kind = CharField(10)
    text = TextField()
    at = InstantField()
    via = CharField(5, null=True)
    hash = BlobField()

    class Meta:
        table_name = "log"
        primary_key = CompositeKey("match", "seq")
        without_rowid = True


class Talk(Model):
    """A line of a match's table talk. It is not a row of the log: talking never makes a move stale."""

    if TYPE_CHECKING:
        user_id: int

    id = AutoField()
    match = ForeignKeyField(Match)
    user = ForeignKeyField(User, index=False)
    text = TextField()
    key = CharField(64, null=True)  # of the request, so that one that comes twice is said once
    at = InstantField()

    class Meta:
        indexes = ((("user", "key"), True),)


class ClientKey(Model):
    """What a request with a client key led to, so that the same request again is given the same answer."""

    if TYPE_CHECKING:
        match_id: int

    user = ForeignKeyField(User, index=False)
    key = CharField(64)
    match = ForeignKeyField(Match, index=False)
    seq = IntegerField()
    at = InstantField(index=True)

    class Meta:
        primary_key = CompositeKey("user", "key")


class Prepared(Model):
    """A move that a seat has ready for its next turn; nobody else knows of it. `after` is the move that must come right
    before it, "" for any; `dropped` says why it will not be made."""

    if TYPE_CHECKING:
        match_id: int
        user_id: int

    match = ForeignKeyField(Match, index=False)
    seat = SmallIntegerField()
    user = ForeignKeyField(User, index=False, on_delete="CASCADE")
    text = CharField(200)
    after = CharField(200, default="")
    made_at = InstantField()
    dropped = CharField(300, default="")

    class Meta:
        primary_key = CompositeKey("match", "seat")


class Outage(Model):
    """A time in which no scheduler ran. `place` is the number of the last match that has been given it back."""

    id = AutoField()
    began_at = InstantField()
    ended_at = InstantField()
    place = IntegerField(default=0)
    done_at = InstantField(null=True, index=True)


class Note(Model):
    """What a person has noted of a match, for himself alone."""

    if TYPE_CHECKING:
        match_id: int

    match = ForeignKeyField(Match, index=False)
    user = ForeignKeyField(User, on_delete="CASCADE")
    text = TextField()
    written_at = InstantField()

    class Meta:
        primary_key = CompositeKey("match", "user")


class Invited(Model):
    """A person whose account may sit down at a table for invited people."""

    match = ForeignKeyField(Match, index=False)
    user = ForeignKeyField(User, on_delete="CASCADE")

    class Meta:
        primary_key = CompositeKey("match", "user")


class Rematch(Model):
    """The table that follows a match, until it expires."""

    if TYPE_CHECKING:
        table_id: int

    match = ForeignKeyField(Match, primary_key=True)
    table = ForeignKeyField(Match, backref="+")
    expires_at = InstantField(index=True)


class Imported(Model):
    """The record that a match was imported from, as we write records; `digest` is the SHA-256 of its text."""

    if TYPE_CHECKING:
        match_id: int

    match = ForeignKeyField(Match, primary_key=True)
    digest = BlobField(unique=True)
    text = TextField()

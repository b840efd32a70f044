"""Tables and their plain queries; no rules."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import peewee
from peewee import (
    AutoField,
    BigIntegerField,
    BlobField,
    BooleanField,
    CompositeKey,
    ForeignKeyField,
    IntegerField,
    SmallIntegerField,
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


class User(Model):
    """A person, or a bot (then `bot` names its strength and there is no address)."""

    id = AutoField()
    name = CharField(40)
    name_key = CharField(80, unique=True)  # case-folded, so that Ailsa and ailsa are one name
    email = CharField(254, null=True)
    email_key = CharField(254, null=True, unique=True)
    confirmed_at = InstantField(null=True)
    password = CharField(200, default="")
    session_key = CharField(32)  # changes when every session of the person must end
    zone = CharField(64, default="UTC")
    language = CharField(8, default="en")
    turn_mail = BooleanField(default=True)
    reminders = CharField(20, default="80")  # at which percentages of the time, like "50,80"; empty for none
    nights = CharField(11, default="")  # hours that do not count where the table says so, like "22:00-07:00"
    forced = BooleanField(default=False)  # whether a move is made for him when it is the only one
    keeps_results = BooleanField(default=False)  # whether how a match ended is kept back until he has watched it
    mail_stopped = CharField(200, default="")  # why the address takes no mail, empty while it does
    bot = CharField(16, default="")
    created_at = InstantField()
    deleted_at = InstantField(null=True)

    @property
    def reachable(self) -> bool:
        """Whether mail may be sent to the person."""
        return self.confirmed_at is not None and self.deleted_at is None and not self.mail_stopped


class Match(Model):
    """A match and what is remembered of it for lists; the columns from `status` to `offers` can be rebuilt from the log."""

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
    imported_at = InstantField(null=True)  # for a match that was not played here but came as a record

    class Meta:
        indexes = (
            (("status", "counted", "finished_at", "id"), False),
            (("offers", "status"), False),
            (("status", "deadline"), False),
            (("status", "reminder_at"), False),
            (("bot_acts", "deadline"), False),
            (("status", "finished_at", "id"), False),
            (("status", "game", "finished_at", "id"), False),
            (("status", "reason", "finished_at", "id"), False),
        )

    @property
    def awaited(self) -> tuple[int, ...]:
        """The seats awaited."""
        return tuple(int(seat) for seat in self.to_act.split(",") if seat.isdecimal())


class Seat(Model):
    """A place at a table. `number` is given when the match starts; until then people sit in order of joining."""

    if TYPE_CHECKING:
        match_id: int
        user_id: int
        owner_id: int

    id = AutoField()
    match = ForeignKeyField(Match, index=False)
    number = SmallIntegerField(null=True)
    user = ForeignKeyField(User)  # who sits there now
    owner = ForeignKeyField(User)  # who sat there first
    contribution = CharField(64)  # the person's part of the fair deal
    joined_at = InstantField()
    seen = IntegerField(default=0)  # the last row the person has seen on a page
    visited_at = InstantField(null=True)
    score = IntegerField(null=True)
    won = BooleanField(default=False)

    class Meta:
        indexes = ((("match", "owner"), True), (("match", "number"), True))


class Vacation(Model):
    """A time in which a person's clocks stand still, announced by him and seen by all."""

    if TYPE_CHECKING:
        user_id: int

    id = AutoField()
    user = ForeignKeyField(User, index=False, on_delete="CASCADE")
    starts_at = InstantField()
    ends_at = InstantField()

    class Meta:
        indexes = ((("user", "ends_at"), False),)


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


class Imported(Model):
    """The record that a match was imported from, as we write records; `digest` is the SHA-256 of its text."""

    if TYPE_CHECKING:
        match_id: int

    match = ForeignKeyField(Match, primary_key=True)
    digest = BlobField(unique=True)
    text = TextField()


class Talk(Model):
    """A line of a match's table talk. It is not a row of the log: talking never makes a move stale."""

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


class Link(Model):
    """A one-time link out of a mail, known here only by its SHA-256."""

    if TYPE_CHECKING:
        user_id: int | None
        match_id: int | None

    hash = BlobField(primary_key=True)
    purpose = CharField(16)  # confirm, reset, invite, unsubscribe
    user = ForeignKeyField(User, null=True, index=False, on_delete="CASCADE")
    match = ForeignKeyField(Match, null=True, index=False)
    expires_at = InstantField(index=True)
    used_at = InstantField(null=True)


class ReplyToken(Model):
    """An address that takes the answers to one mail about a match, known here only by the SHA-256 of its token.

    It belongs to a person, or, out of an invitation, to a mail `address`. `asked` is the number of the row that the
    mail asked about, as in `play.submit`.
    """

    if TYPE_CHECKING:
        user_id: int | None

    hash = BlobField(primary_key=True)
    user = ForeignKeyField(User, null=True, on_delete="CASCADE")
    address = CharField(254, default="")
    match = ForeignKeyField(Match, index=False)
    seat = SmallIntegerField(null=True)
    asked = IntegerField(null=True)
    created_at = InstantField(index=True)
    revoked_at = InstantField(null=True)


class Outbox(Model):
    """A mail to be sent, queued in the transaction of its cause. `key` is unique: one cause, one mail."""

    if TYPE_CHECKING:
        user_id: int | None
        match_id: int | None

    id = AutoField()
    key = CharField(120, unique=True)
    kind = CharField(16)
    user = ForeignKeyField(User, null=True, index=False, on_delete="CASCADE")
    address = CharField(254)
    match = ForeignKeyField(Match, null=True, index=False)
    seat = SmallIntegerField(null=True)
    asked = IntegerField(null=True)
    facts = JsonField()  # what the words need and the log does not hold
    message_id = CharField(64)
    created_at = InstantField()
    due_at = InstantField()
    state = CharField(8, default="queued")  # queued, taken, handed, sent, dropped, failed
    unsure = BooleanField(default=False)  # whether an earlier try may have delivered it
    alarm = BooleanField(default=False)  # whether a fault of our own put it off
    attempts = SmallIntegerField(default=0)
    lease = CharField(32, default="")  # who holds it while it is being sent
    done_at = InstantField(null=True)
    note = CharField(200, default="")  # why it was dropped, failed or put off, for people

    class Meta:
        indexes = ((("done_at", "due_at"), False), (("match", "user", "id"), False))


class Inbound(Model):
    """A mail that came in, stored before anything else is done with it."""

    id = AutoField()
    via = CharField(5)  # smtp, lmtp, imap, stdin, page
    place = CharField(200, null=True, unique=True)  # where it lay, so that it is not fetched twice
    received_at = InstantField()
    sender = CharField(254, null=True)  # of the envelope: empty is the null path, None is not known
    recipient = CharField(254, default="")  # of the envelope, if known
    content = BlobField(null=True)  # the mail; after a month only its headers
    state = CharField(8, default="new")  # new, done, aside, old: only headers are left
    verdict = CharField(32, default="")  # what became of it, a word of docs/mail.md
    note = CharField(200, default="")
    attempts = SmallIntegerField(default=0)
    user = ForeignKeyField(User, null=True, index=False, on_delete="CASCADE")
    match = ForeignKeyField(Match, null=True, index=False)
    done_at = InstantField(null=True)

    class Meta:
        indexes = ((("done_at", "received_at"), False),)


class MailKey(Model):
    """The SHA-256 of what makes a mail the same as one that came before."""

    hash = BlobField(primary_key=True)
    expires_at = InstantField(index=True)


class Unwanted(Model):
    """The SHA-256 of a mail address whose owner wants no invitations."""

    hash = BlobField(primary_key=True)
    at = InstantField()


class Attempt(Model):
    """How often something throttled was tried in one stretch of time."""

    key = CharField(100)
    stretch = BigIntegerField()
    count = IntegerField()
    expires_at = InstantField(index=True)

    class Meta:
        primary_key = CompositeKey("key", "stretch")


class Job(Model):
    """When each regular job last began and last succeeded."""

    name = CharField(32, primary_key=True)
    began_at = InstantField()
    succeeded_at = InstantField(null=True)
    fault = CharField(200, default="")


class Part(Model):
    """What one person did in one finished match, read off its log once; only for who sat there first or last.

    `rank` is 1 for the best of the people, None where the match does not count, see server/parts.py. `moves`, `timeouts`
    and `lost` count moves, time-outs, and how often a bot took the seat without his resigning. The last three are the
    rating after the match, in millionths and as people read it, None where it is not rated.
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
    """Return the expression that adds up a value over the rows of a group, or over those for which a condition holds."""
    return peewee.fn.SUM(value if when is None else peewee.Case(None, ((when, value),), 0))


TABLES: Final = (
    User,
    Match,
    Seat,
    Note,
    Invited,
    Rematch,
    LogRow,
    Talk,
    ClientKey,
    Link,
    ReplyToken,
    Outbox,
    Inbound,
    MailKey,
    Unwanted,
    Attempt,
    Job,
    Part,
    Pace,
    Rating,
    Watermark,
    Imported,
)

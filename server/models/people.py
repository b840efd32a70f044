"""People, and what is remembered of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

from server.models.fields import CharField, InstantField, Model


class User(Model):
    """A person, or a bot (then `bot` names its strength and there is no address).

    A visitor plays against bots without a confirmed address; he is forgotten when his time is over.
    """

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
    turn_mail = CharField(8, default="at-once")  # how he is told of his turns: at-once, away, daily, off
    digest_hour = SmallIntegerField(default=7)  # of his zone, in which the one mail of a day comes
    digest_at = InstantField(null=True, index=True)  # when that mail comes next, None if it never does
    seen_at = InstantField(null=True)  # when he last looked at a page, to about a minute
    reminders = CharField(20, default="80")  # at which percentages of the time, like "50,80"; empty for none
    nights = CharField(11, default="")  # hours that do not count where the table says so, like "22:00-07:00"
    forced = BooleanField(default=False)  # whether a move is made for him when it is the only one
    keeps_results = BooleanField(default=False)  # whether how a match ended is kept back until he has watched it
    mail_stopped = CharField(200, default="")  # why the address takes no mail, empty while it does
    other_ways = BooleanField(default=False)  # whether he is told by others than mail too, see server/ways.py
    quiet = CharField(11, default="")  # hours over which such messages wait, like "22:00-07:00"
    bot = CharField(16, default="")
    admin = BooleanField(default=False)  # whether he keeps this house, see server/keeping.py
    visitor_until = InstantField(null=True, index=True)  # set for visitors alone
    created_at = InstantField()
    deleted_at = InstantField(null=True)

    @property
    def visiting(self) -> bool:
        """Whether it is a visitor."""
        return self.visitor_until is not None

    @property
    def reachable(self) -> bool:
        """Whether mail may be sent to the person."""
        return self.confirmed_at is not None and self.deleted_at is None and not self.mail_stopped


# Of those whom the next sweep may forget.
User.add_index(User.index(User.visitor_until, User.created_at, where=User.confirmed_at.is_null()))


class Departure(Model):
    """A session that somebody has ended, by the SHA-256 of what its cookie says; kept while that may be about."""

    hash = BlobField(primary_key=True)
    expires_at = InstantField(index=True)


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


class Attempt(Model):
    """How often something throttled was tried in one stretch of time."""

    key = CharField(100)
    stretch = BigIntegerField()
    count = IntegerField()
    expires_at = InstantField(index=True)

    class Meta:
        primary_key = CompositeKey("key", "stretch")

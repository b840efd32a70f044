"""Ways for programs of a person to follow his matches: feeds to read, and an address to call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peewee import BlobField, ForeignKeyField, SmallIntegerField

from server.models.fields import CharField, InstantField, Model
from server.models.people import User


class Feed(Model):
    """A secret address under which a person's feed of a kind is read, known here only by the SHA-256 of its token."""

    if TYPE_CHECKING:
        user_id: int

    hash = BlobField(primary_key=True)
    user = ForeignKeyField(User, index=False, on_delete="CASCADE")
    kind = CharField(16)  # calendar, matches
    made_at = InstantField()

    class Meta:
        indexes = ((("user", "kind"), True),)


class Webhook(Model):
    """An address that is called when it is a person's turn and when a match of his ends.

    `secret` signs the calls, base64. `failures` are the calls in a row that failed since `failing_since`; `stopped`
    says why the address is called no more, empty while it is.
    """

    if TYPE_CHECKING:
        user_id: int

    user = ForeignKeyField(User, primary_key=True, on_delete="CASCADE")
    url = CharField(500)
    secret = CharField(64)
    made_at = InstantField()
    failing_since = InstantField(null=True)
    failures = SmallIntegerField(default=0)
    stopped = CharField(200, default="")

"""Mail out and in, and the links and addresses in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peewee import (
    AutoField,
    BlobField,
    BooleanField,
    ForeignKeyField,
    IntegerField,
    SmallIntegerField,
)

from server.models.fields import CharField, InstantField, JsonField, Model
from server.models.matches import Match
from server.models.people import User


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
    """A mail to be sent, queued in the transaction of its cause. `key` is unique: one cause, one mail.

    Calls of programs and messages by other ways are such rows too, see `handing.is_mail`.
    """

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
    way = IntegerField(null=True)  # by which way of the person, None for a mail and for a call
    facts = JsonField()  # what the words need and the log does not hold
    message_id = CharField(64)
    created_at = InstantField()
    due_at = InstantField()
    state = CharField(8, default="queued")  # queued, taken, handed, held, sent, dropped, failed
    unsure = BooleanField(default=False)  # whether an earlier try may have delivered it
    alarm = BooleanField(default=False)  # whether a fault of our own put it off
    attempts = SmallIntegerField(default=0)
    lease = CharField(32, default="")  # who holds it while it is being sent
    done_at = InstantField(null=True)
    note = CharField(200, default="")  # why it was dropped, failed or put off, for people

    class Meta:
        indexes = ((("done_at", "due_at"), False), (("user", "match", "id"), False))


Outbox.add_index(Outbox.index(Outbox.state, Outbox.done_at, Outbox.id, where=Outbox.done_at.is_null(False)))


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
        indexes = (
            (("done_at", "received_at"), False),
            (("state", "received_at"), False),
            (("verdict", "id"), False),
        )


class MailKey(Model):
    """The SHA-256 of what makes a mail the same as one that came before."""

    hash = BlobField(primary_key=True)
    expires_at = InstantField(index=True)


class Unwanted(Model):
    """The SHA-256 of a mail address whose owner wants no invitations."""

    hash = BlobField(primary_key=True)
    at = InstantField()


class Job(Model):
    """When each regular job last began, succeeded and failed; `fault` says of which kind the last fault was."""

    name = CharField(32, primary_key=True)
    began_at = InstantField()
    succeeded_at = InstantField(null=True)
    failed_at = InstantField(null=True)
    fault = CharField(200, default="")

"""How people are told of their matches besides by mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peewee import AutoField, ForeignKeyField, SmallIntegerField

from server.models.fields import CharField, InstantField, JsonField, Model
from server.models.people import User


class Way(Model):
    """A way to tell a person of his matches besides mail: a channel at a service, a topic, a device.

    `kind` names the channel, `address` is a secret of the person's, and `news` the kinds of news that it takes. A
    message was last taken at `told_at`; `failures` are those in a row that failed since `failing_since`, the last for
    the reason `fault`; since `stopped_at` no more are tried.
    """

    if TYPE_CHECKING:
        user_id: int

    id = AutoField()
    user = ForeignKeyField(User, index=False, on_delete="CASCADE")
    kind = CharField(16)
    label = CharField(40)
    address = JsonField()
    news = CharField(60)  # like "turn end", see server/ways.py
    made_at = InstantField()
    told_at = InstantField(null=True)
    failures = SmallIntegerField(default=0)
    failing_since = InstantField(null=True)
    fault = CharField(200, default="")
    stopped_at = InstantField(null=True)

    class Meta:
        indexes = ((("user", "id"), False),)

    @property
    def takes(self) -> frozenset[str]:
        """The kinds of news that it takes."""
        return frozenset(str(self.news).split())

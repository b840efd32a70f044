"""What the keepers of a house did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peewee import AutoField, ForeignKeyField

from server.models.fields import CharField, InstantField, Model
from server.models.people import User


class Deed(Model):
    """Something a keeper did; the database itself refuses to change or delete it (see migrations).

    `thing` is what it was done to, by its number alone: what is told of a person must not stay when he has left.
    """

    if TYPE_CHECKING:
        admin_id: int | None

    id = AutoField()
    at = InstantField()
    admin = ForeignKeyField(User, null=True, index=False)  # None for the command line
    act = CharField(16)
    thing = CharField(40)  # match 7, person 12, mail 33
    note = CharField(200)

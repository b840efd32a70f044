"""Tokens by which programs of a person act for him."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peewee import AutoField, BlobField, ForeignKeyField

from server.models.fields import CharField, InstantField, Model
from server.models.people import User


class Token(Model):
    """A token for the API, known here only by its SHA-256. One that its owner takes away is forgotten.

    `key` is the owner's `session_key` when it was made: whatever ends all his sessions ends it too.
    """

    if TYPE_CHECKING:
        user_id: int

    number = AutoField()
    hash = BlobField(unique=True)
    user = ForeignKeyField(User, index=True, on_delete="CASCADE")
    key = CharField(32)
    label = CharField(60)  # what its owner calls it
    scopes = CharField(60)  # names of server/tokens.py, like "read play"
    made_at = InstantField()
    used_at = InstantField(null=True)  # when it was last used, to about a day
    expires_at = InstantField(null=True, index=True)

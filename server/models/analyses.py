"""What the bots make of finished matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peewee import ForeignKeyField, IntegerField, SmallIntegerField

from server.models.fields import CharField, InstantField, JsonField, Model
from server.models.matches import Match


class Analysis(Model):
    """The chances over one match, see server/analysis.py.

    `chances` are lists of the number of a row and the thousandths of each seat after it, None until all are known;
    `draft` holds what is known so far of the next ones, and the version of the judge. `version` is that of the judge
    who was last done with the match, or gave it up for the `fault`.
    """

    if TYPE_CHECKING:
        match_id: int

    match = ForeignKeyField(Match, primary_key=True)
    chances = JsonField(null=True)
    playouts = IntegerField(default=0)
    made_at = InstantField(null=True)
    draft = JsonField(null=True)
    version = SmallIntegerField(default=0)
    tries = SmallIntegerField(default=0)  # how often in a row it was begun and nothing came of it
    leased_until = InstantField(null=True, index=True)  # a scheduler is at work on it until then
    fault = CharField(200, default="")

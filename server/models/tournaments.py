"""Tournaments: who takes part, and which matches belong to them; how they stand follows from the matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peewee import AutoField, BlobField, BooleanField, CompositeKey, ForeignKeyField, SmallIntegerField

from server.models.fields import CharField, InstantField, JsonField, Model
from server.models.matches import Match
from server.models.people import User


class Tournament(Model):
    """A tournament. Its chance follows from `secret`, see server/tournaments/chance.py."""

    if TYPE_CHECKING:
        host_id: int

    id = AutoField()
    name = CharField(60)
    game = CharField(32)
    options = JsonField()
    clock = JsonField()  # the time rule of its matches
    rated = BooleanField()
    seats = SmallIntegerField()  # of a match, if it is full
    form = CharField(12)  # "round-robin" or "swiss"
    rounds = SmallIntegerField()  # that are planned; settled at the start
    least = SmallIntegerField()
    most = SmallIntegerField()
    host = ForeignKeyField(User, index=False)
    secret = BlobField()  # 32 bytes; shown when no match of it runs any more
    created_at = InstantField()
    starts_at = InstantField()  # until then people enter

    status = CharField(10, default="open")  # open, running, finished, cancelled
    round = SmallIntegerField(default=0)  # the last that has begun
    started_at = InstantField(null=True)
    finished_at = InstantField(null=True)

    class Meta:
        indexes = ((("status", "starts_at"), False), (("host", "status"), False))


class Entry(Model):
    """A person who takes part. Who withdraws keeps his row, so that he may change his mind before the start."""

    if TYPE_CHECKING:
        tournament_id: int
        user_id: int

    tournament = ForeignKeyField(Tournament, index=False)
    user = ForeignKeyField(User)
    contribution = CharField(64)  # the person's part of chance, in the lot and in the deals of his matches
    joined_at = InstantField()
    withdrew_at = InstantField(null=True)
    lot = SmallIntegerField(null=True)  # drawn at the start, from 0; None for who did not begin

    class Meta:
        primary_key = CompositeKey("tournament", "user")


class Pairing(Model):
    """A match of a round; or, without a match, somebody who has that round off."""

    if TYPE_CHECKING:
        tournament_id: int
        match_id: int | None
        user_id: int | None

    tournament = ForeignKeyField(Tournament, index=False)
    round = SmallIntegerField()
    place = SmallIntegerField()  # in the round, from 0
    match = ForeignKeyField(Match, null=True, unique=True)
    user = ForeignKeyField(User, null=True, index=False)  # who has the round off

    class Meta:
        primary_key = CompositeKey("tournament", "round", "place")

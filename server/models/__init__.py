"""Tables and their plain queries; no rules."""

from __future__ import annotations

from typing import Final

from server.models.analyses import Analysis
from server.models.counts import Pace, Part, Rating, Watermark, total
from server.models.feeds import Feed, Webhook
from server.models.fields import EPOCH, MILLISECOND
from server.models.keeping import Deed
from server.models.mail import Inbound, Job, Link, MailKey, Outbox, ReplyToken, Unwanted
from server.models.matches import (
    ClientKey,
    Imported,
    Invited,
    LogRow,
    Match,
    Note,
    Outage,
    Prepared,
    Rematch,
    Seat,
    Talk,
)
from server.models.people import Attempt, Departure, User, Vacation
from server.models.tokens import Token
from server.models.tournaments import Entry, Pairing, Tournament
from server.models.ways import Way

__all__ = [
    "EPOCH",
    "MILLISECOND",
    "TABLES",
    "Analysis",
    "Attempt",
    "ClientKey",
    "Deed",
    "Departure",
    "Entry",
    "Feed",
    "Imported",
    "Inbound",
    "Invited",
    "Job",
    "Link",
    "LogRow",
    "MailKey",
    "Match",
    "Note",
    "Outage",
    "Outbox",
    "Pace",
    "Pairing",
    "Part",
    "Prepared",
    "Rating",
    "Rematch",
    "ReplyToken",
    "Seat",
    "Talk",
    "Token",
    "Tournament",
    "Unwanted",
    "User",
    "Vacation",
    "Watermark",
    "Way",
    "Webhook",
    "total",
]

TABLES: Final = (
    User,
    Match,
    Seat,
    Vacation,
    Prepared,
    Outage,
    Note,
    Invited,
    Rematch,
    LogRow,
    Imported,
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
    Analysis,
    Feed,
    Webhook,
    Token,
    Way,
    Deed,
    Departure,
    Tournament,
    Entry,
    Pairing,
)

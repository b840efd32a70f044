"""Ways out of the house: a channel is handed one finished message and delivers it, or says why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one recipient, complete and in words; how it looks on the wire is the channel's affair.

    `message_id` is the bare id without angle brackets, made when the message was queued, so that a second try repeats
    it. `thread` holds the ids of earlier messages of the same conversation, oldest first. `picture` is a PNG shown in
    `html` as `cid:board`. `reply_to` is the address an answer goes to. `unsubscribe_url` is an https or http address
    that accepts a one-click POST, `unsubscribe_mail` an address. `answer` marks a reply to somebody's own mail.
    `language` is the code of the language it is in.
    """

    to_name: str
    to_address: str
    subject: str
    text: str
    html: str
    message_id: str
    date: datetime
    reply_to: str | None = None
    thread: tuple[str, ...] = ()
    picture: bytes | None = None
    picture_alt: str = ""
    unsubscribe_url: str | None = None
    unsubscribe_mail: str | None = None
    bounce_token: str = ""
    answer: bool = False
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a person's own program: `body`, JSON, goes to `url`, signed with `secret`.

    `message_id` was made when the call was queued, so that a second try repeats it.
    """

    url: str
    secret: str = field(repr=False)
    message_id: str
    body: str


class DeliveryError(Exception):
    """A message was not delivered.

    `permanent`: trying this recipient again is useless. `alarm`: the fault is ours (wrong password, say), an admin must
    look, and no other message should be tried meanwhile. `unknown`: the far side may have taken it.
    """

    def __init__(self, reason: str, *, permanent: bool = False, alarm: bool = False, unknown: bool = False) -> None:
        super().__init__(reason)
        self.permanent = permanent
        self.alarm = alarm
        self.unknown = unknown


Sendable = TypeVar("Sendable", Message, Call, contravariant=True)


class Way(Protocol[Sendable]):
    """What delivers things of one kind."""

    def deliver(self, message: Sendable) -> None:
        """Deliver it. Raises `DeliveryError`."""
        ...


class Channel(Protocol):
    """A way out. A channel may keep connections between messages; `close` ends them."""

    def deliver(self, message: Message) -> None:
        """Deliver the message. Raises `DeliveryError`."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...

"""Ways out of the house: a channel is handed one finished message and delivers it, or says why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from engine.language import later

REFUSALS: Final = {
    401: later("we are not let in there"),
    403: later("we are not let in there"),
    404: later("there is no such address"),
    410: later("there is no such address"),
    429: later("more messages came than it takes"),
}
"""What people are told of what another machine answers instead of taking something, by the number of the answer."""
# From this number on an answer says that the fault is the other machine's.
FAULTS: Final = 500
NOT_TAKEN: Final = later("it was not taken there")
NO_ANSWER: Final = later("there is no answer from there")
NOT_FOUND: Final = later("there is no machine of that name")
NOT_PUBLIC: Final = later("that is no public machine")


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


@dataclass(frozen=True, slots=True)
class Brief:
    """One short message to a person by another way than mail, complete and in words: a title, sentences, an address.

    `address` is what the channel's `Kind.read` made of what the person gave. `message_id` was made when the message was
    queued, so that a second try repeats it. `language` is the code of the language it is in.
    """

    address: Mapping[str, str] = field(repr=False)
    message_id: str
    title: str
    text: str
    url: str
    language: str = "en"

    @property
    def linked(self) -> str:
        """The text with the address below it, for a service that leads nowhere by itself."""
        return f"{self.text}\n{self.url}".strip()


@dataclass(frozen=True, slots=True)
class Blank:
    """What a person has to give for a way of some kind: a field of a form, in words to be translated.

    `secret`: nobody should read it over his shoulder. `optional`: it may be left empty.
    """

    name: str
    label: str
    hint: str = ""
    secret: bool = False
    optional: bool = False


class DeliveryError(Exception):
    """A message was not delivered.

    `permanent`: trying this recipient again is useless. `alarm`: the fault is ours (wrong password, say), an admin must
    look, and no other message should be tried meanwhile. `unknown`: the far side may have taken it. `wait`: so long
    should pass before the next try, as the far side asks. `gone`: of a way, that there is no such address any more.
    The reason is for keepers; `said` is what the person is told whose machine or service it is, a clause to translate.
    """

    def __init__(
        self,
        reason: str,
        *,
        permanent: bool = False,
        alarm: bool = False,
        unknown: bool = False,
        wait: timedelta = timedelta(0),
        gone: bool = False,
        said: str = NOT_TAKEN,
    ) -> None:
        super().__init__(reason)
        self.said = said
        self.permanent = permanent or gone
        self.alarm = alarm
        self.unknown = unknown
        self.wait = wait
        self.gone = gone


def answered(status: int, *, permanent: bool = False, wait: timedelta = timedelta(0)) -> DeliveryError:
    """Return the fault of a machine that has answered with this number instead of taking something."""
    said = REFUSALS.get(status) or (later("something is broken there") if status >= FAULTS else NOT_TAKEN)
    return DeliveryError(f"the answer was {status}", permanent=permanent, wait=wait, said=said)


Sendable = TypeVar("Sendable", Message, Call, Brief, contravariant=True)


class Carrier(Protocol[Sendable]):
    """What delivers things of one kind."""

    def deliver(self, message: Sendable) -> None:
        """Deliver it. Raises `DeliveryError`."""
        ...


class Kind(Carrier[Brief], Protocol):
    """A kind of way to tell a person something besides by mail: one service, one folder or module.

    `name` is the service's own, and `blanks` are the fields that a person fills in; none for what no form can give.
    """

    name: str
    blanks: Sequence[Blank]

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the address to store, checked and cleaned, of what a person gave in the blanks.

        Nothing is asked of anybody. Raises `DeliveryError` with a sentence to translate.
        """
        ...

    def shown(self, address: Mapping[str, str]) -> str:
        """Return what of an address may be shown to its owner and to keepers: no secret of it."""
        ...


class Channel(Protocol):
    """A way out. A channel may keep connections between messages; `close` ends them."""

    def deliver(self, message: Message) -> None:
        """Deliver the message. Raises `DeliveryError`."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...

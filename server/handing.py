"""How the queue of mails, calls and briefs is emptied: things are claimed, written, handed over, and noted as sent.

First one is claimed, then twice as many each time, as long as that is quick: so schedulers share what little there is,
and a long queue costs few transactions. Those of one claim are noted as handed over in one commit, before the first of
them is; after a crash each of them is tried once more, alone, with the same id.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Final, Generic, TypeVar

from server import db
from server.channels import Brief, Call, Carrier, DeliveryError, Message
from server.models import Outbox, User

logger = logging.getLogger("server.outbox")

LEASE: Final = timedelta(minutes=5)
# How long to wait after the first, second ... failed try.
WAITS: Final = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60, 180, 360, 720, 1440))
# After our own fault (a wrong password, say) nothing is tried for this long.
ALARM_PAUSE: Final = timedelta(minutes=15)
# The kind of what is no mail but a call of somebody's program.
CALL: Final = "call"
# What has left is noted as sent after so many seconds, or as soon as the one in hand has left or failed.
NOTED: Final = 0.2
# More are claimed at once as long as a claim is done with in so many seconds.
QUICK: Final = 1.0
# Others may have what is left of a claim after so many seconds, far less than a lease.
PATIENCE: Final = 20.0
Thing = TypeVar("Thing", Message, Call, Brief)
Heard = Callable[[Outbox, DeliveryError | None, datetime], None]


@dataclass(frozen=True, slots=True)
class Written(Generic[Thing]):
    """A mail in words, and what has to be stored before it is handed over, such as the tokens of its links."""

    thing: Thing
    stores: Sequence[Callable[[], object]] = ()


Writer = Callable[[Outbox, datetime], Thing | Written[Thing] | str | datetime]


def is_mail() -> Any:
    """Return the condition that a row of the queue is a mail: no call, and nothing that goes another way."""
    return (Outbox.kind != CALL) & Outbox.way.is_null()


def empty(hands: Hands[Thing], limit: int, most: int, which: Callable[[], Any]) -> int:
    """Send what is due of what `which` tells each time, until it tells None, and return how many left.

    No more than `limit` are tried, and no more than `most` claimed at once.
    """
    sent, size = 0, 1
    while limit > 0 and not hands.stopped:
        wanted = which()
        mails = [] if wanted is None else _claim(hands.now(), wanted, min(size, limit, most))
        if not mails:
            break
        limit -= len(mails)
        began = time.monotonic()
        sent += hands.send(mails)
        size = 2 * size if time.monotonic() - began < QUICK else 1
    return sent


def _claim(now: datetime, which: Any, most: int) -> list[Outbox]:
    """Take the oldest due mails for a while; nobody else will, and if this process dies somebody will later.

    A mail in hand is due again when the lease is over: then the process died. If it had come as far as handing the mail
    over, the mail may have been delivered: it is sent once more with the same id and never again. Such a mail is taken
    alone, so that no other is given up with it.
    """
    due = which & Outbox.done_at.is_null() & (Outbox.due_at <= now)
    twice = due & (Outbox.state == "handed") & (Outbox.unsure == True)  # noqa: E712
    with db.transaction():
        Outbox.update(state="failed", done_at=now, note="cut off twice while sending").where(twice).execute()
        oldest = Outbox.select().where(due).order_by(Outbox.due_at, Outbox.id).limit(most)
        found = list(db.locked(oldest, skip=True))
        mails = list(takewhile(lambda mail: not _may_have_left(mail), found)) or found[:1]
        if mails:
            lease, unsure = secrets.token_hex(8), _may_have_left(mails[0])
            for mail in mails:
                mail.unsure, mail.state, mail.attempts, mail.lease = unsure, "taken", mail.attempts + 1, lease
            taken = {"due_at": now + LEASE, "unsure": unsure, "state": "taken", "lease": lease}
            Outbox.update(attempts=Outbox.attempts + 1, **taken).where(Outbox.id.in_(_ids(mails))).execute()
    return mails


def _may_have_left(mail: Outbox) -> bool:
    return mail.unsure or mail.state == "handed"


def _ids(mails: Iterable[Outbox]) -> list[int]:
    return [mail.id for mail in mails]


class Hands(Generic[Thing]):
    """What sends mails that have been claimed; `stopped` once a fault is our own, so that no other is to be tried."""

    def __init__(
        self, channel: Carrier[Thing], write: Writer[Thing], now: Callable[[], datetime], heard: Heard
    ) -> None:
        self.now = now
        self.stopped = False
        self._channel: Carrier[Thing] = channel
        self._write: Writer[Thing] = write
        self._heard = heard

    def send(self, mails: Sequence[Outbox]) -> int:
        """Write mails and hand them over; return how many left."""
        ready, gone, sent = self._ready(mails), list[Outbox](), 0
        began = noted = time.monotonic()
        while ready and not self.stopped and time.monotonic() - began < PATIENCE:
            mail, thing = ready.pop(0)
            with self._minding(mail, self._heard):
                self._channel.deliver(thing)
                gone.append(mail)
            if time.monotonic() - noted > NOTED or not ready:
                sent += self._note_sent(gone)
                noted, gone = time.monotonic(), []
        sent += self._note_sent(gone)
        _give_back([mail for mail, _ in ready])
        return sent

    def _ready(self, mails: Sequence[Outbox]) -> list[tuple[Outbox, Thing]]:
        """Write mails; return those to hand over, after noting of all at once that from here on they may arrive."""
        written = []
        for mail in mails:
            with self._minding(mail):
                written.append((mail, self._write(mail, self.now())))
            if self.stopped:
                _give_back(mails)
                return []
        ready = []
        with db.transaction():
            for mail, told in written:
                with self._minding(mail):
                    if (thing := self._settled(mail, told)) is not None:
                        ready.append((mail, thing))
            held = _note_handed([mail for mail, _ in ready])
        return [(mail, thing) for mail, thing in ready if mail.id in held]

    def _settled(self, mail: Outbox, told: Thing | Written[Thing] | str | datetime) -> Thing | None:
        """Return what is to be handed over, with all stored that belongs to it, or note why nothing is."""
        if isinstance(told, str):
            _close([mail], "dropped", told, self.now())
        elif isinstance(told, datetime):
            _wait(mail, told)
        elif isinstance(told, Written):
            with db.transaction():
                for store in told.stores:
                    store()
            return told.thing
        else:
            return told
        return None

    @contextmanager
    def _minding(self, mail: Outbox, heard: Heard | None = None) -> Iterator[None]:
        """Put the mail off or give it up if the block fails; `heard` is told why, if it is no fault of ours."""
        try:
            yield
        except DeliveryError as fault:
            self._failed(mail, fault, heard)
        except Exception as fault:
            # A mail that cannot be written must not stop the queue; it is tried again like one that was put off.
            logger.exception("mail %s cannot be written", mail.id)
            self._failed(mail, DeliveryError(f"cannot be written: {type(fault).__name__}"), None)

    def _failed(self, mail: Outbox, fault: DeliveryError, heard: Heard | None) -> None:
        with db.transaction():
            self.stopped = not _noted(mail, fault, self.now()) or self.stopped
            if heard:
                heard(mail, fault, self.now())

    def _note_sent(self, mails: Sequence[Outbox]) -> int:
        if mails:
            with db.transaction():
                _close(mails, "sent", "", self.now())
                for mail in mails:
                    self._heard(mail, None, self.now())
        return len(mails)


def _note_handed(mails: Sequence[Outbox]) -> set[int]:
    """Note that mails may arrive from here on; return which of them still are in this process's hands."""
    if not mails or Outbox.update(state="handed").where(_mine(*mails)).execute() == len(mails):
        return set(_ids(mails))
    return {mail.id for mail in Outbox.select(Outbox.id).where(_mine(*mails))}


def _give_back(mails: Sequence[Outbox]) -> None:
    """Let mails that nobody was handed be taken up again, by anybody, as if nobody had taken them."""
    if mails:
        in_hand = Outbox.state.in_(["taken", "handed"])
        with db.transaction():
            back = {"state": "queued", "lease": "", "attempts": Outbox.attempts - 1, "due_at": mails[0].due_at}
            Outbox.update(**back).where(_mine(*mails) & in_hand).execute()


def _mine(*mails: Outbox) -> Any:
    """The rows, of one lease, as far as they still are in this process's hands."""
    return Outbox.id.in_(_ids(mails)) & Outbox.done_at.is_null() & (Outbox.lease == mails[0].lease)


def _close(mails: Sequence[Outbox], state: str, note: str, now: datetime, *, stop: bool = False) -> None:
    """End the way of mails; `stop` also stops further mail to their addresses."""
    with db.transaction():
        Outbox.update(state=state, note=note[:200], done_at=now).where(_mine(*mails)).execute()
        if stop:
            User.update(mail_stopped=note[:200]).where(User.id.in_([mail.user_id for mail in mails])).execute()


def _wait(mail: Outbox, until: datetime) -> None:
    """Let the mail lie until an instant, as if nobody had taken it up."""
    with db.transaction():
        waits = {"state": "queued", "due_at": until, "attempts": mail.attempts - 1}
        Outbox.update(**waits).where(_mine(mail)).execute()


def _noted(mail: Outbox, fault: DeliveryError, now: datetime) -> bool:
    """Put the mail off or give it up; return whether the others may be tried."""
    if fault.alarm:
        logger.critical("outgoing mail stands still: %s", fault)
        _put_off(mail, fault, now + ALARM_PAUSE, attempts=mail.attempts - 1)
        return False
    # A mail that may have arrived is sent once more and never again.
    if fault.permanent or (fault.unknown and mail.unsure) or mail.attempts > len(WAITS):
        _close([mail], "failed", str(fault), now, stop=fault.permanent and mail.kind != CALL and mail.way is None)
    else:
        _put_off(mail, fault, now + pause(mail.attempts, fault), attempts=mail.attempts)
    return True


def pause(failures: int, fault: DeliveryError) -> timedelta:
    """Return how long to wait after so many failures in a row, the last of them this; never longer than the longest."""
    usual = WAITS[min(failures, len(WAITS)) - 1]
    return max(usual, min(fault.wait, WAITS[-1]))


def _put_off(mail: Outbox, fault: DeliveryError, due_at: datetime, *, attempts: int) -> None:
    with db.transaction():
        Outbox.update(
            state="queued",
            due_at=due_at,
            note=str(fault)[:200],
            attempts=attempts,
            unsure=mail.unsure or fault.unknown,
            alarm=fault.alarm,
        ).where(_mine(mail)).execute()

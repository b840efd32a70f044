"""The ways in for mail: a door of the house beside pages and commands, open for the mails of the setting MAIL_IN."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from server import db, throttle
from server.errors import Refused
from server.feeders.imap import Account, Fetcher
from server.feeders.smtp import Listener
from server.inbound import door
from server.inbound.door import LARGEST, Envelope
from server.settings import Settings, WayIn, WrongSetting

# Seconds between two looks into a mailbox.
EVERY: Final = 30.0
# Bytes of a mail to the keepers or the house itself, which anybody may write to.
LARGEST_TO_ALL: Final = 64 * 1024


class Feeders:
    """The ways in of one process, started."""

    def __init__(self, running: list[Listener | Fetcher]) -> None:
        self.running = running

    def stop(self) -> None:
        """Take no more mail."""
        for feeder in self.running:
            feeder.stop()


def start(
    settings: Settings,
    receive: Callable[[bytes, Envelope], object],
    now: Callable[[], datetime],
    *,
    every: float = EVERY,
) -> Feeders:
    """Open every way in that the settings name. `receive` has kept a mail when it returns; it is called from threads.

    Raises `WrongSetting` if an address to listen on cannot be had; then none is open.
    """

    def kept(raw: bytes, envelope: Envelope) -> None:
        with db.connected():
            receive(raw, envelope)

    def knows(address: str) -> bool:
        with db.connected():
            return door.knows(address, settings)

    def allows(peer: str, address: str, known: bool) -> bool:
        try:
            with db.connected():
                for kind, key in _counted(peer, known, for_all=known and _is_for_all(address, settings)):
                    throttle.count(kind, key, now())
        except Refused:
            return False
        return True

    def largest(address: str) -> int:
        return LARGEST_TO_ALL if _is_for_all(address, settings) else LARGEST

    feeders = Feeders([])
    for way in settings.mail_in:
        if way.kind == "imap":
            fetcher = Fetcher(Account(way, kept), now, every)
            fetcher.start()
            feeders.running.append(fetcher)
        elif way.kind != "pipe":
            listener = Listener(way, settings.mail_domain, kept, knows, allows, largest)
            try:
                listener.start()
            except (OSError, UnicodeError) as fault:
                feeders.stop()
                raise WrongSetting("MAIL_IN", f"{_name(way)} cannot be used ({_why(fault)}).") from None
            feeders.running.append(listener)
    return feeders


def _is_for_all(address: str, settings: Settings) -> bool:
    """Whether anybody may write to the address, not only who was sent it."""
    found = door.ours(address, settings)
    return found is not None and found.kind in {"keeper", "house"}


def _counted(peer: str, known: bool, *, for_all: bool) -> Iterator[tuple[str, str]]:
    """Yield kinds and keys of the throttle for one recipient; `peer` is empty if it brings what others have sent."""
    if peer:
        # One mail server may speak for many people, so what one of them does wrong must not shut out the others.
        yield ("mail from" if known else "stray from"), peer
    if peer and for_all:
        yield "keeper mail from", peer
    if for_all:
        yield "keeper mail to", "all"


def _name(way: WayIn) -> str:
    return f"{way.kind}://{f'[{way.host}]' if ':' in way.host else way.host}:{way.port}"


def _why(fault: OSError | UnicodeError) -> str:
    if isinstance(fault, OSError) and (fault.errno or 0) > 0:
        return os.strerror(fault.errno or 0)  # the fault's own words say the address once more
    return "there is no such host"

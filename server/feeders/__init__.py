"""The ways in for mail: a door of the house beside pages and commands, open for the mails of the setting MAIL_IN."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import Final

from server import db, throttle
from server.errors import Refused
from server.feeders.imap import Account, Fetcher
from server.feeders.smtp import Listener
from server.inbound import door
from server.inbound.door import Envelope
from server.settings import Settings, WayIn, WrongSetting

# Seconds between two looks into a mailbox.
EVERY: Final = 30.0


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

    def allows(peer: str) -> bool:
        try:
            with db.connected():
                throttle.count("mail from", peer, now())
        except Refused:
            return False
        return True

    feeders = Feeders([])
    for way in settings.mail_in:
        if way.kind == "imap":
            fetcher = Fetcher(Account(way, kept), now, every)
            fetcher.start()
            feeders.running.append(fetcher)
        elif way.kind != "pipe":
            listener = Listener(way, settings.mail_domain, kept, knows, allows)
            try:
                listener.start()
            except (OSError, UnicodeError) as fault:
                feeders.stop()
                raise WrongSetting("MAIL_IN", f"{_name(way)} cannot be used ({_why(fault)}).") from None
            feeders.running.append(listener)
    return feeders


def _name(way: WayIn) -> str:
    return f"{way.kind}://{f'[{way.host}]' if ':' in way.host else way.host}:{way.port}"


def _why(fault: OSError | UnicodeError) -> str:
    if isinstance(fault, OSError) and (fault.errno or 0) > 0:
        return os.strerror(fault.errno or 0)  # the fault's own words say the address once more
    return "there is no such host"

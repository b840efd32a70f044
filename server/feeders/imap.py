"""Mail comes in from a mailbox at a provider (RFC 3501): we look every half minute and fetch what is new.

What is new is told by the numbers that the server gives (UIDVALIDITY and UID), because other programs may read the same
mailbox and mark mails as read. That mark matters only at the first look, when the numbers say nothing yet.
"""

from __future__ import annotations

import hashlib
import imaplib
import logging
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

from imap_tools.errors import ImapToolsError, MailboxFolderSelectError, MailboxLoginError
from imap_tools.mailbox import BaseMailBox
from imap_tools.query import AND, OR, U

from server import db
from server.errors import Refused
from server.feeders.faults import told
from server.inbound.door import LARGEST, Envelope
from server.settings import WayIn

logger = logging.getLogger(__name__)

# At the first look a mail that young is new even if somebody has read it.
YOUNG: Final = timedelta(days=7)
# Seconds that a reply may take, that a poll goes on to the next mail, and that it may take in all.
REPLY: Final = 15.0
SLICE: Final = 20.0
BOUND: Final = 90.0
# A mail that could not be kept is tried again after this long, then after twice as long, and so on.
AGAIN: Final = timedelta(minutes=1)
AGAIN_AT_MOST: Final = timedelta(hours=1)
# Seconds between polls at most while the server cannot be reached, and after it has refused our login.
AWAY: Final = 600.0
LOCKED_OUT: Final = 1800.0

# What a connection comes to, or a server that makes no sense.
BROKEN: Final = (OSError, imaplib.IMAP4.error, ImapToolsError, ValueError)


class Trouble(Exception):
    """No mail can be fetched now; str() says why in one sentence without secrets. `refused`: our login is wrong."""

    def __init__(self, sentence: str, *, refused: bool = False) -> None:
        super().__init__(sentence)
        self.refused = refused


class _Try(NamedTuple):
    """How often a mail could not be kept, and when to try again; None is at once."""

    failures: int = 0
    due: datetime | None = None

    def ready(self, now: datetime) -> bool:
        # Whatever is due later than ever was meant was so by a clock that has been put back.
        return self.due is None or not now < self.due <= now + AGAIN_AT_MOST


class Account:
    """One folder of one mailbox. `receive` has kept a mail when it returns. The connection is kept between polls."""

    def __init__(
        self, way: WayIn, receive: Callable[[bytes, Envelope], object], *, context: ssl.SSLContext | None = None
    ) -> None:
        """Make the account without connecting. `context` replaces the system's idea of whom to trust."""
        self.way = way
        self.receive = receive
        self._context = context
        self._box: BaseMailBox | None = None
        self._line: socket.socket | None = None
        self._closed = False
        self._validity: int | None = None
        self._next = 0  # every mail below this number has been seen by us, and is in `_waiting` if it is not kept
        self._waiting: dict[int, _Try] = {}

    def poll(self, now: datetime) -> bool:
        """Have what is new kept, each mail by itself, and mark it as read; return whether more is left to do at once.

        Raises `Trouble`; then the connection is gone, and the next poll makes another.
        """
        # A server that sends a byte now and then would otherwise hold us for ever.
        bound = threading.Timer(BOUND, self._cut)
        bound.daemon = True
        bound.start()
        try:
            box = self._selected()
            self._look(box, now)
            return self._work(box, now)
        except Exception as fault:
            self._drop()
            if isinstance(fault, BROKEN):
                raise self._trouble(_why(fault)) from None
            raise
        finally:
            bound.cancel()

    def check(self) -> None:
        """Log in, select the folder and leave. Raises `Trouble`."""
        try:
            self._selected()
        except BROKEN as fault:
            raise self._trouble(_why(fault)) from None
        finally:
            self._drop()

    def interrupt(self) -> None:
        """End a poll of another thread, which then raises `Trouble`, and every later one."""
        self._closed = True
        self._cut()

    def close(self) -> None:
        """Let go of the connection."""
        self._drop()

    def _selected(self) -> BaseMailBox:
        """Return a connection with the folder selected anew: the kept one if it still answers."""
        if self._box is not None:
            with suppress(*BROKEN):
                self._box.folder.set(self.way.folder)
                return self._box
            self._drop()
        box = self._log_in()
        try:
            box.folder.set(self.way.folder)
        except (MailboxFolderSelectError, imaplib.IMAP4.readonly) as fault:
            readonly = isinstance(fault, imaplib.IMAP4.readonly)
            why = f"its folder {self.way.folder} {'is read-only' if readonly else 'cannot be opened'}"
            raise self._trouble(why) from None
        return box

    def _log_in(self) -> BaseMailBox:
        way = self.way
        if self._closed:
            raise self._trouble("we are closing")
        context = (self._context or ssl.create_default_context()) if way.tls else None
        self._box = box = _Box(lambda: _Client(way, context, self._opened))
        if "LOGINDISABLED" in box.client.capabilities:
            raise self._trouble("it takes no password unprotected; use imaps://", refused=True)
        plain = way.user.isascii() and way.password.isascii()
        try:
            (box.login if plain else box.login_utf8)(way.user, way.password, initial_folder=None)
        except imaplib.IMAP4.abort:
            raise
        except (MailboxLoginError, imaplib.IMAP4.error) as fault:
            # RFC 5530: the server's own trouble. Its other words are left out: some repeat what they were sent.
            if "[UNAVAILABLE]" in str(fault):
                raise self._trouble("its logins do not work just now") from None
            raise self._trouble("it refuses our user or password", refused=True) from None
        return box

    def _look(self, box: BaseMailBox, now: datetime) -> None:
        """Note what has come since the last look; after a change of the numbers, everything that may be new."""
        validity, coming = _number(box, "UIDVALIDITY"), _number(box, "UIDNEXT")
        first = validity != self._validity
        wanted = OR(seen=False, date_gte=(now - YOUNG).date()) if first else AND(uid=U(str(self._next), "*"))
        found = [int(uid) for uid in box.uids(wanted, charset=None)]
        if first:
            self._waiting, self._next = {}, 0
        self._validity = validity
        # The last mail always fits "to the end", however low its number.
        self._waiting |= {uid: _Try() for uid in found if uid >= self._next}
        self._next = max([self._next, coming, *(uid + 1 for uid in found)])

    def _work(self, box: BaseMailBox, now: datetime) -> bool:
        until = time.monotonic() + SLICE
        for uid in sorted(uid for uid, attempt in self._waiting.items() if attempt.ready(now)):
            if self._closed or time.monotonic() > until:
                return True
            self._take(box, uid, now)
        return False

    def _take(self, box: BaseMailBox, uid: int, now: datetime) -> None:
        """Have one mail kept and mark it as read, or note when to try again."""
        try:
            raw = _fetch(box, uid)
            if raw is not None and not self._kept(uid, raw, now):
                return
        except Refused:
            logger.warning("mail %s in %s is passed over: it has more than %s bytes", uid, self, LARGEST)
        # Nothing of ours hangs on the mark, so it does not matter if it cannot be set.
        box.client.uid("STORE", str(uid), "+FLAGS.SILENT", r"(\Seen)")
        del self._waiting[uid]

    def _kept(self, uid: int, raw: bytes, now: datetime) -> bool:
        """Have the mail kept and return whether it is. Raises `Refused` (too-large), and `Trouble` without database."""
        try:
            self.receive(raw, Envelope("imap", place=place(self.way, self._validity or 0, uid)))
        except db.Unavailable as fault:
            raise self._trouble(f"the database cannot be used ({told(fault)})") from None
        except Exception as fault:
            if isinstance(fault, Refused) and fault.code == "too-large":
                raise
            failures = self._waiting[uid].failures
            self._waiting[uid] = _Try(failures + 1, now + min(AGAIN * 2 ** min(failures, 10), AGAIN_AT_MOST))
            # Its words may quote the mail.
            logger.error("mail %s in %s could not be kept: %s", uid, self, told(fault))
            return False
        return True

    def _opened(self, line: socket.socket) -> None:
        self._line = line

    def _cut(self) -> None:
        if self._line is not None:
            with suppress(OSError):
                # Not the method of a protected socket: it would pull the protection away from under the reader.
                socket.socket.shutdown(self._line, socket.SHUT_RDWR)

    def _drop(self) -> None:
        if self._box is not None:
            with suppress(OSError):
                self._box.client.shutdown()
            self._box = None

    def _trouble(self, why: str, *, refused: bool = False) -> Trouble:
        return Trouble(f"No mail can be fetched from {self}: {why}.", refused=refused)

    def __str__(self) -> str:
        return f"{self.way.user} at {self.way.host}"


class _Client(imaplib.IMAP4):
    """Speaks IMAP, over TLS if there is a context; `opened` is told of the socket before the server says anything."""

    def __init__(self, way: WayIn, context: ssl.SSLContext | None, opened: Callable[[socket.socket], None]) -> None:
        self._context = context
        self._opened = opened
        super().__init__(way.host, way.port, REPLY)

    def open(self, host: str = "", port: int = 0, timeout: float | None = None) -> None:
        """Connect."""
        self.host, self.port = host, port
        line = socket.create_connection((host, port), timeout)
        self.sock = self._context.wrap_socket(line, server_hostname=host) if self._context else line
        self._opened(self.sock)
        self.file = self.sock.makefile("rb")


class _Box(BaseMailBox):
    """The library's mailbox on a client of ours."""

    def __init__(self, dial: Callable[[], imaplib.IMAP4]) -> None:
        self._dial = dial
        super().__init__()

    def _get_mailbox_client(self) -> imaplib.IMAP4:
        return self._dial()


class Fetcher:
    """Polls an account in a thread of its own, `every` so many seconds, from `start` to `stop`."""

    def __init__(self, account: Account, now: Callable[[], datetime], every: float) -> None:
        self.account = account
        self.now = now
        self.every = every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="imap", daemon=True)
        self._complaint = ""

    def start(self) -> None:
        """Begin; nothing is raised, whatever the server says."""
        self._thread.start()

    def stop(self) -> None:
        """End at once, but for a mail that is just being kept."""
        self._ended.set()
        self.account.interrupt()
        self._thread.join(1)

    def _run(self) -> None:
        faults = 0
        while not self._ended.is_set():
            try:
                wait = 0.0 if self.account.poll(self.now()) else self.every
                faults = 0
                self._say("")
            except Trouble as trouble:
                faults += 1
                wait = LOCKED_OUT if trouble.refused else min(self.every * 2 ** min(faults, 10), AWAY)
                self._say(str(trouble), alarm=trouble.refused)
            except Exception as fault:  # noqa: BLE001 - its words may quote a mail
                faults += 1
                wait = AWAY
                self._say(f"Fetching mail from {self.account} failed: {told(fault)}", alarm=True)
            self._ended.wait(wait)
        self.account.close()

    def _say(self, complaint: str, *, alarm: bool = False) -> None:
        """Log what is wrong when it begins and when it is over, not at every try."""
        if complaint == self._complaint or self._ended.is_set():
            return
        self._complaint = complaint
        if complaint:
            logger.log(logging.ERROR if alarm else logging.WARNING, "%s", complaint)
        else:
            logger.info("Mail is fetched again from %s", self.account)


def place(way: WayIn, validity: int, uid: int) -> str:
    """Return the name of the place where a mail lies, at most 200 characters; no other mail ever lies there."""
    folder = f"{way.user}@{way.host}/{way.folder}"
    if len(folder) > 170:
        folder = f"{folder[:100]} {hashlib.sha256(folder.encode()).hexdigest()}"
    return f"imap {folder} {validity} {uid}"


def _fetch(box: BaseMailBox, uid: int) -> bytes | None:
    """Return a mail, None if it is gone. Raises `Refused` (too-large) without fetching it."""
    size = re.search(rb"RFC822\.SIZE (\d+)", b" ".join(_answers(box, uid, "(RFC822.SIZE)")))
    if size is None:
        return None
    # Some servers misjudge sizes, so no more than one byte too much is asked for either.
    if int(size[1]) <= LARGEST:
        answers = _answers(box, uid, f"(BODY.PEEK[]<0.{LARGEST + 1}>)")
        raw = next((after for before, after in pairwise(answers) if b"BODY[]" in before), None)
        if raw is None or len(raw) <= LARGEST:
            return raw
    raise Refused("too-large", "The mail is too large.")


def _answers(box: BaseMailBox, uid: int, what: str) -> list[bytes]:
    """Return the pieces of the server's answer: lines, and between them the literal ones, such as a mail."""
    status, answers = box.client.uid("FETCH", str(uid), what)
    if status != "OK":
        raise imaplib.IMAP4.error("fetch")
    pieces: list[bytes] = []
    for answer in answers:
        pieces += answer if isinstance(answer, tuple) else [answer or b""]
    return pieces


def _number(box: BaseMailBox, name: str) -> int:
    """Return a number that the server told when the folder was selected, 0 if it did not."""
    number = box.client.response(name)[1][-1]
    return int(number) if number else 0


def _why(fault: Exception) -> str:
    """Return why a connection failed. What a server says is left out: it may quote a mail or our login."""
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({fault.verify_message})"
    if isinstance(fault, TimeoutError):
        return "it does not answer"
    if isinstance(fault, OSError) and fault.strerror:
        return f"it cannot be reached ({fault.strerror})"
    return "it broke off, or what it said made no sense"

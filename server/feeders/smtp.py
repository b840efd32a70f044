"""Mail comes in by SMTP (RFC 5321) or LMTP (RFC 2033): we listen, and say 250 only to what is kept."""

from __future__ import annotations

import asyncio
import collections
import ipaddress
import logging
import socket
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP
from aiosmtpd.smtp import Envelope as Asked
from aiosmtpd.smtp import Session as Talk

from server.errors import Refused
from server.feeders.faults import told
from server.inbound.door import LARGEST, Envelope
from server.settings import WayIn

logger = logging.getLogger(__name__)

# Over LMTP each recipient has an answer of his own to the mail, over SMTP there is one for all.
MOST_RECIPIENTS: Final = {"smtp": 5, "lmtp": 1}
# Each may take twelve megabytes of memory, with a mail of nothing but line ends.
MOST_CONVERSATIONS: Final = 25
# Of one network address: nobody fills the house alone. Who delivers by LMTP brings what others have sent.
MOST_FROM_ONE: Final = 8
# Bytes. The standard allows a thousand, and mail programs do not keep to it.
LONGEST_LINE: Final = 16 * 1024
# Seconds before the first command, without a further one, and that a conversation may last in all.
HESITATION: Final = 10.0
SILENCE: Final = 60.0
LIFETIME: Final = 300.0
# How often a command may come in one conversation; * is any other.
COMMANDS: Final = {"MAIL": 100, "RCPT": 500, "DATA": 100, "RSET": 100, "*": 20}
WORKERS: Final = 4
# Seconds that mails in hand are given when we stop.
FAREWELL: Final = 0.7

TOO_LARGE: Final = "552 5.3.4 The mail is too large"
LATER: Final = "451 4.3.0 Not now; please try again later"

T = TypeVar("T")


class Listener:
    """Takes mail on an address and a port, in a thread of its own, from `start` to `stop`.

    `receive` is called with a mail and its envelope, and has kept it when it returns; `knows` says whether an address
    takes mail, and `largest` how many bytes a mail to it may have. `allows` says whether a network address may send one
    more mail just now, to an address that is known or not; by LMTP it is "", for the other side brings what others have
    sent. They are called from several threads.
    """

    def __init__(
        self,
        way: WayIn,
        domain: str,
        receive: Callable[[bytes, Envelope], object],
        knows: Callable[[str], bool],
        allows: Callable[[str, str, bool], bool],
        largest: Callable[[str], int],
    ) -> None:
        self.way = way
        self.port = way.port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=way.kind, daemon=True)
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix=way.kind)
        self._desk = _Desk(way.kind, domain.casefold(), receive, knows, allows, largest, self._workers)
        self._open: set[_Conversation] = set()
        self._server: asyncio.Server | None = None

    def start(self) -> None:
        """Listen. Raises `OSError` if the address cannot be had. A port of 0 becomes the one that was free."""
        # Below this level the library writes every address down, and ours hold tokens.
        logging.getLogger("mail.log").setLevel(logging.ERROR)
        try:
            listening = _bind(self.way.host, self.way.port)
        except OSError:
            self._loop.close()
            raise
        self.port = listening.getsockname()[1]
        self._thread.start()
        self._server = self._run(
            self._loop.create_server(lambda: _Threshold(self._welcome), sock=listening, backlog=200)
        )

    def stop(self) -> None:
        """Take no more, answer the mails in hand if that is quick, and leave. The second time does nothing."""
        if self._loop.is_closed():
            return
        self._run(self._leave())
        self._workers.shutdown(wait=False, cancel_futures=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[None, None, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _welcome(self, origin: str) -> asyncio.Protocol:
        lmtp = self.way.kind == "lmtp"
        bound = MOST_CONVERSATIONS if lmtp and _is_here(origin) else MOST_FROM_ONE
        if len(self._open) >= MOST_CONVERSATIONS or sum(talk.origin == origin for talk in self._open) >= bound:
            return _Crowded()
        return (_Lmtp if lmtp else _Smtp)(self._desk, origin, self._open, self._loop)

    async def _leave(self) -> None:
        if self._server:
            self._server.close()
        talks = list(self._open)
        for talk in talks:
            if talk.in_hand is None:
                talk.leave()
        await _wait([talk.in_hand for talk in talks if talk.in_hand], FAREWELL)
        await asyncio.sleep(0)  # what has just been kept is answered first
        for talk in talks:
            talk.leave()
        await _wait([talk.task for talk in talks if talk.task], FAREWELL / 4)


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where a conversation touches the house. The library finds the methods by their names."""

    kind: str
    domain: str
    receive: Callable[[bytes, Envelope], object]
    knows: Callable[[str], bool]
    allows: Callable[[str, str, bool], bool]
    largest: Callable[[str], int]
    workers: ThreadPoolExecutor

    async def handle_RCPT(  # noqa: N802
        self, conversation: _Conversation, _talk: Talk, asked: Asked, address: str, _options: list[str]
    ) -> str:
        """Take a recipient of ours, or say why not."""
        if address.casefold() == "postmaster":  # RFC 5321 4.5.1: needs no domain
            address = f"postmaster@{self.domain}"
        if address.rpartition("@")[2].casefold() != self.domain:
            return "550 5.7.1 We pass no mail on"
        if len(asked.rcpt_tos) >= MOST_RECIPIENTS[self.kind]:
            return "452 4.5.3 Too many recipients; please send to the others with another mail"
        peer = "" if self.kind == "lmtp" else conversation.origin
        answer = await conversation.loop.run_in_executor(self.workers, self.admit, peer, address)
        if answer.startswith("250"):
            asked.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, conversation: _Conversation, _talk: Talk, asked: Asked) -> str:  # noqa: N802
        """Keep the mail, once for each recipient, then answer."""
        sender = "" if asked.mail_from in (None, "<>") else asked.mail_from
        envelopes = [Envelope(self.kind, sender, recipient) for recipient in asked.rcpt_tos]
        raw = asked.original_content or b""
        conversation.in_hand = conversation.loop.run_in_executor(self.workers, self.keep, raw, envelopes)
        try:
            return await conversation.in_hand
        finally:
            conversation.in_hand = None

    async def handle_exception(self, fault: Exception) -> str:
        """Answer a fault of ours."""
        logger.error("a conversation failed: %s", told(fault))
        return LATER

    def admit(self, peer: str, address: str) -> str:
        """Return the answer to a peer that names an address of our domain."""
        try:
            known = self.knows(address)
            if not self.allows(peer, address, known):
                return "450 4.7.1 Too many mails; please try again later"
            return "250 2.1.5 Yes" if known else "550 5.1.1 There is no such address here"
        except Exception as fault:  # noqa: BLE001 - its words may hold the address
            logger.error("an address could not be looked up: %s", told(fault))
            return LATER

    def keep(self, raw: bytes, envelopes: list[Envelope]) -> str:
        """Have the mail kept and return the answer."""
        if any(len(raw) > self.largest(envelope.recipient or "") for envelope in envelopes):
            return TOO_LARGE
        try:
            for envelope in envelopes:
                self.receive(raw, envelope)
        except Refused as refusal:
            return TOO_LARGE if refusal.code == "too-large" else LATER
        except Exception as fault:  # noqa: BLE001 - its words may hold the mail
            logger.error("a mail by %s could not be kept: %s", self.kind, told(fault))
            return LATER
        return "250 2.0.0 Kept"


class _Conversation(SMTP):
    """One connection, within bounds of time, size and number.

    `origin` is where it comes from; `in_hand` is the keeping of a mail that came whole.
    """

    line_length_limit = LONGEST_LINE

    def __init__(self, desk: _Desk, origin: str, others: set[_Conversation], loop: asyncio.AbstractEventLoop) -> None:
        self.origin = origin
        self._spoken = False
        self.in_hand: asyncio.Future[str] | None = None
        self._ends = loop.time() + LIFETIME
        self._others = others
        # In the library this belongs to the class, and every greeting raises it for everybody.
        self.command_size_limits = collections.defaultdict(lambda: 512)
        super().__init__(
            desk,
            data_size_limit=LARGEST,
            enable_SMTPUTF8=True,
            hostname=desk.domain,
            ident=f"{desk.kind.upper()} Clachan",
            timeout=SILENCE,
            command_call_limit=COMMANDS,
            loop=loop,
        )
        # Nobody logs in here.
        del self._smtp_methods["AUTH"]
        others.add(self)

    @property
    def task(self) -> asyncio.Task[None] | None:
        """What runs the conversation."""
        return self._handler_coroutine

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        super().connection_made(transport)
        if self.task:
            self.task.add_done_callback(_over)

    def connection_lost(self, error: Exception | None) -> None:
        """End."""
        self._others.discard(self)
        super().connection_lost(error)

    def leave(self) -> None:
        """Say that we leave, unless the other side has left."""
        if isinstance(self.transport, asyncio.Transport) and not self.transport.is_closing():
            self.transport.write(b"421 4.3.2 We are closing; please try again later\r\n")
            self.transport.close()

    async def smtp_VRFY(self, _: str) -> None:  # noqa: N802
        """Tell nothing, and repeat nothing."""
        await self.push("252 2.5.0 Send a mail and see")

    def _reset_timeout(self, duration: float | None = None) -> None:
        # The library asks for the first time at the greeting, then at each command that it knows.
        patience = SILENCE if self._spoken else min(HESITATION, SILENCE)
        self._spoken = True
        left = self._ends - self.loop.time()
        super()._reset_timeout(max(0.001, min(duration or patience, left)))

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        try:
            # What cannot be printed, a database need not hold.
            return super()._getaddr(arg) if arg.isprintable() else (None, None)
        except Exception:  # noqa: BLE001 - the library's reader trips over some, in many ways
            return None, None


class _Smtp(_Conversation):
    """By SMTP."""


class _Lmtp(_Conversation, LMTP):
    """By LMTP."""


class _Threshold(asyncio.Protocol):
    """Sees where somebody comes from before anybody speaks to him."""

    def __init__(self, welcome: Callable[[str], asyncio.Protocol]) -> None:
        self._welcome = welcome

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand over to whoever is to speak."""
        speaker = self._welcome(_origin(transport.get_extra_info("peername")))
        transport.set_protocol(speaker)
        speaker.connection_made(transport)


class _Crowded(asyncio.Protocol):
    """Sends away whoever comes when enough are here."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say so and close."""
        if isinstance(transport, asyncio.Transport):
            transport.write(b"421 4.3.2 Too many connections; please try again later\r\n")
            transport.close()


def _origin(peer: Sequence[object] | None) -> str:
    """Return whose a connection is: an IPv4 address, or the network of an IPv6 one, of which each has any number."""
    if not peer:
        return "unknown"
    address = ipaddress.ip_address(str(peer[0]).partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback:
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


def _is_here(origin: str) -> bool:
    """Whether a connection comes from this machine."""
    return origin in {"::1", "unknown"} or origin.startswith("127.")


def _over(task: asyncio.Task[None]) -> None:
    # Asked for here, or the loop complains of a peer that went away.
    if not task.cancelled() and (fault := task.exception()) and not isinstance(fault, OSError):
        logger.error("a conversation failed: %s", told(fault))


async def _wait(things: list[asyncio.Future[str]] | list[asyncio.Task[None]], seconds: float) -> None:
    if things:
        await asyncio.wait(things, timeout=seconds)


def _bind(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    return socket.create_server(address[:2], family=family, backlog=200)

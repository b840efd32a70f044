"""The way out by SMTP (RFC 5321): one recipient a mail, one connection kept between mails."""

from __future__ import annotations

import contextlib
import re
import smtplib
import ssl
import threading
from dataclasses import dataclass, field
from enum import StrEnum

from server.channels import DeliveryError, Message
from server.channels.email.compose import Sender, compose, envelope_sender
from server.channels.email.headers import address, clean

_ACCESS = frozenset((530, 534, 535, 538))  # RFC 4954 6: what is refused is us, not the recipient
_LEAVING = 421
_SECRETIVE = re.compile(r"[A-Za-z0-9_-]{20,}")  # our tokens, and nothing a person would say


class Tls(StrEnum):
    """How a connection is protected: not at all, from STARTTLS on (RFC 3207), or from the first byte (RFC 8314)."""

    NONE = "none"
    STARTTLS = "starttls"
    IMPLICIT = "implicit"


@dataclass(frozen=True, slots=True)
class SmtpSettings:
    """Where mail is handed over. `timeout` is in seconds and holds for each wait, not for the whole mail."""

    host: str
    port: int
    tls: Tls = Tls.STARTTLS
    user: str = ""
    password: str = field(default="", repr=False)
    timeout: float = 30.0


class SmtpChannel:
    """Delivers messages to one SMTP server. Threads may share it; they take turns."""

    def __init__(self, settings: SmtpSettings, sender: Sender, context: ssl.SSLContext | None = None) -> None:
        """Make the channel without connecting. `context` replaces the system's idea of whom to trust."""
        self._settings = settings
        self._sender = sender
        self._context = context
        self._lock = threading.Lock()
        self._server: smtplib.SMTP | None = None

    def deliver(self, message: Message) -> None:
        """Hand the message to the server. Raises `DeliveryError`, whose text holds no password and no token."""
        sender, recipient, raw = ready(message, self._sender)
        with self._lock:
            server = self._connection()
            try:
                _submit(server, sender, recipient, raw)
            except _RefusedError as refusal:
                if refusal.ends:
                    self._drop()
                raise refusal.verdict() from None
            except _BrokenError as error:
                self._drop()
                raise DeliveryError(str(error), unknown=error.sent) from None

    def close(self) -> None:
        """Take leave of the server, if connected. The channel can be used again."""
        with self._lock:
            if self._server is not None:
                with contextlib.suppress(_BrokenError):
                    _ask(self._server, "QUIT")
            self._drop()

    def _drop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _connection(self) -> smtplib.SMTP:
        """Return the kept connection if it still answers, else a new one."""
        if self._server is not None:
            # RSET also ends whatever an earlier, refused mail left behind.
            self._server.command_encoding = "ascii"
            with contextlib.suppress(_BrokenError):
                if _ask(self._server, "RSET")[0] == 250:
                    return self._server
            self._drop()
        self._server = _open(self._settings, self._sender.domain, self._context)
        return self._server


def ready(message: Message, sender: Sender) -> tuple[str, str, bytes]:
    """Return envelope sender, recipient and raw mail, or raise the `DeliveryError` that says what is wrong with them.

    Only a wrong recipient is permanent: whatever else cannot be written is our mistake, for which nobody's mail may be
    stopped.
    """
    try:
        recipient = address("", message.to_address).addr_spec
    except ValueError as error:
        raise DeliveryError(f"the recipient's address cannot be used: {error}", permanent=True) from error
    try:
        return envelope_sender(message, sender), recipient, compose(message, sender)
    except ValueError as error:
        raise DeliveryError(f"the mail cannot be written: {error}") from error


class _BrokenError(Exception):
    """The conversation ended without a reply that makes sense; `sent` if the whole mail was out by then."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the mail server broke off: {reason}")
        self.sent = False


class _RefusedError(Exception):
    """The server said no at some step."""

    def __init__(self, step: str, code: int, words: str) -> None:
        super().__init__(f"the mail server refused {step}: {code} {words}".rstrip())
        self.code = code
        # Refusing our own address or our right to send says nothing about the recipient.
        self.alarm = code in _ACCESS or (step == "MAIL" and code // 100 == 5)
        self.ends = self.alarm or code == _LEAVING or code // 100 not in (4, 5)

    def verdict(self) -> DeliveryError:
        return DeliveryError(str(self), alarm=self.alarm, permanent=self.code // 100 == 5 and not self.alarm)


def _submit(server: smtplib.SMTP, sender: str, recipient: str, raw: bytes) -> None:
    """Send one mail to one recipient."""
    _expect(2, "MAIL", *_ask(server, "MAIL", f"FROM:<{sender}>{_extension(server, recipient)}"))
    _expect(2, "RCPT", *_ask(server, "RCPT", f"TO:<{recipient}>"))
    _expect(3, "DATA", *_ask(server, "DATA"))
    _send(server, _dotted(raw) + b".\r\n")
    try:
        code, words = _reply(server)
    except _BrokenError as error:
        error.sent = True
        raise
    _expect(2, "the mail", code, words)


def _dotted(raw: bytes) -> bytes:
    """Return a mail with a dot before each dot that begins a line (RFC 5321 4.5.2)."""
    return (b"." if raw.startswith(b".") else b"") + raw.replace(b"\n.", b"\n..")


def _expect(first: int, step: str, code: int, words: str) -> None:
    """Raise `_RefusedError` unless the first digit of the reply is the expected one."""
    if code // 100 != first:
        raise _RefusedError(step, code, words)


def _extension(server: smtplib.SMTP, recipient: str) -> str:
    """Return what MAIL needs for an address outside ASCII (RFC 6531), nothing for any other."""
    if recipient.isascii():
        return ""
    if not server.has_extn("smtputf8"):
        raise _RefusedError("an address outside ASCII", 550, "SMTPUTF8 is not offered")
    server.command_encoding = "utf-8"
    return " BODY=8BITMIME SMTPUTF8"


def _ask(server: smtplib.SMTP, verb: str, argument: str = "") -> tuple[int, str]:
    """Send a command and return code and words of the reply. Raises `_BrokenError`."""
    try:
        server.putcmd(verb, argument)
    except OSError as error:
        raise _BrokenError(_cause(error)) from None
    return _reply(server)


def _send(server: smtplib.SMTP, raw: bytes) -> None:
    try:
        server.send(raw)
    except OSError as error:
        raise _BrokenError(_cause(error)) from None


def _reply(server: smtplib.SMTP) -> tuple[int, str]:
    try:
        code, words = server.getreply()
    except OSError as error:
        raise _BrokenError(_cause(error)) from None
    if not 200 <= code < 600:
        raise _BrokenError("its reply made no sense")
    return code, _quiet(words)


def _cause(error: OSError) -> str:
    """Return why a connection failed; a made-up reply of the library (line too long) has no other words either."""
    return _quiet(str(error).encode()) or type(error).__name__


def _quiet(words: bytes | str) -> str:
    """Return a server's words as one short line without tokens: a reply may quote an address or a link of the mail."""
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return clean(_SECRETIVE.sub("…", text), 200)


def _open(settings: SmtpSettings, name: str, context: ssl.SSLContext | None) -> smtplib.SMTP:
    """Return a connection that is greeted, protected and logged in, or raise the `DeliveryError` that fits."""
    try:
        return _dial(settings, name, context or ssl.create_default_context())
    except smtplib.SMTPAuthenticationError as error:
        # Its words are left out: some servers repeat what they were sent.
        reason = f"the mail server refused our login: {error.smtp_code}"
        raise DeliveryError(reason, alarm=error.smtp_code // 100 == 5) from None
    except smtplib.SMTPResponseException as error:
        reason = f"the mail server would not talk to us: {error.smtp_code} {_quiet(error.smtp_error)}"
        raise DeliveryError(reason, alarm=error.smtp_code // 100 == 5) from None
    except (smtplib.SMTPServerDisconnected, ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:
        raise DeliveryError(f"the mail server broke off: {_cause(error)}") from None
    except (smtplib.SMTPException, ssl.SSLError) as error:
        raise DeliveryError(f"the mail server cannot be used as configured: {_cause(error)}", alarm=True) from None
    except OSError as error:
        raise DeliveryError(f"no connection to the mail server: {_cause(error)}") from None
    except UnicodeError:
        raise DeliveryError("the mail server's name, user or password is not ASCII", alarm=True) from None


def _dial(settings: SmtpSettings, name: str, context: ssl.SSLContext) -> smtplib.SMTP:
    # Without `name` the library asks the resolver what this machine is called, which can take half a minute.
    if settings.tls == Tls.IMPLICIT:
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            settings.host, settings.port, name, timeout=settings.timeout, context=context
        )
    else:
        server = smtplib.SMTP(settings.host, settings.port, name, timeout=settings.timeout)
    try:
        server.ehlo_or_helo_if_needed()
        if settings.tls == Tls.STARTTLS:
            server.starttls(context=context)
            server.ehlo_or_helo_if_needed()
        if settings.user:
            server.login(settings.user, settings.password)
    except BaseException:
        server.close()
        raise
    return server

"""An SMTP server for tests: it keeps what it is sent and answers as it is told."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

OK = ""  # answer as if nothing had been said
DROP = "(drop)"  # cut the connection instead of answering
HANG = "(hang)"  # say nothing

# Made for these tests, for localhost, trusted by nobody.
CERTIFICATE_AND_KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMZRv8VH1/oePvDIl
bVhA+1Eau/gGdbe32JE+WdBh2IWhRANCAAQPq6nU5lJgP/lrn82oOQnstUBgXBKI
YoN6xjfS1Ohx5jbfVbiozGtMvMwmi+3cI/J3q2Q1q/5NXYoyjBtpNtRT
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBZjCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABA+rqdTmUmA/+Wuf
zag5Cey1QGBcEohig3rGN9LU6HHmNt9VuKjMa0y8zCaL7dwj8nerZDWr/k1dijKM
G2k21FOjTjBMMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFGgVt3JUb/jcz4KL
Rsifsl+MpPSeMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAKBggqhkjOPQQD
AgNHADBEAiAvjW2WaXTc3+l75m/KA2YsNOY4tX9UkxGjlW/aTWoNegIgUZFB3WiZ
cu9BFZSLdaWV47MuH0GGWw190ZvfNULap2Y=
-----END CERTIFICATE-----
"""


@dataclass(frozen=True)
class Received:
    """One mail as it came in: the envelope, what MAIL asked for, the exact bytes."""

    sender: str
    recipients: tuple[str, ...]
    options: tuple[str, ...]
    raw: bytes


class Sink(Controller):
    """An SMTP server on a free port of the loopback, in a thread of its own; use it in a `with`.

    `mails` are the mails accepted, `commands` the commands seen, `connections` how often somebody connected. `tls` is
    none, starttls or implicit; a client trusts it with `client_context()`. With a user, AUTH is offered.
    """

    def __init__(self, *, tls: str = "none", user: str = "", password: str = "", smtputf8: bool = True) -> None:
        context = server_context() if tls != "none" else None
        options: dict[str, Any] = {"enable_SMTPUTF8": smtputf8, "server_hostname": "sink.test"}
        if user:
            options |= {"authenticator": _authenticator(user, password), "auth_require_tls": False}
        if tls == "starttls":
            options |= {"tls_context": context, "require_starttls": True}
        super().__init__(
            self, hostname="127.0.0.1", port=0, ssl_context=context if tls == "implicit" else None, **options
        )
        self.host = "127.0.0.1"
        self.mails: list[Received] = []
        self.commands: list[str] = []
        self.connections = 0
        self._scripts: dict[str, list[str]] = {}
        self._open: set[_Conversation] = set()

    def answer(self, step: str, *replies: str) -> None:
        """Set the answers to a step, one for each time it comes; the last one stays.

        A step is CONNECT, a command (`EHLO`, `MAIL`, `RCPT`, `RSET`, `AUTH` ...), a command and an address
        (`RCPT bob@example.org`), DATA for what is said before the mail is sent, or BODY for what is said after. A reply
        is a line such as `550 5.1.1 unknown`, `OK`, `DROP` or `HANG`.
        """
        self._scripts[step] = list(replies)

    def scripted(self, step: str, argument: str = "") -> str:
        """Return the answer set for the step, `OK` if none is."""
        address = argument.partition("<")[2].partition(">")[0]
        script = self._scripts.get(f"{step} {address}") or self._scripts.get(step) or [OK]
        return script.pop(0) if len(script) > 1 else script[0]

    def hang_up(self) -> None:
        """Cut every connection, as a server does that has waited long enough."""
        asyncio.run_coroutine_threadsafe(self._cut(), self.loop).result(5)

    def __enter__(self) -> Sink:
        self.start()
        self.connections = 0  # starting the controller takes one
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        self.stop()

    def factory(self) -> SMTP:
        """Return the protocol for one connection."""
        self.connections += 1
        conversation = _Conversation(self, **self.SMTP_kwargs)
        self._open.add(conversation)
        return conversation

    def _trigger_server(self) -> None:
        assert self.server is not None
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()

    async def _cut(self) -> None:
        for conversation in self._open:
            conversation.cut()
        tasks = [one._handler_coroutine for one in self._open if one._handler_coroutine is not None]
        self._open.clear()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Keep the mail and answer."""
        reply = await server.say(self.scripted("BODY")) if isinstance(server, _Conversation) else OK
        if reply == OK:
            options = tuple(str(option) for option in envelope.mail_options)
            raw = bytes(envelope.original_content or b"")
            self.mails.append(Received(envelope.mail_from or "", tuple(envelope.rcpt_tos), options, raw))
        return reply or "250 2.0.0 taken"


class _Conversation(SMTP):
    """One connection, with every command passed by the script first."""

    def __init__(self, sink: Sink, **options: Any) -> None:
        super().__init__(sink, **options)
        self._sink = sink
        self._smtp_methods = {verb: self._prompted(verb, method) for verb, method in self._smtp_methods.items()}

    def _prompted(self, verb: str, method: Any) -> Any:
        async def run(argument: str | None) -> None:
            self._sink.commands.append(f"{verb} {argument or ''}".strip())
            reply = await self.say(self._sink.scripted(verb, argument or ""))
            if reply == OK:
                await method(argument)
            else:
                await self.push(reply)
                if reply.startswith("421"):
                    self._writer.close()

        return run

    async def _handle_client(self) -> None:
        reply = await self.say(self._sink.scripted("CONNECT"))
        if reply == OK:
            await super()._handle_client()
        else:
            await self.push(reply)
            self._writer.close()

    async def say(self, reply: str) -> str:
        """Return the reply to give; if it is none, end here."""
        if reply == DROP:
            self.cut()
        if reply in (DROP, HANG):
            await asyncio.Event().wait()  # until the connection's end cancels this task
        return reply

    def cut(self) -> None:
        """Drop the connection without a word."""
        if self._handler_coroutine is not None:
            self._handler_coroutine.cancel()
        if isinstance(self.transport, asyncio.Transport):
            self.transport.abort()


def _authenticator(user: str, password: str) -> Any:
    def check(_server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: Any) -> AuthResult:
        right = data.login == user.encode() and data.password == password.encode()
        return AuthResult(success=right, handled=False)

    return check


def server_context() -> ssl.SSLContext:
    """Return the context of a server that is the one the tests trust."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sink.pem"
        path.write_text(CERTIFICATE_AND_KEY)
        context.load_cert_chain(path)
    return context


def client_context() -> ssl.SSLContext:
    """Return a context that trusts the sink and nobody else."""
    certificate = CERTIFICATE_AND_KEY[CERTIFICATE_AND_KEY.index("-----BEGIN CERTIFICATE") :]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=certificate)
    return context

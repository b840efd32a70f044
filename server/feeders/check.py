"""What `clachan mail check` looks at: everything that mail needs, also outside the house; and what to do about it."""

from __future__ import annotations

import ipaddress
import smtplib
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import dns.exception
import dns.resolver

from server.feeders.imap import Account, Trouble
from server.settings import Settings, Smtp, WayIn

OK: Final = "ok"
PROBLEM: Final = "problem"
UNKNOWN: Final = "cannot tell"

# Seconds for one answer of a mail server, and of the DNS.
REPLY: Final = 10.0
LOOK_UP: Final = 5.0

TLS: Final = {"starttls": "with STARTTLS", "implicit": "over TLS", "none": "unprotected"}
HELP: Final = "Your mail provider's help says what to put there."


class Finding(NamedTuple):
    """One thing looked at: the verdict is ok, problem or cannot tell."""

    verdict: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.sentence}"


class _Silence(Exception):
    """The DNS gave no answer, neither yes nor no."""


def check(settings: Settings, resolver: dns.resolver.Resolver | None = None, selector: str = "") -> list[Finding]:
    """Return what was found, in the order in which a mail goes. Nothing is sent, and no mail is fetched.

    `resolver` replaces the system's. `selector` is the name under which the key for signatures (DKIM) is published.
    """
    return [*reached(settings), *published(settings, resolver, selector)]


def reached(settings: Settings) -> list[Finding]:
    """Return what was found of the names in the settings, and of the mail servers and mailboxes we use."""
    return [*_names(settings), *_way_out(settings), *_ways_in(settings)]


def published(settings: Settings, resolver: dns.resolver.Resolver | None = None, selector: str = "") -> list[Finding]:
    """Return what was found in the DNS; nothing for a domain that means nothing to the world."""
    return [] if _local(settings.mail_domain) else list(_published(settings, resolver, selector))


def _names(settings: Settings) -> Iterator[Finding]:
    """Whether the address that mails come from and the one they lead to are for the world, and fit together."""
    domain, site = settings.mail_domain.casefold(), urlsplit(settings.public_url).hostname or ""
    if _local(domain):
        yield Finding(
            PROBLEM, f"Nobody outside can write to CLACHAN_MAIL_FROM at {domain}: set it to an address of your domain."
        )
    if _local(site):
        yield Finding(
            PROBLEM, f"Links in mails lead to {site}, which is this machine only: set CLACHAN_PUBLIC_URL to your site."
        )
    if _local(domain) or _local(site):
        return
    if f".{site}".endswith(f".{domain}") or f".{domain}".endswith(f".{site}"):
        yield Finding(OK, f"Mails come from {domain} and lead to {site}, which belong together.")
    else:
        yield Finding(
            UNKNOWN,
            f"Mails come from {domain} and lead to {site}: if strangers see no connection, they take them for forged. "
            f"A CLACHAN_MAIL_FROM at {site} is safer.",
        )


def _local(name: str) -> bool:
    """Whether a host's name or address means nothing outside its own network."""
    try:
        return not ipaddress.ip_address(name).is_global
    except ValueError:
        return "." not in name or name.endswith((".localhost", ".local", ".internal", ".invalid"))


def _way_out(settings: Settings) -> Iterator[Finding]:
    """Whether the mail server takes our login."""
    smtp = settings.smtp
    if smtp is None:
        if settings.mailbox:
            yield Finding(OK, "No mail leaves: in development mails go into the local mailbox, the page /mailbox.")
        else:
            yield Finding(PROBLEM, "Mails wait in the outbox: set CLACHAN_SMTP_URL to your mail server.")
        return
    where = f"The mail server {smtp.host}:{smtp.port}"
    if smtp.tls == "none" and smtp.user and not _loopback(smtp.host):
        yield Finding(PROBLEM, f"{where} is sent the password for all to read: use smtp:// or smtps://.")
    try:
        words = _log_in(smtp)
    except smtplib.SMTPAuthenticationError as fault:
        words = _reply(fault.smtp_code, fault.smtp_error, smtp)
        yield Finding(PROBLEM, f"{where} refuses our user or password: set CLACHAN_SMTP_URL anew. It said: {words}")
    except smtplib.SMTPResponseException as fault:
        words = _reply(fault.smtp_code, fault.smtp_error, smtp)
        yield Finding(PROBLEM, f"{where} will not talk to us: check CLACHAN_SMTP_URL. It said: {words}")
    except (OSError, UnicodeError) as fault:
        yield Finding(PROBLEM, f"{where} cannot be used {TLS[smtp.tls]}: check CLACHAN_SMTP_URL. {_why(fault)}")
    else:
        user = f" as {smtp.user}" if smtp.user else ""
        yield Finding(OK, f"{where} lets us in{user}, {TLS[smtp.tls]}. It said: {words}")


def _log_in(smtp: Smtp) -> str:
    """Connect as for sending, leave, and return what the server said last."""
    context = ssl.create_default_context()
    server = (
        smtplib.SMTP_SSL(smtp.host, smtp.port, "localhost", timeout=REPLY, context=context)
        if smtp.tls == "implicit"
        else smtplib.SMTP(smtp.host, smtp.port, "localhost", timeout=REPLY)
    )
    with server:
        server.ehlo_or_helo_if_needed()
        if smtp.tls == "starttls":
            server.starttls(context=context)
            server.ehlo_or_helo_if_needed()
        code, words = server.login(smtp.user, smtp.password) if smtp.user else server.noop()
    return _reply(code, words, smtp)


def _reply(code: int, words: bytes | str, smtp: Smtp) -> str:
    """Return a server's words, unless they repeat the password."""
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    secret = smtp.password
    hidden = [secret, b64encode(secret.encode()).decode().rstrip("=")[:-1]] if secret else []
    return f"{code}" if any(word in text for word in hidden) else f"{code} {_line(text)}"


def _ways_in(settings: Settings) -> Iterator[Finding]:
    """Whether each way for answers is open."""
    if not settings.mail_in:
        yield Finding(OK, "Answers by mail are off, and mails do not ask for them: CLACHAN_MAIL_IN would open a way.")
    for way in settings.mail_in:
        if way.kind == "imap":
            yield from _mailbox(way)
        elif way.kind == "pipe":
            yield Finding(
                UNKNOWN,
                "Answers come by the command `clachan mail receive`, which your mail server has to call: "
                "answer a mail of ours to see whether it does.",
            )
        else:
            yield _listener(way)


def _mailbox(way: WayIn) -> Iterator[Finding]:
    if not way.tls and not _loopback(way.host):
        yield Finding(PROBLEM, f"The mailbox at {way.host} is sent the password for all to read: use imaps://.")
    try:
        Account(way, lambda *_: None).check()
    except Trouble as trouble:
        yield Finding(PROBLEM, f"{trouble} Check CLACHAN_MAIL_IN.")
    else:
        yield Finding(OK, f"The mailbox of {way.user} at {way.host} lets us in and opens the folder {way.folder}.")


def _listener(way: WayIn) -> Finding:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(way.host, way.host)  # noqa: S104 - asked, not bound
    where = f"{way.kind.upper()} port {way.port} of {host}"
    try:
        with (
            socket.create_connection((host, way.port), timeout=REPLY) as connection,
            connection.makefile("rb") as lines,
        ):
            greeting = lines.readline(1000).decode("utf-8", "replace")
    except ConnectionRefusedError:
        return Finding(UNKNOWN, f"Nobody answers at {where}: start `clachan serve` and check again.")
    except (OSError, UnicodeError) as fault:
        return Finding(PROBLEM, f"{where} cannot be reached: check CLACHAN_MAIL_IN. {_why(fault)}")
    if greeting.startswith("220 ") and "Clachan" in greeting:
        return Finding(OK, f"We listen at {where}.")
    return Finding(
        PROBLEM, f"Somebody else answers at {where}: choose another port in CLACHAN_MAIL_IN. It said: {_line(greeting)}"
    )


def _published(settings: Settings, resolver: dns.resolver.Resolver | None, selector: str) -> Iterator[Finding]:
    """What the DNS tells the world about mail of our domain."""
    domain = settings.mail_domain
    try:
        look_up = _Zone(resolver or dns.resolver.Resolver())
    except dns.exception.DNSException:
        yield Finding(UNKNOWN, "This machine knows no DNS server, so what is published cannot be looked up.")
        return
    looks: tuple[tuple[str, Callable[[], Finding]], ...] = (
        ("MX", lambda: _mx(look_up, domain, any(way.kind == "imap" for way in settings.mail_in))),
        ("SPF", lambda: _spf(look_up, domain)),
        ("DMARC", lambda: _dmarc(look_up, domain)),
        ("DKIM", lambda: _dkim(look_up, domain, selector)),
    )
    for name, look in looks:
        try:
            yield look()
        except _Silence as silence:
            yield Finding(UNKNOWN, f"The DNS gave no answer about {name} of {silence}: try again later.")


class _Zone:
    """What the DNS says."""

    def __init__(self, resolver: dns.resolver.Resolver) -> None:
        self.resolver = resolver

    def records(self, name: str, kind: str) -> list[Any]:
        """Return the records of that kind, none if there is none. Raises `_Silence`."""
        try:
            return list(self.resolver.resolve(name, kind, lifetime=LOOK_UP, search=False))
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except dns.exception.DNSException:
            raise _Silence(name) from None

    def texts(self, name: str, version: str) -> list[str]:
        """Return the texts that begin with that version. Raises `_Silence`."""
        joined = (b"".join(record.strings).decode("utf-8", "replace") for record in self.records(name, "TXT"))
        return [text for text in joined if text.casefold().replace(" ", "").startswith(version)]


def _mx(zone: _Zone, domain: str, fetched: bool) -> Finding:
    found = sorted(zone.records(domain, "MX"), key=lambda record: record.preference)
    hosts = [record.exchange.to_text(omit_final_dot=True) for record in found]
    whose = "your mail provider" if fetched else "the mail server that hands mail to us"
    if hosts in (["."], ["@"], [""]):
        return Finding(PROBLEM, f"The MX record of {domain} says that it takes no mail: let it name {whose}.")
    if not hosts and not (zone.records(domain, "A") or zone.records(domain, "AAAA")):
        return Finding(PROBLEM, f"{domain} has no MX record, so no answer arrives: add one that names {whose}.")
    if not hosts:
        return Finding(UNKNOWN, f"{domain} has no MX record, so mail goes to its address: add one that names {whose}.")
    then = "from where we fetch it" if fetched else "which has to hand it to us"
    return Finding(OK, f"Mail to {domain} goes to {', '.join(hosts[:5])}, {then}.")


def _spf(zone: _Zone, domain: str) -> Finding:
    found = [text for text in zone.texts(domain, "v=spf1") if text.split()[0].casefold() == "v=spf1"]
    if not found:
        return Finding(PROBLEM, f"{domain} has no SPF record: add a TXT record that names who sends your mail. {HELP}")
    if len(found) > 1:
        return Finding(PROBLEM, f"{domain} has {len(found)} SPF records, which count as none: make them one.")
    if {"all", "+all"} & set(found[0].casefold().split()):
        return Finding(PROBLEM, f"The SPF record of {domain} lets everybody send: let it end in -all or ~all.")
    return Finding(OK, f"SPF of {domain}: {_line(found[0])}")


def _dmarc(zone: _Zone, domain: str) -> Finding:
    labels = domain.split(".")
    # A domain without a record of its own takes that of the ones above it.
    for name in (".".join(labels[start:]) for start in range(max(1, len(labels) - 1))):
        found = zone.texts(f"_dmarc.{name}", "v=dmarc1")
        if len(found) > 1:
            return Finding(PROBLEM, f"_dmarc.{name} has {len(found)} DMARC records, which count as none: keep one.")
        if found:
            tags = _tags(found[0])
            policy = (tags.get("sp") if name != domain else None) or tags.get("p", "")
            if policy.casefold() not in {"none", "quarantine", "reject"}:
                return Finding(PROBLEM, f"The DMARC record at _dmarc.{name} has no policy: add p=none to it at least.")
            return Finding(OK, f"DMARC of {domain}: {_line(found[0])}")
    return Finding(
        PROBLEM, f'{domain} has no DMARC record: add the TXT record "v=DMARC1; p=none" at _dmarc.{domain} at least.'
    )


def _dkim(zone: _Zone, domain: str, selector: str) -> Finding:
    if not selector:
        return Finding(
            UNKNOWN,
            "Whether mails are signed (DKIM) is not known without the selector: look for s= in the DKIM-Signature of a "
            "mail that arrived, and say --selector.",
        )
    name = f"{selector}._domainkey.{domain}"
    keys = [tags for tags in map(_tags, zone.texts(name, "")) if "p" in tags]
    if not keys:
        return Finding(PROBLEM, f"There is no key for signatures (DKIM) at {name}: publish it there. {HELP}")
    if not any(tags["p"] for tags in keys):
        return Finding(PROBLEM, f"The key for signatures (DKIM) at {name} is withdrawn: publish the new one.")
    return Finding(OK, f"A key for signatures (DKIM) is published at {name}.")


def _tags(text: str) -> dict[str, str]:
    """Return the tags of a record such as "v=DMARC1; p=none"."""
    pairs = (part.partition("=") for part in text.split(";"))
    return {name.strip().casefold(): value.strip() for name, _, value in pairs}


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _line(text: str) -> str:
    """Return a stranger's words as one printable line."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= 200 else f"{line[:199]}…"


def _why(fault: OSError | UnicodeError) -> str:
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"Its certificate is not trusted: {fault.verify_message}."
    if isinstance(fault, TimeoutError):
        return "It does not answer."
    if isinstance(fault, UnicodeError):
        return "A name, user or password in it is not ASCII."
    return f"{_line(fault.strerror or str(fault)) or type(fault).__name__}."

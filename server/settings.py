"""Settings: read once from the environment, checked, frozen."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

import psycopg
from psycopg import conninfo

PREFIX: Final = "CLACHAN_"
# A message id of ours has twenty characters, a sign and the domain, and some mail programs break longer ones than 60.
LONGEST_DOMAIN: Final = 39


_LABEL: Final = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS: Final = re.compile(rf"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@{_LABEL}(?:\.{_LABEL})*")
# What may stand in a mail's List-Unsubscribe; the longest path of ours is added to it.
_WEB: Final = re.compile(
    rf"https?://(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?(?:/[A-Za-z0-9._~/-]{{0,200}})?"
)


class Known(NamedTuple):
    """One variable: its default and what it does. docs/settings.md lists the same names and a test compares them."""

    default: str
    about: str


KNOWN: Final[dict[str, Known]] = {
    "BACKUPS": Known("", "Folder for backups; empty is the folder backups in DATA."),
    "BACKUPS_DAILY": Known(
        "", "1 for a backup of every day, made by the scheduler, 0 for none; empty is 1 on SQLite, 0 on PostgreSQL."
    ),
    "BACKUPS_KEPT": Known("14", "How many of the daily backups are kept; 1 to 1000."),
    "BACKUP_BEFORE_MIGRATION": Known("1", "1 makes a backup before `clachan db migrate` changes anything, 0 does not."),
    "BOTS_SECONDS": Known("2", "How many seconds a strong bot thinks about a move at most; 1 to 20."),
    "BOTS_THINKING": Known("1", "How many bots think at the same time, each in a process of low priority; 1 to 64."),
    "DATA": Known("var", "Folder for the database file, the secret key and the local mailbox."),
    "DATABASE": Known(
        "",
        "postgresql://user:password@host/name, also of several hosts, or sqlite:///path; empty is clachan.db in DATA.",
    ),
    "DEVELOPMENT": Known("0", "1 on a newcomer's own machine: local mailbox page, demo people, generated secret key."),
    "LISTEN": Known("127.0.0.1:8000", "Address and port of the web server."),
    "LOG_FORMAT": Known("text", "text for people, or json: one object a line, with a line for each request."),
    "MAIL_FROM": Known("clachan@localhost", "Address that mails come from; its domain is used for answers and ids."),
    "MAIL_IN": Known("", "Ways in for answers, separated by spaces: smtp://, lmtp://, imaps://, imap://, pipe or off."),
    "MAIL_JUDGE": Known(
        "", "Name of our mail server in Authentication-Results; with it a mail must have passed there."
    ),
    "MAIL_NAME": Known("Clachan", "Name that mails come from."),
    "METRICS_TOKEN": Known("", "Bearer token that /metrics asks for, at least 20 characters; empty: no such page."),
    "PUBLIC_URL": Known(
        "http://127.0.0.1:8000", "Address people reach the site under; every link in a mail starts so."
    ),
    "SECRET_KEY": Known(
        "",
        "Signs sessions and messages to devices, at least 32 characters; with DEVELOPMENT=1 it is generated in DATA.",
    ),
    "SMTP_URL": Known("", "smtp:// (STARTTLS), smtps:// or smtp+plain://, with user:password@host:port; empty: none."),
    "TICK_SECONDS": Known("5", "How often the scheduler looks for due mail, deadlines and bot turns; 1 to 60."),
    "TRUSTED_PROXIES": Known("0", "How many reverse proxies in front set X-Forwarded-For and -Proto; 0 to 5."),
    "WEBHOOK_LOOPBACK": Known(
        "0", "1 lets webhooks, Matrix and ntfy reach this machine, over http too; for development, never in earnest."
    ),
    "WEB_THREADS": Known("8", "Threads that answer requests, in each process; 1 to 64."),
    "WEB_WORKERS": Known("1", "Processes of `clachan web`, about one for each processor; 1 to 64."),
}


class WrongSetting(Exception):
    """A setting cannot be used. The sentence names the variable."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{PREFIX}{name}: {why}")


@dataclass(frozen=True, slots=True)
class Smtp:
    """Where outgoing mail is handed over. `tls` is "starttls", "implicit" or "none"."""

    host: str
    port: int
    tls: str
    user: str
    password: str


@dataclass(frozen=True, slots=True)
class WayIn:
    """A way in for mail. `kind` is smtp or lmtp (we listen), imap (we fetch from `folder`) or pipe (we are called)."""

    kind: str
    host: str = ""
    port: int = 0
    tls: bool = False
    user: str = ""
    password: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the environment decides, checked."""

    backup_before_migration: bool
    backups: Path
    backups_daily: bool
    backups_kept: int
    bots_seconds: int
    bots_thinking: int
    data: Path
    database: str
    development: bool
    host: str
    port: int
    log_format: str
    mail_from: str
    mail_in: tuple[WayIn, ...]
    mail_judge: str
    mail_name: str
    metrics_token: str
    public_url: str
    secret_key: str
    smtp: Smtp | None
    tick_seconds: int
    trusted_proxies: int
    web_threads: int
    web_workers: int
    webhook_loopback: bool

    @property
    def mail_domain(self) -> str:
        """The domain of answers' addresses and of message ids."""
        return self.mail_from.rpartition("@")[2]

    @property
    def mailbox(self) -> Path | None:
        """The folder that stands in for a mail server: only in development and only without SMTP settings."""
        return self.data / "mailbox" if self.development and self.smtp is None else None

    @property
    def mails(self) -> bool:
        """Whether mail leaves at all; without it everything works on the web, and the pages say so."""
        return self.smtp is not None or self.mailbox is not None

    @property
    def answers(self) -> bool:
        """Whether answers to mails reach us; mails and pages promise so only then."""
        return bool(self.mail_in)

    @property
    def secure(self) -> bool:
        """Whether people reach the site over https."""
        return self.public_url.startswith("https://")


def load(environ: Mapping[str, str]) -> Settings:
    """Read settings from an environment. Raises `WrongSetting`, also for a variable of ours that nobody knows."""
    for name in environ:
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in KNOWN:
            raise WrongSetting(name.removeprefix(PREFIX), "there is no such setting; docs/settings.md lists them all.")

    def text(name: str) -> str:
        return environ.get(PREFIX + name, "").strip() or KNOWN[name].default

    data = Path(text("DATA")).resolve()
    development = _number("DEVELOPMENT", text("DEVELOPMENT"), 0, 1) == 1
    host, port = _listen(text("LISTEN"))
    if development and not ipaddress.ip_address(host).is_loopback:
        raise WrongSetting("DEVELOPMENT", "is for loopback only, but CLACHAN_LISTEN names another address.")
    mail_from = text("MAIL_FROM")
    if not _ADDRESS.fullmatch(mail_from):
        raise WrongSetting("MAIL_FROM", "must be one bare mail address, like clachan@example.org.")
    if len(mail_from.rpartition("@")[2]) > LONGEST_DOMAIN:
        raise WrongSetting("MAIL_FROM", f"its domain may have at most {LONGEST_DOMAIN} characters.")
    given = text("DATABASE")
    database = database_address("DATABASE", given) if given else f"sqlite:///{data / 'clachan.db'}"
    daily = text("BACKUPS_DAILY") or ("1" if database.startswith("sqlite:///") else "0")
    return Settings(
        backup_before_migration=_number("BACKUP_BEFORE_MIGRATION", text("BACKUP_BEFORE_MIGRATION"), 0, 1) == 1,
        backups=Path(text("BACKUPS") or data / "backups").resolve(),
        backups_daily=_number("BACKUPS_DAILY", daily, 0, 1) == 1,
        backups_kept=_number("BACKUPS_KEPT", text("BACKUPS_KEPT"), 1, 1000),
        bots_seconds=_number("BOTS_SECONDS", text("BOTS_SECONDS"), 1, 20),
        bots_thinking=_number("BOTS_THINKING", text("BOTS_THINKING"), 1, 64),
        data=data,
        database=database,
        development=development,
        host=host,
        port=port,
        log_format=_log_format(text("LOG_FORMAT")),
        mail_from=mail_from,
        mail_in=_ways_in(text("MAIL_IN"), development),
        mail_judge=text("MAIL_JUDGE").casefold(),
        mail_name=text("MAIL_NAME"),
        metrics_token=_metrics_token(text("METRICS_TOKEN")),
        public_url=_public_url(text("PUBLIC_URL")),
        secret_key=_secret_key(text("SECRET_KEY"), data, development),
        smtp=_smtp(text("SMTP_URL")),
        tick_seconds=_number("TICK_SECONDS", text("TICK_SECONDS"), 1, 60),
        trusted_proxies=_number("TRUSTED_PROXIES", text("TRUSTED_PROXIES"), 0, 5),
        web_threads=_number("WEB_THREADS", text("WEB_THREADS"), 1, 64),
        web_workers=_number("WEB_WORKERS", text("WEB_WORKERS"), 1, 64),
        webhook_loopback=_number("WEBHOOK_LOOPBACK", text("WEBHOOK_LOOPBACK"), 0, 1) == 1,
    )


def _number(name: str, text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
        raise WrongSetting(name, f"must be a whole number from {low} to {high}.")
    return int(text)


def _log_format(text: str) -> str:
    if text not in {"text", "json"}:
        raise WrongSetting("LOG_FORMAT", "must be text or json.")
    return text


def _metrics_token(text: str) -> str:
    if text and not (len(text) >= 20 and text.isascii() and text.isprintable() and " " not in text):
        raise WrongSetting("METRICS_TOKEN", "must have at least 20 characters, ASCII without spaces.")
    return text


def _listen(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host:
        raise WrongSetting("LISTEN", "must be address:port, like 127.0.0.1:8000.")
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]") if host.endswith("]") else host)
    except ValueError:
        raise WrongSetting("LISTEN", "must begin with an IP address, like 127.0.0.1:8000 or [::1]:8000.") from None
    return str(address), _number("LISTEN", port, 1, 65535)


def database_address(name: str, text: str) -> str:
    """Return the address of a database. Raises `WrongSetting` for the variable if it is none."""
    if not text.startswith(("sqlite:///", "postgresql://")):
        raise WrongSetting(name, "must start with sqlite:/// or postgresql://.")
    if not (_names_a_file(text) if text.startswith("sqlite:///") else _names_a_server(text)):
        raise WrongSetting(name, "must be like postgresql://user:password@host/name or sqlite:///path.")
    return text


def _names_a_file(text: str) -> bool:
    parts = _split(text)
    return parts is not None and bool(parts.path.strip("/")) and not parts.query and not parts.fragment


def _names_a_server(text: str) -> bool:
    """Whether an address of PostgreSQL makes sense; it may name several machines, and what else its library knows."""
    machines = text.removeprefix("postgresql://").partition("/")[0].rpartition("@")[2].split(",")
    try:
        given = conninfo.conninfo_to_dict(text)
    except psycopg.ProgrammingError:
        return False
    whole = bool(given.get("dbname")) and "options" not in given and "#" not in text
    return whole and all(_split(f"postgresql://{machine}") for machine in machines)


def _split(text: str) -> SplitResult | None:
    """Return the parts of an address, None if it has none that make sense."""
    try:
        parts = urlsplit(text)
        return parts if parts.port != 0 else None  # asking for the port checks it
    except ValueError:
        return None


def _public_url(text: str) -> str:
    if not _WEB.fullmatch(text) or _split(text) is None:
        raise WrongSetting("PUBLIC_URL", "must be an http or https address, like https://play.example.org.")
    return text.rstrip("/")


def _secret_key(text: str, data: Path, development: bool) -> str:
    if text:
        if len(text) < 32:
            raise WrongSetting("SECRET_KEY", "must have at least 32 characters.")
        return text
    if not development:
        make = "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
        raise WrongSetting("SECRET_KEY", f"must be set, at least 32 characters; {make} makes one.")
    file = data / "secret_key"
    try:
        if not file.exists():
            data.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(48))
        kept = file.read_text().strip()
    except OSError as fault:
        raise WrongSetting("DATA", f"the secret key cannot be kept there: {fault.strerror}.") from None
    if len(kept) < 32:
        raise WrongSetting("SECRET_KEY", f"the one kept in {file} is too short; remove the file, and another is made.")
    return kept


def _ways_in(text: str, development: bool) -> tuple[WayIn, ...]:
    if text == "off":
        return ()
    if not text and development:
        text = "smtp://127.0.0.1:8025"
    return tuple(_way_in(word) for word in text.split())


def _way_in(text: str) -> WayIn:
    if text == "pipe":
        return WayIn("pipe")
    parts = _split(text)
    ports = {"smtp": 25, "lmtp": 24, "imaps": 993, "imap": 143}
    if parts is None or parts.scheme not in ports or not parts.hostname or parts.query or parts.fragment:
        raise WrongSetting("MAIL_IN", "must be like smtp://127.0.0.1:8025 or imaps://user:password@host/INBOX.")
    port = parts.port or ports[parts.scheme]
    if parts.scheme in {"smtp", "lmtp"}:
        if parts.username or parts.path.strip("/"):
            raise WrongSetting("MAIL_IN", f"{parts.scheme}:// takes an address and a port only.")
        return WayIn(parts.scheme, parts.hostname, port)
    if not parts.username or not parts.password:
        raise WrongSetting("MAIL_IN", f"{parts.scheme}:// needs a user and a password before the @.")
    folder = unquote(parts.path.strip("/")) or "INBOX"
    return WayIn(
        "imap", parts.hostname, port, parts.scheme == "imaps", unquote(parts.username), unquote(parts.password), folder
    )


def _smtp(text: str) -> Smtp | None:
    if not text:
        return None
    parts = _split(text)
    kinds = {"smtp": ("starttls", 587), "smtps": ("implicit", 465), "smtp+plain": ("none", 25)}
    if parts is None or parts.scheme not in kinds or not parts.hostname or parts.path.strip("/"):
        raise WrongSetting("SMTP_URL", "must be like smtp://user:password@mail.example.org:587.")
    tls, usual_port = kinds[parts.scheme]
    port = parts.port or usual_port
    return Smtp(parts.hostname, port, tls, unquote(parts.username or ""), unquote(parts.password or ""))

"""Settings: every wrong value gives one clear sentence that names the variable, before anything starts."""

from __future__ import annotations

import dataclasses
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from server import settings
from server.channels import Message
from server.channels.email import Sender, compose
from server.channels.email.headers import web_address
from server.settings import KNOWN, PREFIX, Smtp, WrongSetting

ROOT = Path(__file__).parent.parent.parent
KEY = "k" * 32


def load(tmp_path: Path, **values: str) -> settings.Settings:
    """Return settings with these values and whatever else is needed."""
    given = {"DATA": str(tmp_path / "data"), "SECRET_KEY": KEY, **values}
    return settings.load({f"{PREFIX}{name}": value for name, value in given.items()})


def test_the_defaults_do_for_a_start(tmp_path: Path) -> None:
    chosen = load(tmp_path)
    assert (chosen.host, chosen.port, chosen.public_url) == ("127.0.0.1", 8000, "http://127.0.0.1:8000")
    assert chosen.database == f"sqlite:///{tmp_path}/data/clachan.db"
    assert (chosen.smtp, chosen.mailbox, chosen.development, chosen.secure) == (None, None, False, False)
    assert (chosen.mail_from, chosen.mail_domain, chosen.mail_name) == ("clachan@localhost", "localhost", "Clachan")
    assert load(tmp_path, LISTEN=" ", TICK_SECONDS="") == chosen, "an empty variable is an unset one"
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.port = 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("DEVELOPMENT", value) for value in ("yes", "2", "-1", "١")),
        *(("LISTEN", value) for value in ("8000", ":8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:0")),
        *(("LISTEN", value) for value in ("127.0.0.1:65536", "localhost:8000", "::1", "example.org:80", "[::1:8000")),
        *(("LOG_FORMAT", value) for value in ("yaml", "JSON", "1")),
        *(("METRICS_TOKEN", value) for value in ("short", "with spaces in between the words", "é" * 30)),
        *(("MAIL_FROM", value) for value in ("clachan", "@example.org", "a@", "a@b@c", "A <a@b.org>", "a b@c.org")),
        *(("MAIL_FROM", value) for value in ("a@b.org\r\nBcc: x@y", "a@-b.org", "a@b..org", "a@münchen.de", "ä@b.org")),
        ("MAIL_FROM", "a@" + "b" * 40),
        *(("PUBLIC_URL", value) for value in ("play.example.org", "ftp://example.org", "https://", "https://x?a=b")),
        *(("PUBLIC_URL", value) for value in ("https://x#a", "http://[::1", "https://müller.de", "https://x y.org")),
        *(
            ("PUBLIC_URL", value)
            for value in ('https://x/"a', "https://x:port", "https://x:99999", "https://u:p@x.org")
        ),
        ("PUBLIC_URL", "https://x.org/" + "y" * 300),
        ("SECRET_KEY", "short"),
        *(("DATABASE", value) for value in ("clachan.db", "mysql://x/y", "sqlite:///", "sqlite://x", "postgresql://")),
        *(("DATABASE", value) for value in ("postgresql://host", "postgresql://h:port/name", "postgresql://[::1/name")),
        *(
            ("DATABASE", f"postgresql://{rest}")
            for rest in ("a,b:port/name", "a/name?nonsense=1", "a/name?options=-cx=y")
        ),
        *(("DATABASE", f"postgresql://{rest}") for rest in ("a/name#x", "a,b/", "u:p@a:0/name", "a/name?x")),
        *(("SMTP_URL", value) for value in ("mail.example.org", "http://mail.example.org", "smtp://", "smtp://u:p@")),
        *(("SMTP_URL", value) for value in ("smtp://x:port", "smtp://x:99999", "smtp://[::1", "smtp://h/path")),
        *(("TICK_SECONDS", value) for value in ("0", "61", "1.5", "x")),
        *(("TRUSTED_PROXIES", value) for value in ("-1", "6", "all")),
        *(("WEB_THREADS", value) for value in ("0", "65", "many")),
        *(("WEB_WORKERS", value) for value in ("0", "65", "many")),
    ],
)
def test_a_wrong_value_is_refused_in_one_sentence_that_names_it(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(WrongSetting) as caught:
        load(tmp_path, **{name: value})
    sentence = str(caught.value)
    assert sentence.startswith(f"CLACHAN_{name}: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_the_sentence_about_a_wrong_secret_does_not_repeat_it(tmp_path: Path) -> None:
    for name, value in (
        ("SECRET_KEY", "hush-hush"),
        ("SMTP_URL", "http://u:hush-hush@x"),
        ("METRICS_TOKEN", "hush-hush"),
        ("DATABASE", "my://u:hush-hush@x"),
    ):
        with pytest.raises(WrongSetting) as caught:
            load(tmp_path, **{name: value})
        assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "rest", ["u:p%40ss@a:5433,b/name?target_session_attrs=read-write", "a,[::1]:5432/name", "/name"]
)
def test_a_database_may_be_on_several_machines(tmp_path: Path, rest: str) -> None:
    assert load(tmp_path, DATABASE=f"postgresql://{rest}").database == f"postgresql://{rest}"


def test_a_variable_of_ours_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongSetting, match="CLACHAN_SMPT_URL: there is no such setting"):
        load(tmp_path, SMPT_URL="smtp://x")
    assert settings.load({"PATH": "/bin", "CLACHANX": "1", f"{PREFIX}SECRET_KEY": KEY})


def test_development_is_for_loopback_only(tmp_path: Path) -> None:
    for listen in ("0.0.0.0:8000", "192.0.2.1:8000", "[::]:8000"):
        with pytest.raises(WrongSetting, match="CLACHAN_DEVELOPMENT"):
            load(tmp_path, DEVELOPMENT="1", LISTEN=listen)
        load(tmp_path, LISTEN=listen)
    for listen in ("127.0.0.1:8000", "[::1]:8000", "127.0.0.2:80"):
        assert load(tmp_path, DEVELOPMENT="1", LISTEN=listen).mailbox == tmp_path / "data" / "mailbox"


def test_without_a_secret_key_only_development_starts_and_keeps_one(tmp_path: Path) -> None:
    with pytest.raises(WrongSetting, match="CLACHAN_SECRET_KEY"):
        load(tmp_path, SECRET_KEY="")
    first = load(tmp_path, SECRET_KEY="", DEVELOPMENT="1").secret_key
    assert len(first) >= 32
    assert load(tmp_path, SECRET_KEY="", DEVELOPMENT="1").secret_key == first
    file = tmp_path / "data" / "secret_key"
    assert file.stat().st_mode & 0o077 == 0
    file.write_text("")
    with pytest.raises(WrongSetting, match="CLACHAN_SECRET_KEY"):
        load(tmp_path, SECRET_KEY="", DEVELOPMENT="1")


def test_a_data_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(WrongSetting, match="CLACHAN_DATA"):
        load(tmp_path, SECRET_KEY="", DEVELOPMENT="1")


@pytest.mark.parametrize(
    ("url", "smtp"),
    [
        ("smtp://mail.example.org", Smtp("mail.example.org", 587, "starttls", "", "")),
        ("smtps://u:p%40ss@mail.example.org:1465", Smtp("mail.example.org", 1465, "implicit", "u", "p@ss")),
        ("smtp+plain://127.0.0.1:2525", Smtp("127.0.0.1", 2525, "none", "", "")),
        ("smtps://[::1]/", Smtp("::1", 465, "implicit", "", "")),
    ],
)
def test_a_mail_server_is_named_by_one_address(tmp_path: Path, url: str, smtp: Smtp) -> None:
    chosen = load(tmp_path, SMTP_URL=url, DEVELOPMENT="1")
    assert chosen.smtp == smtp
    assert chosen.mailbox is None


@pytest.mark.parametrize("url", ["https://play.example.org", "https://play.example.org/clachan/", "http://[::1]:8000"])
def test_a_public_address_that_is_taken_can_stand_in_a_mail(tmp_path: Path, url: str) -> None:
    chosen = load(tmp_path, PUBLIC_URL=url)
    assert chosen.secure == url.startswith("https")
    assert not chosen.public_url.endswith("/")
    web_address(f"{chosen.public_url}/unsubscribe/{'x' * 32}")


def test_a_sender_that_is_taken_can_send(tmp_path: Path) -> None:
    chosen = load(tmp_path, MAIL_FROM="clachan+games@" + "b" * 35 + ".org", MAIL_NAME="Hüttendorf")
    message = Message(
        "Ailsa",
        "ailsa@example.org",
        "Hello",
        "Hello",
        "",
        f"{'a' * 20}@{chosen.mail_domain}",
        datetime(2026, 3, 2, tzinfo=UTC),
    )
    assert compose(message, Sender(chosen.mail_name, chosen.mail_from, chosen.mail_domain))


def test_the_documentation_lists_every_setting_and_no_other() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `CLACHAN_([A-Z_]+)` \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    written = {name: (default.strip("`").replace("(empty)", ""), about) for name, default, about in rows}
    assert written == {name: tuple(known) for name, known in KNOWN.items()}
    assert len(rows) == len(KNOWN)


def test_every_setting_that_is_documented_is_used() -> None:
    fields = {field.name for field in dataclasses.fields(settings.Settings)}
    named = {name.lower() for name in KNOWN}
    assert named - fields == {"listen", "smtp_url"}
    assert fields - named == {"host", "port", "smtp"}

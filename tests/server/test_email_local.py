"""The local mailbox: what it keeps, and what it makes of files that are not mails."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.channels import DeliveryError, Message
from server.channels.email import LocalMailbox, Sender, compose

SENDER = Sender("Clachan", "clachan@localhost", "localhost")
LETTER = Message(
    to_name="Zoë",
    to_address="zoe@example.com",
    subject="Clans 17 — your move",
    text="Your turn, Zoë.\n",
    html='<p>Ihr Zug, Zoë.</p>\n<img src="cid:board">\n',
    message_id="m1.abc@localhost",
    date=datetime(2026, 11, 3, 10, 11, tzinfo=UTC),
    picture=b"\x89PNG\r\n\x1a\nnot really",
)


@pytest.fixture
def box(tmp_path: Path) -> LocalMailbox:
    return LocalMailbox(tmp_path / "deep" / "mailbox", SENDER)


def new(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "mailbox" / "new"


def test_a_mailbox_nobody_wrote_to_is_empty(box: LocalMailbox, tmp_path: Path) -> None:
    assert box.messages() == []
    assert not (tmp_path / "deep").exists()
    with pytest.raises(KeyError):
        box.read("1.M1P1Q1.x")


def test_the_file_holds_what_would_have_been_sent(box: LocalMailbox, tmp_path: Path) -> None:
    box.deliver(LETTER)
    box.close()
    (file,) = new(tmp_path).iterdir()
    assert file.read_bytes() == compose(LETTER, SENDER)
    assert box.read(file.name).raw == compose(LETTER, SENDER)


def test_a_mail_is_read_as_it_was_written(box: LocalMailbox) -> None:
    box.deliver(LETTER)
    (entry,) = box.messages()
    assert (entry.to, entry.subject, entry.date) == ("Zoë <zoe@example.com>", LETTER.subject, LETTER.date)
    mail = box.read(entry.key)
    assert (mail.text, mail.html, mail.picture) == (LETTER.text, LETTER.html, LETTER.picture)
    assert ("Subject", LETTER.subject) in mail.headers
    assert ("Message-ID", "<m1.abc@localhost>") in mail.headers


def test_the_newest_mail_comes_first_even_in_one_second(box: LocalMailbox) -> None:
    for number in range(12):
        when = LETTER.date - timedelta(days=number)
        box.deliver(replace(LETTER, subject=f"Mail {number}", date=when))
    assert [entry.subject for entry in box.messages()] == [f"Mail {number}" for number in reversed(range(12))]


def test_a_mail_that_cannot_be_written_is_refused_as_a_server_would(box: LocalMailbox, tmp_path: Path) -> None:
    with pytest.raises(DeliveryError) as caught:
        box.deliver(replace(LETTER, to_address="zoe"))
    assert caught.value.permanent
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DeliveryError) as caught:
        LocalMailbox(tmp_path / "file" / "mailbox", SENDER).deliver(LETTER)
    assert caught.value.alarm
    with pytest.raises(DeliveryError):
        LocalMailbox(tmp_path / "reading").deliver(LETTER)


@pytest.mark.parametrize(
    "key", ["", ".", "..", "../../secret", "/etc/passwd", "new", "*", "a\x00b", "x" * 5000, "é\ud800"]
)
def test_no_key_reaches_outside_the_mailbox(box: LocalMailbox, tmp_path: Path, key: str) -> None:
    (tmp_path / "secret").write_text("Subject: secret\n\nsecret\n")
    box.deliver(LETTER)
    (new(tmp_path) / "link").symlink_to(tmp_path / "secret")
    (new(tmp_path) / "folder").mkdir()
    for hostile in (key, f"{key}/../../../secret", "link", "folder"):
        with pytest.raises(KeyError):
            box.read(hostile)
    assert len(box.messages()) == 1


BROKEN = {
    "empty": b"",
    "noise": bytes(range(256)) * 9,
    "zeros": bytes(100),
    "no-body": b"Subject: =?utf-8?q?half",
    "bad-words": b"To: =?nonsense?b?!!!?= =?utf-8?b?a?=\r\nSubject: =?utf-8?b?////?=\r\nDate: tomorrow\r\n\r\nhello",
    "raw-bytes": b"To: \xff\xfe\r\nSubject: \xc3\xa9\r\nDate: Tue, 99 Foo 99999 99:99:99 +9999\r\n\r\n\xff",
    "bad-charset": b"Content-Type: text/plain; charset=\"no\x00pe\"\r\n\r\nhello",
    "bad-base64": b"Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\nContent-ID:\r\n\r\n!",
    "open-part": b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>",
    "no-parts": b"Content-Type: multipart/mixed; boundary=x\r\n\r\n",
    "nested": b"".join(b"Content-Type: multipart/mixed; boundary=%d\r\n\r\n--%d\r\n" % (n, n) for n in range(3000)),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_harms_nothing(box: LocalMailbox, tmp_path: Path, name: str) -> None:
    box.deliver(LETTER)
    (new(tmp_path) / name).write_bytes(BROKEN[name])
    entries = {entry.key: entry for entry in box.messages()}
    assert len(entries) == 2
    mail = box.read(name)
    assert mail.raw == BROKEN[name]
    for text in (entries[name].to, entries[name].subject, mail.text, mail.html, *dict(mail.headers).values()):
        text.encode()


def test_a_file_that_vanishes_or_cannot_be_read_is_left_out(
    box: LocalMailbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.deliver(LETTER)
    (entry,) = box.messages()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert box.messages() == []
    with pytest.raises(KeyError):
        box.read(entry.key)

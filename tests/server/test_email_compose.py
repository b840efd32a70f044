"""The raw bytes of our mails: what may stand in them, and that nobody's words can change their shape."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import default

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.channels import Message
from server.channels.email import Sender, clean, clean_name, compose, envelope_sender
from server.channels.email.compose import plain_html, plain_text
from server.channels.email.headers import fold, thread_ids

SENDER = Sender("Clachan", "clachan@play.example.org", "play.example.org")
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9
FULL = Message(
    to_name="Zoë O'Brien",
    to_address="zoe@example.com",
    subject="Clans 17 — your move",
    text="Clans 17: your turn, Zoë.\n",
    html='<p>Your turn.</p><img src="cid:board" alt="The board">',
    message_id="0123456789abcdef01234567@play.example.org",
    date=datetime(2026, 11, 3, 11, 11, tzinfo=timezone(timedelta(hours=1))),
    reply_to="move+k7f3q9w2aaaabbbbccccdddd@play.example.org",
    thread=("first@play.example.org", "second@play.example.org"),
    picture=PICTURE,
    picture_alt="The bóard",
    unsubscribe_url="https://play.example.org/stop/k7f3q9w2aaaabbbbccccddddk7f3q9w2aaaabbbbccccdddd",
    unsubscribe_mail="stop+k7f3q9w2aaaabbbbccccdddd@play.example.org",
    bounce_token="k7f3q9w2aaaabbbbccccdddd",
)
NAMES = [
    "Date", "From", "To", "Subject", "Message-ID", "Reply-To", "In-Reply-To", "References", "List-Unsubscribe",
    "List-Unsubscribe-Post", "Auto-Submitted", "X-Auto-Response-Suppress", "Content-Language", "X-Clachan-Loop",
    "MIME-Version", "Content-Type",
]  # fmt: skip
HOSTILE = [
    "x=?UTF-8?Q?=0A?=Bcc: a@b",
    "=?utf-8?b?DQpCY2M6IGFAYg==?=",
    "=\u200b?utf-8?q?=0d=0aBcc:_a=40b?=",
    "==??utf-8?q?=0aBcc:_a=40b?=",
    "a\r\nBcc: a@b.example",
    "a\rBcc: a@b.example",
    "a\nBcc: a@b.example\n\nbody",
    "a\u2028Bcc: a@b.example",
    "a\x85Bcc: a@b.example\x0b\x0c\x1c\x1d\x1e\x00",
    '" <a@b.example>, "',
    "a@b.example, ",
    "a <a@b.example>",
    "\\",
    '"',
    "(comment",
    "x" * 3000,
    "ö" * 3000,
    "\u202eevil\u2066",
    "\ud800lone",
    " ",
    "",
    ".",
]


def headers_of(raw: bytes) -> list[tuple[str, list[str]]]:
    """Return each header of the mail as its name and its lines, read as a mail server does, by bytes."""
    head = raw.partition(b"\r\n\r\n")[0].decode()
    found: list[tuple[str, list[str]]] = []
    for line in head.split("\r\n"):
        if line.startswith(" "):
            found[-1][1].append(line)
        else:
            name, colon, _ = line.partition(":")
            assert colon, line
            found.append((name, [line]))
    return found


def value_of(raw: bytes, name: str) -> str:
    (lines,) = [lines for found, lines in headers_of(raw) if found == name]
    return "".join(lines).removeprefix(f"{name}: ")


def parsed(raw: bytes) -> EmailMessage:
    mail = message_from_bytes(raw, policy=default)
    assert isinstance(mail, EmailMessage)
    for part in mail.walk():
        assert not part.defects
        for value in part.values():
            assert not getattr(value, "defects", ())
    return mail


def assert_well_formed(raw: bytes) -> EmailMessage:
    """Check everything that must hold whatever the message says; return the mail as the library reads it."""
    assert raw.isascii()
    assert raw.endswith(b"\r\n")
    assert not re.search(rb"\r(?!\n)|(?<!\r)\n|\0", raw)
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))
    body = raw.partition(b"\r\n\r\n")[2]
    assert all(len(line) <= 78 for line in body.split(b"\r\n"))
    assert [name for name, _ in headers_of(raw)] == NAMES
    for name, lines in headers_of(raw):
        for number, line in enumerate(lines):
            assert line.strip()
            # Longer only where a single word, such as an id, stands alone on its line.
            words = len(line.split()) - (number == 0)
            assert len(line) <= 78 or words == 1, line
            assert name in ("In-Reply-To", "References", "List-Unsubscribe", "To") or len(line) <= 78
    mail = parsed(raw)
    assert len(mail["To"].addresses) == 1
    assert mail["To"].addresses[0].addr_spec == FULL.to_address
    assert mail["Message-ID"] == f"<{FULL.message_id}>"
    assert mail["Bcc"] is None
    return mail


def name_in(raw: bytes) -> str:
    """Return the recipient's name, decoded word by word: the library's `addresses` puts spaces between the words."""
    phrase = value_of(raw, "To").rpartition("<")[0].strip()
    return phrase.strip('"') if phrase.isascii() and "=?" not in phrase else str(make_header(decode_header(phrase)))


def text_of(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert isinstance(part, EmailMessage)
    content = part.get_content()
    assert isinstance(content, str)
    return content.replace("\r\n", "\n")


def test_the_headers_read_as_they_should() -> None:
    raw = compose(FULL, SENDER)
    assert raw.partition(b"\r\nList-Unsubscribe: ")[0].decode().split("\r\n") == [
        "Date: Tue, 03 Nov 2026 10:11:00 +0000",
        "From: Clachan <clachan@play.example.org>",
        "To: =?utf-8?b?Wm/DqyBPJ0JyaWVu?= <zoe@example.com>",
        "Subject: =?utf-8?q?Clans_17_=E2=80=94_your_move?=",
        "Message-ID: <0123456789abcdef01234567@play.example.org>",
        "Reply-To: Clachan <move+k7f3q9w2aaaabbbbccccdddd@play.example.org>",
        "In-Reply-To: <second@play.example.org>",
        "References: <first@play.example.org> <second@play.example.org>",
    ]
    assert value_of(raw, "List-Unsubscribe") == (
        "<https://play.example.org/stop/k7f3q9w2aaaabbbbccccddddk7f3q9w2aaaabbbbccccdddd>,"
        " <mailto:stop+k7f3q9w2aaaabbbbccccdddd@play.example.org?subject=unsubscribe>"
    )
    assert value_of(raw, "List-Unsubscribe-Post") == "List-Unsubscribe=One-Click"
    assert value_of(raw, "Auto-Submitted") == "auto-generated"
    assert value_of(raw, "X-Auto-Response-Suppress") == "All"
    assert value_of(raw, "X-Clachan-Loop") == "play.example.org"
    assert_well_formed(raw)


def test_an_answer_says_that_it_is_one() -> None:
    assert value_of(compose(replace(FULL, answer=True), SENDER), "Auto-Submitted") == "auto-replied"


def test_what_is_not_asked_for_is_not_there() -> None:
    bare = replace(FULL, reply_to=None, thread=(), unsubscribe_url=None, unsubscribe_mail=None, picture=None)
    names = [name for name, _ in headers_of(compose(bare, SENDER))]
    assert not {"Reply-To", "In-Reply-To", "References", "List-Unsubscribe", "List-Unsubscribe-Post"} & set(names)


def test_the_text_comes_first_then_the_page_with_its_picture() -> None:
    mail = assert_well_formed(compose(FULL, SENDER))
    kinds = [part.get_content_type() for part in mail.walk()]
    assert kinds == ["multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png"]
    picture = list(mail.walk())[-1]
    assert picture.get_payload(decode=True) == PICTURE
    assert picture["Content-Disposition"].content_disposition == "inline"
    content_id = str(picture["Content-ID"]).strip("<>")
    assert f'<img src="cid:{content_id}" alt="The board">' in text_of(mail, "html")
    assert "cid:board" not in text_of(mail, "html").replace(content_id, "")
    assert list(mail.walk())[2].get_param("type") == "text/html"


@pytest.mark.parametrize("size", [0, 1, 56, 57, 58, 57 * 64 - 1, 57 * 64, 57 * 64 + 1, 57 * 200 + 33])
def test_a_picture_of_any_size_arrives(size: int) -> None:
    picture = bytes(n * n % 251 for n in range(size))
    mail = assert_well_formed(compose(replace(FULL, picture=picture), SENDER))
    assert list(mail.walk())[-1].get_payload(decode=True) == picture


def test_every_mail_has_a_content_id_of_its_own() -> None:
    ids = re.compile(rb"Content-ID: (.*)")
    one = ids.findall(compose(FULL, SENDER))
    other = ids.findall(compose(replace(FULL, message_id="other@play.example.org"), SENDER))
    assert len(one) == len(other) == 1
    assert one != other


def test_a_second_try_sends_the_same_bytes() -> None:
    assert compose(FULL, SENDER) == compose(FULL, SENDER)


def test_a_page_without_a_picture_is_not_related_to_anything() -> None:
    mail = parsed(compose(replace(FULL, picture=None), SENDER))
    assert [part.get_content_type() for part in mail.walk()] == ["multipart/alternative", "text/plain", "text/html"]


def test_a_mail_without_a_page_is_plain_text() -> None:
    mail = parsed(compose(replace(FULL, html=" \n"), SENDER))
    assert mail.get_content_type() == "text/plain"
    assert mail.get_content().replace("\r\n", "\n") == FULL.text


def test_a_page_of_100_kilobytes_is_left_out_rather_than_the_mail() -> None:
    fits, too_long = "<p>" + "x" * 99_997, "<p>" + "ö" * 49_999
    assert parsed(compose(replace(FULL, html=fits), SENDER)).get_body(("html",)) is not None
    mail = parsed(compose(replace(FULL, html=too_long), SENDER))
    assert mail.get_content_type() == "text/plain"
    assert mail.get_content().replace("\r\n", "\n") == FULL.text


def test_a_long_thread_keeps_its_first_id_and_the_last_ten() -> None:
    thread = tuple(f"m{number}.0123456789abcdef01234567@play.example.org" for number in range(40))
    raw = compose(replace(FULL, thread=thread), SENDER)
    ids = value_of(raw, "References").split()
    assert ids == [f"<{one}>" for one in (thread[0], *thread[-10:])]
    assert value_of(raw, "In-Reply-To") == f"<{thread[-1]}>"
    assert_well_formed(raw)


def test_a_long_id_is_neither_broken_nor_encoded() -> None:
    long = "x" * 700 + "@mail.example.com"
    raw = compose(replace(FULL, thread=("first@play.example.org", long)), SENDER)
    assert f" <{long}>\r\n".encode() in raw
    assert f"In-Reply-To: <{long}>\r\n".encode() in raw
    assert_well_formed(raw)


def test_a_foreign_id_that_cannot_be_repeated_is_left_out() -> None:
    bad = ["", "a b@c", "a>\r\nBcc: x", "ö@x", "x" * 901, "=?utf-8?q?=0aBcc:x?=", "a<b@c", "a\n@b", "a,\x00b"]
    assert thread_ids(bad) == []
    assert thread_ids(["a@b", *bad, "a@b", "c@d"]) == ["<a@b>", "<c@d>"]


def test_a_mail_is_no_answer_to_itself() -> None:
    raw = compose(replace(FULL, thread=(FULL.message_id,)), SENDER)
    assert "References" not in dict(headers_of(raw))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_subject_cannot_smuggle_a_recipient(text: str) -> None:
    mail = assert_well_formed(compose(replace(FULL, subject=text, picture_alt=text), SENDER))
    assert mail["Subject"] == clean(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_cannot_smuggle_a_recipient(text: str) -> None:
    raw = compose(replace(FULL, to_name=text), replace(SENDER, name=text))
    mail = assert_well_formed(raw)
    assert name_in(raw) == clean_name(text)
    assert [one.addr_spec for one in mail["From"].addresses] == [SENDER.address]


@pytest.mark.parametrize(
    "spec",
    [
        "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b c", "a@b\r\nBcc: c@d", "a\n@b", "a@b>", "<a@b>", "a@b, c@d",
        '"a b"@c', "a..b@c", ".a@b", "a.@b", "a@[127.0.0.1]", "a@b..c", "a@.b", "a@b.", "a@-b", "a(x)@b", "a@b(x)",
        "=?utf-8?q?a?=@b", "a\u202e@b", "a\x00@b", "a@b\x00", "a@" + "b" * 64, "a@" + "b." * 127 + "c",
        "a" * 65 + "@b", "ö" * 33 + "@b", "a@\u2028b", "a@" + "ö" * 5000, "a\ud800@b", "a:b@c", "a;b@c", "a\\b@c",
    ],
)  # fmt: skip
def test_what_is_not_one_address_is_refused_and_not_repeated(spec: str) -> None:
    for change in ({"to_address": spec}, {"reply_to": spec}, {"unsubscribe_mail": spec}):
        with pytest.raises(ValueError, match=r"address|domain") as caught:
            compose(replace(FULL, **change), SENDER)
        assert len(spec) < 3 or spec not in str(caught.value)


@pytest.mark.parametrize("spec", ["a.b+c_d@sub.example.org", "o'brien@example.org", "a@localhost", "x/y=z@b.example"])
def test_a_usual_address_is_written_as_it_is(spec: str) -> None:
    assert value_of(compose(replace(FULL, to_name="", to_address=spec), SENDER), "To") == spec


@pytest.mark.parametrize("one", ["", "x", "a@b\r\nBcc: c@d", "a b@c", "<a@b>", "x" * 60 + "@b", "=?a@b", "ö@b"])
def test_a_malformed_id_of_our_own_is_refused(one: str) -> None:
    with pytest.raises(ValueError, match="message id"):
        compose(replace(FULL, message_id=one), SENDER)


@pytest.mark.parametrize(
    "url",
    ["", "ftp://x", "javascript:x", "https://x y", "https://x>", "https://x,y", "https://x\r\nBcc: a", "https://ö",
     "https://x/=?utf-8?q?=0a?=", "https://" + "x" * 901],
)  # fmt: skip
def test_a_link_that_cannot_stand_in_a_header_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="web address"):
        compose(replace(FULL, unsubscribe_url=url), SENDER)


def test_the_envelope_sender_names_the_mail() -> None:
    assert envelope_sender(FULL, SENDER) == "bounce+k7f3q9w2aaaabbbbccccdddd@play.example.org"
    assert envelope_sender(replace(FULL, bounce_token=""), SENDER) == "clachan@play.example.org"
    for bad in ("a b", "a>\r\nRCPT", "a@b", "ö", "x" * 60):
        with pytest.raises(ValueError, match=r"token|address"):
            envelope_sender(replace(FULL, bounce_token=bad), SENDER)


def test_no_line_of_the_text_begins_as_a_quotation_or_a_mailbox_does() -> None:
    text = "> quoted\r\n>no space\rFrom here\x0bFrom there\u2028> and\n\nFromage\n.dot"
    assert plain_text(text) == " > quoted\n >no space\n From here\n From there\n > and\n\nFromage\n.dot\n"
    assert plain_text("\u200d>") == "\u200d>\n"
    assert plain_text("\u202e> hidden\x00 \x07bell") == " > hidden bell\n"
    assert plain_text("") == "\n"


def test_cleaning_keeps_what_people_write() -> None:
    for text in ("Clans 17 – Zoës Zug", "Глава 3", "第三章", "परीक्षा", "a ? = b", "100 % (really)", "שלום", "Ünï 🎲"):
        assert clean(text) == text
    for name in ("J. R. O’Brien-Smith", "Zoë", "李雷", "Анна", "परीक्षा", "R2_D2", "M&M"):
        assert clean_name(name) == name
    assert clean("a \t\r\n b") == "a b"
    assert clean("x" * 151) == "x" * 149 + "…"
    assert clean_name('Ann "the" <b@c>') == "Ann the bc"


def test_a_word_that_cannot_be_sent_unbroken_is_refused() -> None:
    assert fold("X", "a " * 50) == "X:" + " a" * 38 + "\r\n" + " a" * 12 + "\r\n"
    with pytest.raises(ValueError, match="too long"):
        fold("X", "x" * 1000)


words = st.text(st.characters(), max_size=200) | st.sampled_from(HOSTILE)


@settings(max_examples=150, deadline=None)
@given(name=words, subject=words, text=words, html=words, alt=words, ours=words, foreign=st.lists(words, max_size=14))
def test_no_words_whatever_change_the_shape_of_a_mail(
    name: str, subject: str, text: str, html: str, alt: str, ours: str, foreign: list[str]
) -> None:
    message = replace(
        FULL,
        to_name=name,
        subject=subject,
        text=text,
        html=f"<p>{html}</p>",
        picture_alt=alt,
        thread=("first@play.example.org", *foreign),
    )
    raw = compose(message, replace(SENDER, name=ours))
    mail = assert_well_formed(raw)
    assert mail["Subject"] == clean(subject)
    assert name_in(raw) == clean_name(name)
    assert text_of(mail, "plain") == plain_text(text)
    assert not re.search("^(>|From )", text_of(mail, "plain"), re.MULTILINE)
    shown = re.sub("cid:board[^\"']+", "cid:board", text_of(mail, "html"))
    assert shown.rstrip("\n") == plain_html(f"<p>{html}</p>").rstrip("\n")
    assert len([part for part in mail.walk() if not part.is_multipart()]) == 3


@settings(max_examples=300, deadline=None)
@given(words)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert len(once) <= 150
    assert "=?" not in once
    assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for char in once)
    assert clean_name(clean_name(text)) == clean_name(text)
    assert plain_text(plain_text(text)) == plain_text(text)


@settings(max_examples=200, deadline=None)
@given(words)
def test_no_address_whatever_makes_a_second_recipient(spec: str) -> None:
    for candidate in (spec, f"{spec}@example.org", f"zoe@{spec}"):
        try:
            raw = compose(replace(FULL, to_address=candidate), SENDER)
        except ValueError:
            continue
        assert [name for name, _ in headers_of(raw)] == NAMES
        (found,) = message_from_bytes(raw, policy=default)["To"].addresses
        assert found.username == candidate.rpartition("@")[0] or not raw.isascii()

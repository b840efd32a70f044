"""Mails taken apart: headers, addresses, character sets and parts, and what no mail may cost."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable
from contextlib import suppress
from encodings.aliases import aliases
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.inbound import markup
from server.inbound.lines import own_lines
from server.inbound.parse import Letter, Unreadable, parse

MAIL = Path(__file__).parent.parent / "mail"
SAMPLES = [file.read_bytes() for file in sorted(MAIL.glob("*.eml"))]
FROM = b"From: Alice <alice@example.com>\r\n"
LONG = 200 * 1024


def letter(*headers: str, body: bytes = b"A5-B1\r\n") -> Letter:
    """Return a mail with these headers, read."""
    return parse("".join(f"{line}\r\n" for line in headers).encode() + b"\r\n" + body)


def parts(kind: str, *texts: str) -> bytes:
    """Return a mail of several parts, each given with its headers."""
    inner = "".join(f"--=_b\r\n{text}\r\n" for text in texts)
    return FROM + f'Content-Type: {kind}; boundary="=_b"\r\n\r\n{inner}--=_b--\r\n'.encode()


PLAIN = "Content-Type: text/plain; charset=utf-8\r\n\r\n"
HTML = "Content-Type: text/html; charset=utf-8\r\n\r\n"
FILE = 'Content-Type: text/plain; name="moves.txt"\r\n\r\nD1-D2'
ATTACHED = "Content-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\nD1-D2"
PICTURE = "Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo="


@pytest.mark.parametrize(
    ("value", "address", "name"),
    [
        ("alice@example.com", "alice@example.com", ""),
        ("<Alice@EXAMPLE.com>", "Alice@example.com", ""),
        ('"Smith, Alice (home)" <alice@example.com>', "alice@example.com", "Smith, Alice (home)"),
        (r'"A \"B\" \\C" <alice@example.com>', "alice@example.com", 'A "B" \\C'),
        ("Alice B. (work) <alice@example.com> (me)", "alice@example.com", "Alice B. (work)"),
        ("alice@example.com (Alice)", "alice@example.com", "Alice"),
        ("=?utf-8?q?Ji=C5=99=C3=AD?= =?utf-8?b?IE4u?= <j@example.cz>", "j@example.cz", "Jiří N."),
        ("=?utf-8?q?a=40b=2Ec=2C_x=0D=0ABcc=3A?= <j@example.cz>", "j@example.cz", "a@b.c, x Bcc:"),
        ("Jiří <jiří@bücher.example>", "jiří@xn--bcher-kva.example", "Jiří"),
        ("Alice\u202e\u200b <alice@example.com>", "alice@example.com", "Alice"),
        (f"{'x' * 99} <alice@example.com>", "alice@example.com", "x" * 60),
    ],
)
def test_a_mail_is_from_exactly_one_sound_address(value: str, address: str, name: str) -> None:
    found = letter(f"From: {value}")
    assert (found.sender, found.sender_name) == (address, name)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "alice",
        "alice@example.com, bob@example.com",
        "alice@example.com bob@example.com",
        "Alice <alice@example.com>, Bob <bob@example.com>",
        "alice@example.com <mallory@example.net>",
        "Alice <alice@example.com> <mallory@example.net>",
        "alice@example.com <>",
        "Friends: alice@example.com;",
        "Alice <@relay.example:alice@example.com>",
        "Alice <alice@example.com",
        'Alice" <alice@example.com>',
        "Alice (<alice@example.com>",
        "Smith, Alice <alice@example.com>",
        "alice@example.com@example.net",
        "alice..b@example.com",
        ".alice@example.com",
        '"alice b"@example.com',
        "alice@[192.0.2.1]",
        "alice@-example.com",
        "alice@example..com",
        "alice@bücher..example",
        "alice @example.com",
        "al\u00a0ice@example.com",
        f"{'a' * 65}@example.com",
        f"a@{'b.' * 130}c",
    ],
)
def test_what_is_not_exactly_one_sound_address_is_nobody(value: str) -> None:
    assert letter(f"From: {value}").sender == ""


def test_a_mail_from_two_is_from_nobody() -> None:
    assert letter("From: alice@example.com", "From : bob@example.com").sender == ""
    assert letter("From: alice@example.com\rFrom: bob@example.com").sender == ""
    assert letter("X: a\rFrom: alice@example.com\r\r", "From: bob@example.com").sender == "bob@example.com"
    assert letter("To: alice@example.com").sender == ""


def test_recipients_come_from_all_headers_that_name_them() -> None:
    found = letter(
        "Cc: <cc@example.org>",
        "To: 'to+x@Play.example.org' <to+x@play.example.org>,",
        "\tfriends: other@example.org, @, x@, nobody;",
        "Envelope-To: envelope@example.org",
        "X-Original-To: original@example.org",
        "Delivered-To: delivered@example.org",
    )
    names = "delivered original envelope to+x other cc"
    assert [address.partition("@")[0] for address in found.recipients] == names.split()
    many = letter("To: " + ", ".join(f"a{number}@example.org" for number in range(99)))
    assert len(many.recipients) == 20


@pytest.mark.parametrize(
    ("value", "bare"),
    [
        ("<x1@example.com>", "x1@example.com"),
        (" <a=b$c/d@[10.0.0.1]> ", "a=b$c/d@[10.0.0.1]"),
        ("x1@example.com", ""),
        ("<x1>", ""),
        ("<a b@example.com>", ""),
        ("<a@b> <c@d>", ""),
        ("<é@example.com>", ""),
        (f"<{'x' * 240}@example.com>", ""),
    ],
)
def test_only_a_sound_message_id_counts(value: str, bare: str) -> None:
    assert letter(f"Message-ID: {value}").message_id == bare
    assert letter(f"Message-ID: {value}", "Message-Id: <y@example.com>").message_id == ""


@pytest.mark.parametrize(
    ("value", "subject"),
    [
        ("Re: Clans 17", "Re: Clans 17"),
        ("Re:\r\n Clans\r\n\t17", "Re: Clans 17"),
        ("=?iso-8859-2?Q?=BElu=BBou=E8k=FD?=", "žluťoučký"),
        ("=?UTF-8?B?xb4=?=\r\n =?UTF-8?B?bHXF?= =?utf-8?b?pQ==?= x", "žluť x"),
        ("=?utf-8*en?q?a_b?= c =?nonsense?q?d?=", "a b c d"),
        ("=?utf-8?q?x=0ABcc:_a=40b?=", "x Bcc: a@b"),
        ("=?utf-8?b?A?= =?utf-8?x?y?=", "=?utf-8?x?y?="),
        ("a\0b\u202e\u2028c", "ab c"),
        ("x" * 300, "x" * 200),
    ],
)
def test_a_subject_is_one_line(value: str, subject: str) -> None:
    assert letter(f"Subject: {value}").subject == subject


def test_headers_keep_their_order_and_their_raw_values() -> None:
    found = letter("Received: b;\r\n  x", "RECEIVED: a", "no header", " nor this", "X-Y: =?utf-8?q?a?=", "Bad Name: x")
    assert found.headers == (("received", "b;  x"), ("received", "a"), ("x-y", "=?utf-8?q?a?="))


def test_a_line_of_the_delivery_agent_is_no_header() -> None:
    assert parse(b"From alice Tue Nov  3 10:11:12 2026\n" + FROM + b"\nA5-B1").sender == "alice@example.com"


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("utf-8", "žluť".encode(), "žluť"),
        ("windows-1250", "žluť".encode("cp1250"), "žluť"),
        ("iso-8859-1", b"caf\xe9 \x85", "café …"),
        ("us-ascii", "žluť".encode(), "žluť"),
        ("iso-8859-2", "žluť".encode(), "žluť"),
        ("utf-8", b"caf\xe9", "café"),
        ("nonsense", "žluť".encode(), "žluť"),
        ("", b"caf\xe9 \x81", "café \ufffd"),
        ("koi8-r", "ход".encode("koi8_r"), "ход"),
        ("KOI8-U", "хід".encode("koi8_u"), "хід"),
        ("gb2312", "汉字镕".encode("gb18030"), "汉字镕"),
        ("iso-2022-jp", "手番".encode("iso2022_jp"), "手番"),
        ("shift_jis", "手番①".encode("cp932"), "手番①"),
        ("ks_c_5601-1987", "차례똠".encode("cp949"), "차례똠"),
        ("iso-8859-8-i", "תור".encode("iso8859_8"), "תור"),
        ("utf-7", b"+2AA-A5", "A5"),
        ("base64", b"A5", "A5"),
        ("unicode_escape", rb"\x41", r"\x41"),
        ("x" * 2000, b"A5", "A5"),
    ],
)
def test_a_charset_is_read_as_it_is_really_used(charset: str, data: bytes, text: str) -> None:
    assert letter(f"Content-Type: text/plain; charset={charset}", body=data).text == text
    coded = base64.encodebytes(data)
    headers = (f'Content-Type: text/plain; CHARSET="{charset}"', "Content-Transfer-Encoding: BASE64")
    assert letter(*headers, body=coded).text == text


def test_every_charset_there_is_makes_text_of_anything() -> None:
    chance = random.Random(17)
    for charset in sorted({*aliases, *aliases.values(), "punycode", "idna", "undefined", "../x", "utf-8\0"}):
        text = letter(f"Content-Type: text/plain; charset={charset}", body=chance.randbytes(999)).text
        text.encode()
        assert not set(text) & set("\r\0\x1b\x85")


@pytest.mark.parametrize(
    ("coding", "data", "text"),
    [
        ("quoted-printable", b"a=\r\nb=20=C5=BE=XY=", "ab ž=XY"),
        ("base64", b"QTUtQjE", "A5-B1"),
        ("base64", b"QTUt\r\n*QjE==\r\n-- \r\n", "A5-B1"),
        ("base64", b"A", ""),
        ("8bit", b"a\rb\r\nc\x0bd\x00\x1b", "a\nb\nc\nd"),
        ("x-unknown", b"A5-B1", "A5-B1"),
    ],
)
def test_a_broken_coding_is_read_as_far_as_it_goes(coding: str, data: bytes, text: str) -> None:
    found = letter(f"Content-Transfer-Encoding: {coding}", "Content-Type: text/plain; charset=utf-8", body=data).text
    assert found.startswith(text)
    assert len(found) <= len(text) + 3


def test_lines_that_flow_are_joined_but_neither_signatures_nor_quotations() -> None:
    body = b"say one \ntwo \nthree\n  four\n-- \nAlice \n> a \n> b\n>> c \nend "
    flowed = "Content-Type: text/plain; format=Flowed"
    whole = "say one two three\n four\n-- \nAlice \n> a b\n>> c \nend "
    assert letter(flowed, body=body).text == whole
    assert letter(f"{flowed}; DelSp=Yes", body=b"\xe6\x89\x8b \n\xe7\x95\xaa\nA5").text == "手番\nA5"
    assert letter("Content-Type: text/plain", body=b"one \ntwo").text == "one \ntwo"


@pytest.mark.parametrize(
    "raw",
    [
        parts("multipart/alternative", f"{PLAIN}A5-B1", f"{HTML}<p>D1-D2</p>"),
        parts("multipart/alternative", f"{PLAIN} \r\n", f"{HTML}<p>A5-B1</p>"),
        parts("multipart/alternative", f"{PLAIN}Your program shows no HTML.", f"{HTML}<b>A5</b>-B1"),
        parts("multipart/alternative", f"{HTML}<p>A5-B1</p>", "Content-Type: text/calendar\r\n\r\nD1-D2"),
        parts("multipart/mixed", f"{PLAIN}A5-B1", FILE, ATTACHED, PICTURE),
        parts("multipart/mixed", PICTURE, f"{PLAIN}A5-B1", f"{HTML}<p>D1-D2</p>"),
        parts("multipart/mixed", PICTURE, f"{HTML}<p>A5-B1</p>"),
        parts("multipart/related", f"{HTML}<p>A5-B1</p><img src='cid:x'>", PICTURE),
        parts("multipart/signed; protocol=x", f"{PLAIN}A5-B1", "Content-Type: application/pgp-signature\r\n\r\nD1-D2"),
        parts("multipart/unknown", f"{PLAIN}A5-B1", "Content-Type: message/rfc822\r\n\r\nFrom: x\r\n\r\nD1-D2"),
        parts("multipart/mixed", "\r\nA5-B1", "A line without headers")[:-9],
        FROM + b"Content-Type: multipart/mixed\r\n\r\nA5-B1",
        FROM + b"Content-Type: multipart/mixed; boundary=b\r\n\r\nA5-B1",
        FROM + b"Content-Type: nonsense\r\n\r\nA5-B1",
        FROM + b"Content-Type: text/plain; name=x.txt\r\nContent-Disposition: attachment\r\n\r\nA5-B1",
        FROM + b"Content-Type: multipart/mixed; boundary*0=a; boundary*1*=%62\r\n\r\n--ab\r\n\r\nA5-B1\r\n--ab--",
        FROM + b'Content-Type: multipart/mixed; x="a;\\"b"; boundary="b c"\r\n\r\n--b c  \r\n\r\nA5-B1\r\n--b c\r\n',
        FROM.replace(b"\r\n", b"\r") + b"\rA5-B1\r",
    ],
)
def test_the_part_that_is_to_be_read_is_found(raw: bytes) -> None:
    assert own_lines(parse(raw).text)[:1] == ["A5-B1"]
    assert "D1-D2" not in parse(raw).text


def test_text_on_both_sides_of_a_picture_belongs_together() -> None:
    assert parse(parts("multipart/mixed", f"{PLAIN}A5-B1", PICTURE, f"{PLAIN}say hello")).text == "A5-B1\nsay hello"


def test_a_report_is_kept_beside_what_it_says() -> None:
    status = "Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x\r\n\r\nAction: failed\r\nStatus: 5.1.1"
    found = parse(parts("multipart/report; report-type=delivery-status", f"{PLAIN}It came back.", status))
    assert (found.kind, found.text) == ("multipart/report", "It came back.")
    assert found.reports == ("Reporting-MTA: dns; x\n\nAction: failed\nStatus: 5.1.1",)
    assert parse(parts("multipart/mixed", f"{PLAIN}x")).reports == ()


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("A5&#45;B1&nbsp;&lt;&amp;&bogus;&#x110000;&#99999999;", "A5-B1 <&&bogus;\ufffd&#99999999;"),
        ("a<br>b<br><br><br>c", "a\nb\n\nc"),
        ("<p>a</p><p>b  \n c</p>", "a\n\nb c"),
        ("<ul><li>A5-B1<li><p>say x</p></ul>", "- A5-B1\n\n- say x"),
        ("<table><tr><td>a</td><td>b<tr><td>c</table>d", "a b\nc\nd"),
        ("<pre>a  b\n c</pre>d\ne", "a b\nc\nd e"),
        ("a<style>b</style><script>'</scrip>'</SCRIPT >c<title>d</title><!-- e --><!-->f<![if x]>g<?h?>", "acfg"),
        ("a<!-- b", "a"),
        ('a<b c=\'>\' d=">">e<f g="h>i</f><j', "aei"),
        ("1 < 2 <3> <> &", "1 < 2 <3> <> &"),
        ("<blockquote>a<blockquote>b</blockquote>c</blockquote>d", "> a\n> \n> > b\n> c\nd"),
        ("<div><blockquote>a</div>b</blockquote>c</span></p>", "> a\nbc"),
        ("<div id=divRplyFwdMsg>a</div>b", f"{markup.RULE}\n> a\n> b"),
        ("<div style='border-left:none'>a</div><div style='border-left: 1px  SOLID'>b</div>", "a\n\n> b"),
    ],
)
def test_a_page_becomes_the_text_a_reader_sees(page: str, text: str) -> None:
    assert markup.text(page) == text


def nested(kind: str, depth: int) -> bytes:
    """Return a mail whose parts stand in one another."""
    heads = (f"Content-Type: {kind}; boundary=b{level}\n\n--b{level}\n" for level in range(depth))
    return FROM + "".join(heads).encode() + b"\nA5-B1\n"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (FROM + b"\n" + b"x" * 256 * 1024, "more than 256 KB"),
        (nested("multipart/mixed", 3000), "parts more than 10 deep"),
        (nested("multipart/mixed", 11), "parts more than 10 deep"),
        (parts("multipart/mixed", *[f"{PLAIN}a"] * 50), "more than 50 parts"),
        (b"X: a\n" * 10_000, "more than 1000 headers"),
        (b"From: a@b.example" + b" " * 5000 + b", c@d.example\n\n", "a from header of more than 4 KB"),
        (FROM + b"Content-Type: text/plain;" + b" a=b;" * 1000 + b"\n\n", "a content-type header of more than 4 KB"),
    ],
)
def test_what_is_beyond_the_bounds_is_unreadable(raw: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=f"^{reason}$"):
        parse(raw)


def test_what_is_just_within_the_bounds_is_read() -> None:
    assert own_lines(parse(nested("multipart/mixed", 10)).text) == ["A5-B1"]
    assert parse(parts("multipart/mixed", *[f"{PLAIN}a"] * 49)).text == "\n".join("a" * 49)
    assert dict(letter(f"X-Long: {'x' * 9000}").headers)["x-long"] == "x" * 4096


def rest(pattern: str, kind: str = "text/html", coding: str = "8bit") -> Callable[[], bytes]:
    """Return what makes a mail of one pattern, as long as a mail may be."""
    head = FROM + f"Content-Type: {kind}\nContent-Transfer-Encoding: {coding}\n\n".encode()
    return lambda: head + (pattern * LONG).encode()[:LONG]


TAGS = [
    *(
        "<div>",
        "<",
        '<a b="',
        "<a b='",
        "<p>",
        "</div>",
        "<blockquote>a",
        "<div></span>",
        "<!--",
        "<!",
        "<?",
        "&#9",
        "&a",
    ),
    *(
        "<br>",
        "<hr>",
        "<li>",
        "<td>",
        "<style>",
        "<SCRIPT></",
        "<pre>\n",
        "<div style=border-left:",
        "<div id=divrplyfwdmsg>",
    ),
    *("<div style='border-left:solid'>", "='", '<a =">', "<td><td></table>", "\0"),
]
HOSTILE = {
    **{f"page of {tag}": rest(tag) for tag in TAGS},
    "nested message": lambda: (FROM + b"Content-Type: message/rfc822\n\n") * 3000,
    "boundaries": rest("--b\n", "multipart/mixed; boundary=b"),
    "beginnings of boundaries": rest("--bx\n", "multipart/mixed; boundary=b"),
    "flowing": rest("> a \n", "text/plain; format=flowed"),
    "flowing on and on": rest("a \n", "text/plain; format=flowed; delsp=yes"),
    "coded nothing": rest("=\n", "text/plain", "quoted-printable"),
    "coded junk": rest("Q*\n", "text/plain", "base64"),
    "escapes": rest("\x1b$B\x1b(B", "text/plain; charset=iso-2022-jp"),
    "words": lambda: FROM + b"Subject: " + b" =?utf-8?q?a?=" * 20_000 + b"\n\n",
    "folded words": lambda: FROM + b"Subject:" + b"\n =?utf-8?b?YQ==?=" * 14_000 + b"\n\n",
    "halves of words": lambda: FROM + b"Subject: " + b"=?a?q?" * 600 + b"\n\n",
    "recipients": lambda: (b"To: " + "x@é.é.é.é.é, ".encode() * 250 + b"\n") * 60 + b"\n",
    "no recipients": lambda: (b"To: " + b"a" * 4000 + b"\n") * 60 + b"\n",
    "sections": lambda: FROM + b"Content-Type: a/b" + b";a*0=b" * 600 + b"\n\n",
    **{
        f"sender of {sign!r}": (lambda sign=sign: b"From: " + (sign * 4000)[:4000] + b"\n\n")
        for sign in (b"(", b'"', b'\\"', b"<", b"a,", b"a ", b"a@", b"=?a?q?", b"a@b.", b"<a@b> ", b"\xff", b"\0")
    },
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_mail_costs_more_than_its_length(kind: str) -> None:
    raw = HOSTILE[kind]()
    start = time.process_time()
    with suppress(Unreadable):
        own_lines(parse(raw).text)
    assert time.process_time() - start < 1


def test_spoilt_mails_are_read_or_unreadable() -> None:
    chance = random.Random(17)
    for _ in range(2000):
        raw = bytearray(chance.choice(SAMPLES))
        for _ in range(chance.randint(1, 12)):
            place = chance.randrange(len(raw))
            raw[place : place + chance.choice((0, 1, 40))] = chance.choice(
                (b"", b"\n", b"\xff", b"=?", b'"', b"--=_b1\n")
            )
        try:
            found = parse(bytes(raw))
        except Unreadable:
            continue
        (found.text + found.subject + found.sender_name + found.sender).encode()
        own_lines(found.text)


@given(st.binary(max_size=400))
@settings(deadline=None)
def test_any_bytes_are_read_or_unreadable(raw: bytes) -> None:
    for whole in (raw, FROM + raw, FROM + b"Content-Type: text/html\n\n" + raw):
        found = parse(whole)
        own_lines(found.text)
        assert all(name == name.lower() and "\n" not in value for name, value in found.headers)

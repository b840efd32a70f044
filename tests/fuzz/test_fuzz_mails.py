"""Whatever comes as a mail is read or unreadable in bounded time, and what becomes of it is a word of docs/mail.md."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

from fuzzing import Effort, chances, efforts, mutated, signs, spoilt, texts, told
from house import House
from hypothesis import strategies as some
from postman import reply, send

from server import db
from server.errors import CODES, Refused
from server.inbound import addresses, bounces, door, lines, orders, silence
from server.inbound.judge import proven
from server.inbound.parse import Letter, Unreadable, parse
from server.models import Inbound, LogRow

HERE = Path(__file__).parent.parent
DOCUMENTED = set(re.findall(r"`([a-z-]+)`", (HERE.parent / "docs" / "mail.md").read_text(encoding="utf-8")))
SILENT = ("automatic", "null-path", "report", "list", "daemon", "own")
VERDICTS = DOCUMENTED | {f"refused-{code}" for code in CODES} | {f"silent-{why}" for why in SILENT}
HEADERS = (
    "From: Ailsa <ailsa@example.org>",
    "From: =?utf-8?b?QWlsc2E=?= <ailsa@example.org>, x@y.example",
    'To: "move" <move+0123456789abcdef01234567@localhost>, undisclosed-recipients:;',
    "Subject: =?iso-8859-2?q?Re=3A_tah?= =?utf-8?b?xJs=?=",
    "Message-ID: <a.b+c@example.org>",
    "Content-Type: multipart/mixed; boundary*0=ab; boundary*1=c",
    'Content-Type: text/plain; charset="utf-7"; format=flowed; delsp=yes',
    "Content-Transfer-Encoding: base64",
    "Authentication-Results: mx.example.org; dmarc=pass header.from=example.org; dkim=pass header.d=example.org",
    "Auto-Submitted: auto-replied; x=y",
    "Return-Path: <>",
)
TEXTS = (
    "On Tue, Nov 3, 2026 at 10:11 AM Clachan <move+0123456789abcdef01234567@localhost> wrote:\n> It is your turn.",
    "Am 03.11.2026 um 10:11 schrieb Clachan:\n\n> A1-A2\n>> say hello\n",
    "-----Original Message-----\nFrom: Clachan\nSent: Tuesday\nTo: Ailsa\nSubject: Re: Your turn\n\nresign",
    "A1-A2 C1,A2\n-- \nAilsa\n",
    "say Well met\nstatus\npause until 2026-12-24\n\nDne út 3. 11. 2026 v 10:11 napsal Clachan:\n> x",
    "<html><body><p>A1-A2<br><blockquote type=cite>&gt; x</blockquote><div class=gmail_quote>Y</div></html>",
)


@cache
def mails() -> tuple[bytes, ...]:
    """Return the mails that programs really wrote."""
    return tuple(file.read_bytes() for file in sorted((HERE / "mail").glob("*.eml")))


def headed(headers: list[str], body: str) -> bytes:
    """Return a mail of these headers and this body."""
    return ("\n".join(headers) + "\n\n" + body).encode("utf-8", "surrogatepass")


def judged(letter: Letter) -> None:
    """Let everything that looks at a mail look at it."""
    assert letter.sender == "" or letter.sender.count("@") == 1
    assert not {"\n", "\r"} & {*letter.sender, *letter.sender_name, *letter.subject, *letter.message_id}
    assert all(line == line.strip() != "" for line in lines.own_lines(letter.text))
    assert proven(letter, "mx.example.org") in {True, False}
    assert silence.reason(letter, None, "localhost") is not None
    assert bounces.judge(letter) in {bounces.HARD, bounces.SOFT, bounces.UNCLEAR}


bodies = (
    mutated(TEXTS)
    | texts
    | some.lists(some.sampled_from(TEXTS).flatmap(lambda text: some.sampled_from(text.splitlines())), max_size=30).map(
        "\n".join
    )
)
composed = some.builds(headed, some.lists(mutated(HEADERS, 2), max_size=8), bodies)


@efforts(80, 90)
def test_any_mail_is_read_or_unreadable_in_time(effort: Effort) -> None:
    def read(chance: random.Random, made: bytes, times: int) -> None:
        raw = spoilt(chance.choice(mails()), chance) if chance.random() < 0.7 else made
        place = chance.randint(0, len(raw))
        raw = raw[:place] + raw[place : place + 40] * times + raw[place:]
        try:
            letter = parse(raw[: door.LARGEST])
        except Unreadable as fault:
            told(fault)
        else:
            judged(letter)

    effort.of(read, chance=chances, made=composed, times=some.sampled_from((0, 0, 0, 1, 40, 3000)))


@efforts(100, 40)
def test_any_text_of_a_mail_is_read_line_by_line_in_time(effort: Effort) -> None:
    def read(body: str, times: int) -> None:
        own = lines.own_lines(body * times)
        try:
            found = orders.read(own, lambda text: text.upper() if text[:1] == "A" else "")
        except Refused as fault:
            told(fault)
        else:
            assert found.acts or found.status or found.help

    effort.of(read, body=bodies, times=some.sampled_from((1, 1, 1, 300)))


@efforts(150, 30)
def test_nobody_passes_by_what_he_writes_about_himself(effort: Effort) -> None:
    own = "From: ailsa@example.org\nAuthentication-Results: "
    heads = ("mx.example.org", "MX.example.org 1", 'mx.example.org (a "comment")', '"mx.example.org"')
    verdicts = ("dmarc=pass", "dmarc=fail header.from=example.org", "dkim=pass header.d=example.org", "spf=fail")
    values = some.lists(some.sampled_from(heads + verdicts) | mutated(heads + verdicts, 2), max_size=5).map("; ".join)

    def read(value: str, times: int) -> None:
        value = " ".join((value * times).split())
        letter = parse(f"{own}{value}\n\nA1-A2\n".encode("utf-8", "surrogatepass")[: door.LARGEST])
        other = parse(f"{own}elsewhere.example; {value}\n\nA1-A2\n".encode("utf-8", "surrogatepass")[: door.LARGEST])
        assert proven(letter, "mx.example.org") in {True, False}
        assert not proven(other, "mx.example.org"), "of another judge nothing counts"

    effort.of(read, value=values, times=some.sampled_from((1, 1, 1, 200)))


@efforts(150, 20)
def test_any_address_is_one_or_nobodys(cottage: House, effort: Effort) -> None:
    near = mutated(("move+0123456789abcdef01234567@localhost", "bounce+1-0123456789ab@localhost", "Clachan@localhost"))
    headers = mutated(('"Ailsa, of the \\"lake\\"" <ailsa@example.org> (comment (in it))', "a: b, <c@d.example>;"))

    def read(address: str, header: str, times: int) -> None:
        assert door.knows(address * times, cottage.settings) in {True, False}
        sender, _name = addresses.sender(header * times)
        assert sender == "" or addresses.spec_of(sender)
        assert isinstance(addresses.recipients([address * times, header * times]), tuple)

    effort.of(read, address=near | texts, header=headers | texts, times=some.sampled_from((1, 1, 1, 500)))


@efforts(15, 120)
def test_any_answer_to_a_turn_mail_comes_to_a_documented_end(cottage: House, effort: Effort) -> None:
    """And moves no match by more than what its player's own lines say: one move of his, or his end."""
    db.database.execute_sql("PRAGMA synchronous = off")
    match = cottage.started("Ailsa", "Bran")
    mail = next(mail for mail in cottage.mail() if mail.reply_to)

    def come(chance: random.Random, body: str, header: str) -> None:
        cottage.later(hours=2)
        raw = reply(mail, "A1-A2")
        head, _gap, rest = raw.partition(b"\n\n")
        said = body.encode("utf-8", "surrogatepass")
        whole = head + b"\n" + header.encode("utf-8", "surrogatepass") + b"\n\n" + said + b"\n" + rest
        before = LogRow.select().count()
        verdict = send(cottage, spoilt(whole, chance, 3) if chance.random() < 0.5 else whole)
        assert verdict in VERDICTS, verdict
        assert Inbound.select().where(Inbound.done_at.is_null()).count() == 0, "a fault of ours"
        assert LogRow.select().count() - before <= 3
        cottage.played(match)

    effort.of(come, chance=chances, body=bodies, header=mutated(HEADERS, 1) | some.text(signs, max_size=20))

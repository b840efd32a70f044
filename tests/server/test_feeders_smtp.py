"""The listeners, spoken to by real clients and by hand."""

from __future__ import annotations

import logging
import smtplib
import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import peewee
import pytest
from house import START, House, house_settings

from server import db, feeders, throttle
from server.errors import Refused
from server.feeders import smtp
from server.feeders.smtp import Listener
from server.inbound import door
from server.inbound.door import LARGEST, Envelope
from server.models import Inbound
from server.settings import WayIn, WrongSetting

DOMAIN = "play.example.org"
TOKEN = "k7f3q9w2aaaabbbbccccdddd"
OTHER = "zzzz2222yyyy3333xxxx4444"
MINE, THEIRS = f"move+{TOKEN}@{DOMAIN}", f"move+{OTHER}@{DOMAIN}"
ANN = "ann@example.org"
MAIL = b"From: Ann <ann@example.org>\r\nSubject: Re: Clans 17\r\n\r\nA1-B2\r\n.dot\r\n..dots\r\n"
# As it goes over the wire.
SENT = MAIL.replace(b"\n.", b"\n..") + b"."


class Keeper:
    """What stands behind a listener: it keeps mails in a list and fails as it is told."""

    def __init__(self) -> None:
        self.mails: list[tuple[bytes, Envelope]] = []
        self.faults: list[Exception | None] = []
        self.fault: Exception | None = None
        self.asked: list[str] = []
        self.peers: list[tuple[str, bool]] = []
        self.full = False
        self.gate = threading.Event()
        self.gate.set()

    def receive(self, raw: bytes, envelope: Envelope) -> None:
        """Keep the mail, or raise the next fault."""
        self.gate.wait(10)
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault
        self.mails.append((raw, envelope))

    def knows(self, address: str) -> bool:
        """Whether it is one of two answer addresses or a keeper's."""
        if self.fault:
            raise self.fault
        self.asked.append(address)
        return address.casefold() in {MINE, THEIRS, f"postmaster@{DOMAIN}", f"abuse@{DOMAIN}"}

    def allows(self, peer: str, _address: str, known: bool) -> bool:
        """Whether there is room."""
        self.peers.append((peer, known))
        return not self.full

    def largest(self, address: str) -> int:
        """How large a mail may be: of an abuse desk's address, not very."""
        return 1000 if address.startswith("abuse@") else LARGEST


class Hand:
    """A conversation by hand."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.lines = self.socket.makefile("rb")

    def close(self) -> None:
        """Hang up."""
        self.lines.close()
        self.socket.close()

    def say(self, *lines: str | bytes) -> None:
        """Send lines."""
        for line in lines:
            self.socket.sendall((line.encode() if isinstance(line, str) else line) + b"\r\n")

    def hear(self) -> str:
        """Return the next reply, its last line; nothing if the other side has hung up."""
        while True:
            line = self.lines.readline().decode().rstrip()
            if line[3:4] != "-":
                return line

    def ask(self, line: str | bytes) -> str:
        """Send a line and return the reply."""
        self.say(line)
        return self.hear()

    def begin(self, recipient: str = MINE, hello: str = "EHLO ann.example.org") -> None:
        """Go as far as DATA."""
        self.hear()
        for line in (hello, f"MAIL FROM:<{ANN}>", f"RCPT TO:<{recipient}>"):
            assert self.ask(line).startswith("250"), line
        assert self.ask("DATA").startswith("354")


Listen = Callable[..., Listener]
Dial = Callable[[int], Hand]


@pytest.fixture
def keeper() -> Keeper:
    return Keeper()


@pytest.fixture
def listen(keeper: Keeper) -> Iterator[Listen]:
    started = []

    def start(kind: str = "smtp", host: str = "127.0.0.1") -> Listener:
        way = WayIn(kind, host)
        listener = Listener(way, "Play.Example.ORG", keeper.receive, keeper.knows, keeper.allows, keeper.largest)
        listener.start()
        started.append(listener)
        return listener

    yield start
    keeper.gate.set()
    for listener in started:
        listener.stop()


@pytest.fixture
def client(listen: Listen) -> Iterator[smtplib.SMTP]:
    with smtplib.SMTP("127.0.0.1", listen("smtp").port, timeout=10) as made:
        yield made


@pytest.fixture
def dial() -> Iterator[Dial]:
    hands: list[Hand] = []

    def call(port: int) -> Hand:
        hands.append(Hand(port))
        return hands[-1]

    yield call
    for hand in hands:
        hand.close()


@pytest.fixture
def hand(listen: Listen, dial: Dial) -> Hand:
    return dial(listen("smtp").port)


@pytest.mark.parametrize("kind", ["smtp", "lmtp"])
def test_a_mail_to_a_known_address_is_kept_byte_for_byte(kind: str, keeper: Keeper, listen: Listen) -> None:
    speak = smtplib.LMTP if kind == "lmtp" else smtplib.SMTP
    with speak("127.0.0.1", listen(kind).port, timeout=10) as client:
        assert client.sendmail(ANN, [MINE], MAIL) == {}
    assert keeper.mails == [(MAIL, Envelope(kind, ANN, MINE))]


@pytest.mark.parametrize(
    "address",
    [
        f"move+unknown@{DOMAIN}",
        f"anybody@{DOMAIN}",
        f"{TOKEN}@{DOMAIN}",
        "ann@example.org",
        f"{MINE}.evil.org",
        "ann@[127.0.0.1]",
        "nobody",
        f'"{MINE}"@example.org',
        f"@{DOMAIN}:ann@example.org",
        f"ann%example.org@{DOMAIN}",
    ],
)
def test_an_unknown_or_foreign_address_is_refused_for_good(address: str, client: smtplib.SMTP, keeper: Keeper) -> None:
    client.ehlo()
    client.mail(ANN)
    code, _ = client.docmd(f"RCPT TO:<{address}>")
    assert code == 550
    assert client.docmd("DATA")[0] == 503
    assert keeper.mails == []
    assert all(asked.endswith(f"@{DOMAIN}") for asked in keeper.asked)


def test_the_keepers_are_taken_even_without_a_domain(client: smtplib.SMTP, keeper: Keeper) -> None:
    for address in (f"abuse@{DOMAIN}", "Postmaster", f"POSTMASTER@{DOMAIN.upper()}"):
        client.sendmail(ANN, [address], MAIL)
    assert [envelope.recipient for _, envelope in keeper.mails][:2] == [f"abuse@{DOMAIN}", f"postmaster@{DOMAIN}"]
    assert len(keeper.mails) == 3


def test_a_peer_over_the_limit_is_told_to_come_later(client: smtplib.SMTP, keeper: Keeper) -> None:
    keeper.full = True
    with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
        client.sendmail(ANN, [MINE], MAIL)
    assert refused.value.recipients[MINE][0] == 450
    keeper.full = False
    client.sendmail(ANN, [MINE], MAIL)
    assert len(keeper.mails) == 1


def test_a_mail_too_large_is_refused_when_announced_and_when_sent(client: smtplib.SMTP, keeper: Keeper) -> None:
    large = MAIL + b"x" * 70 + b"\r\n"
    large += (b"x" * 70 + b"\r\n") * ((LARGEST - len(large)) // 72)
    exact = large + b"x" * (LARGEST - len(large) - 2) + b"\r\n"
    assert len(exact) == LARGEST
    client.ehlo()
    assert client.esmtp_features["size"] == str(LARGEST)
    assert client.mail(ANN, [f"SIZE={LARGEST + 1}"])[0] == 552
    client.rset()
    client.mail(ANN)
    client.rcpt(MINE)
    assert client.data(exact + b"y\r\n")[0] == 552
    assert keeper.mails == []
    client.mail(ANN)
    client.rcpt(MINE)
    # The dots that hide dots are counted too.
    exact = exact.replace(b"\n.", b"\nx")
    assert client.data(exact)[0] == 250
    assert keeper.mails == [(exact, Envelope("smtp", ANN, MINE))]


def test_two_recipients_are_two_mails_and_the_sixth_is_one_too_many(client: smtplib.SMTP, keeper: Keeper) -> None:
    client.sendmail(ANN, [MINE, THEIRS], MAIL)
    assert keeper.mails == [(MAIL, Envelope("smtp", ANN, MINE)), (MAIL, Envelope("smtp", ANN, THEIRS))]
    client.mail(ANN)
    assert [client.rcpt(MINE)[0] for _ in range(6)] == [250] * 5 + [452]


def test_lmtp_takes_one_recipient_a_mail_and_gives_him_one_status(keeper: Keeper, listen: Listen, dial: Dial) -> None:
    hand = dial(listen("lmtp").port)
    assert "LMTP" in hand.hear()
    assert hand.ask("EHLO x").startswith("500")
    hand.say("LHLO x", f"MAIL FROM:<{ANN}>", f"RCPT TO:<{MINE}>", f"RCPT TO:<{THEIRS}>", "DATA")
    assert [hand.hear()[:3] for _ in range(5)] == ["250", "250", "250", "452", "354"]
    hand.say(SENT, "NOOP")
    assert [hand.hear() for _ in range(2)] == ["250 2.0.0 Kept", "250 OK"]
    keeper.faults = [peewee.OperationalError("database is locked")]
    hand.say(f"MAIL FROM:<{ANN}>", f"RCPT TO:<{THEIRS}>", "DATA", SENT, "QUIT")
    assert [hand.hear()[:3] for _ in range(5)] == ["250", "250", "354", "451", "221"]
    assert keeper.mails == [(MAIL, Envelope("lmtp", ANN, MINE))]


def test_the_null_sender_is_taken(client: smtplib.SMTP, keeper: Keeper) -> None:
    client.sendmail("", [MINE], MAIL)
    assert keeper.mails == [(MAIL, Envelope("smtp", "", MINE))]


def test_mails_outside_ascii_arrive_byte_for_byte(client: smtplib.SMTP, keeper: Keeper) -> None:
    raw = "Subject: čau\r\n\r\nZürich 先手 A1-B2\r\n".encode() + bytes(range(128, 256)) + b"\x00\r\n"
    assert client.ehlo()[0] == 250
    assert client.has_extn("8bitmime")
    assert client.has_extn("smtputf8")
    client.sendmail(ANN, [MINE], raw, ["BODY=8BITMIME"])
    client.sendmail("žofie@příklad.cz", [MINE], raw, ["BODY=8BITMIME", "SMTPUTF8"])
    assert keeper.mails == [
        (raw, Envelope("smtp", ANN, MINE)),
        (raw, Envelope("smtp", "žofie@příklad.cz", MINE)),
    ]


def test_long_lines_are_taken_up_to_a_bound(client: smtplib.SMTP, keeper: Keeper) -> None:
    client.sendmail(ANN, [MINE], MAIL + b"x" * 16_000 + b"\r\n")
    assert len(keeper.mails) == 1
    with pytest.raises(smtplib.SMTPDataError):
        client.sendmail(ANN, [MINE], MAIL + b"x" * 20_000 + b"\r\n")
    assert client.noop()[0] == 250


@pytest.mark.parametrize("ending", [b"", b".", b".\r", b".\n"])
def test_a_connection_killed_in_the_middle_of_a_mail_keeps_nothing(ending: bytes, hand: Hand, keeper: Keeper) -> None:
    hand.begin()
    hand.socket.sendall(MAIL + ending)
    hand.close()
    time.sleep(0.2)
    assert keeper.mails == []


@pytest.mark.parametrize(
    "fault",
    [
        peewee.OperationalError("database is locked"),
        peewee.OperationalError("database or disk is full"),
        peewee.InterfaceError("gone"),
        Refused("busy", "Not now."),
        ValueError(f"{MINE} is strange"),
    ],
)
def test_a_mail_that_cannot_be_kept_is_put_off_and_may_come_again(
    fault: Exception, client: smtplib.SMTP, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    keeper.faults = [fault]
    with pytest.raises(smtplib.SMTPDataError) as refused:
        client.sendmail(ANN, [MINE], MAIL)
    assert refused.value.smtp_code == 451
    client.sendmail(ANN, [MINE], MAIL)
    assert len(keeper.mails) == 1
    assert TOKEN not in caplog.text


def test_what_the_house_finds_too_large_is_refused_for_good(client: smtplib.SMTP, keeper: Keeper) -> None:
    keeper.faults = [Refused("too-large", "A mail to us has at most 256 KB.")]
    with pytest.raises(smtplib.SMTPDataError) as refused:
        client.sendmail(ANN, [MINE], MAIL)
    assert refused.value.smtp_code == 552


def test_an_address_that_cannot_be_looked_up_is_put_off(
    client: smtplib.SMTP, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    keeper.fault = ValueError(f"no {MINE}")
    with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
        client.sendmail(ANN, [MINE], MAIL)
    assert refused.value.recipients[MINE][0] == 451
    assert "could not be looked up: ValueError (" in caplog.text
    assert TOKEN not in caplog.text


def test_a_fault_of_ours_ends_no_conversation(
    listen: Listen, dial: Dial, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    listener = listen("smtp")
    hand = dial(listener.port)
    listener._workers.shutdown()
    hand.say("EHLO x", f"MAIL FROM:<{ANN}>", f"RCPT TO:<{MINE}>", "NOOP")
    assert [hand.hear()[:3] for _ in range(5)] == ["220", "250", "250", "451", "250"]
    assert "a conversation failed: RuntimeError (" in caplog.text
    assert TOKEN not in caplog.text


ENDINGS = [
    b"\n.\n",
    b"\n.\r\n",
    b"\r.\r\n",
    b"\r.\r",
    b"\r\n.\n",
    b"\r\n.\r",
    b"\n\n.\r\n",
    b"\r\n.\0\r\n",
    b"\r\n.\r\r\n",
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_mail_can_be_smuggled_in_behind_another(ending: bytes, hand: Hand, keeper: Keeper) -> None:
    smuggled = f"MAIL FROM:<admin@{DOMAIN}>\r\nRCPT TO:<{THEIRS}>\r\nDATA\r\nFrom: x\r\n\r\nB2-C3".encode()
    hand.begin()
    hand.socket.sendall(MAIL + b"first" + ending + smuggled + b"\r\n.\r\n")
    assert hand.hear() == "250 2.0.0 Kept"
    assert hand.ask("NOOP").startswith("250")
    ((raw, envelope),) = keeper.mails
    assert envelope == Envelope("smtp", ANN, MINE)
    assert smuggled in raw


def test_nobody_logs_in_or_asks_who_lives_here(client: smtplib.SMTP, keeper: Keeper) -> None:
    client.ehlo()
    assert not client.has_extn("auth")
    assert client.docmd("AUTH PLAIN AGFubgBwYXNzd29yZA==")[0] == 500
    assert client.verify(MINE) == client.verify(f"nobody@{DOMAIN}")
    assert client.expn(MINE)[0] == 502
    assert keeper.asked == []


@pytest.mark.parametrize(
    "address",
    ["<>", "<", "a@b@c", "<\x00@play.example.org>", f"<{'(' * 400}>", '<"', b"<m\xff@play.example.org>", "<,@>"],
)
def test_what_is_no_address_is_refused_and_nothing_breaks(
    address: str | bytes, hand: Hand, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    wire = address if isinstance(address, bytes) else address.encode()
    hand.hear()
    hand.ask("EHLO x")
    if address != "<>":
        assert hand.ask(b"MAIL FROM:" + wire)[0] == "5"
    hand.ask(f"MAIL FROM:<{ANN}>")
    assert hand.ask(b"RCPT TO:" + wire)[0] == "5"
    assert hand.ask(b"VRFY " + wire).startswith("252")
    assert hand.ask(f"RCPT TO:<{MINE}>").startswith("250")
    assert caplog.text == ""
    assert keeper.asked == [MINE]


def test_a_conversation_of_many_commands_comes_to_an_end(hand: Hand) -> None:
    hand.hear()
    replies = [hand.ask("NOOP")[:3] for _ in range(21)]
    assert replies == ["250"] * 20 + ["421"]
    assert hand.hear() == ""


def test_a_silent_conversation_comes_to_an_end(listen: Listen, monkeypatch: pytest.MonkeyPatch, dial: Dial) -> None:
    monkeypatch.setattr(smtp, "SILENCE", 0.3)
    hand = dial(listen("smtp").port)
    hand.begin()
    hand.say(MAIL)
    assert hand.hear() == ""


def test_a_conversation_that_drags_on_comes_to_an_end(
    listen: Listen, monkeypatch: pytest.MonkeyPatch, dial: Dial
) -> None:
    monkeypatch.setattr(smtp, "LIFETIME", 0.5)
    hand = dial(listen("smtp").port)
    hand.hear()
    began = time.monotonic()
    while hand.ask("RSET"):
        time.sleep(0.05)
    assert 0.3 < time.monotonic() - began < 2


def test_the_log_holds_no_address_at_any_level(
    client: smtplib.SMTP, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        client.sendmail(ANN, [MINE], MAIL)
        client.docmd(f"{MINE} hello")
        client.docmd(f"RCPT TO:<move+unknown@{DOMAIN}>")
    assert len(keeper.mails) == 1
    assert "@" not in caplog.text
    assert TOKEN not in caplog.text


def test_a_slow_database_keeps_nobody_else_waiting(
    client: smtplib.SMTP, listen: Listen, keeper: Keeper, dial: Dial
) -> None:
    keeper.gate.clear()
    hands = [dial(listen("smtp").port)] + [dial(client.sock.getpeername()[1]) for _ in range(3)]
    for hand in hands:
        hand.begin()
        hand.say(SENT)
    assert client.noop()[0] == 250
    assert keeper.mails == []
    keeper.gate.set()
    assert [hand.hear() for hand in hands] == ["250 2.0.0 Kept"] * 4


def test_two_hundred_at_once_are_answered_and_all_their_mails_arrive(listen: Listen, keeper: Keeper) -> None:
    port = listen("smtp").port
    together = threading.Barrier(200)
    replies: Counter[int] = Counter()

    def send(number: int) -> None:
        together.wait(30)
        while True:
            try:
                with smtplib.SMTP("127.0.0.1", port, "x", timeout=20) as client:
                    client.sendmail(ANN, [MINE], MAIL + b"%d\r\n" % number)
                return
            except (smtplib.SMTPConnectError, smtplib.SMTPServerDisconnected, ConnectionError) as fault:
                replies[getattr(fault, "smtp_code", 0)] += 1
                time.sleep(0.1)

    with ThreadPoolExecutor(200) as crowd:
        list(crowd.map(send, range(200)))
    assert {raw for raw, _ in keeper.mails} == {MAIL + b"%d\r\n" % number for number in range(200)}
    assert len(keeper.mails) == 200
    assert set(replies) <= {0, 421}


def test_whoever_comes_when_it_is_crowded_is_told_so_and_let_in_later(listen: Listen, dial: Dial) -> None:
    port = listen("lmtp").port
    crowd = [dial(port) for _ in range(smtp.MOST_CONVERSATIONS)]
    assert all(hand.hear().startswith("220") for hand in crowd)
    late = dial(port)
    assert late.hear().startswith("421")
    assert late.hear() == ""
    assert crowd.pop().ask("QUIT").startswith("221")
    time.sleep(0.1)
    assert dial(port).hear().startswith("220")


def test_one_network_address_cannot_fill_the_house(listen: Listen, dial: Dial) -> None:
    port = listen("smtp", "127.0.0.1").port
    crowd = [dial(port) for _ in range(smtp.MOST_FROM_ONE)]
    assert all(hand.hear().startswith("220") for hand in crowd)
    assert dial(port).hear().startswith("421")
    with smtplib.SMTP("127.0.0.1", port, timeout=5, source_address=("127.0.0.2", 0)) as other:
        assert other.noop()[0] == 250
    crowd.pop().close()
    time.sleep(0.1)
    assert dial(port).hear().startswith("220")


@pytest.mark.parametrize(
    ("peer", "origin"),
    [
        (("192.0.2.7", 4711), "192.0.2.7"),
        (("2001:db8:1:2:3::4", 4711, 0, 0), "2001:db8:1:2::/64"),
        (("2001:db8:1:2::9", 4711, 0, 0), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 4711, 0, 2), "fe80::/64"),
        (("::ffff:192.0.2.7", 4711, 0, 0), "192.0.2.7"),
        (("::1", 4711, 0, 0), "::1"),
        (None, "unknown"),
    ],
)
def test_whoever_has_a_whole_network_counts_as_one(peer: tuple[object, ...] | None, origin: str) -> None:
    assert smtp._origin(peer) == origin


def test_whoever_says_nothing_at_all_is_given_less_time(
    listen: Listen, monkeypatch: pytest.MonkeyPatch, dial: Dial
) -> None:
    monkeypatch.setattr(smtp, "HESITATION", 0.4)
    port = listen("smtp").port
    silent, speaking = dial(port), dial(port)
    silent.hear()
    speaking.begin()
    assert silent.hear() == ""
    speaking.say(SENT)
    assert speaking.hear() == "250 2.0.0 Kept"


def test_a_mail_to_the_keepers_is_small_alone_and_among_others(client: smtplib.SMTP, keeper: Keeper) -> None:
    large = MAIL + b"x" * 1000 + b"\r\n"
    for recipients in ([f"abuse@{DOMAIN}"], [MINE, f"abuse@{DOMAIN}"]):
        with pytest.raises(smtplib.SMTPDataError) as refused:
            client.sendmail(ANN, recipients, large)
        assert refused.value.smtp_code == 552
    assert keeper.mails == []
    client.sendmail(ANN, [MINE], large)
    client.sendmail(ANN, [f"abuse@{DOMAIN}"], MAIL)
    assert len(keeper.mails) == 2


def test_stopping_takes_a_second_at_most_and_takes_leave(listen: Listen, keeper: Keeper, dial: Dial) -> None:
    listener = listen("smtp")
    idle, sending, waiting = (dial(listener.port) for _ in range(3))
    idle.hear()
    sending.begin()
    sending.say(MAIL)
    keeper.gate.clear()
    waiting.begin()
    waiting.say(SENT)
    time.sleep(0.1)
    began = time.monotonic()
    listener.stop()
    assert time.monotonic() - began < 1
    assert [hand.hear()[:3] for hand in (idle, sending, waiting)] == ["421", "421", "421"]
    with pytest.raises(ConnectionRefusedError):
        dial(listener.port)


def test_a_mail_in_hand_is_answered_before_we_leave(listen: Listen, keeper: Keeper, dial: Dial) -> None:
    listener = listen("smtp")
    hand = dial(listener.port)
    keeper.gate.clear()
    hand.begin()
    hand.say(SENT)
    time.sleep(0.1)
    threading.Timer(0.2, keeper.gate.set).start()
    listener.stop()
    assert hand.hear() == "250 2.0.0 Kept"
    assert hand.hear().startswith("421")
    assert len(keeper.mails) == 1


def test_a_listener_speaks_over_ipv6(listen: Listen, keeper: Keeper) -> None:
    with smtplib.SMTP("::1", listen("smtp", "::1").port, timeout=5) as client:
        client.sendmail(ANN, [MINE], MAIL)
    assert len(keeper.mails) == 1


def opened(house: House, receive: Callable[[bytes, Envelope], object], *ways: WayIn) -> feeders.Feeders:
    """Return the started ways into a house of the domain of these tests."""
    settings = replace(house.settings, mail_from=f"clachan@{DOMAIN}", mail_in=ways)
    return feeders.start(settings, receive, lambda: START)


def test_an_address_in_use_is_told_in_a_sentence_and_nothing_stays_open(
    cottage: House, keeper: Keeper, dial: Dial
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as free:
        port, other = taken.getsockname()[1], free.getsockname()[1]
        free.close()
        with pytest.raises(WrongSetting) as wrong:
            opened(cottage, keeper.receive, WayIn("smtp", "127.0.0.1", other), WayIn("lmtp", "127.0.0.1", port))
    sentence = f"CLACHAN_MAIL_IN: lmtp://127.0.0.1:{port} cannot be used (Address already in use)."
    assert str(wrong.value) == sentence
    with pytest.raises(ConnectionRefusedError):
        dial(other)
    with pytest.raises(WrongSetting, match=r"CLACHAN_MAIL_IN: smtp://nowhere\.invalid:25 cannot be used"):
        opened(cottage, keeper.receive, WayIn("smtp", "nowhere.invalid", 25))


def test_a_listener_keeps_mails_in_the_house_and_counts_its_peers(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(throttle.BOUNDS, "mail from", throttle.Bound(2, 600))
    way = WayIn("smtp", "127.0.0.1")
    running = opened(house, lambda raw, envelope: door.take(raw, envelope, START), way, WayIn("pipe"))
    (listener,) = running.running
    assert isinstance(listener, Listener)
    with smtplib.SMTP("127.0.0.1", listener.port, timeout=20) as client:
        client.sendmail(ANN, [f"postmaster@{DOMAIN}"], MAIL)
        for address, code in ((MINE, 550), (f"abuse@{DOMAIN}", 250), (f"abuse@{DOMAIN}", 450)):
            client.rset()
            client.mail(ANN)
            assert client.rcpt(address)[0] == code
    running.stop()
    (mail,) = Inbound.select()
    assert (bytes(mail.content), mail.via, mail.sender, mail.recipient) == (MAIL, "smtp", ANN, f"postmaster@{DOMAIN}")
    assert (mail.received_at, mail.place, mail.state) == (START, None, "new")


def rated(house: House, kind: str, *addresses: str) -> list[int]:
    """Return the answers to recipients at our domain that one network address names, in one conversation each."""
    running = opened(house, lambda raw, envelope: door.take(raw, envelope, START), WayIn(kind, "127.0.0.1"))
    (listener,) = running.running
    assert isinstance(listener, Listener)
    codes = []
    for local in addresses:
        with (smtplib.LMTP if kind == "lmtp" else smtplib.SMTP)("127.0.0.1", listener.port) as client:
            client.ehlo()
            client.mail(ANN)
            codes.append(client.rcpt(f"{local}@{DOMAIN}")[0])
    running.stop()
    return codes


def test_whoever_guesses_addresses_shuts_out_nobody_who_knows_one(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(throttle.BOUNDS, "stray from", throttle.Bound(2, 600))
    asked = [f"move+{number:024d}" for number in range(3)] + ["postmaster"]
    assert rated(house, "smtp", *asked) == [550, 550, 450, 250]


def test_a_mail_server_that_delivers_by_lmtp_is_nobodys_peer(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("stray from", "mail from", "keeper mail from"):
        monkeypatch.setitem(throttle.BOUNDS, kind, throttle.Bound(1, 600))
    asked = [MINE.partition("@")[0]] * 3 + ["postmaster"] * 3
    assert rated(house, "lmtp", *asked) == [550] * 3 + [250] * 3


@pytest.mark.parametrize(("kind", "bound"), [("smtp", "keeper mail from"), ("lmtp", "keeper mail to")])
def test_so_many_mails_come_to_the_keepers_and_the_house(
    house: House, monkeypatch: pytest.MonkeyPatch, kind: str, bound: str
) -> None:
    monkeypatch.setitem(throttle.BOUNDS, bound, throttle.Bound(3, 3600))
    asked = ["postmaster", "abuse", "clachan", "postmaster", "abuse", "clachan", "nobody"]
    assert rated(house, kind, *asked) == [250] * 3 + [450] * 3 + [550]


def test_a_large_mail_to_the_keepers_is_refused_for_good(cottage: House) -> None:
    running = opened(
        cottage, lambda raw, envelope: door.take(raw, envelope, START), WayIn("smtp", "127.0.0.1"), WayIn("pipe")
    )
    (listener,) = running.running
    line = b"x" * 998 + b"\r\n"
    with smtplib.SMTP("127.0.0.1", listener.port, timeout=20) as client:
        client.sendmail(ANN, [f"postmaster@{DOMAIN}"], MAIL + line * 60)
        for address in (f"postmaster@{DOMAIN}", f"clachan@{DOMAIN}"):
            with pytest.raises(smtplib.SMTPDataError) as refused:
                client.sendmail(ANN, [address], MAIL + line * 66)
            assert refused.value.smtp_code == 552
    running.stop()
    assert Inbound.select().count() == 1


def test_while_the_database_is_locked_a_mail_is_put_off(
    sqlite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(db, "BUSY_SECONDS", 0.2)
    db.use(sqlite)
    with db.connected():
        house = House(house_settings(sqlite, tmp_path))
    running = opened(house, lambda raw, envelope: door.take(raw, envelope, START), WayIn("smtp", "127.0.0.1"))
    (listener,) = running.running
    writer = sqlite3.connect(sqlite.removeprefix("sqlite:///"), isolation_level=None)
    with smtplib.SMTP("127.0.0.1", listener.port, timeout=20) as client:
        client.ehlo()
        client.mail(ANN)
        client.rcpt(f"abuse@{DOMAIN}")
        writer.execute("BEGIN IMMEDIATE")
        assert client.data(MAIL)[0] == 451
        assert "could not be kept: OperationalError: database is locked" in caplog.text
        client.mail(ANN)
        assert client.rcpt(f"abuse@{DOMAIN}")[0] == 451
        client.rset()
        writer.execute("ROLLBACK")
        client.sendmail(ANN, [f"abuse@{DOMAIN}"], MAIL)
    running.stop()
    writer.close()
    with db.connected():
        assert Inbound.select().count() == 1

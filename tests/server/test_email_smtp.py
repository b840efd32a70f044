"""The SMTP channel against a real server on the loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from smtp_sink import DROP, HANG, OK, Sink, client_context

from server.channels import DeliveryError, Message
from server.channels.email import LocalMailbox, Sender, SmtpChannel, SmtpSettings, Tls, compose
from server.outbox import open_channel
from server.settings import load

SENDER = Sender("Clachan", "clachan@play.example.org", "play.example.org")
PASSWORD = "correct-horse-9"
TOKEN = "k7f3q9w2aaaabbbbccccdddd"


def letter(to: str = "ann@example.org", number: int = 1, **changes: object) -> Message:
    message = Message(
        to_name="Ann",
        to_address=to,
        subject="Clans 17",
        text="Your turn.\n.hidden dot\n..two dots\n",
        html="<p>Your turn.</p>",
        message_id=f"m{number}.abcdef@play.example.org",
        date=datetime(2026, 11, 3, 10, 11, tzinfo=UTC),
        reply_to=f"move+{TOKEN}@play.example.org",
        bounce_token=TOKEN,
    )
    return replace(message, **changes)


def settings(sink: Sink, **changes: object) -> SmtpSettings:
    return replace(SmtpSettings(sink.host, sink.port, Tls.NONE, timeout=5), **changes)


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as server:
        yield server


@pytest.fixture
def channel(sink: Sink) -> Iterator[SmtpChannel]:
    opened = SmtpChannel(settings(sink), SENDER)
    yield opened
    opened.close()


def refusal(channel: SmtpChannel, message: Message) -> DeliveryError:
    with pytest.raises(DeliveryError) as caught:
        channel.deliver(message)
    assert TOKEN not in str(caught.value)
    assert PASSWORD not in str(caught.value)
    assert "hidden dot" not in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


def kind(error: DeliveryError) -> str:
    kinds = [name for name in ("permanent", "alarm", "unknown") if getattr(error, name)]
    assert len(kinds) <= 1
    return kinds[0] if kinds else "temporary"


def test_a_mail_arrives_byte_for_byte(sink: Sink, channel: SmtpChannel) -> None:
    channel.deliver(letter())
    (mail,) = sink.mails
    assert mail.raw == compose(letter(), SENDER)
    assert mail.recipients == ("ann@example.org",)
    assert b"\r\n.hidden dot\r\n..two dots\r\n" in mail.raw


def test_each_mail_has_a_bounce_address_of_its_own(sink: Sink, channel: SmtpChannel) -> None:
    channel.deliver(letter())
    channel.deliver(letter(number=2, bounce_token=""))
    assert [mail.sender for mail in sink.mails] == [f"bounce+{TOKEN}@play.example.org", "clachan@play.example.org"]


def test_the_connection_is_kept_between_mails(sink: Sink, channel: SmtpChannel) -> None:
    for number in range(5):
        channel.deliver(letter(f"p{number}@example.org", number))
    assert len(sink.mails) == 5
    assert sink.connections == 1


def test_closing_takes_leave_and_a_later_mail_connects_again(sink: Sink, channel: SmtpChannel) -> None:
    channel.deliver(letter())
    channel.close()
    assert sink.commands[-1] == "QUIT"
    channel.deliver(letter(number=2))
    assert sink.connections == 2
    channel.close()
    channel.close()


def test_a_connection_the_server_dropped_meanwhile_is_made_anew(sink: Sink, channel: SmtpChannel) -> None:
    channel.deliver(letter())
    sink.hang_up()
    channel.deliver(letter(number=2))
    assert len(sink.mails) == 2
    assert sink.connections == 2


def test_a_farewell_between_mails_costs_no_mail(sink: Sink, channel: SmtpChannel) -> None:
    channel.deliver(letter())
    sink.answer("RSET", "421 4.4.2 idle too long", OK)
    channel.deliver(letter(number=2))
    assert len(sink.mails) == 2


def test_one_bad_recipient_holds_up_nobody_else(sink: Sink, channel: SmtpChannel) -> None:
    sink.answer("RCPT bob@example.org", "550 5.1.1 no such user")
    channel.deliver(letter("ann@example.org", 1))
    error = refusal(channel, letter("bob@example.org", 2))
    channel.deliver(letter("cat@example.org", 3))
    assert kind(error) == "permanent"
    assert "550 5.1.1 no such user" in str(error)
    assert [mail.recipients for mail in sink.mails] == [("ann@example.org",), ("cat@example.org",)]
    assert sink.connections == 1


@pytest.mark.parametrize(
    ("step", "reply", "expected"),
    [
        ("RCPT", "450 4.2.1 later", "temporary"),
        ("RCPT", "550 5.1.1 unknown", "permanent"),
        ("RCPT", "530 5.7.0 log in first", "alarm"),
        ("MAIL", "451 4.3.0 later", "temporary"),
        ("MAIL", "550 5.7.1 you may not send as that", "alarm"),
        ("DATA", "451 4.3.0 later", "temporary"),
        ("DATA", "554 5.5.1 no", "permanent"),
        ("BODY", "452 4.3.1 disk full", "temporary"),
        ("BODY", "554 5.7.1 looks like spam", "permanent"),
        ("BODY", "535 5.7.8 who are you", "alarm"),
    ],
)
def test_a_refusal_means_what_its_code_says(
    sink: Sink, channel: SmtpChannel, step: str, reply: str, expected: str
) -> None:
    sink.answer(step, reply, OK)
    error = refusal(channel, letter())
    assert kind(error) == expected
    assert reply[:9] in str(error)
    assert not sink.mails
    channel.deliver(letter(number=2))
    assert len(sink.mails) == 1


@pytest.mark.parametrize("step", ["RCPT", "MAIL", "DATA", "BODY"])
def test_421_ends_the_connection_and_is_no_verdict(sink: Sink, channel: SmtpChannel, step: str) -> None:
    sink.answer(step, "421 4.3.2 going down", OK)
    assert kind(refusal(channel, letter())) == "temporary"
    channel.deliver(letter())
    assert sink.connections == 2


@pytest.mark.parametrize(("reply", "expected"), [("421 4.3.2 busy", "temporary"), ("554 5.7.1 go away", "alarm")])
def test_a_server_that_will_not_talk_says_nothing_about_the_recipient(
    sink: Sink, channel: SmtpChannel, reply: str, expected: str
) -> None:
    sink.answer("CONNECT", reply, OK)
    assert kind(refusal(channel, letter())) == expected
    channel.deliver(letter())


@pytest.mark.parametrize("step", ["CONNECT", "EHLO", "MAIL", "RCPT", "DATA"])
def test_a_connection_lost_before_the_mail_was_sent_is_tried_again(sink: Sink, channel: SmtpChannel, step: str) -> None:
    sink.answer(step, DROP, OK)
    assert kind(refusal(channel, letter())) == "temporary"
    channel.deliver(letter())
    assert len(sink.mails) == 1


def test_a_connection_lost_after_the_mail_was_sent_leaves_it_unknown(sink: Sink, channel: SmtpChannel) -> None:
    sink.answer("BODY", DROP, OK)
    assert kind(refusal(channel, letter())) == "unknown"
    channel.deliver(letter())
    assert len(sink.mails) == 1


@pytest.mark.parametrize(
    ("step", "expected"),
    [("CONNECT", "temporary"), ("MAIL", "temporary"), ("RCPT", "temporary"), ("BODY", "unknown")],
)
def test_a_server_that_hangs_is_given_up(sink: Sink, step: str, expected: str) -> None:
    sink.answer(step, HANG, OK)
    channel = SmtpChannel(settings(sink, timeout=0.4), SENDER)
    assert kind(refusal(channel, letter())) == expected
    assert not sink.mails
    channel.close()


@pytest.mark.parametrize("reply", ["hello", "999 what", "250" + "x" * 9000])
@pytest.mark.parametrize(("step", "expected"), [("RCPT", "temporary"), ("BODY", "unknown")])
def test_nonsense_is_not_taken_for_an_answer(
    sink: Sink, channel: SmtpChannel, reply: str, step: str, expected: str
) -> None:
    sink.answer(step, reply, OK)
    assert kind(refusal(channel, letter())) == expected


def test_nobody_at_home_is_temporary() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = SmtpSettings("127.0.0.1", unused.getsockname()[1], Tls.NONE, timeout=1)
        error = refusal(SmtpChannel(nobody, SENDER), letter())
    assert kind(error) == "temporary"


def test_words_of_the_server_never_carry_a_token_on(sink: Sink, channel: SmtpChannel) -> None:
    sink.answer(
        "RCPT", f"550 5.7.1 <bounce+{TOKEN}@play.example.org>: https://play.example.org/stop/{TOKEN} \x07" + "x " * 300
    )
    error = refusal(channel, letter())
    assert "550 5.7.1" in str(error)
    assert len(str(error)) < 300


@pytest.mark.parametrize("to", ["ann@example.org>\r\nRCPT TO:<eve@example.org", "ann", "a b@example.org", "@", "x@-y"])
def test_a_recipient_that_is_no_address_is_refused_without_a_connection(
    sink: Sink, channel: SmtpChannel, to: str
) -> None:
    assert kind(refusal(channel, letter(to))) == "permanent"
    assert sink.connections == 0


@pytest.mark.parametrize(
    "fault", [{"bounce_token": "a b"}, {"message_id": "x" * 61}, {"unsubscribe_url": "javascript:x"}, {"reply_to": "x"}]
)
def test_a_mistake_of_ours_is_not_held_against_the_recipient(
    sink: Sink, channel: SmtpChannel, fault: dict[str, str]
) -> None:
    assert kind(refusal(channel, letter(**fault))) == "temporary"
    assert sink.connections == 0


def test_smtputf8_is_asked_for_only_when_the_address_needs_it(sink: Sink, channel: SmtpChannel) -> None:
    channel.deliver(letter("jürgen@bücher.example"))
    channel.deliver(letter("ann@bücher.example", 2, to_name="Jürgen"))
    first, second = sink.mails
    assert "SMTPUTF8" in first.options
    assert first.recipients == ("jürgen@xn--bcher-kva.example",)
    assert "To: Ann <jürgen@xn--bcher-kva.example>\r\n".encode() in first.raw
    assert second.options == ()
    assert second.raw.isascii()


def test_an_address_outside_ascii_is_refused_for_good_if_the_server_cannot() -> None:
    with Sink(smtputf8=False) as sink:
        channel = SmtpChannel(settings(sink), SENDER)
        assert kind(refusal(channel, letter("jürgen@example.org"))) == "permanent"
        channel.deliver(letter())
        channel.close()
        assert sink.connections == 1


@pytest.mark.parametrize("tls", list(Tls))
def test_login_and_mail_work_however_the_connection_is_protected(tls: Tls) -> None:
    with Sink(tls=tls, user="clachan", password=PASSWORD) as sink:
        mine = settings(sink, tls=tls, user="clachan", password=PASSWORD)
        channel = SmtpChannel(mine, SENDER, client_context())
        channel.deliver(letter())
        channel.deliver(letter(number=2))
        channel.close()
        assert len(sink.mails) == 2
        assert sink.connections == 1


def test_a_wrong_password_raises_the_alarm_and_stays_secret() -> None:
    with Sink(user="clachan", password="other") as sink:
        mine = settings(sink, user="clachan", password=PASSWORD)
        channel = SmtpChannel(mine, SENDER)
        assert kind(refusal(channel, letter())) == "alarm"
        sink.answer("AUTH", f"535 5.7.8 {PASSWORD} is wrong")
        assert kind(refusal(channel, letter())) == "alarm"
        sink.answer("AUTH", "454 4.7.0 try again")
        assert kind(refusal(channel, letter())) == "temporary"
        assert PASSWORD not in repr(mine)
        assert kind(refusal(SmtpChannel(replace(mine, password="ключ"), SENDER), letter())) == "alarm"
        assert not sink.mails


def test_a_server_without_login_raises_the_alarm(sink: Sink) -> None:
    channel = SmtpChannel(settings(sink, user="clachan", password=PASSWORD), SENDER)
    assert kind(refusal(channel, letter())) == "alarm"


def test_missing_or_false_protection_raises_the_alarm(sink: Sink) -> None:
    assert kind(refusal(SmtpChannel(settings(sink, tls=Tls.STARTTLS), SENDER), letter())) == "alarm"
    assert kind(refusal(SmtpChannel(settings(sink, tls=Tls.IMPLICIT), SENDER), letter())) == "alarm"
    for tls in (Tls.STARTTLS, Tls.IMPLICIT):
        with Sink(tls=tls) as protected:
            channel = SmtpChannel(settings(protected, tls=tls), SENDER)  # trusts the system's authorities only
            assert kind(refusal(channel, letter())) == "alarm"
            assert not protected.mails


def test_starttls_refused_for_now_is_temporary() -> None:
    with Sink(tls="starttls") as sink:
        sink.answer("STARTTLS", "454 4.7.0 not now", OK)
        channel = SmtpChannel(settings(sink, tls=Tls.STARTTLS), SENDER, client_context())
        assert kind(refusal(channel, letter())) == "temporary"
        channel.deliver(letter())
        channel.close()


def test_threads_take_turns_on_one_connection(sink: Sink, channel: SmtpChannel) -> None:
    threads = [
        threading.Thread(target=channel.deliver, args=(letter(f"p{number}@example.org", number),))
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {mail.recipients[0] for mail in sink.mails} == {f"p{number}@example.org" for number in range(12)}
    assert sink.connections == 1


def test_the_sink_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    with Sink() as sink:
        sink.answer("RCPT", HANG)
        channel = SmtpChannel(settings(sink, timeout=0.1), SENDER)
        refusal(channel, letter())
        channel.close()
    assert threading.active_count() == before


def test_the_settings_choose_the_way_out(sink: Sink, tmp_path: Path) -> None:
    own = {"CLACHAN_DATA": str(tmp_path), "CLACHAN_MAIL_FROM": SENDER.address, "CLACHAN_SECRET_KEY": "k" * 40}
    assert isinstance(open_channel(load(own | {"CLACHAN_DEVELOPMENT": "1"})), LocalMailbox)
    channel = open_channel(load(own | {"CLACHAN_SMTP_URL": f"smtp+plain://{sink.host}:{sink.port}"}))
    assert isinstance(channel, SmtpChannel)
    channel.deliver(letter())
    channel.close()
    assert sink.mails[0].raw == compose(letter(), SENDER)


def test_without_a_mail_server_there_is_no_way_out(tmp_path: Path) -> None:
    assert open_channel(load({"CLACHAN_DATA": str(tmp_path), "CLACHAN_SECRET_KEY": "k" * 40})) is None

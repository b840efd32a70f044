"""Whole matches by mail alone: out through a real SMTP server, in through ours or through a real IMAP server."""

from __future__ import annotations

import smtplib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage

import dovecot
import pytest
from house import House, house_settings
from smtp_sink import CERTIFICATE_AND_KEY, Received, Sink
from together import quick_pictures

from server import feeders, inbound, letters, lobby, log, outbox
from server.feeders import Feeders
from server.feeders.imap import Account
from server.models import Match, Outbox, User
from server.settings import WayIn


@pytest.fixture(autouse=True)
def _quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


@pytest.fixture
def sink() -> Iterator[Sink]:
    """The mail server of all the people."""
    with Sink() as running:
        yield running


class Post:
    """A round of the post: our mails out by SMTP, what people write in by a way of the test's choosing."""

    def __init__(self, house: House, sink: Sink) -> None:
        self.house, self.sink = house, sink
        self.channel = outbox.open_channel(house.settings)
        self.read = 0

    def close(self) -> None:
        """Hang up."""
        self.channel.close()

    def deliver(self) -> list[EmailMessage]:
        """Send what is due, and return the mails that people have not read yet."""
        outbox.deliver_due(self.channel, letters.writer(self.house.settings), lambda: self.house.now)
        new, self.read = self.sink.mails[self.read :], len(self.sink.mails)
        return [opened(mail) for mail in new]


def opened(mail: Received) -> EmailMessage:
    found = message_from_bytes(mail.raw, policy=policy.default)
    assert isinstance(found, EmailMessage)
    return found


def words(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    return part.get_content()


def answer_to(mail: EmailMessage, text: str) -> EmailMessage:
    """Return what a mail program makes of an answer: the reader's words, and the mail quoted below."""
    answer = EmailMessage(policy=policy.SMTP)
    answer["From"], answer["To"] = str(mail["To"]), str(mail["Reply-To"])
    answer["Subject"], answer["In-Reply-To"] = f"Re: {mail['Subject']}", str(mail["Message-ID"])
    answer["Message-ID"] = f"<re.{str(mail['Message-ID'])[1:20]}@example.org>"
    quoted = "\n".join(f"> {line}" for line in words(mail).splitlines())
    answer.set_content(f"{text}\n\nOn Monday, Clachan <{mail['Reply-To'].addresses[0].addr_spec}> wrote:\n\n{quoted}\n")
    return answer


def example(mail: EmailMessage) -> str:
    """Return the move that a turn mail gives as an example."""
    lines = iter(words(mail).splitlines())
    next(line for line in lines if line.endswith("for example:"))
    return next(line.strip() for line in lines if line.strip())


def house_with(house: House, sink: Sink, **more: str) -> None:
    """Let the house send to the sink."""
    house.settings = house_settings(
        house.settings.database,
        house.settings.data,
        SMTP_URL=f"smtp+plain://127.0.0.1:{sink.port}",
        MAIL_FROM="clachan@play.example.org",
        **more,
    )


def invited_and_joined(house: House, post: Post, send: Callable[[EmailMessage], None], game: str) -> Match:
    """Open a table for three; two strangers join by mail, and Ailsa resigns by mail so that a bot plays her seat."""
    match = house.table("Ailsa", seats=3, game=game)
    for name in ("eilidh", "fergus"):
        lobby.invite(match.id, house.people["Ailsa"], f"{name}@example.com", house.now)
    for mail in post.deliver():
        send(answer_to(mail, "join"))
    arrived = post.deliver()
    post.read -= len(arrived)  # the others read theirs later
    started = next(mail for mail in arrived if "ailsa@example.org" in str(mail["To"]))
    send(answer_to(started, "resign\n\nSorry, no time. Ailsa"))
    assert log.places(log.get(match.id))[house.played(match).rows[0].seat].user.bot
    return match


def play_by_mail(house: House, post: Post, send: Callable[[EmailMessage], None], game: str) -> Match:
    """Play a whole match; return it."""
    match = invited_and_joined(house, post, send, game)
    for _ in range(400):
        if log.get(match.id).status == "finished":
            return match
        house.later(minutes=10)
        house.bots()
        for mail in post.deliver():
            if "it is your turn," in words(mail) and "ailsa@" not in str(mail["To"]):
                send(answer_to(mail, f"{example(mail).lower()}\n\nBest wishes"))
    raise AssertionError("the match did not end")


def check(house: House, match: Match, post: Post) -> None:
    """Check what was played and told."""
    rows = house.played(match).rows
    assert {row.via for row in rows if row.kind == "move"} == {"email", "bot"}
    post.deliver()
    ends = [mail for mail in map(opened, post.sink.mails) if "has ended" in words(mail)]
    assert {str(mail["To"]).partition("@")[0].rpartition("<")[2] for mail in ends} == {"ailsa", "eilidh", "fergus"}
    moves = [row for row in rows if row.kind == "move" and row.via == "email"]
    answers = [mail for mail in post.sink.mails if b"Auto-Submitted: auto-replied" in mail.raw]
    assert len([mail for mail in answers if "Your move is made:" in words(opened(mail))]) == len(moves)
    assert not User.select().where((User.name == "Eilidh") & (User.password != "")).exists()
    assert not Outbox.select().where(Outbox.state == "failed").exists()


@pytest.mark.parametrize("game", ["clans", "glory"])
def test_two_people_and_a_bot_play_a_whole_match_through_our_smtp_server(cottage: House, sink: Sink, game: str) -> None:
    house_with(cottage, sink, MAIL_IN="smtp://127.0.0.1:1")
    way = WayIn("smtp", "127.0.0.1", 0)
    running = open_ways(cottage, way)
    port = running.running[0].port

    def send(mail: EmailMessage) -> None:
        with smtplib.SMTP("127.0.0.1", port) as server:
            server.send_message(mail)

    try:
        with closing(Post(cottage, sink)) as post:
            check(cottage, play_by_mail(cottage, post, send, game), post)
    finally:
        running.stop()


def open_ways(house: House, *ways: WayIn) -> Feeders:
    """Open ways in that lead to the house."""
    chosen = replace(house.settings, mail_in=ways)
    return feeders.start(
        chosen,
        lambda raw, envelope: inbound.receive(raw, envelope, house.settings, lambda: house.now),
        lambda: house.now,
    )


@pytest.mark.imap
@pytest.mark.parametrize("game", ["clans", "glory"])
def test_two_people_and_a_bot_play_a_whole_match_through_a_mailbox(cottage: House, sink: Sink, game: str) -> None:
    with dovecot.Server(CERTIFICATE_AND_KEY) as server:
        house_with(cottage, sink, MAIL_IN=f"imap://{dovecot.USER}:{dovecot.PASSWORD}@127.0.0.1:{server.port}/INBOX")
        account = Account(
            cottage.settings.mail_in[0],
            lambda raw, envelope: inbound.receive(raw, envelope, cottage.settings, lambda: cottage.now),
        )
        client = server.client()

        def send(mail: EmailMessage) -> None:
            client.append("INBOX", "", None, mail.as_bytes())
            account.poll(cottage.now)

        try:
            with closing(Post(cottage, sink)) as post:
                check(cottage, play_by_mail(cottage, post, send, game), post)
        finally:
            account.close()
            client.logout()

"""The fetching of mail from a real IMAP server, and from some that are none."""

from __future__ import annotations

import imaplib
import itertools
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import dovecot
import peewee
import pytest
from dovecot import FOREIGN_PASSWORD, FOREIGN_USER, PASSWORD, USER
from house import House
from smtp_sink import CERTIFICATE_AND_KEY, client_context

from server import feeders
from server.errors import Refused
from server.feeders import imap
from server.feeders.imap import Account, Fetcher, Trouble, place
from server.inbound import door
from server.inbound.door import LARGEST, Envelope
from server.models import Inbound
from server.settings import WayIn

NOW = datetime.now(UTC)  # the server stamps mails with its own clock
TOKEN = "k7f3q9w2aaaabbbbccccdddd"
NUMBERS = itertools.count(1)

needs_dovecot = pytest.mark.imap


def mail(number: int = 1) -> bytes:
    head = f"From: ann@example.org\r\nTo: move+{TOKEN}@play.example.org\r\nMessage-ID: <{number}@x>\r\n\r\n"
    return f"{head}A1-B2\r\n".encode()


class Keeper:
    """What stands behind an account: it keeps mails in a list and fails as it is told."""

    def __init__(self) -> None:
        self.mails: list[bytes] = []
        self.places: list[str | None] = []
        self.faults: list[Exception | None] = []
        self.before: Callable[[], object] = lambda: None

    def receive(self, raw: bytes, envelope: Envelope) -> None:
        """Keep the mail, or raise the next fault."""
        self.before()
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault
        assert (envelope.via, envelope.sender, envelope.recipient) == ("imap", None, None)
        self.mails.append(raw)
        self.places.append(envelope.place)


class Folder:
    """A folder of the mailbox, as another program sees it."""

    def __init__(self, server: dovecot.Server, name: str = "") -> None:
        self.server = server
        self.name = name or f"Answers {next(NUMBERS)}"
        self.way = WayIn("imap", "127.0.0.1", server.port, False, USER, PASSWORD, self.name)
        self.create()

    def create(self) -> None:
        """Make it."""
        with self.server.client() as client:
            assert client.create(f'"{self.name}"')[0] == "OK"

    def delete(self) -> None:
        """Throw it away with its mails."""
        with self.server.client() as client:
            assert client.delete(f'"{self.name}"')[0] == "OK"

    def put(self, *mails: bytes, read: bool = False, at: datetime = NOW) -> None:
        """Have mails arrive."""
        with self.server.client() as client:
            for raw in mails:
                flags = r"(\Seen)" if read else ""
                assert client.append(f'"{self.name}"', flags, imaplib.Time2Internaldate(at), raw)[0] == "OK"

    def mark(self, uids: str, change: str, flag: str = r"(\Seen)") -> None:
        """Change what is noted about mails, and throw away what is to be deleted."""
        with self.server.client() as client:
            client.select(f'"{self.name}"')
            assert client.uid("STORE", uids, change, flag)[0] == "OK"
            client.expunge()

    def unread(self) -> list[int]:
        """Return the numbers of the mails that nobody has read."""
        with self.server.client() as client:
            client.select(f'"{self.name}"', readonly=True)
            return [int(uid) for uid in client.uid("SEARCH", "UNSEEN")[1][0].split()]

    def validity(self) -> int:
        """Return the folder's UIDVALIDITY."""
        with self.server.client() as client:
            client.select(f'"{self.name}"', readonly=True)
            return int(client.response("UIDVALIDITY")[1][0])


class Puppet:
    """Something on a port that says what it is told to: a greeting, and replies to commands by their names.

    In a reply, TAG is the command's. A command without a reply is met with silence, an empty reply hangs up.
    """

    def __init__(self, greeting: bytes, **replies: bytes) -> None:
        self.greeting = greeting
        self.replies = {
            "CAPABILITY": b"* CAPABILITY IMAP4rev1\r\nTAG OK done\r\n",
            "LOGIN": b"TAG OK done\r\n",
        } | replies
        self.heard: list[str] = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.way = WayIn("imap", *self.listening.getsockname(), False, USER, PASSWORD, "INBOX")
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            try:
                connection.sendall(self.greeting)
                for line in lines:
                    tag, *words = line.split()
                    name = (words[1] if words[0] == b"UID" else words[0]).decode()
                    self.heard.append(name)
                    reply = self.replies.get(name)
                    if reply == b"":
                        return
                    connection.sendall((reply or b"").replace(b"TAG", tag))
            except OSError:
                pass

    def close(self) -> None:
        """Be gone."""
        self.listening.close()


@pytest.fixture(scope="module")
def server() -> Iterator[dovecot.Server]:
    assert dovecot.PROGRAM.exists(), "get it: apt-get install dovecot-imapd"
    with dovecot.Server(CERTIFICATE_AND_KEY) as running:
        yield running


@pytest.fixture
def folder(server: dovecot.Server) -> Folder:
    return Folder(server)


@pytest.fixture
def keeper() -> Keeper:
    return Keeper()


Open = Callable[..., Account]


@pytest.fixture
def opened(keeper: Keeper) -> Iterator[Open]:
    accounts: list[Account] = []

    def open_account(way: WayIn, receive: Callable[[bytes, Envelope], object] = keeper.receive) -> Account:
        accounts.append(Account(way, receive, context=client_context()))
        return accounts[-1]

    yield open_account
    for account in accounts:
        account.close()


@pytest.fixture
def account(folder: Folder, opened: Open) -> Account:
    return opened(folder.way)


@pytest.fixture
def puppets() -> Iterator[Callable[..., Puppet]]:
    made: list[Puppet] = []

    def make(greeting: bytes = b"* OK ready\r\n", **replies: bytes) -> Puppet:
        made.append(Puppet(greeting, **replies))
        return made[-1]

    yield make
    for puppet in made:
        puppet.close()


@pytest.fixture
def fetch() -> Iterator[Callable[..., Fetcher]]:
    started: list[Fetcher] = []

    def start(account: Account, every: float = 0.05) -> Fetcher:
        started.append(Fetcher(account, lambda: datetime.now(UTC), every))
        started[-1].start()
        return started[-1]

    yield start
    for fetcher in started:
        fetcher.stop()


def wait(what: Callable[[], object], seconds: float = 10) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def trouble(account: Account) -> str:
    """Return what is told of a poll that fails, which is one line without secrets."""
    with pytest.raises(Trouble) as caught:
        account.poll(NOW)
    sentence = str(caught.value)
    assert sentence.startswith(f"No mail can be fetched from {account.way.user} at 127.0.0.1: ")
    assert "\n" not in sentence
    assert account.way.password not in sentence
    return sentence


@needs_dovecot
def test_new_mails_are_kept_byte_for_byte_and_only_then_marked_as_read(
    folder: Folder, account: Account, keeper: Keeper
) -> None:
    raw = "Subject: čau\r\n\r\nZürich 先手 A1-B2\r\n".encode() + bytes(range(128, 256)) + b"\r\n"
    folder.put(mail(1), raw)
    unread: list[list[int]] = []
    keeper.before = lambda: unread.append(folder.unread())
    assert account.poll(NOW) is False
    assert keeper.mails == [mail(1), raw]
    assert unread == [[1, 2], [2]]
    assert folder.unread() == []
    where = f"imap {USER}@127.0.0.1/{folder.name} {folder.validity()}"
    assert keeper.places == [f"{where} 1", f"{where} 2"]


@needs_dovecot
def test_a_mail_is_fetched_once_and_the_connection_is_kept(folder: Folder, account: Account, keeper: Keeper) -> None:
    logins = folder.server.log().count("Login: ")
    for number in range(1, 6):
        with folder.server.client() as client:
            client.append(f'"{folder.name}"', "", None, mail(number))
        account.poll(NOW)
        account.poll(NOW)
    assert keeper.mails == [mail(number) for number in range(1, 6)]
    assert folder.server.log().count("Login: ") == logins + 6


@needs_dovecot
def test_mails_that_somebody_else_has_read_are_fetched_all_the_same(
    folder: Folder, account: Account, keeper: Keeper
) -> None:
    folder.put(mail(1), read=True)
    account.poll(NOW)
    folder.put(mail(2), read=True)
    folder.put(mail(3))
    folder.mark("1:*", "+FLAGS")
    account.poll(NOW)
    folder.mark("1:*", "-FLAGS")
    account.poll(NOW)
    assert keeper.mails == [mail(1), mail(2), mail(3)]


@needs_dovecot
def test_at_the_first_look_old_mails_count_only_if_nobody_has_read_them(
    folder: Folder, account: Account, keeper: Keeper
) -> None:
    long_ago = NOW - timedelta(days=30)
    folder.put(mail(1), mail(2), read=True, at=long_ago)
    folder.put(mail(3), at=long_ago)
    folder.put(mail(4), read=True, at=long_ago)
    account.poll(NOW)
    account.poll(NOW)
    assert keeper.mails == [mail(3)]
    folder.put(mail(5), read=True, at=long_ago)
    account.poll(NOW)
    assert keeper.mails == [mail(3), mail(5)]


@needs_dovecot
def test_a_mail_that_cannot_be_kept_stops_no_other_and_is_fetched_again_later(
    folder: Folder, account: Account, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    folder.put(mail(1), mail(2), mail(3))
    keeper.faults = [None, ValueError(f"move+{TOKEN} is strange")]
    account.poll(NOW)
    assert keeper.mails == [mail(1), mail(3)]
    assert folder.unread() == [2]
    folder.mark("1:*", "+FLAGS")
    account.poll(NOW + timedelta(seconds=30))
    assert len(keeper.mails) == 2
    keeper.faults = [OSError("no space")]
    account.poll(NOW + timedelta(minutes=1))
    account.poll(NOW + timedelta(minutes=2))
    assert len(keeper.mails) == 2
    account.poll(NOW + timedelta(minutes=3))
    assert keeper.mails == [mail(1), mail(3), mail(2)]
    assert caplog.text.count("could not be kept") == 2
    assert "ValueError (imap.py:" in caplog.text
    assert TOKEN not in caplog.text


@needs_dovecot
def test_a_clock_that_is_put_back_holds_no_mail_up(folder: Folder, account: Account, keeper: Keeper) -> None:
    folder.put(mail(1), mail(2))
    keeper.faults = [ValueError(), peewee.OperationalError()]
    trouble(account)
    account.poll(NOW - timedelta(days=1))
    assert keeper.mails == [mail(1), mail(2)]


@needs_dovecot
def test_without_the_database_mails_wait_in_the_mailbox(folder: Folder, account: Account, keeper: Keeper) -> None:
    folder.put(mail(1), mail(2))
    keeper.faults = [peewee.OperationalError("database is locked")]
    assert trouble(account).endswith("the database cannot be used (OperationalError: database is locked).")
    assert folder.unread() == [1, 2]
    account.poll(NOW)
    assert keeper.mails == [mail(1), mail(2)]


@needs_dovecot
def test_a_mail_too_large_is_passed_over(
    folder: Folder, account: Account, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    exact = mail(1) + b"x" * (LARGEST - len(mail(1)) - 2) + b"\r\n"
    folder.put(exact, exact[:-2] + b"y\r\n", b"x" * 5_000_000, mail(2))
    account.poll(NOW)
    assert keeper.mails == [exact, mail(2)]
    assert folder.unread() == []
    assert caplog.text.count("is passed over") == 2
    folder.put(mail(3), mail(4))
    keeper.faults = [Refused("too-large", "A mail to us has at most 256 KB."), Refused("busy", "Not now.")]
    account.poll(NOW)
    assert folder.unread() == [6]


@needs_dovecot
def test_what_other_programs_do_meanwhile_does_no_harm(folder: Folder, account: Account, keeper: Keeper) -> None:
    folder.put(*(mail(number) for number in range(1, 6)))

    def meddle() -> None:
        folder.mark("2,4", "+FLAGS", r"(\Deleted)")
        folder.mark("5", "+FLAGS", r"(\Flagged)")
        folder.put(mail(6))
        keeper.before = lambda: None

    keeper.before = meddle
    account.poll(NOW)
    account.poll(NOW)
    assert keeper.mails == [mail(1), mail(3), mail(5), mail(6)]


@needs_dovecot
def test_mails_that_others_want_deleted_are_not_thrown_away_by_us(
    folder: Folder, account: Account, keeper: Keeper
) -> None:
    folder.put(mail(1), mail(2))
    with folder.server.client() as client:
        client.select(f'"{folder.name}"')
        client.uid("STORE", "1", "+FLAGS", r"(\Deleted)")
        account.poll(NOW)
        assert client.uid("SEARCH", "DELETED")[1] == [b"1"]


@needs_dovecot
def test_the_same_mail_fetched_twice_is_kept_once(house: House, folder: Folder, opened: Open) -> None:
    def receive(raw: bytes, envelope: Envelope) -> None:
        door.take(raw, envelope, NOW)

    folder.put(mail(1), mail(2))
    opened(folder.way, receive).poll(NOW)
    folder.mark("1:*", "-FLAGS")
    opened(folder.way, receive).poll(NOW)
    opened(folder.way, receive).poll(NOW)
    assert [bytes(row.content) for row in Inbound.select().order_by(Inbound.id)] == [mail(1), mail(2)]


@needs_dovecot
def test_a_mailbox_that_numbers_its_mails_anew_is_looked_at_anew(
    folder: Folder, account: Account, keeper: Keeper
) -> None:
    folder.put(mail(1), mail(2))
    keeper.faults = [None, ValueError("not now")]
    account.poll(NOW)
    before = folder.validity()
    folder.delete()
    folder.create()
    assert folder.validity() != before
    folder.put(mail(3), mail(2))
    account.poll(NOW)
    assert keeper.mails == [mail(1), mail(3), mail(2)]
    assert keeper.places[0] != keeper.places[1]
    assert str(keeper.places[1]).endswith(f" {folder.validity()} 1")


@needs_dovecot
def test_names_and_passwords_of_all_languages_can_be_used(server: dovecot.Server, opened: Open, keeper: Keeper) -> None:
    folder = Folder(server, "&AVk-ady &- spol")  # as mailboxes are named on the wire
    folder.put(mail(1))
    opened(replace(folder.way, folder="řady & spol")).poll(NOW)
    assert keeper.mails == [mail(1)]
    opened(replace(folder.way, user=FOREIGN_USER, password=FOREIGN_PASSWORD, folder="INBOX")).poll(NOW)
    wrong = opened(replace(folder.way, user=FOREIGN_USER, password="žluť"))
    assert trouble(wrong).endswith("it refuses our user or password.")


@needs_dovecot
def test_over_tls_only_a_trusted_server_is_talked_to(folder: Folder, opened: Open, keeper: Keeper) -> None:
    folder.put(mail(1))
    way = replace(folder.way, port=folder.server.tls_port, tls=True)
    opened(way).poll(NOW)
    assert keeper.mails == [mail(1)]
    assert "its certificate is not trusted (self-signed certificate)" in trouble(Account(way, keeper.receive))


@needs_dovecot
def test_a_wrong_password_is_told_once_and_not_tried_again_and_again(
    folder: Folder, opened: Open, fetch: Callable[..., Fetcher], caplog: pytest.LogCaptureFixture
) -> None:
    refusals = folder.server.log().count("auth failed")
    account = opened(replace(folder.way, password="a wrong one"))
    fetch(account, 0.01)
    wait(lambda: caplog.records)
    time.sleep(0.5)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.message == f"No mail can be fetched from {USER} at 127.0.0.1: it refuses our user or password."
    wait(lambda: folder.server.log().count("auth failed") > refusals)
    assert folder.server.log().count("auth failed") == refusals + 1


@needs_dovecot
def test_a_server_that_was_down_is_found_again(
    server: dovecot.Server,
    folder: Folder,
    account: Account,
    keeper: Keeper,
    fetch: Callable[..., Fetcher],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    folder.put(mail(1))
    fetch(account)
    wait(lambda: keeper.mails == [mail(1)])
    server.stop()
    wait(lambda: caplog.records)
    time.sleep(0.3)
    server.restart()
    folder.put(mail(2))
    wait(lambda: keeper.mails == [mail(1), mail(2)])
    wait(lambda: caplog.records[-1].message == f"Mail is fetched again from {USER} at 127.0.0.1")
    # A connection that was just being made is reset first, which is another reason.
    unreachable = f"No mail can be fetched from {USER} at 127.0.0.1: it cannot be reached (Connection "
    told = [record.message.removeprefix(unreachable) for record in caplog.records[:-1]]
    assert told in (["refused)."], ["reset by peer).", "refused)."], ["reset by peer)."])


@needs_dovecot
def test_a_connection_that_the_server_dropped_meanwhile_is_made_anew_without_a_word(
    folder: Folder, account: Account, keeper: Keeper
) -> None:
    account.poll(NOW)
    folder.server.stop()
    folder.server.restart()
    folder.put(mail(1))
    account.poll(NOW)
    assert keeper.mails == [mail(1)]


@needs_dovecot
def test_a_folder_that_is_not_there_is_named(folder: Folder, opened: Open) -> None:
    account = opened(replace(folder.way, folder="Nowhere"))
    assert trouble(account).endswith("its folder Nowhere cannot be opened.")
    account.way = folder.way
    account.poll(NOW)


@needs_dovecot
def test_many_mails_are_fetched_in_slices(
    folder: Folder, account: Account, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap, "SLICE", 0.05)
    keeper.before = lambda: time.sleep(0.1)
    folder.put(mail(1), mail(2), mail(3))
    assert [account.poll(NOW) for _ in range(3)] == [True, True, False]
    assert keeper.mails == [mail(1), mail(2), mail(3)]


@needs_dovecot
def test_fetching_stops_at_once(folder: Folder, account: Account, fetch: Callable[..., Fetcher]) -> None:
    logins = folder.server.log().count("Login: ")
    fetcher = fetch(account, 3600)
    wait(lambda: folder.server.log().count("Login: ") > logins)
    time.sleep(0.1)
    began = time.monotonic()
    fetcher.stop()
    assert time.monotonic() - began < 0.5
    assert not fetcher._thread.is_alive()


@needs_dovecot
def test_the_house_keeps_what_lies_in_its_mailbox(house: House, folder: Folder) -> None:
    folder.put(mail(1), mail(2))
    settings = replace(house.settings, mail_in=(folder.way,))
    running = feeders.start(settings, lambda raw, envelope: door.take(raw, envelope, house.now), lambda: NOW, every=0.1)
    wait(lambda: Inbound.select().count() == 2)
    folder.put(mail(3))
    wait(lambda: Inbound.select().count() == 3)
    running.stop()
    assert {(row.via, row.received_at) for row in Inbound.select()} == {("imap", house.now)}


def test_a_server_that_is_silent_is_left(
    puppets: Callable[..., Puppet], opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap, "REPLY", 0.2)
    for puppet in (puppets(b""), puppets(CAPABILITY=None), puppets(LOGIN=None), puppets()):
        assert trouble(opened(puppet.way)).endswith("it does not answer.")


def test_a_server_that_never_comes_to_an_end_is_left(
    puppets: Callable[..., Puppet], opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap, "BOUND", 0.5)
    puppet = puppets()
    account = opened(puppet.way)
    began = time.monotonic()
    drip = threading.Event()

    def trickle(connection: socket.socket) -> None:
        with connection:
            connection.sendall(b"* OK ready\r\n")
            while not drip.wait(0.05):
                try:
                    connection.sendall(b"* OK still there\r\n")
                except OSError:
                    return

    monkeypatch.setattr(puppet, "_talk", trickle)
    trouble(account)
    drip.set()
    assert 0.4 < time.monotonic() - began < 2


@pytest.mark.parametrize(
    "replies",
    [
        {"greeting": b"* BYE too busy\r\n"},
        {"greeting": b"HTTP/1.1 400 Bad Request\r\n\r\n"},
        {"greeting": b"\0\xff\r\n"},
        {"greeting": b"* OK ready\r\n", "CAPABILITY": b""},
        {"CAPABILITY": b"* CAPABILITY\r\nTAG OK done\r\n"},
        {"CAPABILITY": b"TAG OK done\r\n"},
        {"LOGIN": b""},
        {"LOGIN": b"TAG NO [UNAVAILABLE] try later\r\n"},
        {"SELECT": b""},
        {"SELECT": b"TAG BAD what?\r\n"},
        {"SELECT": b"X9 OK done\r\n"},
        {"SELECT": b"* OK [READ-ONLY] .\r\nTAG OK done\r\n"},
        {"SELECT": b"* OK [UIDVALIDITY nine] .\r\nTAG OK done\r\n"},
        {"SEARCH": b"TAG NO never\r\n"},
        {"SEARCH": b"* SEARCH one\r\nTAG OK done\r\n"},
        {"SEARCH": b"* SEARCH \xff\r\nTAG OK done\r\n"},
        {"FETCH": b"TAG NO never\r\n"},
        {"FETCH": b"* 1 FETCH (RFC822.SIZE 9)\r\n* 1 FETCH {999}\r\n"},
        {"FETCH": b""},
    ],
    ids=str,
)
def test_a_server_that_makes_no_sense_is_left_and_found_again(
    replies: dict[str, bytes],
    puppets: Callable[..., Puppet],
    opened: Open,
    monkeypatch: pytest.MonkeyPatch,
    keeper: Keeper,
) -> None:
    monkeypatch.setattr(imap, "REPLY", 0.3)
    raw = b"BODY[] \r\n\r\nRFC822.SIZE 5\r\n"
    good = {
        "SELECT": b"* OK [UIDVALIDITY 9] .\r\n* OK [UIDNEXT 2] .\r\n* OK [READ-WRITE] .\r\nTAG OK done\r\n",
        "SEARCH": b"* SEARCH 1\r\nTAG OK done\r\n",
        "FETCH": b"* 1 FETCH (UID 1 RFC822.SIZE %d BODY[]<0> {%d}\r\n%s)\r\nTAG OK done\r\n"
        % (len(raw), len(raw), raw),
        "STORE": b"TAG NO never\r\n",
    }
    puppet = puppets(**{**good, **replies})
    account = opened(puppet.way)
    trouble(account)
    puppet.greeting = b"* OK ready\r\n"
    puppet.replies |= {"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\nTAG OK done\r\n", "LOGIN": b"TAG OK done\r\n", **good}
    account.poll(NOW)
    assert keeper.mails == [raw]


def test_a_server_that_wants_protection_is_not_sent_the_password(puppets: Callable[..., Puppet], opened: Open) -> None:
    puppet = puppets(CAPABILITY=b"* CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED\r\nTAG OK done\r\n")
    assert trouble(opened(puppet.way)).endswith("it takes no password unprotected; use imaps://.")
    assert puppet.heard == ["CAPABILITY"]


def test_a_server_that_misjudges_a_size_cannot_fill_our_memory(
    puppets: Callable[..., Puppet], opened: Open, keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    most = LARGEST + 1
    puppet = puppets(
        SELECT=b"* OK [UIDVALIDITY 9] .\r\n* OK [UIDNEXT 2] .\r\nTAG OK done\r\n",
        SEARCH=b"* SEARCH 1\r\nTAG OK done\r\n",
        FETCH=b"* 1 FETCH (UID 1 RFC822.SIZE 5 BODY[]<0> {%d}\r\n%s)\r\nTAG OK done\r\n" % (most, b"x" * most),
        STORE=b"TAG OK done\r\n",
    )
    opened(puppet.way).poll(NOW)
    assert keeper.mails == []
    assert "is passed over" in caplog.text


def test_fetching_stops_at_once_even_from_a_server_that_hangs(
    puppets: Callable[..., Puppet], opened: Open, fetch: Callable[..., Fetcher], caplog: pytest.LogCaptureFixture
) -> None:
    puppet = puppets()
    fetcher = fetch(opened(puppet.way))
    wait(lambda: "SELECT" in puppet.heard)
    began = time.monotonic()
    fetcher.stop()
    assert time.monotonic() - began < 0.5
    assert not fetcher._thread.is_alive()
    assert caplog.text == ""


def test_the_pauses_grow_while_a_server_is_away(
    puppets: Callable[..., Puppet], opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    puppet = puppets(b"* BYE\r\n")
    fetcher = Fetcher(opened(puppet.way), lambda: NOW, 30.0)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            puppet.greeting = b"* OK ready\r\n"
            puppet.replies["LOGIN"] = b"TAG NO [AUTHENTICATIONFAILED] correct-horse-9\r\n"
        elif len(pauses) == 4:
            monkeypatch.setattr(fetcher.account, "poll", lambda _: 1 // 0)
        elif len(pauses) == 5:
            monkeypatch.setattr(fetcher.account, "poll", lambda _: True)
        elif len(pauses) == 6:
            monkeypatch.setattr(fetcher.account, "poll", lambda _: False)
        elif len(pauses) == 7:
            fetcher._ended.set()

    monkeypatch.setattr(fetcher._ended, "wait", pause)
    fetcher._run()
    assert pauses == [60.0, 120.0, 240.0, 1800.0, 600.0, 0.0, 30.0]


def test_a_place_has_a_name_of_its_own_and_of_bounded_length() -> None:
    way = WayIn("imap", "mail.example.org", 993, True, USER, PASSWORD, "INBOX")
    assert place(way, 7, 12) == "imap clachan@example.org@mail.example.org/INBOX 7 12"
    ways = [replace(way, folder="x" * 180 + end) for end in "ab"]
    places = {place(each, 4294967295, uid) for each in (way, *ways) for uid in (1, 4294967295)}
    assert len(places) == 6
    assert max(map(len, places)) <= 200

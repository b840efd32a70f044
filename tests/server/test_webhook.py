"""Calls of people's own programs: signed, bounded, to public machines only, and given up after long failure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import flask
import pytest
from clockwork import awaited, wish
from house import START, House, house_settings
from smtp_sink import client_context, server_context
from together import everything_stored, in_parallel, quick_pictures, refused
from visitor import Visitor, application

from server import accounts, db, hooks, lobby, log, outbox, preferences, seating
from server.channels import Call, Carrier, DeliveryError, answered, webhook
from server.channels.webhook import call as wire
from server.models import Outbox, User, Webhook
from server.settings import Settings

ADDRESS = "https://example.org/hook?for=me"
OK = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_pictures(monkeypatch)


@pytest.fixture
def app(cottage: House, monkeypatch: pytest.MonkeyPatch) -> flask.Flask:
    return application(cottage, monkeypatch)


class Program:
    """A person's program at loopback, which answers each call with some bytes, and keeps what it was sent."""

    def __init__(self, answer: bytes | Callable[[socket.socket], None] = OK, context: ssl.SSLContext | None = None):
        self.answer, self.context = answer, context
        self.calls: list[bytes] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def url(self, scheme: str = "http", host: str = "127.0.0.1") -> str:
        """Return where it is called."""
        return f"{scheme}://{host}:{self.port}/hook?for=me"

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self.socket.accept()
                with suppress(OSError), line:
                    self._answer(self.context.wrap_socket(line, server_side=True) if self.context else line)

    def _answer(self, line: socket.socket) -> None:
        with line:
            raw = b""
            while b"\r\n\r\n" not in raw:
                raw += line.recv(65536) or b"\r\n\r\n"
            head, _, body = raw.partition(b"\r\n\r\n")
            size = next((int(part[16:]) for part in head.split(b"\r\n") if part.startswith(b"Content-Length: ")), 0)
            while len(body) < size:
                body += line.recv(65536)
            self.calls.append(head + b"\r\n\r\n" + body)
            if callable(self.answer):
                self.answer(line)
            else:
                line.sendall(self.answer)

    def close(self) -> None:
        """Answer no more."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(10)


@contextmanager
def program(*given: object, **named: object) -> Iterator[Program]:
    """Run somebody's program for the block."""
    running = Program(*given, **named)
    try:
        yield running
    finally:
        running.close()


class Line:
    """A way to programs that keeps the calls; `faults` are raised first."""

    def __init__(self, *faults: DeliveryError) -> None:
        self.calls: list[Call] = []
        self.faults = list(faults)

    def deliver(self, message: Call) -> None:
        """Keep the call, or raise the next fault."""
        if self.faults:
            raise self.faults.pop(0)
        self.calls.append(message)


def called(house: House, line: Line | None = None) -> list[dict]:
    """Make the calls that are due; return what they say."""
    line = line or Line()
    run(house.settings, house, line)
    return [json.loads(call.body) for call in line.calls]


def run(chosen: Settings, house: House, caller: Carrier[Call]) -> None:
    """Let some ticks pass in one moment: each makes one call for each person."""
    for _ in range(8):
        hooks.run(chosen, lambda: house.now, caller)


def hooked(house: House, *names: str) -> None:
    for name in names or tuple(house.people):
        hooks.give(house.people[name], ADDRESS, house.settings, house.now)


def a_call(url: str) -> Call:
    return Call(url, "whsec_" + base64.b64encode(b"k" * 32).decode(), "abc", '{"type":"turn"}')


def test_a_call_is_signed_so_that_its_receiver_can_tell(tmp_path: Path) -> None:
    with program() as running:
        webhook.WebhookChannel(loopback=True).deliver(a_call(running.url()))
    head, _, body = running.calls[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:])
    assert lines[0] == "POST /hook?for=me HTTP/1.1"
    assert fields["Host"] == f"127.0.0.1:{running.port}"
    assert (fields["Content-Type"], fields["webhook-id"], body) == ("application/json", "abc", b'{"type":"turn"}')
    assert abs(int(fields["webhook-timestamp"]) - time.time()) < 60
    told = f"abc.{fields['webhook-timestamp']}.".encode() + body
    right = base64.b64encode(hmac.new(b"k" * 32, told, hashlib.sha256).digest()).decode()
    assert fields["webhook-signature"] == f"v1,{right}"


def test_over_https_the_certificate_has_to_be_good() -> None:
    with program(context=server_context()) as running:
        good = webhook.WebhookChannel(loopback=True, context=client_context())
        good.deliver(a_call(running.url("https", "localhost")))
        assert len(running.calls) == 1
        with pytest.raises(DeliveryError, match="its certificate is not good"):
            webhook.WebhookChannel(loopback=True).deliver(a_call(running.url("https", "localhost")))
        assert len(running.calls) == 1


@pytest.mark.parametrize(
    ("answer", "said", "permanent"),
    [
        (b"HTTP/1.1 500 Oh\r\n\r\n", "the answer was 500", False),
        (b"HTTP/1.1 404 No\r\n\r\n", "the answer was 404", False),
        (b"HTTP/1.1 410 Gone\r\n\r\n", "the answer was 410", True),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", "the answer was 302", False),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no answer: it is not HTTP", False),
        (b"HTTP/1.1 2\xb20\r\n", "no answer: it is not HTTP", False),
        (b"", "no answer: it broke off", False),
        (b"x" * 5000, "no answer: ", False),
    ],
)
def test_only_an_answer_of_success_is_one(answer: bytes, said: str, permanent: bool) -> None:
    with program(answer) as running, pytest.raises(DeliveryError, match=said) as told:
        webhook.WebhookChannel(loopback=True).deliver(a_call(running.url()))
    assert told.value.permanent is permanent
    assert len(running.calls) == 1, "nobody is redirected"


def test_a_call_is_over_in_time_however_slowly_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LONGEST", 0.6)
    stop = threading.Event()

    def drip(line: socket.socket) -> None:
        while not stop.is_set():
            line.sendall(b"H")
            stop.wait(0.1)

    with program(drip) as running:
        began = time.monotonic()
        with pytest.raises(DeliveryError, match=r"it took too long|it is not HTTP"):
            webhook.WebhookChannel(loopback=True).deliver(a_call(running.url()))
        assert time.monotonic() - began < 5
        stop.set()


def test_nobody_there_is_a_failure_like_others() -> None:
    with program() as running:
        url = running.url()
    with pytest.raises(DeliveryError, match="no answer") as told:
        webhook.WebhookChannel(loopback=True).deliver(a_call(url))
    assert not told.value.permanent


PRIVATE = """
    127.0.0.1 127.8.8.8 10.0.0.1 172.16.0.9 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1
    255.255.255.255 198.18.0.1 ::1 :: fe80::1 fc00::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::a00:1
    2002:a00:1:: 2001:db8::1 2001:0:a00:1:: 3fff::1 3fff:fff:ffff::1 192.88.99.1 ::ffff:192.88.99.1
    2606:2800:220:1::1%eth0
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_no_address_but_a_public_one_is_called(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("connected"))
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(DeliveryError):
        webhook.target(f"https://{host}/", loopback=False)
    for found in ([address], ["93.184.216.34", address]):
        with pytest.raises(DeliveryError, match="does not belong to a public machine"):
            webhook.WebhookChannel(resolve=lambda *_, found=found: found).deliver(a_call("https://example.org/"))


def test_what_was_looked_up_and_checked_is_what_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, connected = [], []

    def resolve(name: str, _: float) -> list[str]:
        asked.append(name)
        return ["2606:2800:220:1::1", "93.184.216.34"] if len(asked) == 1 else ["127.0.0.1"]

    def connect(where: tuple[str, int], _: float) -> socket.socket:
        connected.append(where)
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(DeliveryError, match="no answer: nobody takes the call"):
        webhook.WebhookChannel(resolve=resolve).deliver(a_call("https://example.org/"))
    assert (asked, connected) == (["example.org"], [("2606:2800:220:1::1", 443), ("93.184.216.34", 443)])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "http://example.org/",
        "ftp://example.org/",
        "https://",
        "https:///path",
        "https://user:password@example.org/",
        "https://example.org:25/",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://example.org:x/",
        "https://example.org\\@127.0.0.1/",
        "https://example.org/\r\nX: y",
        "https://exa mple.org/",
        "https://exämple.org/",
        "https://example.org/#top",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://[2606:2800:220:1::1%25eth0]/",
        "https://[2606:2800:220:1::1%eth0]/",
        "https://[3fff::1]/",
        "https://example.org/" + "x" * 500,
    ],
)
def test_an_address_that_is_none_of_a_program_is_refused(cottage: House, url: str) -> None:
    with refused("bad-input"):
        hooks.give(cottage.people["Ailsa"], url, cottage.settings, cottage.now)
    assert hooks.of(cottage.people["Ailsa"]) is None


def test_this_machine_is_called_in_development_only(cottage: House, database_url: str, tmp_path: Path) -> None:
    open_settings = house_settings(database_url, tmp_path, WEBHOOK_LOOPBACK="1")
    for url in ("http://127.0.0.1:9000/", "http://localhost:9000/", "https://localhost:9000/", "https://[::1]:9000/"):
        with refused("bad-input"):
            hooks.give(cottage.people["Ailsa"], url, cottage.settings, cottage.now)
        assert hooks.give(cottage.people["Ailsa"], url, open_settings, cottage.now).startswith("whsec_")
    for url in ("http://192.168.1.1:9000/", "http://example.org:9000/"):
        with refused("bad-input"):
            hooks.give(cottage.people["Ailsa"], url, open_settings, cottage.now)


@pytest.fixture
def database_url(cottage: House) -> str:
    return cottage.settings.database


def test_a_program_is_told_of_turns_and_of_the_end(house: House) -> None:
    hooked(house, "Ailsa")
    match = house.begun("Ailsa", "Bran")
    while awaited(house, match)[1].name != "Ailsa":
        house.move(match)
    told = called(house)
    (turn,) = [one for one in told if one["type"] == "turn" and one["data"]["row"] == log.get(match.id).length]
    data = turn["data"]
    assert (data["match"]["id"], data["match"]["title"], data["seat"]) == (match.id, f"Clans {match.id}", 0)
    assert data["match"]["players"] == ["Ailsa", "Bran"]
    assert data["deadline"] == log.stamp(log.get(match.id).deadline)
    assert data["since"]
    assert all(sentence.startswith("Bran") for sentence in data["since"][:1])
    assert called(house) == [], "once"
    house.finish(match)
    (end,) = called(house)
    outcome = house.played(match).outcome
    assert end["type"] == "end"
    assert (end["data"]["winners"], end["data"]["scores"]) == (list(outcome.winners), list(outcome.scores))


def test_a_turn_taken_meanwhile_is_not_called_about(house: House) -> None:
    hooked(house)
    match = house.begun("Ailsa", "Bran")
    told = called(house)
    assert [one["data"]["row"] for one in told] == [2]
    notes = {mail.note for mail in Outbox.select().where((Outbox.kind == "call") & (Outbox.state == "dropped"))}
    assert notes == {"the turn was taken meanwhile"}
    _, user = awaited(house, match)
    seating.resign(match.id, user, "web", now=house.now)
    assert {one["type"] for one in called(house)} == {"end"}


def test_a_program_hears_nothing_of_a_result_that_is_kept_back(house: House) -> None:
    hooked(house, "Ailsa")
    match = house.begun("Ailsa", "Bran")
    house.finish(match)
    wish(house.people["Ailsa"], keeps_results=True)
    (end,) = [one for one in called(house) if one["type"] == "end"]
    assert set(end["data"]) == {"match"}


def test_whatever_mails_a_person_wants_his_program_is_called_at_once(house: House) -> None:
    hooked(house)
    for user in house.people.values():
        preferences.settle(User.get_by_id(user.id), preferences.Wishes("UTC", turn_mail="off"), house.now)
    house.begun("Ailsa", "Bran")
    assert len(called(house)) == 1


def test_calls_and_mails_do_not_wait_for_each_other(house: House) -> None:
    hooked(house)
    house.begun("Ailsa", "Bran")
    house.post.faults = [DeliveryError("535", alarm=True)]
    assert house.mail() == []
    assert len(called(house)) == 1
    called(house, Line(*[DeliveryError("no answer")] * 9))
    house.later(minutes=20)
    assert house.mail()
    assert all(not message.thread or len(message.thread) < 3 for message in house.post.messages)
    assert User.select().where(User.mail_stopped != "").count() == 0


def test_a_call_that_failed_is_made_again_with_the_same_id(house: House) -> None:
    hooked(house)
    house.begun("Ailsa", "Bran")
    called(house)
    house.move(log.get(1))
    line = Line(DeliveryError("no answer"), DeliveryError("the answer was 500"))
    for minutes in (0, 1, 5):
        house.later(minutes=minutes)
        called(house, line)
    (made,) = line.calls
    assert made.message_id in {mail.message_id for mail in Outbox.select().where(Outbox.kind == "call")}
    assert all(mail.due_at <= house.now for mail in house.queued(kind="call")), "nor do others wait any longer"
    hook = Webhook.get(Webhook.failures == 0)
    assert hook.failing_since is None, "a call that was taken makes good for those before"


def test_after_a_day_of_failure_a_program_is_given_up_and_its_owner_told(house: House) -> None:
    hooked(house)
    match = house.begun("Ailsa", "Bran", pace=9 * 86400)
    called(house)
    house.move(match)
    house.mail()
    _, user = awaited(house, match)
    for _ in range(400):
        house.later(minutes=10)
        called(house, Line(answered(500)))
        if hooks.of(user).stopped:
            break
    assert timedelta(days=1) <= house.now - START < timedelta(days=2)
    assert hooks.of(user).stopped == "something is broken there"
    (message,) = [message for message in house.mail() if message.to_name == user.name]
    assert message.subject == "Your program is not called any more"
    assert "example.org" in message.text
    assert "something is broken there" in message.text
    house.move(match)
    house.move(match)
    assert (
        Outbox.select().where((Outbox.user == user) & (Outbox.kind == "call") & Outbox.done_at.is_null()).count() == 0
    )
    hooked(house, user.name)
    house.move(match)
    house.move(match)
    assert called(house), "an address that is stored again is called again"


def test_a_program_that_says_it_is_gone_is_given_up_at_once(house: House) -> None:
    hooked(house, "Ailsa")
    match = house.begun("Ailsa", "Bran")
    while awaited(house, match)[1].name != "Ailsa":
        house.move(match)
    called(house, Line(DeliveryError("the answer was 410", permanent=True)))
    assert hooks.of(house.people["Ailsa"]).stopped
    assert User.get(User.name == "Ailsa").mail_stopped == ""


class Tarpit(Line):
    """A way to programs on which those of some people answer only when the time is over; time is counted, not spent."""

    def __init__(self, slow: str, fault: DeliveryError | None, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.slow, self.fault, self.spent = slow, fault, 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.spent)

    def deliver(self, message: Call) -> None:
        """Keep the call; in the tarpit it takes five seconds."""
        super().deliver(message)
        if self.slow in message.url:
            self.spent += 5
            if self.fault:
                raise self.fault


@pytest.mark.parametrize("fault", [DeliveryError("no answer: it took too long"), None], ids=["fails", "is slow"])
def test_a_program_that_hardly_answers_holds_nobody_up(
    house: House, monkeypatch: pytest.MonkeyPatch, fault: DeliveryError | None
) -> None:
    ailsa, bran = house.people["Ailsa"], house.people["Bran"]
    hooks.give(ailsa, "https://tarpit.example.org/", house.settings, house.now)
    hooks.give(bran, ADDRESS, house.settings, house.now)
    for user in (ailsa, bran):
        for _ in range(20 if user == ailsa else 2):
            match = house.started("Ailsa", "Bran")
            while awaited(house, match)[1] != user:
                house.move(match)
            house.later(seconds=1)
    line = Tarpit("tarpit", fault, monkeypatch)
    hooks.run(house.settings, lambda: house.now, line)
    assert sorted(call.url for call in line.calls) == [ADDRESS, "https://tarpit.example.org/"]
    for _ in range(8):
        hooks.run(house.settings, lambda: house.now, line)
    assert [call.url for call in line.calls].count(ADDRESS) == 2
    assert line.spent == 5, "after that his other calls wait"
    house.later(minutes=6)
    hooks.run(house.settings, lambda: house.now, line)
    assert line.spent == 10


def test_a_new_call_waits_like_the_others_for_a_program_that_fails(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks.give(house.people["Ailsa"], ADDRESS, house.settings, house.now)
    line = Tarpit("example", DeliveryError("no answer: it took too long"), monkeypatch)
    for number in range(3):
        match = house.started("Ailsa", "Bran")
        while awaited(house, match)[1].name != "Ailsa":
            house.move(match)
        hooks.run(house.settings, lambda: house.now, line)
        assert len(line.calls) == 1, f"a dead program costs no try for each call, such as {number}"
        house.later(seconds=10)
    house.later(minutes=1)
    hooks.run(house.settings, lambda: house.now, line)
    assert len(line.calls) == 2


def test_a_run_of_calls_has_an_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [house.person(f"Slow {number}") for number in range(8)]
    for user in people:
        hooks.give(user, ADDRESS, house.settings, house.now)
        house.people[user.name] = user
        match = house.started(user.name, "Ailsa")
        if awaited(house, match)[1] != user:
            house.move(match)
    line = Tarpit("example", None, monkeypatch)
    hooks.run(house.settings, lambda: house.now, line)
    assert line.spent == 20
    hooks.run(house.settings, lambda: house.now, line)
    assert len({call.message_id for call in line.calls}) == 8


def test_two_schedulers_make_each_call_once(house: House) -> None:
    hooked(house)
    for _ in range(5):
        house.begun("Ailsa", "Bran")
    lines = [Line(), Line(), Line()]
    in_parallel(*(lambda line=line: hooks.run(house.settings, lambda: house.now, line) for line in lines))
    called(house, lines[0])
    ids = [call.message_id for line in lines for call in line.calls]
    assert len(ids) == len(set(ids)) == 5


def test_an_address_taken_away_is_not_called_and_with_an_account_it_goes(house: House) -> None:
    hooked(house)
    match = house.begun("Ailsa", "Bran")
    _, user = awaited(house, match)
    hooks.remove(user, house.now)
    assert called(house) == []
    other = next(one for one in house.people.values() if one.name not in {"Ailsa", "Bran"})
    lobby.leave_all(other, house.now)
    accounts.forget(other, house.now)
    assert hooks.of(other) is None
    assert "example.org/hook" in everything_stored(), "that of the others stays"


def test_the_settings_page_shows_a_secret_once(cottage: House, app: flask.Flask) -> None:
    ailsa = Visitor(app, cottage.people["Ailsa"])
    page = ailsa.post("/settings/webhook", follow=True, url=ADDRESS).text
    secret = hooks.of(cottage.people["Ailsa"]).secret
    assert secret in page
    assert ADDRESS in page
    assert secret not in ailsa.get("/settings").text
    answer = ailsa.post("/settings/webhook", url="http://example.org/")
    assert answer.status_code == 422
    assert "The address has to begin with https://." in answer.text
    assert hooks.of(cottage.people["Ailsa"]).url == ADDRESS
    ailsa.post("/settings/webhook", end="yes")
    assert hooks.of(cottage.people["Ailsa"]) is None


def test_the_whole_way_to_a_program_of_somebody(house: House, database: str, tmp_path: Path) -> None:
    chosen = house_settings(database, tmp_path, WEBHOOK_LOOPBACK="1")
    with program() as running:
        secret = hooks.give(house.people["Ailsa"], running.url(), chosen, house.now)
        match = house.begun("Ailsa", "Bran")
        house.finish(match)
        run(chosen, house, outbox.open_caller(chosen))
    head, _, body = running.calls[-1].partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    moment = int(fields["webhook-timestamp"])
    assert fields["webhook-signature"] == webhook.signature(secret, fields["webhook-id"], moment, body)
    assert json.loads(body)["type"] == "end"


def test_what_became_of_a_call_is_noted_with_all_that_follows_or_not_at_all(house: House) -> None:
    hooked(house, "Ailsa")
    match = house.started("Ailsa", "Bran")
    if awaited(house, match)[0]:
        house.move(match)

    def broken(*told: Any) -> None:
        hooks.heard(*told)
        raise RuntimeError("a fault while it is noted")

    for line in (Line(), Line(DeliveryError("no answer"))):
        with pytest.raises(RuntimeError):
            outbox.call_due(line, hooks.writer(house.settings), lambda: house.now, broken)
        (call,) = Outbox.select().where((Outbox.kind == outbox.CALL) & Outbox.done_at.is_null())
        assert (call.state, hooks.of(call.user).failures) == ("handed", 0)
        house.now += outbox.LEASE


def test_failures_that_are_heard_of_at_the_same_moment_are_all_counted(house: House) -> None:
    hooked(house, "Ailsa")
    match = house.started("Ailsa", "Bran")
    if awaited(house, match)[0]:
        house.move(match)
    (call,) = Outbox.select().where((Outbox.kind == outbox.CALL) & Outbox.done_at.is_null())

    def fail() -> None:
        with db.transaction():
            hooks.heard(call, DeliveryError("no answer"), house.now)

    assert in_parallel(*[fail] * 4) == [None] * 4
    hook = hooks.of(house.people["Ailsa"])
    assert (hook.failures, hook.failing_since, hook.stopped) == (4, house.now, "")

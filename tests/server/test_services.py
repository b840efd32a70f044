"""The channels of well-known services: what each is sent, whom nothing is sent to, and what is learned of a failure."""

from __future__ import annotations

import ast
import importlib
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from house import House, house_settings
from hypothesis import given, settings
from hypothesis import strategies as st
from services import Answer, Asked, Service, passage, service
from test_webhook import program
from together import quick_pictures

from server import briefs, outbox, tidings, ways
from server.channels import Brief, DeliveryError, Kind, apprise, guarded, sessions
from server.channels.apprise import hand
from server.channels.apprise.exchanges import Exchanges

TOKEN = "very-secret-" + "t" * 56
GIVEN = {
    "discord": {"url": f"https://discord.com/api/webhooks/123456789012345678/{TOKEN}"},
    "slack": {"url": "https://hooks.slack.com/services/T12345678/B12345678/verysecretxxxxxxxxxxxxxx"},
    "telegram": {"token": "123456789:very-secret-AAAAAAAAAAAAAAAAAAAAAAA", "chat": "87654321"},
    "matrix": {"server": "matrix.example.org", "room": "!abcdefgh:example.org", "token": "syt_verysecret" + "a" * 30},
    "ntfy": {"url": "https://ntfy.sh/very-secret-topic", "token": "tk_verysecretaaaaaaaa"},
}
SECRETS = ("very-secret", "verysecret")
TITLE, TEXT, URL = "Clans 7: it is your turn", "Bran moved 2 < 3 & *huts*.", "https://play.example.org/matches/7"


def done(asked: Asked) -> Answer:
    """Answer as each of the services does when all is well."""
    if asked.headers["host"] == "hooks.slack.com":
        return Answer(200, b"ok")
    if asked.headers["host"] == "discord.com":
        return Answer(204, b"")
    return Answer(200, b'{"user_id": "@me:example.org", "room_id": "!abcdefgh:example.org"}')


def brief(channel: Kind, kind: str) -> Brief:
    """Return a message to the way of the tests of a kind."""
    return Brief(channel.read(GIVEN[kind]), "abc123", TITLE, TEXT, URL)


def sent(running: Service, kind: str) -> list[Asked]:
    """Send a message by a kind of way; return what the service was asked."""
    channel = apprise.kinds(passage())[kind]
    channel.deliver(brief(channel, kind))
    return running.asked


def failed(kind: str, way: guarded.Passage | None = None) -> DeliveryError:
    """Return why a message was not delivered."""
    channel = apprise.kinds(way or passage())[kind]
    with pytest.raises(DeliveryError) as told:
        channel.deliver(brief(channel, kind))
    assert not any(secret in str(told.value) for secret in SECRETS)
    return told.value


def test_discord_is_sent_title_text_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with service(monkeypatch, done) as running:
        (asked,) = sent(running, "discord")
    assert (asked.method, asked.path) == ("POST", f"/api/webhooks/123456789012345678/{TOKEN}")
    assert asked.told["content"].split() == f"{TITLE} {TEXT} {URL}".split()
    assert "avatar_url" not in asked.told


def test_slack_is_sent_title_text_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with service(monkeypatch, done) as running:
        (asked,) = sent(running, "slack")
    assert asked.path == "/services/T12345678/B12345678/verysecretxxxxxxxxxxxxxx"
    (shown,) = asked.told["attachments"]
    assert (shown["title"], shown["text"]) == (TITLE, f"Bran moved 2 &lt; 3 &amp; *huts*.\n{URL}")


def test_telegram_is_sent_what_it_takes_for_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with service(monkeypatch, done) as running:
        (asked,) = sent(running, "telegram")
    assert asked.path == f"/bot{GIVEN['telegram']['token']}/sendMessage"
    assert asked.told["chat_id"] == 87654321
    assert asked.told["text"].split("\r\n") == [f"<b>{TITLE}</b>", "Bran moved 2 &lt; 3 &amp; *huts*.", URL]


def test_matrix_knows_a_second_try_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    with service(monkeypatch, done) as running:
        asked = sent(running, "matrix")[-1]
    assert (asked.method, asked.headers["host"]) == ("PUT", "matrix.example.org")
    assert asked.path == "/_matrix/client/v3/rooms/%21abcdefgh%3Aexample.org/send/m.room.message/abc123"
    assert asked.told["body"].split() == f"# {TITLE} {TEXT} {URL}".split()
    assert {one.headers["authorization"] for one in running.asked} == {f"Bearer {GIVEN['matrix']['token']}"}


def test_ntfy_leads_to_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    with service(monkeypatch, done) as running:
        (asked,) = sent(running, "ntfy")
    assert asked.told == {"topic": "very-secret-topic", "title": TITLE, "message": TEXT}
    assert asked.headers["x-click"] == URL
    assert asked.headers["authorization"] == f"Bearer {GIVEN['ntfy']['token']}"


@pytest.mark.parametrize("kind", GIVEN)
def test_what_a_page_shows_of_an_address_is_no_secret(kind: str) -> None:
    channel = apprise.kinds(passage())[kind]
    shown = channel.shown(channel.read(GIVEN[kind]))
    assert shown
    assert not any(secret in shown for secret in SECRETS)
    assert "very" not in repr(brief(channel, kind))


@pytest.mark.parametrize(
    ("kind", "filled"),
    [
        ("discord", {"url": "https://discord.com.example.org/api/webhooks/123456789012345678/" + "t" * 68}),
        ("discord", {"url": "http://discord.com/api/webhooks/123456789012345678/" + "t" * 68}),
        ("discord", {"url": "https://discord.com/api/webhooks/123456789012345678/" + "t" * 68 + "?thread_id=1"}),
        ("discord", {"url": "https://discord.com/api/webhooks/../../users/" + "t" * 68}),
        ("discord", {"url": "discord://123456789012345678/" + "t" * 68}),
        ("discord", {}),
        ("slack", {"url": "https://hooks.slack.com/services/T12345678/B12345678/../x"}),
        ("slack", {"url": "https://example.org/services/T12345678/B12345678/" + "x" * 24}),
        ("slack", {"url": "https://hooks.slack.com/workflows/T12345678/A12345678/1/x"}),
        ("telegram", {"token": "123456789:" + "A" * 35, "chat": "1 2"}),
        ("telegram", {"token": "123456789:" + "A" * 35, "chat": ""}),
        ("telegram", {"token": "123456789:" + "A" * 35 + "/../x", "chat": "12345678"}),
        ("telegram", {"token": "", "chat": "12345678"}),
        ("matrix", GIVEN["matrix"] | {"server": "http://matrix.example.org"}),
        ("matrix", GIVEN["matrix"] | {"server": "127.0.0.1"}),
        ("matrix", GIVEN["matrix"] | {"server": "https://[2606:2800:220:1::1]"}),
        ("matrix", GIVEN["matrix"] | {"server": "matrix.example.org/path"}),
        ("matrix", GIVEN["matrix"] | {"server": "me:word@matrix.example.org"}),
        ("matrix", GIVEN["matrix"] | {"room": "#room:example.org"}),
        ("matrix", GIVEN["matrix"] | {"room": "!abcdefgh:example.org, !other:example.org"}),
        ("matrix", GIVEN["matrix"] | {"token": "a token"}),
        ("ntfy", {"url": "https://ntfy.sh/"}),
        ("ntfy", {"url": "https://ntfy.sh/a/b"}),
        ("ntfy", {"url": "https://ntfy.sh/topic?delay=1d"}),
        ("ntfy", {"url": "http://ntfy.sh/topic"}),
        ("ntfy", {"url": "https://192.168.1.1/topic"}),
        ("ntfy", {"url": "https://localhost/topic"}),
        ("ntfy", {"url": "ntfy://topic"}),
        ("ntfy", {"url": "topic", "token": "word\r\nX: y"}),
    ],
)
def test_what_is_no_address_of_the_service_is_refused(kind: str, filled: dict[str, str]) -> None:
    with pytest.raises(DeliveryError):
        apprise.kinds(passage())[kind].read(filled)


def test_a_bare_word_is_a_topic_of_the_usual_server_and_others_may_have_their_own() -> None:
    channel = apprise.kinds(passage())["ntfy"]
    assert channel.read({"url": "my-topic"}) == {"server": "https://ntfy.sh", "topic": "my-topic"}
    found = channel.read({"url": "https://ntfy.example.org:8443/my-topic/"})
    assert found == {"server": "https://ntfy.example.org:8443", "topic": "my-topic"}


@pytest.mark.parametrize("kind", ["ntfy", "matrix"])
def test_this_machine_is_reached_in_development_only(kind: str) -> None:
    filled = GIVEN[kind] | {"server": "http://127.0.0.1:9000", "url": "http://127.0.0.1:9000/topic"}
    assert apprise.kinds(passage(loopback=True))[kind].read(filled)["server"] == "http://127.0.0.1:9000"
    with pytest.raises(DeliveryError):
        apprise.kinds(passage())[kind].read(filled)


@pytest.mark.parametrize("found", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], []])
@pytest.mark.parametrize("kind", GIVEN)
def test_a_name_that_leads_to_a_private_machine_is_not_called(
    kind: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("connected"))
    fault = failed(kind, guarded.Passage(resolve=lambda *_: found))
    assert str(fault) == "the name does not belong to a public machine"


@pytest.mark.parametrize("kind", GIVEN)
def test_nobody_is_redirected_and_no_proxy_is_asked(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:3128")
    (tmp_path / ".netrc").write_text("default login somebody password something\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "nothing.pem"))
    with service(monkeypatch, lambda _: Answer(302, b"", {"Location": "https://example.org/"})) as running:
        fault = failed(kind)
    assert (str(fault), fault.permanent, len(running.asked)) == ("the answer was 302", False, 1)
    assert "basic" not in str(running.asked[0].headers).lower()


@pytest.mark.parametrize("kind", GIVEN)
def test_too_many_messages_are_waited_for_and_not_slept_over(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("slept"))
    told = Answer(429, b'{"retry_after_ms": 3600000}', {"Retry-After": "3600"})
    with service(monkeypatch, lambda _: told) as running:
        fault = failed(kind)
    assert (fault.wait, fault.permanent, len(running.asked)) == (timedelta(hours=1), False, 1)


@pytest.mark.parametrize(
    ("kind", "status", "permanent"),
    [
        ("discord", 404, True),
        ("discord", 500, False),
        ("slack", 410, True),
        ("slack", 503, False),
        ("telegram", 403, True),
        ("telegram", 400, False),
        ("matrix", 403, False),
        ("ntfy", 403, False),
    ],
)
def test_an_answer_that_will_not_become_better_is_known(
    kind: str, status: int, permanent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(monkeypatch, lambda _: Answer(status, b'{"error": "very-secret"}')) as running:
        fault = failed(kind)
    assert (str(fault), fault.permanent) == (f"the answer was {status}", permanent)
    assert len(running.asked) == 1, "the first failure is the last exchange"


@pytest.mark.parametrize("kind", ["discord", "matrix"])
def test_a_message_is_over_in_time_however_slowly_it_is_answered(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "LONGEST", 0.6)
    stop = threading.Event()

    def wait(_: Asked) -> Answer:
        stop.wait(10)
        return Answer()

    with service(monkeypatch, wait):
        began = time.monotonic()
        fault = failed(kind)
        assert time.monotonic() - began < 4
        stop.set()
    assert (str(fault), fault.unknown) == ("no answer: it took too long", True)


def test_a_service_is_known_by_a_good_certificate_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with service(monkeypatch, done) as running:
        fault = failed("discord", guarded.Passage(resolve=lambda *_: ["93.184.216.34"]))
    assert "its certificate is not good" in str(fault)
    assert (running.asked, fault.unknown) == ([], False)


def test_a_long_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with service(monkeypatch, lambda _: Answer(200, b"x" * 3_000_000)):
        session = passage().session()
        assert len(session.get("https://example.org/").content) <= sessions.MOST_READ


def test_another_machine_than_the_services_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with service(monkeypatch, done) as running:
        session = passage().session({"discord.com"})
        with pytest.raises(requests.ConnectionError):
            session.post("https://example.org/", data=b"x")
    assert (running.asked, str(session.refusal())) == ([], "another machine than that of the service")


def test_the_library_says_nothing_into_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for answer in (done, lambda _: Answer(500, b"very-secret")):
        with service(monkeypatch, answer):
            for kind in GIVEN:
                deliver(kind)
    assert not [record for record in caplog.records if record.name.startswith(("apprise", "urllib3", "requests"))]
    assert not any(secret in caplog.text for secret in SECRETS)


def deliver(kind: str) -> None:
    """Send a message, whatever becomes of it."""
    channel = apprise.kinds(passage())[kind]
    try:
        channel.deliver(brief(channel, kind))
    except DeliveryError:
        return


def names_asked_of_requests(module: str) -> set[str]:
    """Return what a module of the library asks of `requests`."""
    tree = ast.parse(Path(importlib.import_module(module).__file__ or "").read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
    return {node.attr for node in found if node.value.id == "requests"}


@pytest.mark.parametrize("kind", hand.PLUGINS)
def test_a_plugin_asks_of_the_network_what_we_see_to_and_nothing_else(kind: str) -> None:
    place, _ = hand.PLUGINS[kind]
    assert names_asked_of_requests(place) <= {name for name in dir(Exchanges) if not name.startswith("_")}
    hand._plugin(kind)
    assert isinstance(importlib.import_module(place).requests, Exchanges)
    source = Path(importlib.import_module(place).__file__ or "").read_text(encoding="utf-8")
    imports = {name.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for name in node.names}
    assert not imports & {"socket", "http.client", "urllib.request", "urllib3", "aiohttp", "subprocess"}


def test_there_are_no_kinds_but_those_of_the_list() -> None:
    assert set(apprise.kinds(passage())) == set(hand.PLUGINS) == set(GIVEN)


def test_what_a_plugin_trips_over_is_not_told_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Callable[..., object]:
        raise ValueError(TOKEN)

    monkeypatch.setattr(hand, "_made", broken)
    assert str(failed("discord")) == "cannot be written: ValueError"


@settings(max_examples=200)
@given(
    kind=st.sampled_from(sorted(GIVEN)),
    places=st.lists(st.tuples(st.integers(0, 200), st.text(max_size=6)), min_size=1, max_size=3),
)
def test_whatever_is_given_an_address_of_the_service_comes_of_it_or_a_refusal(
    kind: str, places: list[tuple[int, str]]
) -> None:
    channel = apprise.kinds(passage())[kind]
    spoilt = dict(GIVEN[kind])
    for place, text in places:
        name = sorted(spoilt)[place % len(spoilt)]
        spoilt[name] = spoilt[name][: place % 80] + text + spoilt[name][place % 80 :]
    try:
        address = channel.read(spoilt)
    except DeliveryError:
        return
    parts = "".join(part for name, part in address.items() if name != "server")
    assert not set(parts) & set("\r\n \t?#%&\\\"'<>,"), "what is put into requests holds nothing that ends a part"
    assert channel.shown(address)
    if "server" in address:
        assert address["server"].startswith("https://")


def test_the_whole_way_from_a_turn_to_a_topic(
    house: House, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_pictures(monkeypatch)
    chosen = house_settings(database, tmp_path, WEBHOOK_LOOPBACK="1")
    with program(lambda line: line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")) as running:
        channels = outbox.open_ways(chosen)
        ways.add(house.people["Ailsa"], "ntfy", {"url": f"http://127.0.0.1:{running.port}/topic"}, channels, house.now)
        write = briefs.writer(chosen)
        tidings.run(channels, write, lambda: house.now)
        match = house.begun("Ailsa", "Bran")
        house.finish(match)
        for _ in range(3):
            tidings.run(channels, write, lambda: house.now)
    told = [json.loads(call.partition(b"\r\n\r\n")[2]) for call in running.calls]
    assert {one["topic"] for one in told} == {"topic"}
    assert {"A trial message", f"Clans {match.id} has ended"} <= {one["title"] for one in told}


def test_who_sends_nothing_reads_no_library_for_it() -> None:
    told = "import sys, server.outbox; print(sorted({'apprise', 'requests'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"

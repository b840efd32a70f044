"""Streams: open pages are told what has changed, by a real web server, and nobody holds up its threads."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from house import House
from visitor import Visitor, application

from server import accounts, beats, db, lobby, sessions, talk
from server.models import User
from server.web import streams
from tools import hosting


@pytest.fixture
def server(cottage: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    app = application(cottage, monkeypatch)
    with hosting.running(app, threads=2) as server:
        server.app = app
        yield server


def cookie(server: Any, user: User | None) -> dict[str, str]:
    """Return the headers of somebody's requests."""
    if user is None:
        return {}
    visitor = Visitor(server.app, user)
    kept = visitor.client.get_cookie("clachan")
    assert kept
    return {"Cookie": f"clachan={kept.value}"}


class Listener:
    """Somebody who listens to a stream."""

    def __init__(self, server: Any, path: str, user: User | None = None) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", server.effective_port, timeout=5)
        self.connection.request("GET", path, headers=cookie(server, user))
        self.answer = self.connection.getresponse()

    def line(self) -> str:
        """Return the next line, "" at the end of the stream."""
        return self.answer.readline().decode().strip()

    def beat(self) -> dict[str, Any]:
        """Return the next numbers."""
        while not (line := self.line()).startswith("data: "):
            assert line or not self.answer.isclosed()
        return dict(json.loads(line.removeprefix("data: ")))

    def close(self) -> None:
        """Go away."""
        self.answer.close()
        self.connection.close()

    def rest(self) -> list[str]:
        """Return what comes until the stream ends."""
        return [line.decode().strip() for line in self.answer.readlines() if line.strip()]


Listen = Callable[..., Listener]


@pytest.fixture
def listen(server: Any) -> Iterator[Listen]:
    """Listen to a path, as a person or a stranger."""
    opened = []

    def begin(path: str, user: User | None = None) -> Listener:
        opened.append(Listener(server, path, user))
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


def until(true: Callable[[], bool]) -> None:
    """Wait for something that a thread does."""
    for _ in range(100):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def test_a_page_of_a_match_is_told_of_moves_and_talk(cottage: House, server: Any, listen: Listen) -> None:
    match = cottage.started("Ailsa", "Bran")
    reader = listen(f"/matches/{match.id}/stream")
    assert reader.answer.headers["Content-Type"].startswith("text/event-stream")
    first = reader.beat()
    assert first == beats.beat(match, None) == {"waiting": 0, "rows": 0, "seq": 0, "status": "running", "talk": 0}
    cottage.move(match)
    assert reader.beat()["seq"] == 1
    talk.speak(match, cottage.people["Ailsa"], "Well met", cottage.now)
    assert reader.beat()["talk"] == 1


def test_any_page_is_told_how_many_matches_await_its_reader(cottage: House, server: Any, listen: Listen) -> None:
    match = cottage.started("Ailsa", "Bran")
    seat = cottage.played(match).position.to_act[0]
    waiting, other = [cottage.people[name] for name in (("Ailsa", "Bran") if seat == 0 else ("Bran", "Ailsa"))]
    readers = [listen("/stream", user) for user in (waiting, other)]
    assert [reader.beat()["waiting"] for reader in readers] == [1, 0]
    cottage.move(match)
    assert [reader.beat()["waiting"] for reader in readers] == [0, 1]


def test_streams_take_no_thread_from_pages(cottage: House, server: Any, listen: Listen) -> None:
    match = cottage.started("Ailsa", "Bran")
    readers = [listen(f"/matches/{match.id}/stream", user) for user in cottage.people.values() for _ in "ab"]
    assert [reader.beat()["seq"] for reader in readers] == [0] * 8
    until(lambda: len(server.streams) == 8)
    assert not server.active_channels
    page = listen(f"/matches/{match.id}/pulse")
    assert page.answer.status == 200
    cottage.move(match)
    assert [reader.beat()["seq"] for reader in readers] == [1] * 8


def test_the_newest_pages_of_a_person_keep_their_streams(cottage: House, server: Any, listen: Listen) -> None:
    ailsa, bran = cottage.people["Ailsa"], cottage.people["Bran"]
    other = listen("/stream", bran)
    readers = [listen("/stream", ailsa) for _ in range(streams.MOST_EACH + 1)]
    assert readers[0].rest()[-2:] == ["event: full", "data:"]
    until(lambda: len(server.streams) == streams.MOST_EACH + 1)
    for reader in (other, *readers[1:]):
        assert reader.beat()["rows"] == 0
    cottage.move(cottage.started("Ailsa", "Bran"))
    for reader in (other, *readers[1:]):
        while reader.beat()["rows"] != 1:
            pass


def test_who_finds_no_room_is_told_to_ask_by_himself(
    cottage: House, server: Any, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST", 1)
    held = listen("/stream", cottage.people["Ailsa"])
    until(lambda: len(server.streams) == 1)
    assert listen("/stream", cottage.people["Bran"]).answer.status == 204
    held.close()
    until(lambda: len(server.streams) == 0)
    assert listen("/stream", cottage.people["Bran"]).answer.status == 200


def test_a_stream_ends_when_its_reader_may_look_no_longer(cottage: House, listen: Listen) -> None:
    hidden = cottage.table("Bran", seats=3, invited_only=True)
    lobby.join(hidden.id, cottage.people["Ailsa"], now=cottage.now, invited=True)
    gone, left = cottage.people["Bran"], cottage.people["Ailsa"]
    readers = [listen(f"/matches/{hidden.id}/stream", user) for user in (gone, left)]
    for reader in readers:
        reader.beat()
    assert listen(f"/matches/{hidden.id}/stream").answer.status == 404
    accounts.sign_out_everywhere(gone)
    assert readers[0].rest() == []
    talk.speak(hidden, left, "Well met", cottage.now)
    assert readers[1].beat()["talk"] == 1


def test_a_stream_ends_with_the_session_of_its_page_and_no_other(cottage: House, server: Any, listen: Listen) -> None:
    ailsa = cottage.people["Ailsa"]
    readers = [listen("/stream", ailsa) for _ in "ab"]
    for reader in readers:
        reader.beat()
    until(lambda: len(server.streams) == 2)
    first = min(server.streams._open, key=lambda stream: stream.born)
    sessions.end(first.promise.watch.session, cottage.now)
    assert readers[0].rest() == []
    cottage.move(cottage.started("Ailsa", "Bran"))
    while readers[1].beat()["rows"] != 1:
        pass


def test_a_stream_has_an_end(cottage: House, listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = listen("/stream", cottage.people["Ailsa"])
    reader.beat()
    monkeypatch.setattr(streams, "LIFE", 0)
    assert reader.rest() == []
    assert reader.answer.isclosed()


def test_a_quiet_stream_is_heard_now_and_then(cottage: House, listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "QUIET", 0)
    reader = listen("/stream", cottage.people["Ailsa"])
    reader.beat()
    assert [reader.line() for _ in range(4)] == ["", "event: still", "data:", ""], "an event, which a page can see"


def test_all_streams_end_with_the_server(cottage: House, server: Any, listen: Listen) -> None:
    reader = listen("/stream", cottage.people["Ailsa"])
    reader.beat()
    server.streams.stop()
    assert reader.rest() == []
    assert listen("/stream", cottage.people["Ailsa"]).answer.status == 204


def test_an_old_proxy_is_told_without_chunks(cottage: House, server: Any, listen: Listen) -> None:
    with socket.create_connection(("127.0.0.1", server.effective_port), timeout=5) as connection:
        head = "\r\n".join(f"{name}: {value}" for name, value in cookie(server, cottage.people["Ailsa"]).items())
        connection.sendall(f"GET /stream HTTP/1.0\r\n{head}\r\n\r\n".encode())
        heard = connection.makefile("rb")
        lines = list(iter(lambda: heard.readline().strip(), b""))
        assert b"Transfer-Encoding: chunked" not in lines
        assert heard.readline().startswith(b"retry: ")
        assert json.loads(heard.readline().removeprefix(b"data: "))["waiting"] == 0


def test_nobody_is_put_out_by_a_database_that_does_not_answer(
    cottage: House, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = listen("/stream", cottage.people["Ailsa"])
    reader.beat()
    with monkeypatch.context() as patched:

        def locked(_watches: object) -> None:
            raise db.Unavailable[0]("database is locked")

        patched.setattr(beats, "beats", locked)
        time.sleep(streams.EVERY * 3)
    match = cottage.started("Ailsa", "Bran")
    cottage.move(match)
    assert reader.beat()["rows"] == 1


def test_of_several_who_come_at_once_no_more_are_taken_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST", 0)
    ours, theirs = socket.socketpair()
    full = streams.Streams()
    full.adopt(ours, streams.Promise(beats.watch(None, None), "from nowhere", {}), chunked=False)
    assert (len(full), theirs.recv(1)) == (0, b"")
    theirs.close()


def test_after_a_fault_all_streams_end_and_new_ones_are_told_again(
    cottage: House, server: Any, listen: Listen, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    readers = [listen("/stream", user) for user in cottage.people.values()]
    for reader in readers:
        reader.beat()
    with monkeypatch.context() as patched:

        def spoilt(_watches: object) -> None:
            raise KeyError("waiting")

        patched.setattr(beats, "beats", spoilt)
        assert [reader.rest() for reader in readers] == [[]] * 4
        until(lambda: len(server.streams) == 0)
    assert "the streams broke off" in caplog.text
    again = listen("/stream", cottage.people["Ailsa"])
    again.beat()
    cottage.move(cottage.started("Ailsa", "Bran"))
    while again.beat()["rows"] != 1:
        pass


def test_a_server_that_cannot_hold_streams_says_that_there_are_none(
    cottage: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = Visitor(application(cottage, monkeypatch), cottage.people["Ailsa"])
    assert visitor.get("/stream").status_code == 204
    assert visitor.get("/pulse").get_json() == {"waiting": 0, "rows": 0}


def test_the_numbers_of_many_pages_are_asked_for_at_once(house: House) -> None:
    one, two = house.started("Ailsa", "Bran"), house.started("Ailsa", "Catrin")
    house.move(one)
    talk.speak(two, house.people["Ailsa"], "Well met", house.now)
    pages = [beats.watch(match, house.people[name]) for match in (None, one, two) for name in ("Ailsa", "Bran")]
    told = beats.beats([*pages, beats.watch(None, None), beats.Watch(99, None), beats.Watch(None, 1, "old key")])
    assert set(told) == {*pages, beats.watch(None, None)}
    awaited = sum(house.played(match).position.to_act == (0,) for match in (one, two))
    assert told[pages[0]] == {"waiting": awaited, "rows": 1}
    assert told[pages[2]] == {"waiting": awaited, "rows": 1, "seq": 1, "status": "running", "talk": 0}
    assert told[pages[5]]["talk"] > 0

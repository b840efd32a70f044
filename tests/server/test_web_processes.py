"""The web role in processes of its own: streams without a thread, silent clients, and an end that loses nothing."""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from house import House
from roles import CLACHAN, Site, filled, free_port, running, variables
from visitor import application

from server import log, talk
from server.web import bounds, leading, streams, workers

Open = Callable[..., Site]
# A server that gives a request two seconds, so that a test takes less.
HURRY = "from server import cli; from server.web import workers; workers.SLOWEST = 2; cli.main()"
HURRIED = (sys.executable, "-c", HURRY)


@pytest.fixture
def opened(cottage: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Start a web role, with these variables."""
    app = application(cottage, monkeypatch)
    with ExitStack() as stack:

        def begin(command: Sequence[str] = CLACHAN, **more: str) -> Site:
            port = free_port()
            environ = variables(cottage.settings.database, tmp_path, LISTEN=f"127.0.0.1:{port}", **more)
            role = stack.enter_context(running([*command, "web"], environ))
            role.listens(port)
            return stack.enter_context(closing(Site(role, port, app)))

        yield begin


def beat(answer: http.client.HTTPResponse) -> dict[str, Any]:
    """Return the next numbers of a stream."""
    while not (line := answer.readline().decode()).startswith("data: {"):
        assert line, "the stream has ended"
    return dict(json.loads(line.removeprefix("data: ")))


def test_streams_take_no_thread_of_a_process_and_end_with_it(cottage: House, opened: Open) -> None:
    match = cottage.started("Ailsa", "Bran")
    site = opened(WEB_THREADS="2")
    readers = [site.get(f"/matches/{match.id}/stream", user) for user in cottage.people.values() for _ in "ab"]
    assert {reader.headers["Content-Type"].partition(";")[0] for reader in readers} == {"text/event-stream"}
    assert [beat(reader)["seq"] for reader in readers] == [0] * 8
    assert site.get(f"/matches/{match.id}").status == 200
    cottage.move(match)
    assert [beat(reader)["seq"] for reader in readers] == [1] * 8
    talk.speak(match, cottage.people["Ailsa"], "Well met", cottage.now)
    assert [beat(reader)["talk"] for reader in readers] == [1] * 8
    assert site.role.ends() == 0
    for reader in readers:
        reader.read()
        assert reader.isclosed(), "its browser is told in good order, and asks for another"


def test_an_old_proxy_is_told_without_chunks_by_a_process_too(opened: Open) -> None:
    site = opened()
    with socket.create_connection(("127.0.0.1", site.port), timeout=5) as connection:
        connection.sendall(b"GET /stream HTTP/1.0\r\n\r\n")
        heard = connection.makefile("rb")
        head = list(iter(lambda: heard.readline().strip(), b""))
        assert b"Transfer-Encoding: chunked" not in head
        assert heard.readline().startswith(b"retry: ")


def test_who_says_nothing_keeps_nobody_waiting(opened: Open) -> None:
    site = opened(WEB_THREADS="2")
    silent = [site.connected() for _ in range(6)]
    began = time.monotonic()
    assert site.get("/healthz").read() == b'{"ok":true}\n'
    assert time.monotonic() - began < 3
    for one in silent:
        one.close()


def test_who_says_a_byte_now_and_then_keeps_a_thread_no_longer_than_a_request_may_take(opened: Open) -> None:
    """Here two seconds for all of a request, head or body, while no byte of it is late by itself."""
    site = opened(HURRIED, WEB_THREADS="2")
    stop = threading.Event()
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=20)) for _ in range(2)]
        slow[0].sendall(b"POST /sign-in HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n")
        slow[1].sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        talkers = [threading.Thread(target=dribble, args=[one, stop]) for one in slow]
        for talker in talkers:
            stack.callback(talker.join)
            talker.start()
        stack.callback(stop.set)
        time.sleep(0.5)
        began = time.monotonic()
        assert site.get("/healthz").read() == b'{"ok":true}\n'
        assert time.monotonic() - began < 10, "it had to wait until one of the threads was free"
        stop.set()
        for one in slow:
            with suppress(ConnectionError):
                while one.recv(1000):
                    pass
    # The next request on a connection has all of the time again.
    kept = site.connected()
    for pause in (0, 2.1):
        time.sleep(pause)
        kept.request("GET", "/healthz")
        assert kept.getresponse().read() == b'{"ok":true}\n'
    assert site.role.ends() == 0
    assert "outside the application" not in site.role.printed(), "that a client is slow is no fault"


def dribble(connection: socket.socket, stop: threading.Event) -> None:
    """Send a byte now and then until told to stop, or until the other side is gone."""
    with suppress(OSError):
        while not stop.wait(0.3):
            connection.sendall(b"a")


def test_as_many_as_there_are_threads_but_one_may_hold_them_up(opened: Open) -> None:
    site = opened(WEB_THREADS="4")
    with ExitStack() as stack:
        for _ in range(3):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=20))
            slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: here\r\nX: ")
        time.sleep(0.3)
        for _ in range(20):
            began = time.monotonic()
            assert site.get("/healthz").read() == b'{"ok":true}\n'
            assert time.monotonic() - began < 10
        # A thread that was held up takes its turn again when another is.
        slow.sendall(b"a\r\n\r\n")
        assert slow.recv(1000).startswith(b"HTTP/1.1 200 ")
        stack.enter_context(socket.create_connection(("127.0.0.1", site.port))).sendall(b"GET ")
        time.sleep(0.3)
        began = time.monotonic()
        assert site.get("/healthz").status == 200
        assert time.monotonic() - began < 10


def test_what_is_asked_for_at_once_is_answered_in_order(opened: Open) -> None:
    site = opened(WEB_THREADS="2")
    count = 1500
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        asked = b"".join(
            b"GET /%s HTTP/1.1\r\nHost: here\r\n\r\n" % (b"healthz" if n % 3 else b"static/none") for n in range(count)
        )
        sender = threading.Thread(target=connection.sendall, args=[asked])
        sender.start()
        heard = connection.makefile("rb")
        for n in range(count):
            answer = list(iter(lambda: heard.readline().strip(), b""))
            assert answer[0].split()[1] == (b"200" if n % 3 else b"404")
            lengths = [line for line in answer if line.lower().startswith(b"content-length:")]
            heard.read(int(lengths[0].partition(b":")[2]))
        sender.join()
    assert site.get("/healthz").status == 200


def test_who_has_lost_the_lead_leaves_the_loop_to_who_has_it(cottage: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(workers.listen("127.0.0.1", 0)) as listener, ExitStack() as stack:
        bound = listener.dup()
        stack.callback(os.close, bound.fileno())
        site = workers.Site(cottage.settings, bound)
        worker = workers.Worker(1, os.getpid(), [], site, 30, site.cfg, None)
        stack.callback(worker.tmp.close)
        worker.set_accept_enabled = lambda _enabled: None
        worker._accepting = True
        done: list[str] = []
        monkeypatch.setattr(worker, "murder_keepalived", lambda: done.append("looked after"))
        monkeypatch.setattr(worker, "murder_pending", lambda: None)
        assert worker._take_the_lead()

        def loses() -> None:
            worker._leader = 0

        worker._ready.extend([lambda: done.append("first"), loses, lambda: done.append("for the other")])
        worker._go_round()
        assert done == ["first"]
        assert len(worker._ready) == 1
        worker._leader = threading.get_ident()
        worker._go_round()
        assert done == ["first", "for the other", "looked after"]


def test_places_of_processes_that_are_no_more_are_given_again() -> None:
    shares = leading.Shares(2)
    first, second = shares.enter(), shares.enter()
    shares.tell(first, 3)
    assert not shares.has_more(first), "the other has not begun"
    shares.tell(second, 0)
    assert shares.has_more(first)
    assert not shares.has_more(second)
    shares.leave(second)
    assert not shares.has_more(first)
    assert shares.enter() == second


def test_a_process_that_dies_is_replaced(opened: Open) -> None:
    site = opened()
    parent = site.role.process.pid
    until(lambda: len(children(parent)) == 1)
    assert site.get("/healthz").status == 200
    opened_before = len(list(Path(f"/proc/{parent}/fd").iterdir()))
    for _ in range(3):
        (child,) = children(parent)
        os.kill(child, signal.SIGKILL)
        until(lambda child=child: children(parent) not in ([], [child]))
        assert site.get("/healthz").status == 200
    assert len(list(Path(f"/proc/{parent}/fd").iterdir())) == opened_before
    assert site.role.ends() == 0


def test_a_connection_is_left_for_a_moment_to_who_has_fewer_but_not_the_last(cottage: House) -> None:
    with closing(workers.listen("127.0.0.1", 0)) as listener, ExitStack() as stack:
        listener.listen()
        port = listener.getsockname()[1]
        settings = replace(cottage.settings, web_workers=2)
        bound = listener.dup()
        stack.callback(os.close, bound.fileno())
        site = workers.Site(settings, bound)
        one, other = (workers.Worker(n, os.getpid(), [], site, 30, site.cfg, None) for n in (1, 2))
        taken: list[Any] = []
        one.enqueue_req = taken.append
        one.nr_conns = 3
        site.shares.tell(other.place, 0)
        with socket.create_connection(("127.0.0.1", port)):
            one.accept(listener)
            assert not taken, "the other has fewer"
            one.alive = False
            one.accept(listener)
            assert len(taken) == 1
            taken.pop().sock.close()
        one.alive = True
        with socket.create_connection(("127.0.0.1", port)):
            for _ in range(leading.COURTESIES):
                one.accept(listener)
                assert not taken
            one.accept(listener)
            taken.pop().sock.close()
        for worker in (one, other):
            worker.tmp.close()


def until(true: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    for _ in range(100):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


def children(pid: int) -> list[int]:
    """Return the numbers of the processes that a process has begun."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_an_address_that_is_taken_is_said_in_a_sentence(opened: Open) -> None:
    site = opened()
    with pytest.raises(OSError, match="in use"):
        workers.listen("127.0.0.1", site.port)


def test_r21_a_web_that_is_told_to_stop_answers_all_that_it_was_asked(cottage: House, opened: Open) -> None:
    """Connections that were there before count, whether a thread had them, or none yet, or half of them had come."""
    match = cottage.begun("Ailsa", "Bran")
    site = opened(WEB_THREADS="2", WEB_WORKERS="2")
    played = cottage.played(match)
    seat = played.position.to_act[0]
    mover = log.places(match)[seat].user
    form, cookie = filled(site, match, mover)
    asked = [site.connected() for _ in range(30)]
    half = site.connected()
    half.putrequest("POST", f"/matches/{match.id}/moves")
    for name, value in {**cookie, "Content-Length": str(len(form))}.items():
        half.putheader(name, value)
    half.putheader("Content-Type", "application/x-www-form-urlencoded")
    half.endheaders(form[:10])
    for one in asked:
        one.request("GET", f"/matches/{match.id}")
    site.role.process.terminate()
    time.sleep(0.5)
    half.send(form[10:])
    answers = [one.getresponse() for one in (half, *asked)]
    assert [answer.status for answer in answers] == [302] + [200] * 30
    assert all(b"</html>" in answer.read() for answer in answers[1:])
    assert site.role.process.wait(20) == 0
    assert len(cottage.played(match).rows) > len(played.rows), "the move is in the log"
    with pytest.raises(ConnectionRefusedError):
        site.connected()


def test_half_a_request_holds_up_no_whole_one_when_a_process_is_to_stop(opened: Open) -> None:
    """Even if all of them came in one moment, and the halves first."""
    site = opened(WEB_THREADS="2")
    until(lambda: len(children(site.role.process.pid)) == 1)
    (child,) = children(site.role.process.pid)
    with ExitStack() as stack:
        them = [stack.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=20)) for _ in range(5)]
        time.sleep(0.5)
        os.kill(child, signal.SIGSTOP)
        for one in them:
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: here\r\n")
        for one in them[3:]:
            one.sendall(b"\r\n")
        os.kill(child, signal.SIGCONT)
        time.sleep(0.3)
        site.role.process.terminate()
        time.sleep(0.5)
        for one in them[:2]:
            one.sendall(b"\r\n")
        assert all(one.recv(100).startswith(b"HTTP/1.1 200 ") for one in (*them[:2], *them[3:]))
        them[2].sendall(b"\r\n")
        assert them[2].recv(100).startswith(b"HTTP/1.1 200 ")
    assert site.role.process.wait(20) == 0


def test_a_request_that_ends_its_thread_costs_no_more_than_its_connection(opened: Open) -> None:
    dying = """
from server import cli
from server.web import workers
answer = workers._answer
def dies(app, offered, environ, start):
    if environ["PATH_INFO"] == "/die":
        raise SystemExit(1)
    return answer(app, offered, environ, start)
workers._answer = dies
cli.main()
"""
    site = opened([sys.executable, "-c", dying], WEB_THREADS="2")
    for _ in range(4):
        with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
            connection.sendall(b"GET /die HTTP/1.1\r\nHost: here\r\n\r\n")
            assert connection.recv(100) == b""
    assert site.get("/healthz").status == 200
    assert site.role.ends() == 0
    assert "a request failed outside the application" in site.role.printed()


def test_no_request_of_a_stranger_is_told_in_the_log_of_the_server(opened: Open) -> None:
    site = opened()
    with socket.create_connection(("127.0.0.1", site.port), timeout=5) as connection:
        connection.sendall(b"GET /reset/very-secret HTTP/9.9 x\r\n\r\n")
        assert b"400" in connection.recv(1000)
    assert site.role.ends() == 0
    assert "very-secret" not in site.role.printed()
    assert "a request could not be read" in site.role.printed()


def test_a_process_without_room_for_another_file_goes_on(opened: Open) -> None:
    cramped = "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (48, 48)); from server import cli; cli.main()"
    site = opened([sys.executable, "-c", cramped])
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(socket.create_connection(("127.0.0.1", site.port)))
        time.sleep(1)
    assert site.get("/healthz").status == 200
    site.role.says("no connection can be taken")


def test_a_process_may_open_as_many_files_as_it_has_connections() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        bounds.allow_files()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= min(bounds.FILES, before[1])
        assert bounds.FILES > bounds.CONNECTIONS + streams.MOST
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

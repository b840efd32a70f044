"""The examples of proxies, run as they are but for names of machines and files, in front of two web roles."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from house import House
from roles import CLACHAN, ROOT, Role, Site, filled, free_port, running, variables
from services import trusting
from smtp_sink import CERTIFICATE_AND_KEY
from visitor import application

from server.models import Attempt

HOST = "play.example.org"
EXAMPLES = ROOT / "deploy" / "proxy"
NGINX = Path("/usr/sbin/nginx")
CADDY = Path("/usr/bin/caddy")
SECRET = "ahiddenword"


class Front(Site):
    """A site behind a proxy: who asks speaks TLS with that."""

    def connected(self) -> http.client.HTTPConnection:
        """Return a connection to the proxy that is established."""
        connection = http.client.HTTPConnection(HOST, timeout=20)
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        connection.sock = trusting().wrap_socket(raw, server_hostname=HOST)
        self._opened.append(connection)
        return connection


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Return a text with other words in it, all of which were there."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def example(name: str, machines: tuple[int, int], *pairs: tuple[str, str]) -> str:
    """Return an example that passes requests on to these ports, with other words in it besides."""
    moved = [(f"10.0.0.{11 + n}:8000", f"127.0.0.1:{machine}") for n, machine in enumerate(machines)]
    return replaced((EXAMPLES / name).read_text(), *moved, *pairs)


def nginx(folder: Path, port: int, machines: tuple[int, int]) -> list[str]:
    """Write down the example for nginx; return the command that serves it on a port."""
    text = example(
        "nginx.conf",
        machines,
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/ssl/clachan", str(folder)),
        ("/var/log/nginx", str(folder)),
    )
    kept = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = " ".join(f"{name}_temp_path {folder}/{name};" for name in kept)
    around = f"daemon off; user root; pid {folder}/pid; events {{}} http {{ {paths} include {folder}/example.conf; }}"
    (folder / "example.conf").write_text(text)
    (folder / "nginx.conf").write_text(around)
    return [str(NGINX), "-e", str(folder / "begin.log"), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, machines: tuple[int, int]) -> list[str]:
    """Write down the example for Caddy; return the command that serves it on a port."""
    given = f"https://{HOST}:{port} {{\n\ttls {folder}/fullchain.pem {folder}/key.pem"
    text = example(
        "Caddyfile",
        machines,
        ("\tgrace_period 10s", "\tgrace_period 1s\n\tadmin off\n\tauto_https disable_redirects"),
        (f"\n{HOST} {{", f"\n{given}"),
    )
    version = subprocess.run([CADDY, "version"], check=True, capture_output=True, text=True).stdout
    if [int(part) for part in re.findall(r"\d+", version)[:2]] < [2, 7]:
        text = replaced(text, ("request_buffers 1MiB", "buffer_requests\n\t\tmax_buffer_size 1MiB"))
    (folder / "Caddyfile").write_text(text)
    return [str(CADDY), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


@pytest.fixture(params=[pytest.param(nginx, marks=pytest.mark.nginx), pytest.param(caddy, marks=pytest.mark.caddy)])
def front(
    request: pytest.FixtureRequest, cottage: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Front, list[Role]]]:
    """Run two web roles, each with one thread to spare, and a proxy in front; yield the site and the roles."""
    write: Callable[[Path, int, tuple[int, int]], list[str]] = request.param
    cottage.settings = replace(cottage.settings, public_url=f"https://{HOST}")
    app = application(cottage, monkeypatch)
    folder = tmp_path / "proxy"
    folder.mkdir()
    for name in ("fullchain.pem", "key.pem"):
        (folder / name).write_text(CERTIFICATE_AND_KEY)
    with ExitStack() as stack:
        machines = free_port(), free_port()
        roles = []
        for machine in machines:
            told = {"LISTEN": f"127.0.0.1:{machine}", "PUBLIC_URL": f"https://{HOST}"}
            environ = variables(cottage.settings.database, tmp_path, TRUSTED_PROXIES="1", WEB_THREADS="2", **told)
            roles.append(stack.enter_context(running([*CLACHAN, "web"], environ)))
        for role, machine in zip(roles, machines, strict=True):
            role.listens(machine)
        # Not before: while the roles begin, another test may come to listen there.
        port = free_port()
        proxy = stack.enter_context(running(write(folder, port, machines), {"HOME": str(folder)}, folder))
        proxy.listens(port)
        site = stack.enter_context(closing(Front(proxy, port, app)))
        yield site, roles


def logged(folder: Path, proxy: Role) -> str:
    """Return all that a proxy has written down."""
    return proxy.printed() + "".join(path.read_text() for path in folder.glob("*.log"))


def sent(connection: http.client.HTTPConnection, size: int) -> int:
    """Send a form of a size; return the status of the answer, 413 also if the other side hangs up meanwhile."""
    connection.putrequest("POST", "/sign-in")
    connection.putheader("Content-Length", str(size))
    connection.endheaders()
    try:
        for _ in range(size // 65536):
            connection.send(b"x" * 65536)
        return connection.getresponse().status
    except OSError:
        return 413


def test_a_move_is_made_through_the_proxy_and_the_stream_tells_of_it_at_once(
    cottage: House, front: tuple[Front, list[Role]]
) -> None:
    site, _roles = front
    match = cottage.started("Ailsa", "Bran")
    mover = cottage.people["Ailsa" if cottage.played(match).position.to_act[0] == 0 else "Bran"]
    stream = site.get(f"/matches/{match.id}/stream", mover)
    assert stream.headers["Content-Type"].startswith("text/event-stream")
    lines = iter(lambda: stream.readline().decode(), "")
    told = (json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {"))
    assert next(told)["seq"] == 0
    form, headers = filled(site, match, mover)
    connection = site.connected()
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"https://{HOST}"}
    began = time.monotonic()
    connection.request("POST", f"/matches/{match.id}/moves", body=form, headers={**headers, **kind})
    answer = connection.getresponse()
    assert answer.status == 302
    assert answer.headers["Strict-Transport-Security"]
    # What else happens, such as a visit, may come before.
    assert any(numbers["seq"] == 1 for numbers in told)
    assert time.monotonic() - began < 5, "it was gathered on the way"


def test_a_client_cannot_say_from_where_he_comes(front: tuple[Front, list[Role]]) -> None:
    site, _roles = front
    connection = site.connected()
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http", "Forwarded": "for=203.0.113.9"}
    connection.request("GET", f"/feeds/{SECRET}/calendar.ics", headers=forged)
    assert connection.getresponse().status == 404
    assert [row.key for row in Attempt.select()] == ["feed from 127.0.0.1"]


def test_a_machine_that_ends_is_passed_over_and_no_log_holds_a_secret(
    front: tuple[Front, list[Role]], tmp_path: Path
) -> None:
    site, roles = front
    assert site.get("/healthz").read() == b'{"ok":true}\n'
    assert roles[0].ends() == 0
    for room in ("feeds/{}/calendar.ics", "invite/{}", "confirm/{}", "reset/{}", "unsubscribe/{}"):
        assert site.get(f"/{room.format(SECRET)}").status < 500, room
    assert roles[1].ends() == 0
    assert site.get(f"/invite/{SECRET}").status in {502, 503}
    assert SECRET not in logged(tmp_path / "proxy", site.role)


def test_slow_and_large_requests_stop_at_the_proxy(front: tuple[Front, list[Role]]) -> None:
    site, _roles = front
    slow = [site.connected() for _ in range(6)]
    for one in slow:
        one.putrequest("POST", "/sign-in")
        one.putheader("Content-Length", "1000")
        one.endheaders(b"a")
    began = time.monotonic()
    assert site.get("/healthz").read() == b'{"ok":true}\n'
    assert time.monotonic() - began < 5, "the slow ones have taken the threads"
    # Caddy says 413 since 2.7.
    assert sent(site.connected(), 3 * 1024 * 1024) in {413, 502}

"""Whatever is asked of the web application is answered calmly: no fault inside, every guard in place, no traceback."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

import flask
import forms
import pytest
from again import Again
from flask.testing import EnvironBuilder
from fuzzing import NASTY, Effort, chances, efforts
from house import House, house_settings
from itsdangerous import URLSafeTimedSerializer
from test_web_roles import FORMS
from visitor import Visitor, application
from werkzeug.routing import Rule
from werkzeug.wrappers import Request

from server import db, log
from server.models import Outbox, User
from server.web.guard import POLICY

RAW = "f" * 40
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get")
VALUES = {
    "match_id": ("1", "2", "3", "4", "99"),
    "seq": ("0", "1", "2", "99"),
    "seat": ("0", "1", "9"),
    "kind": ("clans", "glory", "none"),
    "who": ("1", "4", "5"),
    "name": ("Ailsa", "Bran", "nobody"),
    "code": ("cs", "de", "xx"),
}
USUAL = (
    *("", "1", "0", "yes", "on", "end", "clans", "glory", "2", "86400", "A1-A2", "R3 N1", "50,80", "22:00", "UTC"),
    *("2026-03-05", "Europe/Prague", "ailsa@example.org", "Ailsa", "daily", "bot", "steady", "en", "calendar"),
    *("https://example.org/hook", "/matches/1", "pause 2026-03-05T00:00:00Z", "wait 0", "application/json", "a" * 64),
)
LARGE = ("9" * 25, "9" * 5000, "-1", "1e9", "\u00b2", "\u0661", "x" * 3000, "0/" * 3000, "[" * 3000)
HEADERS = {
    "Accept": ("application/json", "text/html", "*/*", "image/png;q=0.1, text/event-stream", ";q=", "a/b;q=x"),
    "Accept-Encoding": ("gzip", "br, gzip;q=0", "identity", "*;q=0", "gzip;q=nan"),
    "Accept-Language": ("cs", "de-AT,en;q=0.5", "x-y-z;q=9", "*", "en-" * 50),
    "Authorization": ("Bearer x", "Basic eDp5", "Basic ===", "Digest"),
    "Content-Type": ("application/json", "multipart/form-data", "text/plain; charset=utf-7", "a", "/"),
    "Cookie": ("clachan=x.y.z", "clachan=", "clachan=eyJ9.aaa.bbb; clachan=2", "=;=;", 'a="\\'),
    "Host": ("localhost", "evil.example", "[::1", "a b", "localhost:99999", ""),
    "If-Modified-Since": ("Thu, 01 Jan 1970 00:00:00 GMT", "yesterday", "Thu, 99 Foo 99999 00:00:00 GMT"),
    "If-None-Match": ('"x"', "*", 'W/"', '"' * 99),
    "Origin": ("http://localhost", "null", "https://evil.example", "http://[", "//"),
    "Range": ("bytes=0-1", "bytes=-", "bytes=9-1,2-3", "x"),
    "Referer": ("http://localhost/", "http://[/", "x"),
    "Sec-Fetch-Site": ("same-origin", "cross-site", "x"),
    "X-Forwarded-For": ("192.0.2.1", "x", "::1, ::2"),
    "X-Forwarded-Host": ("evil.example",),
    "X-Request-ID": ("abcdefgh", "x"),
}


@dataclass(frozen=True)
class Asked:
    """A request: who asks, how, where, and with what."""

    who: str
    method: str
    path: str
    query: str
    headers: dict[str, str]
    fields: dict[str, str]
    body: bytes | None
    token: bool


def strange(chance: random.Random) -> str:
    """Return a text such as no field expects."""
    if chance.random() < 0.3:
        return chance.choice(LARGE)
    text = chance.choice(USUAL)
    for _ in range(chance.randint(1, 3)):
        place = chance.randint(0, len(text))
        text = text[:place] + chance.choice((chance.choice(NASTY), chr(chance.randrange(0xD000)), text)) + text[place:]
    return text


def some_fields(app: flask.Flask, endpoint: str, chance: random.Random) -> dict[str, str]:
    """Return fields for an endpoint: those it reads, as they should be or strange, and some of others."""
    known = forms.read_by(app, endpoint) or forms.FIELDS
    fields = dict(FORMS.get(endpoint, {})) if chance.random() < 0.7 else {}
    for name in chance.sample(known, min(len(known), chance.randint(0, 6))):
        fields[name] = strange(chance) if chance.random() < 0.5 else chance.choice(USUAL)
    if fields and chance.random() < 0.5:
        fields[chance.choice(sorted(fields))] = strange(chance)
    if chance.random() < 0.1:
        fields[chance.choice(forms.FIELDS)] = strange(chance)
    return fields


def address(rule: str, chance: random.Random) -> str:
    """Return an address of this pattern with good words in its gaps, or now and then strange ones."""

    def word(found: re.Match[str]) -> str:
        text = chance.choice(VALUES.get(found[1], ("x", "lake", "house.css")))
        if chance.random() < 0.1:
            text = strange(chance)
        return quote(text.encode("utf-8", "replace"), safe="/" if chance.random() < 0.3 else "")

    if chance.random() < 0.03:
        return "/" + quote(strange(chance).encode("utf-8", "replace"), safe="/%")
    return re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", word, rule)


def header(name: str, chance: random.Random) -> str:
    """Return a value of a header, as far as one can be sent at all."""
    text = chance.choice(HEADERS[name]) if chance.random() < 0.7 else strange(chance)
    return "".join(sign for sign in text if sign.isprintable() and ord(sign) < 256)


def request(app: flask.Flask, rules: Sequence[Rule], chance: random.Random) -> Asked:
    """Return a request for an address of the application, most of them such as it takes."""
    rule = chance.choice(rules)
    method = (
        chance.choice(METHODS) if chance.random() < 0.1 else chance.choice(sorted(rule.methods - {"OPTIONS", "HEAD"}))
    )
    queried = some_fields(app, rule.endpoint, chance) if method == "GET" or chance.random() < 0.1 else {}
    return Asked(
        chance.choice(("Ailsa", "Ailsa", "Bran", "stranger", "keeper", "visitor")),
        method,
        address(rule.rule, chance),
        urlencode(queried, errors="replace") if chance.random() < 0.95 else quote(strange(chance), errors="replace"),
        {name: header(name, chance) for name in chance.sample(sorted(HEADERS), chance.choice((0, 0, 0, 1, 4)))},
        some_fields(app, rule.endpoint, chance),
        chance.randbytes(80) if chance.random() < 0.05 else None,
        chance.random() < 0.95,
    )


class Faults(logging.Handler):
    """Keeps what is logged of faults."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line if it tells of a fault."""
        if record.levelno >= logging.ERROR or record.exc_info:
            fault = record.exc_info[1] if record.exc_info else None
            self.lines.append(f"{record.getMessage()} {fault!r}")


@pytest.fixture
def furnished(sqlite: str, tmp_path: Path) -> House:
    """A house with matches of all kinds: 1 runs, 2 waits for anybody, 3 is over, 4 waits for those invited."""
    with db.connected():
        house = House(house_settings(sqlite, tmp_path, METRICS_TOKEN="x" * 20))
        house.people["keeper"] = house.person("keeper", admin=True)
        until = house.now.replace(year=2027)
        house.people["visitor"] = house.person(
            "visitor", visitor_until=until, email=None, email_key=None, confirmed_at=None
        )
        house.begun("Ailsa", "Bran", game="glory")
        house.table("Ailsa", seats=3)
        house.finish(house.started("Bran", "Ailsa"))
        house.table("Bran", seats=2, invited_only=True)
    return house


def ask(app: flask.Flask, house: House, asked: Asked) -> Any:
    """Ask, and return the answer."""
    user = house.people.get(asked.who)
    client = Visitor(app, user and User.get_by_id(user.id)).client
    with client.session_transaction() as session:
        session["csrf_token"] = RAW
    fields = {name: text.encode("utf-8", "replace") for name, text in asked.fields.items()}
    if asked.token:
        fields["csrf_token"] = URLSafeTimedSerializer(app.secret_key, salt="wtf-csrf-token").dumps(RAW).encode()
    given = {"data": asked.body if asked.body is not None else fields} if asked.method != "GET" else {}
    builder = EnvironBuilder(app, method=asked.method, query_string=asked.query, headers=asked.headers, **given)
    environ = builder.get_environ()
    builder.close()
    # As it comes over the wire: the builder takes what begins with two slashes for another site.
    environ["PATH_INFO"] = unquote_to_bytes(asked.path).decode("latin-1")
    return client.open(Request(environ), buffered=True)


@efforts(60, 300)
def test_no_request_meets_a_fault(
    furnished: House, sqlite: str, monkeypatch: pytest.MonkeyPatch, effort: Effort
) -> None:
    app, faults = application(furnished, monkeypatch), Faults()
    logging.getLogger("server").addHandler(faults)
    again = Again(sqlite)

    def calm(asked: Asked) -> None:
        # Each begins in the same house, so that what has failed fails again.
        faults.lines.clear()
        with again.anew():
            answer = ask(app, furnished, asked)
            assert answer.status_code < 500 or (answer.status_code == 503 and asked.path == "/readyz"), faults.lines
            assert log.get(1).status in {"running", "finished"}
            assert Outbox.select().where(Outbox.address.contains("\n")).count() == 0
        # The log tells that the house is not ready, which is so.
        assert [line for line in faults.lines if "health.ready 503" not in line] == []
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] in {"same-origin", "strict-origin"}
        target = answer.headers.get("Location", "/")
        own = f"http://{asked.headers.get('Host', 'localhost')}/"
        assert re.match(r"/(?![/\\])", target) or target.startswith(own), target

    rules = sorted(app.url_map.iter_rules(), key=lambda rule: (rule.rule, sorted(rule.methods)))
    try:
        effort.of(calm, asked=chances.map(lambda chance: request(app, rules, chance)))
    finally:
        logging.getLogger("server").removeHandler(faults)

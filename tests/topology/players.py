"""People at browsers and mail programs, who ask again when nobody answers, and note what they were told."""

from __future__ import annotations

import http.client
import json
import random
import re
import secrets
import smtplib
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from email.utils import make_msgid
from html import unescape
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlencode

from machines import Network
from smtp_sink import Sink

PORT: Final = 8000
SITE: Final = "play.example.org"
PASSWORD: Final = "a long word nobody guesses"
# Seconds: to reach a web server, and to be answered by it.
REACHED, ANSWERED = 2.0, 15.0
_FACT: Final = r'\bdata-{}="([^"]*)"'
_VIEW: Final = re.compile(r'<script type="application/json" id="view">(.*?)</script>', re.S)
_TOKEN: Final = re.compile(r'name="csrf_token" value="([^"]+)"')
_EXAMPLE: Final = re.compile(r"with your move in the\s+first\s+line, for example:\s+(.+?)\r?\n")


class Unanswered(Exception):
    """A web server could not be reached, or did not answer."""


@dataclass
class Person:
    """Somebody who plays, with what his browser keeps."""

    name: str
    id: int
    source: str  # the network address that the proxy says he comes from
    cookie: str = ""
    token: str = ""

    @property
    def address(self) -> str:
        """His mail address."""
        return f"{self.name.lower()}@example.org"


@dataclass
class Told:
    """A move that somebody was told is made."""

    match: int
    seat: int
    row: int
    text: str
    person: int
    key: str
    tries: int
    asked_at: float
    told_at: float


@dataclass
class Diary:
    """What people saw, on their own clock (`time.monotonic`)."""

    told: list[Told] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    answers: list[float] = field(default_factory=list)
    sent: dict[str, int] = field(default_factory=dict)  # Message-IDs of answers that were taken, and their matches
    mail_faults: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def silence(self, since: float, until: float) -> float:
        """Return the longest time between two good answers to anybody, in seconds."""
        moments = [since, *sorted(at for at in self.answers if since <= at <= until), until]
        return max(after - before for before, after in pairwise(moments))

    def slowest(self, since: float, until: float) -> float:
        """Return how long it took at most from the first try of a move until its maker was told that it is made."""
        return max((one.told_at - one.asked_at for one in self.told if since <= one.told_at <= until), default=0.0)


class Proxy:
    """What stands before the web servers: it keeps to one, and goes on to the next when that does not answer."""

    def __init__(self, addresses: Sequence[str], diary: Diary) -> None:
        self.addresses, self.diary, self.place = tuple(addresses), diary, 0

    def ask(self, method: str, path: str, person: Person, form: dict[str, str] | None = None) -> tuple[int, str]:
        """Return status and body. Raises `Unanswered`; then the next try goes to the next server."""
        place = self.place
        connection = http.client.HTTPConnection(self.addresses[place], PORT, timeout=REACHED)
        try:
            connection.connect()
            connection.sock.settimeout(ANSWERED)
            connection.request(method, path, urlencode(form) if form else None, self._headers(person, form))
            response = connection.getresponse()
            body = response.read().decode()
        except (OSError, http.client.HTTPException) as fault:
            self._other(place, type(fault).__name__)
            raise Unanswered(type(fault).__name__) from fault
        finally:
            connection.close()
        cookie = response.headers.get("Set-Cookie", "")
        person.cookie = cookie.partition(";")[0] if cookie.startswith("clachan=") else person.cookie
        if response.status >= 500:
            self._other(place, str(response.status))
        else:
            self.diary.answers.append(time.monotonic())
        return response.status, body

    def _other(self, place: int, why: str) -> None:
        self.diary.faults[why] += 1
        if self.place == place:
            self.place = (place + 1) % len(self.addresses)

    def _headers(self, person: Person, form: dict[str, str] | None) -> dict[str, str]:
        headers = {"Host": SITE, "X-Forwarded-For": person.source, "X-Forwarded-Proto": "http"}
        headers |= {"Cookie": person.cookie} if person.cookie else {}
        if form:
            headers |= {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        return headers


class Players:
    """Everybody who plays, in threads on the machine `client`; `stop` ends them all."""

    def __init__(self, network: Network, webs: Sequence[str], sink: Sink, pause: tuple[float, float]) -> None:
        self.network, self.sink, self.pause = network, sink, pause
        self.diary = Diary()
        self.proxy = Proxy([network.address(name) for name in webs], self.diary)
        self.over = threading.Event()
        self.threads: list[threading.Thread] = []

    def begin(self, tables: dict[int, list[Person]], writers: dict[str, int]) -> None:
        """Let people play: by match those at browsers, and those who answer mails, by address with their match."""
        works = [(self._sit, (match, people)) for match, people in tables.items()]
        works.append((self._correspond, (writers,)))
        for work, given in works:
            thread = threading.Thread(target=self._run, args=(work, *given), daemon=True)
            self.threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Let everybody end what he is at."""
        self.over.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "somebody is still asking"

    def _run(self, work: Any, *given: Any) -> None:
        try:
            with self.network.inside("client"):
                work(*given)
        except Exception as fault:  # noqa: BLE001 - what ends a thread is told at the end
            self.diary.broken.append(repr(fault))

    def _sit(self, match: int, people: list[Person]) -> None:
        chance, place = random.Random(match), 0
        for person in people:
            self._sign_in(person)
        while not self.over.wait(chance.uniform(*self.pause)):
            for _ in people:
                person = people[place % len(people)]
                page = self._page(person, f"/matches/{match}")
                if not page or _fact(page, "status") == "finished":
                    return
                if _fact(page, "turn") == "yes":
                    self._move(person, match, page, chance)
                place += 1

    def _sign_in(self, person: Person) -> None:
        while not self.over.is_set():
            try:
                _status, page = self.proxy.ask("GET", "/signin", person)
                form = {"name": person.name, "password": PASSWORD, "csrf_token": _TOKEN.findall(page)[-1]}
                status, said = self.proxy.ask("POST", "/signin", person, form)
            except (Unanswered, IndexError):
                self.over.wait(0.5)
                continue
            if status < 400:
                return
            if status < 500:
                raise AssertionError(f"{person.name} cannot sign in: {status} {said[:200]}")
            self.over.wait(0.5)

    def _page(self, person: Person, path: str) -> str:
        """Return a page, asked for until it comes; nothing when all is over."""
        while not self.over.is_set():
            try:
                status, page = self.proxy.ask("GET", path, person)
            except Unanswered:
                status, page = 599, ""
            if status == 200:
                person.token = _TOKEN.findall(page)[-1]
                return page
            if status < 500:
                raise AssertionError(f"{path} for {person.name}: {status}")
            self.over.wait(0.5)
        return ""

    def _move(self, person: Person, match: int, page: str, chance: random.Random) -> None:
        found = _VIEW.search(page)
        assert found is not None
        text = chance.choice(json.loads(found[1])["moves"])
        key, asked_at = secrets.token_hex(12), time.monotonic()
        form = {"move": text, "expected": _fact(page, "expected"), "key": key, "csrf_token": person.token}
        # Whoever has begun to send a move asks until he knows, so that nothing is left open at the end.
        for tries in range(1, 200):
            try:
                status, said = self.proxy.ask("POST", f"/matches/{match}/moves", person, form)
            except Unanswered:
                status, said = 599, ""
            if status == 200:
                answer = json.loads(said)
                seat = int(_fact(page, "seat"))
                told = Told(match, seat, answer["seq"], answer["text"], person.id, key, tries, asked_at, 0.0)
                told.told_at = time.monotonic()
                self.diary.told.append(told)
                return
            if status < 500:
                self.diary.refused.append(f"match {match}, try {tries} of {text}: {status} {said[:200]}")
                return
            time.sleep(0.5)
        raise AssertionError(f"match {match}: a move was never answered")

    def _correspond(self, writers: dict[str, int]) -> None:
        answered: set[str] = set()
        read = 0
        while not self.over.wait(0.1):
            for mail in self.sink.mails[read:]:
                read += 1
                to = mail.recipients[0].lower()
                parsed = message_from_bytes(mail.raw, policy=policy.default)
                answer = _answer(parsed, to) if to in writers and parsed["Message-ID"] not in answered else None
                if answer is not None:
                    answered.add(parsed["Message-ID"])
                    self._send(answer, writers[to])

    def _send(self, answer: EmailMessage, match: int) -> None:
        """Hand an answer in, as mail servers do: again and again, until it is taken."""
        while True:
            try:
                with smtplib.SMTP(self.network.address("mailin"), 25, timeout=ANSWERED) as server:
                    server.send_message(answer)
            except (OSError, smtplib.SMTPException) as fault:
                self.diary.mail_faults[type(fault).__name__] += 1
                if self.over.is_set():
                    return
                time.sleep(1)
                continue
            self.diary.sent[answer["Message-ID"]] = match
            return


def _answer(mail: Any, sender: str) -> EmailMessage | None:
    """Return the answer to a mail that asks for a move: the move that it gives as an example."""
    plain = mail.get_body(("plain",))
    words = str(plain.get_content()) if isinstance(plain, MIMEPart) else ""
    example = _EXAMPLE.search(words)
    if example is None or not mail["Reply-To"] or mail["Auto-Submitted"] == "auto-replied":
        return None
    answer = EmailMessage()
    answer["From"], answer["To"], answer["Subject"] = sender, str(mail["Reply-To"]), f"Re: {mail['Subject']}"
    answer["In-Reply-To"], answer["Message-ID"] = mail["Message-ID"], make_msgid(domain="example.org")
    answer.set_content(f"{example[1].strip()}\n\n" + "".join(f"> {line}\n" for line in words.splitlines()[:20]))
    return answer


def _fact(page: str, name: str) -> str:
    found = re.search(_FACT.format(name), page)
    return unescape(found[1]) if found else ""

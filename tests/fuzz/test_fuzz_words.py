"""Whatever is typed, set, or stands in an address is read as what it is, or refused in the documented way."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from fuzzing import Effort, chances, efforts, mutated, signs, spoilt, texts, told
from house import START, House
from hypothesis import strategies as some

from engine.games import games
from server import (
    accounts,
    archive,
    db,
    feeds,
    keeping,
    links,
    people,
    preferences,
    ratings,
    sessions,
    settings,
    wording,
)
from server.channels import DeliveryError
from server.channels.webhook import address
from server.errors import Refused
from server.http import days
from server.preferences import Wishes
from server.web import guard
from server.web.account import Person

digits = some.from_regex(r"[0-9]{1,30}", fullmatch=True) | some.sampled_from(("1" * 5000, "\u00b2", "\u0664", "1e9"))
words = texts | digits | some.text(signs, max_size=30).map(lambda text: text * 300)
many = some.sampled_from((1, 1, 1, 1, 400))

SETTINGS = {
    "BACKUPS_KEPT": ("14",),
    "DATABASE": ("postgresql://user:pa%20ss@host:5432/name", "sqlite:///var/clachan.db"),
    "DEVELOPMENT": ("0", "1"),
    "LISTEN": ("127.0.0.1:8000", "[::1]:80"),
    "MAIL_FROM": ("clachan@example.org",),
    "MAIL_IN": ("smtp://127.0.0.1:8025 imaps://user:pass%40word@host/INBOX", "lmtp://[::1]:24", "pipe", "off"),
    "METRICS_TOKEN": ("abcdefghijklmnopqrstuvwxyz",),
    "PUBLIC_URL": ("https://play.example.org/path",),
    "SECRET_KEY": ("only for the tests, and long enough",),
    "SMTP_URL": ("smtp://user:password@mail.example.org:587",),
    "TICK_SECONDS": ("5",),
    "WEB_THREADS": ("8",),
}


@efforts(150, 30)
def test_any_environment_is_settings_or_one_sentence(tmp_path: Path, effort: Effort) -> None:
    pairs = some.sampled_from(sorted(SETTINGS)).flatmap(
        lambda name: some.tuples(some.just(name), mutated(SETTINGS[name], 2) | words)
    )

    def load(given: list[tuple[str, str]], times: int) -> None:
        usual = {"CLACHAN_SECRET_KEY": "k" * 40, "CLACHAN_DATA": str(tmp_path)}
        named = {f"CLACHAN_{name}": value * times for name, value in given if "\0" not in value}
        try:
            settings.load({**usual, **named})
        except settings.WrongSetting as fault:
            told(fault, "CLACHAN_")

    effort.of(load, given=some.lists(pairs, max_size=3), times=many)


@efforts(80, 30)
def test_what_is_taken_of_a_form_is_sound_and_all_else_is_refused(effort: Effort) -> None:
    names = mutated(("Ailsa", "Jean-Luc d'Été 2", "Ольга", "Δέλτα", "山田", "\u0130stanbul \ufb01"))
    emails = mutated(("ailsa@example.org", "a.b+c@sub.example.org", "ü@bücher.example"))

    def clean(name: str, email: str, word: str, times: int) -> None:
        with suppress(Refused):
            shown = accounts.clean_name(name * times)
            assert accounts.clean_name(shown) == shown
            assert shown.isprintable()
            assert not set(shown) & set('<>&"@,;:()[]\\/*\r\n')
            assert len(accounts.name_key(shown)) <= accounts.LONGEST_KEY
        with suppress(Refused):
            taken = accounts.clean_email(email * times)
            assert taken.isprintable()
            assert not set(taken) & set('<>,;:"()[]\\ \r\n')
        for reader in (accounts.clean_zone, accounts.clean_language, guard.number, days.day):
            with suppress(Refused):
                assert reader(word * times) is not None
        with suppress(ValueError):
            wording.day(word)

    effort.of(clean, name=names | words, email=emails | words, word=words | mutated(("2026-11-30", "UTC")), times=many)


@efforts(120, 20)
def test_whatever_somebody_wishes_is_stored_or_refused(cottage: House, effort: Effort) -> None:
    db.database.execute_sql("PRAGMA synchronous = off")
    ailsa = cottage.people["Ailsa"]
    near = mutated(("50, 80%", "22:00-07:00", "23:15-06:45"))

    def settle(zone: str, reminders: str, nights: str, hour: int) -> None:
        with suppress(Refused):
            preferences.settle(ailsa, Wishes(zone, reminders=reminders, nights=nights, digest_hour=hour), START)

    zones = some.sampled_from(("UTC", "Europe/Prague")) | words
    effort.of(
        settle, zone=zones, reminders=near | words, nights=near | words, hour=some.integers(-1, 24) | some.integers()
    )


# Each is given a text of a stranger, and raises `Refused` or finds something or nothing.
READERS: dict[str, Callable[[str, House], Any]] = {
    "archive": lambda text, _house: archive.find(after=text),
    "archive by words": lambda text, _house: archive.find(player=text, opponent=text[::-1], game=text, reason=text),
    "result": lambda text, _house: archive.find(result=text),
    "ladder": lambda text, _house: ratings.ladder("clans", START, after=text),
    "people": lambda text, _house: people.find(text),
    "hash": lambda text, _house: archive.read_hash(text),
    "keepers' matches": lambda text, _house: keeping.matches(text, text, 0),
    "keepers' people": lambda text, _house: keeping.people(text[:254], 0),  # as the page cuts it
    "feed": lambda text, _house: feeds.reader("calendar", text, source="192.0.2.1", now=START),
    "link": lambda text, _house: links.find("reset", text, START),
    "kind": lambda text, _house: games().get(text),
}


@pytest.mark.parametrize("name", READERS)
@efforts(60, 10)
def test_any_mark_name_or_token_of_an_address_finds_something_or_nothing(
    cottage: House, name: str, effort: Effort
) -> None:
    db.database.execute_sql("PRAGMA synchronous = off")
    near = mutated(("1772442000000-17", "1032.4", "Ailsa", f"{'0a' * 32}", "won", "clans"))

    def read(text: str, times: int) -> None:
        # What a form or an address is decoded to holds halves of pairs never.
        text = (text * times).encode("utf-8", "replace").decode()
        with suppress(Refused):
            READERS[name](text, cottage)

    effort.of(read, text=near | words, times=many)


@efforts(120, 20)
def test_no_target_leads_to_another_site(effort: Effort) -> None:
    near = mutated(("//evil.example/x", "/\\evil.example", "http:/evil", "/matches/1?move=A1-A2#x", "/\t/evil", "/%2f"))

    def target(text: str) -> None:
        found = guard.safe_target(text)
        # Browsers leave out tabs and line ends, and take a backslash for a slash.
        read = "".join(sign for sign in found if sign not in "\t\r\n").replace("\\", "/")
        assert urlsplit(urljoin("https://house.example/a/b", read)).netloc == "house.example"
        assert read.startswith("/")
        assert not read.startswith("//")

    effort.of(target, text=near | words)


@efforts(120, 20)
def test_no_address_of_a_program_leads_into_our_own_network(effort: Effort) -> None:
    hosts = ("10.0.0.1", "[::ffff:10.0.0.1]", "127.1", "0x7f.1", "169.254.169.254", "[fe80::1%25eth0]", "localhost")
    near = mutated([f"https://{host}:8443/hook?x=1" for host in (*hosts, "program.example.org")])

    def target(text: str) -> None:
        try:
            found = address.target(text, loopback=False)
        except DeliveryError as fault:
            told(fault)
            return
        assert found.secure
        assert found.host != "localhost"
        assert found.authority.isascii()
        assert found.authority.isprintable()
        assert found.path.isprintable()
        with suppress(ValueError):
            assert ipaddress.ip_address(found.host).is_global

    effort.of(target, text=near | words)


@efforts(100, 20)
def test_any_bytes_of_a_cookie_are_nobodys(cottage: House, effort: Effort) -> None:
    real = Person(cottage.people["Ailsa"]).get_id()

    def read(chance: random.Random, text: str) -> None:
        changed = spoilt(real.encode(), chance, 2).decode("utf-8", "replace") if chance.random() < 0.7 else text
        owner = sessions.owner(changed.encode("utf-8", "replace").decode())
        # What tells one session of a person from another is held to be ours by the signature of the cookie.
        assert owner is None or changed.split(".")[:2] == real.split(".")[:2]

    effort.of(read, chance=chances, text=words)

"""The states of the site that are worth looking at, made in an empty database in stages, each with its scenes.

Everything in them is the same at each run: the people, the deals, what is random, and the clock, which stands at `NOW`.
"""

from __future__ import annotations

import json
import random
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest import mock

from playwright.sync_api import Page

from engine import games
from server import archive, db, deadlines, lobby, log, play, seating, talk, vacations, visitors, votes
from server.models import LogRow, Match, User

ROOT: Final = Path(__file__).parent.parent
RECORDS: Final = ROOT / "tests" / "records"
NOW: Final = datetime(2026, 3, 10, 17, 30, tzinfo=UTC)
STEP: Final = timedelta(minutes=40)
DAY: Final = 86400
# Names of the most letters that there may be, and of the widest.
LONG: Final = ("W" * 30, "Žluťoučký Kůň Úpěl Ďábelské Ód", "M" * 30, "Maximiliane von Wolkenkuckuck.")
# Moves of three players from the deal of the record clans-02, after which 22 huts stand in one territory.
CROWD: Final = (
    "K3-K2 L4-K5 J5-K2 J2-K2 B3-B5 D2-D3 D5-D3 K2-K1 C2-C5 J4-J1 K1-K4 L2-G5 G4-G2 L5-L3 H5-I4 G2-G1 C5-G1 K4-K5 I5-K5 "
    "D4-D3 I4-I1 A2-A5 D3-H1 H4-H1 H3-H1 I3-I1 A1-A3 H2-H1 A3-A5 I1-I2 I2-F5 G3-G1 A4-A5 B2-B5 F3-F1 B1-E1 E5-E4 F4-F2 "
    "D1-A5 A5-E1 B5-F1 E3-E2 E2-E1 C4-F2 C1-B4 L3-L1 G5-L1 J1-J3 B4-F2 G1-F2 F5-F2 F1-F2"
)


@dataclass(frozen=True, slots=True)
class Scene:
    """A page to look at: its name, its path, who looks at it ("" a stranger) and what he does there before."""

    name: str
    path: str
    who: str = ""
    act: Callable[[Page], None] | None = None
    translated: bool = False


@dataclass(slots=True)
class World:
    """People, by name, and what they play."""

    people: dict[str, User] = field(default_factory=dict)

    def person(self, name: str) -> User:
        """Return the person of that name, who has come in just now if he is new."""
        if name not in self.people:
            key, number = name.casefold(), len(self.people)
            with db.transaction():
                self.people[name] = User.create(
                    name=name,
                    name_key=key,
                    email=f"player{number}@example.org",
                    email_key=f"player{number}@example.org",
                    confirmed_at=NOW,
                    session_key=secrets.token_hex(16),
                    created_at=NOW - timedelta(days=90),
                    zone="Europe/Prague",
                )
        return self.people[name]

    def table(self, names: list[str], game: str, at: datetime, seats: int = 0, **terms: Any) -> Match:
        """Return a table of these people, a match if all its seats are taken; seats go by order of joining."""
        given = {"clock": {"move": 3 * DAY}, "options": {}, "seating": "join", **terms}
        match = lobby.open_table(self.person(names[0]), lobby.Terms(game, seats or len(names), **given), at)
        for name in names[1:]:
            lobby.join(match.id, self.person(name), now=at)
        return log.get(match.id)

    def match(
        self, record: str, names: list[str] | None = None, upto: int | None = None, texts: list[str] | None = None
    ) -> Match:
        """Return a match played as a record says, by its people or others, its last move shortly before `NOW`."""
        found = json.loads((RECORDS / f"{record}.json").read_text(encoding="utf-8"))
        moves = texts or [row["text"] for row in found["log"]][:upto]
        at = NOW - STEP * (len(moves) + 1)
        rules = type(games.game(found["game"]))
        with mock.patch.object(rules, "deal", return_value=found["setup"]):
            match = self.table(names or found["players"], found["game"], at, options=found["options"])
        for text in moves:
            at += STEP
            self.move(match, text, at)
        return log.get(match.id)

    def move(self, match: Match, text: str, at: datetime) -> None:
        """Make a move for whoever is awaited."""
        played = log.read(log.get(match.id))
        seat = played.position.to_act[0]
        by = log.places(match)[seat].user
        play.submit(match.id, seat, text, played.position.asked[seat] or 0, by, "web", now=at)


@contextmanager
def same() -> Iterator[random.Random]:
    """Have all that is random be drawn from the yielded stream, and the clock of the house stand still."""
    chance = random.Random()  # noqa: S311 - repeatable on purpose
    stand_ins = {
        "token_bytes": lambda size=32: chance.randbytes(size),
        "token_hex": lambda size=32: chance.randbytes(size).hex(),
        "token_urlsafe": lambda size=32: chance.randbytes(size).hex(),
        "randbelow": chance.randrange,
    }
    with ExitStack() as stack:
        for name, stand_in in stand_ins.items():
            stack.enter_context(mock.patch.object(secrets, name, stand_in))
        stack.enter_context(mock.patch("server.clock.now", return_value=NOW))
        yield chance


def awaited(match: Match) -> str:
    """Return the name of whoever is to move."""
    return str(log.places(match)[log.read(match).position.to_act[0]].user.name)


def stages(world: World, chance: random.Random) -> Iterator[list[Scene]]:
    """Bring the world on from stage to stage, and yield the scenes that are to be looked at in each."""
    for number, stage in enumerate((_nothing, _tables, _clans, _glory, _ends, _faults, _pages)):
        chance.seed(number)
        yield list(stage(world))


def _nothing(world: World) -> Iterator[Scene]:
    world.person("Eilidh")
    yield Scene("front page", "/", translated=True)
    yield Scene("home of somebody new", "/", "Eilidh", translated=True)
    yield Scene("no tables", "/tables", "Eilidh")
    yield Scene("empty archive", "/archive")
    yield Scene("empty ladder", "/ladder")
    yield Scene("offline", "/offline/en")


def _tables(world: World) -> Iterator[Scene]:
    table = world.table(["Bran", "Catrin"], "clans", NOW, seats=4)
    talk.say(table.id, world.person("Bran"), "Who plays? Two seats are free.", expected=0, via="web", now=NOW)
    yield Scene("table that waits, host", f"/matches/{table.id}", "Bran")
    yield Scene("table that waits, stranger", f"/matches/{table.id}")
    long = world.table(list(LONG[:3]), "glory", NOW, seats=4)
    yield Scene("table with long names", f"/matches/{long.id}", LONG[0])
    yield Scene("tables", "/tables", "Eilidh")
    yield Scene("new table", "/tables/new", "Bran", translated=True)


def _clans(world: World) -> Iterator[Scene]:
    begun = world.match("clans-01", upto=6)
    mover = awaited(begun)
    text = log.read(begun).view(log.read(begun).position.to_act[0]).moves[0]
    here = f"/matches/{begun.id}"
    yield Scene("Clans, own turn", here, mover, translated=True)
    yield Scene("Clans, move looked at", f"{here}?move={text}", mover)
    yield Scene("Clans, wrong move", f"{here}?move=A1-L5", mover)
    yield Scene("Clans, waiting for the other", here, "Bran" if mover == "Ailsa" else "Ailsa")
    yield Scene("Clans, what if", f"{here}/whatif", mover)
    four = world.match("clans-14", list(LONG), upto=24)
    yield Scene("Clans, four long names", f"/matches/{four.id}", awaited(four))
    crowd = world.match("clans-02", texts=CROWD.split())
    yield Scene("Clans, twenty-two huts in one territory", f"/matches/{crowd.id}", awaited(crowd))
    paused = world.match("clans-07", upto=10)
    for name in ("Ailsa", "Bran"):
        votes.vote(paused.id, world.person(name), votes.pause_topic(NOW + timedelta(days=4)), "web", now=NOW)
    yield Scene("Clans, paused", f"/matches/{paused.id}", "Ailsa")
    late = world.table(["Catrin", "Dugald", "Bran"], "clans", NOW - timedelta(days=5), clock={"move": 2 * DAY})
    deadlines.run(lambda: NOW)
    yield Scene("Clans, out of time", f"/matches/{late.id}", "Bran")
    _, tried = visitors.try_game("clans", by=world.person("Eilidh"), key="", source="", now=NOW, guided=True)
    yield Scene("Clans, guided first match", f"/matches/{tried.id}", "Eilidh", translated=True)


def _glory(world: World) -> Iterator[Scene]:
    full = world.match("glory-01", upto=3)
    yield Scene("Glory, full hand, four players", f"/matches/{full.id}", awaited(full), translated=True)
    half = world.match("glory-04", list(LONG), upto=15)
    yield Scene("Glory, four long names", f"/matches/{half.id}", awaited(half))
    hidden = world.match("glory-face-down", upto=9)
    yield Scene("Glory, card face down", f"/matches/{hidden.id}", "Ailsa")
    yield Scene("Glory, watched by a stranger", f"/matches/{hidden.id}")
    vacations.announce(world.person("Dugald"), NOW, NOW + timedelta(days=5), "web", now=NOW)
    yield Scene("home with turns", "/", "Ailsa", translated=True)
    yield Scene("home on vacation", "/", "Dugald")
    yield Scene("home with long names", "/", LONG[0])


def _ends(world: World) -> Iterator[Scene]:
    for name, record in (
        ("twelve villages", "clans-end-twelfth-village"),
        ("no move left", "clans-end-no-move-left"),
        ("four players, last card laid", "glory-end-four-players"),
        ("tie", "glory-tie"),
    ):
        match = world.match(record)
        yield Scene(f"end, {name}", f"/matches/{match.id}", "Ailsa", translated=name in {"twelve villages", "tie"})
    last = world.match("clans-16", upto=20)
    for name in ("Bran", "Catrin"):
        seating.resign(last.id, world.person(name), "web", now=NOW)
    yield Scene("end, resignation", f"/matches/{last.id}", "Ailsa")
    yield Scene("replay, a step", f"/matches/{match.id}/replay/7")
    long = world.match("glory-07", list(LONG))
    yield Scene("end, four long names", f"/matches/{long.id}", LONG[0])


def _faults(world: World) -> Iterator[Scene]:
    yield Scene("no such page", "/nowhere", translated=True)
    yield Scene("no such match", "/matches/9999", "Ailsa")
    yield Scene("spent link", "/confirm/spent")
    yield Scene("refused form", "/signup", act=_sign_up_badly, translated=True)
    yield Scene("wrong password", "/signin", act=_sign_in_badly)
    match = world.match("clans-10", upto=4)
    text = log.read(match).view(log.read(match).position.to_act[0]).moves[0]
    yield Scene("stale move", f"/matches/{match.id}?move={text}", awaited(match), act=_confirm_late)
    frozen = world.match("clans-13", upto=5)
    row = {"seq": 6, "seat": 0, "kind": "move", "text": "A1-A1", "at": NOW, "via": "web", "hash": bytes(32)}
    with db.transaction():
        LogRow.insert(match=frozen, **row).execute()
    yield Scene("frozen match", f"/matches/{frozen.id}", "Ailsa")


def _pages(_world: World) -> Iterator[Scene]:
    archive.add((RECORDS / "clans-05.json").read_bytes(), NOW)
    yield Scene("archive", "/archive", "Ailsa")
    yield Scene("archive, nothing found", "/archive?player=Nobody")
    yield Scene("ladder", "/ladder")
    yield Scene("person", "/people/Ailsa", "Bran")
    yield Scene("rules", "/rules")
    yield Scene("rules of Clans", "/rules/clans", translated=True)
    yield Scene("rules of Clans and Glory", "/rules/glory")
    yield Scene("settings", "/settings", "Ailsa", translated=True)
    yield Scene("sign up", "/signup")
    yield Scene("password forgotten", "/forgot")


def _sign_up_badly(page: Page) -> None:
    page.locator('main [name="name"]').fill("Ailsa")
    page.locator('main [name="email"]').fill("ailsa@example.org")
    page.locator('main [name="password"]').fill("long enough")
    _send(page)


def _sign_in_badly(page: Page) -> None:
    page.locator('main [name="name"]').fill("Nobody")
    page.locator('main [name="password"]').fill("wrong password")
    _send(page)


def _confirm_late(page: Page) -> None:
    page.locator("#confirm [name=expected]").evaluate("field => field.value = '0'")
    _send(page, "#confirm")


def _send(page: Page, form: str = "main form") -> None:
    # Past the scripts and the browser's own checks, as somebody's program would.
    with page.expect_navigation():
        page.locator(form).first.evaluate("form => HTMLFormElement.prototype.submit.call(form)")

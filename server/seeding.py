"""Starter data of a newcomer's machine: demo people and matches, played through the same services as everything."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

from engine import bots
from engine.bots import mind
from server import accounts, clock, db, lobby, log, play
from server.models import Match, Outbox, Talk, User
from server.settings import Settings

FILE: Final = Path(__file__).parent.parent / "seeds" / "demo.json"
STEP: Final = timedelta(hours=3)


def hint(settings: Settings) -> str:
    """Return how to sign in as a demo person, if this is a newcomer's machine."""
    if not settings.development:
        return ""
    demo = _demo()
    names = ", ".join(person["name"] for person in demo["people"])
    mail = f"; mail lands in {settings.public_url}/mailbox" if settings.mailbox else ""
    return f"\nSign in as {names} with the password {demo['password']}{mail}"


def fill() -> bool:
    """Make the demo people and matches unless there are people already; return whether it did."""
    if User.select().exists():
        return False
    with db.transaction():
        _fill(_demo(), clock.now())
    return True


def _fill(demo: dict[str, Any], now: datetime) -> None:
    people = {person["name"]: _person(person, demo["password"], now) for person in demo["people"]}
    for number, plan in enumerate(demo["tables"]):
        match = _table(plan, people, now)
        for said in demo["talk"]:
            if said["table"] == number:
                Talk.create(match=match, user=people[said["by"]], text=said["text"], at=now)
    # Of the many mails of a history that never was, only those about the present turn are worth sending.
    running = Outbox.select(Outbox.id).join(Match).where(Match.status == "running")
    present = running.where((Outbox.kind == "turn") & (Outbox.asked == Match.asked))
    past = Outbox.id.not_in(present)
    Outbox.update(state="dropped", done_at=now, note="before the demo began").where(past).execute()


def _demo() -> dict[str, Any]:
    demo: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return demo


def _person(person: dict[str, str], password: str, now: datetime) -> User:
    accounts.sign_up(
        person["name"], person["email"], password, zone=person["zone"], language="en", source="seeds", now=now
    )
    User.update(confirmed_at=now).where(User.name == person["name"]).execute()
    return accounts.by_name(person["name"])


def _table(plan: dict[str, Any], people: dict[str, User], now: datetime) -> Match:
    """Open, join and play one table: so many moves, then on until the person is awaited whom the plan names."""
    chance = Random(f"demo {plan['host']}").random  # noqa: S311 - repeatable on purpose
    moves = 400 if plan["moves"] == "all" else int(plan["moves"])
    at = now - STEP * (60 if plan["moves"] == "all" else moves + 4)
    terms = lobby.Terms(plan["game"], plan["seats"], {"move": plan["pace"]}, {}, "join")
    match = lobby.open_table(people[plan["host"]], terms, at)
    for strength in plan.get("bots", ()):
        lobby.fill(match.id, people[plan["host"]], strength, at, 1)
    for guest in plan["guests"]:
        lobby.join(match.id, people[guest], now=at)
    while (match := log.get(match.id)).status == "running":
        played = log.read(match)
        seat = played.position.to_act[0]
        if played.position.seq >= moves and _sits(match, seat, plan.get("awaits")):
            break
        at = min(at + STEP, now)
        by = log.places(match)[seat].user
        text = bots.choose("easy", played.game, mind.sight(played.game, played.position, played.rows, seat), chance)
        play.submit(match.id, seat, text, played.position.asked[seat] or 0, by, "bot" if by.bot else "web", now=at)
    return match


def _sits(match: Match, seat: int, name: str | None) -> bool:
    """Whether the person of that name sits there; anybody will do if none is named."""
    return name is None or log.places(match)[seat].user.name == name

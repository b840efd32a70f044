"""A simulated year of many matches: people of every kind in five zones, a scheduler that is down at times.

Time jumps from one instant at which something happens to the next. The scheduler ticks on whole minutes; a tick at
which nothing can be due is left out, but its beat is noted.
"""

from __future__ import annotations

import heapq
import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from typing import Any, NamedTuple

import pytest
from house import House

from server import ahead, columns, db, deadlines, outages, play, preferences, proposals, seating, vacations, votes
from server.errors import Refused
from server.log import Played
from server.models import EPOCH, Job, Outbox, Seat, User
from server.preferences import Wishes

HOUR, DAY = 3600, 86400
TICK = timedelta(minutes=1)
BEGIN = datetime(2026, 2, 2, 6, tzinfo=UTC)
YEAR = timedelta(days=365)
ZONES = ("Europe/Prague", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia")
KINDS = ("keen", "keen", "lazy", "lazy", "late", "absent")
RULES: tuple[dict[str, Any], ...] = (
    {"move": 3 * HOUR},
    {"move": 12 * HOUR, "nights": True},
    {"move": DAY, "weekend": True, "nights": True},
    {"move": DAY, "missing": "at-once"},
    {"move": 2 * DAY, "vacations": False, "takeback": False},
    {"move": 2 * DAY, "weekend": True, "missing": "vote"},
    {"move": DAY, "missing": "vote", "nights": True},
    {"move": 3 * DAY, "missing": "loss"},
    {"move": 5 * HOUR, "daily": "18:00 Europe/Prague"},
    {"move": 20 * HOUR, "daily": "02:30 America/New_York", "weekend": True},
    {"bank": 9 * DAY},
    {"bank": 2 * DAY, "increment": 8 * HOUR, "cap": 4 * DAY, "weekend": True},
    {"move": 8 * HOUR, "bank": 3 * DAY, "increment": HOUR, "cap": 3 * DAY, "nights": True},
    {"move": 6 * HOUR, "bank": DAY, "daily": "01:45 Australia/Lord_Howe", "missing": "at-once"},
    {"move": DAY, "misses": 1},
    {},
)


class Glimpse(NamedTuple):
    """What somebody saw of a match at an instant: the deadline shown, and what the first awaited seat had used."""

    at: datetime
    match: int
    length: int
    deadline: datetime | None
    seat: int
    used: timedelta


@dataclass
class Year:
    """The people, the matches and the scheduler of a year. `down` are the times in which it did not run."""

    house: House
    chance: random.Random
    matches: int
    people: list[User] = field(default_factory=list)
    kinds: dict[int, str] = field(default_factory=dict)
    down: list[tuple[datetime, datetime]] = field(default_factory=list)
    glimpses: list[Glimpse] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    known: dict[int, Played] = field(default_factory=dict)
    sitting: dict[int, list[User]] = field(default_factory=dict)
    planned: dict[tuple[int, int], int] = field(default_factory=dict)
    coming: list[tuple[datetime, int, Callable[[], None]]] = field(default_factory=list)
    order: Iterator[int] = field(default_factory=count)

    @property
    def now(self) -> datetime:
        """The instant it is."""
        return self.house.now

    def plan(self, at: datetime, act: Callable[[], None]) -> None:
        """Let something happen at an instant, to the millisecond."""
        at = max(at.replace(microsecond=at.microsecond // 1000 * 1000), self.now)
        heapq.heappush(self.coming, (at, next(self.order), act))

    def within(self, hours: float) -> timedelta:
        """Return a random length of time up to so many hours, whole milliseconds."""
        return timedelta(milliseconds=self.chance.randrange(round(hours * HOUR * 1000)))

    def settle_in(self) -> None:
        """Bring the people in, and plan what is known beforehand."""
        self.house.now = BEGIN
        for number in range(40):
            zone = ZONES[number % len(ZONES)]
            nights = self.chance.choice(("", "22:00-07:00", "23:30-06:15", "01:00-09:00"))
            person = self.house.person(
                f"Person {number}",
                zone=zone,
                nights=nights,
                reminders=self.chance.choice(("80", "80", "50,90", "")),
                forced=number % 3 == 0,
            )
            self.people.append(person)
            self.kinds[person.id] = KINDS[number // len(ZONES) % len(KINDS)]
            for _ in range(self.chance.randrange(1, 4)):
                self.plan(BEGIN + self.within(24 * 360), lambda person=person: self.go_away(person))
            if number % 4 == 0:
                self.plan(BEGIN + self.within(24 * 360), lambda person=person: self.move_house(person))
        for _ in range(self.matches):
            self.plan(BEGIN + self.within(24 * 330), self.begin)
        self.plan_outages()

    def plan_outages(self) -> None:
        """Choose when the scheduler is down: from a quarter of an hour to nine days."""
        at = BEGIN + timedelta(days=8)
        for hours in (0.3, 5, 30, 0.25, 96, 2, 12, 216, 1, 50, 8, 3):
            at += timedelta(days=18) + self.within(24 * 9)
            start = BEGIN + (at - BEGIN) // TICK * TICK
            self.down.append((start, start + timedelta(hours=hours)))

    def begin(self) -> None:
        """Begin a match of some people under some rule."""
        names = self.chance.sample(self.people, self.chance.choice((2, 2, 3, 4)))
        self.house.people |= {person.name: person for person in names}
        game = self.chance.choice(("clans", "glory", "glory", "glory"))
        clock = self.chance.choice(RULES)
        self.house.started(*(person.name for person in names), game=game, clock=clock)
        self.done["match"] += 1

    def go_away(self, person: User) -> None:
        """Announce a vacation, and perhaps come back early."""
        start = self.now + self.within(24 * 20)
        with self.asked("vacation"):
            vacations.announce(person, start, start + timedelta(days=1) + self.within(24 * 16), "web", now=self.now)
            if self.chance.random() < 0.3:
                self.plan(start + self.within(24 * 10), lambda: self.come_home(person))

    def come_home(self, person: User) -> None:
        """End a vacation."""
        with self.asked("early return"):
            vacations.end(person, "web", now=self.now)

    def move_house(self, person: User) -> None:
        """Go to live in another zone."""
        person = User.get_by_id(person.id)
        wishes = Wishes(
            self.chance.choice(ZONES), nights=person.nights, reminders=person.reminders, forced=person.forced
        )
        with self.asked("new zone"):
            preferences.settle(person, wishes, self.now)

    @contextmanager
    def asked(self, what: str) -> Iterator[None]:
        """Count what is done, or refused."""
        try:
            yield
            self.done[what] += 1
        except Refused:
            self.done[f"{what} refused"] += 1

    def stored(self, played: Played) -> None:
        """Note how a match stands now, and plan what the people in it will do."""
        match = played.match.id
        self.known[match] = played
        if played.outcome:
            self.known.pop(match)
            return
        places = Seat.select(Seat.number, Seat.user).where(Seat.match == match).order_by(Seat.number)
        self.sitting[match] = [seat.user for seat in places]
        for seat in played.position.to_act:
            person, asked = self.sitting[match][seat], played.position.asked[seat] or 0
            if not person.bot and self.planned.get((match, seat)) != (key := (asked, person.id)):
                self.planned[match, seat] = key
                self.consider(match, seat, person, asked)
        last = played.rows[-1] if played.rows else played.setup_row
        if last.kind == "timeout" or (last.kind in {"takeover", "offer"} and last.via == "clock"):
            self.plan(self.now + self.within(96), lambda: self.deal_with(match, last.seat or 0))

    def consider(self, match: int, seat: int, person: User, asked: int) -> None:
        """Plan when a person acts on being asked, if at all."""
        kind = self.kinds[person.id]
        until = self.known[match].clocks.deadline(seat)
        time = until - self.now if until else timedelta(days=4)
        share = {"keen": 0.1, "lazy": 0.9, "late": 2.0, "absent": 5.0}[kind]
        if kind == "absent" and self.chance.random() < 0.7:
            return
        self.plan(self.now + time * self.chance.random() * share, lambda: self.act(match, seat, person, asked))

    def act(self, match: int, seat: int, person: User, asked: int) -> None:
        """Let a person who was asked do something: mostly move."""
        played = self.known.get(match)
        if played is None or seat not in played.position.to_act or played.position.asked[seat] != asked:
            return
        if self.sitting[match][seat] != person:
            return
        if self.chance.random() < 0.06:
            self.meddle(match, seat, person, played)
            self.plan(self.now + self.within(3), lambda: self.act(match, seat, person, asked))
            return
        state, game = played.position.state, played.game
        moves = list(islice(state.legal_moves(seat), 12))
        text = game.format(state, seat, self.chance.choice(moves))
        with self.asked("move"):
            play.submit(match, seat, text, asked, person, "web", now=self.now)
        if self.chance.random() < 0.05:
            self.plan(self.now + self.within(1), lambda: self.take_back(match, person))
        if self.chance.random() < 0.05:
            with self.asked("move made ready"):
                ahead.prepare(match, person, text, now=self.now)

    def take_back(self, match: int, person: User) -> None:
        """Take the last move back if that goes."""
        with self.asked("take-back"):
            play.take_back(match, person, "web", now=self.now)

    def meddle(self, match: int, seat: int, person: User, played: Played) -> None:
        """Do something else than moving: propose, agree, ask, give up."""
        proposed = proposals.standing(played.rows, self.now)
        what = self.chance.random()
        if proposed and what < 0.8:
            topic = proposed[0].topic
        elif played.clocks.paused(self.now):
            topic = "resume"
        elif what < 0.5:
            topic = votes.pause_topic(self.now + timedelta(days=1) + self.within(24 * 9))
        elif what < 0.53:
            topic = "end"
        else:
            with self.asked("nudge"):
                play.nudge(match, self.chance.choice(self.sitting[match]), "web", now=self.now)
            if what > 0.95:
                with self.asked("resignation"):
                    seating.resign(match, person, "web", now=self.now)
            return
        for other in self.sitting[match] if self.chance.random() < 0.7 else [person]:
            if not other.bot:
                with self.asked(f"vote {topic.split()[0]}"):
                    votes.vote(match, other, topic, "web", now=self.now)

    def deal_with(self, match: int, seat: int) -> None:
        """Do what people do about somebody who was out of time: decide, come back, offer the seat, take it."""
        played = self.known.get(match)
        if played is None:
            return
        others = [user for number, user in enumerate(self.sitting[match]) if number != seat and not user.bot]
        if columns.undecided(played, seat):
            topic = self.chance.choice((f"wait {seat}", f"replace {seat}"))
            for other in others:
                with self.asked(f"vote {topic.split()[0]}"):
                    votes.vote(match, other, topic, "web", now=self.now)
            return
        owner = Seat.get((Seat.match == match) & (Seat.number == seat)).owner
        if self.chance.random() < 0.5:
            with self.asked("coming back"):
                seating.come_back(match, owner, "web", now=self.now)
            return
        if others:
            with self.asked("offer"):
                seating.offer(match, seat, others[0], "web", now=self.now)
        if self.chance.random() < 0.6:
            with self.asked("seat taken over"):
                seating.take(match, seat, self.chance.choice(self.people), "web", now=self.now)

    def glance(self) -> None:
        """Look at some matches as pages do, and remember what was shown."""
        for match in self.chance.sample(sorted(self.known), min(3, len(self.known))):
            played = self.house.played(self.known[match].match)
            assert played.match.deadline == columns.deadline(played) == columns.deadline(self.known[match])
            seat = played.position.to_act[0]
            used = played.clocks.used(seat, self.now)
            self.glimpses.append(Glimpse(self.now, match, played.position.seq, played.match.deadline, seat, used))

    def reminds(self, user: int) -> bool:
        """Whether the person wants reminders at all."""
        return any(person.id == user and person.reminders for person in self.people)

    def runs(self, at: datetime) -> bool:
        """Whether the scheduler runs at the instant."""
        return not any(start <= at < end for start, end in self.down)

    def first_tick(self, at: datetime) -> datetime:
        """Return the first tick on or after the instant at which the scheduler runs."""
        tick = BEGIN - (BEGIN - at) // TICK * TICK
        for start, end in self.down:
            if start <= tick < end:
                tick = BEGIN - (BEGIN - end) // TICK * TICK
        return tick

    def due(self) -> datetime | None:
        """Return when the scheduler next has something to do."""
        soon, remind, bot = db.database.execute_sql(
            "SELECT min(deadline), min(CASE WHEN reminder_at < deadline THEN reminder_at END), max(bot_acts)"
            " FROM match WHERE status = 'running'"
        ).fetchone()
        found = [EPOCH + timedelta(milliseconds=each) for each in (soon, remind) if each is not None]
        if bot:
            found.append(self.now)
        return min(found, default=None)

    def tick(self, at: datetime, last: datetime) -> datetime:
        """Let the scheduler tick; `last` is the last time it did, and what was left out since then is made up for."""
        before = at - TICK
        if not self.runs(before) and before > last:
            before = next(start for start, end in self.down if start <= before < end) - TICK
        with db.transaction():
            Job.update(began_at=max(before, last)).where(Job.name == outages.BEAT).execute()
        self.house.now = at
        outages.beat(at)
        outages.give_back(at)
        deadlines.run(lambda: at)
        deadlines.remind(at)
        self.house.bots()
        self.done["tick"] += 1
        return at

    def run(self) -> None:
        """Let time pass until all matches with a limit are over."""
        last = self.tick(BEGIN, BEGIN)
        glance = BEGIN
        for turn in count():
            due = self.due()
            tick = self.first_tick(max(due, last + timedelta(microseconds=1))) if due else None
            if self.coming and (tick is None or self.coming[0][0] < tick):
                at, _, act = heapq.heappop(self.coming)
                self.house.now = at
                dark = next((end for start, end in self.down[::2] if start <= at < end), None)
                if dark:
                    # Not even a page is to be had.
                    self.plan(dark + self.within(2), act)
                elif at < BEGIN + 2 * YEAR:
                    act()
            elif tick is None:
                break
            else:
                last = self.tick(tick, last)
            if self.now - glance > timedelta(hours=3):
                glance = self.now
                self.glance()
            if turn % 500 == 0:
                self.carry_mail()

    def carry_mail(self) -> None:
        """Let the mails that are due have left."""
        with db.transaction():
            mine = Outbox.done_at.is_null() & (Outbox.due_at <= self.now)
            Outbox.update(state="sent", done_at=self.now).where(mine).execute()


def lived(house: House, monkeypatch: pytest.MonkeyPatch, matches: int, seed: int) -> Year:
    """Return a year that has passed."""
    year = Year(house, random.Random(seed), matches)
    # Deals and bots, too, are the same again.
    monkeypatch.setattr(secrets, "token_bytes", lambda length=32: year.chance.randbytes(length or 32))
    store = columns.store

    def storing(played: Played, now: datetime) -> None:
        store(played, now)
        year.stored(played)

    monkeypatch.setattr(columns, "store", storing)
    year.settle_in()
    year.run()
    monkeypatch.setattr(columns, "store", store)
    return year

"""Fills an empty database with plenty: matches that have ended and that run, their logs, seats, mails, talk, ratings.

Run from the root of the project: `python -m bench.plenty URL --finished N --running N`, and with `--report` alone for
what a row of the log takes on disk. Rows go in as they are stored, made by two processes; the services are not asked,
but what they would say of each match is the same: `clachan match verify` passes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any, Final

from bench.patterns import FEW, MANY, Copy, Pattern, copy, patterns
from engine.bots.analysis import VERSION
from server import clock, companions, db, parts, ratings
from server.models import (
    EPOCH,
    MILLISECOND,
    Inbound,
    LogRow,
    Match,
    Outbox,
    Pace,
    Part,
    Rating,
    ReplyToken,
    Seat,
    Talk,
    User,
    Watermark,
)
from server.ratings import NEWCOMER, Skill

SEED: Final = 1951
PROCESSES: Final = 2
LARGE: Final = 10_000
"""So many matches are worth many patterns."""
CHUNK: Final = 400
"""So many matches are made and stored at once."""
YEARS: Final = timedelta(days=3 * 365)
"""Over which the ends are spread."""
LATELY: Final = timedelta(hours=50)
"""In which the running matches had their last row; less than until a reminder is due."""
NAMES: Final = ("Ailsa", "Bran", "Catrin", "Dugald", "Eilidh", "Fergus", "Greer", "Hamish")
FREQUENT: Final = 0.1
"""The share of the matches that have ended in which the first person sat."""
UNSEEN: Final = 0.03
"""The share of the seats whose person has not looked at the end."""

Tables = dict[type[Any], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be there: numbers of finished and running matches and of people, whose first has the number `first`;
    `bot` is the number of the bot that plays on in seats."""

    finished: int
    running: int
    people: int
    first: int
    bot: int
    now: datetime
    ended: list[Pattern]
    going_on: list[Pattern]


@dataclass(slots=True)
class Chunk:
    """Some matches: the rows of each table, and who did what in those that ended, in order."""

    tables: Tables = field(default_factory=lambda: defaultdict(list))
    played: list[tuple[int, int, int, bool, list[int]]] = field(default_factory=list)


_plan: Plan


def fill(url: str, finished: int, running: int, people: int, now: datetime | None = None, processes: int = 0) -> int:
    """Fill an empty database; return how many rows of logs it has then. Raises `ValueError` if it is not empty.

    With `processes` so many make rows meanwhile. `now` is when the last of the matches has ended.
    """
    global _plan
    db.use(url)
    db.migrate()
    now = (now or clock.now()).replace(microsecond=0)
    with db.connected():
        if User.select().exists():
            raise ValueError("the database is not empty")
        with db.transaction():
            bot = companions.stand_in(now)
            _insert({User: [raw(User, **_person(n), created_at=now - YEARS) for n in range(people)]})
            first = User.select(User.id).where(User.name_key == _person(0)["name_key"]).scalar()
    db.part()
    _plan = Plan(
        finished, running, people, first, bot.id, now, *patterns(SEED, MANY if finished + running >= LARGE else FEW)
    )
    tallies, count = Tallies(_plan), 0
    # The processes are made while nothing is connected.
    with _made(processes) as chunks, db.connected(), _filling():
        for chunk in chunks:
            with db.transaction():
                _insert(chunk.tables)
                _insert({Part: tallies.parts(chunk)})
            count += len(chunk.tables[LogRow])
        with db.transaction():
            tallies.store()
            db.count_on("match", "id")
    return count


@contextmanager
def _made(processes: int) -> Iterator[Iterable[Chunk]]:
    """Have the chunks made, in the order of the matches."""
    total = _plan.finished + _plan.running
    spans = [(first, min(first + CHUNK, total + 1)) for first in range(1, total + 1, CHUNK)]
    if not processes:
        yield map(_chunk, spans)
        return
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield pool.imap(_chunk, spans)


def _chunk(span: tuple[int, int]) -> Chunk:
    """Return matches by their numbers, from the first to before the second."""
    chunk = Chunk()
    for number in range(*span):
        chance = Random(SEED + number)  # noqa: S311
        if number <= _plan.finished:
            _finished(chunk, number, chance)
        else:
            _running(chunk, number, chance)
    return chunk


def _finished(chunk: Chunk, number: int, chance: Random) -> None:
    which = chance.randrange(len(_plan.ended))
    pattern = _plan.ended[which]
    people = _seated(chance, pattern.seats, frequent=chance.random() < FREQUENT)
    end = _plan.now - timedelta(hours=1) - YEARS * (_plan.finished - number) / _plan.finished
    made = copy(pattern, number, people, (end - pattern.length - EPOCH) // MILLISECOND)
    rated = number % 4 != 0
    chunk.played.append((number, which, made.rows[-1][5], rated, people))
    _store(chunk, made, number, people, chance, rated=rated, counted=True, judged=VERSION)
    for seat, person in enumerate(people):
        if not pattern.by_bots[seat]:
            _mail(chunk, "end", f"end {number} {person}", made, number, person)


def _running(chunk: Chunk, number: int, chance: Random) -> None:
    pattern = chance.choice(_plan.going_on)
    people = _seated(chance, pattern.seats)
    last = _plan.now - LATELY * chance.random()
    made = copy(pattern, number, people, (last - pattern.length - EPOCH) // MILLISECOND)
    _store(chunk, made, number, people, chance, rated=number % 4 != 0)
    for seat, asked in pattern.awaited:
        person = people[seat]
        if not pattern.by_bots[seat]:
            key = f"turn {number} {seat} {asked} {person}"
            _mail(chunk, "turn", key, made, number, person, seat=seat, asked=asked)
            token = {"hash": sha256(key.encode()).digest(), "seat": seat, "asked": asked, "created_at": last}
            chunk.tables[ReplyToken].append(raw(ReplyToken, user=person, match=number, **token))


def _seated(chance: Random, seats: int, *, frequent: bool = False) -> list[int]:
    people = chance.sample(range(_plan.first + 1, _plan.first + _plan.people), seats)
    return [_plan.first, *people[1:]] if frequent else people


def _store(chunk: Chunk, made: Copy, number: int, people: Sequence[int], chance: Random, **fields: Any) -> None:
    """Add a match, its log, its seats, some talk and some mail that came in."""
    pattern = made.pattern
    head, columns = pattern.head, pattern.columns
    moments = ("started_at", "finished_at", "deadline", "reminder_at")
    cached = columns | {name: made.moved(columns[name]) for name in moments}
    cached["last_hash"] = made.rows[-1][-1]
    asked = {name: head[name] for name in ("game", "rules", "options", "seats", "clock")}
    terms = {"seating": "join", "autostart": True, "invited_only": False, "host": people[0]}
    secret = {"secret": bytes.fromhex(head["seed"]), "created_at": cached["started_at"]}
    chunk.tables[Match].append(raw(Match, id=number, **asked, **terms, **secret, **cached, **fields))
    chunk.tables[LogRow].extend(made.rows)
    for seat, person in enumerate(people):
        chunk.tables[Seat].append(_seat(made, number, seat, person, chance.random() >= UNSEEN))
    if number % 2:
        said = {"text": "Well met, and may the best village win.", "at": cached["started_at"]}
        chunk.tables[Talk].append(raw(Talk, match=number, user=people[0], **said))
    if number % 10 == 0:
        came = {"received_at": cached["started_at"], "done_at": cached["started_at"], "state": "old"}
        about = {"via": "smtp", "verdict": "moved", "user": people[0], "match": number}
        chunk.tables[Inbound].append(raw(Inbound, **came, **about))


def _seat(made: Copy, number: int, seat: int, person: int, seen: bool) -> tuple[Any, ...]:
    pattern, last = made.pattern, made.moved(made.pattern.columns["finished_at"])
    score, won = pattern.results[seat]
    fields = {
        "match": number,
        "number": seat,
        "user": _plan.bot if pattern.by_bots[seat] else person,
        "owner": person,
        "contribution": pattern.contributions[seat],
        "joined_at": EPOCH + made.began * MILLISECOND,
        "seen": pattern.columns["length"] - (not seen),
        "visited_at": last,
        "ended_at": last if seen else None,
        "score": score,
        "won": won,
    }
    return raw(Seat, **fields)


def _mail(chunk: Chunk, kind: str, key: str, made: Copy, number: int, person: int, **about: int) -> None:
    at = EPOCH + made.rows[-1][5] * MILLISECOND
    sent = {"created_at": at, "due_at": at, "done_at": at, "state": "sent", "attempts": 1, "facts": {}}
    whose = {"user": person, "address": _person(person - _plan.first)["email"], "match": number}
    message_id = sha256(key.encode()).hexdigest()[:20]
    chunk.tables[Outbox].append(raw(Outbox, key=key, kind=kind, message_id=message_id, **sent, **whose, **about))


def _person(number: int) -> dict[str, Any]:
    """Return the fields of a person, the first of whom is Ailsa."""
    name = NAMES[number % len(NAMES)] + (f" {number}" if number >= len(NAMES) else "")
    email = f"{name.casefold().replace(' ', '.')}@example.org"
    key = sha256(email.encode()).hexdigest()[:32]
    told = {"email": email, "email_key": email, "confirmed_at": EPOCH, "session_key": key}
    return {"name": name, "name_key": name.casefold(), **told}


class Tallies:
    """What is counted from the matches that ended, as `parts` and `ratings` would, match by match."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.skills: dict[tuple[int, str], Skill] = {}
        self.matches: Counter[tuple[int, str]] = Counter()
        self.last: dict[tuple[int, str], int] = {}
        self.paces: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        self.mark: tuple[int, int] | None = None

    def parts(self, chunk: Chunk) -> list[tuple[Any, ...]]:
        """Return the rows of `part` for what people did in a chunk."""
        return [row for match in chunk.played for row in self._match(*match)]

    def _match(self, number: int, which: int, end: int, rated: bool, people: list[int]) -> Iterator[tuple[Any, ...]]:
        pattern, at = self.plan.ended[which], EPOCH + end * MILLISECOND
        game, winners = pattern.head["game"], sum(won for _, won in pattern.results)
        counting = [deeds for deeds, _ in pattern.deeds if rated and deeds.rank]
        after = self._rate(game, end, [(people[each.seat], each.rank or 0) for each in counting])
        if after:
            self.mark = (end, number)
        for deeds, lengths in pattern.deeds:
            person = people[deeds.seat]
            won = bool(deeds.rank) and deeds.stayed and pattern.results[deeds.seat][1]
            skill = after.get(person)
            yield raw(
                Part,
                match=number,
                user=person,
                game=game,
                finished_at=at,
                seat=deeds.seat,
                rank=deeds.rank,
                won=won,
                shared=won and winners > 1,
                moves=len(deeds.thought),
                timeouts=deeds.timeouts,
                lost=deeds.lost,
                resigned=deeds.resigned,
                pending=False,
                **({"mu": skill.mu, "sigma": skill.sigma, "shown": skill.shown} if skill else {}),
            )
            if lengths:
                self.paces[person, parts.month(at)].update(lengths)

    def _rate(self, game: str, end: int, ranks: list[tuple[int, int]]) -> dict[int, Skill]:
        if len(ranks) < 2:
            return {}
        keys = [(person, game) for person, _ in ranks]
        after = ratings.rated([self.skills.get(key, NEWCOMER) for key in keys], [rank for _, rank in ranks])
        for key, skill in zip(keys, after, strict=True):
            self.skills[key] = skill
            self.matches[key] += 1
            self.last[key] = end
        return {person: skill for (person, _), skill in zip(ranks, after, strict=True)}

    def store(self) -> None:
        """Store how fast people were and how good they are now."""
        paces = [
            raw(Pace, user=user, month=month, counts={str(length): lengths[length] for length in sorted(lengths)})
            for (user, month), lengths in self.paces.items()
        ]
        standing = [
            raw(
                Rating,
                user=user,
                game=game,
                mu=skill.mu,
                sigma=skill.sigma,
                shown=skill.shown,
                matches=self.matches[user, game],
                last_at=EPOCH + self.last[user, game] * MILLISECOND,
            )
            for (user, game), skill in self.skills.items()
        ]
        _insert({Pace: paces, Rating: standing})
        if self.mark:
            end, number = self.mark
            mark = {"finished_at": EPOCH + end * MILLISECOND, "match_id": number}
            Watermark.update(**mark).where(Watermark.name == parts.MARK).execute()


@cache
def _fields(model: type[Any]) -> tuple[list[Any], list[Any]]:
    """Return the fields of a table, without a number that the database gives, and what is stored in each by default."""
    fields = [each for each in model._meta.sorted_fields if each.name != "id" or model is Match]
    return fields, [each.db_value(each.default) for each in fields]


def raw(model: type[Any], **values: Any) -> tuple[Any, ...]:
    """Return a row of a table as it is stored."""
    fields, defaults = _fields(model)
    return tuple(
        _stored(each, values[each.name]) if each.name in values else default
        for each, default in zip(fields, defaults, strict=True)
    )


def _stored(one: Any, value: Any) -> Any:
    # What peewee makes of bytes cannot be sent to another process.
    return value if isinstance(value, bytes) else one.db_value(value)


def _insert(tables: Tables) -> None:
    """Insert rows as the database takes them fastest, in the caller's transaction; first those that others need."""
    for model in sorted(tables, key=lambda model: model not in {User, Match}):
        names = ", ".join(f'"{each.column_name}"' for each in _fields(model)[0])
        table, connection = model._meta.table_name, db.database.connection()
        if db.on_sqlite():
            marks = ", ".join("?" * len(_fields(model)[0]))
            connection.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tables[model])  # noqa: S608
            continue
        with connection.cursor().copy(f'COPY "{table}" ({names}) FROM STDIN') as into:
            for row in tables[model]:
                into.write_row(row)


@contextmanager
def _filling() -> Iterator[None]:
    """Let rows be put in without what guards them one by one; all guards are there again when the block ends."""
    db.begin_filling()
    guard = "log_has_no_gaps"
    if db.on_sqlite():
        asked = "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?"
        (made,) = db.database.execute_sql(asked, (guard,)).fetchone()
        for statement in (f"DROP TRIGGER {guard}", "PRAGMA synchronous = off", "PRAGMA foreign_keys = 0"):
            db.database.execute_sql(statement)
        after: tuple[str, ...] = (made, "PRAGMA synchronous = full", "PRAGMA foreign_keys = 1")
    else:
        db.database.execute_sql(f"ALTER TABLE log DISABLE TRIGGER {guard}")
        after = (f"ALTER TABLE log ENABLE TRIGGER {guard}", "VACUUM ANALYZE")
    yield
    for statement in after:
        db.database.execute_sql(statement)
    db.end_filling()


def report(url: str) -> str:
    """Return in a line how many rows the logs have and how many bytes each takes on disk, with hash and indexes."""
    count, each = bytes_a_row(url)
    return f"{count:,} rows of logs take {each:.1f} bytes each, with hash and indexes."


def bytes_a_row(url: str) -> tuple[int, float]:
    """Return how many rows the logs have, and how many bytes each takes on disk, with hash and indexes."""
    db.use(url)
    with db.connected():
        if db.on_sqlite():
            named = "SELECT name FROM sqlite_master WHERE tbl_name = 'log'"
            asked = f"SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN ({named})"  # noqa: S608
        else:
            asked = "SELECT pg_total_relation_size('log')"
        (size,) = db.database.execute_sql(asked).fetchone()
        count = LogRow.select().count()
    return count, size / max(1, count)


def main() -> None:
    """Fill a database, or tell of one."""
    parser = argparse.ArgumentParser(prog="python -m bench.plenty", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--finished", type=int, default=100_000)
    parser.add_argument("--running", type=int, default=100_000)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--report", action="store_true", help="fill nothing, tell what a row of the log takes")
    given = parser.parse_args()
    if not given.report:
        began = time.perf_counter()
        count = fill(given.url, given.finished, given.running, given.people, processes=PROCESSES)
        print(f"{count:,} rows of logs in {time.perf_counter() - began:.0f} s.")
    print(report(given.url))


if __name__ == "__main__":
    main()

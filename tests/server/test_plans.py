"""Every query of every page and job, in a house with very many matches: none reads through a table that grows."""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import flask
import pytest
from house import START, Musing, Pigeonhole, house_settings
from programs import Program
from together import quick_pictures
from visitor import Visitor, application

from bench import plenty
from engine.bots.analysis import VERSION
from server import analysis, beats, clock, db, feeds, outages
from server.api import cursors
from server.models import TABLES, Inbound, Match, Outage, Part, Seat, User
from server.scheduler import Scheduler
from server.settings import Settings

NOW: Final = START + timedelta(days=900)
FINISHED, RUNNING, PEOPLE = 1500, 1200, 300
# Tables that have few rows however many matches there are.
SMALL: Final = frozenset({"job", "watermark", "outage", "schema_migration", "sqlite_master", "pg_class"})
GROWING: Final = frozenset(model._meta.table_name for model in TABLES) - SMALL
# Indexes that hold few rows however many there are, and how peewee asks for one of none.
FEW: Final = frozenset({"match_frozen", "match_bot_acts", "match_offers", "user_unconfirmed"})
READS: Final = re.compile("SELECT|UPDATE|DELETE")
NOTHING: Final = "(0 = 1)"
# What reads more, and why it may.
ALLOWED: Final = {
    r"/archive\?result=shared": "of nobody in particular, so match by match along the index until a page is full",
    r"/admin/people": "a keeper's search through people, of whom there are fewer than matches by far",
    r'the job sweep DELETE FROM "user"': "once an hour, of who never confirmed: all that may refer to them is read",
    r"^the test ": "this test's own",
}
# Where PostgreSQL expects to find enough soon because it does not know that old matches have ended and new ones run.
ALLOWED_ON_POSTGRESQL: Final = {
    r"/admin/matches\?": "a keeper's list, by number",
    r"^an outage ": "all running matches are gone through then, once",
}
# Indexes that nothing asks here, and why they are there.
UNASKED: Final = {"rematch_expires_at": "few are open at a time, so SQLite begins with the open tables"}
# So many rows may a query read on PostgreSQL, and so many steps may SQLite's machine make: far more than any page
# shows, less than there is.
ROWS: Final = 1400
STEPS: Final = 20_000


@dataclass
class Walked:
    """What was asked of a database: each statement once, with the values it was first asked with, and by whom."""

    url: str
    asked: dict[str, tuple[str, Any, str]] = field(default_factory=dict)
    whom: str = ""

    def note(self, statement: str, values: Any) -> None:
        """Keep a statement; lists of other lengths make no other one."""
        shape = re.sub(r"\((\?|%s)(, (\?|%s))*\)", "(...)", statement)
        self.asked.setdefault(shape, (statement, values or (), self.whom))


class Ear(logging.Handler):
    """Hears what peewee says of each statement."""

    def __init__(self, walked: Walked) -> None:
        super().__init__(logging.DEBUG)
        self.walked = walked

    def emit(self, record: logging.LogRecord) -> None:
        """Note the statement."""
        if isinstance(record.msg, tuple):
            self.walked.note(*record.msg)


class House:
    """What `application` asks of a house."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.now = NOW


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def walked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    """A full database of each kind in which every page has been looked at and every job been done once."""
    folder = tmp_path_factory.mktemp("plenty")
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), folder / "clachan.db")
        url = f"sqlite:///{folder / 'clachan.db'}"
    else:
        url = request.getfixturevalue("postgres_copies").fresh()
    found = Walked(url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "judge", lambda *_: [0.5, 0.5])
        plenty.fill(url, FINISHED, RUNNING, PEOPLE, NOW)
        with db.connected():
            walk(found, House(house_settings(url, folder)), patch)
            yield found
    db.database.close()


def walk(found: Walked, house: House, patch: pytest.MonkeyPatch) -> None:
    """Look at everything and do everything, and note what is asked of the database."""
    logger, ear = logging.getLogger("peewee"), Ear(found)
    app = application(house, patch)
    ailsa = User.get(User.name == "Ailsa")
    with db.transaction():
        User.update(admin=True).where(User.name == "Bran").execute()
    visitors = {
        "a stranger": Visitor(app),
        "Ailsa": Visitor(app, ailsa),
        "a keeper": Visitor(app, User.get(name="Bran")),
    }
    paths = list(addresses(app, ailsa))
    programs = {"a program of a stranger": Program(app), "a program of Ailsa": Program(app, ailsa)}
    read = list(operations(app, ailsa))
    opened = [beats.watch(None, user) for user in User.select().where(User.bot == "").limit(40)]
    opened += [beats.watch(match, ailsa) for match in Match.select().limit(20)]
    prepare()
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logger.addHandler(ear)
    try:
        for path in paths:
            for who, visitor in visitors.items():
                found.whom = f"{who} at {path}"
                answer = visitor.get(path)
                assert answer.status_code < 500 or path == "/readyz", found.whom
        for path in read:
            for who, program in programs.items():
                found.whom = f"{who} at {path}"
                assert program.get(path).status_code < 500, found.whom
        found.whom = "open pages"
        beats.beats(opened)
        quick_pictures(patch)
        jobs(found, house, patch)
    finally:
        logger.removeHandler(ear)
        logger.setLevel(level)
        logger.propagate = propagate


def addresses(app: flask.Flask, ailsa: User) -> Iterator[str]:
    """Yield every address of the site, from its own map, and those with something asked."""
    her = Seat.select(Seat.match).join(Match).where(Seat.owner == ailsa).order_by(Seat.match.desc())
    finished = her.where(Match.status == "finished").first().match_id
    running = Match.get(Match.status == "running").id
    token = feeds.make(ailsa, "matches", NOW)
    for rule in app.url_map.iter_rules():
        if "GET" in rule.methods and rule.endpoint != "static":
            for number in (running, finished) if "match_id" in rule.arguments else (running,):
                given = {"match_id": number, "seq": 3, "kind": "clans", "token": token, "name": "Ailsa", "key": "lake"}
                given |= {
                    "code": "cs",
                    "which": 1,
                    "who": ailsa.id,
                    "mail": Inbound.select(Inbound.id).limit(1).scalar(),
                }
                with app.test_request_context():
                    wanted = {name: given[name] for name in rule.arguments}
                    yield app.url_map.bind("x").build(rule.endpoint, wanted, "GET")
    for asked in (
        "game=clans",
        "reason=twelfth+village",
        "player=Ailsa",
        "player=Ailsa&opponent=Catrin+2",
        "result=shared",
    ):
        yield f"/archive?{asked}"
        yield f"/archive?{asked}&after={int(NOW.timestamp()) * 1000 - 10**10}-900"
    yield from (f"/archive?player=Ailsa&result={result}" for result in ("won", "lost", "shared"))
    yield from (f"/archive?{asked}" for asked in ("since=2027-01-01", "until=2027-01-01", "least=40", "rated=1"))
    yield f"/people/Bot?after={finished}"
    yield f"/people/Ailsa?after={finished}"
    for status in ("running", "open", "finished", "cancelled", "frozen"):
        yield f"/admin/matches?status={status}"
        yield f"/admin/matches?status={status}&before={running}"
    yield from (f"/admin/matches?q={asked}" for asked in ("Ailsa", "7"))
    yield from (f"/admin/people?q={asked}" for asked in ("Ail", "7", "ailsa@example.org"))
    for state in ("queued", "taken", "handed", "held", "failed", "dropped", "sent"):
        yield f"/admin/mail-out?state={state}"
    yield from (f"/admin/mail-in?verdict={verdict}" for verdict in ("moved", "for-keepers"))


def operations(app: flask.Flask, ailsa: User) -> Iterator[str]:
    """Yield all that programs may read, from the map of the API, and lists of which something is asked."""
    rules = app.extensions["below"].url_map
    her = Seat.select(Seat.match).join(Match).where(Seat.owner == ailsa).order_by(Seat.match.desc())
    finished = her.where(Match.status == "finished").first().match_id
    running = Match.get(Match.status == "running").id
    for rule in rules.iter_rules():
        if "GET" in rule.methods:
            for number in (running, finished) if "match_id" in rule.arguments else (running,):
                given = {"match_id": number, "seq": 3, "kind": "clans", "token": "x", "name": "Ailsa", "which": 1}
                wanted = {name: given[name] for name in rule.arguments}
                yield rules.bind("x", "/api/v1").build(rule.endpoint, wanted, "GET")
    for which in ("public", "running", "tables", "invitations", "lost", "unseen", "finished"):
        yield f"/api/v1/matches?which={which}"
        yield f"/api/v1/matches?which={which}&cursor={cursors.write(finished)}&limit=5"
    yield f"/api/v1/matches?which=waiting&cursor={cursors.write(int(NOW.timestamp()) * 1000, 1)}"
    yield f"/api/v1/matches/{finished}/log?cursor={cursors.write(9)}"


def prepare() -> None:
    """Leave something to do for each job."""
    last = [FINISHED, FINISHED - 1, FINISHED - 2]
    with db.transaction():
        outages.beat(NOW)
        Match.update(counted=False, judged=VERSION - 1).where(Match.id.in_(last)).execute()
        Part.delete().where(Part.match.in_(last)).execute()
        some = User.select(User.id).where(User.bot == "").limit(3)
        User.update(digest_at=NOW, turn_mail="daily").where(User.id.in_([user.id for user in some])).execute()


def jobs(found: Walked, house: House, patch: pytest.MonkeyPatch) -> None:
    """Do every regular job when there is something to do for each, and when there is not."""
    for later in (timedelta(0), timedelta(minutes=5), timedelta(hours=23)):
        house.now = NOW + later
        found.whom = "the test"
        patch.setattr(clock, "now", lambda: house.now)
        with db.transaction():
            # No outage: somebody was at work all the time.
            outages.beat(house.now - timedelta(minutes=9))
            Outage.update(done_at=NOW).execute()
        made = Scheduler(house.settings)
        made.channel, made.thinkers, made.idlers = Pigeonhole(), Musing(), Musing()
        for name in set(made.jobs) - {"backup"}:  # which reads everything there is
            found.whom = f"the job {name}"
            made.jobs[name]()
    found.whom = "an outage"
    with db.transaction():
        Outage.create(began_at=NOW - timedelta(days=1), ended_at=NOW)
    outages.give_back(NOW, limit=5)


def growing(name: str) -> bool:
    """Whether a table is one that grows."""
    return name in GROWING


def unlimited(statement: str) -> bool:
    """Whether a statement reads more of a table than the first rows of it."""
    return " LIMIT " not in statement or " WHERE " in statement


def on_sqlite(statement: str, values: Any) -> list[str]:
    """Return what is wrong with how SQLite carries a statement out."""
    names = dict(re.findall(r'"(\w+)" AS "(\w+)"', statement))
    tables = {alias: table for table, alias in names.items()} | {table: table for table in GROWING}
    rows = db.database.execute_sql(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
    wrong = []
    for *_, told in rows:
        scanned = re.match(r"SCAN (\w+)", told)
        scanned = None if NOTHING in statement or any(f" {name}" in told for name in FEW) else scanned
        if scanned and growing(tables.get(scanned[1], "")) and unlimited(statement):
            wrong.append(told)
    if statement.startswith("SELECT"):
        steps = count_steps(statement, values)
        if steps > STEPS:
            wrong.append(f"{steps} steps: {'; '.join(row[-1] for row in rows)}")
    return wrong


def count_steps(statement: str, values: Any) -> int:
    """Return how many steps SQLite's machine makes for a statement, in hundreds."""
    connection, count = db.database.connection(), 0

    def step() -> int:
        nonlocal count
        count += 100
        return 0

    connection.set_progress_handler(step, 100)
    try:
        db.database.execute_sql(statement, values).fetchall()
    finally:
        connection.set_progress_handler(None, 0)
    return count


def on_postgresql(statement: str, values: Any) -> list[str]:
    """Return what is wrong with how PostgreSQL carries a statement out; it is done and undone."""
    # As if all tables were too large to be read through.
    for way in ("seqscan", "hashjoin", "mergejoin"):
        db.database.execute_sql(f"SET LOCAL enable_{way} = off")
    told = db.database.execute_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).fetchone()[0]
    plan = (told if isinstance(told, list) else json.loads(told))[0]["Plan"]
    wrong, rows = [], 0
    for node in nodes(plan):
        own = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        rows += (node["Actual Rows"] + own) * node["Actual Loops"] if "Relation Name" in node else 0
        if node["Node Type"] == "Seq Scan" and growing(node["Relation Name"]) and unlimited(statement):
            wrong.append(f"reads through {node['Relation Name']}")
    if rows > ROWS:
        wrong.append(f"{rows:.0f} rows: {', '.join(describe(node) for node in nodes(plan))}")
    return wrong


@contextmanager
def undone() -> Iterator[None]:
    """Take back what is done in the block."""
    with suppress(ZeroDivisionError), db.transaction():
        yield
        raise ZeroDivisionError


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a plan's nodes."""
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def describe(node: dict[str, Any]) -> str:
    """Return a node in words."""
    return f"{node['Node Type']} {node.get('Index Name', node.get('Relation Name', ''))}".strip()


def test_no_query_reads_through_what_grows(walked: Walked) -> None:
    faults = []
    for statement, values, whom in walked.asked.values():
        allowed = {**ALLOWED, **({} if db.on_sqlite() else ALLOWED_ON_POSTGRESQL)}
        if any(re.search(known, f"{whom} {statement}") for known in allowed) or not READS.match(statement):
            continue
        with undone():
            wrong = (on_sqlite if db.on_sqlite() else on_postgresql)(statement, values)
        faults += [f"{whom}: {one}\n    {statement}" for one in wrong]
    assert not faults, "\n".join([f"{len(faults)} of {len(walked.asked)}", *faults])


@pytest.mark.parametrize("column", ["length", "to_act"])
def test_a_query_that_reads_through_what_grows_is_found(walked: Walked, column: str) -> None:
    statement, values = Match.select(Match.id).where(Match._meta.fields[column] == "2").sql()
    with undone():
        wrong = (on_sqlite if db.on_sqlite() else on_postgresql)(statement, values)
    assert wrong


# Which of several is the best PostgreSQL decides by the statistics of the moment.
@pytest.mark.parametrize("walked", ["sqlite"], indirect=True)
def test_every_index_is_asked_by_something(walked: Walked) -> None:
    asked = set()
    for statement, values, _ in walked.asked.values():
        if READS.match(statement):
            rows = db.database.execute_sql(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
            asked |= {name for *_, told in rows for name in re.findall(r"INDEX (\w+)", told)}
    indexes = {index.name for table in GROWING for index in db.database.get_indexes(table) if not index.unique}
    assert indexes - asked == set(UNASKED)

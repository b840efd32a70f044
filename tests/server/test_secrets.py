"""Non-interference: two worlds that differ only in what a viewer must not know look the same to him, byte for byte.

World two deals other clans to everybody but the viewer. All that is random is made the same in both, so that only the
hash chain may differ, whose hashes hide what they cover; they are blotted out before comparing.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import flask
import pytest
from house import House, house_settings
from postman import answer
from programs import Program
from visitor import Visitor, application

from engine import bots, games, record, replay
from engine.bots import mind
from engine.replay import Row
from server import ahead, briefs, db, digests, feeds, hooks, journal, letters, log, raster, tidings, ways
from server.channels import Brief, Call
from server.models import Entry, Match, Outbox, Pairing, Prepared, Seat, Tournament, User

# Hashes, also of whole answers, and the tokens against forged forms, which hold the time.
HASH = re.compile(
    r"""\b[0-9a-f]{64}\b|(?<='ETag', '")[0-9a-f]{32}|(?<="csrf_token" value=")[^"]+|(?<="csrf-token" content=")[^"]+"""
)
FOLDER = Path(__file__).parent.parent / "records"
RECORDS = [*sorted(FOLDER.glob("clans-[01]*.json"))[::4], *sorted(FOLDER.glob("glory-[01]*.json"))[::4]]
RECORDS += [FOLDER / "glory-face-down.json"]
World = tuple[Any, list[str]]  # a setup, and the texts of the moves
CLANS = ("red", "blue", "green", "yellow", "black")


class Same:
    """Chance that is the same in every world."""

    def __init__(self) -> None:
        self.count = itertools.count()

    def token_bytes(self, size: int = 32) -> bytes:
        return hashlib.sha512(b"%d" % next(self.count)).digest()[:size]

    def token_hex(self, size: int = 32) -> str:
        return self.token_bytes(size).hex()

    def token_urlsafe(self, size: int = 32) -> str:
        return self.token_hex(size)


def other_clans(found: dict[str, Any], viewer: int | None, _upto: int, chance: Random) -> World:
    """Return another deal in which the viewer holds what he held and everybody else something else."""
    clans = found["setup"]["clans"]
    while True:
        other = chance.sample(CLANS, len(clans))
        if all((seat == viewer) == (old == new) for seat, (old, new) in enumerate(zip(clans, other, strict=True))):
            return {**found["setup"], "clans": other}, [row["text"] for row in found["log"]]


def other_hands(found: dict[str, Any], viewer: int | None, upto: int, chance: Random) -> World:
    """Return another deal in which all that the viewer has seen is the same: his hand, and what was laid face up.

    The cards of others that nobody has seen, face-down ones too, and those not dealt are mixed and dealt anew, until
    what was played would have been legal just so.
    """
    game, seats = games.game("glory"), len(found["players"])
    rows = [(row["seat"], row["text"]) for row in found["log"]]
    shown = {text.split()[0] for _, text in rows[:upto] if "down" not in text}
    hands = found["setup"]["hands"]
    deck = [f"{colour}{strength}" for colour in "ROYGBPW" for strength in range(3, 5 + seats)]
    known = shown | set(found["setup"]["start_cards"].values()) | set(hands[viewer] if viewer is not None else ())
    hidden = [card for card in deck if card not in known]
    for _ in range(2000):
        mixed = dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
        setup = {**found["setup"], "hands": [[mixed.get(card, card) for card in hand] for hand in hands]}
        texts = [" ".join([mixed.get(text.split()[0], text.split()[0]), *text.split()[1:]]) for _, text in rows[:upto]]
        log = [Row(n, seat, "move", text) for n, ((seat, _), text) in enumerate(zip(rows, texts, strict=False), 1)]
        try:
            replay.replay(game, setup, seats, found["options"], log)
        except replay.ReplayError:
            continue
        if setup != found["setup"]:
            return setup, texts
    raise AssertionError("no other deal fits what was seen")


OTHER = {"clans": other_clans, "glory": other_hands}


def addresses(app: flask.Flask, kind: str, length: int, moves: list[str], expected: int) -> Iterator[str]:
    """Yield every address a person may look at, from the map of the site itself, and the previews of some moves."""
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            if "GET" not in rule.methods or rule.endpoint in {"static", "health.ready"}:
                continue
            steps = sorted({0, 1, length // 2, length - 1, length, length + 1})
            for seq in steps if "seq" in rule.arguments else (0,):
                given = {"match_id": 1, "seq": seq, "kind": kind, "token": "x", "name": "Ailsa", "key": "lake"}
                given |= {"code": "cs", "who": 1, "mail": 1, "which": 1}
                yield app.url_map.bind("x").build(rule.endpoint, {name: given[name] for name in rule.arguments}, "GET")
    yield "/matches/1?result=1"
    yield "/matches/1/verify?check=1"
    yield from (f"/matches/1/replay/{seq}?open=1" for seq in (0, length))
    for move in [*moves, "nonsense"]:
        yield f"/matches/1?move={move}"
        yield f"/matches/1?from={move[:2]}"
        yield f"/matches/1/preview?move={move}&expected={expected}"
        yield f"/matches/1/preview?move={move}&expected=0"
        yield f"/matches/1/whatif?moves={move}"
    # The moves that were really made, which somebody in another seat may well suppose.
    yield f"/matches/1/whatif?moves={','.join(moves)}"
    yield "/matches/1/whatif?from=R3"


def operations(app: flask.Flask, kind: str, length: int, moves: list[str], expected: int) -> Iterator[str]:
    """Yield the same for programs: what may be read below `/api/v1`, from the map of the API itself."""
    rules = app.extensions["below"].url_map
    for rule in rules.iter_rules():
        if "GET" not in rule.methods or rule.endpoint == "api.document":
            continue
        steps = sorted({0, length // 2, length, length + 1}) if "seq" in rule.arguments else (0,)
        for seq in steps:
            given = {"match_id": 1, "seq": seq, "kind": kind, "token": "x", "name": "Ailsa", "which": 1}
            yield rules.bind("x", "/api/v1").build(rule.endpoint, {name: given[name] for name in rule.arguments}, "GET")
    for which in ("public", "running", "waiting", "finished"):
        yield f"/api/v1/matches?which={which}"
    for move in [*moves, "nonsense"]:
        yield f"/api/v1/matches/1/preview?move={move}&expected={expected}"
        yield f"/api/v1/matches/1/preview?move={move}&expected=0"
        yield f"/api/v1/matches/1/whatif?moves={move}"
    yield f"/api/v1/matches/1/whatif?moves={','.join(moves)}"
    yield f"/api/v1/matches/1/steps/{length}?opened=true"
    yield f"/api/v1/matches/1/picture.svg?seq={length // 2}"


def look(visitor: Visitor | Program, path: str) -> tuple[Any, ...]:
    """Return all of an answer that a person can get at: status, headers, body."""
    answer = visitor.get(path)
    assert answer.status_code < 500, path
    headers = sorted((name, value) for name, value in answer.headers if name not in {"Date", "Set-Cookie"})
    body = answer.get_data().hex() if answer.mimetype.startswith("image/png") else answer.text
    return path, answer.status_code, HASH.sub("#", str(headers)), HASH.sub("#", body)


def world(
    house: House,
    app: flask.Flask,
    caplog: pytest.LogCaptureFixture,
    found: dict[str, Any],
    dealt: World,
    upto: int,
    viewer: int | None,
    asked: list[str],
) -> dict[str, Any]:
    """Play a record up to a row in this world, and return everything the viewer and others can get.

    `asked` are the moves they ask about; it is filled in the first world.
    """
    names, (setup, texts) = found["players"], dealt
    match = house.started(*names, setup=setup, game=found["game"], options=found["options"])
    Seat.update(guided=True).execute()
    of_a_tournament(house, match)
    mine = names[viewer] if viewer is not None else "nobody"
    programs = read_by_programs(house, house.people.get(mine))
    caplog.clear()
    mails, told = [], []
    for text in texts[:upto]:
        mails += house.mail()
        told += calls(house)
        house.later(minutes=5)
        house.move(match, text)
    mails += house.mail()
    played = house.played(match)
    seat = played.position.to_act[0]
    if not asked:
        asked += [*played.view(seat).moves[:2], *texts[upto : upto + 1]]
    expected = played.position.asked[seat]
    people = {"stranger": None, "member": house.people["Eimhir"]}
    if viewer is not None:
        people["viewer"] = house.people[names[viewer]]
    seen: dict[str, Any] = {}
    # Who keeps the house sees of matches what a member does; his own pages are looked at here.
    keeper = Visitor(app, house.people["Fearghas"])
    own = [path for path in addresses(app, found["game"], upto, asked, expected) if path.startswith("/admin")]
    seen["keeper"] = [look(keeper, path) for path in own]
    assert [answer[1] for answer in seen["keeper"]].count(200) >= 8
    for who, user in people.items():
        visitor = Visitor(app, user)
        seen[who] = [look(visitor, path) for path in addresses(app, found["game"], upto, asked, expected)]
        assert ("/tournaments/1", 200) in {answer[:2] for answer in seen[who]}
        if user:
            post = {"move": "A1-C5", "expected": expected, "json": True}
            seen[f"{who} refused"] = HASH.sub("#", visitor.post("/matches/1/moves", **post).text)
            seen[f"{who} stale"] = HASH.sub("#", visitor.post("/matches/1/moves", **{**post, "expected": 0}).text)
        program = Program(app, user)
        seen[f"program of {who}"] = [
            look(program, path) for path in operations(app, found["game"], upto, asked, expected)
        ]
        assert ("/api/v1/matches/1", 200) in {answer[:2] for answer in seen[f"program of {who}"]}
        if user:
            bodies = [{"move": "A1-C5", "expected": row} for row in (expected, 0)]
            seen[f"program of {who} refused"] = [
                HASH.sub("#", program.post("/matches/1/moves", body).text) for body in bodies
            ]
    seen["feeds"] = [look(Visitor(app), path) for path in programs]
    seen["calls"] = told + calls(house)
    turn_mail = next((m for m in reversed(mails) if m.to_name == mine and m.reply_to), None)
    if turn_mail:
        others = [] if viewer == seat else asked
        for number, text in enumerate(
            ["help", "A1-L5", "R3 N1", "P9", "status\nsay Hm", "pause until 2026-03-20", *others]
        ):
            answer(house, turn_mail, text, Message_ID=f"<{number}@example.org>")
        mails += house.mail()
    seen["mails"] = [
        (m.subject, HASH.sub("#", m.text), HASH.sub("#", m.html), m.picture, m.thread)
        for m in mails
        if m.to_name == mine
    ]
    seen["logs"] = [HASH.sub("#", line.getMessage()) for line in caplog.records]
    seen["json logs"] = [logged(line) for line in caplog.records]
    if viewer is not None and viewer == seat:
        sight = mind.sight(played.game, played.position, played.rows, viewer)
        thought = bots.Thought(20)
        seen["bot"] = [
            bots.choose(strength, played.game, sight, Random(1).random, thought) for strength in bots.STRENGTHS
        ]
        seen["view"] = sight.view.as_plain()
        seen["past"] = [(glimpse.view.as_plain(), glimpse.seat, glimpse.text) for glimpse in sight.past]
    return seen


def of_a_tournament(house: House, match: Match) -> None:
    """Make the match the first of a tournament of those who play it."""
    terms = {"game": match.game, "options": match.options, "clock": match.clock, "rated": True, "seats": match.seats}
    bounds = {"form": "swiss", "rounds": 2, "least": 2, "most": 4, "secret": secrets.token_bytes(32)}
    made = Tournament.create(
        **{"name": "The cup", "host": match.host, "created_at": house.now, "starts_at": house.now, **terms, **bounds},
        status="running",
        round=1,
    )
    for lot, seat in enumerate(log.places(match)):
        Entry.insert(tournament=made, user=seat.owner, contribution="x", joined_at=house.now, lot=lot).execute()
    Pairing.insert(tournament=made, round=1, place=0, match=match).execute()


def logged(record: logging.LogRecord) -> dict[str, Any]:
    """Return what a line tells as JSON, without what says only when it was and how long it took."""
    line = json.loads(HASH.sub("#", journal.JsonLines().format(record)))
    return {name: value for name, value in line.items() if name not in {"at", "request", "ms"}}


def read_by_programs(house: House, user: User | None) -> list[str]:
    """Have a program of the viewer called, and return the addresses of his feeds."""
    if user is None:
        return []
    hooks.give(user, "https://example.org/", house.settings, house.now)
    ways.add(user, "pager", {}, PAGERS, house.now, news=tidings.NEWS)
    kinds = {kind: feeds.make(user, kind, house.now) for kind in feeds.KINDS}
    return [f"/feeds/{kinds['calendar']}/calendar.ics", f"/feeds/{kinds['matches']}/matches.atom"]


# A way to be told besides by mail, whose address is of no matter here.
PAGERS = {"pager": SimpleNamespace(name="Pager", blanks=(), read=lambda _: {}, shown=lambda _: "", deliver=None)}


def calls(house: House) -> list[str]:
    """Return what the viewer is told now by his program and by another way than mail, if he is."""
    briefly: list[Brief] = []
    channels = {"pager": SimpleNamespace(**{**vars(PAGERS["pager"]), "deliver": briefly.append})}
    digests.run(house.now)
    tidings.run(channels, briefs.writer(house.settings), lambda: house.now)
    told: list[Call] = []
    channel = SimpleNamespace(deliver=told.append)
    hooks.run(house.settings, lambda: house.now, channel)
    return [HASH.sub("#", call.body) for call in told] + [f"{one.title} {one.text} {one.url}" for one in briefly]


# A trade, for each case takes seconds: in the default run each record is looked at by one of a spectator, the first and
# the second player, in turn; in the long trials by all three.
CASES = [
    pytest.param(number, viewer, marks=[] if place == number % 3 else [pytest.mark.hardship])
    for number in range(len(RECORDS))
    for place, viewer in enumerate((None, 0, 1))
]


@pytest.mark.parametrize(("number", "viewer"), CASES)
def test_two_worlds_look_the_same(
    sqlite_template: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    number: int,
    viewer: int | None,
) -> None:
    found = json.loads(RECORDS[number].read_text())
    chance = Random(number * 10 + (viewer or 5))
    last = len(found["log"]) - 1
    upto = chance.choice([last, last, chance.randrange(last)])  # often the last move, whose preview must not tell
    caplog.set_level(logging.INFO)
    # Drawn once more as pixels, equal drawings stay equal; what is compared is the drawing.
    monkeypatch.setattr(raster, "board", lambda ground, pieces, _: (ground + pieces).encode())
    monkeypatch.setattr(raster, "poster", lambda frame, layers, _: "".join((frame, *layers)).encode())
    first = (found["setup"], [row["text"] for row in found["log"]])
    seen, asked = [], []
    for place, dealt in enumerate((first, OTHER[found["game"]](found, viewer, upto, chance))):
        same = Same()
        for name in ("token_bytes", "token_hex", "token_urlsafe"):
            monkeypatch.setattr(secrets, name, getattr(same, name))
        file = tmp_path / f"{place}.db"
        shutil.copy(sqlite_template, file)
        db.use(f"sqlite:///{file}")
        with db.connected():
            house = House(house_settings(f"sqlite:///{file}", tmp_path))
            house.people["Eimhir"] = house.person("Eimhir")
            house.people["Fearghas"] = house.person("Fearghas", admin=True)
            app = application(house, monkeypatch)
            seen.append(world(house, app, caplog, found, dealt, upto, viewer, asked))
    for key in seen[0]:
        assert seen[0][key] == seen[1][key], key


@pytest.mark.parametrize("dropped", [False, True])
def test_nobody_else_sees_what_somebody_has_ready(
    cottage: House, monkeypatch: pytest.MonkeyPatch, dropped: bool
) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda size=32: "0" * 2 * size)
    app = application(cottage, monkeypatch)
    match = cottage.begun("Ailsa", "Bran", "Catrin", clock={"move": 86400, "missing": "at-once"})
    people = {place.number: place.user for place in log.places(match)}
    seat = cottage.played(match).position.to_act[0]
    waits = next(number for number in people if number != seat)
    others = [Visitor(app), *(Visitor(app, user) for number, user in people.items() if number != waits)]

    def seen() -> list[Any]:
        paths = [path for path in addresses(app, "clans", match.length, ["A1-A2"], 0) if "/confirm" not in path]
        forms = [visitor.post("/matches/1/undo", row=1).text for visitor in others[1:]]
        return [
            *(look(visitor, path) for visitor in others for path in paths),
            *(HASH.sub("#", page) for page in forms),
        ]

    seen()  # what is new to somebody is so only once
    before = seen()
    ahead.prepare(1, people[waits], "A1-A2", after="C1-C2", now=cottage.now)
    if dropped:
        Prepared.update(dropped="Your prepared move A1-A2 was not made.").execute()
    assert "A1-A2" in Visitor(app, people[waits]).get("/matches/1").text
    assert seen() == before


def test_the_published_hash_does_not_let_anybody_try_out_the_deals(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    played = cottage.played(match)
    head = json.loads(played.setup_row.text)
    for clans in itertools.permutations(CLANS, 2):
        guess = {**head["setup"], "clans": list(clans)}
        text = record.setup_text(match.id, "clans", 1, {}, 2, guess, "")
        assert record.row_hash("", record.setup_row(text, played.setup_row.at)) != played.last_hash


def test_no_mail_of_a_running_match_names_a_clan_but_the_readers_own(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran", "Catrin")
    for _ in range(12):
        cottage.mail()
        cottage.later(minutes=5)
        cottage.move(match)
    setup = cottage.played(match).setup
    seats = {place.owner.name: place.number for place in log.places(match)}
    for message in cottage.post.messages:
        own = setup["clans"][seats[message.to_name]]
        told = re.findall(r"secret clan: (\w+)", message.text)
        assert told in ([], [own])


def test_the_queue_holds_no_secret_and_no_token(cottage: House) -> None:
    match = cottage.started("Ailsa", "Bran")
    cottage.mail()
    secret = bytes(match.secret).hex()
    token = cottage.post.messages[0].reply_to or cottage.post.messages[1].reply_to
    assert token
    part = token.partition("+")[2].partition("@")[0]
    dump = "\n".join(db.database.obj.connection().iterdump())
    assert part not in dump
    for mail in Outbox.select():
        assert secret not in json.dumps(mail.facts)
    assert letters.MARKER in next(m.text for m in cottage.post.messages if m.reply_to)


def test_every_game_is_covered_here() -> None:
    assert set(games.games()) == set(OTHER)

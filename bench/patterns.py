"""Matches to copy: recorded and self-played ones, cut off at any row, each of which becomes a match of its own number.

Nothing of a copy is made up: row 0 is its own, the chain of hashes is reckoned anew, and the columns are what
`server.columns` makes of a pattern, moved on in time with it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final

from engine import games, record, replay, selfplay, timing
from engine.record import canonical
from engine.replay import Position, Row
from engine.timing import Timekeeper
from server import columns, parts
from server.log import Played, instant, stamp
from server.models import EPOCH, MILLISECOND, Match, Seat, User
from server.parts import Deeds

RECORDS: Final = Path(__file__).parent.parent / "tests" / "records"
FEW: Final = 2
MANY: Final = 40
"""How many matches of each number of seats are played of each game."""
LONG: Final = 30
OFTEN: Final = 12
"""How often a pattern of so many rows stands among the others: most matches in a house of plenty are long ones."""
CLOCK: Final = {"move": 3 * 86400}
BASE: Final = datetime(2026, 1, 5, 8, 0, tzinfo=EPOCH.tzinfo)
"""When every pattern begins; a copy begins whenever it should."""
REMINDERS: Final = "80"
RUNNING: Final = (0.75, 0.87, 0.96)
"""At which parts of their rows running matches stand."""
PERSON: Final = 1
BOT: Final = 2


@dataclass(frozen=True, slots=True)
class Pattern:
    """A match up to a row. `rows` are those after row 0, with instants from `BASE` on; `ats` those of all rows in
    milliseconds since `BASE`, row 0 first, and `rests` the canonical JSON of each but its instant.

    `columns` are the cached columns of the match, `deeds` what people did, by seat as far as one person had it.
    """

    head: dict[str, Any]
    contributions: tuple[str, ...]
    rows: tuple[Row, ...]
    ats: tuple[int, ...]
    rests: tuple[str, ...]
    columns: dict[str, Any]
    results: tuple[tuple[int | None, bool], ...]
    by_bots: tuple[bool, ...]
    awaited: tuple[tuple[int, int], ...]
    deeds: tuple[tuple[Deeds, Counter[int]], ...]

    @property
    def seats(self) -> int:
        """How many sit there."""
        return int(self.head["seats"])

    @property
    def length(self) -> timedelta:
        """From the setup to the last row."""
        return self.ats[-1] * MILLISECOND


@cache
def patterns(seed: int, played: int) -> tuple[list[Pattern], list[Pattern]]:
    """Return patterns of finished matches and of running ones; `played` is how many of each kind play themselves."""
    chance = Random(seed)  # noqa: S311
    found = [_timed(each, chance) for each in _records(chance, played)]
    finished = [_pattern(each, rows) for each, rows in found]
    cut = [_pattern(each, rows[: max(1, int(len(rows) * part))]) for each, rows in found for part in RUNNING]
    running = [each for each in cut if each.columns["status"] == "running"]
    return _often(finished), _often(running)


def _often(found: Sequence[Pattern]) -> list[Pattern]:
    return [each for each in found for _ in range(OFTEN if len(each.rows) >= LONG else 1)]


def _records(chance: Random, played: int) -> Iterator[dict[str, Any]]:
    """Yield the records to copy: those of the tests with a fair deal that name no person in a row, and new ones."""
    for path in sorted(RECORDS.glob("*.json")):
        found = record.load(path.read_bytes())
        named = any(row["text"].startswith("person:") for row in found["log"])
        if "result" in found and "fairness" in found and not named:
            yield found
    for game in games.games().values():
        for seats in game.seat_counts:
            yield from (selfplay.play(game, seats, chance, {}) for _ in range(played))


def _timed(found: dict[str, Any], chance: Random) -> tuple[dict[str, Any], list[Row]]:
    """Return a record and its rows, with up to two days between two of them; who is late is late."""
    rows, at = [], BASE
    for row in record.rows_of(found):
        if row.kind == "timeout":
            at += timedelta(days=3)
        elif row.kind == "move" and row.via != "clock":
            at += timedelta(milliseconds=int(min(chance.expovariate(1 / 8), 48) * 3_600_000))
        rows.append(row._replace(at=stamp(at), via=row.via or "web"))
    return found, rows


def _pattern(found: dict[str, Any], rows: Sequence[Row]) -> Pattern:
    game = games.game(found["game"])
    fairness = found.get("fairness", {})
    head = {
        "game": found["game"],
        "rules": game.rules,
        "options": found["options"],
        "seats": len(found["players"]),
        "setup": found["setup"],
        "seed": fairness.get("seed", ""),
        "clock": CLOCK,
    }
    positions = list(replay.positions(game, head["setup"], head["seats"], head["options"], rows))
    setup_row = record.setup_row("", stamp(BASE))
    played = Played(
        match=Match(id=0, game=head["game"], clock=CLOCK),
        game=game,
        setup_row=setup_row,
        head=head,
        rows=list(rows),
        positions=positions,
        last_hash="",
        clocks=Timekeeper(timing.rule(CLOCK), positions, setup_row, rows),
    )
    by_bots = _by_bots(rows, head["seats"])
    seats = [_seat(number, bot) for number, bot in enumerate(by_bots)]
    fields = columns.cached(played, seats)
    fields["reminder_at"] = columns.next_reminder(played, seats, played.last_at)
    whole = [setup_row, *rows]
    outcome = played.outcome
    return Pattern(
        head=head,
        contributions=tuple(fairness.get("contributions", [""] * head["seats"])),
        rows=tuple(rows),
        ats=tuple((instant(row.at) - BASE) // MILLISECOND for row in whole),
        rests=tuple(_rest(row) for row in rows),
        columns=fields,
        results=tuple(
            (outcome.scores[n], n in outcome.winners) if outcome else (None, False) for n in range(head["seats"])
        ),
        by_bots=by_bots,
        awaited=_awaited(played.position),
        deeds=_deeds(played, seats) if outcome else (),
    )


def _by_bots(rows: Sequence[Row], seats: int) -> tuple[bool, ...]:
    taken = {row.seat for row in rows if row.kind == "takeover"}
    return tuple(seat in taken for seat in range(seats))


def _seat(number: int, bot: bool) -> Seat:
    person = User(id=PERSON, bot="", reminders=REMINDERS)
    return Seat(number=number, owner=person, user=User(id=BOT, bot="steady") if bot else person)


def _awaited(position: Position) -> tuple[tuple[int, int], ...]:
    """Return the seats that are awaited, each with the row since which it is."""
    return tuple((seat, position.asked[seat] or 0) for seat in position.to_act)


def _deeds(played: Played, seats: Sequence[Seat]) -> tuple[tuple[Deeds, Counter[int]], ...]:
    told = parts.told(played, seats)
    return tuple((replace(deeds), Counter(map(parts.minutes, deeds.thought))) for deeds in told)


def _rest(row: Row) -> str:
    """Return the canonical JSON of a row after its instant, which comes first."""
    whole = canonical(row._asdict())
    return whole[len(f'{{"at":"{row.at}"') :]


@dataclass(frozen=True, slots=True)
class Copy:
    """A match of its own: its rows as the table `log` holds them, and when it began, in milliseconds since 1970."""

    pattern: Pattern
    began: int
    rows: list[tuple[Any, ...]]

    def moved(self, moment: datetime | None) -> datetime | None:
        """Return an instant of the pattern as it is in the copy."""
        return None if moment is None else moment + (self.began * MILLISECOND - (BASE - EPOCH))


def copy(pattern: Pattern, number: int, people: Sequence[int], began: int) -> Copy:
    """Return the pattern as match `number` of these people, begun so many milliseconds after 1970."""
    head = pattern.head
    text = record.setup_text(
        number,
        head["game"],
        head["rules"],
        head["options"],
        head["seats"],
        head["setup"],
        head["seed"],
        people,
        head["clock"],
    )
    previous = record.row_hash("", record.setup_row(text, _stamp(began)))
    rows: list[tuple[Any, ...]] = [(number, 0, None, replay.SETUP, text, began, None, bytes.fromhex(previous))]
    for row, after, rest in zip(pattern.rows, pattern.ats[1:], pattern.rests, strict=True):
        at = began + after
        # As `record.row_hash`, without making the whole of each row's JSON again.
        digest = sha256(f'{previous}\n{{"at":"{_stamp(at)}"{rest}'.encode("ascii"))
        previous = digest.hexdigest()
        rows.append((number, row.seq, row.seat, row.kind, row.text, at, row.via, digest.digest()))
    return Copy(pattern, began, rows)


def _stamp(at: int) -> str:
    """Return what `server.log.stamp` does, of milliseconds since 1970."""
    return datetime.fromtimestamp(at / 1000, EPOCH.tzinfo).isoformat(timespec="milliseconds")[:23] + "Z"


def plain(value: Any) -> str:
    """Return a value as JSON columns hold it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

"""A thousand matches in a simulated year: every deadline once and in time, no mail twice, no log with a fault."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from house import House
from yearlong import BEGIN, TICK, YEAR, Glimpse, Year, lived

from engine.timing import MILLISECOND, MOST_GIVEN_BACK, Timekeeper
from server import audit, db, log, vacations
from server.log import Played, instant
from server.models import LogRow, Match, Outbox

MATCHES = 1000
# Of all these there must be some, or the year was too quiet to show anything.
EVENTS = "move timeout takeover offer resign undo vacation hours pause resume outage wait vote nudge"


@pytest.mark.hardship
def test_in_a_year_of_a_thousand_matches_no_clock_is_ever_wrong(
    cottage: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    db.database.execute_sql("PRAGMA synchronous = off")
    began = time.process_time()
    year = lived(cottage, monkeypatch, MATCHES, seed=1)
    lived_for = time.process_time() - began
    figures = look_back(year)
    with capsys.disabled():
        print(f"\n{figures}\n{lived_for:.0f} s, and {time.process_time() - began - lived_for:.0f} s to look back")


def look_back(year: Year) -> str:
    """Check all that has happened; return figures."""
    seen: dict[int, list[Glimpse]] = defaultdict(list)
    for glimpse in year.glimpses:
        seen[glimpse.match].append(glimpse)
    reminded = reminded_once(year)
    matches = list(Match.select().order_by(Match.id))
    assert len(matches) == year.matches
    for match in matches:
        assert audit.verify(match.id) == []
        played = log.read(match)
        ends_or_has_no_limit(match, played)
        fires_in_time(year, played, reminded)
        shown_is_enforced(year, played, seen[match.id])
    told_once()
    for person in year.people:
        assert min(vacations.days_left(person, number) for number in (2026, 2027)) >= 0
    rows = Counter(kind for (kind,) in LogRow.select(LogRow.kind).tuples())
    assert min(rows[kind] for kind in EVENTS.split()) > 0
    return f"{len(matches)} matches, {sum(rows.values())} rows: {dict(rows)}\n{dict(year.done)}, mails {mails()}"


def mails() -> dict[str, int]:
    """Return how many mails there were of each kind."""
    return dict(Counter(kind for (kind,) in Outbox.select(Outbox.kind).tuples()))


def ends_or_has_no_limit(match: Match, played: Played) -> None:
    """With a limit a match ends, whoever comes or not; without one the clock never touches it."""
    if played.clocks.rule.limitless:
        assert not [row for row in played.rows if row.via == "clock"]
    else:
        assert match.status == "finished"
        assert match.finished_at < BEGIN + 2 * YEAR


def fires_in_time(year: Year, played: Played, reminded: set[tuple[int | None, ...]]) -> None:
    """Each time-out is at the first tick on or after its deadline, once for each turn, after a reminder."""
    turns = set()
    for number, seat, user, clocks in timeouts(played):
        row, before = played.rows[number], played.rows[number - 1] if number else played.setup_row
        clock = clocks.clock(seat)
        assert clock.deadline is not None
        assert clock.deadline <= instant(row.at), "too early"
        due = max(clock.deadline, instant(before.at))
        # Who is asked, with no time at all, at the instant of a tick may be too late for it.
        assert year.first_tick(due) <= instant(row.at) <= year.first_tick(due + MILLISECOND), "too late"
        waits = sum(other.kind == "wait" and other.seat == seat for other in played.rows[:number])
        asked = played.positions[number].asked[seat]
        assert (seat, asked, waits) not in turns, "twice"
        turns.add((seat, asked, waits))
        # Of an outage that was not given back whole the reminder may have been due in it.
        told = clocks.given_back(seat) < MOST_GIVEN_BACK and clock.allowance + clock.bank > 5 * TICK
        came = any(other.kind == "takeover" and other.seat == seat for other in played.rows[asked or 0 : number])
        if told and not came and year.reminds(user):
            assert (played.match.id, seat, asked, user) in reminded


def timeouts(played: Played) -> Iterator[tuple[int, int, int, Timekeeper]]:
    """Yield the place in the rows, the seat, the person in it, and the clocks just before, of each time-out."""
    sitting = list(played.head["people"])
    for number, row in enumerate(played.rows):
        if row.kind == "takeover" and row.seat is not None:
            sitting[row.seat] = int(row.text.removeprefix("person:")) if row.text != "bot" else None
        if row.kind == "timeout" and row.seat is not None:
            rule, positions = played.clocks.rule, played.positions[: number + 1]
            clocks = Timekeeper(rule, positions, played.setup_row, played.rows[:number])
            yield number, row.seat, sitting[row.seat], clocks


def shown_is_enforced(year: Year, played: Played, seen: list[Glimpse]) -> None:
    """What was shown came true unless something happened before, and what was used stayed used."""
    for glimpse in seen:
        assert played.clocks.used(glimpse.seat, glimpse.at) == glimpse.used
        following = played.rows[glimpse.length] if glimpse.length < len(played.rows) else None
        if glimpse.deadline is None:
            assert following is None or following.via != "clock"
            continue
        assert following is not None
        at = instant(following.at)
        assert at <= year.first_tick(max(glimpse.deadline, glimpse.at))
        if following.via == "clock" and following.kind != "outage":
            assert at >= glimpse.deadline


def told_once() -> None:
    """No turn, and no end, is told twice to the same person."""
    turns = Outbox.select(Outbox.match, Outbox.seat, Outbox.asked, Outbox.user).where(Outbox.kind == "turn").tuples()
    assert max(Counter(turns).values()) == 1
    ends = Outbox.select(Outbox.match, Outbox.user).where(Outbox.kind == "end").tuples()
    assert max(Counter(ends).values()) == 1


def reminded_once(year: Year) -> set[tuple[int | None, ...]]:
    """No deadline is reminded of twice at the same share of the time, nor when it is over; return the turns."""
    told: dict[tuple[object, ...], list[datetime]] = defaultdict(list)
    turns = set()
    for mail in Outbox.select().where(Outbox.kind == "reminder"):
        if "share" not in mail.facts:
            continue
        until = datetime.fromtimestamp(int(mail.key.split()[-2]), BEGIN.tzinfo)
        assert mail.created_at < until + timedelta(seconds=1)
        assert year.runs(mail.created_at)
        turn = (mail.match_id, mail.seat, mail.asked, mail.user_id)
        told[*turn, mail.facts["share"]].append(until)
        turns.add(turn)
    assert all(len(untils) == len(set(untils)) for untils in told.values())
    return turns

"""People: what everybody may know of somebody, his finished matches, and the ladders of the games."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from msgspec import Meta

from engine import games
from engine.language import gettext as _
from server import archive, home, people, ratings
from server.api import cursors
from server.api.archive import Finished, told
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.shapes import Answer, Instant, Listing, Page
from server.errors import Refused

room = Room("people", "What everybody may know of people, and who plays a game best.")


class Step(Answer, frozen=True):
    """A rating after one match, and by how much it changed; `rank` among `people`, of whom 1 is the best."""

    match: int
    finished_at: Instant
    rank: int
    people: int
    rating: int
    change: int


class Record(Answer, frozen=True):
    """How somebody plays one game: matches that count, those won alone and those won with others.

    `rating` is null before the first rated match, `place` where he is not on the ladder.
    """

    game: str
    played: int
    won: int
    shared: int
    rating: int | None
    rated: Annotated[int, Meta(description="How many rated matches.")]
    place: int | None
    history: Annotated[list[Step], Meta(description="The last rated matches, oldest first.")]


class Reliability(Answer, frozen=True):
    """Facts about somebody's moves in finished matches; `median` is in seconds, null if there is none."""

    median: float | None
    moves: int
    timeouts: int
    resigned: int
    lost: Annotated[int, Meta(description="How often a bot took his seat over.")]


class Meeting(Answer, frozen=True):
    """How somebody came out in the matches with another: before him, behind him, level with him."""

    name: str
    met: int
    won: int
    lost: int
    shared: int


class Profile(Answer, frozen=True):
    """What everybody may know of somebody. Of a bot, of who has left, and of whom only records name, there is no more
    than the name; then all else is null or empty."""

    name: str
    bot: Annotated[str, Meta(description="How well it plays if it is a bot of the house, else empty.")]
    gone: Annotated[bool, Meta(description="Whether he has left for good.")]
    since: Instant | None
    running: int | None
    finished: int | None
    records: list[Record]
    year: Annotated[Reliability | None, Meta(description="Of the last twelve months.")]
    ever: Reliability | None
    meetings: Annotated[list[Meeting], Meta(description="You first, then those met most.")]


@room.get("/people/<name>", public=True)
def show(caller: Caller, name: str) -> Profile:
    """Show somebody: how he plays, against whom, and whether one can rely on him."""
    user = people.find(name)
    if user.bot or user.deleted_at or not user.confirmed_at:
        return Profile(user.name, user.bot, user.deleted_at is not None, None, None, None, [], None, None, [])
    profile = people.profile(user, caller.user, caller.now)
    return Profile(
        name=user.name,
        bot="",
        gone=False,
        since=user.created_at,
        running=profile.running,
        finished=profile.finished,
        records=[_record(each) for each in profile.records],
        year=_reliability(profile.year),
        ever=_reliability(profile.ever),
        meetings=[Meeting(each.user.name, each.met, each.won, each.lost, each.shared) for each in profile.meetings],
    )


@room.get("/people/<name>/matches", public=True)
def finished(caller: Caller, name: str, query: Listing) -> Page[Finished]:
    """List the finished matches in which somebody sat, the newest end first."""
    key = cursors.read(query.cursor, int)
    page = people.finished(people.find(name), key[0] if key else 0, query.limit)
    seats, kept = archive.players(page.matches), home.kept(caller.user, page.matches)
    items = [told(match, seats[match.id], kept=match.id in kept) for match in page.matches]
    return Page(items, cursors.write(page.more) if page.more else None)


class Rung(Answer, frozen=True):
    """Somebody's place on a ladder; who has the same rating shares it."""

    place: int
    name: str
    rating: int
    matches: int


@room.get("/ladders/<kind>", public=True)
def ladder(caller: Caller, kind: str, query: Listing) -> Page[Rung]:
    """List who plays a game best. On it are who has played five rated matches, and one of them in the last year."""
    if kind not in games.games():
        raise Refused("not-found", _("There is no such game here."))
    key = cursors.read(query.cursor, str)
    found = ratings.ladder(kind, caller.now, key[0] if key else "", query.limit)
    items = [Rung(rung.place, rung.user.name, rung.shown, rung.matches) for rung in found.rungs]
    return Page(items, cursors.write(found.more) if found.more else None)


def _record(record: people.Record) -> Record:
    steps = [
        Step(each.match_id, each.finished_at, each.rank, each.people, each.shown, each.change)
        for each in record.history
    ]
    rating = record.rating
    return Record(
        record.game,
        record.played,
        record.won,
        record.shared,
        rating.shown if rating else None,
        rating.matches if rating else 0,
        record.place,
        steps,
    )


def _reliability(told: people.Reliability) -> Reliability:
    median = None if told.median is None else told.median / timedelta(seconds=1)
    return Reliability(median, told.moves, told.timeouts, told.resigned, told.lost)

"""The archive: finished matches to find, what they look like from their ends, and whether they are what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from engine.language import gettext as _
from server import analysis, archive, home, log, story, tale
from server.api import cursors
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.seen import visible
from server.api.shapes import Answer, Body, Day, Instant, Listing, Number, Page
from server.errors import Refused
from server.http.days import day
from server.models import Match

room = Room("archive", "Finished matches, for ever.")

Name = Annotated[str, Meta(max_length=80)]


class Asked(Listing, frozen=True):
    """Which finished matches are asked for: those that fit all of it."""

    game: Annotated[str, Meta(max_length=32, description="The kind of the game.")] = ""
    player: Annotated[Name, Meta(description="Somebody who sat there, from the start or later.")] = ""
    opponent: Annotated[Name, Meta(description="Somebody else who sat there.")] = ""
    result: Annotated[
        Literal["", "won", "lost", "shared"], Meta(description="How it ended for `player`, who must be named.")
    ] = ""
    reason: Annotated[str, Meta(max_length=40, description="Why it ended, as matches say it.")] = ""
    since: Annotated[Day | None, Meta(description="The first day (UTC) of the end.")] = None
    until: Annotated[Day | None, Meta(description="The last.")] = None
    least: Annotated[Number | None, Meta(description="The least number of steps.")] = None
    most: Annotated[Number | None, Meta(description="The most.")] = None
    rated: bool | None = None


class Result(Answer, frozen=True):
    """How somebody came out; both are null where the match is kept back from you."""

    name: str
    score: int | None
    won: bool | None


class Finished(Answer, frozen=True):
    """A finished match in a list, its players in the order of seats.

    It is `kept` back while you want to watch how it ended before you are told: then scores and reason are null.
    """

    id: int
    game: str
    title: str
    players: list[Result]
    reason: str | None
    length: Annotated[int, Meta(description="How many steps it has.")]
    rated: bool
    started_at: Instant | None
    finished_at: Instant | None
    kept: bool


@room.get("/archive", public=True)
def index(caller: Caller, query: Asked) -> Page[Finished]:
    """Search finished matches, the newest end first."""
    key = cursors.read(query.cursor, str)
    page = archive.find(
        game=query.game,
        player=query.player,
        opponent=query.opponent,
        result=query.result,
        reason=query.reason,
        since=day(query.since) if query.since else None,
        until=day(query.until) if query.until else None,
        least=query.least,
        most=query.most,
        rated=query.rated,
        after=key[0] if key else "",
        size=query.limit,
    )
    seats, kept = archive.players(page.matches), home.kept(caller.user, page.matches)
    items = [told(match, seats[match.id], kept=match.id in kept) for match in page.matches]
    return Page(items, cursors.write(page.more) if page.more else None)


def told(match: Match, players: Sequence[archive.Player], *, kept: bool) -> Finished:
    """Return what a list says of a finished match."""
    return Finished(
        id=match.id,
        game=match.game,
        title=log.title(match),
        players=[Result(each.name, None if kept else each.score, None if kept else each.won) for each in players],
        reason=None if kept else match.reason,
        length=match.length,
        rated=match.rated,
        started_at=match.started_at,
        finished_at=match.finished_at,
        kept=kept,
    )


class Chart(Answer, frozen=True):
    """Numbers over a match: what the columns are called, and their values as text after steps that changed one."""

    title: str
    columns: list[str]
    rows: list[ChartRow]


class ChartRow(Answer, frozen=True):
    """The values of a chart after a step."""

    step: int
    values: list[str]


class Change(Answer, frozen=True):
    """Whose points a move changed, from what to what."""

    name: str
    before: int
    after: int


class Turn(Answer, frozen=True):
    """A move that changed much, and what it did in words."""

    step: int
    sentences: list[str]
    changes: list[Change]


class Swing(Answer, frozen=True):
    """A move that changed somebody's chances much: who made it, whose chances changed most, in per cent."""

    step: int
    mover: str
    move: str
    name: str
    before: int
    after: int


class Chances(Answer, frozen=True):
    """The chances of winning as the bots judge them: after each of the `steps` the share of each seat from 0 to 1."""

    steps: list[int]
    shares: list[list[float]]
    playouts: Annotated[int, Meta(description="How many times the rest was played out for each step.")]
    swings: list[Swing]


class Time(Answer, frozen=True):
    """How long somebody took for a move, in words: the middle one and the longest."""

    name: str
    median: str
    longest: str


class Tale(Answer, frozen=True):
    """A finished match as a whole. `chances` is null if the bots have not judged it; `thinking` whether they will."""

    charts: list[Chart]
    turns: list[Turn]
    times: list[Time]
    chances: Chances | None
    thinking: bool


@room.get("/matches/<int:match_id>/tale", public=True, refuses=("damaged",))
def look_back(caller: Caller, match_id: int) -> Tale:
    """Tell a finished match as a whole: how points and chances went, what turned it, how long everybody thought."""
    match = finished(caller, match_id)
    played, called = log.read(match), story.names(log.places(match))
    found = tale.tell(played, called)
    if found is None:
        return Tale([], [], [], None, thinking=False)
    judgement = analysis.find(match)
    return Tale(
        charts=[_chart(each) for each in found.charts],
        turns=[Turn(each.seq, list(each.sentences), [Change(*one) for one in each.changes]) for each in found.turns],
        times=[Time(*each) for each in found.times],
        chances=_chances(judgement, found.chances) if judgement and found.chances else None,
        thinking=found.thinking,
    )


class Finding(Answer, frozen=True):
    """What became of one check; `holds` is null if it could not be made, `step` where it does not hold."""

    sentence: str
    holds: bool | None
    step: int | None


class Proof(Answer, frozen=True):
    """All that can be checked of a finished match, and what its deal was drawn from; null if that is not known."""

    findings: list[Finding]
    commitment: str | None
    seed: str | None
    contributions: list[str] | None


@room.get("/matches/<int:match_id>/proof", public=True, refuses=("damaged",))
def proof(caller: Caller, match_id: int) -> Proof:
    """Check a finished match anew: its hashes, its moves, its end, its deal. This takes a while."""
    match = finished(caller, match_id)
    drawn = archive.fairness(match, log.places(match))
    return Proof(
        findings=[Finding(each.sentence, each.holds, each.row) for each in archive.check(match)],
        commitment=drawn.commitment if drawn else None,
        seed=drawn.seed if drawn else None,
        contributions=list(drawn.contributions) if drawn else None,
    )


class Digest(Body, frozen=True):
    """The hash that is looked for."""

    hash: Annotated[str, Meta(max_length=2000, description="64 hexadecimal digits, also wrapped as mails wrap them.")]


class Found(Answer, frozen=True):
    """The step after which a hash was shown; null if it is not of the match."""

    step: int | None


@room.get("/matches/<int:match_id>/hash", public=True, refuses=("damaged",))
def look_up(caller: Caller, match_id: int, query: Digest) -> Found:
    """Say whether a hash out of an old mail is one of the match, and after which step it was shown."""
    match = visible(caller, match_id)
    if match.status not in {"running", "finished"}:
        raise Refused("not-found", _("There is no such match."))
    digest = archive.read_hash(query.hash)
    if not digest:
        raise Refused(
            "bad-input", _("That is no hash. A hash has 64 signs, digits and the letters a to f; copy it whole.")
        )
    return Found(archive.row_of(match, digest))


def finished(caller: Caller, match_id: int) -> Match:
    """Return a finished match. Raises `Refused` (not-found) for any other."""
    match = visible(caller, match_id)
    if match.status != "finished":
        raise Refused("not-found", _("The record of a match can be had when it has ended."))
    return match


def _chart(chart: tale.Chart) -> Chart:
    return Chart(chart.title, list(chart.columns), [ChartRow(step, list(values)) for step, values in chart.rows])


def _chances(judgement: analysis.Judgement, told: tale.Chances) -> Chances:
    swings = [Swing(each.seq, each.mover, each.move, each.name, each.before, each.after) for each in told.swings]
    return Chances(list(judgement.steps), [list(shares) for shares in judgement.chances], judgement.playouts, swings)

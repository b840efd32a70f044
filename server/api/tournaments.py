"""Tournaments: found, announced, entered, left, called off; and how they stand."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from engine.language import gettext as _
from engine.timerule import DAY
from server import tournaments
from server.api import cursors
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.shapes import Answer, Body, Instant, Listing, Page
from server.api.tables import Kind, Options, TimeRule, Words, clock
from server.errors import Refused
from server.http.days import instant
from server.tournaments import Listed
from server.tournaments.looks import Drawn, Paired
from server.tournaments.standings import Line

room = Room("tournaments", "Matches of one game on the same terms, played in rounds by whoever has entered.")

Form = Literal["round-robin", "swiss"]
Status = Literal["open", "running", "finished", "cancelled"]


class Plan(Body, frozen=True):
    """What a tournament is announced with."""

    name: Annotated[str, Meta(min_length=3, max_length=60, examples=["The winter cup"])]
    game: Kind
    seats: Annotated[int, Meta(ge=2, le=16, description="How many play in a match.")]
    form: Annotated[Form, Meta(description="Whether everybody meets everybody, or it goes by the Swiss system.")]
    least: Annotated[int, Meta(ge=1, le=64, description="With fewer it is called off.", examples=[4])]
    most: Annotated[int, Meta(ge=1, le=64, description="So many may enter.", examples=[8])]
    starts_at: Annotated[Instant, Meta(description="When it begins: in an hour at the earliest, within 60 days.")]
    clock: TimeRule = TimeRule(move=3 * DAY)
    options: Options = msgspec.field(default_factory=dict)
    rounds: Annotated[int, Meta(ge=0, le=12, description="Of the Swiss system; of a round robin they follow.")] = 0
    rated: Annotated[bool, Meta(description="Whether its matches count for ratings.")] = True


class Tournament(Answer, frozen=True):
    """A tournament in a list."""

    id: int
    name: str
    status: Status
    game: str
    seats: Annotated[int, Meta(description="How many play in a match.")]
    form: Form
    round: Annotated[int, Meta(description="The last round that has begun; 0 before.")]
    rounds: Annotated[int, Meta(description="How many are planned; of a round robin known when it begins.")]
    least: int
    most: int
    entered: Annotated[int, Meta(description="How many take part.")]
    mine: Annotated[bool, Meta(description="Whether you take part.")]
    host: str
    clock: Annotated[TimeRule | None, Meta(description="The time rule; null if it is spoilt.")]
    rule: Annotated[str, Meta(description="The time rule in a sentence.")]
    options: dict[str, str]
    rated: bool
    starts_at: Instant
    finished_at: Instant | None


class Entrant(Answer, frozen=True):
    """Who takes part, and whether he has withdrawn since it began."""

    name: str
    withdrew: bool


class Standing(Answer, frozen=True):
    """Where somebody stands. Players with the same `rank` share it."""

    name: str
    rank: int
    points: int
    matches: int
    opponents: Annotated[float, Meta(description="How many points those have whom he met, on average.")]
    direct: Annotated[float, Meta(description="How often he came out ahead of those level with him; level is a half.")]
    share: Annotated[float, Meta(description="The part of the best score of a match that he had, on average.")]


class Seated(Answer, frozen=True):
    """Who plays in a match of a round; score and whether he won are null until it has ended, or you have watched it."""

    name: str
    score: int | None
    won: bool | None


class Pairing(Answer, frozen=True):
    """A match of a round."""

    match: int
    status: str
    players: list[Seated]


class Round(Answer, frozen=True):
    """A round: its matches, and who has it off."""

    number: int
    matches: list[Pairing]
    resting: list[str]


class Whole(Tournament, frozen=True):
    """A tournament with all that belongs to it."""

    people: list[Entrant]
    standing: Annotated[list[Standing], Meta(description="The best first; empty before it has begun.")]
    played: Annotated[list[Round], Meta(description="The rounds that have begun, the last first.")]
    untold: Annotated[int, Meta(description="How many matches are left out that you want to watch first.")]
    next: Annotated[int | None, Meta(description="The number of your running match of it.")]
    commitment: Annotated[str, Meta(description="SHA-256 of the bytes that lots and deals follow from.")]
    seed: Annotated[str, Meta(description="These bytes, when none of its matches runs any more; else empty.")]


class Wanted(Listing, frozen=True):
    """Which tournaments are asked for."""

    status: Annotated[
        Literal["", "open", "running", "over"], Meta(description="Those one may enter, that run, or that are over.")
    ] = ""


GROUPS = {
    "": ("open", "running", "finished", "cancelled"),
    "open": ("open",),
    "running": ("running",),
    "over": ("finished", "cancelled"),
}


@room.get("/tournaments", public=True)
def index(caller: Caller, query: Wanted) -> Page[Tournament]:
    """List tournaments, the newest first."""
    key = cursors.read(query.cursor, int)
    found = tournaments.newest(GROUPS[query.status], caller.user, key[0] if key else None, query.limit + 1)
    return cursors.page(found, query.limit, lambda each: (each.tournament.id,), _listed)


@room.post("/tournaments", scope="tables", status=201, refuses=("unconfirmed",))
def announce(caller: Caller, body: Plan) -> Whole:
    """Announce a tournament. Its host enters like everybody else. Asked for again it announces another."""
    plan = tournaments.Plan(
        name=body.name,
        game=body.game,
        seats=body.seats,
        clock=msgspec.structs.asdict(body.clock),
        options=body.options,
        form=body.form,
        rounds=body.rounds,
        least=body.least,
        most=body.most,
        starts_at=instant(body.starts_at),
        rated=body.rated,
    )
    return _whole(caller, tournaments.announce(caller.me, plan, caller.now).id)


@room.get("/tournaments/<int:which>", public=True)
def show(caller: Caller, which: int) -> Whole:
    """Show a tournament: what is agreed, who takes part, how it stands, its rounds."""
    return _whole(caller, which)


class Entering(Body, frozen=True):
    """What somebody brings along who enters."""

    contribution: Words = ""


@room.post(
    "/tournaments/<int:which>/enter",
    scope="tables",
    refuses=("already-seated", "not-open", "table-full", "unconfirmed"),
)
def enter(caller: Caller, which: int, body: Entering) -> Whole:
    """Take part."""
    tournaments.enter(which, caller.me, caller.now, body.contribution)
    return _whole(caller, which)


@room.post("/tournaments/<int:which>/withdraw", scope="tables", refuses=("not-open", "not-yours"))
def withdraw(caller: Caller, which: int) -> Whole:
    """Take part no longer. Running matches go on; once it has begun there is no way back."""
    tournaments.withdraw(which, caller.me, caller.now)
    return _whole(caller, which)


@room.post("/tournaments/<int:which>/call-off", scope="tables", refuses=("not-open", "not-yours"))
def call_off(caller: Caller, which: int) -> Whole:
    """Call it off before it begins; everybody who has entered is told. Only the host may."""
    if tournaments.find(which).host_id != caller.me.id:
        # A keeper's page may call off any; what a keeper may do besides does not come with a token.
        raise Refused("not-yours", _("Only its host calls a tournament off."))
    tournaments.call_off(which, caller.me, caller.now)
    return _whole(caller, which)


def _listed(listed: Listed) -> Tournament:
    one = listed.tournament
    rule, sentence = clock(one.clock)
    return Tournament(
        id=one.id,
        name=one.name,
        status=one.status,
        game=one.game,
        seats=one.seats,
        form=one.form,
        round=one.round,
        rounds=one.rounds,
        least=one.least,
        most=one.most,
        entered=listed.entered,
        mine=listed.mine,
        host=one.host.name,
        clock=rule,
        rule=sentence,
        options=one.options or {},
        rated=one.rated,
        starts_at=one.starts_at,
        finished_at=one.finished_at,
    )


def _whole(caller: Caller, which: int) -> Whole:
    page = tournaments.page(which, caller.user)
    listed = _listed(Listed(page.tournament, len(page.people), page.entry is not None))
    return Whole(
        **msgspec.structs.asdict(listed),
        people=[Entrant(user.name, user.id in page.gone) for user in page.people.values()],
        standing=[_standing(line, page.people[line.player].name) for line in page.lines],
        played=[_round(drawn) for drawn in page.rounds],
        untold=page.untold,
        next=page.next.id if page.next else None,
        commitment=page.commitment,
        seed=page.seed,
    )


def _standing(line: Line, name: str) -> Standing:
    opponents, share = round(float(line.opponents), 3), round(float(line.share), 4)
    return Standing(name, line.rank, line.points, line.matches, opponents, line.direct / 2, share)


def _round(drawn: Drawn) -> Round:
    return Round(drawn.number, [_paired(each) for each in drawn.matches], [user.name for user in drawn.resting])


def _paired(paired: Paired) -> Pairing:
    told = paired.told
    players = [
        Seated(seat.owner.name, seat.score if told else None, seat.won if told else None) for seat in paired.seats
    ]
    return Pairing(paired.match.id, paired.match.status, players)

"""Tables that wait for players: found, opened, joined, left, filled, begun; and what is agreed at them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Final, Literal

import flask
import msgspec
from msgspec import Meta

from engine import timerule
from server import companions, home, languages, lobby, log, seating, story, visitors
from server.api import cursors
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.seen import visible
from server.api.shapes import Answer, Body, Instant, Listing, Page
from server.errors import Refused
from server.http.origins import source
from server.models import Match, Seat, User

room = Room("tables", "Tables that wait for their players, and what is agreed at them.")

Kind = Annotated[str, Meta(max_length=32, description="The kind of a game, such as `clans`.", examples=["clans"])]
Strength = Annotated[Literal["easy", "steady", "strong"], Meta(description="How well a bot plays.")]
Words = Annotated[
    str, Meta(max_length=200, description="Any words, mixed into the deal; drawn by the server if there are none.")
]
Seconds = Annotated[int, Meta(ge=0, le=timerule.RANGES["bank"][1])]
CHANGED: Final = ("not-open", "not-yours")
"""What anything done at a table is refused with."""


class TimeRule(Body, frozen=True):
    """A time rule. With neither `move` nor `bank` there is no limit. What does not go together is refused."""

    move: Annotated[Seconds, Meta(description="Seconds for each move; 0 for none.", examples=[86400])] = 0
    bank: Annotated[Seconds, Meta(description="Seconds in the time bank at the start; 0 for no bank.")] = 0
    increment: Annotated[Seconds, Meta(description="Seconds that each own move adds to the bank.")] = 0
    cap: Annotated[Seconds, Meta(description="The most seconds in the bank; 0 for as many as there get.")] = 0
    weekend: Annotated[bool, Meta(description="Whether Saturday and Sunday do not count.")] = False
    nights: Annotated[bool, Meta(description="Whether the hours do not count that each player may name.")] = False
    daily: Annotated[
        str, Meta(max_length=80, description="A time of the day and a zone to which deadlines move on.")
    ] = ""
    vacations: Annotated[bool, Meta(description="Whether vacations stop the clocks.")] = True
    missing: Annotated[
        Literal["bot", "at-once", "loss", "vote"],
        Meta(
            description="What becomes of who is out of time: `bot`, a simple move is made for him and after `misses` "
            "in a row a bot takes the seat; `at-once`, a bot takes it; `loss`; `vote`, the others decide."
        ),
    ] = "bot"
    misses: Annotated[int, Meta(ge=1, le=timerule.MOST_MISSES, description="See `missing`.")] = 2
    takeback: Annotated[bool, Meta(description="Whether moves may be taken back.")] = True


Options = Annotated[
    dict[str, str], Meta(description="Rules of the game that are chosen, by their names; the others are as usual.")
]


class Terms(Body, frozen=True):
    """What a table is opened with."""

    game: Kind
    seats: Annotated[int, Meta(ge=1, le=16, description="How many play.", examples=[2])]
    clock: TimeRule = TimeRule()
    options: Options = msgspec.field(default_factory=dict)
    seating: Annotated[
        Literal["random", "join"], Meta(description="Whether seats are drawn or go by the order of joining.")
    ] = "random"
    autostart: Annotated[bool, Meta(description="Whether the match begins when all seats are taken.")] = True
    invited_only: Annotated[bool, Meta(description="Whether only invited people may see and join the table.")] = False
    rated: Annotated[bool, Meta(description="Whether the match counts for ratings.")] = True


class Sitting(Answer, frozen=True):
    """Who sits at a table; `bot` is how well he plays if he is a bot, else empty."""

    name: str
    bot: str
    host: bool
    you: bool


class Table(Answer, frozen=True):
    """A table, or a match that has begun, by what was agreed at it."""

    id: Annotated[int, Meta(description="The number of the match; it keeps it when it begins.")]
    game: str
    title: str
    status: Literal["open", "running", "finished", "cancelled"]
    host: str
    seats: int
    free: Annotated[int, Meta(description="How many seats are still free.")]
    players: Annotated[list[Sitting], Meta(description="In the order of joining; of a match in that of the seats.")]
    clock: Annotated[TimeRule | None, Meta(description="The time rule; null if it is spoilt.")]
    rule: Annotated[str, Meta(description="The time rule in a sentence.")]
    options: dict[str, str]
    seating: str
    autostart: bool
    invited_only: bool
    rated: bool
    commitment: Annotated[str, Meta(description="SHA-256 of the server's part of the deal, drawn before anybody sat.")]
    created_at: Instant


class Wanted(Listing, frozen=True):
    """Which tables are asked for."""

    which: Annotated[
        Literal["open", "mine", "invited"],
        Meta(description="Those anybody may join, those you sit at, or those you are invited to."),
    ] = "open"
    game: Annotated[str, Meta(max_length=32, description="Only of this kind of game.")] = ""


@room.get("/tables", public=True)
def index(caller: Caller, query: Wanted) -> Page[Table]:
    """List tables that wait for players, the newest first. Yours and those you are invited to take a token."""
    key = cursors.read(query.cursor, int)
    before = key[0] if key else 0
    if query.which == "open":
        found = lobby.open_tables(query.limit + 1, game=query.game, before=before)
    else:
        mine = home.tables(caller.me) if query.which == "mine" else home.invitations(caller.me)
        fitting = [each for each in mine if query.game in {"", each.game} and (not before or each.id < before)]
        found = sorted(fitting, key=lambda match: -match.id)[: query.limit + 1]
    return cursors.page(found, query.limit, lambda match: (match.id,), teller(found, caller.user))


@room.post("/tables", scope="tables", status=201, refuses=("unconfirmed",))
def create(caller: Caller, body: Terms) -> Table:
    """Open a table and take its first seat. Asked for again it opens another."""
    terms = lobby.Terms(
        game=body.game,
        seats=body.seats,
        clock=msgspec.structs.asdict(body.clock),
        options=body.options,
        seating=body.seating,
        autostart=body.autostart,
        invited_only=body.invited_only,
        rated=body.rated,
    )
    return told(lobby.open_table(caller.me, terms, caller.now), caller.me)


@room.get("/tables/<int:match_id>", public=True)
def show(caller: Caller, match_id: int) -> Table:
    """Show a table, or what was agreed for a match that has begun."""
    return told(visible(caller, match_id), caller.user)


class Joining(Body, frozen=True):
    """What somebody brings along who takes a seat."""

    contribution: Words = ""
    invitation: Annotated[
        str, Meta(max_length=100, description="The last part of the address of an invitation; where one is needed.")
    ] = ""


@room.post(
    "/tables/<int:match_id>/join",
    scope="tables",
    refuses=("already-seated", "link-spent", "not-open", "table-full", "unconfirmed"),
)
def join(caller: Caller, match_id: int, body: Joining) -> Table:
    """Take a seat. With the last one the match begins, if the table says so."""
    lobby.join(match_id, caller.me, now=caller.now, contribution=body.contribution, invitation=body.invitation)
    return told(log.get(match_id), caller.me)


@room.post("/tables/<int:match_id>/leave", scope="tables", refuses=CHANGED)
def leave(caller: Caller, match_id: int) -> Table:
    """Give the seat up, or an invitation. When the host leaves the table is closed."""
    return told(lobby.leave(match_id, caller.me), caller.me)


@room.post("/tables/<int:match_id>/start", scope="tables", refuses=CHANGED)
def start(caller: Caller, match_id: int) -> Table:
    """Begin with whoever sits there. Only the host may."""
    lobby.start(match_id, caller.me, caller.now)
    return told(log.get(match_id), caller.me)


class Filling(Body, frozen=True):
    """Which bots, and how many of them."""

    strength: Strength
    count: Annotated[int | None, Meta(description="How many; null for as many as there are free seats.")] = None


@room.post("/tables/<int:match_id>/bots", scope="tables", refuses=(*CHANGED, "table-full"))
def fill(caller: Caller, match_id: int, body: Filling) -> Table:
    """Let bots of the house take free seats. Only the host may; with the last seat the match may begin."""
    lobby.fill(match_id, caller.me, body.strength, caller.now, body.count)
    return told(log.get(match_id), caller.me)


class Inviting(Body, frozen=True):
    """Who is invited: whoever has this mail address, or, without one, whoever is given the link."""

    email: Annotated[str | None, Meta(description="A mail address; null for a link to hand on.")] = None


class Invitation(Answer, frozen=True):
    """The mail address to which an invitation is on its way, or the address to hand on; the other is null."""

    email: str | None
    link: str | None


@room.post("/tables/<int:match_id>/invitations", scope="tables", refuses=CHANGED)
def invite(caller: Caller, match_id: int, body: Inviting) -> Invitation:
    """Mail an invitation to somebody, or make a link to hand on. Only the host may."""
    if body.email is not None:
        return Invitation(lobby.invite(match_id, caller.me, body.email, caller.now), None)
    token = lobby.invitation(match_id, caller.me, caller.now)
    return Invitation(None, f"{flask.current_app.config['SETTINGS'].public_url}/invite/{token}")


@room.get("/invitations/<token>", public=True, refuses=("link-spent",))
def invited(caller: Caller, token: str) -> Table:
    """Show the table that an invitation is for; `token` is the last part of its address."""
    return told(lobby.invited_to(token, caller.now), caller.user)


class Trying(Body, frozen=True):
    """How a match against bots begins."""

    guided: Annotated[bool, Meta(description="Whether the page of the match explains each step.")] = False


@room.post("/games/<kind>/try", scope="tables")
def against_bots(caller: Caller, kind: str, body: Trying) -> Table:
    """Begin a match without a clock against bots, or come back to the one of this game that goes on."""
    _user, match = visitors.try_game(
        kind,
        by=caller.me,
        key="",
        source=source(),
        now=caller.now,
        guided=body.guided,
        language=languages.current(),
        zone=caller.me.zone,
    )
    return told(log.get(match.id), caller.me)


class Bot(Answer, frozen=True):
    """A bot of the house: how well it plays, what that means, and how it thinks."""

    strength: str
    plays: str
    thinks: str


class Bots(Answer, frozen=True):
    """All of them."""

    items: list[Bot]


@room.get("/bots", public=True)
def bots(caller: Caller) -> Bots:
    """List how well bots of the house can play."""
    return Bots([Bot(name, about.choice, about.thinks) for name, about in companions.about().items()])


class Free(Answer, frozen=True):
    """A seat that anybody may take over, and who sat there."""

    seat: int
    name: str


class Offered(Answer, frozen=True):
    """A running match with free seats."""

    id: int
    game: str
    title: str
    rule: Annotated[str, Meta(description="The time rule in a sentence.")]
    length: Annotated[int, Meta(description="How many steps it has so far.")]
    free: list[Free]


@room.get("/seats", public=True)
def free_seats(caller: Caller, query: Listing) -> Page[Offered]:
    """List running matches with a seat that anybody may take over, the newest first."""
    key = cursors.read(query.cursor, int)
    behind = (match for match in seating.offered() if key is None or match.id < key[0])
    found = list(islice(filter(None, map(_offered, behind)), query.limit + 1))
    return cursors.page(found, query.limit, lambda each: (each.id,), lambda each: each)


def told(match: Match, reader: User | None) -> Table:
    """Return what a program is told of a table."""
    return teller([match], reader)(match)


def teller(matches: Sequence[Match], reader: User | None) -> Callable[[Match], Table]:
    """Return what tells of any of these tables, whose seats are asked for at once."""
    places = log.places_of(matches)
    return lambda match: _told(match, places[match.id], reader)


def _told(match: Match, seats: Sequence[Seat], reader: User | None) -> Table:
    rule, sentence = clock(match.clock)
    return Table(
        id=match.id,
        game=match.game,
        title=log.title(match),
        status=match.status,
        host=match.host.name,
        seats=match.seats,
        free=match.seats - len(seats),
        players=[_sitting(seat, match, reader) for seat in seats],
        clock=rule,
        rule=sentence,
        options=match.options or {},
        seating=match.seating,
        autostart=match.autostart,
        invited_only=match.invited_only,
        rated=match.rated,
        commitment=lobby.commitment(match),
        created_at=match.created_at,
    )


def _sitting(seat: Seat, match: Match, reader: User | None) -> Sitting:
    owner = seat.owner
    return Sitting(owner.name, owner.bot, seat.owner_id == match.host_id, reader is not None and owner.id == reader.id)


def clock(found: Mapping[str, Any]) -> tuple[TimeRule | None, str]:
    """Return a time rule as it is stored, and in a sentence; None and nothing if it is spoilt."""
    try:
        rule = timerule.rule(found)
    except timerule.WrongRule:
        return None, ""
    return TimeRule(**timerule.plain(rule)), timerule.sentence(rule)


def _offered(match: Match) -> Offered | None:
    """Return what a list says of a match with free seats; None if its log is damaged."""
    try:
        played = log.read(match)
    except Refused:
        return None
    called = story.names(log.places(match))
    free = [Free(seat, called[seat]) for seat in sorted(played.position.offered)]
    return Offered(match.id, match.game, log.title(match), clock(match.clock)[1], match.length, free)

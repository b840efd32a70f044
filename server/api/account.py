"""What somebody wants of the house: settings, vacations, feeds, his program that is called."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

import flask
import msgspec
from msgspec import UNSET, Meta, UnsetType

from engine.language import gettext as _
from server import accounts, feeds, hooks, log, preferences, vacations, ways, wording
from server.api.callers import Caller
from server.api.rooms import Room
from server.api.seen import visible
from server.api.shapes import Answer, Body, Day, Done, Instant
from server.errors import Refused
from server.http.days import day
from server.models import User, Vacation

room = Room("account", "What you want of the house: settings, vacations, feeds, a program of yours that is called.")

TurnMail = Annotated[
    Literal["at-once", "away", "daily", "off"],
    Meta(description="How you are told of your turns: at once, when you are away, in one mail a day, not at all."),
]
Zone = Annotated[str, Meta(max_length=64, description="A time zone of the IANA list.", examples=["Europe/Prague"])]
Language = Annotated[str, Meta(max_length=8, description="Of pages and mails: `en`, `cs` or `de`.", examples=["en"])]
Hour = Annotated[int, Meta(ge=0, le=23, description="The hour of your zone in which the one mail of a day comes.")]
Reminders = Annotated[
    str, Meta(max_length=40, description="After which per cents of your time you are reminded.", examples=["50, 80"])
]
Nights = Annotated[
    str,
    Meta(
        max_length=20,
        description="Hours that do not count where a table says so; empty for none.",
        examples=["22:00-07:00"],
    ),
]
Quiet = Annotated[
    str,
    Meta(
        max_length=20,
        description="Hours in which no message comes but mail; empty for none.",
        examples=["22:00-07:00"],
    ),
]
Forced = Annotated[bool, Meta(description="Whether a move is made for you when it is the only one.")]
Keeps = Annotated[bool, Meta(description="Whether you want to watch how a match ended before you are told.")]


class Wishes(Body, frozen=True):
    """What is to be changed of the settings; what is left out stays as it is."""

    zone: Zone | UnsetType = UNSET
    language: Language | UnsetType = UNSET
    turn_mail: TurnMail | UnsetType = UNSET
    digest_hour: Hour | UnsetType = UNSET
    reminders: Reminders | UnsetType = UNSET
    nights: Nights | UnsetType = UNSET
    quiet: Quiet | UnsetType = UNSET
    forced: Forced | UnsetType = UNSET
    keeps_results: Keeps | UnsetType = UNSET


class Settings(Answer, frozen=True):
    """The settings. `mail_stopped` says why the mail address takes no mail; empty while it does."""

    zone: Zone
    language: Language
    turn_mail: TurnMail
    digest_hour: Hour
    reminders: Reminders
    nights: Nights
    quiet: Quiet
    forced: Forced
    keeps_results: Keeps
    mail_stopped: str


@room.get("/settings")
def show(caller: Caller) -> Settings:
    """Show the settings."""
    return _settings(caller.me)


@room.post("/settings", scope="account", refuses=("unconfirmed",))
def change(caller: Caller, body: Wishes) -> Settings:
    """Change settings. A changed zone and changed hours count from your next turn on in each match."""
    user = caller.me
    accounts.require_confirmed(user)
    given = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    asked = {name: given.get(name, getattr(user, name)) for name in body.__struct_fields__}
    preferences.settle(user, preferences.Wishes(**asked), caller.now)
    return _settings(User.get_by_id(user.id))


@room.post("/settings/mail", scope="account", refuses=("unconfirmed",))
def try_mail_again(caller: Caller) -> Settings:
    """Have mail sent again to an address that has refused some."""
    accounts.require_confirmed(caller.me)
    accounts.try_mail_again(caller.me, caller.now)
    return _settings(User.get_by_id(caller.me.id))


class Letters(Body, frozen=True):
    """How you are told of your turns in one match; what is left out stays, and one of the two is needed."""

    turn_mail: (
        Annotated[
            Literal["", "at-once", "away", "daily", "off"], Meta(description="By mail; empty for as in all others.")
        ]
        | UnsetType
    ) = UNSET
    silent: Annotated[bool, Meta(description="Whether your other ways tell nothing of it.")] | UnsetType = UNSET


@room.post("/matches/<int:match_id>/letters", scope="account", refuses=("not-yours", "unconfirmed"))
def choose_letters(caller: Caller, match_id: int, body: Letters) -> Done:
    """Choose how you are told of your turns in this match."""
    match, user = visible(caller, match_id), caller.me
    accounts.require_confirmed(user)
    if body.turn_mail is UNSET and body.silent is UNSET:
        raise Refused("bad-input", _("Choose from the list how to be told of your turns."))
    log.seat_of(log.places(match), user)
    if body.turn_mail is not UNSET:
        preferences.choose(match, user, body.turn_mail, caller.now)
    if body.silent is not UNSET:
        ways.silence(match, user, body.silent)
    return Done()


class Away(Answer, frozen=True):
    """A vacation, from an instant to another."""

    starts_at: Instant
    ends_at: Instant


class Vacations(Answer, frozen=True):
    """The vacation that you are on or have announced, null if none, and how many days are left of this year's."""

    current: Away | None
    days_left: int


class Leave(Body, frozen=True):
    """The first and the last day of a vacation, in your zone."""

    first: Annotated[Day, Meta(examples=["2026-12-20"])]
    last: Annotated[Day, Meta(examples=["2026-12-31"])]


@room.get("/vacation")
def vacation(caller: Caller) -> Vacations:
    """Show your vacation."""
    return _vacations(caller.me, caller.now)


@room.post("/vacation", scope="account", status=201, refuses=("unconfirmed",))
def announce_vacation(caller: Caller, body: Leave) -> Vacations:
    """Announce a vacation: your clocks stand still, and all who play with you can see it."""
    user = caller.me
    accounts.require_confirmed(user)
    vacations.announce(user, *_span(body, user.zone), "api", now=caller.now)
    return _vacations(user, caller.now)


@room.post("/vacation/end", scope="account", refuses=("unconfirmed",))
def end_vacation(caller: Caller) -> Vacations:
    """End your vacation early, or do not go."""
    accounts.require_confirmed(caller.me)
    vacations.end(caller.me, "api", now=caller.now)
    return _vacations(caller.me, caller.now)


FeedKind = Annotated[
    Literal["calendar", "matches"], Meta(description="The calendar of your deadlines, or the web feed of your matches.")
]


class Feed(Answer, frozen=True):
    """A feed that has an address, and since when."""

    kind: str
    made_at: Instant


class Feeds(Answer, frozen=True):
    """Your feeds. Their addresses are secrets that are told once, when they are made."""

    items: list[Feed]


class Which(Body, frozen=True):
    """One of the feeds."""

    kind: FeedKind


class Address(Answer, frozen=True):
    """The address of a feed, the only time that it is told."""

    kind: str
    address: str


@room.get("/feeds")
def made_feeds(caller: Caller) -> Feeds:
    """List which of your feeds have an address."""
    return Feeds([Feed(kind, made_at) for kind, made_at in sorted(feeds.made(caller.me).items())])


@room.post("/feeds", scope="account", status=201, refuses=("unconfirmed",))
def make_feed(caller: Caller, body: Which) -> Address:
    """Make the address of a feed, in place of one there may be."""
    accounts.require_confirmed(caller.me)
    token = feeds.make(caller.me, body.kind, caller.now)
    ending = {"calendar": "calendar.ics", "matches": "matches.atom"}[body.kind]
    return Address(body.kind, f"{_site()}/feeds/{token}/{ending}")


@room.post("/feeds/end", scope="account", refuses=("unconfirmed",))
def end_feed(caller: Caller, body: Which) -> Done:
    """Take the address of a feed away: nothing can be read there any more."""
    accounts.require_confirmed(caller.me)
    feeds.revoke(caller.me, body.kind)
    return Done()


class Webhook(Answer, frozen=True):
    """The address of your program that is called; `stopped` says why it is called no more, empty while it is."""

    url: str | None
    stopped: str
    failing_since: Instant | None


class Target(Body, frozen=True):
    """An https address on the public internet."""

    url: Annotated[str, Meta(max_length=500, examples=["https://example.org/clachan"])]


class Signing(Answer, frozen=True):
    """What is called, and the secret of the signatures, the only time that it is told."""

    url: str
    secret: str


@room.get("/webhook")
def webhook(caller: Caller) -> Webhook:
    """Show the address of your program that is called at your turns and at ends of your matches."""
    hook = hooks.of(caller.me)
    if hook is None:
        return Webhook(None, "", None)
    return Webhook(hook.url, _(hook.stopped) if hook.stopped else "", hook.failing_since)


@room.post("/webhook", scope="account", status=201, refuses=("unconfirmed",))
def give_webhook(caller: Caller, body: Target) -> Signing:
    """Store the address of your program, in place of one there may be."""
    accounts.require_confirmed(caller.me)
    url = body.url.strip()
    return Signing(url, hooks.give(caller.me, url, flask.current_app.config["SETTINGS"], caller.now))


@room.post("/webhook/end", scope="account", refuses=("unconfirmed",))
def end_webhook(caller: Caller) -> Done:
    """Have your program called no more."""
    accounts.require_confirmed(caller.me)
    hooks.remove(caller.me, caller.now)
    return Done()


def _settings(user: User) -> Settings:
    return Settings(*(getattr(user, name) for name in Settings.__struct_fields__))


def _vacations(user: User, now: datetime) -> Vacations:
    held: Vacation | None = vacations.current(user, now)
    current = Away(held.starts_at, held.ends_at) if held else None
    return Vacations(current, vacations.days_left(user, wording.today(now, user.zone).year))


def _span(leave: Leave, zone: str) -> tuple[datetime, datetime]:
    """Return the morning of the first day and that after the last one."""
    return wording.morning(day(leave.first), zone), wording.morning(day(leave.last) + timedelta(days=1), zone)


def _site() -> str:
    return str(flask.current_app.config["SETTINGS"].public_url)
